"""Where a mistake can be made, which ones are drawn, and which lines go with a place."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from itertools import islice, pairwise, zip_longest
from pathlib import Path
from random import Random
from tokenize import COMMENT, NL, OP, generate_tokens
from typing import Any

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.plugins import get_operator, operator_names

LEFT_OUT = ("NoOp", "VariableReplacer", "VariableInserter", "Eq_Is", "NotEq_IsNot", "Is_Eq", "IsNot_NotEq")
ORDERS = tuple(f"_{was}_{now}" for was in ("Eq", "NotEq") for now in ("Lt", "LtE", "Gt", "GtE"))
"""In the place of a comparison with a word: the alphabet alone would say what that changes."""

Range = tuple[tuple[int, int], tuple[int, int]]
"""From a line and a column to another one."""


@dataclass(frozen=True)
class Mutant:
    file: str
    line: int
    operator: str
    occurrence: int


def sample(
    tree: Path, packages: Sequence[str], count: int, random: Random, operators: str = ""
) -> list[Mutant]:
    """As many mutants of each package, in an order by chance: one of each place, then another one of each.

    Only those of operators with a text in their names.
    """
    drawn = [
        [one for one in _drawn(tree, package, random) if operators in one.operator] for package in packages
    ]
    turns = (mutants for turn in zip_longest(*drawn) for mutants in turn if mutants is not None)
    return list(islice(turns, count))


def _drawn(tree: Path, package: str, random: Random) -> list[Mutant]:
    """Every mutant of a package; when there are no places left, another one of each."""
    places: list[list[Mutant]] = []
    for path in sorted((tree / package).rglob("*.py")):
        places += _places(path, str(path.relative_to(tree)))
    for mutants in places:
        random.shuffle(mutants)
    rounds: list[Mutant] = []
    for number in range(max(map(len, places), default=0)):
        there = [mutants[number] for mutants in places if number < len(mutants)]
        random.shuffle(there)
        rounds += there
    return rounds


def _places(path: Path, file: str) -> list[list[Mutant]]:
    source = path.read_text()
    tree = ast.parse(source)
    idle = [*_idle(tree)]
    words = [*_words(tree)]
    unpacking = _unpacking(source)
    nodes = list(ast_nodes(get_ast(source)))
    places: dict[Any, list[Mutant]] = {}
    for name in sorted(operator_names()):
        if name.endswith(LEFT_OUT):
            continue
        operator = get_operator(name)()
        positions = [position for node in nodes for position in operator.mutation_positions(node)]
        for occurrence, (start, stop) in enumerate(positions):
            if name.endswith(ORDERS) and _within(start, stop, words):
                continue
            if start not in unpacking and not _within(start, stop, idle):
                places.setdefault((start, stop), []).append(Mutant(file, start[0], name, occurrence))
    return list(places.values())


def _idle(tree: ast.AST) -> Iterator[Range]:
    """What nothing that runs depends on: annotations and what only a type checker imports, the size of a
    cache, the `strict` of what is equally long, and which one of a list of one is taken."""
    for node in ast.walk(tree):
        found = [getattr(node, "annotation", None), getattr(node, "returns", None)]
        match node:
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                found.append(node.test)
            case ast.Call(func=ast.Name(id="lru_cache")):
                found += node.args
            case ast.keyword(arg="strict"):
                found.append(node.value)
            case ast.If(test=test, body=[*ruled]) | ast.IfExp(test=test, body=ast.expr() as ruled):
                found += _only(test, ruled if isinstance(ruled, list) else [ruled])
            case ast.BoolOp(op=ast.And(), values=[test, *others]):
                found += _only(test, others)
        for one in found:
            if isinstance(one, ast.expr):
                yield _range(one)


def _only(test: ast.expr, ruled: Sequence[ast.AST]) -> Iterator[ast.expr]:
    """The number in `x[0]` where `len(x) == 1` is asked before."""
    asked = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
    single: set[str] = set()
    for one in asked:
        match one:
            case ast.Compare(
                left=ast.Call(func=ast.Name(id="len"), args=[of]),
                ops=[ast.Eq()],
                comparators=[ast.Constant(value=1)],
            ):
                single.add(ast.dump(of))
    for node in (one for root in ruled for one in ast.walk(root)):
        if isinstance(node, ast.Subscript) and ast.dump(node.value) in single:
            yield node.slice


def _words(tree: ast.AST) -> Iterator[Range]:
    """The comparisons with a text that is written there."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and any(
            isinstance(one, ast.Constant) and isinstance(one.value, str)
            for one in (node.left, *node.comparators)
        ):
            yield _range(node)


def _range(node: ast.expr) -> Range:
    return (node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0)


def _within(start: tuple[int, int], stop: tuple[int, int], ranges: Sequence[Range]) -> bool:
    return any(first <= start and stop <= last for first, last in ranges)


def _unpacking(source: str) -> set[tuple[int, int]]:
    """Where a star is no operator between two values."""
    tokens = [
        token for token in generate_tokens(StringIO(source).readline) if token.type not in (NL, COMMENT)
    ]
    return {
        token.start
        for before, token in pairwise(tokens)
        if token.string in ("*", "**") and before.type == OP and before.string not in (")", "]", "}")
    }


def statement(source: str, line: int) -> range:
    """The lines of the innermost statement there; of one with a body, those before the body.

    A `break` or `continue` often leaves no trace when it is run: it goes with the statement that it is in.
    """
    found = range(line, line + 1)
    narrowest = sys.maxsize
    tree = ast.parse(source)
    around = {inner: node for node in ast.walk(tree) for inner in ast.iter_child_nodes(node)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.stmt | ast.ExceptHandler):
            continue
        body = getattr(node, "body", None)
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
        if isinstance(node, ast.Break | ast.Continue):
            first = getattr(around[node], "lineno", first)
        last = max(node.lineno, body[0].lineno - 1) if body else (node.end_lineno or node.lineno)
        if first <= line <= last and last - first < narrowest:
            found, narrowest = range(first, last + 1), last - first
    return found


def function(source: str, line: int) -> range:
    """The lines of the innermost function there with its decorators, or only this one."""
    functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
    around = [
        range(min([node.lineno, *(d.lineno for d in node.decorator_list)]), (node.end_lineno or 0) + 1)
        for node in functions
    ]
    return min((lines for lines in around if line in lines), key=len, default=range(line, line + 1))


def is_run_by_an_import(source: str, line: int) -> bool:
    """Whether it is in no function's body. Only the first test that imports the module is noted there."""
    functions = (n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.FunctionDef))
    return not any(n.body[0].lineno <= line <= (n.end_lineno or 0) for n in functions)
