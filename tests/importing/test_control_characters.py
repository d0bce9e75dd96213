"""What holds control characters is imported into a file that dpsync reads, or left out and named."""

from __future__ import annotations

import re
from pathlib import Path

import httpx
import pytest

from dpsync.config.yaml_reader import read
from dpsync.importing.values import UnwritableValueError, ValueWriter
from dpsync.importing.write_yaml import yaml_scalar
from dpsync.kinds.types import Json, List, Object, Text, Type
from dpsync.kinds.types.texts import Markdown
from dpsync.model.nodes import Mapping
from dpsync.model.values import Value
from dpsync.server.process.threaded_server import ThreadedServer
from tests.cli.conftest import Run, platform, run
from tests.no_tls import NO_TLS

__all__ = ["platform", "run"]
ALL = [
    *map(chr, range(1, 0x20)), *map(chr, range(0x7F, 0xA1)), "\u00ad", "\u200b", "\u2028", "\u2029", "\u202e",
    "\ufeff", "\ufffe", "\uffff", "\U000e0041",
]  # fmt: skip


@pytest.mark.parametrize("text", [*ALL, "".join(ALL), *(f"a{one} b" for one in ALL)], ids=ascii)
def test_imported_control_characters_survive_reading(text: str) -> None:
    written = f"title: {yaml_scalar(text)}\n"
    assert written.isprintable() or written.rstrip("\n").isprintable()
    node, found = read(written, "dpsync.yaml")
    assert found == []
    assert isinstance(node, Mapping)
    assert [getattr(value, "value", None) for _, value in node.entries] == [text]


def test_plan_is_empty_after_importing_control_characters(
    run: Run, platform: ThreadedServer, tmp_path: Path
) -> None:
    headers = {"Authorization": "Bearer ada-token"}
    for at in range(0, len(ALL), 30):
        title = f"T{''.join(ALL[at : at + 30])}x"
        url = f"{platform.url}/v1/orgs/acme/teams"
        assert httpx.put(url, json={"title": title}, headers=headers, **NO_TLS).status_code < 300
    assert run("import", "-C", str(tmp_path), "--organization", "acme").code in (0, 3)
    ended = run("plan", "-C", str(tmp_path))
    assert (ended.code, "No changes." in ended.out) == (0, True), ended


def test_import_omits_values_with_forbidden_characters(
    run: Run, platform: ThreadedServer, tmp_path: Path
) -> None:
    def change(method: str, path: str, content: object) -> None:
        headers = {"Authorization": "Bearer ada-token"}
        url = f"{platform.url}/v1/orgs/acme{path}"
        assert httpx.request(method, url, json=content, headers=headers, **NO_TLS).status_code < 300

    change("PATCH", "", {"title": "Ac\0me"})
    change("PUT", "/teams", {"title": "Night\0 shift"})
    change("POST", "/spaces", {"title": "Note\0s"})
    change("POST", "/sites/help/share-links", {"name": "For\7 partners"})
    change("PATCH", "/sites/docs", {"title": "Do\0cs"})
    ended = run("import", "-C", str(tmp_path), "--organization", "acme")
    assert ended.code == 0, ended.out
    why = "the value contains the character U+0000, which is not allowed"
    assert f"title: {why}" in ended.out
    assert "sites/docs: the key of the entry would refer to an object without an entry" in ended.out
    assert "acme/sites/docs/" not in ended.out, "what is in it goes along, and is not named"
    for entry in ("teams/night-shift", "spaces/note-s", "sites/docs"):
        assert f"acme/{entry}: dpsync cannot write the required field title: {why}" in ended.out
    assert re.search("acme/sites/help: dpsync cannot form a key from the values of the share link", ended.out)
    ended = run("plan", "-C", str(tmp_path))
    assert (ended.code, "No changes." in ended.out) == (0, True), ended
    ended = run("import", "--add", "acme/teams/*", "-C", str(tmp_path))
    assert (ended.code, f"not added: {why}" in ended.out) == (3, True), ended


NOBODY = ValueWriter(lambda _kinds, _id: None, lambda _path: "")


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        (Text(1, 9), "a\0"),
        (List(Text(1, 9)), ["a", "\0"]),
        (Object({"a": Text(1, 9)}), {"a": "\0"}),
        (Json(), {"a": ["\0"]}),
        (Json(), {"\0": "a"}),
        (Json(), {"\x07": "a"}),
        (Markdown(), "a\0"),
        (Markdown(), "a\u2028b"),
    ],
)
def test_value_with_forbidden_character_is_unwritable(type_: Type, value: Value) -> None:
    with pytest.raises(
        UnwritableValueError, match=r"the character U\+(0000|0007|2028)(, which)? is not allowed"
    ):
        NOBODY.yaml_value(type_, value)
