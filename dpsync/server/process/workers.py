"""Several processes that accept on one listening socket. One that dies is replaced; a signal ends them all.

The first process serves nothing, and must have no threads and no connections when it forks. When it is
killed, the others end by themselves. Windows has neither forks nor these signals: there is one process there.
"""

import logging
import os
import signal
import sys
from collections.abc import Callable

from msgspec import Struct

SIGNALS = (signal.SIGINT, signal.SIGTERM)
_SECONDS_AFTER_A_FAILURE = 1
_READY = b"1"
_log = logging.getLogger("dpsync.server")

Serve = Callable[[int, Callable[[], object]], None]
"""Serves until a signal, or until the descriptor can be read: then the first process is gone. Calls the
function once it accepts requests.
"""


class WorkerFailed(Exception):
    """One has ended before it was ready; it has said why on standard error."""


class _Worker(Struct):
    """`pipe`: the end of a pipe where a byte comes when it is ready, and the end when it is dead."""

    pid: int
    pipe: int
    ready: bool = False

    def wait_until_ready(self) -> bool:
        """False: it has died before."""
        self.ready = self.ready or os.read(self.pipe, 1) == _READY
        return self.ready


class Workers:
    """`serve` is what each of `count` processes does."""

    def __init__(self, count: int, serve: Serve) -> None:
        self._count = count
        self._serve = serve
        self._workers: list[_Worker] = []

    def run(self, ready: Callable[[], object]) -> None:
        """Blocks until SIGINT or SIGTERM; calls `ready` when all are. Raises WorkerFailed."""
        awaited = {*SIGNALS, signal.SIGCHLD, signal.SIGALRM}
        self._stop_fd, self._held = os.pipe()
        handled = signal.signal(signal.SIGCHLD, lambda *_: None)  # else it may be thrown away while blocked
        self._mask = signal.pthread_sigmask(signal.SIG_BLOCK, awaited)
        try:
            self._fill()
            if not all(worker.wait_until_ready() for worker in self._workers):
                raise WorkerFailed
            ready()
            while (number := signal.sigwait(awaited)) not in SIGNALS:
                if number == signal.SIGCHLD and not self._dead_were_ready():
                    signal.alarm(_SECONDS_AFTER_A_FAILURE)
                else:
                    self._fill()
        finally:
            self._stop()
            signal.signal(signal.SIGCHLD, handled)
            signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)

    def _fill(self) -> None:
        while len(self._workers) < self._count:
            self._workers.append(self._started())

    def _started(self) -> _Worker:
        pipe, tell = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        pid = os.fork()
        if pid == 0:
            self._work(tell)
        os.close(tell)
        return _Worker(pid, pipe)

    def _work(self, tell: int) -> None:
        """The life of a worker: never returns into what the first process was doing."""
        status = 1
        try:
            os.close(self._held)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)
            self._serve(self._stop_fd, lambda: os.write(tell, _READY))
            status = 0
        except Exception as error:
            _log.error("a server process stopped: %s", error)
        finally:
            sys.stderr.flush()
            os._exit(status)

    def _dead_were_ready(self) -> bool:
        """Forgets the dead. Whether each had come so far as to serve."""
        dead = [worker for worker in self._workers if os.waitpid(worker.pid, os.WNOHANG)[0]]
        self._workers = [worker for worker in self._workers if worker not in dead]
        were_ready = [worker.wait_until_ready() for worker in dead]
        for worker in dead:
            _log.error("the server process %s died", worker.pid)
            os.close(worker.pipe)
        return all(were_ready)

    def _stop(self) -> None:
        for worker in self._workers:
            os.kill(worker.pid, signal.SIGTERM)
        for worker in self._workers:
            os.waitpid(worker.pid, 0)
