"""How sites look by the edition of today: what it would refuse is found in the files, where it stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from .loading import marked, organization, site
from .test_planned_for import found

LOOKS = """
sites:
  docs:
    title: Docs
    customization: {{ {} }}
"""


@pytest.mark.parametrize(
    ("looks", "code", "words"),
    [
        (
            "header: { logo: ▸{ light: 'https://a.example/l.png' } }",
            "DP206",
            '"dark" is missing in this image',
        ),
        ("styling: { corners: ▸round }", "DP202", "one of straight, rounded, circular"),
        ("styling: { ▸corner: straight }", "DP201", 'did you mean "corners"'),
        ("styling: { primaryColor: { light: ▸red, dark: '#000' } }", "DP204", "a colour"),
        ("styling: { codeTheme: { default: ▸{ light: nord } } }", "DP206", '"dark" is missing'),
        ("styling: { headingFont: ▸Papyrus }", "DP202", "one of ABCFavorit"),
        ("header: { links: [▸{ title: Shop, links: [] }] }", "DP206", '"to" is missing'),
        ("header: { primaryLink: { kind: ▸web, url: x } }", "DP202", "one of file, url"),
        ("header: { primaryLink: ▸{ kind: url } }", "DP206", '"url" is missing'),
        ("header: { primaryLink: ▸{ url: x } }", "DP206", '"kind" is missing'),
        ("footer: { copyright: ▸" + "x" * 513 + " }", "DP203", "at most 512 characters are allowed"),
        ("announcement: ▸{ enabled: true, message: News }", "DP206", '"style" is missing'),
        ("announcement: { enabled: true, message: ▸N, style: info }", "DP203", "2 to 128"),
        ("themes: { default: ▸blue }", "DP202", "light, dark, system"),
        ("themes: { toggeable: ▸'yes' }", "DP202", "expected true or false"),
        ("ai: { suggestions: ▸[one, two, four, five, six, ten] }", "DP203", "at most 5"),
        ("pageActions: { items: [▸print] }", "DP202", "one of assistant"),
        ("pageActions: { items: ▸print }", "DP202", "expected a list"),
        ("pageActions: ▸[print]", "DP202", "expected a mapping"),
        ("socialAccounts: [▸{ platform: github, handle: acme }]", "DP206", '"display" is missing'),
        ("privacyPolicy: { url: ▸a page }", "DP204", "a URL"),
        ("title: ▸D", "DP203", "2 to 128"),
    ],
)
def test_customization_unsupported_in_published_api_version_is_located(
    tmp_path: Path, looks: str, code: str, words: str
) -> None:
    """Otherwise, a logo with one image is valid here, and the platform refuses all looks of the site."""
    text, (place,) = marked(organization(LOOKS.format(looks)))
    (wrong,) = found(tmp_path, text, profile="published")
    assert wrong.span is not None
    assert (wrong.code, f"{wrong.span.line}:{wrong.span.column}") == (code, place)
    assert wrong.message.startswith("in the API version published, ") or code == "DP201"
    assert words in f"{wrong.message}; {wrong.hint}"


@pytest.mark.parametrize(
    "looks",
    [
        "header: { links: [{ title: Shop, to: null, links: [] }], primaryLink: { kind: url, url: x } }",
        "styling: { font: Inter, headingFont: { id: f, custom: true, fontFamily: F, fontFaces: [] } }",
        "styling: { tint: null }",
        "header: { logo: { light: { env: LOGO }, dark: 'https://a.example/d.png' } }",
        "favicon: { emoji: 1f4d6 }",
        "themes: { default: system }",
        "announcement: { enabled: true, message: News, style: info, localizedMessage: { de: Neues } }",
    ],
)
def test_customization_supported_in_published_api_version_is_valid(tmp_path: Path, looks: str) -> None:
    assert found(tmp_path, organization(LOOKS.format(looks)), profile="published") == []


@pytest.mark.parametrize(
    ("looks", "code"),
    [
        ("{ ▸themes: { default: null } }", "DP222"),
        ("{ styling: ▸null }", "DP222"),
        ("{ ▸header: { logo: null } }", "DP222"),
        ("{ styling: { ▸font: Inter } }", "DP201"),
    ],
)
def test_unsupported_site_space_customization_is_refused(tmp_path: Path, looks: str, code: str) -> None:
    text, (place,) = marked(
        site(f"""
        - type: section
          key: one
          title: One
          children: [{{ type: space, key: en, space: en, customization: {looks} }}]
        """)
    )
    (wrong,) = found(tmp_path, text, profile="published")
    assert wrong.span is not None
    assert (wrong.code, f"{wrong.span.line}:{wrong.span.column}") == (code, place)
    assert code != "DP222" or "cannot be null" in wrong.message
