"""Files as they are to become, in front of those on the disk: read like them."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpsync.config.discovery import DiskFiles, StagedFiles


@pytest.mark.parametrize("name", ["written.yaml", "there.yaml"])
def test_pending_file_read_stops_after_size_limit(tmp_path: Path, name: str) -> None:
    (tmp_path / "there.yaml").write_bytes(b"0123456789")
    files = StagedFiles(DiskFiles(tmp_path / "dpsync.yaml"), {"written.yaml": b"0123456789"})
    assert [len(files.read(name, limit)) for limit in (3, 9, 10, 11)] == [4, 10, 10, 10]


def test_pending_file_text_takes_precedence_over_disk(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(b"old")
    assert StagedFiles(DiskFiles(tmp_path / "dpsync.yaml"), {"a.yaml": b"new"}).read("a.yaml", 9) == b"new"
