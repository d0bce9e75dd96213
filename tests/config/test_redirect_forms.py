"""The short forms of a redirect's destination: their meaning, and the place of each mistake."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from dpsync.api import load
from dpsync.model.diagnostic import DiagnosticError
from dpsync.model.values import to_plain

SCHEMA = json.loads(
    (Path(__file__).parents[2] / "schemas" / "dpsync.schema.json").read_text(encoding="utf-8")
)
ROOT = """\
dpsync: 1
organizations:
  acme:
    id: acme
    spaces: { guides: { title: Guides } }
    sites:
      docs:
        title: Docs
        structure:
          - { type: section, key: guides, title: Guides, children: [{ type: space, key: en, space: guides }] }
        redirects:
"""
GUIDES, ENGLISH = "acme/sites/docs/structure/guides", "acme/sites/docs/structure/guides/en"
FORMS = {
    "section: guides": {"kind": "site-section", "siteSectionId": GUIDES},
    "section: { id: s-1 }": {"kind": "site-section", "siteSectionId": {"dpsync:id": "s-1"}},
    "space: guides/en": {"kind": "site-space", "siteSpaceId": ENGLISH},
    "page: guides/en/install": {"kind": "site-page", "siteSpaceId": ENGLISH, "pageId": "install"},
    "page: guides/en/install/linux": {"kind": "site-page", "siteSpaceId": ENGLISH, "pageId": "install/linux"},
    "space: { id: s-2 }, page: install": {
        "kind": "site-page", "siteSpaceId": {"dpsync:id": "s-2"}, "pageId": "install",
    },
    'url: "https://acme.example"': {"kind": "external", "url": "https://acme.example"},
}  # fmt: skip


def write(directory: Path, entry: str, root: str = ROOT) -> Path:
    path = directory / "dpsync.yaml"
    path.write_text(f"{root}          /start: {{ {entry} }}\n", encoding="utf-8")
    return path


def fields(path: Path, *overlays: Path) -> dict[str, Any]:
    desired = load(path, overlays=overlays)
    (entry,) = [item for item in desired.entries.values() if item.kind == "redirect"]
    return {name: to_plain(value) for name, value in entry.fields.items() if name != "source"}


def expected(destination: dict[str, Any]) -> dict[str, Any]:
    """Return the destination with markers in place of addresses."""
    return {
        name: {"dpsync:ref": value} if isinstance(value, str) and value.startswith("acme/") else value
        for name, value in destination.items()
    }


@pytest.mark.parametrize("written", FORMS)
def test_short_redirect_destination_equals_long_form(written: str, tmp_path: Path) -> None:
    wanted = {"destination": expected(FORMS[written]), "permanent": True}
    for entry in (f"{written}, permanent: true", f"destination: {{ {written} }}, permanent: true"):
        path = write(tmp_path, entry)
        assert fields(path) == wanted
        jsonschema.Draft7Validator(SCHEMA).validate(yaml.safe_load(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    ("entry", "column", "message", "hint"),
    [
        pytest.param(
            "section: guids", 30, 'your files contain no section "guids"', 'did you mean "guides"?',
            id="section",
        ),
        pytest.param(
            "space: guides/fr", 28, 'your files contain no site space "guides/fr"',
            'did you mean "guides/en"?', id="space",
        ),
        pytest.param(
            "space: en", 28, 'your files contain no site space "en"', 'did you mean "guides/en"?',
            id="key without section",
        ),
        pytest.param(
            "page: guides/fr/install", 27, 'your files contain no site space "guides/fr"',
            'did you mean "guides/en"?', id="page in unknown space",
        ),
        pytest.param(
            "page: guides/en", 27, '"guides/en" does not name a page',
            "write the key of the space, a slash, and the path of the page", id="page without path",
        ),
        pytest.param(
            "sectoin: guides", 21, 'unknown key "sectoin" in a redirect', 'did you mean "section"?', id="key",
        ),
        pytest.param(
            'url: "https://a.example", section: guides', 47,
            "this destination has keys that exclude each other: use only section, space, page or url",
            "delete the other keys",
            id="two forms",
        ),
        pytest.param(
            "destination: { section: guides }, section: guides", 55,
            '"section" and "destination" set the same field', "delete one of the two", id="short and long",
        ),
        pytest.param(
            "permanent: true", 11, '"destination" is missing in the redirect "/start"',
            "write section, space, page or url: …", id="no destination",
        ),
    ],
)  # fmt: skip
def test_mistake_in_redirect_destination_is_located(
    entry: str, column: int, message: str, hint: str, tmp_path: Path
) -> None:
    with pytest.raises(DiagnosticError) as raised:
        load(write(tmp_path, entry))
    found = next(one for one in raised.value.findings if one.message == message)
    assert found.span is not None
    assert (found.span.file, found.span.line, found.span.column) == ("dpsync.yaml", 12, column)
    assert found.hint == hint


@pytest.mark.parametrize(
    ("below", "above"),
    [
        pytest.param("section: guides", 'url: "https://b.example"', id="short over short"),
        pytest.param("destination: { space: guides/en }", 'url: "https://b.example"', id="short over long"),
        pytest.param(
            "section: guides",
            'destination: { kind: external, url: "https://b.example" }',
            id="long over short",
        ),
        pytest.param(
            "destination: { kind: site-section, siteSectionId: guides }",
            'destination: { url: "https://b.example" }',
            id="short over names of the API",
        ),
    ],
)
def test_overlay_replaces_redirect_destination_in_any_form(below: str, above: str, tmp_path: Path) -> None:
    path = write(tmp_path, f"{below}, draft: true")
    overlay = tmp_path / "overlay.yaml"
    overlay.write_text(
        f"organizations: {{ acme: {{ sites: {{ docs: {{ redirects: {{ /start: {{ {above} }} }} }} }} }} }}\n",
        encoding="utf-8",
    )
    wanted = {"kind": "external", "url": "https://b.example"}
    assert fields(path, overlay) == {"destination": wanted, "draft": True}


WRONG_LINES = {
    "source without slash": ('old/page: { url: "https://acme.example" }', "write /old/page"),
    "source with slash at end": ('/old/page/: { url: "https://acme.example" }', "write /old/page"),
    "bare URL": ("/old: https://acme.example/a", 'write /old: { url: "https://acme.example/a" }'),
    "bare URL as destination": (
        "/old: { destination: https://acme.example/a }", 'write { url: "https://acme.example/a" }',
    ),
    "bare key": (
        "/old: guides", "write /old: { section: … }, { space: … }, { page: … } or { url: … }",
    ),
    "URL with a password": (
        '/old: "https://me:secret@acme.example"',
        "write /old: { section: … }, { space: … }, { page: … } or { url: … }",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG_LINES)
def test_invalid_redirect_hint_shows_correct_line(name: str, tmp_path: Path) -> None:
    """Otherwise, a person guesses the form, or reads that another API version would help."""
    line, hint = WRONG_LINES[name]
    path = tmp_path / "dpsync.yaml"
    path.write_text(f"{ROOT}          {line}\n", encoding="utf-8")
    with pytest.raises(DiagnosticError) as error:
        load(path, profile="published")
    assert [one.hint for one in error.value.diagnostics] == [hint]
