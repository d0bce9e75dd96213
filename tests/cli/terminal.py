"""A command in a real pseudo terminal: read what it prints, and type answers."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType

from dpsync.server.process.threaded_server import ThreadedServer
from tests.patience import PATIENCE

_STYLE = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


class Terminal:
    """A process whose stdin, stdout and stderr are one terminal. `printed` is what it has printed so far."""

    def __init__(self, command: list[str | Path], env: Mapping[str, str]) -> None:
        self._ours, theirs = pty.openpty()
        self._process = subprocess.Popen(command, env=env, stdin=theirs, stdout=theirs, stderr=theirs)
        os.close(theirs)
        self.printed = ""
        self._seen = 0

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait(timeout=PATIENCE)
        os.close(self._ours)

    def until(self, text: str) -> str:
        """Return what is printed up to a text. Raises EOFError with all of it if the process ends before."""
        seen = self._seen
        while text not in self.printed[seen:]:
            if not self._read():
                raise EOFError(self.printed)
        self._seen = len(self.printed)
        return self.printed[seen:]

    def type(self, answer: str) -> None:
        os.write(self._ours, f"{answer}\n".encode())

    def answer(self, answers: Iterable[tuple[str, str]]) -> tuple[int, str]:
        """Wait for each prompt and type its answer. Return what `end` returns."""
        for prompt, answer in answers:
            self.until(prompt)
            self.type(answer)
        return self.end()

    def interrupt(self) -> None:
        """Send the signal of Ctrl-C."""
        self._process.send_signal(signal.SIGINT)

    def end(self) -> tuple[int, str]:
        """Return the exit code and everything that was printed, as plain lines."""
        while self._read():
            pass
        return self._process.wait(timeout=PATIENCE), self.printed

    def _read(self) -> bool:
        if not select.select([self._ours], [], [], PATIENCE)[0]:
            raise TimeoutError(self.printed)
        try:
            piece = os.read(self._ours, 65536)
        except OSError:  # the process has closed its side
            return False
        self.printed += _STYLE.sub("", piece.decode(errors="replace")).replace("\r\n", "\n")
        return bool(piece)


def environment(server: ThreadedServer, tmp_path: Path) -> dict[str, str]:
    """Return the environment of a person at a terminal who talks to a companion."""
    own = {"DPSYNC_URL": server.url, "DPSYNC_TOKEN": "ada-token", "XDG_STATE_HOME": str(tmp_path / "state")}
    return {name: value for name, value in os.environ.items() if name != "CI"} | own


def apply(project: Path, server: ThreadedServer, tmp_path: Path, programs: Path, *flags: str) -> Terminal:
    """Start an apply of a project in a terminal."""
    command = [programs / "dpsync", "apply", "-C", project, "--color", "never", *flags]
    return Terminal(command, environment(server, tmp_path))
