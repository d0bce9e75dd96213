"""A file of more than 300 lines says at its head why it is a long one."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import dpsync

MOST = 300
WHY = re.compile(r"\b(a long(?: one| file)|(?:is )?long because|as long as)\b", re.IGNORECASE)


def test_a_long_file_says_why() -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in Path(dpsync.__file__).parent.rglob("*.py")}
    long = {path: ast.parse(text) for path, text in texts.items() if text.count("\n") > MOST}
    heads = {path: " ".join((ast.get_docstring(tree) or "").split()) for path, tree in long.items()}
    assert [path for path, head in heads.items() if not WHY.search(head)] == []
