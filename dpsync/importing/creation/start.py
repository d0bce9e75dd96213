"""The files of a new project: a configuration to start from, settings of editors, .gitignore, workflows.

Nothing here looks at a disk, except for the templates of the workflows, which are a part of the package.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from msgspec import Struct

from dpsync import __commit__, __version__, disk
from dpsync.config.compose import WORD
from dpsync.config.schema import configuration_schema
from dpsync.importing.creation.layout import ROOT, SCHEMA
from dpsync.importing.yaml_text.emit import BlockMapping, document
from dpsync.kinds.registry import Registry
from dpsync.model.text import command, json_text

EDITOR: Final = ".vscode/settings.json"
IGNORED: Final = ".gitignore"
WORKFLOWS: Final = ("plan", "apply", "drift")
_PACKAGE: Final = Path(__file__).parents[2]
_TEMPLATES: Final = (_PACKAGE / "workflows.examples", _PACKAGE.parent / "examples" / "workflows")
"""Where the templates are in a wheel, and in a checkout."""
_LARGEST: Final = 1 << 16
_PLAIN: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_ .@/-]*")
_REPOSITORY: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9._-]+")
_COMMIT: Final = re.compile(r"[0-9a-f]{40}")
_KEY: Final = re.compile(r"[^A-Za-z0-9._-]+")


class WorkflowSettings(Struct, frozen=True):
    """What is filled into the templates. `directory` is that of the configuration, below the checkout.

    With a repository, the jobs run only there, and in none of its forks. `action` is the commit of dpsync's
    action that the jobs use.
    """

    directory: str = "."
    environment: str = "production"
    repository: str | None = None
    action: str = __commit__

    def problem(self) -> str | None:
        """What cannot be written into a workflow; None where everything can."""
        for what, value in (("the directory", self.directory), ("the environment", self.environment)):
            if value != "." and not _PLAIN.fullmatch(value):
                return f"{what} {value!r} contains characters with a special meaning in workflows"
        if self.repository is not None and not _REPOSITORY.fullmatch(self.repository):
            return f"the repository {self.repository!r} does not have the form OWNER/NAME"
        if not _COMMIT.fullmatch(self.action):
            return (
                f"--action-ref: {self.action!r} is not the id of a commit (40 digits). A tag or a branch is "
                "not safe, because somebody can move the tag or branch to other code"
            )
        return None


def root_file(organization: str) -> bytes:
    """A configuration of one organization that manages nothing yet."""
    key = _KEY.sub("-", organization).strip("-._") or "mine"
    comments = [
        "dpsync does not change objects and fields that your files do not contain.",
        f"For a list of everything that you can write here: {command('explain')}",
    ]
    whole = BlockMapping({"dpsync": 1, WORD: key, "id": organization}, comments)
    return document(whole, f"# yaml-language-server: $schema=./{SCHEMA}").encode()


def schema_file(registry: Registry) -> bytes:
    """The JSON Schema that editors read."""
    return (json_text(configuration_schema(registry), indent=2) + "\n").encode()


def editor_settings() -> bytes:
    """The settings by which an editor finds the schema of every file of the configuration."""
    settings = {"yaml.schemas": {f"./{SCHEMA}": [ROOT]}}
    return (json_text(settings, indent=2) + "\n").encode()


def ignored_files() -> bytes:
    """What git leaves out: journals, and the ids of platforms on this machine."""
    return f"{disk.OWN}/\n".encode()


def workflow_files(settings: WorkflowSettings) -> dict[str, bytes]:
    """Return the workflows by their path from the top of the checkout. Every action is pinned to a commit.

    Raises ValueError for settings that cannot be written, and OSError without the templates.
    """
    if wrong := settings.problem():
        raise ValueError(wrong)
    return {f".github/workflows/{name}.yml": _workflow(name, settings).encode() for name in WORKFLOWS}


def _workflow(name: str, settings: WorkflowSettings) -> str:
    folder = next((path for path in _TEMPLATES if path.is_dir()), _TEMPLATES[0])
    text = disk.read(folder / f"{name}.yml", _LARGEST).decode()
    everything = "**" if settings.directory == "." else f"{settings.directory}/**"
    text = text.replace('"docs-platform/**"', json_text(everything))
    text = text.replace(
        "working-directory: docs-platform", f"working-directory: {json_text(settings.directory)}"
    )
    text = text.replace("environment: production", f"environment: {json_text(settings.environment)}")
    release = f" # v{__version__}" if settings.action == __commit__ else ""
    text = re.sub(r"dpsync/dpsync@[0-9a-f]{40} # .*", f"dpsync/dpsync@{settings.action}{release}", text)
    if settings.repository is not None:
        only = f"    if: github.repository == '{settings.repository}'\n"
        text = re.sub(r"^    runs-on:", f"{only}    runs-on:", text, flags=re.MULTILINE)
    return text
