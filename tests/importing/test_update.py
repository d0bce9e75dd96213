"""`import --update ADDRESS…`: live values in the very lines, every other character as it was."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from pathlib import Path

import pytest

from dpsync.server.process.threaded_server import ThreadedServer
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
    del platform
    directory = project(ROOT, {"teams.yaml": TEAMS, "sites.yaml": SITES})
    committed(directory)
    return directory


def test_import_update_keeps_anchor_quotes_and_comment(docs: Path, run: Run) -> None:
    ended = run("import", "-C", str(docs), "--update", "acme#title")
    assert ended.code == 0, ended.err
    assert "acme#title  dpsync.yaml:6:5" in ended.out
    assert changed(ROOT, docs / "dpsync.yaml") == [
        '-     title: &title   "Old name"   # as on the door',
        '+     title: &title   "Acme"   # as on the door',
    ]


def test_import_update_keeps_single_quotes(docs: Path, run: Run) -> None:
    run("import", "-C", str(docs), "--update", "acme#defaultRole")
    assert changed(ROOT, docs / "dpsync.yaml") == [
        "-     defaultRole:  'admin'",
        "+     defaultRole:  'read'",
    ]


def test_import_update_removes_only_obsolete_list_items(docs: Path, run: Run) -> None:
    run("import", "-C", str(docs), "--update", "acme#emailDomains")
    assert changed(ROOT, docs / "dpsync.yaml") == [
        "-       - acme.test    # the test system",
        "-       - mail.example",
    ]


def test_import_update_writes_emptied_list_inline(docs: Path, run: Run) -> None:
    run("import", "-C", str(docs), "--update", "acme#mergeRules")
    assert sorted(changed(ROOT, docs / "dpsync.yaml")) == [
        "+       rules: []", "-         - { rule: require_author_to_merge }", "-       rules:",
    ]  # fmt: skip


def test_import_update_edits_flow_mapping_and_shorthand(docs: Path, run: Run) -> None:
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


def test_import_update_edits_flow_and_block_nodes(docs: Path, run: Run) -> None:
    assert run("import", "-C", str(docs), "--update", "sites/help/structure/*", "sites/help#title").code == 0
    assert changed(SITES, docs / "sites.yaml") == [
        "-         title: 'Help'",
        "+         title: 'Help center'",
        "-           - { type: space, key: support, space: {id: support}, path: support, hidden: true } # !",
        "+           - { type: space, key: support, space: {id: support}, path: support, hidden: false } # !",
        "-             hidden: false",
        "+             hidden: true",
    ]


def test_plan_is_empty_after_import_update(docs: Path, run: Run) -> None:
    assert run("import", "-C", str(docs), "--update", "acme").code == 0
    assert "No changes." in run("plan", "-C", str(docs)).out


@pytest.mark.usefixtures("platform")
def test_import_update_reports_entry_missing_in_gitbook(project: Project, run: Run) -> None:
    root = "dpsync: 1\norganizations: { acme: { id: acme, members: { new@acme.example: read } } }\n"
    directory = project(root, {})
    committed(directory)
    ended = run("import", "-C", str(directory), "--update", "acme/members/new@acme.example")
    assert ended.code == 3
    assert "acme/members/new@acme.example" in ended.out + ended.err
    assert "so there is no value to write" in ended.out + ended.err


def test_repeated_import_update_keeps_files(docs: Path, run: Run) -> None:
    run("import", "-C", str(docs), "--update", "acme")
    before = {path: path.read_bytes() for path in docs.glob("*.yaml")}
    ended = run("import", "-C", str(docs), "--update", "acme")
    assert ended.code == 0
    assert "Nothing to import" in ended.out
    assert {path: path.read_bytes() for path in docs.glob("*.yaml")} == before


def test_import_update_refuses_uncommitted_file(docs: Path, run: Run) -> None:
    path = docs / "dpsync.yaml"
    path.write_text(ROOT + "# work\n", encoding="utf-8")
    refused = run("import", "-C", str(docs), "--update", "acme#title")
    assert refused.code == 4
    assert "dpsync.yaml has changes that are not committed" in refused.err
    assert path.read_text(encoding="utf-8") == ROOT + "# work\n"
    assert run("import", "-C", str(docs), "--update", "acme#title", "--force").code == 0
    assert path.read_text(encoding="utf-8").endswith("# work\n")


@pytest.mark.usefixtures("platform")
def test_import_update_keeps_crlf_and_byte_order_mark(project: Project, run: Run) -> None:
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


@pytest.mark.usefixtures("platform")
def test_import_update_replaces_alias_with_value(project: Project, run: Run) -> None:
    before = config(
        "    teams:\n      sales: { title: &name Sales }\n"
        "    collections:\n      product: { title: Product, description: *name }\n"
    )
    directory = project(before)
    assert run("import", "-C", str(directory), "--update", "acme/collections", "--force").code == 0
    assert changed(before, directory / "dpsync.yaml")[1] == (
        "+       product: { title: Product, description: What customers read }"
    )


@pytest.mark.usefixtures("platform")
def test_import_update_refuses_edit_of_shared_anchor(project: Project, run: Run) -> None:
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


@pytest.mark.usefixtures("platform")
def test_import_update_refuses_value_from_variable(project: Project, run: Run) -> None:
    before = config("    title: ${NAME:-Initech}\n")
    directory = project(before)
    ended = run("import", "-C", str(directory), "--update", "acme", "--force")
    assert ended.code == 3
    assert "the value in your file comes from a variable" in ended.out
    assert (directory / "dpsync.yaml").read_text(encoding="utf-8") == before


@pytest.mark.parametrize("wanted", [["acme#collectionOrder"], ["acme#collectionOrder", "acme/collections"]])
@pytest.mark.usefixtures("platform")
def test_import_update_writes_collection_order(project: Project, run: Run, wanted: list[str]) -> None:
    collections = "{ product: { title: Product, parent: null }, internal: { title: Internal, parent: null } }"
    before = config(f"    collectionOrder: [internal, product] # ours\n    collections: {collections}\n")
    directory = project(before)
    assert run("import", "-C", str(directory), "--update", *wanted, "--force").code == 0
    assert changed(before, directory / "dpsync.yaml") == [
        "-     collectionOrder: [internal, product] # ours",
        "+     collectionOrder: [product, internal] # ours",
    ]


@pytest.mark.usefixtures("platform")
def test_import_update_keeps_collection_order_unless_selected(project: Project, run: Run) -> None:
    collections = "{ product: { title: Product, parent: null }, internal: { title: Internal, parent: null } }"
    order = "    collectionOrder: [internal, product]\n"
    directory = project(config(f"    title: Initech\n{order}    collections: {collections}\n"))
    wanted = ["acme#title", "acme/collections"]
    ended = run("import", "-C", str(directory), "--update", *wanted, "--force")
    assert ended.code == 3
    assert "the object has another position in GitBook than in your file" in ended.out
    taken = f"dpsync import -C {directory} --update 'acme#collectionOrder'"
    assert f"to update the order of the objects as well, run {taken}" in ended.out
    text = (directory / "dpsync.yaml").read_text(encoding="utf-8")
    assert "title: Acme\n" in text
    assert order in text


@pytest.mark.usefixtures("platform")
def test_import_update_writes_long_value_to_its_file(project: Project, run: Run) -> None:
    before = config("    agentInstructions: { file: agents.md }\n")
    directory = project(before, {"agents.md": "# Nothing\n"})
    assert run("import", "-C", str(directory), "--update", "acme", "--force").code == 0
    assert (directory / "dpsync.yaml").read_text(encoding="utf-8") == before
    assert (directory / "agents.md").read_text(encoding="utf-8") == "Answer briefly and link the page.\n"


def test_import_update_reports_unknown_address(docs: Path, run: Run) -> None:
    ended = run("import", "-C", str(docs), "--update", "acme/teams/[Sales]")
    assert ended.code == 3
    assert 'no entry has the address "acme/teams/[Sales]"' in ended.out
    assert run("import", "-C", str(docs), "--update", "acme/teams/").code == 64


def test_import_update_adds_line_for_named_field(docs: Path, run: Run) -> None:
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


@pytest.mark.usefixtures("platform")
def test_import_update_writes_to_overlay_with_into(project: Project, run: Run) -> None:
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


def test_import_update_adds_no_line_for_missing_value(docs: Path, run: Run) -> None:
    ended = run("import", "-C", str(docs), "--update", "acme#logo")
    assert ended.code == 3
    assert (
        "acme: dpsync cannot write the logo from GitBook: the object in GitBook has no value for this field"
        in ended.out
    )
    assert changed(ROOT, docs / "dpsync.yaml") == []
