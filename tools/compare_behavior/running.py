"""Run the dpsync of one commit: companions, commands, and a proxy that records requests.

Only public surfaces are used: `python -m dpsync serve`, HTTP, and the entry point `dpsync.cli:main`.
"""

from __future__ import annotations

import gc
import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import httpx

NOW = "2030-03-01T12:00:00.000Z"
"""The time of every companion. It differs from the real date, so that times of the companion are compared."""
TOKEN = "ada-token"  # noqa: S105
_HOP_HEADERS = {"transfer-encoding", "connection", "content-length", "date", "server"}


class Result(NamedTuple):
    """What one command returned and printed."""

    exit: int
    out: str
    err: str


class Normalizer:
    """Replaces what differs from run to run: addresses, directories, random names, real times, durations."""

    def __init__(self, literals: Mapping[str, str]) -> None:
        """Take literal texts by what replaces them."""
        self._literals = literals
        year = datetime.now(UTC).year
        date = rf"(?:{year}|{year + 1})-\d\d-\d\d"
        self._patterns = [
            (re.compile(rf"{date}[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?"), "<time>"),
            (re.compile(rf"\b(?:{year}|{year + 1})\d{{4}}T\d{{6}}Z-[0-9a-f]{{8}}"), "<journal>"),
            (re.compile(r"\b\d+(?:\.\d+)? (?:ms|s|min)\b(?: \d+ s)?"), "<duration>"),
            (
                re.compile(r'("(?:ms|seconds|duration|elapsed|started|finished|pid|time)": ?)\d[\d.]*'),
                r"\1<n>",
            ),
            (re.compile(r"127\.0\.0\.1:\d+"), "<address>"),
            (re.compile(r"\bworld-[0-9a-f]{16}\b"), "<world>"),
            # The signature of a link to a PDF document.
            (re.compile(r"(/pdf/[0-9a-f]+\.)[0-9a-f]{64}"), r"\1<signature>"),
            # How far reading was when a second had passed.
            (re.compile(r"^.*\bread \d+(?: of \d+)? requests?\n", re.MULTILINE), ""),
        ]

    def __call__(self, text: str) -> str:
        for replacement, literal in self._literals.items():
            text = text.replace(literal, replacement)
        for pattern, replacement in self._patterns:
            text = pattern.sub(replacement, text)
        return text


class Companion:
    """A local server in a process of its own, controlled over HTTP."""

    def __init__(self, profile: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "dpsync", "serve", "--port", "0", "--profile", profile],
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().strip().rpartition(" ")[2]
        self.client = httpx.Client(base_url=self.url, timeout=60, trust_env=False)
        self.freeze()

    def close(self) -> None:
        self.client.close()
        self._process.terminate()
        self._process.wait()

    def freeze(self) -> None:
        """Stop the clock at the same time in every run."""
        self.client.put("/_dpsync/clock", json={"frozen": NOW}).raise_for_status()

    def reset(self) -> None:
        self.client.post("/_dpsync/reset").raise_for_status()
        self.freeze()

    def load(self, world: Any) -> str:
        """Replace all data, and return the error message if the companion refuses the data."""
        answer = self.client.put("/_dpsync/world", json=world)
        if answer.is_error:
            return f"{answer.status_code} {answer.text}"
        self.client.delete("/_dpsync/requests").raise_for_status()
        self.freeze()
        return ""

    def world(self) -> Any:
        return self.client.get("/_dpsync/world").json()

    def requests(self) -> list[str]:
        """Return method, path, operation and status of the requests since the last reset."""
        return [
            f"{one['method']} {one['path']}?{one['query']} {one['operation']} {one['status']}"
            for one in self.client.get("/_dpsync/requests").json()["requests"]
        ]


class Proxy:
    """Passes requests on to a companion and records method, path, body and status of each."""

    def __init__(self) -> None:
        self.requests: list[str] = []
        self.target = ""
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def pass_on(self) -> None:
                proxy.pass_on(self)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = pass_on

            def log_message(self, format: str, *args: object) -> None:
                """Print nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def pass_on(self, handler: BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        connection = http.client.HTTPConnection(urlsplit(self.target).netloc, timeout=60)
        headers = {
            name: value for name, value in handler.headers.items() if name.lower() != "accept-encoding"
        }
        connection.request(handler.command, handler.path, body or None, headers)
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        self.requests.append(f"{handler.command} {handler.path} {body.decode()} -> {answer.status}".strip())
        handler.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in _HOP_HEADERS:
                handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)


class Runner:
    """Runs commands of dpsync, each in a process that this one forks, in a directory of its own."""

    def __init__(self, checkout: Path) -> None:
        self.checkout = checkout
        self.root = Path(tempfile.mkdtemp(prefix="dpsync-behavior-"))
        self.directory = self.root / "project"
        self.normalize = Normalizer({"<root>": str(self.root), "<checkout>": str(checkout)})
        self._companions: dict[str, Companion] = {}
        self._environment = {
            "PATH": os.environ["PATH"], "HOME": str(self.root / "home"), "COLUMNS": "100", "TERM": "dumb",
            "XDG_STATE_HOME": str(self.root / "state"), "LANG": "C.UTF-8", "TZ": "UTC", "USER": "ada",
            "PYTHONPATH": str(checkout), "PYTHONHASHSEED": "0", "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@acme.example",
            "GIT_COMMITTER_NAME": "Ada", "GIT_COMMITTER_EMAIL": "ada@acme.example",
            "GIT_AUTHOR_DATE": "2031-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2031-01-01T00:00:00Z",
        }  # fmt: skip
        dpsync = import_module("dpsync")
        if not Path(str(dpsync.__file__)).is_relative_to(checkout):
            raise RuntimeError(f"dpsync was imported from {dpsync.__file__}, and not from {checkout}")
        # Every command is a fork of this process, which has therefore imported everything already.
        for module in walk_packages(dpsync.__path__, "dpsync."):
            if "__main__" not in module.name and module.name != "dpsync.testing":
                import_module(module.name)
        strangers = [
            name for name, module in sys.modules.items()
            if name.split(".")[0] == "dpsync" and not str(module.__file__).startswith(f"{checkout}/")
        ]  # fmt: skip
        if strangers:
            raise RuntimeError(f"imported from outside of {checkout}: {strangers}")
        gc.collect()
        gc.freeze()

    def close(self) -> None:
        for companion in self._companions.values():
            companion.close()
        shutil.rmtree(self.root, ignore_errors=True)

    def companion(self, profile: str) -> Companion:
        if profile not in self._companions:
            self._companions[profile] = Companion(profile)
        return self._companions[profile]

    def write(self, files: Mapping[str, str], new: bool = True) -> None:
        """Write the files of a project, by default into an empty directory."""
        if new:
            shutil.rmtree(self.directory, ignore_errors=True)
        for name, text in files.items():
            path = self.directory / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def commit(self) -> None:
        """Commit all files of the project, in a new repository if there is none."""
        for arguments in (
            ["init", "-q", "-b", "main"],
            ["add", "-A"],
            ["commit", "-q", "-m", "Change files"],
        ):
            subprocess.run(
                ["git", *arguments],
                cwd=self.directory,
                env=self._environment,
                check=False,
                capture_output=True,
            )

    def run(self, arguments: list[str], url: str = "", **environment: str) -> Result:
        """Run one command, with `url` as the server."""
        variables = (
            self._environment | ({"DPSYNC_URL": url, "DPSYNC_TOKEN": TOKEN} if url else {}) | environment
        )
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            child = os.fork()
            if child == 0:
                self._become(arguments, variables, out.fileno(), err.fileno())
            _, status = os.waitpid(child, 0)
            texts = []
            for stream in (out, err):
                stream.seek(0)
                texts.append(self.normalize(stream.read().decode(errors="replace")))
        return Result(os.waitstatus_to_exitcode(status), *texts)

    def _become(self, arguments: list[str], environment: dict[str, str], out: int, err: int) -> None:
        """Run the command and end this process."""
        code: object = 70
        try:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(out, 1)
            os.dup2(err, 2)
            os.chdir(self.directory)
            os.environ.clear()
            os.environ.update(environment)
            sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
            sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
            sys.stderr = os.fdopen(2, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False)
            import_module("dpsync.cli").main(arguments)
            code = 0
        except SystemExit as end:
            code = end.code or 0
        except BaseException:
            traceback.print_exc()
        finally:
            for stream in (sys.stdout, sys.stderr):
                with suppress(OSError, ValueError):
                    stream.flush()
            os._exit(code if isinstance(code, int) else 70)


@contextmanager
def runner(checkout: Path) -> Iterator[Runner]:
    running = Runner(checkout)
    try:
        yield running
    finally:
        running.close()


def pretty(value: Any) -> str:
    """Return JSON with one value per line, so that a difference is one line."""
    return json.dumps(value, indent=1, ensure_ascii=False)


def changes(before: Any, after: Any, path: str = "") -> Iterator[str]:
    """List what differs between two JSON values, one line for each path."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in [*before, *(key for key in after if key not in before)]:
            yield from changes(before.get(key), after.get(key), f"{path}/{key}")
    elif _with_ids(before) and _with_ids(after):
        old, new = ({str(one["id"]): one for one in side} for side in (before, after))
        if [key for key in old if key in new] != [key for key in new if key in old]:
            yield f"{path}: order {list(new)}"
        yield from changes(old, new, path)
    elif before != after:
        yield f"{path}: {json.dumps(before)} -> {json.dumps(after)}"


def _with_ids(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, dict) and "id" in one for one in value)
