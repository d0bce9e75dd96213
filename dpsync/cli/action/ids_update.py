"""What `dpsync github` does about the ids file after an apply: which file that is, and whose token."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpsync.github.requests.api import GitHub
    from dpsync.github.runner.inputs import Inputs
    from dpsync.github.runner.log import Log
    from dpsync.github.runner.place import WorkflowRun
    from dpsync.github.runs.ids_file import IdsFileUpdate


def ids_update(
    log: Log, inputs: Inputs, place: WorkflowRun, client: Callable[[str], GitHub | None]
) -> IdsFileUpdate | None:
    """The update that the inputs ask for, or None. `client` makes one for a token, if there is any."""
    if inputs.command != "apply" or inputs.ids_file == "none" or (file := _file(inputs)) is None:
        return None
    from dpsync.api import load_registry
    from dpsync.github.requests.branches import Branches
    from dpsync.github.runs.ids_file import IdsFileUpdate

    github = client(inputs.ids_token or inputs.github_token)
    branches = None if github is None else Branches(github, place.repository)
    return IdsFileUpdate(file, inputs.ids_file, branches, place, log, load_registry())


def _file(inputs: Inputs) -> Path | None:
    """The ids file in git: the named one, else that beside the root file. None without a root file."""
    from dpsync.cli.arguments.place import ConfigurationPaths
    from dpsync.config.composing.discovery import IDS_NAME
    from dpsync.model.findings.diagnostic import DiagnosticError

    named = None
    words = iter(inputs.arguments)
    for word in words:
        if word == "--ids":
            named = next(words, None)
        elif word.startswith("--ids="):
            named = word.removeprefix("--ids=")
    try:
        place = ConfigurationPaths.find(
            inputs.config, Path(inputs.directory), ids=Path(named) if named else None
        )
    except DiagnosticError:
        return None
    return place.ids or place.root.parent / IDS_NAME
