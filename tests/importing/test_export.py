"""`dpsync export --navigation SITE`: the platform's own navigation file, made of the configuration."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from tests.cli.conftest import Run

from .test_navigation import FILE

Project = Callable[..., Path]
ROOT = """\
dpsync: 1
organizations:
  acme:
    id: acme
    spaces:
      guides: { title: 'Pay ${X}', emoji: "1f600", language: fr }
      api: { title: API }
    sites:
      docs:
        title: Acme Docs
        visibility: public
        redirects: { /a: { destination: { kind: external, url: "https://a.example" } } }
        structure:
          - type: section
            key: guides
            title: Guides
            path: guides
            default: true
            icon: book
            children:
              - { type: space, key: en, space: guides, path: en, default: true, pageId: p1 }
          - type: section-group
            key: more
            title: More
            children:
              - type: section
                key: api
                title: API
                path: api
                draft: true
                children: [{ type: space, key: en, space: api, path: v1.0, hidden: true }]
              - { type: external-link, key: blog, title: Blog, url: "https://blog.acme.example" }
""".replace("${X}", "$${X}")
NAVIGATION = """\
$schema: https://api.gitbook.com/gitbook-docs.yaml
site:
  title: Acme Docs
  structure:
    - type: section
      key: guides
      title: Guides
      path: guides
      icon: book
      default: true
      children:
        - type: space
          key: en
          title: Pay ${X}
          path: en
          default: true
          content:
            directory: null
            language: fr
    - type: section-group
      key: more
      title: More
      children:
        - type: section
          key: api
          title: API
          path: api
          children:
            - type: space
              key: api-en
              title: API
              path: v1.0
              hidden: true
              content:
                directory: null
        - type: external-link
          key: blog
          title: Blog
          url: https://blog.acme.example
"""
NOT_SAID = [
    "dpsync.yaml:11:9: acme/sites/docs#visibility",
    "dpsync.yaml:12:9: acme/sites/docs/redirects",
    "acme/sites/docs/structure/guides/en#pageId",
    "acme/sites/docs/structure/api#draft",
    "acme/sites/docs/structure/api/en#key",
    "acme/sites/docs/structure/api/en#default: no entry of this list has default: true",
]


@pytest.fixture
def directory(project: Project) -> Path:
    return project(ROOT)


def test_export_writes_navigation_file_from_configuration(directory: Path, run: Run) -> None:
    ended = run("export", "-C", str(directory), "--navigation", "acme/sites/docs")
    assert (ended.code, ended.out.replace('"Pay ${X}"', "Pay ${X}")) == (0, NAVIGATION)


def test_export_writes_public_space_titles(directory: Path, run: Run) -> None:
    """Otherwise, Git Sync would publish a title that only the team sees."""
    shown = "path: en, default: true, pageId: p1"
    looks = "customization: { title: Guides, localizedTitle: { fr: Manuel }, pagination: { enabled: false } }"
    (directory / "dpsync.yaml").write_text(ROOT.replace(shown, f"{shown}, {looks}"), encoding="utf-8")
    ended = run("export", "-C", str(directory), "--navigation", "docs")
    space = yaml.safe_load(ended.out)["site"]["structure"][0]["children"][0]
    assert (space["title"], space["localizedTitle"]) == ("Guides", {"fr": "Manuel"})
    named = (
        "acme/spaces/guides#title: the site shows the title of",
        "guides/en/customization#pagination: a navigation",
    )
    assert [words for words in named if words not in ended.err] == []


def test_export_reports_inexpressible_settings_with_position(directory: Path, run: Run) -> None:
    ended = run("export", "-C", str(directory), "--navigation", "docs")
    assert [words for words in NOT_SAID if words not in ended.err] == []
    assert len(ended.err.splitlines()) == len(NOT_SAID)


def test_export_as_json_has_same_content(directory: Path, run: Run) -> None:
    ended = run("export", "-C", str(directory), "--navigation", "docs", "--format", "json")
    assert ended.out.startswith('{\n  "')
    assert json.loads(ended.out)["site"]["structure"][1]["children"][1]["title"] == "Blog"


def test_export_writes_out_file_and_protects_existing(directory: Path, run: Run) -> None:
    named = ("export", "-C", str(directory), "--navigation", "docs", "--out", "site/gitbook-docs.yaml")
    assert run(*named).code == 0
    written = directory / "site/gitbook-docs.yaml"
    assert written.read_text(encoding="utf-8").startswith("$schema: https://")
    written.write_text("mine", encoding="utf-8")
    assert run(*named).code == 4
    assert written.read_text(encoding="utf-8") == "mine"
    assert run(*named, "--force").code == 0


REPLACED = """\
$schema: https://api.gitbook.com/gitbook-docs.yaml
version: 1
site:
  title: Old title
  structure:
    - type: section
      key: guides
      title: Old title
      path: old
      icon: ball
      # For people
      children:
        - type: space
          key: en
          title: Guides
          path: en
          hidden: true
          content: { directory: ./guides, language: de }
        - { type: space, key: fr, title: Guide, path: fr, content: { directory: ./guide } }
    - type: section
      key: api
      title: API
      path: api
      children:
        - { type: space, key: en, title: API, path: v1.0, colour: red, content: { directory: "./${X}" } }
"""
KEPT = """\
$schema: https://api.gitbook.com/gitbook-docs.yaml
version: 1
""" + (
    NAVIGATION.split("\n", 1)[1]
    .replace("directory: null", "directory: ./guides", 1)
    .replace("hidden: true\n", "hidden: true\n              colour: red\n")
    .replace("directory: null", "directory: ./${X}", 1)
)  # fmt: skip


@pytest.mark.parametrize("format_", ["yaml", "json"])
def test_export_keeps_directories_of_replaced_file(directory: Path, run: Run, format_: str) -> None:
    """If a space has no directory in the file, Git Sync loses the content of the space."""
    (directory / "site.yaml").write_text(REPLACED, encoding="utf-8")
    named = ("--navigation", "docs", "--out", "site.yaml", "--force", "--format", format_)
    ended = run("export", "-C", str(directory), *named)
    written = (directory / "site.yaml").read_text(encoding="utf-8")
    assert (ended.code, yaml.safe_load(written)) == (0, yaml.safe_load(KEPT))
    again = run("export", "-C", str(directory), *named)
    assert (again.code, (directory / "site.yaml").read_text(encoding="utf-8")) == (0, written)


def test_export_reports_settings_lost_from_replaced_file(directory: Path, run: Run) -> None:
    (directory / "site.yaml").write_text(REPLACED, encoding="utf-8")
    ended = run("export", "-C", str(directory), "--navigation", "docs", "--out", "site.yaml", "--force")
    lost = [line for line in ended.err.splitlines() if "did not keep" in line]
    assert lost == [
        "site.yaml:19:70: structure/guides/fr#content.directory: "
        'dpsync did not keep this key, because the new file has no space "fr"',
        "site.yaml:1:1: site.yaml: dpsync did not keep 1 comment",
    ]


@pytest.mark.parametrize("text", ["mine", "[", "site: {}\n"], ids=["text", "no YAML", "no structure"])
def test_export_reports_unreadable_replaced_file(directory: Path, run: Run, text: str) -> None:
    (directory / "site.yaml").write_text(text, encoding="utf-8")
    ended = run("export", "-C", str(directory), "--navigation", "docs", "--out", "site.yaml", "--force")
    assert ended.code == 0
    assert "site.yaml: dpsync keeps no values of the replaced file, because " in ended.err
    assert "directory: null" in (directory / "site.yaml").read_text(encoding="utf-8")


def test_export_does_not_write_through_symlink(directory: Path, run: Run, tmp_path: Path) -> None:
    (tmp_path / "other.yaml").write_text("theirs", encoding="utf-8")
    (directory / "link.yaml").symlink_to(tmp_path / "other.yaml")
    run("export", "-C", str(directory), "--navigation", "docs", "--out", "link.yaml", "--force")
    assert (tmp_path / "other.yaml").read_text(encoding="utf-8") == "theirs"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("path: guides\n            default", "default", 'the section "guides" has no path'),
        ("space: api, path: v1.0", "space: { id: s1 }, path: v1.0", "has no title in your files"),
        ("space: api, path: v1.0", "space: api", 'the site space "en" has no path'),
    ],
)
def test_export_refuses_missing_path_instead_of_guessing(
    directory: Path, run: Run, old: str, new: str, message: str
) -> None:
    assert old in ROOT
    (directory / "dpsync.yaml").write_text(ROOT.replace(old, new), encoding="utf-8")
    ended = run("export", "-C", str(directory), "--navigation", "docs", "--out", "site.yaml")
    assert (ended.code, message in ended.err) == (5, True), ended.err
    assert not (directory / "site.yaml").exists()


@pytest.mark.parametrize("site", ["nowhere", "acme/sites/nowhere", "acme/spaces/api"])
def test_export_of_unknown_site_lists_declared_sites(directory: Path, run: Run, site: str) -> None:
    ended = run("export", "-C", str(directory), "--navigation", site)
    assert (ended.code, "acme/sites/docs" in ended.err) == (5, True)


def test_export_refuses_site_key_of_two_organizations(project: Project, run: Run) -> None:
    other = "  other: { id: other, sites: { docs: { title: Docs } } }\n"
    ended = run("export", "-C", str(project(ROOT + other)), "--navigation", "docs")
    assert (ended.code, "several entries have the key" in ended.err) == (5, True)


def test_export_and_navigation_import_are_inverse(tmp_path: Path, run: Run) -> None:
    file = FILE.replace(
        "key: en, title: News", "key: news-en, title: News, localizedTitle: { fr: Nouvelles }"
    )  # each key once, as the platform wants
    (tmp_path / "first.yaml").write_text(file, encoding="utf-8")
    for source, target in (("first.yaml", "one"), ("second.yaml", "two")):
        place = str(tmp_path / target)
        taken = ("--from-navigation", str(tmp_path / source), "--organization", "acme")
        assert run("import", "-C", place, *taken).code == 0
        out = str(tmp_path / "second.yaml")
        exported = run("export", "-C", place, "--navigation", "acme-docs", "--out", out, "--force")
        assert exported.code == 0, exported.err
    for name in ("acme/spaces.yaml", "acme/sites/acme-docs.yaml"):
        one, two = ((tmp_path / target / name).read_text(encoding="utf-8") for target in ("one", "two"))
        assert one == two, name
