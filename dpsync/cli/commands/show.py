"""`dpsync show`: what was saved or printed as JSON, in any format. It asks no platform."""

from __future__ import annotations

from pathlib import Path

import click

from dpsync.cli.arguments.options import output_in_every_format, summarizing
from dpsync.cli.terminal.output import as_output
from dpsync.model.findings.diagnostic import Exit


@click.command("show")
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE")
@click.option(
    "-C", "--directory", type=click.Path(exists=True, file_okay=False, path_type=Path), default=Path(),
    help="The directory of the project: FILE and the names of files are relative to it.",
    show_default="the present one",
)  # fmt: skip
@summarizing
@output_in_every_format
def command(
    file: Path, directory: Path, format_: str, color: str, verbose: int, quiet: bool, summary: bool
) -> int:  # fmt: skip
    """Print a saved plan in any format; asks no platform.

    FILE is a plan that plan --out has saved, or what plan, apply, drift or validate have printed with
    --format json: the platform is read once, for as many formats as are needed. Exit code 0 whatever it
    says, 5 when FILE is damaged, of another version or something else.
    """
    from dpsync.cli.endings import endings
    from dpsync.config.composing.discovery import ROOT_NAMES
    from dpsync.render.json.reading import read_document

    out = as_output(format_, color, verbose, quiet, summary)
    out.project = directory
    out.root = next((name for name in ROOT_NAMES if (directory / name).exists()), out.root)
    with endings(out):
        out.show(read_document(directory / file))
        return Exit.DONE
    raise AssertionError
