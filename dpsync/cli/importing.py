"""Import an organization into a directory without a configuration, for `dpsync import` and `dpsync init`."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from dpsync import disk
from dpsync.cli.connection import Connection
from dpsync.cli.output import Output, interactive
from dpsync.cli.progress import READING
from dpsync.config.discovery import ROOT_NAMES
from dpsync.config.yaml_reader import DEFAULT_LIMITS
from dpsync.model.diagnostic import Exit
from dpsync.render.visible import visible

if TYPE_CHECKING:
    from dpsync.api import IdsOnDisk
    from dpsync.client.client import ReadClient
    from dpsync.kinds.registry import Registry
    from dpsync.render.documents import ImportDocument


if TYPE_CHECKING:
    from dpsync.client.client import ReadClient

    ConnectionT = TypeVar("ConnectionT", bound=Connection | None)
    ClientT = TypeVar("ClientT", bound=ReadClient)
from dpsync.cli.session import open_client, profile_of_server


def import_live(
    out: Output, connection: Connection, profile: str | None, organizations: tuple[str, ...], directory: Path,
    full: bool, force: bool, parallelism: int, timeout: float, ids: IdsOnDisk,
) -> int:  # fmt: skip
    """Import the live objects into a directory that has no configuration, and return the exit code.

    Args:
        profile: The API version; None for that of the server.
        organizations: The ids of the organizations; () to choose one.
        full: Whether to write default values, too.
        force: Whether to replace existing files.
    """
    from dpsync.api import import_, load_registry
    from dpsync.apply.ids_on_disk import IdsWriteError
    from dpsync.client.client import PAGE_LIMIT
    from dpsync.importing.files import CachingClient, write_files
    from dpsync.render.json_conversion import import_document

    with open_client(CachingClient, out, connection, timeout) as client:
        root = load_registry().root
        assert root.search_list is not None
        registry = load_registry(
            profile or profile_of_server(out, client, root.search_list.path, {"limit": PAGE_LIMIT})
        )
        chosen_organizations = organizations or _choose_organization(out, client, registry)
        with out.progress.show_during(READING):
            present_content = None
            if force:
                with suppress(OSError):
                    present_content = disk.read(directory / ROOT_NAMES[0], DEFAULT_LIMITS.bytes)
            imported = import_(
                client, registry, chosen_organizations, parallelism, full, ids.read(), present_content
            )
        requests, platform = client.requests, client.platform
    if imported.lost:
        out.print_problem(f"note: the new {ROOT_NAMES[0]} does not contain:")
        for line in imported.lost:
            out.print_problem(f"  {visible(line)}")
    written = write_files(directory, imported.made.files, imported.made.find_stray_files(directory), force)
    code = show_import(
        out, import_document(imported.made, written, imported.plan, imported.problems, requests)
    )
    try:
        ids.replace(platform, imported.made.ids)
    except IdsWriteError as error:
        out.print_problem(f"error: {error}")
        return Exit.PARTIAL
    return code


def _choose_organization(out: Output, client: ReadClient, registry: Registry) -> tuple[str, ...]:
    """Return the id of the organization that the person chooses; () if the token sees only one or none.

    Raises UsageError if the token sees several and nobody can be asked.
    """
    import click

    from dpsync.cli.usage import WrongUsage
    from dpsync.importing.inventory import live_organizations
    from dpsync.model.text import format_command

    titles = {
        organization.id: str(organization.fields.get("title") or "")
        for organization in live_organizations(client, registry)
    }
    if len(titles) < 2:
        return ()  # none is an error of the import
    if not interactive(no_input=False):
        commands = [
            f"{out.invocation.add_flags_to_commands(format_command('import', '--organization', id))}  {title}"
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
    """Print the result of an import, and return its exit code."""
    from dpsync.render.command_texts import render_import

    if out.is_json:
        out.print_json(document)
    else:
        out.print_result(render_import(out.printable(document), out.paint(), out.verbose))
    return document.exit
