"""The words `previously` and `new`: what they may say, and where."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dpsync.model.address import Address
from dpsync.model.values import Ref

from .loading import expect, loaded, organization, site


def earlier(directory: Path, text: str, address: str) -> tuple[Any, ...]:
    desired, diagnostics = loaded(directory, text)
    assert diagnostics == []
    return desired.entries[Address.parse(address)].previously


@pytest.mark.parametrize(
    ("written", "names"),
    [
        ("Old", ({"title": "Old"},)),
        ("{ title: Old }", ({"title": "Old"},)),
        ("[Older, { title: Old }]", ({"title": "Older"}, {"title": "Old"})),
    ],
)
def test_previously_accepts_text_mapping_or_list(
    tmp_path: Path, written: str, names: tuple[Any, ...]
) -> None:
    text = organization(f"teams: {{ w: {{ title: W, previously: {written} }} }}")
    assert earlier(tmp_path, text, "acme/teams/w") == names


def test_previously_text_applies_to_every_text_natural_key(tmp_path: Path) -> None:
    text = organization("sites: { docs: { title: Docs, previously: help } }")
    assert earlier(tmp_path, text, "acme/sites/docs") == ({"basename": "help"}, {"title": "help"})


def test_previously_is_accepted_on_navigation_node(tmp_path: Path) -> None:
    text = site("- { type: space, key: a, space: en, path: a, previously: b }")
    assert earlier(tmp_path, text, "acme/sites/docs/structure/a") == ({"path": "b"},)


def test_previously_may_contain_a_reference(tmp_path: Path) -> None:
    text = site("- { type: space, key: a, space: en, path: a, previously: { space: fr } }")
    assert earlier(tmp_path, text, "acme/sites/docs/structure/a") == (
        {"space": Ref(Address.parse("acme/spaces/fr"))},
    )


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("teams: { w: { title: W, previously: ▸{} } }", "DP202"),
        ("teams: { w: { title: W, previously: ▸17 } }", "DP202"),
        ("teams: { w: { title: W, previously: [▸null] } }", "DP202"),
        ("teams: { w: { title: W, previously: { ▸name: Old } } }", "DP201"),
        ("members: { ada@acme.example: { role: admin, ▸previously: a@acme.example } }", "DP228"),
        ("▸previously: Old", "DP228"),
        ("members: { ada@acme.example: { role: admin, ▸new: true } }", "DP228"),
        ("spaces: { s: { title: S, new: ▸please } }", "DP202"),
        ("spaces: { s: { title: S, new: ▸1 } }", "DP202"),
        ("spaces: { s: { title: S, new: ▸[true] } }", "DP202"),
        ("teams: { v: { title: V, previously: Old }, w: { title: W, previously: ▸Old } }", "DP229"),
    ],
)
def test_invalid_previously_or_new_is_refused(tmp_path: Path, body: str, code: str) -> None:
    expect(tmp_path, organization(body), code)


def test_same_previously_value_on_two_sites_is_valid(tmp_path: Path) -> None:
    text = organization(
        """
        spaces: { en: { title: EN } }
        sites:
          a: { title: Aa, structure: [{ type: space, key: en, space: en, path: en, previously: old }] }
          b: { title: Bb, structure: [{ type: space, key: en, space: en, path: en, previously: old }] }
        """
    )
    assert loaded(tmp_path, text)[1] == []
