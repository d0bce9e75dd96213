"""Works through a page of the documentation as its reader does, in an empty folder, from top to bottom.

What is done with a block, the word behind its fence says:

    yaml            it is dpsync.yaml
    LANGUAGE NAME   it is the file of that name, whatever the language
    sh              commands; all of them succeed
    console         `$ ` commands, each with exactly what it prints below it; a line `…` stands for any lines.
                    One that does not succeed is followed by `$ echo $?`
    python          a program that runs; a `text` block behind it is what it prints
    http            requests that somebody else sends, one to a line: METHOD PATH JSON

A block is left out only by a comment right above it that says why: `<!-- not run: REASON -->`. Anything else
is a mistake of the page. Commands are the real ones (dpsync, git, sh) in processes of their own. Between the
page and what is printed only this may differ: ports, the digest of a plan, the hash of a commit, times, and
how much the files leave out.

With UPDATE_EXAMPLES=1, the tests write the real output into the pages instead of failing. Read the difference
before you commit it.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import socket
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType

import httpx

from dpsync.config.discovery import IDS_NAME, find_root
from dpsync.config.ids_file import parse
from dpsync.config.layers import Layers
from dpsync.config.load import load
from dpsync.kinds.registry import build_registry as load_registry
from dpsync.model.desired import Desired
from dpsync.model.diagnostic import Diagnostic, DiagnosticError
from tests.no_tls import NO_TLS
from tests.patience import PATIENCE

from .markdown import Block

REGISTRY = load_registry().with_all_kinds
TOKEN = {"Authorization": "Bearer ada-token"}  # of the companion's built-in world
INSTALLED = Path(sys.executable).parent
PORT = "8787"
"""Where the companion is, on the pages."""
LANGUAGES = {"yaml", "sh", "console", "python", "text", "http"}
"""What can stand behind a fence without the name of a file."""

_VARIES = re.compile(
    r"(?<=^digest )(?P<digest>[0-9a-f]{32})$"
    r"|^base: [^ ]+ \((?P<commit>[0-9a-f]{12})(?=\)$)"
    r"|^not compared: (?P<left_out>.+)(?= that are not in your files)"  # it grows with every new field
    r"|\b(?P<journal>\d{8}T\d{6}Z-[0-9a-f]{8})(?=\.jsonl\b)"  # a time, and the beginning of a digest
    r"|^(?P<began>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(?=  )"  # the time at which an apply began
    r"|, in (?P<seconds>\d+)(?= s[.;])"  # how long an apply took
)
_REAL = {
    "digest": "([0-9a-f]{32})",
    "commit": "([0-9a-f]{12})",
    "journal": r"(\d{8}T\d{6}Z-[0-9a-f]{8})",
    "began": r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)",
    "seconds": r"(\d+)",
    "left_out": r"((?:\d+ lists?)?(?: and )?(?:\d+ fields?)?)",
}
"""What may stand in the place of each."""
_PROMPT = re.compile(r"^\$ ", re.MULTILINE)
_PROGRESS = re.compile(r"^(?:[A-Z][A-Za-z ]+: |\[\d+/\d+\] reading back: )read \d+.*\n", re.M)
"""What is said where a machine is slow."""
_BACKGROUND = re.compile(r"^(.*?)\s*&\s*(?:#.*)?$")


class InvalidPageError(AssertionError):
    """What a page says is not what happens."""


class Reader:
    """Somebody with an empty folder and a shell. Use it in a `with` block: programs it has started end there.

    `url` is that of a companion that the reader has been told to start; without one there is none yet.
    `programs` is where the `dpsync` is that they call: by itself the installed one.
    """

    def __init__(self, folder: Path, url: str = "", programs: Path = INSTALLED) -> None:
        self.folder = folder
        self.taken: list[Block] = []
        self.code = 0
        self._printed: str | None = None  # by the program right before
        self._ports = {PORT: url.rpartition(":")[2]} if url else {}
        self._seen: dict[str, str] = {}  # what varies: on the page, and in truth
        self._running: list[subprocess.Popen[str]] = []
        self._state = folder.parent / f"{folder.name}.env"
        self.updates: dict[int, str] | None = {} if os.environ.get("UPDATE_EXAMPLES") else None
        """By line of a block's fence: the block with real output. None: a difference raises WrongPage."""
        home = folder.parent / f"{folder.name}.home"
        for directory in (folder, home):
            directory.mkdir(parents=True)
        self.env = {
            "PATH": f"{programs}:{INSTALLED}:{os.environ['PATH']}",
            "HOME": str(home),
            "LOGNAME": "ada",
            "LANG": "C.UTF-8",
            "PWD": str(folder),
            "GIT_CEILING_DIRECTORIES": str(folder.parent),
        }
        if url:
            self.env |= {"DPSYNC_URL": url, "DPSYNC_TOKEN": "ada-token"}

    def __enter__(self) -> Reader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for program in self._running:
            program.terminate()
            program.communicate(timeout=PATIENCE)

    def work_through(self, blocks: Iterable[Block]) -> Reader:
        """Take the blocks in their order. Raises WrongPage."""
        for block in blocks:
            if block.not_run is None:
                self.take(block)
        return self

    def take(self, block: Block) -> None:
        """Do with a block what it is for. Raises WrongPage."""
        printed, self._printed = self._printed, None
        if block.name or block.language == "yaml":
            self._write(block.name or "dpsync.yaml", block.text)
        elif block.language == "sh":
            self._commands(block)
        elif block.language == "console":
            self._session(block)
        elif block.language == "http":
            self._happen(block)
        elif block.language == "python":
            self._printed = self._program(block)
        elif block.language == "text" and printed is not None:
            self._compare(block, "the program above", block.text, printed)
        else:
            raise InvalidPageError(f"line {block.line}: nobody knows what this block is for")
        self.taken.append(block)

    def _write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    # Commands.

    def _commands(self, block: Block) -> None:
        if not any(_BACKGROUND.match(line) for line in block.text.splitlines()):
            self._succeed(block, block.text)
            return
        for line in block.text.splitlines():
            if started := _BACKGROUND.match(line):
                self._start(block, started[1])
            else:
                self._succeed(block, line)

    def _succeed(self, block: Block, script: str) -> None:
        printed = self._type(f"set -e\n{script}")
        if self.code != 0:
            raise InvalidPageError(f"line {block.line}: ends with {self.code}:\n{script}\n{printed}")

    def _session(self, block: Block) -> None:
        commands = _PROMPT.split(block.text)
        if commands[0]:
            raise InvalidPageError(
                f"line {block.line}: a console begins with a `$ ` command; commands alone are sh"
            )
        told = True
        for part in (*commands[1:], ""):
            command, _, output = part.partition("\n")
            if not (told or command == "echo $?"):
                self._add_exit_code(block, command)
            if command:
                self._compare(block, f"$ {command}", output, self._type(command))
                told = self.code == 0

    def _add_exit_code(self, block: Block, next_command: str) -> None:
        """Show the exit code of the last command in a page that is updated. Raises WrongPage otherwise."""
        if self.updates is None:
            raise InvalidPageError(f"line {block.line}: ended with {self.code}, and the page does not say so")
        text, added = self.updates.get(block.line, block.text), f"$ echo $?\n{self.code}\n"
        before, found, after = text.rpartition(f"$ {next_command}\n") if next_command else (text, "", "")
        self.updates[block.line] = f"{before}{added}{found}{after}"
        self.code = 0

    def _type(self, script: str) -> str:
        """Run a script in the shell as it was left; what it prints, on both streams."""
        state = shlex.quote(str(self._state))
        left = f"ended=$?\nenv -0 > {state}\nexit $ended\n"
        command = ["sh", "-c", f"(exit {self.code})\n{self._in_truth(script)}\n{left}"]
        ended = subprocess.run(
            command, cwd=self.env["PWD"], env=self.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL, text=True, check=False, timeout=PATIENCE,
        )  # fmt: skip
        self.code = ended.returncode
        if self._state.exists():
            lines = self._state.read_text(encoding="utf-8").rstrip("\0").split("\0")
            self.env = dict(line.split("=", 1) for line in lines)
            self._state.unlink()
        return _PROGRESS.sub("", ended.stdout)

    def _start(self, block: Block, command: str) -> None:
        """Start a program in the background and wait until it prints its URL."""
        for port in re.findall(r"--port (\d+)", command):
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                self._ports[port] = str(free.getsockname()[1])
        program = subprocess.Popen(
            ["sh", "-c", f"exec {self._in_truth(command)}"], cwd=self.env["PWD"], env=self.env,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        self._running.append(program)
        assert program.stdout is not None
        first = program.stdout.readline()
        if not first.startswith("http://"):
            raise InvalidPageError(f"line {block.line}: {command} prints {first!r}")

    def _program(self, block: Block) -> str:
        command = [sys.executable, "-c", self._in_truth(block.text)]
        ended = subprocess.run(
            command, cwd=self.env["PWD"], env=self.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, check=False, timeout=PATIENCE,
        )  # fmt: skip
        if ended.returncode != 0:
            raise InvalidPageError(
                f"line {block.line}: the program ends with {ended.returncode}:\n{ended.stdout}"
            )
        return ended.stdout

    def _happen(self, block: Block) -> None:
        for line in block.text.splitlines():
            method, path, body = line.split(" ", 2)
            url = self.env["DPSYNC_URL"] + path
            answer = httpx.request(method, url, json=json.loads(body), headers=TOKEN, **NO_TLS)
            if not answer.is_success:
                raise InvalidPageError(f"line {block.line}: {line}\n{answer.status_code} {answer.text}")

    # The page and the truth.

    def _in_truth(self, text: str) -> str:
        """Replace the page's ports and digests in a command with the real ones."""
        for shown, real in (*self._ports.items(), *self._seen.items()):
            text = re.sub(rf"\b{shown}\b", real, text)
        return text

    def _compare(self, block: Block, what: str, shown: str, printed: str) -> None:
        for port, real in self._ports.items():
            printed = re.sub(rf"\b{real}\b", port, printed)
        varying = [
            found[str(found.lastgroup)] for line in shown.splitlines() for found in _VARIES.finditer(line)
        ]
        same = re.fullmatch(_pattern(shown), printed)
        if same is None and self.updates is None:
            raise InvalidPageError(f"line {block.line}: {what}\n--- shown\n{shown}--- printed\n{printed}")
        if same is None:
            assert self.updates is not None
            text = self.updates.get(block.line, block.text)
            is_command = what.startswith("$ ")
            old, new = (f"{what}\n{shown}", f"{what}\n{printed}") if is_command else (shown, printed)
            self.updates[block.line] = text.replace(old, new, 1)
            return
        self._seen |= dict(zip(varying, same.groups(), strict=True))


def update(page: Path, texts: dict[int, str]) -> None:
    """Replace blocks of a page. `texts`: by line of a block's fence, the new text of the block."""
    lines = page.read_text(encoding="utf-8").splitlines()
    for line in sorted(texts, reverse=True):
        end = lines.index("```", line)
        lines[line:end] = texts[line].splitlines()
    page.write_text("\n".join([*lines, ""]), encoding="utf-8")


def _pattern(shown: str) -> str:
    """Return a pattern for the shown output, with a group for each part that varies."""
    lines = []
    for line in shown.splitlines():
        if line == "…":
            lines.append(r"(?:.*\n)*?")
            continue
        parts, end = [], 0
        for found in _VARIES.finditer(line):
            kind = str(found.lastgroup)
            parts += [re.escape(line[end : found.start(kind)]), _REAL[kind]]
            end = found.end(kind)
        lines.append("".join([*parts, re.escape(line[end:])]) + r"\n")
    return "".join(lines)


def read(
    directory: Path, env: dict[str, str], overlays: tuple[str, ...] = ()
) -> tuple[Desired | None, list[Diagnostic]]:
    """Load a project; return its configuration and the diagnostics of its files, including the ids file."""
    try:
        root = find_root(directory)
    except DiagnosticError as none:
        return None, list(none.diagnostics)
    desired, found = load(root, REGISTRY, env, Layers(overlays))
    ids = directory / IDS_NAME
    return desired, [*found, *(parse(ids.read_bytes(), IDS_NAME, REGISTRY)[1] if ids.exists() else ())]
