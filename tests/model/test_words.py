"""Words: numbers and their nouns by one function, and names that the field has for a thing."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from dpsync.model.texts.words import are, counted, listed, short_commit, some

SOURCE = Path(__file__).parents[2] / "dpsync"
FILES = [path for path in sorted(SOURCE.rglob("*.py")) if "server" not in path.parts]
# What follows a number and is no noun in the plural.
VERBS = {"is", "has", "was", "does", "goes", "names", "opens", "stands"}
# Constants of the code, all of them far from one.
LIMITS = re.compile(r"(self\.)?limits\.\w+|[A-Z_]+|len\(HEADINGS\)|self\.(least|most)")


@pytest.mark.parametrize(
    ("number", "noun", "text"),
    [
        (0, "thing", "0 things"),
        (1, "thing", "1 thing"),
        (2, "thing", "2 things"),
        (1, "entry", "1 entry"),
        (3, "entry", "3 entries"),
        (2, "key", "2 keys"),
        (1, "integration on a space", "1 integration on a space"),
        (2, "integration on a space", "2 integrations on a space"),
        (2, "customization of a site space", "2 customizations of a site space"),
    ],
)
def test_a_number_with_its_noun(number: int, noun: str, text: str) -> None:
    assert counted(number, noun) == text


def _plurals_after_numbers(tree: ast.AST) -> Iterator[str]:
    """Every `{number} things` of the f-strings, also with a word in between (`{number} live things`)."""
    for text in (node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)):
        for value, after in zip(text.values, text.values[1:], strict=False):
            if not isinstance(value, ast.FormattedValue) or not isinstance(after, ast.Constant):
                continue
            shown = ast.unparse(value.value)
            ending = re.match(r"s\b|((?: more| live| other)? [a-z]+s)\b", str(after.value))
            number = re.search(r"\b(len|sum)\(|count|number|total|deletes|requests|read\b|noun|word", shown)
            separated = value.format_spec is not None  # a number that needs it is not one
            if (
                ending
                and number
                and not (separated or ending[0].split()[-1] in VERBS or LIMITS.fullmatch(shown))
            ):
                yield f"{{{shown}}}{ending[0]}"


def test_of_many_names_a_sentence_has_three_or_as_many_as_it_wants_and_counts_the_rest() -> None:
    assert [some("abc"[:number]) for number in (1, 2, 3)] == ["a", "a, b", "a, b, c"]
    assert some("abcd") == "a, b, c and 1 more"
    assert some("abcd", 2) == "a, b and 2 more"
    assert [listed("abc"[:number]) for number in (1, 2, 3)] == ["a", "a and b", "a, b and c"]


def test_one_is_and_others_are() -> None:
    assert [are(number) for number in range(4)] == ["are", "is", "are", "are"]


def test_a_commit_is_told_by_twelve_digits() -> None:
    assert short_commit("0123456789abcdef") == "0123456789ab"


def _endings_of_their_own(tree: ast.AST) -> Iterator[str]:
    """Every `thing{'' if number == 1 else 's'}`, and functions that do the same."""
    for node in ast.walk(tree):
        if isinstance(node, ast.IfExp) and re.search(r"[!=]= 1\b", ast.unparse(node.test)):
            either = {ast.unparse(node.body), ast.unparse(node.orelse)}
            if "''" in either or any(text.endswith("s'") and text.strip("'") not in VERBS for text in either):
                yield ast.unparse(node)


def plurals_by_hand(path: Path) -> list[str]:
    tree = ast.parse(path.read_bytes())
    return [f"{path}: {made}" for made in (*_plurals_after_numbers(tree), *_endings_of_their_own(tree))]


def test_no_message_makes_a_plural_by_itself() -> None:
    paths = [path for path in FILES if path.name != "words.py"]
    assert [made for path in paths for made in plurals_by_hand(path)] == []


RIDDLES = {
    "near": "tie_breakers", "going": "to_delete", "doomed": "deletions", "gone": "missing, removed",
    "riders": "cascaded", "twins": "lookalikes", "alike": "lookalikes", "aside": "temporary_name, paused",
    "elsewhere": "transfers", "usual": "platform_default", "makes": "also_creates", "served": "for_profile",
    "within": "supported", "Book": "StepSet", "Draft": "StepDraft", "says": "summary", "told": "report",
    "shown": "display",
}  # fmt: skip
"""Names that say little, and words for what they stood for."""


def riddles(source: bytes) -> dict[str, str]:
    tokens = tokenize.tokenize(io.BytesIO(source).readline)
    names = {item.string for item in tokens if item.type == tokenize.NAME}
    return {name: RIDDLES[word] for name in names if (word := name.strip("_")) in RIDDLES}


def test_names_are_words_of_the_field() -> None:
    """One that stands in an f-string stands outside of one, too."""
    found = {str(path): riddles(path.read_bytes()) for path in SOURCE.rglob("*.py")}
    assert {path: names for path, names in found.items() if names} == {}


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("_gone = 1", {"_gone"}),
        ("def f(near): return near.told  # shown", {"near", "told"}),
        ("""x = 'says "near"' + f"{told}" + ''""", set()),
        ('''"""Says \\""" what is \n shown.""" + aside''', {"aside"}),
    ],
)
def test_such_a_name_is_found(source: str, names: set[str]) -> None:
    assert riddles(source.encode()).keys() == names


def test_a_class_has_a_name_of_its_own() -> None:
    places: dict[str, list[str]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.parse(path.read_bytes()).body:
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(str(path))
    assert {name: paths for name, paths in places.items() if len(paths) > 1} == {}
