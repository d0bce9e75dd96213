"""Define `dpsync show`: print a saved plan, journal or JSON output in any format, without requests."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from dpsync.cli.help_pages import HelpCommand
from dpsync.cli.options import all_format_output_options, summary_option
from dpsync.cli.output import Output, make_output
from dpsync.model.diagnostic import Exit
from dpsync.render.visible import visible

if TYPE_CHECKING:
    from dpsync.apply.journal_reader import PastApply


@click.command(
    "show",
    cls=HelpCommand,
    examples="""
        dpsync show plan.json
        dpsync show plan.json --format html
        dpsync show .dpsync/journal/20261128-101500-acme.jsonl
    """,
)
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE")
@click.option(
    "-C", "--directory", type=click.Path(exists=True, file_okay=False, path_type=Path), default=Path(),
    help="The directory of the project. FILE and the printed file names are relative to this directory.",
)  # fmt: skip
@summary_option
@all_format_output_options
def command(
    file: Path, directory: Path, format_: str, color: str, verbose: int, quiet: bool, summary: bool
) -> int:  # fmt: skip
    """Print a saved plan or the report of an apply, in any format.

    FILE is a plan that plan --out saved, or the JSON output of plan, apply, drift or validate. dpsync
    prints FILE without a request to GitBook. The exit code is 5 if FILE is damaged, is for another dpsync
    version, or is another file. Otherwise, the exit code is 0.

    FILE can also be the journal of an apply in .dpsync/journal, even if the apply was killed. dpsync then
    prints the report of the apply, and exits with the exit code of the apply.
    """
    from dpsync.apply.journal_reader import is_journal, parse_journal
    from dpsync.apply.saved_plan import read_content
    from dpsync.cli.exit_codes import exit_on_errors
    from dpsync.config.discovery import ROOT_NAMES
    from dpsync.render.json_reading import parse_document

    out = make_output(format_, color, verbose, quiet, summary)
    out.project = directory
    out.root = next((name for name in ROOT_NAMES if (directory / name).exists()), out.root)
    with exit_on_errors(out):
        path = directory / file
        content = read_content(path)
        if is_journal(content):
            return _show_apply(out, parse_journal(path, content))
        out.print_document(parse_document(path, content))
        return Exit.DONE
    raise AssertionError


def _show_apply(out: Output, past_apply: PastApply) -> Exit:
    """Print again what an apply printed, from its journal, and return the exit code of the apply.

    The time of the apply is printed as a message.
    """
    from dpsync.cli.applying import show_plan, show_report
    from dpsync.cli.rehearsing import show_rehearsal
    from dpsync.model.text import ProjectFlags

    out.invocation = ProjectFlags(**past_apply.flags.model_dump())
    if past_apply.started_at is not None and past_apply.ended_at is not None:
        seconds = (past_apply.ended_at - past_apply.started_at).total_seconds()
        out.print_message(
            f"Applied by dpsync {visible(past_apply.dpsync_version)}, "
            f"{past_apply.started_at:%Y-%m-%d %H:%M:%S} UTC, in {seconds:.1f} s."
        )
    show_plan(out, past_apply.plan)
    show_rehearsal(out, past_apply.plan, past_apply.rehearsal)
    show_report(
        out, past_apply.plan, past_apply.report, past_apply.exit, past_apply.digest, past_apply.rehearsal
    )
    return past_apply.exit
