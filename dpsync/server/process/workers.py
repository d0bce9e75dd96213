"""Run several processes (workers) that accept connections on one listening socket.

A worker that dies is replaced; a signal ends all workers. The first process serves nothing. When it forks, it
must have no threads and no connections. If it is killed, the workers end by themselves. Windows has neither
fork nor these signals, so there is only one process.
"""

import logging
import os
import signal
import sys
from collections.abc import Callable

from msgspec import Struct

SIGNALS = (signal.SIGINT, signal.SIGTERM)
_RESTART_DELAY_SECONDS = 1
_READY_BYTE = b"1"
_log = logging.getLogger("dpsync.server")

ServeFunction = Callable[[int, Callable[[], object]], None]
"""Serve until a signal arrives or the descriptor becomes readable, which means that the first process has
ended. Call the function once requests are accepted.
"""


class WorkerFailedError(Exception):
    """A worker ended before it was ready. The worker has printed the reason on standard error."""


class _Worker(Struct):
    """A worker. `pipe` receives one byte when the worker is ready, and ends when the worker dies."""

    pid: int
    pipe: int
    ready: bool = False

    def wait_until_ready(self) -> bool:
        """Wait until the worker is ready. Return False if it died first."""
        self.ready = self.ready or os.read(self.pipe, 1) == _READY_BYTE
        return self.ready


class Workers:
    """Runs `serve` in each of `count` processes."""

    def __init__(self, count: int, serve: ServeFunction) -> None:
        self._count = count
        self._serve = serve
        self._workers: list[_Worker] = []

    def run(self, on_ready: Callable[[], object]) -> None:
        """Run until SIGINT or SIGTERM, and call `on_ready` when all workers are ready.

        Raise WorkerFailedError.
        """
        awaited = {*SIGNALS, signal.SIGCHLD, signal.SIGALRM}
        self._stop_fd, self._parent_fd = os.pipe()
        # Without a handler, the system may discard SIGCHLD while the signal is blocked.
        previous_handler = signal.signal(signal.SIGCHLD, lambda *_: None)
        self._mask = signal.pthread_sigmask(signal.SIG_BLOCK, awaited)
        try:
            self._start_missing_workers()
            if not all(worker.wait_until_ready() for worker in self._workers):
                raise WorkerFailedError
            on_ready()
            while (number := signal.sigwait(awaited)) not in SIGNALS:
                if number == signal.SIGCHLD and not self._reap_workers():
                    signal.alarm(_RESTART_DELAY_SECONDS)
                else:
                    self._start_missing_workers()
        finally:
            for worker in self._workers:
                os.kill(worker.pid, signal.SIGTERM)
            for worker in self._workers:
                os.waitpid(worker.pid, 0)
            signal.signal(signal.SIGCHLD, previous_handler)
            signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)

    def _start_missing_workers(self) -> None:
        """Fork workers until all of them run."""
        while len(self._workers) < self._count:
            self._workers.append(self._fork_worker())

    def _fork_worker(self) -> _Worker:
        """Fork a worker.

        The first process gets the end of a pipe on which the worker reports that it is ready.
        """
        pipe_fd, ready_fd = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        pid = os.fork()
        if pid == 0:
            self._run_worker(ready_fd)
        os.close(ready_fd)
        return _Worker(pid, pipe_fd)

    def _run_worker(self, ready_fd: int) -> None:
        """Run a worker and exit. This never returns into the code of the first process."""
        status = 1
        try:
            os.close(self._parent_fd)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)
            self._serve(self._stop_fd, lambda: os.write(ready_fd, _READY_BYTE))
            status = 0
        except Exception as error:
            _log.error("a server process stopped: %s", error)
        finally:
            sys.stderr.flush()
            os._exit(status)

    def _reap_workers(self) -> bool:
        """Remove dead workers, and return whether each of them had been ready."""
        dead = [worker for worker in self._workers if os.waitpid(worker.pid, os.WNOHANG)[0]]
        self._workers = [worker for worker in self._workers if worker not in dead]
        were_ready = [worker.wait_until_ready() for worker in dead]
        for worker in dead:
            _log.error("the server process %s died", worker.pid)
            os.close(worker.pipe)
        return all(were_ready)
