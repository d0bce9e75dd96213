"""What a command that only reads needs: the session of a configuration, and a client that cannot write."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from dpsync.cli.arguments.connection import connection
from dpsync.cli.arguments.memory import opened
from dpsync.cli.arguments.place import ConfigurationPaths
from dpsync.cli.terminal.output import Output

if TYPE_CHECKING:
    from dpsync.api import Session
    from dpsync.client.client import ReadClient
    from dpsync.client.recording import Recording


@contextmanager
def reading_session(
    out: Output, files: tuple[str, ...], directory: Path, environment: str | None, ids_in: Path | None,
    profile: str | None, parallelism: int, base: str | None, timeout: float,
    recording: Recording | None = None,
) -> Iterator[tuple[Session, ReadClient]]:  # fmt: skip
    """The session that the options of a command name, with its client.

    `recording` keeps what the platform answers. What is raised meanwhile becomes the ending of the command.
    """
    from dpsync.cli.endings import endings
    from dpsync.cli.terminal.trace import tracer
    from dpsync.client.client import ReadClient

    with endings(out):
        place = ConfigurationPaths.find(files, directory, environment, ids_in, profile)
        desired = place.load(out)
        to = connection(out, desired.environment)
    with endings(out, to):
        session = opened(out, place, desired, to, parallelism, base).session
        with ReadClient(
            to.url, to.token, timeout=timeout, trace=tracer(out), observer=out.progress, rate=to.rate,
            recording=recording,
        ) as client:  # fmt: skip
            yield session, client
