"""`dpsync export`: a part of the configuration in the platform's own form. It asks no platform."""

from __future__ import annotations

from pathlib import Path

import click

from dpsync.cli.arguments.options import layered, profiled
from dpsync.cli.arguments.place import ConfigurationPaths
from dpsync.cli.terminal.output import as_output
from dpsync.model.findings.diagnostic import Exit


@click.command("export")
@layered
@profiled
@click.option(
    "--navigation", "named", required=True, metavar="SITE",
    help="The site whose navigation file is written: its address, or its key where only one has it.",
)  # fmt: skip
@click.option(
    "-o", "--out", type=click.Path(path_type=Path), metavar="FILE",
    help="Write it into this file. [default: standard output]",
)  # fmt: skip
@click.option("--force", is_flag=True, help="Overwrite FILE although git does not have what is in it.")
@click.option(
    "--format", "format_", type=click.Choice(["yaml", "json"]), default="yaml", show_default=True,
    help="How the file is written; the platform reads both as YAML.",
)  # fmt: skip
def command(
    files: tuple[str, ...], directory: Path, environment: str | None, profile: str | None, named: str,
    out: Path | None, force: bool, format_: str,
) -> int:  # fmt: skip
    """Write the navigation of a declared site as the platform's own navigation file.

    It is the file that the platform's site-wide git sync reads (gitbook-docs.yaml), made of the configuration
    alone; `dpsync import --from-navigation` takes it back. What the file cannot say is named on standard
    error, with its address and its line. Exit code 5 where the file would need what the configuration does
    not say: nothing is guessed.
    """
    from dpsync.cli.endings import endings
    from dpsync.importing.creation.navigation_export import export
    from dpsync.importing.files import put
    from dpsync.kinds.registry import load as load_registry
    from dpsync.render.words.visible import visible

    speaker = as_output("text", "auto")
    with endings(speaker):
        desired = ConfigurationPaths.find(files, directory, environment, None, profile).load(speaker)
        made = export(desired, load_registry(desired.profile).whole, named)
        text = made.json() if format_ == "json" else made.yaml()
        for note in made.left_out:
            name = f"{note.address}#{note.field}" if note.field else note.address
            speaker.complain(visible(f"{note.span}: {name}: {note.why}"))
        if out is None:
            speaker.result(text.removesuffix("\n"))
        else:
            target = directory / out
            put(target.parent, {target.name: text.encode()}, force=force)
        return Exit.DONE
    raise AssertionError
