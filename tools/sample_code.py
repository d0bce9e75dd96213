"""Print random functions, modules and test names, for somebody to read cold.

    python -m tools.sample_code --seed 7

A function is printed whole, with its class; a module as its docstring and its public names; a test as its
file and its name. Ask a reader who has never seen dpsync to say of each, in one sentence, what it does or
shows, and to mark those that needed a second reading.
"""

from __future__ import annotations

import argparse
import ast
import random
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
FEWEST_LINES: Final = 4
"""A function with fewer lines is not sampled: most of these are properties that say all in their name."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions(path: Path) -> Iterator[str]:
    """Yield the source of each function of a module, below the name of its file and its class."""
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    owners = {child: node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) for child in node.body}
    for node in [*tree.body, *owners]:
        if not isinstance(node, Function) or node.end_lineno is None:
            continue
        if node.end_lineno - node.lineno + 1 < FEWEST_LINES:
            continue
        start = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        body = textwrap.dedent("\n".join(source.splitlines()[start - 1 : node.end_lineno]))
        owner = owners.get(node)
        yield f"{path.relative_to(ROOT)}{f', class {owner.name}' if owner else ''}\n{body}"


def module(path: Path) -> str:
    """Return what a module shows first: its docstring, and its public classes and functions."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    lines = [str(path.relative_to(ROOT)), ast.get_docstring(tree) or "(no docstring)"]
    for node in tree.body:
        if isinstance(node, (Function, ast.ClassDef)) and not node.name.startswith("_"):
            word = "class" if isinstance(node, ast.ClassDef) else "def"
            summary = (ast.get_docstring(node) or "").partition("\n")[0]
            lines.append(f"  {word} {node.name}: {summary}")
    return "\n".join(lines)


def test_names(path: Path) -> Iterator[str]:
    """Yield `file::name` for each test of a file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, Function) and node.name.startswith("test_"):
            yield f"{path.relative_to(ROOT)}::{node.name}"


def main() -> None:
    """Print the sample of the seed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--functions", type=int, default=60)
    parser.add_argument("--modules", type=int, default=20)
    parser.add_argument("--tests", type=int, default=40)
    options = parser.parse_args()
    pick = random.Random(options.seed)  # noqa: S311 (a sample, no secret)
    product = sorted((ROOT / "dpsync").rglob("*.py"))
    modules = [path for path in product if len(path.read_text(encoding="utf-8").splitlines()) > FEWEST_LINES]
    groups = {
        "FUNCTIONS": pick.sample([text for path in product for text in functions(path)], options.functions),
        "MODULES": [module(path) for path in pick.sample(modules, options.modules)],
        "TESTS": pick.sample(
            [name for path in sorted((ROOT / "tests").rglob("*.py")) for name in test_names(path)],
            options.tests,
        ),
    }
    for title, texts in groups.items():
        print(f"# {title}, seed {options.seed}\n")
        for number, text in enumerate(texts, 1):
            print(f"[{title[0]}{number}] {text}\n")


if __name__ == "__main__":
    main()
