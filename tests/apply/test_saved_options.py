"""A saved plan is made again with what it was made with."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dpsync.apply import saved_plan
from dpsync.apply.saved_plan import options_of
from dpsync.model.diagnostic import DiagnosticError
from dpsync.model.plan import Part, Plan
from dpsync.planner.sides import Options


@pytest.mark.parametrize(
    ("made", "options"),
    [
        ({}, Options()),
        ({"confirmed": ("delete 12",), "deleting": False}, Options(("delete 12",), False)),
        (
            {"part": Part(select=("teams",), exclude=("teams/a",))},
            Options(select=("teams",), exclude=("teams/a",)),
        ),
    ],
)
def test_saved_plan_restores_its_options(made: dict[str, object], options: Options) -> None:
    plan = Plan().model_copy(update=made)
    assert options_of(plan) == options


def test_oversized_saved_plan_is_refused_with_limit(tmp_path: Path) -> None:
    """Otherwise, a file of any size is read into memory."""
    path = tmp_path / "plan.json"
    path.touch()
    for length, words in [
        (100_000_001, "the file has more than 100 MB"),
        (100_000_000, "the file is not a complete saved plan"),
    ]:
        os.truncate(path, length)  # it takes no room on the disk
        with pytest.raises(DiagnosticError) as found:
            saved_plan.read_saved_plan(path)
        assert words in found.value.diagnostics[0].message


@pytest.mark.parametrize(
    ("found", "name"),
    [
        (b'{"format": "dpsync.plan/1"}', "dpsync.plan/1"),
        (b'{"format": "dpsync.saved-plan/12"}', "dpsync.saved-plan/12"),
        (b'{"format": "other.plan/1"}', None),
        (b'{"format": "dpsync.plan/1 "}', None),
        (b'{"format": "dpsync.plan/1234567"}', None),
        (b'{"format": 1}', None),
        (b'{"format": null}', None),
        (b"{}", None),
        (b"[]", None),
        (b"{", None),
    ],
)
def test_document_format_is_read_from_first_bytes(found: bytes, name: str | None) -> None:
    assert saved_plan.format_name(found) == name
