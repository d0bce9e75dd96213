"""Open a client and a session, and do what several commands share.

What a command begins with: a client of the platform, a session, the plan of now.

The rehearsal of a command: of `rehearse`, of `plan --rehearse` and of `apply --rehearse`.

What is live, written as the configuration of a directory that has none: for `import` and `init`.

What is live as a world: for `dpsync world`, which saves it, and `dpsync serve --from-live`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from msgspec.structs import replace

from dpsync import disk
from dpsync.cli.configuration import ConfigurationPaths, check_ids_file, opened
from dpsync.cli.connection import Connection, connection
from dpsync.cli.output import Output, interactive
from dpsync.cli.progress import READING
from dpsync.config.discovery import ROOT_NAMES
from dpsync.config.yaml_reader import DEFAULT_LIMITS
from dpsync.model.diagnostic import DiagnosticError, Exit
from dpsync.render.names import visible

if TYPE_CHECKING:
    from dpsync.api import IdsOnDisk, Planned, Session
    from dpsync.client.client import ReadClient
    from dpsync.client.recording import Recording
    from dpsync.kinds.registry import Registry
    from dpsync.model.desired import Desired
    from dpsync.model.plan import Plan, Rehearsal
    from dpsync.render.documents import ImportDocument


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


_SEEDS = 1_000_000


def _carried_out(
    out: Output, session: Session, planned: Planned, recording: Recording, faults: int, seed: int | None
) -> Rehearsal:
    """Rehearse a plan that may be applied. Raises ClickException without the companion's packages."""
    from secrets import randbelow

    from dpsync.collector import collector_running
    from dpsync.rehearse.faults import Stage
    from dpsync.rehearse.replica import NoCompanion
    from dpsync.rehearse.run import rehearse

    steps = sum(len(change.steps) for change in planned.plan.changes)
    try:
        with out.progress.during("Rehearsing", steps), collector_running():
            return rehearse(
                Stage(session, planned, recording),
                faults=faults,
                seed=randbelow(_SEEDS) if seed is None else seed,
                report=lambda _: out.progress.step(),
            )
    except NoCompanion as missing:
        raise click.ClickException(str(missing)) from None


def started(rehearse: bool) -> Recording | None:
    """What is to be kept of the plan's reading; None where nobody wants a rehearsal."""
    if not rehearse:
        return None
    from dpsync.client.recording import Recording

    return Recording()


def rehearsed(
    out: Output, session: Session, planned: Planned, recording: Recording | None, faults: int = 0,
    seed: int | None = None,
) -> Rehearsal | None:  # fmt: skip
    """The rehearsal of a plan that was just made; None where nobody wants one, or there is nothing to do.

    `faults` more of them are disturbed, by a `seed` that is drawn where none is given.
    """
    if recording is None:
        return None
    recording.end()
    plan = planned.plan
    return (
        None if plan.refusals or plan.empty else _carried_out(out, session, planned, recording, faults, seed)
    )


def show_rehearsal(out: Output, plan: Plan, rehearsal: Rehearsal | None) -> None:
    """Tell it below a plan that was printed."""
    from dpsync.render.view_text import render_rehearsal

    if out.text and rehearsal is not None:
        out.prose(f"\n{render_rehearsal(plan, out.printable(rehearsal), out.paint())}")


def ending(plan: Plan, rehearsal: Rehearsal | None) -> Exit:
    """The exit code: that of an apply which ends like the rehearsal, but 4 where it was not as planned."""
    if plan.refusals:
        return Exit.REFUSED
    if rehearsal is None:
        return Exit.PARTIAL if plan.blocked else Exit.DONE
    if not rehearsal.fit:
        return Exit.REFUSED
    return Exit.DONE if rehearsal.complete else Exit.PARTIAL


def import_live(
    out: Output, to: Connection, profile: str | None, organizations: tuple[str, ...], directory: Path,
    full: bool, force: bool, parallelism: int, timeout: float, ids: IdsOnDisk,
) -> int:  # fmt: skip
    """Write the configuration of what is live into a directory that has none; return the exit code.

    Without a `profile`, that of the server counts.
    """
    from dpsync.api import import_, load_registry
    from dpsync.apply.ids_recorder import CannotWrite
    from dpsync.client.client import PAGE_LIMIT
    from dpsync.importing.files import RememberingClient, put
    from dpsync.render.json_conversion import import_document

    with client_of(RememberingClient, out, to, timeout) as client:
        root = load_registry().root
        assert root.find is not None
        registry = load_registry(
            profile or served_profile(out, client, root.find.path, {"limit": PAGE_LIMIT})
        )
        named = organizations or _organization(out, client, registry)
        with out.progress.during(READING):
            present = _present_root(directory) if force else None
            found = import_(client, registry, named, parallelism, full, ids.read(), present)
        requests, platform = client.requests, client.platform
    if found.lost:
        out.complain(f"note: the new {ROOT_NAMES[0]} does not contain:")
        for line in found.lost:
            out.complain(f"  {visible(line)}")
    written = put(directory, found.made.files, found.made.stray(directory), force)
    code = show_import(out, import_document(found.made, written, found.plan, found.problems, requests))
    try:
        ids.replace(platform, found.made.ids)
    except CannotWrite as cannot:
        out.complain(f"error: {cannot}")
        return Exit.PARTIAL
    return code


def _present_root(directory: Path) -> bytes | None:
    """Return the content of the root file, if the directory has one."""
    try:
        return disk.read(directory / ROOT_NAMES[0], DEFAULT_LIMITS.bytes)
    except OSError:
        return None


def _organization(out: Output, client: ReadClient, registry: Registry) -> tuple[str, ...]:
    """Return the organization to import: the only one, or the answer to a question.

    Raises UsageError if the token sees several and nobody can be asked.
    """
    import click

    from dpsync.cli.help_pages import WrongUsage
    from dpsync.importing.inventory import live_organizations
    from dpsync.model.text import command

    titles = {one.id: str(one.fields.get("title") or "") for one in live_organizations(client, registry)}
    if len(titles) < 2:
        return ()  # none is an error of the import
    if not interactive(no_input=False):
        commands = [
            f"{out.invocation.complete(command('import', '--organization', id))}  {title}"
            for id, title in titles.items()
        ]
        raise WrongUsage(
            f"The token can read {len(titles)} organizations. Choose one organization:", *commands,
            "To import several organizations into one directory, repeat --organization.",
        )  # fmt: skip
    for id, title in titles.items():
        click.echo(f"  {visible(id)}  {visible(title)}", err=True)
    return (
        str(click.prompt("Which organization?", type=click.Choice([*titles]), show_choices=False, err=True)),
    )


def show_import(out: Output, document: ImportDocument) -> int:
    """Print what an import has written, and what is left to do; the exit code."""
    from dpsync.render.command_texts import render_import

    if out.json:
        out.document(document)
    else:
        out.result(render_import(out.printable(document), out.paint(), out.verbose))
    return document.exit


def read_world(
    out: Output, files: tuple[str, ...], directory: Path, environment: str | None, *,
    ids_in: Path | None = None, profile: str | None = None, parallelism: int = 4,
    timeout: float = 30.0, anonymous: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """The world that a rehearsal would use, as it is saved: nothing secret is in it.

    Raises ClickException where the companion cannot load it, or is not installed.
    """
    from dpsync.api import Options
    from dpsync.client.recording import Recording
    from dpsync.rehearse.faults import Stage
    from dpsync.rehearse.replica import CannotLoad, NoCompanion, check_world
    from dpsync.rehearse.world import SavedFrom, world_file

    recording = Recording()
    with reading_session(
        out, files, directory, environment, ids_in, profile, parallelism, None, timeout, recording
    ) as (session, client):  # fmt: skip
        planned = planned_now(out, session, client, Options())
        recording.end()
        out.mask.add(_secrets(session.desired))
        try:
            world = Stage(session, planned, recording).world()
            refused = {one.path for one in recording.readings() if one.status == 403}
            origin = SavedFrom(
                platform=client.url,
                read_at=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
                profile=session.registry.profile.name,
                not_read=(*refused, *(one.path for one in world.unknown)),
            )
            made = world_file(world, origin, out.mask, anonymous=anonymous)
            check_world(made)
        except (CannotLoad, NoCompanion) as cannot:
            raise click.ClickException(str(cannot)) from None
        return made
    raise AssertionError


def _secrets(desired: Desired) -> list[str]:
    """The values of the secrets that the configuration names, as far as they are known here."""
    from dpsync.model.values import Secret, leaves

    values = (value for entry in desired.resources.values() for value in entry.fields.values())
    names = {leaf.env for value in values for leaf in leaves(value) if isinstance(leaf, Secret)}
    return [os.environ[name] for name in sorted(names) if os.environ.get(name)]
