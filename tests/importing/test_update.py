"""`import --update ADDRESS…`: live values in the very lines, every other character as it was."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from pathlib import Path

import pytest

from dpsync.server.process.thread import ThreadedServer
from tests.cli.conftest import Run

from .test_command import committed

ROOT = """\
dpsync: 1
include: [teams.yaml, sites.yaml]
organizations:
  acme:
    id: acme
    title: &title   "Old name"   # as on the door
    emailDomains:   # where we read mail
      - acme.test    # the test system
      - acme.example # the real one
      - mail.example

    defaultRole:  'admin'
    mergeRules:
      type: rules
      rules:
        - { rule: require_author_to_merge }
"""
TEAMS = """\
# People, by team.
organizations:
  acme:
    teams:
      writers: {title: "Technical writers",  members: {ada@acme.example: member, lin@acme.example: member}} #k
      reviewers:
        title: Reviewers
        members:
          rui@acme.example:   member   # since May
"""
SITES = """\
organizations:
  acme:
    sites:
      help:
        title: 'Help'
        basename: help
        visibility: public
        structure:
          - { type: space, key: support, space: {id: support}, path: support, hidden: true } # !
          - type: space
            key: archive
            space: { id: archive }
            path: archive
            hidden: false
"""
Project = Callable[..., Path]


def changed(before: str, path: Path) -> list[str]:
    after = path.read_text(encoding="utf-8")
    lines = difflib.ndiff(before.splitlines(), after.splitlines())
    return [line for line in lines if line[:2] in ("- ", "+ ")]


@pytest.fixture
def docs(project: Project, platform: ThreadedServer) -> Path:
    directory = project(ROOT, {"teams.yaml": TEAMS, "sites.yaml": SITES})
    committed(directory)
    return directory


def test_a_text_keeps_its_anchor_its_quotes_its_spaces_and_its_comment(docs: Path, run: Run) -> None:
    ended = run("import", "-C", str(docs), "--update", "acme#title")
    assert ended.code == 0, ended.err
    assert "acme#title  dpsync.yaml:6:5" in ended.out
    assert changed(ROOT, docs / "dpsync.yaml") == [
        '-     title: &title   "Old name"   # as on the door',
        '+     title: &title   "Acme"   # as on the door',
    ]


def test_quotes_of_the_other_kind_are_kept_too(docs: Path, run: Run) -> None:
    run("import", "-C", str(docs), "--update", "acme#defaultRole")
    assert changed(ROOT, docs / "dpsync.yaml") == [
        "-     defaultRole:  'admin'",
        "+     defaultRole:  'read'",
    ]


def test_a_list_of_lines_loses_only_those_lines(docs: Path, run: Run) -> None:
    run("import", "-C", str(docs), "--update", "acme#emailDomains")
    assert changed(ROOT, docs / "dpsync.yaml") == [
        "-       - acme.test    # the test system",
        "-       - mail.example",
    ]


def test_a_list_of_which_nothing_remains_is_empty(docs: Path, run: Run) -> None:
    run("import", "-C", str(docs), "--update", "acme#mergeRules")
    assert sorted(changed(ROOT, docs / "dpsync.yaml")) == [
        "+       rules: []", "-         - { rule: require_author_to_merge }", "-       rules:",
    ]  # fmt: skip


def test_a_value_inside_of_braces_and_the_short_form_in_an_included_file(docs: Path, run: Run) -> None:
    assert run("import", "-C", str(docs), "--update", "acme/teams").code == 0
    assert changed(TEAMS, docs / "teams.yaml") == [
        '-       writers: {title: "Technical writers",  '
        "members: {ada@acme.example: member, lin@acme.example: member}} #k",
        '+       writers: {title: "Technical writers",  '
        "members: {ada@acme.example: owner, lin@acme.example: member}} #k",
        "-           rui@acme.example:   member   # since May",
        "+           rui@acme.example:   owner   # since May",
    ]
    assert changed(ROOT, docs / "dpsync.yaml") == []


def test_nodes_in_both_styles(docs: Path, run: Run) -> None:
    assert run("import", "-C", str(docs), "--update", "sites/help/structure/*", "sites/help#title").code == 0
    assert changed(SITES, docs / "sites.yaml") == [
        "-         title: 'Help'",
        "+         title: 'Help center'",
        "-           - { type: space, key: support, space: {id: support}, path: support, hidden: true } # !",
        "+           - { type: space, key: support, space: {id: support}, path: support, hidden: false } # !",
        "-             hidden: false",
        "+             hidden: true",
    ]


def test_afterwards_the_plan_has_nothing_left_to_change(docs: Path, run: Run) -> None:
    assert run("import", "-C", str(docs), "--update", "acme").code == 0
    assert "No changes." in run("plan", "-C", str(docs)).out


def test_an_entry_that_is_not_live_and_that_no_request_makes_is_named(
    project: Project, platform: ThreadedServer, run: Run
) -> None:
    root = "dpsync: 1\norganizations: { acme: { id: acme, members: { new@acme.example: read } } }\n"
    directory = project(root, {})
    committed(directory)
    ended = run("import", "-C", str(directory), "--update", "acme/members/new@acme.example")
    assert ended.code == 3
    assert "acme/members/new@acme.example" in ended.out + ended.err
    assert "so there is no value to write" in ended.out + ended.err


def test_a_second_time_writes_nothing(docs: Path, run: Run) -> None:
    run("import", "-C", str(docs), "--update", "acme")
    before = {path: path.read_bytes() for path in docs.glob("*.yaml")}
    ended = run("import", "-C", str(docs), "--update", "acme")
    assert ended.code == 0
    assert "Nothing to import" in ended.out
    assert {path: path.read_bytes() for path in docs.glob("*.yaml")} == before


def test_a_file_with_work_in_it_is_not_overwritten(docs: Path, run: Run) -> None:
    path = docs / "dpsync.yaml"
    path.write_text(ROOT + "# work\n", encoding="utf-8")
    refused = run("import", "-C", str(docs), "--update", "acme#title")
    assert refused.code == 4
    assert "dpsync.yaml has changes that are not committed" in refused.err
    assert path.read_text(encoding="utf-8") == ROOT + "# work\n"
    assert run("import", "-C", str(docs), "--update", "acme#title", "--force").code == 0
    assert path.read_text(encoding="utf-8").endswith("# work\n")


def test_windows_line_ends_and_a_byte_order_mark_stay(
    project: Project, platform: ThreadedServer, run: Run
) -> None:
    directory = project("dpsync: 1\n")
    before = b"\xef\xbb\xbf" + ROOT.replace("[teams.yaml, sites.yaml]", "[]").replace("\n", "\r\n").encode()
    (directory / "dpsync.yaml").write_bytes(before.replace(b"include: []\r\n", b""))
    assert (
        run("import", "-C", str(directory), "--update", "acme#title", "acme#emailDomains", "--force").code
        == 0
    )
    after = (directory / "dpsync.yaml").read_bytes()
    assert after.startswith(b"\xef\xbb\xbfdpsync: 1\r\n")
    assert after.count(b"\n") == after.count(b"\r\n")
    assert b'&title   "Acme"   # as on the door\r\n' in after


def config(body: str) -> str:
    return f"dpsync: 1\norganizations:\n  acme:\n    id: acme\n{body}"


def test_an_alias_is_replaced_where_it_stands(project: Project, platform: ThreadedServer, run: Run) -> None:
    before = config(
        "    teams:\n      sales: { title: &name Sales }\n"
        "    collections:\n      product: { title: Product, description: *name }\n"
    )
    directory = project(before)
    assert run("import", "-C", str(directory), "--update", "acme/collections", "--force").code == 0
    assert changed(before, directory / "dpsync.yaml")[1] == (
        "+       product: { title: Product, description: What customers read }"
    )


def test_what_would_change_something_else_is_refused(
    project: Project, platform: ThreadedServer, run: Run
) -> None:
    """Otherwise, an edit that changes something else as well is written."""
    before = config(
        "    teams:\n      writers:\n        title: Technical writers\n"
        "        members: { ada@acme.example: &as member, lin@acme.example: *as }\n"
    )
    directory = project(before)
    refused = run("import", "-C", str(directory), "--update", "acme/teams/writers", "--force")
    assert refused.code == 4
    assert "the edit would also change role of acme/teams/writers/members/lin@acme.example" in refused.err
    assert (directory / "dpsync.yaml").read_text(encoding="utf-8") == before


def test_a_value_of_a_variable_is_left_to_people(
    project: Project, platform: ThreadedServer, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = config("    title: ${NAME:-Initech}\n")
    directory = project(before)
    ended = run("import", "-C", str(directory), "--update", "acme", "--force")
    assert ended.code == 3
    assert "the value in your file comes from a variable" in ended.out
    assert (directory / "dpsync.yaml").read_text(encoding="utf-8") == before


@pytest.mark.parametrize("wanted", [["acme#collectionOrder"], ["acme#collectionOrder", "acme/collections"]])
def test_the_order_of_collections_is_taken_over_in_its_list(
    project: Project, platform: ThreadedServer, run: Run, wanted: list[str]
) -> None:
    collections = "{ product: { title: Product, parent: null }, internal: { title: Internal, parent: null } }"
    before = config(f"    collectionOrder: [internal, product] # ours\n    collections: {collections}\n")
    directory = project(before)
    assert run("import", "-C", str(directory), "--update", *wanted, "--force").code == 0
    assert changed(before, directory / "dpsync.yaml") == [
        "-     collectionOrder: [internal, product] # ours",
        "+     collectionOrder: [product, internal] # ours",
    ]


def test_a_collection_stays_out_of_place_where_only_another_line_of_its_holder_is_taken_over(
    project: Project, platform: ThreadedServer, run: Run
) -> None:
    collections = "{ product: { title: Product, parent: null }, internal: { title: Internal, parent: null } }"
    order = "    collectionOrder: [internal, product]\n"
    directory = project(config(f"    title: Initech\n{order}    collections: {collections}\n"))
    wanted = ["acme#title", "acme/collections"]
    ended = run("import", "-C", str(directory), "--update", *wanted, "--force")
    assert ended.code == 3
    assert "the object has another position in GitBook than in your file" in ended.out
    taken = f"dpsync import -C {directory} --update 'acme#collectionOrder'"
    assert f"also update the field that contains the order of the objects: {taken}" in ended.out
    text = (directory / "dpsync.yaml").read_text(encoding="utf-8")
    assert "title: Acme\n" in text
    assert order in text


def test_a_long_value_goes_into_its_file(project: Project, platform: ThreadedServer, run: Run) -> None:
    before = config("    agentInstructions: { file: agents.md }\n")
    directory = project(before, {"agents.md": "# Nothing\n"})
    assert run("import", "-C", str(directory), "--update", "acme", "--force").code == 0
    assert (directory / "dpsync.yaml").read_text(encoding="utf-8") == before
    assert (directory / "agents.md").read_text(encoding="utf-8") == "Answer briefly and link the page.\n"


def test_an_address_that_nothing_has(docs: Path, run: Run) -> None:
    ended = run("import", "-C", str(docs), "--update", "acme/teams/[Sales]")
    assert ended.code == 3
    assert 'no entry has the address "acme/teams/[Sales]"' in ended.out
    assert run("import", "-C", str(docs), "--update", "acme/teams/").code == 64


def test_a_field_that_is_asked_for_by_name_gets_a_line(docs: Path, run: Run) -> None:
    wanted = ["acme#inviteLinks", "acme/sites/help#published", "acme/sites/help/structure/archive#default"]
    assert run("import", "-C", str(docs), "--update", *wanted).code == 0
    assert run("import", "-C", str(docs), "--update", "acme/sites/help#colour").code == 3
    assert changed(ROOT, docs / "dpsync.yaml") == ["+     inviteLinks: true"]
    assert changed(SITES, docs / "sites.yaml") == [
        "+         published: true",
        "+             default: false",
    ]
    braces = run(
        "import", "-C", str(docs), "--update", "acme/sites/help/structure/support#default", "--force"
    )
    assert braces.code == 0
    assert (
        "          - type: space # !\n"
        "            key: support\n"
        "            space: {id: support}\n"
        "            path: support\n"
        "            hidden: true\n"
        "            default: true\n"
    ) in (docs / "sites.yaml").read_text(encoding="utf-8")


def test_an_overlay_gets_what_the_overlay_says(project: Project, platform: ThreadedServer, run: Run) -> None:
    base = config("    title: Base\n    defaultRole: admin\n")
    over = "organizations:\n  acme:\n    title: Over   # here\n"
    directory = project(base, {"prod.yaml": over})
    layers = ["-f", "dpsync.yaml", "-f", "prod.yaml"]
    ended = run("import", "-C", str(directory), *layers, "--update", "acme", "--force")
    assert ended.code == 3, "who has no overlay shares the line of defaultRole"
    assert changed(over, directory / "prod.yaml") == [
        "-     title: Over   # here",
        "+     title: Acme   # here",
    ]
    assert changed(base, directory / "dpsync.yaml") == []
    into = ["--update", "acme", "--force", "--into", "prod.yaml"]
    assert run("import", "-C", str(directory), *layers, *into).code == 0
    assert changed(over, directory / "prod.yaml")[-1] == "+     defaultRole: read"
    assert changed(base, directory / "dpsync.yaml") == []


def test_what_the_platform_has_none_of_gets_no_line(docs: Path, run: Run) -> None:
    ended = run("import", "-C", str(docs), "--update", "acme#logo")
    assert ended.code == 3
    assert (
        "acme: dpsync cannot write the logo from GitBook: the object in GitBook has no value for this field"
        in ended.out
    )
    assert changed(ROOT, docs / "dpsync.yaml") == []
