"""The action as a runner has it, without packages of its own: they are those of the tests' Python."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
INPUTS = "${{ toJSON(inputs) }}"


def action_in(folder: Path) -> Path:
    """Copy the action with an empty lock file, so that nothing is downloaded or unpacked."""
    shutil.copytree(ROOT / "action", folder / "action")
    (folder / "action" / "requirements.txt").write_text("")
    (folder / "dpsync").symlink_to(ROOT / "dpsync")  # with its bytecode: act copies without
    shutil.copy2(ROOT / "action.yml", folder)
    return folder


def script(inputs: dict[str, str]) -> str:
    """Return the script of the step, as the runner writes it."""
    (step,) = _action()["runs"]["steps"]
    text = str(step["run"])
    assert text.count("${{") == text.count(INPUTS) == 1
    return text.replace(INPUTS, json.dumps(inputs, indent=2))


def _action() -> Any:
    return yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
