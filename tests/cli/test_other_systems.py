"""dpsync on systems that are not POSIX, as far as that can be shown on one: it needs nothing they lack."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dpsync.server.process.threaded_server import ThreadedServer
from tests.patience import PATIENCE

SOURCE = Path(__file__).parents[2] / "dpsync"
MODULES = {"fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty"}
"""Modules of Python that Windows does not have."""
NAMES = {
    "os": {
        "O_CLOEXEC", "O_DIRECTORY", "O_NOCTTY", "O_NOFOLLOW", "O_NONBLOCK", "chown", "fchmod", "fchown",
        "fork", "forkpty", "getegid", "geteuid", "getgid", "getpgid", "getuid", "killpg", "lchown", "mkfifo",
        "openpty", "pread", "pwrite", "register_at_fork", "setsid", "uname", "wait", "wait3", "wait4",
    },
    "signal": {
        "SIGALRM", "SIGCHLD", "SIGHUP", "SIGKILL", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIG_BLOCK",
        "SIG_SETMASK", "alarm", "pthread_sigmask", "sigwait",
    },
    "socket": {"AF_UNIX", "SO_REUSEPORT", "recv_fds", "send_fds", "socketpair"},
}  # fmt: skip
"""Names in modules of Python that Windows does not have."""
SEVERAL_PROCESSES = SOURCE / "server" / "process" / "workers.py"
"""Its names are looked up when there are several workers, which Windows cannot have."""

WITHOUT = f"""
import os, signal, socket, subprocess, sys, tempfile
import asyncio, filelock, uvicorn
filelock.FileLock = lambda path, timeout, **others: filelock.SoftFileLock(path, timeout)
for module, names in {NAMES!r}.items():
    for name in names - {{"socketpair"}}:  # of a loop of asyncio here
        if hasattr(sys.modules[module], name):
            delattr(sys.modules[module], name)
from dpsync.cli import main
main()
"""
"""The program without what Windows lacks, once the libraries that choose by the system have chosen."""
CONFIGURATION = """\
dpsync: 1
organizations: { acme: { id: acme, teams: { support: { title: Support → Hilfe 日本 } } } }
"""


def used(tree: ast.AST) -> Iterator[str]:
    """Yield the names used in a module that Windows lacks, except where their existence is checked."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "hasattr(os, 'fchmod')" in ast.unparse(node.test):
            yield from (name for one in node.orelse for name in used(one))
            continue
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.attr in NAMES.get(node.value.id, ()):
                yield f"{node.value.id}.{node.attr}"
        elif isinstance(node, ast.Import):
            yield from (one.name for one in node.names if one.name.partition(".")[0] in MODULES)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from ([node.module] if node.module.partition(".")[0] in MODULES else [])
            yield from (one.name for one in node.names if one.name in NAMES.get(node.module, ()))
        yield from used(node)


def test_source_uses_no_posix_only_apis() -> None:
    found = {
        str(path.relative_to(SOURCE)): names
        for path in SOURCE.rglob("*.py")
        if path != SEVERAL_PROCESSES and (names := {*used(ast.parse(path.read_text(encoding="utf-8")))})
    }
    allowed = {"config/git_program.py": {"os.geteuid"}}  # behind a return on Windows
    assert found == allowed


def test_source_converts_relative_paths_with_as_posix() -> None:
    """`str()` of a relative path would have a backslash on Windows."""
    wrong = [
        f"{path.relative_to(SOURCE)}:{node.lineno}"
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) == "str"
        and any(ast.unparse(one).partition(".relative_to(")[1] for one in node.args)
    ]
    assert wrong == []


def run(folder: Path, *words: str, program: str = WITHOUT, **more: str) -> subprocess.CompletedProcess[bytes]:
    kept = {name: value for name, value in os.environ.items() if name != "CI"}
    return subprocess.run(
        [sys.executable, "-c", program, *words], cwd=folder, env=kept | more, stdin=subprocess.DEVNULL,
        capture_output=True, check=False, timeout=PATIENCE,
    )  # fmt: skip


def test_commands_work_without_posix_only_modules(server: ThreadedServer, tmp_path: Path) -> None:
    server.reset()
    (tmp_path / "dpsync.yaml").write_text(CONFIGURATION, encoding="utf-8")
    git = ["git", "-c", "user.name=Ada", "-c", "user.email=ada@acme.example"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "all"]):
        subprocess.run([*git, *words], cwd=tmp_path, check=True)
    platform = {
        "DPSYNC_URL": server.url,
        "DPSYNC_TOKEN": "ada-token",
        "XDG_STATE_HOME": str(tmp_path / "s"),
        "DPSYNC_DEBUG": "1",
    }
    for words, code in (
        (["validate"], 0),
        (["fmt", "--check"], 0),
        (["plan", "--detailed-exitcode"], 2),
        (["apply", "--yes"], 0),
        (["import", "--add", "acme/teams/[Sales]"], 0),
        (["drift"], 0),
    ):
        ended = run(tmp_path, *words, **platform)
        assert (words[0], ended.returncode) == (words[0], code), ended.stderr.decode()


def test_serve_rejects_multiple_workers_without_fork(tmp_path: Path) -> None:
    ended = run(tmp_path, "serve", "--workers", "2", "--db", "postgresql://localhost/none")
    assert (ended.returncode, b"--workers 1" in ended.stderr) == (1, True)


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1"])
def test_plan_escapes_characters_missing_from_encoding(
    encoding: str, server: ThreadedServer, tmp_path: Path
) -> None:
    server.reset()
    (tmp_path / "dpsync.yaml").write_text(CONFIGURATION, encoding="utf-8")
    platform = {"DPSYNC_URL": server.url, "DPSYNC_TOKEN": "ada-token", "PYTHONIOENCODING": encoding}
    program = "from dpsync.cli import main; main()"
    ended = run(tmp_path, "plan", program=program, **platform)
    assert ended.returncode == 0
    assert rb"Support \u2192 Hilfe \u65e5\u672c" in ended.stdout
    assert b"Traceback" not in ended.stderr
