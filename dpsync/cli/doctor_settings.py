"""Check the settings of a run for `dpsync doctor`: files, environment, API version, git base and ids file.

The git base is the commit that dpsync compares with. Input: the configuration. Output: one check result each.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from dpsync import __version__
from dpsync.cli.configuration import ConfigurationPaths, shortest_path
from dpsync.kinds.profiles import PROFILES
from dpsync.model.diagnostic import DiagnosticError
from dpsync.model.text import format_command, format_count, short_commit
from dpsync.model.urls import is_loopback
from dpsync.render.documents import Check

if TYPE_CHECKING:
    from dpsync.cli.connection import Connection
    from dpsync.model.desired import Base, Desired
    from dpsync.model.ids import IdsFile


def check_program() -> Check:
    """Return the check with the versions of dpsync and Python."""
    python = ".".join(map(str, sys.version_info[:3]))
    return Check(topic="dpsync", level="ok", said=f"{__version__}, Python {python}")


def describe_source(name: str, flag: str, variable: str | None, default: str) -> str:
    """Return where the value of an option comes from: the flag, the variable, or the default."""
    context = click.get_current_context(silent=True)
    source = context.get_parameter_source(name) if context else None
    if source is ParameterSource.COMMANDLINE:
        return flag
    if variable is not None and os.environ.get(variable):
        return variable
    return default


def check_files(paths: ConfigurationPaths) -> Iterator[Check]:
    """Yield the checks of the root file and the overlays, with the setting that names each file."""
    source = describe_source(
        "files", "--file", "DPSYNC_FILE", "found in this directory or in a directory above"
    )
    yield Check(topic="root file", level="ok", said=shortest_path(str(paths.root)), source=source)
    for path in paths.overlays:
        yield Check(topic="overlay", level="ok", said=shortest_path(str(path)), source="--file")


def check_configuration(desired: Desired) -> Iterator[Check]:
    """Yield the checks of the loaded configuration (entries, files, warnings) and its environment."""
    entries_text, files_text = (
        format_count(len(desired.entries), "entry"),
        format_count(len(desired.texts), "file"),
    )
    mend = format_command("validate") if desired.warnings else None
    warnings_text = f", {format_count(len(desired.warnings), 'warning')}" if desired.warnings else ""
    yield Check(
        topic="configuration",
        level="note" if desired.warnings else "ok",
        said=f"{entries_text} in {files_text}{warnings_text}",
        mend=mend,
    )
    environment = desired.environment
    if environment is not None:
        source = describe_source("environment", "--env", "DPSYNC_ENV", "")
        yield Check(topic="environment", level="ok", said=environment.name, source=source or None)
    elif desired.environments:
        names = ", ".join(desired.environments)
        yield Check(
            topic="environment",
            level="note",
            said=f"you chose none of the environments in dpsync.yaml ({names})",
            mend="choose an environment with --env NAME",
        )


def check_profile(
    paths: ConfigurationPaths | None, desired: Desired | None, used_profile: str, server_profile: str | None
) -> Check:
    """Check whether the API version that dpsync uses is the one of the server.

    Args:
        used_profile: The API version that dpsync uses.
        server_profile: The API version that the server names; None if it names none.
    """
    environment = desired.environment if desired is not None else None
    source = (
        "named by the server"
        if server_profile is not None
        else "the default, because the server names no API version"
    )
    if paths is not None and paths.profile is not None:
        source = describe_source("profile", "--profile", "DPSYNC_PROFILE", "")
    elif environment is not None and environment.profile is not None:
        source = f"the environment {environment.name}"
    if server_profile is None or server_profile == used_profile:
        return Check(topic="profile", level="ok", said=used_profile, source=source)
    if server_profile not in PROFILES:
        message = (
            f"dpsync uses {used_profile}, because this dpsync does not know the API version {server_profile} "
            "of the server"
        )
        mend = f"install a newer dpsync, or check the responses with {format_command('doctor', '--contact')}"
        return Check(topic="profile", level="problem", said=message, source=source, mend=mend)
    message = (
        f"{source} chooses the API version {used_profile}, but the server uses the API version "
        f"{server_profile}"
    )
    mend = (
        f"choose the API version {server_profile}. If you choose none, dpsync uses the version of the server"
    )
    return Check(topic="profile", level="problem", said=message, source=source, mend=mend)


def invalid_configuration_checks(error: DiagnosticError) -> Iterator[Check]:
    """Yield a problem for each of the first findings of an invalid configuration."""
    for finding in error.findings[:3]:
        location = f"{finding.span.file}:{finding.span.line}: " if finding.span else ""
        yield Check(
            topic="configuration",
            level="problem",
            said=f"{location}{finding.message} [{finding.code}]",
            mend=finding.hint,
        )
    if len(error.findings) > 3:
        others = format_count(len(error.findings) - 3, "finding")
        yield Check(
            topic="configuration", level="problem", said=f"and {others} more", mend=format_command("validate")
        )


def check_git_base(paths: ConfigurationPaths, ids: Path) -> tuple[Check, Base | None]:
    """Check the git base: the commit with which dpsync compares the files to recognize renamed entries.

    Return the check, and the base; None if the configuration in the commit is invalid.
    """
    from dpsync.api import load_base

    source = "the default"
    try:
        base = load_base(
            paths.root, None, overlays=paths.overlays, environment=paths.environment, ids=ids,
            profile=paths.profile,
        )  # fmt: skip
    except DiagnosticError as error:
        finding = error.findings[0]
        check = Check(
            topic="git base", level="problem", said=finding.message, source=source, mend=finding.hint
        )
        return check, None
    if base.desired is not None:
        base_name = f"{base.name} ({short_commit(base.commit or '')})"
        return Check(topic="git base", level="ok", said=base_name, source=source), base
    mend = (
        base.warning.hint
        if base.warning
        else "commit the configuration, so that dpsync recognizes renamed entries"
    )
    check = Check(topic="git base", level="note", said=f"none: {base.name}", source=source, mend=mend)
    return check, base


def check_ids_file(
    paths: ConfigurationPaths, path: Path, connection: Connection | None, platform: str | None
) -> tuple[Check, IdsFile | None]:
    """Check the ids file. Return the check, and the content of the file; None if the file is invalid."""
    from dpsync.cli.configuration import open_ids_file

    source = "--ids" if paths.ids else "the default"
    name = shortest_path(str(path))
    try:
        ids = open_ids_file(path, paths.root.parent).read()
    except DiagnosticError as error:
        finding = error.findings[0]
        return Check(
            topic="ids file", level="problem", said=finding.message, source=source, mend=finding.hint
        ), None
    if not os.path.lexists(path):
        message = f"the file {name} does not exist yet. dpsync apply and dpsync import create the file"
        if connection is not None and is_loopback(connection.url):
            return Check(topic="ids file", level="ok", said=message, source=source), ids
        mend = "commit the ids file after dpsync has created the file"
        return Check(topic="ids file", level="note", said=message, source=source, mend=mend), ids
    lines_by_address = ids.sections.get(platform or "", {})
    lines = format_count(sum(map(len, lines_by_address.values())), "line")
    message = f"{name} has {lines} for this server" if platform else name
    return Check(topic="ids file", level="ok", said=message, source=source), ids
