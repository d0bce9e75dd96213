"""What one stage hands to the next cannot be changed by it."""

from __future__ import annotations

import ast
import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from dpsync import apply, identity, planner

GROWS = {
    "apply._Place", "identity.ByLine", "identity.EntryCandidates", "identity.Matching",
    "identity.Renames", "planner._FlagPlace",
}  # fmt: skip
"""What is filled while a stage works, by package."""


def data() -> Iterator[tuple[str, type[Struct]]]:
    for package in (apply, identity, planner):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            for found in vars(importlib.import_module(module.name)).values():
                if isinstance(found, type) and issubclass(found, Struct) and found.__module__ == module.name:
                    yield package.__name__.removeprefix("dpsync."), found


def test_all_data_but_what_grows_is_frozen() -> None:
    found = {f"{package}.{one.__name__}" for package, one in data() if not one.__struct_config__.frozen}
    assert found == GROWS


STAGES = Path(planner.__file__).parent
COLLECT = {"Blocker", "CouldBe", "Exclusive"}
"""Classes that fill something while they work and are not private to their module."""
MEMOS = {
    "Around._known", "Causes._past", "Causes._places", "FormerNames._commits", "FormerNames._known",
    "Names._unmanaged", "Nesting._known",
}  # fmt: skip
"""What was worked out once; it says what working it out again would say."""
MUTATORS = {
    "add", "append", "clear", "discard", "extend", "insert", "pop", "popitem", "remove", "setdefault", "sort",
    "update",
}  # fmt: skip


def attribute(node: ast.AST) -> str | None:
    """The name of the attribute that is written where this is assigned to or mutated, if it is one."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node.attr if isinstance(node, ast.Attribute) else None


def written(node: ast.AST) -> Iterator[str]:
    """The names of the attributes that are written in a class or function, but for a constructor."""
    for part in ast.iter_child_nodes(node):
        targets: list[ast.AST] = []
        if isinstance(part, ast.FunctionDef) and part.name == "__init__":
            continue
        if isinstance(part, ast.Assign):
            targets = [*part.targets]
        elif isinstance(part, (ast.AugAssign, ast.AnnAssign)):
            targets = [part.target]
        elif isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute):
            # `requests.update(…)` makes a step and writes nothing.
            own = attribute(part.func.value) != "requests"
            targets = [part.func.value] if part.func.attr in MUTATORS and own else []
        yield from (name for name in map(attribute, targets) if name is not None)
        yield from written(part)


def test_a_stage_writes_to_no_value_but_to_what_it_is_just_making() -> None:
    found = set()
    for path in STAGES.rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        assert "__setattr__" not in source, path
        assert "force_setattr" not in source, path
        for node in ast.parse(source).body:
            name = getattr(node, "name", path.stem)
            if not name.startswith("_"):
                found |= {f"{name}.{attr}" for attr in written(node)}
    assert {one for one in found if one.partition(".")[0] not in COLLECT} == MEMOS
    assert {one.partition(".")[0] for one in found} >= COLLECT
