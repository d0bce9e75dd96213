"""Two fields of which one takes the place of the other: the emoji and the icon of a space."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpsync.kinds.registry import build_registry
from dpsync.model.diagnostic import DiagnosticError
from dpsync.server.process.threaded_server import ThreadedServer

from .lab import REGISTRY, Lab, spaces

ICON = "https://acme.example/guides.svg"


@pytest.fixture
def lab(published_server: ThreadedServer, tmp_path: Path) -> Lab:
    return Lab(published_server, tmp_path, build_registry("published")).holds(
        spaces=spaces("en", emoji="1f4d8")
    )


def declared(**fields: str) -> str:
    said = "".join(f", {name}: {value}" for name, value in fields.items())
    return f"spaces: {{ en: {{ title: Space en{said} }} }}"


def live(lab: Lab) -> dict[str, str]:
    space = lab.world()["organizations"][0]["spaces"][0]
    return {name: space[name] for name in ("emoji", "icon") if space.get(name)}


def test_space_icon_and_emoji_replace_each_other(lab: Lab) -> None:
    lab.converges(declared(icon=ICON))
    assert live(lab) == {"icon": ICON}
    lab.converges(declared(emoji="1f680"))
    assert live(lab) == {"emoji": "1f680"}
    lab.converges(declared(icon=ICON, emoji="null"))
    lab.converges(declared(icon="null"))
    assert live(lab) == {}


def test_icon_change_shows_removed_emoji(lab: Lab) -> None:
    """Otherwise, what goes because another field takes its place is not shown."""
    (change,) = lab.plan(declared(icon=ICON)).changes
    (effect,) = change.effects
    assert (effect.address, effect.what) == (
        "acme/spaces/en#emoji",
        "the emoji (1f4d8) is removed, because a space can have only one of emoji and icon",
    )


def test_declared_emoji_removal_is_shown_once(lab: Lab) -> None:
    """Otherwise, what its entry takes away is told twice."""
    (change,) = lab.plan(declared(icon=ICON, emoji="null")).changes
    assert [item.field for item in change.differences] == ["emoji", "icon"]
    assert change.effects == ()


def test_null_for_absent_emoji_or_icon_changes_nothing(lab: Lab) -> None:
    assert lab.plan(declared(icon="null")).changes == ()
    assert lab.plan(declared(emoji="1f4d8")).changes == ()


def test_declaring_both_emoji_and_icon_fails(lab: Lab) -> None:
    with pytest.raises(DiagnosticError) as failed:
        lab.session(declared(icon=ICON, emoji="1f4d8"))
    (found,) = failed.value.diagnostics
    assert (found.code, found.message) == ("DP238", "a space can have only one of the fields emoji and icon")


def test_icon_is_blocked_without_api_support(server: ThreadedServer, tmp_path: Path) -> None:
    lab = Lab(server, tmp_path, REGISTRY).holds(spaces=spaces("en"))
    plan = lab.plan(declared(icon=ICON))
    assert plan.changes == ()
    assert [(item.address, item.reason) for item in plan.blocked] == [
        ("acme/spaces/en#icon", f"the API version full has no operation for setting icon to {ICON}")
    ]
