"""Import an organization into a directory without a configuration, for `import` and `init`."""

from __future__ import annotations

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

    To = TypeVar("To", bound=Connection | None)
    Client = TypeVar("Client", bound=ReadClient)
from dpsync.cli.session import client_of, served_profile


def import_live(
    out: Output, to: Connection, profile: str | None, organizations: tuple[str, ...], directory: Path,
    full: bool, force: bool, parallelism: int, timeout: float, ids: IdsOnDisk,
) -> int:  # fmt: skip
    """Write the configuration of what is live into a directory that has none; return the exit code.

    Without a `profile`, that of the server counts.
    """
    from dpsync.api import import_, load_registry
    from dpsync.apply.ids_on_disk import CannotWrite
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

    from dpsync.cli.usage import WrongUsage
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
