"""A title that holds control characters is imported into a file that dpsync reads."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from dpsync.config.reader import read
from dpsync.importing.emit import scalar
from dpsync.model.nodes import Mapping
from dpsync.server.thread import ThreadedServer
from tests.cli.conftest import Run, platform, run
from tests.no_tls import NO_TLS

__all__ = ["platform", "run"]
ALL = [
    *map(chr, range(1, 0x20)), *map(chr, range(0x7F, 0xA1)), "\u00ad", "\u200b", "\u2028", "\u2029", "\u202e",
    "\ufeff", "\ufffe", "\uffff", "\U000e0041",
]  # fmt: skip


@pytest.mark.parametrize("text", [*ALL, "".join(ALL), *(f"a{one} b" for one in ALL)], ids=ascii)
def test_what_import_writes_is_read_as_it_was(text: str) -> None:
    written = f"title: {scalar(text)}\n"
    assert written.isprintable() or written.rstrip("\n").isprintable()
    node, found = read(written, "dpsync.yaml")
    assert found == []
    assert isinstance(node, Mapping)
    assert [getattr(value, "value", None) for _, value in node.entries] == [text]


def test_after_an_import_of_titles_with_control_characters_the_plan_is_empty(
    run: Run, platform: ThreadedServer, tmp_path: Path
) -> None:
    headers = {"Authorization": "Bearer ada-token"}
    for at in range(0, len(ALL), 30):
        title = f"T{''.join(ALL[at : at + 30])}x"
        url = f"{platform.url}/v1/orgs/acme/teams"
        assert httpx.put(url, json={"title": title}, headers=headers, **NO_TLS).status_code < 300
    assert run("import", "-C", str(tmp_path)).code in (0, 3)
    ended = run("plan", "-C", str(tmp_path))
    assert (ended.code, "No changes." in ended.out) == (0, True), ended
