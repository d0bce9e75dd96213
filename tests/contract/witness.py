"""A pytest plugin: every exchange with the companion is held against the vendor's document.

    python -m pytest -p tests.contract.witness --edition 0.146.0 tests/kinds

What the companion accepts must be a valid request of that edition, and what it answers a valid answer. A test
in which one is not fails when it ends; the counts stand at the end of the run. Where the reference and the
document of its time disagree (disagreements.py), that is counted apart, and so is a row that nothing needed.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Generator, MutableMapping
from typing import Any, Final
from urllib.parse import parse_qsl

import pytest
from starlette.types import Receive, Scope, Send

from dpsync.server.http.app import Companion

from . import editions
from .disagreements import EDITION, KNOWN, Disagreement, known
from .openapi import Contract

PREFIX: Final = "/v1"


class Witness:
    """What was seen: how many requests and answers, and what is wrong with some."""

    def __init__(self, edition: str) -> None:
        self._edition = edition
        self._contract = Contract(editions.document(edition))
        self.counts: Counter[str] = Counter()
        self.wrong: list[str] = []

    def see(self, scope: Scope, sent: bytes, status: int, answered: bytes) -> None:
        """One exchange. Only what was accepted is judged: what was refused had no effect."""
        method, path = scope["method"], scope["path"].removeprefix(PREFIX)
        if not 200 <= status < 300 or path == "/openapi.json" or not scope["path"].startswith(PREFIX + "/"):
            return
        query = parse_qsl(scope["query_string"].decode(), keep_blank_values=True)
        self._judge(
            "requests", f"{method} {path}", self._contract.request_errors(method, path, query, _json(sent))
        )
        if self._contract.operation(method, path) is not None:
            found = self._contract.answer_errors(method, path, status, _json(answered))
            self._judge("answers", f"{method} {path} → {status}", found)

    def _judge(self, word: str, name: str, found: list[str]) -> None:
        self.counts[word] += 1
        exchange = f"{word[:-1]} {name}"
        explained = {one: known(self._edition, exchange, one) for one in found}
        self.counts.update({row(why) for why in explained.values() if why is not None})
        if wrong := [one for one, why in explained.items() if why is None]:
            self.counts[f"invalid {word}"] += 1
            self.wrong.extend(f"{exchange}: {one}" for one in wrong)
        elif explained:
            self.counts[f"{word} by the reference alone"] += 1


def row(one: Disagreement) -> str:
    """Return the name of a known disagreement in the table of counts."""
    return f"known: {one.what}"


def _json(text: bytes) -> Any:
    return json.loads(text) if text else None


_witness: Witness | None = None
_totals: Counter[str] = Counter()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--edition", choices=list(editions.EDITIONS), required=True, help="the vendor's edition")


def pytest_configure(config: pytest.Config) -> None:
    global _witness
    _witness = Witness(config.getoption("--edition"))
    _watch(_witness)


def _watch(witness: Witness) -> None:
    """Every companion of this process tells the witness of each exchange."""
    serve = Companion.__call__

    async def watched(self: Companion, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await serve(self, scope, receive, send)
            return
        sent, answered, status = bytearray(), bytearray(), 0

        async def receiving() -> MutableMapping[str, Any]:
            message = await receive()
            sent.extend(message.get("body", b""))
            return message

        async def sending(message: MutableMapping[str, Any]) -> None:
            nonlocal status
            status = message.get("status", status)
            answered.extend(message.get("body", b""))
            await send(message)

        await serve(self, scope, receiving, sending)
        witness.see(scope, bytes(sent), status, bytes(answered))

    Companion.__call__ = watched


@pytest.fixture(autouse=True)
def _held_against_the_document() -> Generator[None, None, None]:
    assert _witness is not None
    _witness.wrong.clear()
    yield
    found = list(dict.fromkeys(_witness.wrong))
    assert not found, "\n".join(found[:40])


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand the counts of a worker of xdist to the process that prints them."""
    assert _witness is not None
    output = getattr(session.config, "workeroutput", None)
    if output is None:
        _totals.update(_witness.counts)
    else:
        output["contract"] = dict(_witness.counts)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    _totals.update(node.workeroutput.get("contract", {}))


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    edition = config.getoption("--edition")
    words = [f"{kind}{word}" for word in ("requests", "answers") for kind in ("", "invalid ")]
    words += [f"{word} by the reference alone" for word in ("requests", "answers") if edition == EDITION]
    terminalreporter.write_line(
        f"edition {edition}: {', '.join(f'{_totals[word]} {word}' for word in words)}"
    )
    for one in KNOWN if edition == EDITION else ():
        if not _totals[row(one)]:
            terminalreporter.write_line(f"no exchange differed in: {one.what}")
