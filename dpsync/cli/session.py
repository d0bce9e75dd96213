"""Open clients and sessions for commands. A `Session` is a configuration that can plan and apply.

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
from dpsync.cli.connection import Connection, find_connection
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
    connection: Connection,
    timeout: float,
    recording: Recording | None = None,
) -> ClientT:
    """Return a client for a server that reports its requests to `out`. Raises InvalidClientValueError."""
    from dpsync.cli.output import request_tracer

    return client_class(
        connection.url,
        connection.token,
        timeout=timeout,
        trace=request_tracer(out),
        observer=out.progress,
        rate=connection.rate,
        recording=recording,
    )


def load_with_connection(
    out: Output,
    paths: ConfigurationPaths,
    connect: Callable[[Output, ConfigurationPaths, Desired], ConnectionT],
) -> tuple[Desired, ConnectionT]:
    """Load the configuration and choose its server, before any request is sent.

    The API version of the server may not be known yet. So a configuration with errors is accepted if another
    API version reads it without errors; `reload_for_server` then reports the errors for the version of the
    server.

    Args:
        connect: Return the server for a configuration; None to work offline.

    Raises:
        DiagnosticError: The configuration has errors for every API version.
        click.UsageError: The address or the token is missing.
    """
    from dpsync.kinds.profiles import PROFILES

    try:
        desired = paths.load(out)
    except DiagnosticError as error:
        if error.exit_code is not Exit.INVALID:  # do not read a changed file again
            raise
        desired_for_other = next(filter(None, map(paths.load_for_profile, PROFILES)), None)
        if desired_for_other is None:
            raise
        try:
            connection = connect(out, paths, desired_for_other)
        except (DiagnosticError, click.UsageError):
            raise error from None  # without a connection, the errors for the assumed edition are what counts
        desired = desired_for_other
    else:
        connection = connect(out, paths, desired)
    if connection is not None:
        check_ids_file(paths, connection)
    return desired, connection


def reload_for_server(
    out: Output, client: ReadClient, paths: ConfigurationPaths, desired: Desired
) -> tuple[ConfigurationPaths, Desired]:
    """Return the paths and the configuration, read again for the API version of the server.

    A version (profile) that a flag or the environment names takes precedence over that of the server. If the
    version is the expected one, nothing is read again.

    Raises:
        DiagnosticError: The configuration has errors for that version (exit 5).
    """
    from dpsync.api import load_registry
    from dpsync.live.reader import first_request

    final_paths = paths.with_profile_of(desired)
    if final_paths is paths:
        return paths, desired
    first_read = first_request(load_registry(desired.profile), desired)
    profile = profile_of_server(out, client, *first_read)
    if profile == desired.profile:
        return final_paths, desired
    final_paths = replace(paths, profile=profile)
    return final_paths, final_paths.load_again(out, desired)


def profile_of_server(out: Output, client: ReadClient, path: str, params: Params | None) -> str:
    """Return the API version (profile) of the server: the one of its URL, or of its first response.

    Without a known version, return `full`, which has all operations. `path` and `params` are the first
    request of the command, whose response is used again later.
    """
    from dpsync.kinds.profiles import FULL, PROFILES, profile_of_url

    if (profile := profile_of_url(client.url)) is not None:
        return profile
    with out.progress.show_during(READING):
        server_profile = client.begin(path, params)
    if server_profile is None or server_profile in PROFILES:
        return server_profile or FULL.name
    out.print_problem(
        f"warning: {visible(client.url)} reports the API version {server_profile}, which this dpsync does "
        "not know. "
        f"Therefore dpsync uses the API version {FULL.name}"
    )
    return FULL.name


def plan_now(out: Output, session: Session, client: ReadClient, options: Options) -> Planned:
    """Read the platform, and return a new plan. Raises the same errors as `Session.plan`."""
    with out.progress.show_during(READING):
        return session.plan(client, options)


def check_answers(plan: Plan, no_input: bool = False) -> None:
    """Raise DiagnosticError (exit 64) if a --confirm confirms nothing in the plan.

    On a terminal, dpsync asks again instead.
    """
    from dpsync.planner.answers import reject_unneeded_answers

    if not interactive(no_input):
        reject_unneeded_answers(plan)


@contextmanager
def reading_session(
    out: Output, files: tuple[str, ...], directory: Path, environment: str | None, ids_in: Path | None,
    profile: str | None, parallelism: int, base: str | None, timeout: float,
    recording: Recording | None = None,
) -> Iterator[tuple[Session, ReadClient]]:  # fmt: skip
    """Yield the session and the client for the flags of a command that only reads the platform.

    Errors in the block end the command. `recording` keeps the responses of the platform for a rehearsal.
    """
    from dpsync.cli.exit_codes import exit_on_errors
    from dpsync.client.client import ReadClient

    with exit_on_errors(out):
        paths = ConfigurationPaths.find(files, directory, environment, ids_in, profile)
        desired, connection = load_with_connection(out, paths, find_connection)
    with (
        exit_on_errors(out, connection),
        open_client(ReadClient, out, connection, timeout, recording) as client,
    ):
        paths, desired = reload_for_server(out, client, paths, desired)
        yield prepare_session(out, paths, desired, connection, parallelism, base).session, client


@contextmanager
def reading_plan(
    out: Output, files: tuple[str, ...], directory: Path, environment: str | None, ids_in: Path | None,
    profile: str | None, parallelism: int, base: str | None, timeout: float, options: Options,
    recording: Recording | None,
) -> Iterator[tuple[Session, Planned]]:  # fmt: skip
    """Yield the session of `reading_session` with a new plan.

    Raises DiagnosticError (exit 64) if a --confirm confirms nothing in the plan and nobody can be asked.
    """
    with reading_session(
        out, files, directory, environment, ids_in, profile, parallelism, base, timeout, recording
    ) as (session, client):  # fmt: skip
        planned = plan_now(out, session, client, options)
        check_answers(planned.plan)
        yield session, planned
