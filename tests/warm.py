"""`dpsync` as a program that has started already: a process that has imported it forks for each command.

Starting Python and importing everything takes longer than most commands. `program()` makes a file `dpsync`
that can be called by its path, by a shell, with any input and output, like the real one: what runs is the
same `main`, in a process of its own with the caller's arguments, directory, environment and files. SIGINT and
SIGTERM reach it. Where the start itself matters, or SIGKILL, take the real one (`python -m dpsync`).
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_ROOT = Path(__file__).parents[1]

_CALL = """\
#!{python} -IS
import json, os, signal, socket, sys
with socket.socket(socket.AF_UNIX) as there:
    there.connect({address!r})
    said = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
    socket.send_fds(there, [len(said).to_bytes(8, "big")], [0, 1, 2])
    there.sendall(said)
    answers = there.makefile()
    pid = int(answers.readline())
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, frame: os.kill(pid, number))
    sys.exit(int(answers.readline() or 137))
"""


@contextmanager
def program() -> Iterator[Path]:
    """Yield a directory with the file `dpsync`, as long as the process behind it runs."""
    with tempfile.TemporaryDirectory(prefix="dpsync-warm-") as made:
        folder = Path(made)
        address = str(folder / "socket")
        file = folder / "dpsync"
        file.write_text(_CALL.format(python=sys.executable, address=address), encoding="utf-8")
        file.chmod(0o755)
        with subprocess.Popen(
            [sys.executable, str(Path(__file__)), address], cwd=_ROOT, start_new_session=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        ) as running:  # fmt: skip
            assert running.stdout is not None
            assert running.stdin is not None
            assert running.stdout.readline() == b"ready\n"
            yield folder
            running.stdin.close()


def _serve(address: str) -> None:
    """Fork for each call, until nobody holds the input any more."""
    from importlib import import_module
    from pkgutil import walk_packages

    import dpsync

    gc.disable()
    for module in walk_packages(dpsync.__path__, "dpsync."):
        if "__main__" not in module.name and module.name != "dpsync.testing":
            import_module(module.name)
    gc.freeze()  # so that no child looks through what is there already
    gc.enable()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen(64)
        os.write(1, b"ready\n")
        while listening in select.select([listening, 0], [], [])[0]:
            caller, _ = listening.accept()
            with caller:
                if os.fork() == 0:
                    listening.close()
                    _run(caller)


def _run(caller: socket.socket) -> None:
    """Become what was called."""
    length, files, *_ = socket.recv_fds(caller, 8, 3)
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    with caller.makefile("rb") as said:
        arguments, directory, environment = json.loads(said.read(int.from_bytes(length, "big")))
    os.chdir(directory)
    os.environ.clear()
    os.environ.update(environment)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    caller.sendall(f"{os.getpid()}\n".encode())
    sys.stdin = os.fdopen(0, encoding="utf-8", errors="surrogateescape", closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", errors="surrogateescape", closefd=False)
    sys.stderr = os.fdopen(2, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False)
    from dpsync.cli.main import main

    code: object = 1
    try:
        main(arguments)
    except SystemExit as ended:
        code = ended.code
    finally:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError):
                stream.flush()
        caller.sendall(f"{code or 0}\n".encode())
        os._exit(0)


if __name__ == "__main__":
    _serve(sys.argv[1])
