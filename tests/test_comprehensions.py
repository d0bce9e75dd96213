"""No comprehension makes a collection for each thing that is the same for all of them.

`[one for one in things if one not in some | others]` makes the union as often as there are things: that is
work for each pair of them, which no count of lines sees (tests/planner/test_growth.py), since C does it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import dpsync

Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


def made_anew(tree: ast.AST) -> list[str]:
    """What comprehensions make for each thing although it is the same for all: sets, lists, sorted things."""
    loops = [node for node in ast.walk(tree) if isinstance(node, Comprehension)]
    return [
        f"line {part.lineno}: {ast.unparse(part)}"
        for loop in loops
        for repeated in _repeated(loop)
        for part in _collections(repeated)
        if not (_names(part, ast.Load) - _names(part, ast.Store)) & _names(loop, ast.Store)
    ]


def _repeated(loop: Comprehension) -> Iterator[ast.expr]:
    yield from (loop.key, loop.value) if isinstance(loop, ast.DictComp) else (loop.elt,)
    yield from (condition for generator in loop.generators for condition in generator.ifs)
    yield from (generator.iter for generator in loop.generators[1:])


def _collections(node: ast.AST) -> Iterator[ast.expr]:
    match node:
        case ast.Call(func=ast.Name(id="isinstance")):
            return  # `int | str` is a type
        case ast.BinOp(op=ast.BitOr() | ast.BitAnd() | ast.Sub(), left=left, right=right):
            if not isinstance(left, ast.Constant) and not isinstance(right, ast.Constant):
                yield node
        case ast.Call(
            func=ast.Name(id="set" | "frozenset" | "list" | "tuple" | "dict" | "sorted"), args=[_, *_]
        ):
            yield node
        case (
            ast.ListComp()
            | ast.SetComp()
            | ast.DictComp()
            | ast.Set(elts=[ast.Starred(), *_])
            | ast.List(elts=[ast.Starred(), *_])
        ):
            yield node
    for child in ast.iter_child_nodes(node):
        yield from _collections(child)


def _names(node: ast.AST, use: type[ast.expr_context]) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, use)}


def test_nothing_is_made_for_each_thing_that_is_the_same_for_all() -> None:
    """The companion's answers are small, and their growth has tests of its own."""
    files = [path for path in Path(dpsync.__file__).parent.rglob("*.py") if "server" not in path.parts]
    found = {str(path): made_anew(ast.parse(path.read_text(encoding="utf-8"))) for path in files}
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


@pytest.mark.parametrize(
    ("code", "wrong"),
    [
        ("[one for one in things if one not in known.keys() | told]", ["line 1: known.keys() | told"]),
        ("{one: sorted(things) for one in things}", ["line 1: sorted(things)"]),
        ("[two for one in things for two in {*things}]", ["line 1: {*things}"]),
        ("[one for one in things if any(one in known for known in [two for two in told])]",
         ["line 1: [two for two in told]"]),
        ("[one for one in known.keys() | told if sorted(one) and one - told]", []),
        ("[one for one in things if isinstance(one, int | str) or 2 - two]", []),
    ],
)  # fmt: skip
def test_what_is_made_again_for_each_thing_is_found(code: str, wrong: list[str]) -> None:
    assert made_anew(ast.parse(code)) == wrong
