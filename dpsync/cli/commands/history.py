"""Define `dpsync history`: list the applies of this checkout from their journals, without requests."""

from __future__ import annotations

from pathlib import Path

import click

from dpsync.cli.configuration import ConfigurationPaths, shortest_path
from dpsync.cli.help_pages import HelpCommand
from dpsync.cli.options import journal_option, output_options
from dpsync.cli.output import make_output
from dpsync.model.diagnostic import Exit


@click.command(
    "history",
    cls=HelpCommand,
    examples="""
        dpsync history
        dpsync history --format json
    """,
)
@click.option("-f", "--file", "files", multiple=True, metavar="FILE", help="The root file of the project.")
@click.option(
    "-C", "--directory", type=click.Path(exists=True, file_okay=False, path_type=Path), default=Path(),
    help="The directory of the project.",
)  # fmt: skip
@journal_option
@output_options
def command(
    files: tuple[str, ...], directory: Path, journal_in: Path | None, format_: str, color: str, verbose: int,
    quiet: bool,
) -> int:  # fmt: skip
    """List the past runs of dpsync apply in this checkout, the newest first.

    Each line has the start time of an apply (UTC), the user, the organization, the number of created,
    changed, moved and deleted objects with the first address, and the result. If somebody reverted the
    apply, the line names the revert. The last column is the file name of the journal. dpsync show prints the
    report of a journal, and dpsync revert undoes the apply.

    The list does not include applies in CI, because the journals of these applies are artifacts of the CI
    run.
    """
    from dpsync.apply.journal_reader import read_history
    from dpsync.cli.exit_codes import exit_on_errors
    from dpsync.render.command_texts import render_history
    from dpsync.render.history_document import history_document

    out = make_output(format_, color, verbose, quiet)
    with exit_on_errors(out):
        journals = ConfigurationPaths.find(files, directory).journals
        if journal_in is not None:
            journals = directory / journal_in
        document = history_document(Path(shortest_path(str(journals))), read_history(journals))
        if out.is_json:
            out.print_json(document)
        else:
            out.print_result(render_history(document, out.paint()))
        return Exit.DONE
    raise AssertionError
