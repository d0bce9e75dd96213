"""`import --from-navigation`: the platform's own navigation file of a site becomes a configuration."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dpsync.server.process.threaded_server import ThreadedServer
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
organization: acme
spaces:
  guides-en: { title: Guides, language: en }
  news-en: { title: News }
"""
SITE = """\
organization: acme
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


def test_navigation_import_writes_site_and_spaces(run: Run, file: Path) -> None:
    code, target, said = take_over(run, file)
    assert code == 0, said
    assert (target / "acme/sites/acme-docs.yaml").read_text(encoding="utf-8").split("\n", 1)[1] == SITE
    assert (target / "acme/spaces.yaml").read_text(encoding="utf-8").split("\n", 1)[1] == SPACES
    assert run("validate", "-C", str(target)).code == 0


def test_navigation_import_reports_unsupported_values(run: Run, file: Path) -> None:
    _, _, said = take_over(run, file, "--format", "json")
    notes = {(note["address"], note["field"]) for note in json.loads(said)["left_out"]}
    root = "acme/sites/acme-docs/structure"
    assert notes == {(f"{root}/guides/en", "content.directory"), (f"{root}/news/en", "colour")}


def test_navigation_import_reports_positions_of_unsupported_values(run: Run, file: Path) -> None:
    _, _, said = take_over(run, file)
    line = FILE[: FILE.index("directory")].count("\n") + 1
    assert f"{file}:{line}:22: acme/sites/acme-docs/structure/guides/en#content.directory: dpsync has" in said


def test_imported_navigation_can_be_applied(platform: ThreadedServer, run: Run, file: Path) -> None:
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
        ("version: 1\n", "version: 2\n", "dpsync reads only version 1 of navigation files"),
        ("version: 1\n", 'version: "1"\n', "dpsync reads only version 1 of navigation files"),
        ("site:\n", "website:\n", 'needs a mapping below the key "site"'),
        ("  structure:", "  navigation:", 'needs a list below the key "structure"'),
        ("type: section-group", "type: folder", "the type must be one of section"),
        ("type: space, key: en", "type: section, key: en", "the type must be one of space"),
        ("      key: guides\n", "", "needs a key"),
        ("  title: Acme Docs\n", "", "pass a title: --title NAME"),
        ("  title: Acme Docs\n", "  title: A\n", "pass another title: --title NAME"),
        ("title: Guides\n      path", "title: 5\n      path", "the title of a section must be a text"),
        ("version: 1\n", "version: 1\n  bad:\n", "DP101"),
        (FILE, "root: ./docs\nstructure: { readme: README.md }\n", 'needs a mapping below the key "site"'),
        (FILE, "[]", 'must be a mapping with the key "site"'),
        (FILE, "", 'must be a mapping with the key "site"'),
        (FILE, "site: &a [*a]", "DP1"),
    ],
)
def test_navigation_import_refuses_invalid_file(
    run: Run, file: Path, old: str, new: str, message: str
) -> None:
    file.write_text(FILE.replace(old, new), encoding="utf-8")
    code, target, said = take_over(run, file)
    assert (code, message in said) == (5, True), said
    assert not list(target.iterdir())


def test_navigation_import_requires_organization(run: Run, file: Path) -> None:
    assert run("import", "--from-navigation", str(file)).code == 64


def test_navigation_import_path_is_relative_to_directory_flag(run: Run, file: Path, tmp_path: Path) -> None:
    """As every file that a flag names: -C is as if started there."""
    inside = ("import", "-C", str(tmp_path / "docs"), "--organization", "acme", "--from-navigation")
    missing = run(*inside, "site.yaml")
    assert (missing.code, "--from-navigation: " in missing.err) == (64, True)
    assert "site.yaml' does not exist" in missing.err
    file.rename(tmp_path / "docs" / "site.yaml")
    assert run(*inside, "site.yaml").code == 0
    assert (tmp_path / "docs" / "dpsync.yaml").is_file()


# What public repositories have: no version, but the line for editors; sites without sections; drafts; an
# empty group; a path with dots or of a slash alone; titles in any script.

MINIMAL = """\
$schema: https://api.gitbook.com/gitbook-docs.yaml
site:
  title: Handbook
  structure:
    - type: space
      key: space-1
      title: Handbook
      path: handbook
      default: true
      content: { directory: ./ }
"""


def taken(run: Run, tmp_path: Path, structure: str, *more: str) -> tuple[str, set[tuple[str, str | None]]]:
    """Import a structure; return the text of its site and spaces, and what was left out."""
    (tmp_path / "docs").mkdir()
    file = tmp_path / "gitbook-docs.yaml"
    lines = "".join(f"    - {line}\n" for line in structure.strip().splitlines())
    file.write_text(f"site:\n  title: Acme Docs\n  structure:\n{lines}", encoding="utf-8")
    code, target, said = take_over(run, file, "--format", "json", *more)
    assert code == 0, said
    assert run("validate", "-C", str(target)).code == 0
    notes = {
        (note["address"].partition("structure/")[2], note["field"]) for note in json.loads(said)["left_out"]
    }
    written = [target / "acme" / name for name in ("sites/acme-docs.yaml", "spaces.yaml")]
    return "".join(path.read_text(encoding="utf-8") for path in written if path.exists()), notes


def test_navigation_file_without_version_is_accepted(run: Run, file: Path) -> None:
    file.write_text(MINIMAL, encoding="utf-8")
    code, _, said = take_over(run, file)
    assert code == 0, said
    assert "$schema" not in said


@pytest.mark.parametrize("name", ["gitbook-docs.yaml", "docs.yaml"])
def test_navigation_import_finds_file_in_directory(run: Run, file: Path, name: str) -> None:
    file.rename(file.parent / name)
    assert take_over(run, file.parent)[0] == 0


def test_navigation_import_refuses_ambiguous_directory(run: Run, file: Path) -> None:
    none = take_over(run, file.parent)
    for name in ("gitbook-docs.yaml", "docs.yaml"):
        (file.parent / name).write_text(MINIMAL, encoding="utf-8")
    both = take_over(run, file.parent)
    assert (none[0], both[0]) == (64, 64)
    assert "gitbook-docs.yaml and docs.yaml. Pass the path of one file" in both[2]


def test_navigation_import_takes_missing_title_from_flag(run: Run, file: Path) -> None:
    file.write_text(FILE.replace("  title: Acme Docs\n", ""), encoding="utf-8")
    code, target, said = take_over(run, file, "--title", "Acme Docs")
    assert code == 0, said
    assert (target / "acme/sites/acme-docs.yaml").read_text(encoding="utf-8").split("\n", 1)[1] == SITE


def test_navigation_import_reports_title_replaced_by_flag(run: Run, file: Path) -> None:
    code, target, said = take_over(run, file, "--title", "Manual")
    assert (code, "site.yaml: title" in said) == (0, False)
    assert '#site.title: --title replaces this value with "Manual"' in said
    assert (target / "acme/sites/manual.yaml").is_file()


def test_import_title_flag_requires_navigation_file(run: Run) -> None:
    assert run("import", "--title", "Docs").code == 64


LONG = "A handbook of everything that anybody may ever want to look up"
SHAPES = [
    # what stands there, what is in the configuration, what of it is left out
    (
        "{ type: section-group, key: g, title: Later, draft: true, children: [] }",
        "type: section-group, key: g, title: Later, draft: true",
        set(),
    ),
    (
        "{ type: section-group, key: g, title: More }\n{ type: external-link, key: l, title: Chat, "
        "url: 'https://chat.acme.example', draft: true }",
        "title: Chat, url: https://chat.acme.example, draft: true }\n",
        set(),
    ),
    (
        "{ type: space, key: v0.1, title: Manual, path: manual-v0.1.0, draft: true, "
        "content: { directory: ./a } }",
        "key: v0.1, space: v0.1, path: manual-v0.1.0, draft: true",
        {("v0.1", "content.directory")},
    ),
    (
        "{ type: space, key: a, title: A, path: /, content: { directory: null, language: pt-br } }",
        "a: { title: A, language: pt-br }",
        set(),
    ),
    (
        "{ type: space, key: 首页, title: 说明, path: a, localizedTitle: { fr: Manuel }, "
        "content: { directory: null } }",
        "customization: { localizedTitle: { fr: Manuel } }",
        {("a", "key")},
    ),
    (
        f"{{ type: space, key: a, title: {LONG}, path: a, content: {{ directory: null }} }}",
        f"a: {{ title: {LONG[:50].rstrip()} }}",
        {("a", "title")},
    ),
    (
        f"{{ type: space, key: a, title: {LONG}, path: a, content: {{ directory: null }} }}",
        f"customization: {{ title: {LONG} }}",
        {("a", "title")},
    ),
    (
        "{ type: space, key: a, title: 'Pay ${HOME}', path: a, content: { directory: null } }",
        "a: { title: 'Pay $${HOME}' }".replace("'", '"'),
        set(),
    ),
    (
        '{ type: space, key: a, title: "\\e[2J\\u202eA", path: a, content: { directory: null } }',
        'a: { title: "\\u001b[2J\\u202eA" }',
        set(),
    ),
    (
        "{ type: space, key: a, title: A, path: a, condition: '', content: { directory: null } }",
        "{ type: space, key: a, space: a, path: a }",
        set(),
    ),
    # What breaks the rules of the platform, as the schema does not: the first counts, and the rest is named.
    (
        "{ type: space, key: a, title: API, path: p, default: true, content: { directory: null } }\n"
        "{ type: space, key: a, title: API, path: p, default: true, content: { directory: null } }",
        "a-2: { title: API (2) }",
        {("a-2", "key"), ("a-2", "title"), ("a-2", "path"), ("a-2", "default")},
    ),
    (
        "{ type: space, key: a, title: A, path: a, content: { directory: null } }\n"
        "{ type: section, key: s, title: Section, path: s, default: true, children: "
        "[{ type: space, key: b, title: B, path: b, content: { directory: null } }] }",
        "s-b: { title: B }",
        {("a", None)},
    ),
    (
        "{ type: space, key: a, title: A, path: a, content: { directory: null } }\n"
        "{ type: section, key: s, title: Section, path: s }\n"
        "{ type: external-link, key: l, title: Link, url: 'https://acme.example' }",
        "a: { title: A }",
        {("s", None), ("l", None)},
    ),
    # Spaces with the same title are distinguished by their paths.
    (
        "{ type: space, key: a, title: A, path: a, content: { directory: null } }\n"
        "{ type: space, key: b, title: A, path: b, content: { directory: null } }",
        "a: { title: A }\n  b: { title: A }\n",
        set(),
    ),
    (
        "{ type: space, key: a, title: API, content: { directory: null } }\n"
        "{ type: space, key: b, title: API, path: b, content: { directory: null } }",
        "a: { title: API }\n  b: { title: API (2) }\n",
        {("b", "title")},
    ),
    # A path and a default are one for each section; the default section is one for the site.
    (
        "{ type: section, key: s, title: Start, path: s, default: true, children: "
        "[{ type: space, key: a, title: A, path: p, default: true, content: { directory: null } }] }\n"
        "{ type: section, key: t, title: Team, path: t, default: true, children: "
        "[{ type: space, key: b, title: B, path: p, default: true, content: { directory: null } }] }",
        "{ type: space, key: b, space: t-b, path: p, default: true }",
        {("t", "default")},
    ),
    (
        "{ type: external-link, key: l, title: Link, url: 'javascript:alert(1)' }",
        "acme-docs:\n    title: Acme Docs\n",
        {("l", "url"), ("l", None), ("", "structure")},
    ),
    (
        "{ type: section-group, key: g, title: G }\n{ type: section-group, key: h, title: G }",
        "key: h, title: G (2)",
        {("h", "title")},
    ),
]


@pytest.mark.parametrize(("structure", "written", "left_out"), SHAPES)
def test_navigation_import_converts_every_valid_structure(
    run: Run, tmp_path: Path, structure: str, written: str, left_out: set[tuple[str, str | None]]
) -> None:
    text, notes = taken(run, tmp_path, structure)
    assert written in text
    assert notes == left_out


def test_navigation_import_reports_spaces_of_omitted_section(run: Run, tmp_path: Path) -> None:
    """Otherwise, an apply would create a space that no section shows."""
    kept = "children: [{ type: space, key: a, title: Kept, path: a, content: { directory: null } }]"
    omitted = "children: [{ type: space, key: b b, title: Omitted, path: b, content: { directory: ./b } }]"
    text, notes = taken(
        run,
        tmp_path,
        f"{{ type: section, key: s, title: Start, path: s, {kept} }}\n"
        f"{{ type: section, key: t, title: T, path: t, {omitted} }}\n"
        "{ type: section-group, key: g, title: '', children: "
        f"[{{ type: section, key: u, title: Users, path: u, {omitted.replace('b b', 'c')} }}] }}",
    )
    named = {("t", "title"), ("t", None), ("t/b-b", None), ("g", "title"), ("g", None), ("u", None)}
    assert ("title: Kept" in text, "title: Omitted" in text) == (True, False)
    assert notes == {*named, ("u/c", None)}


def test_navigation_import_escapes_control_characters_in_output(run: Run, file: Path) -> None:
    text = FILE.replace("path: latest", 'path: "\\e[2J"').replace("title: More", 'title: "\\e]0;x\\a"')
    file.write_text(text.replace("key: more", 'key: "\\u202emore"'), encoding="utf-8")
    code, _, said = take_over(run, file)
    assert code == 0, said
    assert not {"\x1b", "\x07", "\u202e"} & set(said)


def test_navigation_import_refuses_alias_bomb(run: Run, file: Path) -> None:
    bomb = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    bomb += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)]
    file.write_text("\n".join(bomb), encoding="utf-8")
    assert take_over(run, file)[0] == 5


def import_navigation(run: Run, directory: Path, name: str) -> tuple[int, str]:
    ended = run("import", "-C", str(directory), "--from-navigation", name, "--organization", "acme")
    return ended.code, ended.out + ended.err


@pytest.mark.parametrize("name", ["docs.yaml", "linked/navigation.yaml", "linked"])
def test_navigation_import_refuses_symlink_leaving_project(name: str, run: Run, file: Path) -> None:
    """Otherwise, the file of somebody else becomes a configuration that is published."""
    project, outside = file.parent / "docs", file.parent / "outside"
    outside.mkdir()
    for target in ("navigation.yaml", "docs.yaml"):
        (outside / target).write_text(FILE, encoding="utf-8")
    (project / "docs.yaml").symlink_to(outside / "docs.yaml")
    (project / "linked").symlink_to(outside)
    code, said = import_navigation(run, project, name)
    assert (code, "DP125" in said) == (5, True), said
    assert "the path is a link to a file outside the project" in said
    assert not (project / "dpsync.yaml").exists()


@pytest.mark.parametrize(
    "name", ["docs.yaml", "../navigation.yaml"], ids=["link inside project", "path outside project"]
)
def test_navigation_import_reads_internal_symlink_or_explicit_path(name: str, run: Run, file: Path) -> None:
    project = file.parent / "docs"
    (project / "shared").mkdir()
    (project / "shared" / "real.yaml").write_text(FILE, encoding="utf-8")
    (project / "docs.yaml").symlink_to("shared/real.yaml")
    code, said = import_navigation(run, project, name)
    assert code == 0, said
