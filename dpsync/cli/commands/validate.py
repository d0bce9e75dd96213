"""Define `dpsync validate`: check the configuration files alone, without requests to GitBook.

Output: the findings in the chosen format, and an exit code.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dpsync.cli.configuration import ConfigurationPaths
from dpsync.cli.help_pages import HelpCommand
from dpsync.cli.options import all_format_output_options, configuration_options, profile_option
from dpsync.cli.output import make_output
from dpsync.model.text import format_count

if TYPE_CHECKING:
    from dpsync.model.desired import Desired


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
@configuration_options
@profile_option
@click.option(
    "--changes", is_flag=True, help="List the differences between your files and the base commit in git."
)
@click.option(
    "--base",
    metavar="REF",
    help="With --changes: the commit to compare with. [default: the base commit that plan uses]",
)
@all_format_output_options
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
    from dpsync.cli.configuration import with_omitted_file_warnings
    from dpsync.cli.exit_codes import exit_on_errors
    from dpsync.render.visible import visible

    if base is not None and not changes:
        raise click.UsageError("--base can only be used with --changes")
    out = make_output(format_, color, verbose, quiet)
    with exit_on_errors(out):
        paths = ConfigurationPaths.find(files, directory, environment, None, profile)
        desired = with_omitted_file_warnings(out, paths, paths.load_and_validate(out), base)
        file_edits = None
        if changes:
            from dpsync.api import edits
            from dpsync.cli.configuration import git_base

            file_edits = edits(desired, git_base(out, paths.with_profile_of(desired), base))
        if not out.is_text:
            from dpsync.render.json_conversion import findings_document

            out.print_document(findings_document(desired.warnings, 0, file_edits, desired.profile))
        elif not quiet:
            for line in _unsupported_entry_lines(desired):
                out.print_result(line)
            environment_names = ", ".join(
                visible(name) for name in desired.environments if environment is None
            )
            entries_text, files_text = (
                format_count(len(desired.entries), "entry"),
                format_count(len(desired.texts), "file"),
            )
            environment_profile = desired.environment.profile if desired.environment is not None else None
            profile_text = f" for the API version {desired.profile}" if profile or environment_profile else ""
            environments_text = (
                f", and with each environment: {environment_names}" if environment_names else ""
            )
            out.print_result(f"Valid{profile_text}: {entries_text} in {files_text}{environments_text}.")
        if out.is_text and file_edits is not None:
            from dpsync.render.edits_text import edit_lines

            for line in edit_lines(file_edits):
                out.print_result(line)


def _unsupported_entry_lines(desired: Desired) -> Iterator[str]:
    """Yield a line for each entry that the API version of the configuration does not support."""
    from dpsync.config.entry_keywords import without_unsupported_entries
    from dpsync.kinds.registry import build_registry
    from dpsync.render.visible import visible

    for address, unsupported in sorted(
        without_unsupported_entries(desired, build_registry(desired.profile)).unsupported.items()
    ):
        location = f"{visible(unsupported.span.file)}:{unsupported.span.line}"
        yield f"{location}: {visible(str(address))}: {visible(unsupported.reason)}"
