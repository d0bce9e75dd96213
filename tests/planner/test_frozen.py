"""What one stage hands to the next cannot be changed by it."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from dataclasses import is_dataclass

from dpsync import apply, identity, planner

GROWS = {
    "apply.fresh._Place", "identity.candidates.Candidates", "identity.candidates.Entry",
    "identity.match.Matching", "identity.recorded.ByLine", "identity.renames.Renames",
    "identity.renames._Settling", "planner.cascade.Cascade", "planner.could_be.CouldBe",
    "planner.could_be.Open", "planner.deletions.Deletions", "planner.edits._Comparison",
    "planner.exclusive._Place", "planner.listing.Listing", "planner.nesting.Nesting",
    "planner.stepset.StepSet", "planner.unique._Rename",
}  # fmt: skip
"""What is filled while a stage works, by module."""


def data() -> Iterator[type]:
    for package in (apply, identity, planner):
        for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            for found in vars(importlib.import_module(module.name)).values():
                if isinstance(found, type) and is_dataclass(found) and found.__module__ == module.name:
                    yield found


def test_all_data_but_what_grows_is_frozen() -> None:
    found = {
        f"{one.__module__.removeprefix('dpsync.')}.{one.__name__}"
        for one in data()
        if not one.__dataclass_params__.frozen  # type: ignore[attr-defined]
    }
    assert found == GROWS
