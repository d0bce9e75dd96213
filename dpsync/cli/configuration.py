"""Choose and load the configuration, the ids file and the git base (the commit to compare with).

`ConfigurationPaths.find` turns flags into paths, and `load` reads the files. `prepare_session` adds the ids
file and the git base, and returns a session that can plan.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from dpsync import disk
from dpsync.cli.output import Output
from dpsync.model.diagnostic import DiagnosticError
from dpsync.model.urls import GITBOOK_API_URL
from dpsync.render.visible import visible

if TYPE_CHECKING:
    from dpsync.api import AppliedNotes, IdsOnDisk, Session
    from dpsync.cli.connection import Connection
    from dpsync.model.desired import AppliedCommit, Base, Desired
    from dpsync.model.ids import IdsFile


_CHECKED_COMMIT: Final[ContextVar[str | None]] = ContextVar("checked commit", default=None)


@contextmanager
def files_must_match(commit: str | None) -> Iterator[None]:
    """Make the block refuse configuration files that differ from a commit; None for no check.

    The GitHub Action uses this, so that a job applies only what was committed.
    """
    token = _CHECKED_COMMIT.set(commit)
    try:
        yield
    finally:
        _CHECKED_COMMIT.reset(token)


_DELETES_REVIEWED: Final[ContextVar[bool]] = ContextVar("deletes reviewed", default=False)


@contextmanager
def deletes_are_reviewed(reviewed: bool) -> Iterator[None]:
    """Make plans in the block need the approval of a merged pull request for their deletes.

    The GitHub Action sets this.
    """
    token = _DELETES_REVIEWED.set(reviewed)
    try:
        yield
    finally:
        _DELETES_REVIEWED.reset(token)


def are_deletes_reviewed() -> bool:
    """Return whether deletes need the approval of a merged pull request (see `deletes_are_reviewed`)."""
    return _DELETES_REVIEWED.get()


_APPLIED_COMMITS: Final[ContextVar[tuple[AppliedCommit, ...]]] = ContextVar("applied commits", default=())


@contextmanager
def use_applied_commits(commits: tuple[AppliedCommit, ...]) -> Iterator[None]:
    """Make labels of plans in the block compare with the commits that were applied last.

    The GitHub Action knows these commits from earlier runs.
    """
    token = _APPLIED_COMMITS.set(commits)
    try:
        yield
    finally:
        _APPLIED_COMMITS.reset(token)


def applied_commits() -> tuple[AppliedCommit, ...]:
    """Return the commits that were applied last, as far as the caller of the command knows them."""
    return _APPLIED_COMMITS.get()


class ConfigurationPaths(Struct, frozen=True):
    """The paths of a configuration: the root file, overlays, and settings from flags."""

    root: Path
    overlays: tuple[Path, ...] = ()
    environment: str | None = None
    ids: Path | None = None
    """The ids file that a flag names."""
    profile: str | None = None
    """The profile that a flag names."""
    commit: str | None = None
    """The commit whose files the files of the configuration must equal."""

    @property
    def journals(self) -> Path:
        """The directory for journals of applies in this checkout."""
        return self.root.parent / disk.OWN_DIRECTORY_NAME / "journal"

    @staticmethod
    def find(
        files: tuple[str, ...],
        directory: Path,
        environment: str | None = None,
        ids: Path | None = None,
        profile: str | None = None,
    ) -> ConfigurationPaths:
        """Return the paths that the flags -f, -C, --env, --ids and --profile describe.

        Without -f, the root file is the one in DPSYNC_FILE, or the nearest one in or above the directory.

        Args:
            ids: The ids file, relative to the directory.

        Raises:
            DiagnosticError: There is no root file, or there are two.
        """
        from dpsync.config.discovery import find_root

        root_from_variable, commit = os.environ.get("DPSYNC_FILE"), _CHECKED_COMMIT.get()
        root, *overlays = files or ((root_from_variable,) if root_from_variable else (None,))
        root_path = directory / root if root is not None else find_root(directory)
        if root is None and commit is not None:
            from dpsync.config.checked_files import check_nearest_root

            check_nearest_root(directory, root_path, commit)
        overlay_paths = tuple(directory / str(name) for name in overlays)
        ids_file_path = None if ids is None else directory / ids
        return ConfigurationPaths(root_path, overlay_paths, environment, ids_file_path, profile, commit)

    @property
    def _assumed_profile(self) -> str:
        """The API version (profile) to assume until the server is asked, if the user chose none."""
        from dpsync.kinds.profiles import FULL, profile_of_url

        return profile_of_url(os.environ.get("DPSYNC_URL", "").rstrip("/") or GITBOOK_API_URL) or FULL.name

    def load(self, out: Output) -> Desired:
        """Return the configuration, and print its warnings. Raises DiagnosticError if it has errors."""
        self._set_project(out)
        return print_warnings(out, self.load_without_warnings())

    def load_again(self, out: Output, previous: Desired) -> Desired:
        """Load the configuration again, for another API version than that of `previous`.

        Only warnings that `previous` does not have are printed.
        """
        desired = self.load_without_warnings()
        new_warnings = tuple(warning for warning in desired.warnings if warning not in previous.warnings)
        print_warnings(out, replace(desired, warnings=new_warnings))
        return desired

    def load_for_profile(self, profile: str) -> Desired | None:
        """Return the configuration for an API version (profile) of a server, without printing.

        None if the configuration has errors for this version, or if the user chose a version: with a flag,
        or in the chosen environment.
        """
        if self.profile is not None:
            return None
        try:
            desired = replace(self, profile=profile).load_without_warnings()
        except DiagnosticError:
            return None
        return (
            None if desired.environment is not None and desired.environment.profile is not None else desired
        )

    def with_profile_of(self, desired: Desired) -> ConfigurationPaths:
        """Return the paths with the API version (profile) of a configuration, for all later reading.

        Return the paths unchanged if the user chose a version: with a flag, or in the chosen environment.
        """
        environment = desired.environment
        is_profile_chosen = self.profile is not None or (
            environment is not None and environment.profile is not None
        )
        return self if is_profile_chosen else replace(self, profile=desired.profile)

    def load_without_warnings(self) -> Desired:
        """Return the configuration without printing its warnings. Raises DiagnosticError."""
        from dpsync.api import load

        return load(
            self.root,
            overlays=self.overlays,
            environment=self.environment,
            profile=self.profile,
            commit=self.commit,
            assumed=self._assumed_profile,
        )

    def load_and_validate(self, out: Output) -> Desired:
        """Return the configuration after checking every environment, unless one was chosen.

        Raises DiagnosticError.
        """
        from dpsync.api import validate

        self._set_project(out)
        desired = validate(
            self.root,
            overlays=self.overlays,
            environment=self.environment,
            profile=self.profile,
            commit=self.commit,
            assumed=self._assumed_profile,
        )
        return print_warnings(out, desired)

    def _set_project(self, out: Output) -> None:
        """Tell the output the project directory and the root file, and print the files with -v."""
        out.project, out.root = self.root.parent, self.root.name
        for path in (self.root, *self.overlays):
            out.print_detail(f"Reading {visible(str(path))}", 1)


def print_warnings(out: Output, desired: Desired) -> Desired:
    """Print the warnings of a configuration, and return the configuration."""
    from dpsync.render.diagnostics import render_diagnostics

    if desired.warnings:
        text = render_diagnostics(desired.warnings, desired.texts, color=out.paint(error=True).is_on)
        out.print_problem(text.rstrip())
    return desired


def shortest_path(path: str) -> str:
    """Return a path as a person would type it: relative to the working directory if it is inside it."""
    try:
        return Path(path).relative_to(Path.cwd()).as_posix()
    except (ValueError, FileNotFoundError):
        return path


class SavedBase(NamedTuple):
    """The git base of a saved plan: its commit, or None and the reason why there was none."""

    commit: str | None
    name: str


class PreparedSession(NamedTuple):
    """A session for a configuration, with its ids file and the stored configuration of earlier applies."""

    session: Session
    ids: IdsOnDisk
    notes: AppliedNotes


def prepare_session(
    out: Output,
    paths: ConfigurationPaths,
    desired: Desired,
    connection: Connection,
    parallelism: int,
    base: str | None = None,
    saved_base: SavedBase | None = None,
) -> PreparedSession:
    """Return a session for a configuration, with its ids file, git base and labels.

    The git base is the configuration in an earlier commit. By it, dpsync recognizes renamed entries.

    Args:
        base: The commit that --base names, or None. Only the labels of changes compare with it.
        saved_base: The base of a saved plan, which replaces the default git base.

    Raises:
        DiagnosticError: The ids file or a named base is invalid.
    """
    from dpsync.api import AppliedNotes, Base, Session, label_commits, load_registry

    if connection.pending and desired.environment is not None:
        desired = replace(desired, environment=replace(desired.environment, pending=connection.pending))
    path = ids_file(out, paths.root, connection, paths.ids)
    ids = open_ids_file(path, paths.root.parent, paths.commit)
    known_ids = ids.read()
    warn_about_repeated_lines(out, known_ids)
    if saved_base is None:
        resolved_base = git_base(out, paths, None, path)
    else:
        resolved_base = (
            git_base(out, paths, saved_base.commit, path) if saved_base.commit else Base(saved_base.name)
        )
    notes = AppliedNotes.of(paths.root, paths.overlays, paths.environment, paths.profile, path)
    labels = label_commits(notes, resolved_base, base, applied=applied_commits())
    session = Session(desired, load_registry(desired.profile), parallelism, resolved_base, known_ids, labels)
    return PreparedSession(session, ids, notes)


def ids_file(out: Output, root: Path, connection: Connection, path_from_flag: Path | None) -> Path:
    """Return the path of the ids file for a platform. Print a note if the named file is missing.

    `path_from_flag` is the value of --ids.
    """
    from dpsync.api import ids_path

    if path_from_flag is None:
        return ids_path(root, connection.url)
    if not os.path.lexists(path_from_flag):
        out.print_message(f"note: {visible(str(path_from_flag))} does not exist yet, so dpsync knows no ids")
    return path_from_flag


def check_ids_file(paths: ConfigurationPaths, connection: Connection) -> None:
    """Raise DiagnosticError if the ids file must equal the file in a commit, and differs from it."""
    from dpsync.api import ids_path

    if paths.commit is not None:
        path = ids_path(paths.root, connection.url) if paths.ids is None else paths.ids
        open_ids_file(path, paths.root.parent, paths.commit).read()


def open_ids_file(path: Path, project: Path, commit: str | None = None) -> IdsOnDisk:
    """Return an ids file for reading and writing.

    With `commit`, reading raises DiagnosticError if the file differs from the file in that commit.
    """
    from dpsync.api import IdsOnDisk, load_registry

    return IdsOnDisk(path, load_registry().with_all_kinds, shortest_path(str(path)), project, commit)


def warn_about_repeated_lines(out: Output, ids: IdsFile) -> None:
    """Print a warning for each line that an ids file contains twice."""
    from dpsync.config.ids_file import repeated_line_warnings
    from dpsync.render.diagnostics import render_diagnostics

    if findings := repeated_line_warnings(ids):
        out.print_problem(render_diagnostics(findings, {}, color=out.paint(error=True).is_on).rstrip())


def with_omitted_file_warnings(
    out: Output, paths: ConfigurationPaths, desired: Desired, ref: str | None
) -> Desired:
    """Return the configuration with a warning for each file that is no longer included.

    Print these warnings. Git is used only if a file beside the configuration declares entries.
    """
    if not any(True for _ in desired.not_included):
        return desired
    from dpsync.api import load_base, no_longer_included

    base = load_base(
        paths.root, ref, overlays=paths.overlays, environment=paths.environment, profile=paths.profile
    )
    warnings = tuple(no_longer_included(desired, base))
    print_warnings(out, replace(desired, warnings=warnings))
    return replace(desired, warnings=(*desired.warnings, *warnings))


def git_base(out: Output, paths: ConfigurationPaths, ref: str | None, ids: Path | None = None) -> Base:
    """Return the configuration in the commit to compare with, and print a warning if it is missing.

    `ref` is the commit that the user named; None for the default. `ids` is the path of the ids file.
    """
    from dpsync.api import load_base
    from dpsync.render.diagnostics import render_diagnostics

    base = load_base(
        paths.root,
        ref,
        overlays=paths.overlays,
        environment=paths.environment,
        ids=ids,
        profile=paths.profile,
    )
    if base.warning is not None:
        text = render_diagnostics([base.warning], {}, color=out.paint(error=True).is_on)
        out.print_problem(text.rstrip())
    return base
