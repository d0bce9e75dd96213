"""What a command begins with: a client of the platform, a session, the plan of now."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from dpsync.cli.arguments.connection import Connection, connection
from dpsync.cli.arguments.memory import opened
from dpsync.cli.arguments.place import ConfigurationPaths
from dpsync.cli.terminal.output import Output, interactive
from dpsync.cli.terminal.progress import READING

if TYPE_CHECKING:
    from dpsync.api import Options, Planned, Session
    from dpsync.client.client import ReadClient
    from dpsync.client.recording import Recording
    from dpsync.model.plans.plan import Plan

    Client = TypeVar("Client", bound=ReadClient)


def client_of(
    made: type[Client], out: Output, to: Connection, timeout: float, recording: Recording | None = None
) -> Client:
    """A client of this class for a platform, which tells `out` of its requests. Raises Malformed."""
    from dpsync.cli.terminal.trace import tracer

    return made(
        to.url, to.token, timeout=timeout, trace=tracer(out), observer=out.progress, rate=to.rate,
        recording=recording,
    )  # fmt: skip


def planned_now(out: Output, session: Session, client: ReadClient, options: Options) -> Planned:
    """The plan of now. Raises as `Session.plan` does."""
    with out.progress.during(READING):
        return session.plan(client, options)


def check_answers(plan: Plan, no_input: bool = False) -> None:
    """Where nobody can be asked, raise DiagnosticError (exit 64) for an unneeded answer."""
    from dpsync.planner.inputs.answers import check_needed

    if not interactive(no_input):
        check_needed(plan)


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
    from dpsync.client.client import ReadClient

    with endings(out):
        place = ConfigurationPaths.find(files, directory, environment, ids_in, profile)
        desired = place.load(out)
        to = connection(out, place, desired)
    with endings(out, to):
        session = opened(out, place, desired, to, parallelism, base).session
        with client_of(ReadClient, out, to, timeout, recording) as client:
            yield session, client


@contextmanager
def reading_plan(
    out: Output, files: tuple[str, ...], directory: Path, environment: str | None, ids_in: Path | None,
    profile: str | None, parallelism: int, base: str | None, timeout: float, options: Options,
    recording: Recording | None,
) -> Iterator[tuple[Session, Planned]]:  # fmt: skip
    """The same session with the plan that was made from what is live now. Raises as `check_answers` does."""
    with reading_session(
        out, files, directory, environment, ids_in, profile, parallelism, base, timeout, recording
    ) as (session, client):  # fmt: skip
        planned = planned_now(out, session, client, options)
        check_answers(planned.plan)
        yield session, planned
