"""Define `dpsync validate`: check the files without a platform."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dpsync.cli.configuration import ConfigurationPaths
from dpsync.cli.help_pages import HelpCommand
from dpsync.cli.options import layered, output_in_every_format, profiled
from dpsync.cli.output import Output, as_output
from dpsync.model.text import counted

if TYPE_CHECKING:
    from dpsync.model.desired import Desired
    from dpsync.model.drift import Edits


@click.command(
    "validate",
    cls=HelpCommand,
    examples="""
        dpsync validate
        dpsync validate --changes
        dpsync validate --format github
    """,
    groups={
        "Comparing with git": ("--changes", "--base"),
    },
)
@layered
@profiled
@click.option(
    "--changes", is_flag=True, help="List the differences between your files and the base commit in git."
)
@click.option(
    "--base",
    metavar="REF",
    help="With --changes: the commit to compare with. [default: the base commit that plan uses]",
)
@output_in_every_format
def command(
    files: tuple[str, ...], directory: Path, environment: str | None, profile: str | None,
    changes: bool,
    base: str | None, format_: str, color: str, verbose: int, quiet: bool,
) -> None:  # fmt: skip
    """Check the files without a connection to GitBook.

    dpsync reports all mistakes in all files at once, with exit code 5. Without --env, dpsync checks every
    environment of the root file. With --profile, dpsync also lists the entries that this API version does
    not support.

    With --changes, dpsync lists the entries that were added, removed, renamed or changed since the base
    commit. --changes does not affect the exit code.
    """
    from dpsync.cli.configuration import with_what_is_not_included
    from dpsync.cli.exit_codes import endings
    from dpsync.render.visible import visible

    if base is not None and not changes:
        raise click.UsageError("--base can only be used with --changes")
    out = as_output(format_, color, verbose, quiet)
    with endings(out):
        place = ConfigurationPaths.find(files, directory, environment, None, profile)
        desired = with_what_is_not_included(out, place, place.validated(out), base)
        edited = _edited(out, place.for_profile_of(desired), desired, base) if changes else None
        if not out.text:
            from dpsync.render.json_conversion import findings_document

            out.show(findings_document(desired.warnings, 0, edited, desired.profile))
        elif not quiet:
            for line in _unserved(desired):
                out.result(line)
            each = ", ".join(visible(name) for name in desired.environments if environment is None)
            number, read = counted(len(desired.resources), "entry"), counted(len(desired.texts), "file")
            chosen = desired.environment.profile if desired.environment is not None else None
            on = f" for the API version {desired.profile}" if profile or chosen else ""
            out.result(
                f"Valid{on}: {number} in {read}{f', and with each environment: {each}' if each else ''}."
            )
        if out.text and edited is not None:
            from dpsync.render.edits_text import edit_lines

            for line in edit_lines(edited):
                out.result(line)


def _edited(out: Output, place: ConfigurationPaths, desired: Desired, base: str | None) -> Edits:
    from dpsync.api import edits
    from dpsync.cli.configuration import git_base

    return edits(desired, git_base(out, place, base))


def _unserved(desired: Desired) -> Iterator[str]:
    from dpsync.config.entry_keywords import supported
    from dpsync.kinds.registry import load
    from dpsync.render.visible import visible

    for address, item in sorted(supported(desired, load(desired.profile)).unserved.items()):
        yield f"{visible(item.span.file)}:{item.span.line}: {visible(str(address))}: {visible(item.reason)}"
