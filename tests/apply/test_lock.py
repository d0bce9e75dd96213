"""Where locks lie, and what is said when there is no such place."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import pytest

from dpsync.apply.journal import LockedError, NoStateDirectoryError, lock_organizations, state_directory


@pytest.mark.parametrize(
    ("env", "directory"),
    [
        ({"XDG_STATE_HOME": "/somewhere"}, "/somewhere/dpsync"),
        ({"XDG_STATE_HOME": "relative"}, "/home/ada/.local/state/dpsync"),
        ({}, "/home/ada/.local/state/dpsync"),
    ],
)
def test_lock_directory_follows_environment(
    env: dict[str, str], directory: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise, locks lie wherever a command is started, and two applies run at once."""
    monkeypatch.setenv("HOME", "/home/ada")
    assert str(state_directory(env)) == directory


def test_missing_home_directory_error_names_home(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", homeless)
    with pytest.raises(NoStateDirectoryError, match="HOME"):
        state_directory({})


def test_organization_lock_is_taken_once_and_released(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    for _ in range(2):
        with lock_organizations("http://x", ["acme", "globex", "acme"]):
            for url, organization, taken in [("http://x", "globex", True), ("http://y", "globex", False)]:
                with (
                    pytest.raises(LockedError) if taken else nullcontext(),
                    lock_organizations(url, [organization]),
                ):
                    pass


def test_unwritable_lock_directory_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise, that no lock can be held is told as a mistake of dpsync's."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    (tmp_path / "dpsync").write_text("")
    with (
        pytest.raises(NoStateDirectoryError, match="dpsync cannot write a lock file in "),
        lock_organizations("http://x", ["acme"]),
    ):
        pass
