"""Open clients and sessions for commands.

`load_with_connection` loads the configuration and chooses the server; `reload_for_server` reads the
configuration again for the API version of the server. `reading_session` and `reading_plan` do everything for
commands that only read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click
from msgspec.structs import replace

from dpsync.cli.configuration import ConfigurationPaths, check_ids_file, prepare_session
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

    ConnectionT = TypeVar("ConnectionT", bound=Connection | None)
    ClientT = TypeVar("ClientT", bound=ReadClient)


def open_client(
    client_class: type[ClientT],
    out: Output,
    to: Connection,
    timeout: float,
    recording: Recording | None = None,
) -> ClientT:
    """Return a client of a class for a server, which reports its requests to `out`.

    Raises InvalidClientValueError.
    """
    from dpsync.cli.output import request_tracer

    return client_class(
        to.url, to.token, timeout=timeout, trace=request_tracer(out), observer=out.progress, rate=to.rate,
        recording=recording,
    )  # fmt: skip


def load_with_connection(
    out: Output,
    place: ConfigurationPaths,
    connect: Callable[[Output, ConfigurationPaths, Desired], ConnectionT],
) -> tuple[Desired, ConnectionT]:
    """Load the configuration and choose its server, before any request is sent.

    The API version of the server may not be known yet. So a configuration with errors is accepted if another
    API version reads it without errors; `reload_for_server` then reports the errors for the version of the
    server.

    Raises:
        DiagnosticError: The configuration has errors for every API version.
        click.UsageError: The address or the token is missing.
    """
    from dpsync.kinds.editions import PROFILES

    try:
        desired = place.load(out)
    except DiagnosticError as wrong:
        if wrong.exit_code is not Exit.INVALID:  # do not read a changed file again
            raise
        other = next(filter(None, map(place.load_for_profile, PROFILES)), None)
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


def reload_for_server(
    out: Output, client: ReadClient, place: ConfigurationPaths, desired: Desired
) -> tuple[ConfigurationPaths, Desired]:
    """Return the paths and the configuration as read for the API version of the server.

    A profile that a flag or the environment names takes precedence over the server.

    Raises:
        DiagnosticError: The configuration has errors for that version (exit 5).
    """
    from dpsync.api import load_registry
    from dpsync.live.reader import first_request

    final = place.with_profile_of(desired)
    if final is place:
        return place, desired
    first = first_request(load_registry(desired.profile), desired)
    profile = profile_of_server(out, client, *first)
    if profile == desired.profile:
        return final, desired
    final = replace(place, profile=profile)
    return final, final.load_again(out, desired)


def profile_of_server(out: Output, client: ReadClient, path: str, params: Params | None) -> str:
    """Return the profile of the server: by its address, else as the server names it, else `full`.

    `path` and `params` are the first request of the reading that follows, which reuses the response.
    """
    from dpsync.kinds.editions import FULL, PROFILES, profile_of_url

    if (known := profile_of_url(client.url)) is not None:
        return known
    with out.progress.show_during(READING):
        named = client.begin(path, params)
    if named is None or named in PROFILES:
        return named or FULL.name
    out.print_problem(
        f"warning: {visible(client.url)} reports the API version {named}, which this dpsync does not know. "
        f"Therefore dpsync uses the API version {FULL.name}"
    )
    return FULL.name


def plan_now(out: Output, session: Session, client: ReadClient, options: Options) -> Planned:
    """Plan with the present live objects. Raises the same errors as `Session.plan`."""
    with out.progress.show_during(READING):
        return session.plan(client, options)


def check_answers(plan: Plan, no_input: bool = False) -> None:
    """Raise DiagnosticError (exit 64) for an unneeded answer, if nobody can be asked."""
    from dpsync.planner.answers import reject_unneeded_answers

    if not interactive(no_input):
        reject_unneeded_answers(plan)


@contextmanager
def reading_session(
    out: Output, files: tuple[str, ...], directory: Path, environment: str | None, ids_in: Path | None,
    profile: str | None, parallelism: int, base: str | None, timeout: float,
    recording: Recording | None = None,
) -> Iterator[tuple[Session, ReadClient]]:  # fmt: skip
    """Yield the session that the options of a command describe, and its client.

    Errors in the block end the command. `recording` keeps the responses of the platform.
    """
    from dpsync.cli.exit_codes import exit_on_errors
    from dpsync.client.client import ReadClient

    with exit_on_errors(out):
        place = ConfigurationPaths.find(files, directory, environment, ids_in, profile)
        desired, to = load_with_connection(out, place, connection)
    with exit_on_errors(out, to), open_client(ReadClient, out, to, timeout, recording) as client:
        place, desired = reload_for_server(out, client, place, desired)
        yield prepare_session(out, place, desired, to, parallelism, base).session, client


@contextmanager
def reading_plan(
    out: Output, files: tuple[str, ...], directory: Path, environment: str | None, ids_in: Path | None,
    profile: str | None, parallelism: int, base: str | None, timeout: float, options: Options,
    recording: Recording | None,
) -> Iterator[tuple[Session, Planned]]:  # fmt: skip
    """Yield the session of `reading_session` with a plan of the present. Raises as `check_answers` does."""
    with reading_session(
        out, files, directory, environment, ids_in, profile, parallelism, base, timeout, recording
    ) as (session, client):  # fmt: skip
        planned = plan_now(out, session, client, options)
        check_answers(planned.plan)
        yield session, planned
