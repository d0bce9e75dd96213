"""`import --from-navigation`: the platform's own navigation file of a site becomes a configuration."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dpsync.server.process.thread import ThreadedServer
from tests.cli.conftest import Run

FILE = """\
version: 1
site:
  title: Acme Docs
  structure:
    - type: section
      key: guides
      title: Guides
      path: guides
      description: How to do things
      icon: book
      default: true
      children:
        - type: space
          key: en
          title: Guides
          path: en
          default: true
          hidden: false
          content: { directory: docs/guides, language: en }
    - type: section-group
      key: more
      title: More
      icon: folder
      children:
        - type: section
          key: news
          title: News
          path: news
          condition: visitor.claims.beta
          children:
            - { type: space, key: en, title: News, path: latest, hidden: true, colour: red }
        - { type: external-link, key: blog, title: Blog, url: "https://blog.acme.example" }
"""
SPACES = """\
organizations:
  acme:
    spaces:
      guides-en: { title: Guides, language: en }
      news-en: { title: News }
"""
SITE = """\
organizations:
  acme:
    sites:
      acme-docs:
        title: Acme Docs
        structure:
          - type: section
            key: guides
            title: Guides
            path: guides
            icon: book
            description: How to do things
            default: true
            children:
              - { type: space, key: en, space: guides-en, path: en, default: true }
          - type: section-group
            key: more
            title: More
            icon: folder
            children:
              - type: section
                key: news
                title: News
                path: news
                condition: visitor.claims.beta
                children:
                  - { type: space, key: en, space: news-en, path: latest, hidden: true }
              - { type: external-link, key: blog, title: Blog, url: https://blog.acme.example }
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "navigation.yaml").write_text(FILE, encoding="utf-8")
    (tmp_path / "docs").mkdir()
    return tmp_path / "navigation.yaml"


def take_over(run: Run, file: Path, *more: str) -> tuple[int, Path, str]:
    target = file.parent / "docs"
    ended = run("import", "-C", str(target), "--from-navigation", str(file), "--organization", "acme", *more)
    return ended.code, target, ended.out + ended.err


def test_the_navigation_stays_and_every_space_gets_an_entry(run: Run, file: Path) -> None:
    code, target, said = take_over(run, file)
    assert code == 0, said
    assert (target / "acme/sites/acme-docs.yaml").read_text(encoding="utf-8").split("\n", 1)[1] == SITE
    assert (target / "acme/spaces.yaml").read_text(encoding="utf-8").split("\n", 1)[1] == SPACES
    assert run("validate", "-C", str(target)).code == 0


def test_what_has_no_counterpart_is_said(run: Run, file: Path) -> None:
    _, _, said = take_over(run, file, "--format", "json")
    notes = {(note["address"], note["field"]) for note in json.loads(said)["left_out"]}
    assert notes == {("acme-docs/guides/en", "content.directory"), ("acme-docs/more/news/en", "colour")}


def test_it_can_be_applied(platform: ThreadedServer, run: Run, file: Path) -> None:
    world = {
        "users": [{"id": "ada", "displayName": "Ada", "email": "ada@acme.example"}],
        "tokens": {"ada-token": "ada"},
        "organizations": [{"id": "acme", "title": "Acme", "members": [{"user": "ada", "role": "admin"}]}],
    }
    file.write_text(FILE.replace("          condition: visitor.claims.beta\n", ""), encoding="utf-8")
    platform.reset(world)
    _, target, _ = take_over(run, file)
    applied = run("apply", "-C", str(target), "--yes")
    assert applied.code == 0, applied.out + applied.err
    assert "No changes." in run("plan", "-C", str(target)).out
    platform.reset()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("version: 1\n", "version: 2\n", "begins with version: 1"),
        ("version: 1\n", "", "begins with version: 1"),
        ("  structure:", "  navigation:", "a list named structure"),
        ("type: section-group", "type: folder", "a node has one of the types"),
        ("      key: guides\n", "", "has a key"),
        ("version: 1\n", "version: 1\n  bad:\n", "DP101"),
    ],
)
def test_a_file_of_another_shape_is_refused(run: Run, file: Path, old: str, new: str, message: str) -> None:
    file.write_text(FILE.replace(old, new), encoding="utf-8")
    code, target, said = take_over(run, file)
    assert code == 5
    assert message in said
    assert not list(target.iterdir())


def test_it_wants_the_organization(run: Run, file: Path) -> None:
    assert run("import", "--from-navigation", str(file)).code == 64


def test_the_file_is_looked_for_where_the_command_works(run: Run, file: Path, tmp_path: Path) -> None:
    """As every file that a flag names: -C is as if started there."""
    inside = ("import", "-C", str(tmp_path / "docs"), "--organization", "acme", "--from-navigation")
    missing = run(*inside, "site.yaml")
    assert (missing.code, "there is no file" in missing.err) == (64, True)
    file.rename(tmp_path / "docs" / "site.yaml")
    assert run(*inside, "site.yaml").code == 0
    assert (tmp_path / "docs" / "dpsync.yaml").is_file()
