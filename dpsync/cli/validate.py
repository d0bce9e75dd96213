"""`dpsync validate`: the configuration alone, without a platform."""

from __future__ import annotations

from pathlib import Path

import click

from dpsync.cli.options import Place, as_output, configuration, output


@click.command("validate")
@configuration
@output
def command(file: str | None, directory: Path, format_: str, color: str, verbose: int, quiet: bool) -> None:
    """Check the configuration without a platform.

    Reads every file and reports everything that is wrong at once. Exit code 5 when something is.
    """
    from dpsync.api import load
    from dpsync.cli.edge import endings
    from dpsync.render.documents import findings_document

    out = as_output(format_, color, verbose, quiet)
    with endings(out):
        place = Place.find(file, directory)
        out.talk(f"Reading {place.root}", level=1)
        desired = load(place.root)
        if out.json:
            out.result(findings_document((), 0).model_dump_json(indent=2))
        elif not quiet:
            number, files = len(desired.resources), len(desired.texts)
            out.result(f"Valid: {number} entries in {files} file{'s' if files != 1 else ''}.")
