"""dpsync as a process of its own, which makes a plan for the companion's page.

The directory of a configuration may be a stranger's checkout. So that none of its files becomes code, the
process runs Python isolated (`-I`), elsewhere, and imports only from where this process does. It has the
variables that a plan reads, and no others: no token of a platform is among them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import dpsync
from dpsync.cli.arguments.place import ConfigurationPaths

_READ_BY_A_PLAN: Final = (
    "DPSYNC_ENV", "DPSYNC_FILE", "DPSYNC_PROFILE", "GITHUB_WORKSPACE", "HOME", "PATH", "SYSTEMROOT", "TEMP",
    "TMP", "TMPDIR", "XDG_CONFIG_HOME",
)  # fmt: skip


def isolated(*arguments: str) -> tuple[str, ...]:
    """Return the command that runs this dpsync with these arguments in a new process, from any directory.

    `-I` ignores the working directory, `PYTHONPATH` and the packages of the user. The last two may be where
    dpsync is: so the new process gets this one's module path, without the working directory.
    """
    home = str(Path(dpsync.__file__).parents[1])
    places = [place for place in sys.path if place == home or (place and not _is_working_directory(place))]
    if home not in places:
        places.insert(0, home)
    code = f"import sys; sys.path[:] = {places!r}; from dpsync.cli import main; main()"
    return sys.executable, "-I", "-X", "utf8", "-c", code, *arguments


def _is_working_directory(place: str) -> bool:
    try:
        return Path(place).samefile(".")
    except OSError:
        return False


def plan_variables(directory: Path) -> dict[str, str]:
    """Return the variables for a plan of a directory: those that dpsync reads, and those of its `${NAME}`.

    Variables for tokens of platforms are left out, also where a file names one.
    """
    from dpsync.config.composing.compose import load_sources
    from dpsync.config.composing.files import Directory
    from dpsync.config.composing.layers import Layers, is_token_variable
    from dpsync.model.findings.diagnostic import DiagnosticError

    asked = _LookedUp(os.environ)
    try:
        root = ConfigurationPaths.find((), directory).root
        load_sources(Directory(root), asked, Layers(environment=os.environ.get("DPSYNC_ENV")))
    except DiagnosticError:
        pass  # the plan says it
    names = {*_READ_BY_A_PLAN, *(name for name in asked.names if not is_token_variable(name, os.environ))}
    return {name: value for name, value in os.environ.items() if name in names}


class _LookedUp(Mapping[str, str]):
    """The environment, and the names that somebody has looked up in it."""

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
