"""Define `dpsync ids`: edit and check the ids file, which records the live object of each entry."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from dpsync.cli.configuration import (
    ConfigurationPaths,
    git_base,
    ids_file,
    open_ids_file,
    warn_about_repeated_lines,
)
from dpsync.cli.connection import find_connection
from dpsync.cli.help_pages import HelpCommand
from dpsync.cli.options import configuration_options, output_options, profile_option, reading_options
from dpsync.cli.output import make_output
from dpsync.cli.progress import READING
from dpsync.cli.session import load_with_connection, open_client, reload_for_server
from dpsync.model.diagnostic import Diagnostic, DiagnosticError, Exit

if TYPE_CHECKING:
    from dpsync.api import IdsOnDisk
    from dpsync.apply.ids_on_disk import ResolvedIds
    from dpsync.model.ids import IdsEdits


@click.command(
    "ids",
    cls=HelpCommand,
    examples="""
        dpsync ids
        dpsync ids --check
        dpsync ids --bind acme/teams/writers=team-1
        dpsync ids --move acme/teams/old acme/teams/new
    """,
    groups={
        "Lines of the ids file": ("--check", "--bind", "--forget", "--move"),
    },
)
@configuration_options
@profile_option
@click.option(
    "--check",
    "checking",
    is_flag=True,
    help="Write nothing. The exit code is 2 if the ids file lacks lines or has wrong lines.",
)
@click.option(
    "--bind",
    "bound",
    multiple=True,
    metavar="ADDRESS=ID",
    help="Record the live object with this ID for the entry at ADDRESS. May be repeated.",
)
@click.option(
    "--forget", "forgotten", multiple=True, metavar="ADDRESS",
    help="Delete the line of the entry at ADDRESS, and the lines of all entries inside the entry. May be "
    "repeated.",
)  # fmt: skip
@click.option(
    "--move", "moved", nargs=2, multiple=True, metavar="OLD NEW",
    help="Give the lines of the address OLD the address NEW, after you changed the key of an entry. May be "
    "repeated.",
)  # fmt: skip
@reading_options
@output_options
def command(
    files: tuple[str, ...], directory: Path, environment: str | None, profile: str | None,
    checking: bool,
    bound: tuple[str, ...], forgotten: tuple[str, ...], moved: tuple[tuple[str, str], ...],
    ids_in: Path | None, parallelism: int, timeout: float, format_: str, color: str, verbose: int,
    quiet: bool,
) -> int:  # fmt: skip
    """Record the id of the GitBook object of each entry.

    dpsync reads GitBook and adds the missing lines to the ids file. If a merge left conflict markers in
    the ids file, dpsync repairs the file: dpsync keeps the lines of both sides, and reads GitBook to
    resolve contradictions.

    With --bind, --forget or --move, dpsync changes only the lines of the addresses that you pass.
    """
    from dpsync.api import IdsAsked, Session, check_settled, compare_ids, load_registry
    from dpsync.apply.ids_on_disk import ResolvedIds
    from dpsync.cli.exit_codes import exit_on_errors
    from dpsync.client.client import ReadClient
    from dpsync.render.command_documents import ids_comparison_document, ids_edits_document
    from dpsync.render.command_texts import render_ids

    out = make_output(format_, color, verbose, quiet)
    requested = IdsAsked(bound, forgotten, moved)
    if requested.anything and checking:
        raise click.UsageError(
            "--check cannot be combined with --bind, --forget or --move, because --check writes nothing"
        )
    with exit_on_errors(out):
        paths = ConfigurationPaths.find(files, directory, environment, ids_in, profile)
        desired, connection = load_with_connection(out, paths, find_connection)
    with exit_on_errors(out, connection), open_client(ReadClient, out, connection, timeout) as client:
        paths, desired = reload_for_server(out, client, paths, desired)
        ids = open_ids_file(ids_file(out, paths.root, connection, paths.ids), paths.root.parent)
        merged = ResolvedIds(ids.read()) if requested.anything else ids.read_both()
        warn_about_repeated_lines(out, merged.ids)
        base = git_base(out, paths, None, ids.path)
        session = Session(desired, load_registry(desired.profile), parallelism, base, ids=merged.ids)
        if requested.anything:
            from dpsync.api import IdsEditError, edited_ids

            edits: IdsEdits
            try:
                edits = edited_ids(session, client, requested)
            except IdsEditError as error:
                raise click.UsageError(str(error)) from None
            document = ids_edits_document(ids.name, client.platform, edits)
        else:
            with out.progress.show_during(READING):
                comparison = compare_ids(session, client)
            check_settled(merged, comparison, ids.name)
            edits = {} if checking else comparison.edits
            document = ids_comparison_document(ids.name, comparison, checking)
        if not checking:
            _write_ids_file(ids, client.platform, edits, merged)
        if out.is_json:
            out.print_json(document)
        else:
            out.print_result(render_ids(document))
        return document.exit
    raise AssertionError


def _write_ids_file(ids: IdsOnDisk, platform: str, edits: IdsEdits, merged: ResolvedIds) -> None:
    """Write edits into the ids file. Raises DiagnosticError (exit 1) if that fails.

    A file with conflict markers of git is written anew, from the merged lines.
    """
    from dpsync.apply.ids_on_disk import IdsWriteError

    try:
        if merged.has_conflict_markers:
            ids.put(merged.ids.with_edits(platform, edits))
        else:
            ids.edit(platform, edits)
    except IdsWriteError as error:
        raise DiagnosticError([Diagnostic("unwritable", str(error))], Exit.FAILED) from None
