"""Define `dpsync list`: list all entries with their location and live object. It only reads."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dpsync.cli.completion_values import addresses
from dpsync.cli.configuration import ConfigurationPaths
from dpsync.cli.help_pages import HelpCommand
from dpsync.cli.options import configuration_options, output_options, profile_option, reading_options
from dpsync.cli.output import Output, make_output
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
@configuration_options
@profile_option
@click.option(
    "--offline", is_flag=True, help="Do not connect to GitBook. dpsync then prints the ids in your files."
)
@reading_options
@output_options
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
    from dpsync.cli.configuration import prepare_session
    from dpsync.cli.exit_codes import exit_on_errors
    from dpsync.cli.session import load_with_connection
    from dpsync.render.command_documents import list_document

    out = make_output(format_, color, verbose, quiet)
    with exit_on_errors(out):
        paths = ConfigurationPaths.find(files, directory, environment, ids_in, profile)
        desired, connection = load_with_connection(
            out, paths, (lambda *_: None) if offline else _connection_if_set
        )
        listed_addresses: Collection[Address] = desired.entries
        if patterns:
            from dpsync.api import load_registry
            from dpsync.planner.selection import selected_names

            registry = load_registry(desired.profile).with_all_kinds
            listed_addresses = selected_names(registry, desired, desired.entries, patterns, ())
    with exit_on_errors(out, connection):
        if connection is None:
            listing = _list_offline(paths, desired)
        else:
            from dpsync.cli.session import open_client, reload_for_server
            from dpsync.client.client import ReadClient

            with open_client(ReadClient, out, connection, timeout) as client:
                paths, desired = reload_for_server(out, client, paths, desired)
                session = prepare_session(out, paths, desired, connection, parallelism).session
                with out.progress.show_during(READING):
                    listing = list_entries(session, client)
        document = list_document(
            listing.desired, listed_addresses, listing.registry, listing.matches, listing.unreadable,
            listing.platform, listing.live,
        )  # fmt: skip
        if out.is_json:
            out.print_json(document)
        else:
            from dpsync.render.command_texts import render_list

            out.print_result(render_list(document, out.paint()))
        return Exit.DONE
    raise AssertionError


def _connection_if_set(out: Output, paths: ConfigurationPaths, desired: Desired) -> Connection | None:
    """Return the server and token; None, with a note, if a setting is missing."""
    from dpsync.cli.connection import find_connection

    try:
        return find_connection(out, paths, desired)
    except WrongUsage as error:
        first_line = error.message.splitlines()[0]
        out.print_message(
            f"note: dpsync did not connect to GitBook, so the ids come from the files: {first_line}"
        )
        return None


def _list_offline(paths: ConfigurationPaths, desired: Desired) -> EntryList:
    """Return the entries of the files with the ids from the files and the ids file, without requests."""
    from dpsync.api import ids_path, list_files, load_registry
    from dpsync.cli.configuration import open_ids_file
    from dpsync.cli.connection import shell_address
    from dpsync.client.platform import origin
    from dpsync.model.urls import is_loopback

    url = (desired.environment.url if desired.environment else None) or shell_address()
    path = paths.ids or ids_path(paths.root, url)
    ids = open_ids_file(path, paths.root.parent).read()
    # A server on this machine names its platform only in its responses.
    platform = origin(url) if not is_loopback(url) else None
    return list_files(desired, load_registry(desired.profile), ids, platform)
