"""`validate` reports redirect circles, and redirects from the path of a section or site space."""

from __future__ import annotations

from pathlib import Path

import pytest

from .loading import expect, loaded, organization

STRUCTURE = """
    spaces: { guides: { title: Guides }, news: { title: News } }
    sites:
      docs:
        title: Docs
        proxy: docs.acme.example/help
        structure:
          - { type: section, key: guides, title: Guides, path: Guides, children: [
              { type: space, key: en, space: guides, path: en },
              { type: space, key: fr, space: guides, path: fr }] }
          - { type: section-group, key: more, title: More, children: [
              { type: section, key: news, title: News, path: news, OPTIONS
                children: [{ type: space, key: latest, space: news, path: latest, default: true }] }] }
        redirects:
"""
TO_GUIDES = "{ destination: { kind: site-section, siteSectionId: guides } }"
TO_NEWS = "{ destination: { kind: site-section, siteSectionId: news } }"


def to_url(url: str) -> str:
    return f'{{ destination: {{ kind: external, url: "{url}" }} }}'


def redirects(*lines: str, options: str = "") -> str:
    body = "".join(f"          {line}\n" for line in lines)
    return organization(STRUCTURE.replace("OPTIONS", options) + body)


@pytest.mark.parametrize(
    ("lines", "code", "words"),
    [
        pytest.param(
            [f"▸/guides: {TO_GUIDES}"],
            "DP247", 'the redirect from "/guides" leads to itself', id="own section",
        ),
        pytest.param(
            ["▸/guides/fr: { destination: { kind: site-space, siteSpaceId: guides/fr } }"],
            "DP247", 'the redirect from "/guides/fr" leads to itself', id="own site space",
        ),
        pytest.param(
            [f"▸/guides: {TO_NEWS}", f"/news: {TO_GUIDES}"],
            "DP247", "circle: /guides → /news → /guides", id="circle of sections",
        ),
        pytest.param(
            [f"▸/NEWS: {TO_GUIDES}"],
            "DP248", '"/NEWS" is the path of the section "news"', id="path of a section",
        ),
        pytest.param(
            [f"▸/guides/en: {TO_NEWS}"], "DP248", 'the path of the site space "en"', id="path of a site space"
        ),
        pytest.param(
            [f"▸/a: {to_url('https://docs.acme.example/help/b')}", f"/b: {to_url('https://docs.acme.example/help/A')}"],
            "DP247", "circle: /a → /b → /a", id="circle of URLs",
        ),
        pytest.param(
            [f"▸/a: {to_url('http://DOCS.acme.example/help/a/?x=1#y')}"],
            "DP247", 'the redirect from "/a" leads to itself', id="own URL",
        ),
    ],
)  # fmt: skip
def test_redirect_circle_or_live_path_is_reported(
    tmp_path: Path, lines: list[str], code: str, words: str
) -> None:
    expect(tmp_path, redirects(*lines), code, words)


@pytest.mark.parametrize(
    ("line", "options"),
    [
        pytest.param(f"/old: {TO_GUIDES}", "", id="path without content"),
        pytest.param(f"/guides/*: {TO_GUIDES}", "", id="pattern"),
        pytest.param(f"/guides: {TO_NEWS.replace('{ dest', '{ draft: true, dest')}", "", id="draft redirect"),
        pytest.param(f"/news: {TO_GUIDES}", "draft: true,", id="draft section"),
        pytest.param(f"/news: {TO_GUIDES}", "condition: visitor.claims.isBeta,", id="conditional section"),
        pytest.param(f"/news/latest: {TO_NEWS}", "", id="default site space without a segment"),
        pytest.param(f"/a: {to_url('https://docs.acme.example/a')}", "", id="same host, another site"),
        pytest.param(f"/a: {to_url('https://docs.acme.example/helpa')}", "", id="path with the same prefix"),
        pytest.param(f"/a: {to_url('https://[docs/a')}", "", id="URL with an open bracket"),
        pytest.param(f"/start: {TO_NEWS}", "draft: true,", id="destination is a draft"),
    ],
)  # fmt: skip
def test_working_redirect_is_not_reported(tmp_path: Path, line: str, options: str) -> None:
    assert loaded(tmp_path, redirects(line, options=options))[1] == []


@pytest.mark.parametrize(
    ("lines", "severity"),
    [
        pytest.param([f"/guides: {TO_GUIDES}"], "warning", id="circle at a live path"),
        pytest.param([f"/news: {TO_GUIDES}"], "warning", id="live path"),
        pytest.param([f"/a: {to_url('https://docs.acme.example/help/a')}"], "error", id="endless redirect"),
    ],
)
def test_only_endless_redirect_loop_is_an_error(tmp_path: Path, lines: list[str], severity: str) -> None:
    (found,) = loaded(tmp_path, redirects(*lines))[1]
    assert found.severity == severity


def test_duplicate_redirect_source_error_shows_both_spellings(tmp_path: Path) -> None:
    text = redirects(f"/Old: {TO_GUIDES}", f"▸/old: {TO_NEWS}")
    expect(
        tmp_path,
        text,
        "DP213",
        '"/Old" and "/old" are the same redirect: upper and lower case make no difference',
    )
