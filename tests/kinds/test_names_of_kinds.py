"""The registry is the only dispatcher: no module outside of the kinds and the companion has a kind's name."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from dpsync.api import load_registry

PACKAGE = Path(__file__).parents[2] / "dpsync"
NAMES = {kind.name for kind in load_registry().ordered}
HTTP = {"redirect"}
"""Words of HTTP, which the client speaks, that are names of kinds as well."""

MODULES = [
    path
    for path in sorted(PACKAGE.rglob("*.py"))
    if path.relative_to(PACKAGE).parts[0] not in ("kinds", "server")
]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_names_no_kind(path: Path) -> None:
    known = NAMES - HTTP if path.parent.name == "client" else NAMES
    texts = [
        node
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant)
    ]
    assert [(node.lineno, node.value) for node in texts if node.value in known] == []


def test_there_are_kinds_and_modules_to_look_at() -> None:
    assert len(NAMES) > 20
    assert len(MODULES) > 50
