"""Where the action finds what it needs, without installing anything."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def packages(tool_cache: Path) -> Path:
    """Where action/main.py looks for what it needs."""
    spec = importlib.util.spec_from_file_location("starter", ROOT / "action" / "main.py")
    assert spec is not None
    assert spec.loader is not None
    starter = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(starter)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RUNNER_TOOL_CACHE", str(tool_cache))
        found = starter.in_cache()
        assert isinstance(found, Path)
        return found
