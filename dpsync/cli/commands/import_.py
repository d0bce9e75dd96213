"""Define `dpsync import`: write live objects into new or existing files. Its client cannot write to GitBook.

Output: files, and a list of what was not imported.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec import Struct

from dpsync.cli.completion_values import addresses as addresses_of_entries
from dpsync.cli.configuration import ConfigurationPaths, ids_file, open_ids_file, prepare_session
from dpsync.cli.connection import find_connection, is_environment_from_flag, shell_address
from dpsync.cli.help_pages import HelpCommand
from dpsync.cli.importing import import_live, show_import
from dpsync.cli.options import new_configuration_options, output_options, profile_option, reading_options
from dpsync.cli.output import Output, make_output
from dpsync.cli.progress import READING
from dpsync.cli.session import load_with_connection, open_client, reload_for_server
from dpsync.config.discovery import ROOT_NAMES, has_root
from dpsync.kinds.profiles import FULL, profile_of_url
from dpsync.model.diagnostic import Exit

if TYPE_CHECKING:
    from dpsync.api import IdsOnDisk, ReadClient, Session
    from dpsync.kinds.registry import Registry
    from dpsync.model.desired import Desired


@click.command(
    "import",
    cls=HelpCommand,
    examples="""
        dpsync import
        dpsync import -C docs-config --organization acme
        dpsync import --update 'acme/sites/docs#title'
        dpsync import --add 'acme/teams/[Sales]'
    """,
    groups={
        "What to import": ("--organization", "--update", "--add", "--from-navigation", "--redirects"),
        "How to write it": ("--title", "--into", "--full", "--force"),
    },
)
@click.argument("addresses", nargs=-1, metavar="[ADDRESS]...", shell_complete=addresses_of_entries)
@new_configuration_options
@profile_option
@click.option(
    "--organization", "organizations", multiple=True, metavar="NAME",
    help="The id or hostname of the organization. Can be repeated. "
    "[default: the only organization of the token; dpsync asks if there are several]",
)  # fmt: skip
@click.option(
    "--update", "updating", is_flag=True,
    help="Write the live values at the ADDRESSes into the existing lines of your files.",
)  # fmt: skip
@click.option(
    "--add", "adding", is_flag=True,
    help="Write new entries for the live objects at the ADDRESSes into your files.",
)  # fmt: skip
@click.option(
    "--from-navigation", "navigation", type=click.Path(path_type=Path),
    metavar="FILE", help="Write a configuration from the navigation file of GitBook's Git Sync, without a "
    "token. FILE can also be the directory of the navigation file.",
)  # fmt: skip
@click.option(
    "--redirects", "rows", metavar="SITE",
    help="Write the live redirects of a site into a CSV file.",
)  # fmt: skip
@click.option(
    "--title", metavar="TEXT",
    help="With --from-navigation: the title of the site.",
)  # fmt: skip
@click.option(
    "--into", metavar="FILE", type=click.Path(path_type=Path),
    help="With --update and --add: the file to write, such as the overlay of an environment. "
    "[default: the file of the existing line, if no other environment uses the file]",
)  # fmt: skip
@click.option(
    "--full", is_flag=True,
    help="Write every field that dpsync can read, including default values.",
)  # fmt: skip
@click.option(
    "--force", is_flag=True,
    help="Overwrite files with uncommitted changes. Without --update and --add: replace all existing files.",
)  # fmt: skip
@reading_options
@output_options
def command(
    addresses: tuple[str, ...], files: tuple[str, ...], directory: Path, environment: str | None,
    profile: str | None, organizations: tuple[str, ...], updating: bool, adding: bool,
    navigation: Path | None, rows: str | None, title: str | None, into: Path | None, full: bool, force: bool,
    ids_in: Path | None, parallelism: int, timeout: float, format_: str, color: str,
    verbose: int, quiet: bool,
) -> int:  # fmt: skip
    """Write your GitBook organization into files.

    dpsync writes dpsync.yaml and other files, and makes a plan from the new files. If the plan has changes,
    dpsync lists the changes and ends with exit code 3. dpsync writes no default values. The policy `watch:
    access` makes dpsync drift report changes of access (visibility, roles, permissions, sign-in), also in
    fields that the files leave out.

    If dpsync.yaml exists, dpsync keeps your files, and writes only live values and new entries. With --force,
    dpsync replaces the files.

    --update writes live values into the lines of your files. --add writes entries for live objects that have
    no entry. plan and drift print the addresses of objects without an entry, for example
    'acme/teams/[Sales]'.
    """
    from dpsync.api import load_registry
    from dpsync.cli.exit_codes import exit_on_errors
    from dpsync.importing.files import CachingClient

    out = make_output(format_, color, verbose, quiet)
    import_options = _ImportOptions(
        directory, addresses, files, organizations, updating, adding, navigation, rows, title, into, full,
        force,
    )  # fmt: skip
    import_options.check()
    if import_options.navigation is not None:
        with exit_on_errors(out):
            expected_profile = profile or profile_of_url(shell_address()) or FULL.name
            return _import_navigation(
                out, import_options, import_options.navigation, load_registry(expected_profile).with_all_kinds
            )
    if import_options.edits_existing_files or import_options.updates_all:
        with exit_on_errors(out):
            paths = ConfigurationPaths.find(files, directory, environment, ids_in, profile)
            with _refuse_invalid_configuration(paths) if import_options.updates_all else nullcontext():
                desired, connection = load_with_connection(out, paths, find_connection)
        with exit_on_errors(out, connection), open_client(CachingClient, out, connection, timeout) as client:
            with _refuse_invalid_configuration(paths) if import_options.updates_all else nullcontext():
                paths, desired = reload_for_server(out, client, paths, desired)
            session, ids, _ = prepare_session(out, paths, desired, connection, parallelism)
            if import_options.updates_all:
                return _update_configuration(out, client, paths, session, ids, organizations)
            return _edit_files(out, client, paths, session, import_options)
    connection = find_connection(out)
    with exit_on_errors(out, connection):
        ids_from_flag = directory / ids_in if ids_in else None
        ids = open_ids_file(ids_file(out, directory / ROOT_NAMES[0], connection, ids_from_flag), directory)
        return import_live(
            out, connection, profile, organizations, directory, full, force, parallelism, timeout, ids
        )
    raise AssertionError


class _ImportOptions(Struct, frozen=True, dict=True):
    """The values of the flags of `dpsync import` that decide what it writes."""

    directory: Path
    addresses: tuple[str, ...]
    files: tuple[str, ...]
    organizations: tuple[str, ...]
    updating: bool
    adding: bool
    navigation: Path | None
    rows: str | None
    title: str | None
    target_file: Path | None
    full: bool
    force: bool

    @property
    def edits_existing_files(self) -> bool:
        """Whether to edit single lines or rows of existing files."""
        return self.updating or self.adding or self.rows is not None

    @cached_property
    def updates_all(self) -> bool:
        """Whether to update a whole existing configuration."""
        return not (self.edits_existing_files or self.force or self.navigation) and has_root(self.directory)

    def check(self) -> None:
        """Raise UsageError for flags that exclude each other, for missing flags, and for missing files."""
        if self.updating and self.adding:
            raise click.UsageError("--update and --add cannot be combined")
        if self.rows is not None and (
            self.updating
            or self.adding
            or self.navigation
            or self.organizations
            or self.target_file
            or self.full
        ):
            raise click.UsageError("--redirects cannot be combined with other import flags")
        if self.edits_existing_files and self.navigation is not None:
            raise click.UsageError("--from-navigation cannot be combined with --update or --add")
        if self.full and (self.edits_existing_files or self.navigation is not None):
            raise click.UsageError("--full cannot be combined with --update, --add or --from-navigation")
        if self.full and self.updates_all:
            raise click.UsageError(
                "--full needs a new configuration, but a configuration exists. To replace the files, add "
                "--force"
            )
        if self.edits_existing_files and self.organizations:
            raise click.UsageError(
                "--organization cannot be combined with --update or --add. Pass addresses instead"
            )
        if (self.updating or self.adding) != bool(self.addresses):
            raise click.UsageError("--update and --add need addresses, and addresses need --update or --add")
        if not self.edits_existing_files and self.files:
            raise click.UsageError(
                "--file needs --update or --add. To choose where to write, use --directory"
            )
        if not self.edits_existing_files and not self.updates_all and is_environment_from_flag():
            raise click.UsageError("--env needs --update or --add. A new configuration has no environments")
        if self.navigation is not None and len(self.organizations) != 1:
            raise click.UsageError(
                "--from-navigation needs --organization ID, because the file does not name an organization"
            )
        if self.target_file is not None and not self.edits_existing_files:
            raise click.UsageError("--into needs --update or --add")
        if self.edits_existing_files and not self.directory.is_dir():
            raise click.UsageError(f"--directory: {str(self.directory)!r} does not exist")
        if self.title is not None and self.navigation is None:
            raise click.UsageError("--title needs --from-navigation")
        if self.navigation is not None and not (self.directory / self.navigation).exists():
            raise click.UsageError(
                f"--from-navigation: {str(self.directory / self.navigation)!r} does not exist"
            )


def _configuration_name(paths: ConfigurationPaths, desired: Desired, directory: Path, file: Path) -> str:
    """Return the name of a file of the configuration, as its entries have it.

    `target_file` is the value of --into: that name, or a path relative to the directory of the command.
    Raises UsageError if the configuration has no such file.
    """
    if file.as_posix() in desired.texts:
        return file.as_posix()
    project, target = paths.root.parent.resolve(), (directory / file).resolve()
    name = target.relative_to(project).as_posix() if target.is_relative_to(project) else ""
    if name not in desired.texts:
        message = f"--into: {str(file)!r} is not a file of this configuration"
        raise click.UsageError(f"{message}. To add an overlay, pass --env or -f")
    return name


@contextmanager
def _refuse_invalid_configuration(paths: ConfigurationPaths) -> Iterator[None]:
    """Raise DiagnosticError (exit 4) if the block finds an existing configuration with errors.

    dpsync could not keep the content of such a configuration.
    """
    from dpsync.model.diagnostic import Diagnostic, DiagnosticError

    try:
        yield
    except DiagnosticError as error:
        if error.exit_code is not Exit.INVALID:
            raise
        message = f"{paths.root.name} exists already and has errors, so dpsync cannot keep its content"
        hint = "fix the errors, import into another directory, or replace the files with --force"
        findings = [*error.findings, Diagnostic("exists", message, hint=hint)]
        raise DiagnosticError(findings, Exit.REFUSED, error.texts) from None


def _update_configuration(
    out: Output, client: ReadClient, paths: ConfigurationPaths, session: Session, ids: IdsOnDisk,
    organizations: tuple[str, ...],
) -> int:  # fmt: skip
    """Write live values and new objects into an existing configuration, and return the exit code.

    The ids of the objects go into the ids file; if that fails, the exit code is PARTIAL (3).
    """
    from dpsync.api import import_again
    from dpsync.apply.ids_on_disk import IdsWriteError
    from dpsync.config.layers import Layers
    from dpsync.importing.files import write_files
    from dpsync.render.json_conversion import planned_update_document

    layers = Layers.of(paths.root, paths.overlays, paths.environment, paths.profile)
    with out.progress.show_during(READING):
        updated = import_again(session, client, paths.root, organizations, layers)
    written = write_files(paths.root.parent, updated.made.files)
    code = show_import(
        out, planned_update_document(updated.made, written, updated.plan, client.requests, updated.left_out)
    )
    try:
        ids.edit(client.platform, updated.ids)
    except IdsWriteError as error:
        out.print_problem(f"error: {error}")
        return Exit.PARTIAL
    return code


def _edit_files(
    out: Output, client: ReadClient, paths: ConfigurationPaths, session: Session, options: _ImportOptions
) -> int:
    """Write live values, new entries or redirects into files of an existing configuration.

    This is `import --update`, `--add` or `--redirects`. Return the exit code.
    """
    from dpsync.api import add, import_rows, update
    from dpsync.config.layers import Layers
    from dpsync.importing.files import write_files
    from dpsync.render.json_conversion import update_document

    target_file = (
        None
        if options.target_file is None
        else _configuration_name(paths, session.desired, options.directory, options.target_file)
    )
    layers = Layers.of(paths.root, paths.overlays, paths.environment, paths.profile)
    try:
        edit = add if options.adding else update
        with out.progress.show_during(READING):
            edited = (
                edit(session, client, paths.root, options.addresses, layers, into=target_file)
                if options.rows is None
                else import_rows(session, client, paths.root, options.rows, layers)
            )
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    written = write_files(paths.root.parent, edited.files, force=options.force)
    return show_import(out, update_document(edited, written, client.requests))


def _import_navigation(out: Output, options: _ImportOptions, path: Path, registry: Registry) -> int:
    """Write the configuration of the site that a navigation file of Git Sync describes. Return the exit code.

    `path` is the file, or a directory that contains only one such file.
    """
    from dpsync.importing.files import write_files
    from dpsync.importing.navigation import convert_navigation_file
    from dpsync.render.json_conversion import import_document

    directory = options.directory
    file = path
    if (directory / path).is_dir():
        from dpsync.importing.navigation_file import NAVIGATION_FILE_NAMES, find_navigation_files

        names = [found.name for found in find_navigation_files(directory / path)]
        if len(names) != 1:
            content_text = " and ".join(names) if names else f"no {' and no '.join(NAVIGATION_FILE_NAMES)}"
            raise click.UsageError(
                f"--from-navigation: {str(path)!r} contains {content_text}. Pass the path of one file"
            )
        file = path / names[0]
    configuration = convert_navigation_file(
        directory / file, registry, options.organizations[0], options.title, file.as_posix(), directory
    )
    written = write_files(
        directory, configuration.files, configuration.find_stray_files(directory), options.force
    )
    return show_import(out, import_document(configuration, written, None, [], 0))
