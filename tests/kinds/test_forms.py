"""Values of which only the members written are managed: each is of one form, and null takes a member away."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dpsync.kinds.types import Json
from tests.config.loading import expect, loaded, organization

ICON = Json(is_partial=True, exclusive_members=("icon", "emoji"))
LINK = Json(is_partial=True, tag="kind")
HIDING = Json(is_partial=True, may_contain_secrets=True, tag="kind", exclusive_members=("icon", "emoji"))
PAGE = {"kind": "page", "page": "p", "space": "s"}
URL = {"kind": "url", "url": "https://a.example"}

CASES: list[tuple[Json, Any, Any, Any]] = [
    # What is live, what is wanted, what is sent.
    (ICON, {"icon": {"light": "l"}}, {"emoji": "e"}, {"emoji": "e"}),
    (ICON, {"emoji": "e"}, {"icon": {"light": "l"}}, {"icon": {"light": "l"}}),
    (
        ICON,
        {"icon": {"light": "l", "dark": "d"}},
        {"icon": {"light": "n"}},
        {"icon": {"light": "n", "dark": "d"}},
    ),
    (ICON, {"icon": {"light": "l"}, "more": 1}, {"emoji": "e"}, {"emoji": "e", "more": 1}),
    (ICON, {"icon": {"light": "l"}}, {"emoji": None}, {"icon": {"light": "l"}}),
    (ICON, {"icon": {"light": "l"}}, {"emoji": "e", "icon": None}, {"emoji": "e"}),
    (LINK, {"to": PAGE, "title": "T"}, {"to": URL}, {"to": URL, "title": "T"}),
    (LINK, {"to": URL}, {"to": PAGE}, {"to": PAGE}),
    (LINK, {"to": PAGE}, {"to": {"kind": "page", "page": "q"}}, {"to": {**PAGE, "page": "q"}}),
    (LINK, {"to": PAGE}, {"to": {"page": "q"}}, {"to": {**PAGE, "page": "q"}}),
    (LINK, {"to": PAGE, "title": "T"}, {"to": None}, {"title": "T"}),
    (LINK, {"to": PAGE}, {"to": {"space": None}}, {"to": {"kind": "page", "page": "p"}}),
    (
        LINK,
        {"links": [{"to": PAGE, "style": "s"}]},
        {"links": [{"to": URL, "style": None}]},
        {"links": [{"to": URL}]},
    ),
]


@pytest.mark.parametrize(("type", "live", "wanted", "sent"), CASES)
def test_variant_value_merged_over_live_has_single_variant(
    type: Json, live: Any, wanted: Any, sent: Any
) -> None:
    assert type.merge_over_live(live, wanted) == sent
    assert type.equals(wanted, sent)
    assert type.merge_over_live(sent, wanted) == sent


@pytest.mark.parametrize(("type", "live", "wanted", "sent"), CASES)
def test_plan_value_shows_removed_members(type: Json, live: Any, wanted: Any, sent: Any) -> None:
    """Every member that is live and not sent is on the side before."""
    if live == sent:
        assert type.equals(wanted, live)
        return
    assert not type.equals(wanted, live)
    if isinstance(live, dict) and "links" not in live:
        assert gone(live, sent) <= set(paths(type.displayable_live(live, wanted)))


def paths(value: Any, path: str = "") -> list[str]:
    if not isinstance(value, dict):
        return []
    inside = [below for name, item in value.items() for below in paths(item, f"{path}.{name}")]
    return [*(f"{path}.{name}" for name in value), *inside]


def gone(live: Any, sent: Any) -> set[str]:
    """Return the outermost members that are live and not sent."""
    left = set(paths(live)) - set(paths(sent))
    return {path for path in left if path.rpartition(".")[0] not in left}


def test_live_value_with_both_forms_equals_neither() -> None:
    both = {"emoji": "e", "icon": {"light": "l"}}
    assert not ICON.equals({"emoji": "e"}, both)
    assert ICON.merge_over_live(both, {"emoji": "e"}) == {"emoji": "e"}


def test_displayed_live_value_hides_removed_secret_members() -> None:
    live = {"kind": "page", "token": "ghp_abcdefghijklmnopqrstuvwxyz0123456789", "page": "p"}
    assert "ghp_" not in str(HIDING.displayable_live(live, {"kind": "url"}))


def looks(body: str) -> str:
    return organization(f"sites: {{ d: {{ title: Docs, customization: {body} }} }}")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("{ styling: { corners: ▸null } }", 'write the default "rounded", or'),
        ("{ styling: { sidebar: { list: ▸null } } }", 'write the default "default"'),
        ("{ styling: { primaryColor: { dark: ▸null } } }", "write the default"),
        ("{ header: { links: ▸null } }", "write the default []"),
        ("{ announcement: { enabled: ▸null } }", "write a value, or"),
        ("{ favicon: { icon: { light: ▸~ } } }", "write a value, or"),
        ("{ footer: { groups: [{ title: ▸null, links: [] }] } }", "write a value, or"),
    ],
)
def test_null_on_customization_setting_with_default_fails(tmp_path: Path, body: str, words: str) -> None:
    expect(tmp_path, looks(body), "DP222", words)


@pytest.mark.parametrize(
    "body",
    [
        "{ styling: { tint: null, codeTheme: null } }",
        "{ header: { primaryLink: null, logo: null } }",
        "{ favicon: { icon: null, emoji: null } }",
        "{ announcement: { enabled: true, link: null, message: null } }",
        "{ header: { links: [{ title: T, style: null }] } }",
    ],
)
def test_null_on_clearable_customization_setting_is_valid(tmp_path: Path, body: str) -> None:
    assert loaded(tmp_path, looks(body))[1] == []
