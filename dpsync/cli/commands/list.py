"""Define `dpsync list`: list all entries with their location and live object. It only reads."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dpsync.cli.completion_values import addresses
from dpsync.cli.configuration import ConfigurationPaths
from dpsync.cli.help_pages import HelpCommand
from dpsync.cli.options import layered, output, profiled, reading
from dpsync.cli.output import Output, as_output
from dpsync.cli.progress import READING
from dpsync.cli.usage import WrongUsage
from dpsync.model.diagnostic import Exit

if TYPE_CHECKING:
    from dpsync.cli.connection import Connection
    from dpsync.model.address import Address
    from dpsync.model.desired import Desired
    from dpsync.workflows.listing import EntryList


@click.command(
    "list",
    cls=HelpCommand,
    examples="""
        dpsync list
        dpsync list acme/sites/docs '*/members/*'
        dpsync list --offline --format json
    """,
    groups={
        "Connection": ("--offline",),
    },
)
@click.argument("patterns", nargs=-1, metavar="[PATTERN]...", shell_complete=addresses)
@layered
@profiled
@click.option(
    "--offline", is_flag=True, help="Do not connect to GitBook. dpsync then prints the ids in your files."
)
@reading
@output
def command(
    patterns: tuple[str, ...], files: tuple[str, ...], directory: Path, environment: str | None,
    profile: str | None, offline: bool, ids_in: Path | None, parallelism: int,
    timeout: float, format_: str, color: str,
    verbose: int, quiet: bool,
) -> int:  # fmt: skip
    """List every entry with its line and its GitBook object.

    PATTERN is an address of an entry, in which * stands for any key. With PATTERN, dpsync lists only matching
    entries and all entries inside the matching entries.

    Each line has the address, the object type (kind), the file and line, the id of the live object, and the
    way in which dpsync recognized the object. Without a URL or token, or with --offline, dpsync does not
    connect to GitBook. dpsync then prints the ids in your files, from an id: in an entry or from the ids
    file.
    """
    from dpsync.api import list_entries
    from dpsync.cli.configuration import opened
    from dpsync.cli.exit_codes import endings
    from dpsync.cli.session import configured
    from dpsync.render.command_documents import list_document

    out = as_output(format_, color, verbose, quiet)
    with endings(out):
        place = ConfigurationPaths.find(files, directory, environment, ids_in, profile)
        desired, to = configured(out, place, (lambda *_: None) if offline else _connection_if_set)
        listed = _matching(desired, patterns) if patterns else desired.resources
    with endings(out, to):
        if to is None:
            listing = _list_offline(out, place, desired)
        else:
            from dpsync.cli.session import client_of, for_server
            from dpsync.client.client import ReadClient

            with client_of(ReadClient, out, to, timeout) as client:
                place, desired = for_server(out, client, place, desired)
                session = opened(out, place, desired, to, parallelism).session
                with out.progress.during(READING):
                    listing = list_entries(session, client)
        document = list_document(
            listing.desired, listed, listing.registry, listing.matches, listing.unread, listing.platform,
            listing.live,
        )  # fmt: skip
        if out.json:
            out.document(document)
        else:
            from dpsync.render.command_texts import render_list

            out.result(render_list(document, out.paint()))
        return Exit.DONE
    raise AssertionError


def _matching(desired: Desired, patterns: tuple[str, ...]) -> Collection[Address]:
    """Return the addresses of entries that a pattern covers. Raises DiagnosticError (exit 5)."""
    from dpsync.api import load_registry
    from dpsync.planner.selection import selected_names

    return selected_names(load_registry(desired.profile).whole, desired, desired.resources, patterns, ())


def _connection_if_set(out: Output, place: ConfigurationPaths, desired: Desired) -> Connection | None:
    """Return the connection; None, with a note, if address or token is not set."""
    from dpsync.cli.connection import connection

    try:
        return connection(out, place, desired)
    except WrongUsage as missing:
        first = missing.message.splitlines()[0]
        out.talk(f"note: dpsync did not connect to GitBook, so the ids come from the files: {first}")
        return None


def _list_offline(out: Output, place: ConfigurationPaths, desired: Desired) -> EntryList:
    """Return the entries of the files with the ids of the ids file, without requests."""
    from dpsync.api import ids_path, list_files, load_registry
    from dpsync.cli.configuration import on_disk
    from dpsync.cli.connection import shell_address
    from dpsync.client.platform import origin
    from dpsync.model.urls import is_loopback

    url = (desired.environment.url if desired.environment else None) or shell_address()
    path = place.ids or ids_path(place.root, url)
    ids = on_disk(path, place.root.parent).read()
    # A server on this machine names its platform only in its responses.
    platform = origin(url) if not is_loopback(url) else None
    return list_files(desired, load_registry(desired.profile), ids, platform)
