"""Values do not change: whoever was given one may keep it, compare it and use it as a key.

A class may be changed where the code of its module does so: it assigns a field, or a field is a container
that it fills.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

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


def changed(one: type[Any]) -> bool:
    """Whether the code of its module changes one."""
    code = ast.walk(ast.parse(inspect.getsource(sys.modules[one.__module__])))
    attributes = (node for node in code if isinstance(node, ast.Attribute))
    assigned = {node.attr for node in attributes if isinstance(node.ctx, ast.Store)}
    fields = one.__annotations__
    return not assigned.isdisjoint(fields) or any(FILLED.match(said) for said in fields.values())


def test_what_nothing_changes_is_frozen() -> None:
    found = [one for one in classes() if changeable(one) and not changed(one)]
    assert [one.__qualname__ for one in found if one.__name__ not in ELSEWHERE] == []
