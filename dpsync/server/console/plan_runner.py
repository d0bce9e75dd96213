"""Print the plan of a directory with an external program: the local server itself knows nothing of plans.

The program runs as a separate process in an empty directory. It calls the local server over HTTP like any
client, with a token of this local server that is deleted when the process ends. The process gets only the
environment variables that `PlanProgram.environment` returns, and those that `PlanRunner` adds.
"""

import asyncio
from collections.abc import Callable, Mapping
from tempfile import TemporaryDirectory
from uuid import uuid4

from msgspec import Struct

from ..store import Record, Store

_TIMEOUT_SECONDS = 120


class PlanProgram(Struct, frozen=True):
    """A program that prints a plan as a whole HTML page.

    `command_line` is the command as a person would type it. `environment` returns the environment for a run.
    """

    directory: str
    arguments: tuple[str, ...]
    command_line: str
    environment: Callable[[], Mapping[str, str]] = dict


class PlanOutput(Struct, frozen=True):
    """The output of a plan program: `html` is the standard output, `stderr` the standard error."""

    html: str
    stderr: str
    exit_code: int


class PlanRunner:
    """Runs the plan program, one run at a time. `stop` kills a run that is in progress."""

    def __init__(self, program: PlanProgram) -> None:
        self.program = program
        self._lock = asyncio.Lock()
        self._process: asyncio.subprocess.Process | None = None

    def stop(self) -> None:
        """Kill the run that is in progress, if there is one."""
        if self._process is not None and self._process.returncode is None:
            self._process.kill()

    async def run(self, store: Store, user: str, url: str) -> PlanOutput:
        """Run the program with a temporary token of the user against the local server at `url`."""
        async with self._lock:
            token = Record("token", uuid4().hex, {}, ref=user)
            with store.transaction():
                store.put(token)
            try:
                return await self._run_program(url, token.id)
            finally:
                with store.transaction():
                    store.remove("token", token.id)

    async def _run_program(self, url: str, token: str) -> PlanOutput:
        """Run the program in an empty directory and return its output, without the token.

        Kill it after a timeout.
        """
        variables = await asyncio.to_thread(self.program.environment)
        with TemporaryDirectory(prefix="dpsync-") as empty:
            self._process = process = await asyncio.create_subprocess_exec(
                *self.program.arguments,
                cwd=empty,
                env={**variables, "DPSYNC_URL": url, "DPSYNC_TOKEN": token, "NO_COLOR": "1"},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
            try:
                page, stderr = await asyncio.wait_for(process.communicate(), _TIMEOUT_SECONDS)
            except TimeoutError:
                page, stderr = b"", f"The plan did not end within {_TIMEOUT_SECONDS} seconds.".encode()
            finally:
                if process.returncode is None:
                    process.kill()
                    await process.wait()
                self._process = None
        stderr = stderr.replace(token.encode(), b"(the token)")
        return PlanOutput(
            page.decode(errors="replace"), stderr.decode(errors="replace"), process.returncode or 0
        )
