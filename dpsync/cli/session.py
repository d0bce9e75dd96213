"""Open a client and a session, and do what several commands share.

What a command begins with: a client of the platform, a session, the plan of now.

The rehearsal of a command: of `rehearse`, of `plan --rehearse` and of `apply --rehearse`.

What is live, written as the configuration of a directory that has none: for `import` and `init`.

What is live as a world: for `dpsync world`, which saves it, and `dpsync serve --from-live`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click
from msgspec.structs import replace

from dpsync.cli.configuration import ConfigurationPaths, check_ids_file, opened
from dpsync.cli.connection import Connection, connection
from dpsync.cli.output import Output, interactive
from dpsync.cli.progress import READING
from dpsync.model.diagnostic import DiagnosticError, Exit
from dpsync.render.visible import visible

if TYPE_CHECKING:
    from dpsync.api import Planned, Session
    from dpsync.client.client import ReadClient
    from dpsync.client.recording import Recording
    from dpsync.model.desired import Desired
    from dpsync.model.plan import Plan


if TYPE_CHECKING:
    from dpsync.api import Options, Planned, Session
    from dpsync.client.client import ReadClient
    from dpsync.client.recording import Recording
    from dpsync.client.responses import Params
    from dpsync.model.desired import Desired
    from dpsync.model.plan import Plan

    To = TypeVar("To", bound=Connection | None)
    Client = TypeVar("Client", bound=ReadClient)


def client_of(
    made: type[Client], out: Output, to: Connection, timeout: float, recording: Recording | None = None
) -> Client:
    """A client of this class for a platform, which tells `out` of its requests. Raises Malformed."""
    from dpsync.cli.output import tracer

    return made(
        to.url, to.token, timeout=timeout, trace=tracer(out), observer=out.progress, rate=to.rate,
        recording=recording,
    )  # fmt: skip


def configured(
    out: Output, place: ConfigurationPaths, connect: Callable[[Output, ConfigurationPaths, Desired], To]
) -> tuple[Desired, To]:
    """Load the configuration and find its platform, before anything is sent.

    The API edition of the server may not be known yet. So a configuration with errors counts if it has none
    for another edition: `for_server` reports the errors for the edition that the server has.
    Raises DiagnosticError, and UsageError for an address or a token that is missing.
    """
    from dpsync.kinds.editions import PROFILES

    try:
        desired = place.load(out)
    except DiagnosticError as wrong:
        if wrong.exit_code is not Exit.INVALID:  # do not read a changed file again
            raise
        other = next(filter(None, map(place.loaded_for, PROFILES)), None)
        if other is None:
            raise
        try:
            to = connect(out, place, other)
        except (DiagnosticError, click.UsageError):
            raise wrong from None  # without a connection, the errors for the assumed edition are what counts
        desired = other
    else:
        to = connect(out, place, desired)
    if to is not None:
        check_ids_file(place, to)
    return desired, to


def for_server(
    out: Output, client: ReadClient, place: ConfigurationPaths, desired: Desired
) -> tuple[ConfigurationPaths, Desired]:
    """Return the configuration as it is read for the API edition of the server, and its paths.

    A profile that a flag or the environment names counts more than what the server says.
    Raises DiagnosticError (exit 5) if the configuration has errors for that edition.
    """
    from dpsync.api import load_registry
    from dpsync.live.reader import first_request

    settled = place.for_profile_of(desired)
    if settled is place:
        return place, desired
    first = first_request(load_registry(desired.profile), desired)
    profile = served_profile(out, client, *first)
    if profile == desired.profile:
        return settled, desired
    settled = replace(place, profile=profile)
    return settled, settled.load_again(out, desired)


def served_profile(out: Output, client: ReadClient, path: str, params: Params | None) -> str:
    """Return the profile of GitBook for GitBook's address, else the one that the server names, else `full`.

    `path` and `params` are the first request of the reading that follows, which gets the answer.
    """
    from dpsync.kinds.editions import FULL, PROFILES, profile_at

    if (known := profile_at(client.url)) is not None:
        return known
    with out.progress.during(READING):
        named = client.begin(path, params)
    if named is None or named in PROFILES:
        return named or FULL.name
    out.complain(
        f"warning: {visible(client.url)} reports the API version {named}, which this dpsync does not know. "
        f"Therefore dpsync uses the API version {FULL.name}"
    )
    return FULL.name


def planned_now(out: Output, session: Session, client: ReadClient, options: Options) -> Planned:
    """The plan of now. Raises as `Session.plan` does."""
    with out.progress.during(READING):
        return session.plan(client, options)


def check_answers(plan: Plan, no_input: bool = False) -> None:
    """Where nobody can be asked, raise DiagnosticError (exit 64) for an unneeded answer."""
    from dpsync.planner.answers import check_needed

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
    from dpsync.cli.exit_codes import endings
    from dpsync.client.client import ReadClient

    with endings(out):
        place = ConfigurationPaths.find(files, directory, environment, ids_in, profile)
        desired, to = configured(out, place, connection)
    with endings(out, to), client_of(ReadClient, out, to, timeout, recording) as client:
        place, desired = for_server(out, client, place, desired)
        yield opened(out, place, desired, to, parallelism, base).session, client


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
