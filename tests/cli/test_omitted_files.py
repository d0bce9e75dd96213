"""Which files look like a part of the configuration although nothing includes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run

ROOT = "dpsync: 1\norganizations: { acme: { id: acme } }\n"
PART = "organizations: { acme: { teams: { writers: { title: Writers } } } }\n"


@pytest.mark.parametrize(
    ("marker", "reported"),
    [
        pytest.param("readme.txt", True, id="a directory of this project"),
        pytest.param("dpsync.yaml", False, id="a directory with a root file"),
        pytest.param(".git", False, id="a repository"),
    ],
)
def test_not_included_file_warning_ignores_nested_projects(
    tmp_path: Path, run: Run, marker: str, reported: bool
) -> None:
    """A warning about files of another project would distract from real warnings."""
    (tmp_path / "dpsync.yaml").write_text(ROOT)
    (tmp_path / "other" / "acme").mkdir(parents=True)
    (tmp_path / "other" / marker).write_text(ROOT if marker == "dpsync.yaml" else "")
    (tmp_path / "other" / "acme" / "teams.yaml").write_text(PART)
    ended = run("validate", "-f", str(tmp_path / "dpsync.yaml"))
    assert (ended.code, "DP130" in ended.err) == (0, reported)
