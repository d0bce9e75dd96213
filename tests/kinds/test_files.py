"""A kind is one short file, and nothing else knows its name."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import dpsync
from dpsync.kinds.registry import load

PACKAGE = Path(dpsync.__file__).parent
REGISTRY = load()
APART = {PACKAGE / "kinds", PACKAGE / "server", PACKAGE / "client"}
"""The client speaks HTTP, which has redirects of its own."""


@pytest.mark.parametrize("name", sorted(REGISTRY.kinds))
def test_a_kind_is_one_file_of_at_most_60_lines(name: str) -> None:
    lines = (PACKAGE / "kinds" / f"{name}.py").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 60
    assert max(map(len, lines)) <= 110


def modules() -> Iterator[Path]:
    for path in sorted(PACKAGE.rglob("*.py")):
        if not APART & set(path.parents):
            yield path


@pytest.mark.parametrize("path", list(modules()), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_other_module_names_a_kind(path: Path) -> None:
    """As a text of its own: that is how a kind would be told from others."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    assert texts & set(REGISTRY.kinds) == set()
