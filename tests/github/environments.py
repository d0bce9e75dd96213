"""What is in the environments of processes, as any program of the same user can read it in /proc."""

from __future__ import annotations

import shlex
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

PROCESSES = Path("/proc")


@dataclass
class Spy:
    """Looks at the processes that name a directory, or work below it."""

    of: Path
    secrets: tuple[str, ...]
    seen: set[str] = field(default_factory=set)
    """The command lines of the processes that were looked at."""
    found: dict[str, dict[str, set[str]]] = field(default_factory=dict)
    """By secret and command line: the variables of the process that have the secret."""

    def look(self) -> None:
        """Look at each process that there is now."""
        for process in PROCESSES.glob("[0-9]*"):
            with suppress(OSError):  # it has ended
                self._look_at(process)

    def _look_at(self, process: Path) -> None:
        command, environment = _of_one_program(process)
        if str(self.of) not in f"{command} {environment} {(process / 'cwd').readlink()}":
            return
        self.seen.add(command)
        for secret in self.secrets:
            held = {one.partition("=")[0] for one in environment.split("\0") if secret in one}
            if held:
                self.found.setdefault(secret, {}).setdefault(command, set()).update(held)

    @contextmanager
    def looking(self) -> Iterator[None]:
        """Look again and again meanwhile."""
        over = threading.Event()

        def look() -> None:
            while not over.is_set():
                self.look()

        thread = threading.Thread(target=look)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()


def _of_one_program(process: Path) -> tuple[str, str]:
    """Return the command line and the environment of the same program.

    Between the two reads, a process may become another program.
    """
    command = _text(process / "cmdline")
    while True:
        environment = _text(process / "environ")
        before, command = command, _text(process / "cmdline")
        if before == command:
            return command.replace("\0", " ").strip(), environment


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace")


WAITING = """\
import http.client, os, sys
server = http.client.HTTPConnection({server!r})
server.request("GET", "/look")
server.getresponse()
os.execv({program!r}, [{program!r}, *sys.argv[1:]])
"""


def program_that_is_seen(folder: Path, name: str, program: str, url: str) -> None:
    """Put a program into a directory for PATH. It asks a server before it becomes the one it stands for.

    So a server that looks at the processes has seen this one, and whoever has started it and waits for it.
    Bash hands on every variable; other shells drop those whose names have a hyphen.
    """
    script = folder / f"{name}.py"
    script.write_text(WAITING.format(server=urlsplit(url).netloc, program=program), encoding="utf-8")
    path = folder / name
    path.write_text(
        f'#!/usr/bin/env bash\nexec {shlex.join([sys.executable, "-I", str(script)])} "$@"\n',
        encoding="utf-8",
    )
    path.chmod(0o755)
