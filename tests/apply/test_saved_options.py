"""A saved plan is made again with what it was made with."""

from __future__ import annotations

import pytest

from dpsync.apply.saved import Saved
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
def test_the_options_are_those_of_the_plan(made: dict[str, object], options: Options) -> None:
    plan = Plan().model_copy(update=made)
    assert Saved(digest=plan.digest, plan=plan).options == options
