"""The command line in this process, or in a child that is killed at one of its requests or lines on disk."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from dpsync.apply.journal import FileJournal
from dpsync.cli.main import run
from dpsync.client.errors import UnknownOutcomeError
from dpsync.client.transport import HttpTransport, Request, Response

Fault = Literal["kill", "kill late", "lost", "lost late", "503", "503 late", "429", "403", "500"]
"""What happens at one request; late: after the platform has carried it out. A kill may come at a line on
disk, too."""
KILLED = -signal.SIGKILL


@dataclass(frozen=True)
class Ran:
    """How a command ended. A negative code is the signal that killed it."""

    arguments: tuple[str, ...]
    code: int
    out: str
    err: str

    def __str__(self) -> str:
        return f"$ dpsync {' '.join(self.arguments)}\n{self.out}{self.err}[{self.code}]"


@dataclass
class Disturbance:
    """One fault, at the request with this number: of those that write, or for `reads` of those that read."""

    fault: Fault
    number: int
    reads: bool = False

    def __post_init__(self) -> None:
        self.left = self.number
        self.lock = threading.Lock()

    def due(self) -> bool:
        with self.lock:
            self.left -= 1
            return self.left == -1


def ran(arguments: tuple[str, ...], env: Mapping[str, str], disturbed: Disturbance | None = None) -> Ran:
    """Run a command. One that is to be killed runs in a child of this process."""
    if disturbed is not None and disturbed.fault.startswith("kill"):
        return _in_a_child(arguments, env, disturbed)
    with environment(env), _faulty(disturbed):
        return _here(arguments)


def _here(arguments: tuple[str, ...]) -> Ran:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run([*arguments])
    return Ran(arguments, int(code), out.getvalue(), err.getvalue())


def _in_a_child(arguments: tuple[str, ...], env: Mapping[str, str], disturbed: Disturbance) -> Ran:
    told = Path(env["HOME"]) / "told-by-a-child"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the other thread is the companion's
        child = os.fork()
    if child == 0:
        try:
            with environment(env), _faulty(disturbed):
                ended = _here(arguments)
            told.write_text(json.dumps([ended.out, ended.err]), encoding="utf-8")
            os._exit(ended.code)
        finally:
            os._exit(70)
    told.unlink(missing_ok=True)
    _, status = os.waitpid(child, 0)
    out, err = json.loads(told.read_text(encoding="utf-8")) if told.exists() else ("", "")
    return Ran(arguments, os.waitstatus_to_exitcode(status), out, err)


@contextlib.contextmanager
def environment(env: Mapping[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.clear()
    os.environ.update(env)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextlib.contextmanager
def _faulty(disturbed: Disturbance | None) -> Iterator[None]:
    """Every transport, and the journal, with one fault."""
    if disturbed is None:
        yield
        return
    send, write = HttpTransport.send, FileJournal.write

    def sending(self: HttpTransport, request: Request) -> Response:
        if (request.method == "GET") is not disturbed.reads or not disturbed.due():
            return send(self, request)
        return _happens(disturbed.fault, request, lambda: send(self, request))

    def writing(self: FileJournal, event: Any) -> None:
        die = disturbed.fault.startswith("kill") and not disturbed.reads and disturbed.due()
        if die and disturbed.fault == "kill":
            _die()
        write(self, event)
        if die:
            _die()

    HttpTransport.send, FileJournal.write = sending, writing  # type: ignore[method-assign]
    try:
        yield
    finally:
        HttpTransport.send, FileJournal.write = send, write  # type: ignore[method-assign]


def _happens(fault: Fault, request: Request, send: Callable[[], Response]) -> Response:
    word, _, late = fault.partition(" ")
    if late:
        send()
    if word == "kill":
        _die()
    if word == "lost":
        raise UnknownOutcomeError(request.method, request.path, "reset")
    headers = {"content-type": "application/json", **({"retry-after": "0"} if word == "429" else {})}
    return Response(int(word), headers, b'{"error": {"code": %s, "message": "not now"}}' % word.encode())


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
