"""Every promise links to tests; every test that is linked exists."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from .markdown import DOCS

PAGE = DOCS / "promises.md"
PROMISES = re.split(r"^(?=\d+\. )", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
LINK = re.compile(r"\[([^\]]+)\]\(([^)]+)\)")


@cache
def functions(file: Path) -> set[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("promise", PROMISES, ids=lambda text: text.split(".")[0])
def test_documented_promise_links_to_existing_tests(promise: str) -> None:
    links = LINK.findall(promise)
    assert links
    for name, target in links:
        file = (DOCS / target).resolve()
        assert name.startswith("test_")
        assert file.is_file(), target
        assert name in functions(file), f"{target}::{name}"


def test_documented_promises_are_numbered_consecutively() -> None:
    numbers = [int(promise.split(".")[0]) for promise in PROMISES]
    assert numbers == list(range(1, len(PROMISES) + 1))
