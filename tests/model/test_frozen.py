"""Values do not change: whoever was given one may keep it, compare it and use it as a key.

A class may be changed where the code of its module does so: it assigns a field, or a field is a container
that it fills.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

from pydantic import BaseModel

import dpsync

ELSEWHERE = {"ActionRun"}
"""Of a run that a comment has asked for, what GitHub says of it is known only later."""
FILLED = re.compile(r"(list|dict|set|defaultdict|Counter|deque)\[")


def classes() -> Iterator[type[Any]]:
    for module in walk_packages(dpsync.__path__, "dpsync."):
        if module.name.endswith("__main__") or module.name.startswith("dpsync.server"):
            continue
        found = vars(import_module(module.name)).values()
        yield from (one for one in found if isinstance(one, type) and one.__module__ == module.name)


def changeable(one: type[Any]) -> bool:
    """Whether Python lets its fields be assigned. What is no struct has no fields."""
    return hasattr(one, "__struct_config__") and not one.__struct_config__.frozen


ASSIGNED = re.compile(r"\.(\w+)(?:, [\w.]+)* (?:[-+*|&]|//)?= ")


def changed(one: type[Any]) -> bool:
    """Whether the code of its module changes one."""
    assigned = {*ASSIGNED.findall(inspect.getsource(sys.modules[one.__module__]))}
    fields = one.__annotations__
    return not assigned.isdisjoint(fields) or any(FILLED.match(said) for said in fields.values())


CLASSES = [*classes()]


def test_what_nothing_changes_is_frozen() -> None:
    found = [one for one in CLASSES if changeable(one) and not changed(one)]
    assert [one.__qualname__ for one in found if one.__name__ not in ELSEWHERE] == []


def test_what_is_printed_or_saved_is_frozen_and_has_no_member_that_is_not_declared() -> None:
    models = [one for one in CLASSES if issubclass(one, BaseModel)]
    assert len(models) > 30
    said = {(one.model_config.get("frozen"), one.model_config.get("extra")) for one in models}
    assert said == {(True, "forbid")}
