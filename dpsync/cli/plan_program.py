"""Run dpsync in a separate process that makes a plan for the page of the local server.

The directory of a configuration may be the checkout of somebody else. So that Python runs none of its files,
the process runs Python in isolated mode (`-I`) in another directory, and imports only from this process's
module path. It gets only the environment variables that a plan reads, without platform tokens.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import dpsync
from dpsync.cli.configuration import ConfigurationPaths

_PLAN_VARIABLES: Final = (
    "DPSYNC_ENV", "DPSYNC_FILE", "DPSYNC_PROFILE", "GITHUB_WORKSPACE", "HOME", "PATH", "SYSTEMROOT", "TEMP",
    "TMP", "TMPDIR", "XDG_CONFIG_HOME",
)  # fmt: skip


def isolated_command(*arguments: str) -> tuple[str, ...]:
    """Return the command that runs this dpsync with these arguments in a new process, from any directory.

    Python's flag -I ignores the working directory, PYTHONPATH and the packages of the user, so no file there
    can be imported by mistake. dpsync itself may be installed in one of the last two, so the new process
    gets the module path of this process without the working directory.
    """
    package_directory = str(Path(dpsync.__file__).parents[1])

    def is_working_directory(path: str) -> bool:
        try:
            return Path(path).samefile(".")
        except OSError:
            return False

    module_paths = [
        path for path in sys.path if path == package_directory or (path and not is_working_directory(path))
    ]
    if package_directory not in module_paths:
        module_paths.insert(0, package_directory)
    code = f"import sys; sys.path[:] = {module_paths!r}; from dpsync.cli import main; main()"
    return sys.executable, "-I", "-X", "utf8", "-c", code, *arguments


def plan_variables(directory: Path) -> dict[str, str]:
    """Return the environment variables for a plan in another process.

    These are the variables that dpsync reads, and those that the files name as `${NAME}`. Variables with
    tokens of a platform are left out, even if a file names one.
    """
    from dpsync.config.compose import load_sources
    from dpsync.config.discovery import DiskFiles
    from dpsync.config.layers import Layers, is_token_variable
    from dpsync.model.diagnostic import DiagnosticError

    environment = _RecordedLookups(os.environ)
    try:
        root = ConfigurationPaths.find((), directory).root
        load_sources(DiskFiles(root), environment, Layers(environment=os.environ.get("DPSYNC_ENV")))
    except DiagnosticError:
        pass  # the plan reports the error
    names = {
        *_PLAN_VARIABLES,
        *(name for name in environment.names if not is_token_variable(name, os.environ)),
    }
    return {name: value for name, value in os.environ.items() if name in names}


class _RecordedLookups(Mapping[str, str]):
    """Environment variables that record which names were looked up, to find the variables that files use."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self.names: set[str] = set()

    def __getitem__(self, name: str) -> str:
        self.names.add(name)
        return self._environment[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._environment)

    def __len__(self) -> int:
        return len(self._environment)
