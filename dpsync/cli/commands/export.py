"""Define `dpsync export`: write the navigation of a site in the format of GitBook's Git Sync. No requests."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dpsync.cli.configuration import ConfigurationPaths
from dpsync.cli.help_pages import HelpCommand
from dpsync.cli.options import configuration_options, profile_option
from dpsync.cli.output import Output, make_output
from dpsync.model.diagnostic import DiagnosticError, Exit

if TYPE_CHECKING:
    from dpsync.importing.navigation_file import NavigationFile
    from dpsync.kinds.registry import Registry


@click.command(
    "export",
    cls=HelpCommand,
    examples="""
        dpsync export --navigation docs
        dpsync export --navigation acme/sites/docs --out gitbook-docs.yaml
    """,
    groups={
        "Navigation file": ("--navigation", "--out", "--force", "--format"),
    },
)
@configuration_options
@profile_option
@click.option(
    "--navigation", "named", required=True, metavar="SITE",
    help="The address of the site, or the key of the site if the key is unique.",
)  # fmt: skip
@click.option(
    "-o", "--out", type=click.Path(path_type=Path), metavar="FILE",
    help="The file to write. [default: standard output]",
)  # fmt: skip
@click.option("--force", is_flag=True, help="Overwrite FILE even if its content is not committed to git.")
@click.option(
    "--format", "format_", type=click.Choice(["yaml", "json"]), default="yaml", show_default=True,
    help="The syntax of the file. GitBook reads both syntaxes.",
)  # fmt: skip
def command(
    files: tuple[str, ...], directory: Path, environment: str | None, profile: str | None, named: str,
    out: Path | None, force: bool, format_: str,
) -> int:  # fmt: skip
    """Write a site's navigation file for GitBook's Git Sync.

    The Git Sync of a GitBook site reads this file (gitbook-docs.yaml). dpsync writes the file from your
    configuration, without a request to GitBook. dpsync import --from-navigation reads such a file.

    If FILE is already a navigation file, dpsync keeps the values that only a navigation file has (the
    directories of spaces). On standard error, dpsync lists the values that a navigation file cannot contain,
    and the values of the old file that the new file does not contain, with address and line. Exit code 5
    means that the configuration lacks a value that the navigation file needs.
    """
    from dpsync.cli.exit_codes import exit_on_errors
    from dpsync.importing.files import write_files
    from dpsync.importing.navigation_file import export_navigation
    from dpsync.kinds.registry import build_registry as load_registry
    from dpsync.render.visible import visible

    output = make_output("text", "auto")
    with exit_on_errors(output):
        desired = ConfigurationPaths.find(files, directory, environment, None, profile).load(output)
        registry = load_registry(desired.profile).with_all_kinds
        target = directory / out if out is not None else None
        replaced = _read_replaced_file(output, directory, out, registry) if out is not None else None
        navigation = export_navigation(desired, registry, named, replaced)
        text = navigation.json() if format_ == "json" else navigation.yaml()
        for note in navigation.left_out:
            name = f"{note.address}#{note.field}" if note.field else note.address
            output.print_problem(visible(f"{note.span}: {name}: {note.why}"))
        if target is None:
            output.print_result(text.removesuffix("\n"))
        else:
            write_files(target.parent, {target.name: text.encode()}, force=force)
        return Exit.DONE
    raise AssertionError


def _read_replaced_file(
    output: Output, directory: Path, out: Path, registry: Registry
) -> NavigationFile | None:
    """Return the navigation file that the export replaces; None if there is none.

    The export keeps values of this file that the configuration cannot have. If the file cannot be read,
    print a note.
    """
    from dpsync.importing.navigation_file import NavigationKinds, read_navigation
    from dpsync.render.visible import visible

    target = directory / out
    if not os.path.lexists(target):
        return None
    reason = "the file is a symbolic link, and the export replaces the link"
    if not target.is_symlink():
        try:
            return read_navigation(target, out.as_posix(), NavigationKinds.of(registry), target.parent)
        except DiagnosticError as error:
            reason = error.findings[0].message
    output.print_problem(visible(f"{out}: dpsync keeps no values of the replaced file, because {reason}"))
    return None
