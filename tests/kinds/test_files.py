"""A kind is one short file, and nothing else knows its name."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import dpsync
from dpsync.kinds.registry import load

PACKAGE = Path(dpsync.__file__).parent
REGISTRY = load().whole
NAMES = set(REGISTRY.kinds)
APART = {PACKAGE / "kinds", PACKAGE / "server"}
BRIDGE = {
    *(PACKAGE / "rehearse" / f"{name}.py" for name in ("anonymous", "public", "replica", "world")),
    *(PACKAGE / "rehearse" / "answers").glob("*.py"),
}
"""They speak the words of answers and of the companion's worlds, some of which are names of kinds as well."""
HTTP = {"redirect"}
"""Words of HTTP, which the client speaks, that are names of kinds as well."""


@pytest.mark.parametrize("name", sorted(REGISTRY.kinds))
def test_a_kind_is_one_file_of_at_most_60_lines(name: str) -> None:
    lines = (PACKAGE / "kinds" / "declarations" / f"{name}.py").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 60
    assert max(map(len, lines)) <= 110


def modules() -> Iterator[Path]:
    for path in sorted(PACKAGE.rglob("*.py")):
        if not APART & set(path.parents) and path not in BRIDGE:
            yield path


def named_in(path: Path) -> list[str]:
    """Names of kinds that are a text of their own in it: that is how a kind would be told from others."""
    known = NAMES - HTTP if path.parent.name == "client" else NAMES
    texts = [node for node in ast.walk(ast.parse(path.read_bytes())) if isinstance(node, ast.Constant)]
    return [f"{path}:{node.lineno} {node.value}" for node in texts if node.value in known]


def test_no_other_module_names_a_kind() -> None:
    assert [named for path in modules() for named in named_in(path)] == []


def test_there_are_kinds_and_modules_to_look_at() -> None:
    assert len(NAMES) > 20
    assert len(list(modules())) > 50
