"""A wheel of this checkout, and a clean environment with it: made once for each test process."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.distribution.installed import build, copied, environment


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel of this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    return build(copied(folder / "source"), folder / "made", "wheel")


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the directory of programs in a clean environment with the wheel."""
    return environment(tmp_path_factory.mktemp("clean") / "environment", wheel)
