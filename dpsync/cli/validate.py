"""`dpsync validate`: the configuration alone, without a platform."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dpsync.cli.options import layered, output_in_every_format, profiled
from dpsync.cli.output import as_output
from dpsync.cli.place import Place
from dpsync.model.words import counted

if TYPE_CHECKING:
    from dpsync.model.desired import Desired


@click.command("validate")
@layered
@profiled
@output_in_every_format
def command(
    files: tuple[str, ...], directory: Path, environment: str | None, profile: str, format_: str, color: str,
    verbose: int, quiet: bool,
) -> None:  # fmt: skip
    """Check the configuration without a platform.

    Reads every file and reports everything that is wrong at once. Exit code 5 when something is. Without
    --env every environment of the root file is checked, too. With --profile it also names the entries that
    such a platform cannot read: plan will say they are blocked.
    """
    from dpsync.cli.edge import endings
    from dpsync.render.to_document import findings_document
    from dpsync.render.visible import visible

    out = as_output(format_, color, verbose, quiet)
    with endings(out):
        desired = Place.find(files, directory, environment).validated(out)
        if not out.text:
            out.show(findings_document(desired.warnings, 0))
        elif not quiet:
            for line in _unserved(desired, profile):
                out.result(line)
            each = ", ".join(visible(name) for name in desired.environments if environment is None)
            number, read = counted(len(desired.resources), "entry"), counted(len(desired.texts), "file")
            out.result(f"Valid: {number} in {read}{f', and with each environment: {each}' if each else ''}.")


def _unserved(desired: Desired, profile: str) -> Iterator[str]:
    from dpsync.config.supported import supported
    from dpsync.kinds.registry import load
    from dpsync.render.visible import visible

    for address, item in sorted(supported(desired, load(profile)).unserved.items()):
        yield f"{visible(item.span.file)}:{item.span.line}: {visible(str(address))}: {visible(item.reason)}"
