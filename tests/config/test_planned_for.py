"""Files are read by the profile that is planned for: one that was named, else that of the environment."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dpsync.config.layers import Layers
from dpsync.config.load import load
from dpsync.kinds.profiles import PROFILES
from dpsync.kinds.registry import build_registry as load_registry
from dpsync.model.diagnostic import Diagnostic

from .loading import MARK, REGISTRY, marked, organization, site

LINK = organization(
    f"sites: {{ docs: {{ title: Docs, shareLinks: {{ ▸{'x' * 60}: {{ active: true }} }} }} }}"
)
PLACES = "environments: { today: { profile: published }, before: { profile: full }, other: {} }\n"


def found(directory: Path, text: str, **layers: Any) -> list[Diagnostic]:
    (directory / "dpsync.yaml").write_text(text, encoding="utf-8")
    return list(load(directory / "dpsync.yaml", REGISTRY, {}, Layers(**layers))[1])


def test_unsupported_value_error_shows_api_version_and_position(tmp_path: Path) -> None:
    text, (place,) = marked(LINK)
    (wrong,) = found(tmp_path, text, profile="published")
    assert wrong.span is not None
    assert f"{wrong.span.line}:{wrong.span.column}" == place
    assert wrong.message == (
        "in the API version published, name of a share link: "
        "the text has 60 characters, but 1 to 50 characters are allowed"
    )
    assert wrong.hint is not None
    assert "--profile" in wrong.hint


@pytest.mark.parametrize("profile", [None, "full", "reference"])
def test_long_share_link_name_is_valid_elsewhere(tmp_path: Path, profile: str | None) -> None:
    assert found(tmp_path, LINK.replace(MARK, ""), profile=profile) == []


@pytest.mark.parametrize(
    ("environment", "profile", "wrong"),
    [
        ("today", None, True),
        ("before", None, False),
        ("other", None, False),
        (None, None, False),
        ("before", "published", True),
        ("today", "full", False),
    ],
)
def test_explicit_api_version_overrides_that_of_environment(
    tmp_path: Path, environment: str | None, profile: str | None, wrong: bool
) -> None:
    text = LINK.replace(MARK, "") + PLACES
    assert bool(found(tmp_path, text, environment=environment, profile=profile)) is wrong


def test_loaded_configuration_records_its_api_version(tmp_path: Path) -> None:
    (tmp_path / "dpsync.yaml").write_text(organization("title: Acme") + PLACES, encoding="utf-8")
    checked = [
        load(tmp_path / "dpsync.yaml", REGISTRY, {}, Layers(environment=name))[0].profile
        for name in ("today", "other")
    ]
    assert checked == ["published", "full"]


def test_unknown_api_version_in_environment_gets_suggestion(tmp_path: Path) -> None:
    text = organization("title: Acme") + "environments: { today: { profile: publisht } }\n"
    (wrong,) = found(tmp_path, text)
    assert (wrong.code, wrong.message) == ("DP141", 'the API version "publisht" does not exist')
    assert wrong.hint == 'did you mean "published"?'


@pytest.mark.parametrize(("rate", "seconds"), [("5/s", 5.0), ("300/m", 5.0), ("1800/h", 0.5)])
def test_environment_rate_limit_is_parsed(tmp_path: Path, rate: str, seconds: float) -> None:
    text = organization("title: Acme") + f"environments: {{ prod: {{ limits: {{ rate: {rate} }} }} }}\n"
    (tmp_path / "dpsync.yaml").write_text(text, encoding="utf-8")
    chosen = load(tmp_path / "dpsync.yaml", REGISTRY, {}, Layers(environment="prod"))[0].environment
    assert chosen is not None
    assert chosen.rate == seconds


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ("{ rate: 5 }", '"rate" must be a number of requests per second, minute or hour'),
        ("{ rate: 0/s }", '"rate" must be a number of requests per second, minute or hour'),
        ("{ rate: fast }", '"rate" must be a number of requests per second, minute or hour'),
        ("{ rat: 5/s }", 'unknown key "rat" in limits'),
        ("5/s", '"limits" must be a mapping, such as { rate: 5/s }'),
    ],
)
def test_invalid_environment_rate_limit_is_an_error(tmp_path: Path, limits: str, message: str) -> None:
    text = organization("title: Acme") + f"environments: {{ prod: {{ limits: {limits} }} }}\n"
    (wrong,) = found(tmp_path, text)
    assert (wrong.code, wrong.message) == ("DP141", message)


def test_null_unsupported_by_api_version_is_refused(tmp_path: Path) -> None:
    text = site("""
        - type: section
          key: one
          title: One
          localizedTitle: ▸null
          children: [{ type: space, key: en, space: en }]
    """)
    plain, (place,) = marked(text)
    (wrong,) = found(tmp_path, plain, profile="published")
    assert wrong.code == "DP222"
    assert wrong.span is not None
    assert f"{wrong.span.line}:{wrong.span.column}" == place
    assert found(tmp_path, plain) == []


@pytest.mark.parametrize("profile", PROFILES)
def test_entry_unsupported_by_api_version_is_still_loaded(tmp_path: Path, profile: str) -> None:
    registry = load_registry(profile)
    assert registry.with_all_kinds.kinds.keys() == REGISTRY.declared.keys()
    text = organization("sites: { docs: { title: Docs, visitorAuth: { backend: custom } } }")
    assert found(tmp_path, text, profile=profile) == []
