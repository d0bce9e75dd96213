"""What is in the environments of processes, as any program of the same user can read it in /proc."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def spying(secret: str, of: Path) -> Iterator[dict[str, set[str]]]:
    """Look at every process that names a directory, again and again.

    By its command line the variables of a process that have the secret.
    """
    found: dict[str, set[str]] = {}
    over = threading.Event()

    def look() -> None:
        while not over.is_set():
            for process in Path("/proc").glob("[0-9]*"):
                with suppress(OSError):
                    command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                    environment = (process / "environ").read_bytes().decode("utf-8", "replace")
                    held = {one.partition("=")[0] for one in environment.split("\0") if secret in one}
                    if held and str(of) in command + environment:
                        found.setdefault(command.strip(), set()).update(held)

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield found
    finally:
        over.set()
        thread.join()
