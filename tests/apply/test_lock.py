"""Where locks lie, and what is said when there is no such place."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpsync.apply.lock import NoState, state_directory


@pytest.mark.parametrize(
    ("env", "directory"),
    [
        ({"XDG_STATE_HOME": "/somewhere"}, "/somewhere/dpsync"),
        ({"XDG_STATE_HOME": "relative"}, "/home/ada/.local/state/dpsync"),
        ({}, "/home/ada/.local/state/dpsync"),
    ],
)
def test_the_directory_of_the_user(
    env: dict[str, str], directory: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    assert str(state_directory(env)) == directory


def test_without_a_home_it_is_said_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", homeless)
    with pytest.raises(NoState, match="HOME"):
        state_directory({})
