"""Commands of dpsync that the action runs: in this process, so that a signal reaches them."""

from __future__ import annotations

import io
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import Final

from pydantic import BaseModel

from dpsync.cli.action.files import write_outputs
from dpsync.cli.arguments.connection import Given
from dpsync.cli.arguments.place import applied_before, deletes_are_reviewed, files_must_match
from dpsync.cli.main import run as run_dpsync
from dpsync.cli.terminal.signals import Ended, Patience
from dpsync.github.runner import Inputs, Log, Ran, killed, outputs
from dpsync.model.desired import AppliedCommit
from dpsync.model.diagnostic import DiagnosticError, Exit
from dpsync.render.documents import ApplyDocument
from dpsync.render.json_conversion import parse_document
from dpsync.render.names import visible

_BASE: Final = "GITHUB_BASE_REF"
_SIGNALS: Final = {Exit.INTERRUPTED: signal.SIGINT, Exit.TERMINATED: signal.SIGTERM}


class DpsyncCommands:
    """The commands of one run of the action, one after the other."""

    def __init__(self, log: Log, inputs: Inputs, patience: Patience) -> None:
        self.last: Ran | None = None
        """How the last one ended."""
        self._log = log
        self._given = Given(inputs.url, inputs.token, inputs.branches)
        self._patience = patience
        # The plan of a pull request, and the apply of what merged pull requests have shown.
        self._reviewed = inputs.command == "plan" or inputs.approval != "none"

    def run(self, words: list[str], base: str, commit: str, applied: tuple[AppliedCommit, ...] = ()) -> Ran:
        """Run one, for a change to the branch `base`. Raises Ended where a signal came before it.

        With `commit`, the command reads only files that equal those in that commit. `applied` has the commits
        that were applied last, for labels.
        What came of it is in the outputs at once: nothing that happens while GitHub is told changes that.
        """
        self._patience.go_on()
        if words[0] == "apply":
            write_outputs(self._log, killed(applying=True))
        with (
            for_branch(base),
            files_must_match(commit or None),
            deletes_are_reviewed(self._reviewed),
            applied_before(applied),
        ):
            ran = self.last = self._ran(words)
        write_outputs(self._log, outputs(ran.document, ran.code))
        return ran

    def _ran(self, words: list[str]) -> Ran:
        code, printed = self._printed(words)
        document = _document(printed)
        if code in _SIGNALS:
            self._patience.received.append(_SIGNALS[Exit(code)])  # it was taken by the command
            if isinstance(document, ApplyDocument):
                code = document.exit
        return Ran(code, document)

    def _printed(self, words: list[str]) -> tuple[int, bytes]:
        """The exit code, and what was printed. What else is said goes into the log, as text."""
        held = io.TextIOWrapper(io.BytesIO(), "utf-8", errors="surrogateescape", write_through=True)
        with self._log.text() as stream, redirect_stdout(held), redirect_stderr(stream):
            stream.write(f"$ dpsync {visible(' '.join(words))}\n")
            try:
                with self._patience.droppable():
                    code = run_dpsync(words, self._given)
            except Ended as stopped:  # right before it, or right behind it
                code = stopped.code
        return code, held.buffer.getvalue()


def _document(printed: bytes) -> BaseModel | None:
    if printed.strip():
        with suppress(DiagnosticError):
            return parse_document(Path("output"), printed)
    return None


@contextmanager
def for_branch(name: str) -> Iterator[None]:
    """Say which branch a change is for, for the git base, as the runner does where it knows that."""
    if not name:
        yield
        return
    before = os.environ.get(_BASE)
    os.environ[_BASE] = name
    try:
        yield
    finally:
        os.environ.pop(_BASE)
        if before is not None:
            os.environ[_BASE] = before
