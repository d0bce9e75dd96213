"""What one stage hands to the next cannot be changed by it."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

from msgspec import Struct

from dpsync import apply, identity, planner

GROWS = {
    "apply._WriteTarget", "identity.LineMatches", "identity.EntryCandidates", "identity.MatchResult",
    "identity.RenameMatches", "planner._FlagGroup",
}  # fmt: skip
"""What is filled while a stage works, by package."""


def data() -> Iterator[tuple[str, type[Struct]]]:
    for package in (apply, identity, planner):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            for found in vars(importlib.import_module(module.name)).values():
                if isinstance(found, type) and issubclass(found, Struct) and found.__module__ == module.name:
                    yield package.__name__.removeprefix("dpsync."), found


def test_planner_data_classes_are_frozen_except_listed_ones() -> None:
    found = {f"{package}.{one.__name__}" for package, one in data() if not one.__struct_config__.frozen}
    assert found == GROWS
