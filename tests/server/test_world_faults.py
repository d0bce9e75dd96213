"""A world file that is none: each mistake is told with its line, and nothing is served."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dpsync.server import world as worlds
from dpsync.server.control.world_export import export_state
from dpsync.server.store import open_store

SPACES = "organizations:\n- id: acme\n  spaces:\n  - { id: s, title: Guides%s }\n"
SITES = "organizations:\n- id: acme\n  sites:\n  - id: docs\n    %s\n"
MEMBERS = "users: [{ id: ada }]\norganizations:\n- id: acme\n  members:\n  - %s\n"
FAULTS: dict[str, tuple[str, str]] = {
    "unknown kind of record": (
        "records:\n- { kind: tokn, id: a, doc: {} }",
        '2:5: invalid data: records[0].kind: unknown kind of records \'tokn\' (did you mean "token"?)',
    ),
    "record without a document": (
        "records:\n- { kind: token, id: a }",
        '2:3: invalid data: records[0]: "doc" is missing (write doc: …)',
    ),
    "record that is a number": (
        "records:\n- 7",
        "2:3: invalid data: records[0]: expected a mapping, found a number",
    ),
    "number as an id": (
        "records:\n- { kind: token, id: 7, doc: {} }",
        "2:18: invalid data: records[0].id: expected text, found a number (put it in quotes)",
    ),
    "control character in a token": (
        'users: [{ id: ada }]\ntokens:\n  "a\\ab": ada',
        r"3:3: invalid data: tokens.'a\x07b': the text contains the character U+0007"
        " (write only ASCII letters, digits and signs, because a header contains the token)",
    ),
    "space in a token": (
        "users: [{ id: ada }]\ntokens: { a b: ada }",
        "2:11: invalid data: tokens.'a b': the text contains the character U+0020"
        " (write only ASCII letters, digits and signs, because a header contains the token)",
    ),
    "escape sequence in an id": (
        'users:\n- { id: "a\\e[31m" }',
        "2:5: invalid data: users[0].id: the text contains the character U+001B"
        " (remove spaces and invisible characters)",
    ),
    "token of nobody": (
        "users: [{ id: ada }]\ntokens: { a: bob }",
        "2:11: invalid data: tokens.a: there is no user 'bob' "
        "(add the object to the data, or correct the id)",
    ),
    "two of one id": (
        "users:\n- { id: ada }\n- { id: ada }",
        "3:3: invalid data: users[1]: two objects of the type user have the id 'ada'",
    ),
    "list that is a number": (
        "organizations: 3",
        "1:1: invalid data: organizations: expected a list, found a number",
    ),
    "unknown member of the world": (
        "user: []",
        "1:1: invalid data: user: unknown member 'user' (did you mean \"users\"?)",
    ),
    "unknown member of an entry": (
        "organizations:\n- id: acme\n  titel: Acme",
        '3:3: invalid data: organizations[0].titel: unknown member \'titel\' (did you mean "title"?)',
    ),
    "unknown member of a page": (
        SPACES % ", content: { pages: [{ title: A, text: B }] }",
        "4:60: invalid data: organizations[0].spaces[0].content.pages[0].text: unknown member 'text'"
        " (remove it)",
    ),
    "missing member": (
        MEMBERS % "role: read",
        '5:5: invalid data: organizations[0].members[0]: "user" is missing (write user: …)',
    ),
    "unknown role": (
        MEMBERS % "{ user: ada, role: chief }",
        "5:18: invalid data: organizations[0].members[0].role: expected one of 'admin', 'create', 'review',"
        " 'edit', 'comment', 'read', 'guest', found 'chief'",
    ),
    "member who is nobody": (
        MEMBERS % "user: bob",
        "5:5: invalid data: organizations[0].members[0].user: there is no user 'bob'"
        " (add the object to the data, or correct the id)",
    ),
    "date without quotes": (
        SPACES % ", createdAt: 2026-01-31",
        "4:29: invalid data: organizations[0].spaces[0].createdAt: expected text, found a date"
        " (put it in quotes)",
    ),
    "collection that is not there": (
        SPACES % ", parent: c",
        "4:29: invalid data: organizations[0].spaces[0].parent: there is no collection 'c'"
        " (add the object to the data, or correct the id)",
    ),
    "days beyond all time": (
        SPACES % ", deletedDaysAgo: 99999999999",
        "4:29: invalid data: organizations[0].spaces[0].deletedDaysAgo: "
        "Input should be less than or equal to 36500",
    ),
    "unknown type of a node": (
        SITES % "structure: [{ type: secton }]",
        "5:19: invalid data: organizations[0].sites[0].structure[0].type: expected one of 'space', 'section',"
        " 'external-link', 'section-group', found 'secton'",
    ),
    "space that no site can show": (
        SITES % "structure: [{ type: space, space: x }]",
        "5:17: invalid data: organizations[0].sites[0].structure[0]: the site 'docs' shows the unknown space"
        " 'x'",
    ),
    "source that is redirected twice": (
        SITES % "redirects:\n    - { source: /a, destination: { kind: external, url: 'https://a.test' } }\n"
        "    - { source: /a, destination: { kind: external, url: 'https://b.example' } }",
        "7:7: invalid data: organizations[0].sites[0].redirects[1]: "
        "the site 'docs' has two redirects for '/a'",
    ),
    "other format": (
        "format: dpsync.world/2",
        "1:1: invalid data: format: the format is 'dpsync.world/2', but this version of dpsync reads"
        " dpsync.world/1",
    ),
    "origin without a moment": (
        "origin: { platform: 'https://a.example' }",
        '1:1: invalid data: origin: "readAt" is missing (write readAt: …)',
    ),
    "JSON": (
        '{"users": [{"id": "ada"},\n {"id": 5}]}',
        "2:3: invalid data: users[1].id: expected text, found a number (put it in quotes)",
    ),
    "no YAML": (
        "users:\n- [",
        "3:1: invalid data: while parsing a flow node did not find expected node content",
    ),
    "tag of a program": (
        "users:\n  !!python/object:os.system x",
        "2:3: invalid data: could not determine a constructor for the tag"
        " 'tag:yaml.org,2002:python/object:os.system'",
    ),
}  # fmt: skip


def told(directory: Path, text: str) -> list[str]:
    """Return the lines of the error for a world file, without the name of the file."""
    path = directory / "world.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError) as error:  # noqa: PT011 - the whole text is compared
        worlds.read_world(path)
    return [line.removeprefix(f"{path}:") for line in str(error.value).splitlines()]


@pytest.mark.parametrize("case", FAULTS)
def test_server_data_file_error_shows_line(case: str, tmp_path: Path) -> None:
    """It was loaded as it is, and the first request to it failed with a traceback."""
    text, line = FAULTS[case]
    assert told(tmp_path, text) == [line]


def test_server_data_file_errors_follow_line_order(tmp_path: Path) -> None:
    text = "records: [{ kind: x, id: a, doc: {} }]\nusers:\n- { id: 1 }\n- { name: Ada }\n"
    assert [line.partition(":")[0] for line in told(tmp_path, text)] == ["1", "3", "4"]


def test_server_data_file_errors_stop_after_twenty(tmp_path: Path) -> None:
    lines = told(tmp_path, "users:\n" + "- { name: x }\n" * 30)
    assert (len(lines), lines[-1]) == (21, "10 more")


def test_server_data_file_error_is_printable(tmp_path: Path) -> None:
    (line,) = told(tmp_path, 'users:\n- { "\\e]0;x\\a\\u202e": 1 }\n')
    assert line.isprintable()


def test_exported_server_data_is_valid_data_file(tmp_path: Path) -> None:
    """It has every family, and plain records of what the families do not say."""
    store = open_store(":memory:")
    try:
        worlds.load_world(store, worlds.load_builtin_world())
        exported = export_state(store)
    finally:
        store.close()
    (tmp_path / "world.json").write_text(json.dumps(exported), encoding="utf-8")
    assert worlds.read_world(tmp_path / "world.json") == exported


def test_imported_server_data_may_contain_unknown_members(tmp_path: Path) -> None:
    """A newer platform has members that this version does not know."""
    origin = "origin: { platform: 'https://a.example', readAt: '2026-01-31T09:30:00Z' }\n"
    (tmp_path / "world.yaml").write_text(origin + SPACES % ", flavour: sweet, parent: unread")
    assert "sweet" in json.dumps(worlds.read_world(tmp_path / "world.yaml"))
