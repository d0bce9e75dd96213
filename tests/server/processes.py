"""`dpsync serve` as processes, and the end of them."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
from databases import Database

from tests.no_tls import NO_TLS
from tests.patience import PATIENCE

TOKEN = "ada-token"


@dataclass
class Serving:
    """The first process, and the URL it has printed."""

    process: subprocess.Popen[str]
    url: str
    opened: list[httpx.Client] = field(default_factory=list)

    @property
    def workers(self) -> list[int]:
        """The processes under the first one."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return [int(pid) for pid in children.split()]

    def client(self, **options: object) -> httpx.Client:
        """One more connection."""
        made = httpx.Client(
            base_url=self.url, headers={"Authorization": f"Bearer {TOKEN}"}, timeout=PATIENCE,
            **options, **NO_TLS
        )  # fmt: skip
        self.opened.append(made)
        return made

    def client_of(self, worker: int) -> httpx.Client:
        """Open connections until this worker has accepted one, and return it."""
        while True:
            client = self.client()
            client.get("/v1/user")
            if _serves(worker, client):
                return client

    def close_clients(self) -> None:
        while self.opened:
            self.opened.pop().close()

    def kill(self) -> None:
        """All of it, at once."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE)


def until(happened: Callable[[], object], seconds: float = PATIENCE) -> None:
    """Wait until `happened` returns true; fail after this many seconds."""
    pause = threading.Event()
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end, "it has not happened"
        pause.wait(0.01)


def _serves(worker: int, client: httpx.Client) -> bool:
    """Whether the other end of the client's connection is an open file of the worker."""
    stream = client.get("/v1/user").extensions["network_stream"]
    here, there = stream.get_extra_info("client_addr"), stream.get_extra_info("server_addr")
    inode = _inode(there, here)
    files = Path(f"/proc/{worker}/fd")
    return any(str(file.readlink()) == f"socket:[{inode}]" for file in files.iterdir() if file.is_symlink())


def _inode(local: tuple[str, int], remote: tuple[str, int]) -> str | None:
    wanted = [f":{local[1]:04X}", f":{remote[1]:04X}"]
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        columns = line.split()
        if [columns[1][-5:], columns[2][-5:]] == wanted:
            return columns[9]
    return None


def command(*options: str) -> list[str]:
    return [sys.executable, "-m", "dpsync", "serve", "--port", "0", *options]


@contextmanager
def serving(database: Database, *options: str, workers: int = 2) -> Iterator[Serving]:
    """With several workers where the database allows it."""
    if database.shared:
        options = (*options, "--workers", str(workers))
    with subprocess.Popen(
        command("--db", database.where, *options), stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        started = None
        try:
            assert process.stdout is not None
            url = process.stdout.readline().strip()
            assert url.startswith("http://127.0.0.1:")
            started = Serving(process, url)
            yield started
        finally:
            if started:
                started.close_clients()
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
