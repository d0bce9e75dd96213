"""All that is refused stands on one page; the rules fill in each of its words, and no others."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest

import dpsync
from dpsync.model import refusals
from dpsync.model.refusals import ALL_REFUSALS, RefusalTemplate

SOURCE = Path(dpsync.__file__).parent
NAMES = {name: value for name, value in vars(refusals).items() if isinstance(value, RefusalTemplate)}
OURS = {"address", "answers", "candidates", "span"}
"""What is not a word of a text."""


def words(item: RefusalTemplate) -> set[str]:
    texts = item.code + item.message + item.way_out
    return {name for _, name, _, _ in Formatter().parse(texts) if name}


def calls() -> Iterator[tuple[str, set[str]]]:
    """Each refusal that a rule makes by its name, with what the rule says of it."""
    for path in SOURCE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if "model.refusals" not in text and "import refusals" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                name = ast.unparse(node.func.value).rpartition(".")[2]
                if node.func.attr in ("refusal", "diagnostic") and name in NAMES:
                    yield name, {str(word.arg) for word in node.keywords}


def test_refusal_rules_fill_all_placeholders() -> None:
    found = [(name, said - OURS) for name, said in calls()]
    assert [(name, filled) for name, filled in found if filled != words(NAMES[name])] == []
    # The planner chooses between the first two; the words of CONTENT and LIMITS fill one refusal.
    assert NAMES.keys() - {name for name, _ in found} == {"STAYS_HIDDEN", "CANNOT_HIDE", "CONTENT", "LIMITS"}


def test_refusal_suggesting_an_answer_contains_answer_data() -> None:
    assert [name for name, said in calls() if "answer" in said and "answers" not in said] == []


@pytest.mark.parametrize("item", ALL_REFUSALS, ids=lambda item: item.message[:30])
def test_refusal_code_has_one_reason_and_exit(item: RefusalTemplate) -> None:
    same = {(other.reason, other.exit) for other in ALL_REFUSALS if other.code == item.code}
    assert len(same) == 1
