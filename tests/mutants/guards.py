"""Each guard of docs/guards.md without it: does the test that the list names fail? `make guards`.

The page is the list. A heading is a module; a row below it has the function, the text of the guard, what
takes its place, the harm, and the tests. Each of them must fail with that, and pass without it.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .collected import Collected
from .tree import ROOT, copied
from .trial import Trial

PAGE = "docs/guards.md"
SECONDS = 60.0
"""Of CPU for the tests of one guard."""
_MODULE = re.compile(r"### `([\w/]+\.py)`")
_ROW = re.compile(r"\| `([\w.]+)` \| `(.+?)` → (`.+?`|nothing) \| (.+?) \| (.+) \|")
_TEST = re.compile(r"\[(\w+)\]\(\.\./(tests/[\w/]+\.py)\)")


@dataclass(frozen=True)
class Guard:
    """One guard with the mistake that takes it away."""

    file: str
    function: str
    """With the classes around it: "Along.unchanged"."""
    text: str
    mistake: str
    """The text in its place."""
    harm: str
    tests: tuple[str, ...]
    """Of which each must fail then: "tests/identity/test_match.py::test_who_is_who"."""

    def __str__(self) -> str:
        return f"{self.file} {self.function}: {self.text} → {self.mistake}"


def listed(page: str) -> Iterator[Guard]:
    """The guards of the page's tables. Raises ValueError for a row that says no guard."""
    file = None
    for line in page.splitlines():
        if heading := _MODULE.fullmatch(line):
            file = heading[1]
        elif line.startswith("#"):
            file = None
        elif file is not None and line.startswith("| `"):
            row = _ROW.fullmatch(line)
            if row is None:
                raise ValueError(f"no guard with its mistake, harm and tests: {line}")
            function, text, mistake, harm, tests = (part.replace("\\|", "|") for part in row.groups())
            mistake = "" if mistake == "nothing" else mistake.strip("`")
            found = tuple(f"{path}::{name}" for name, path in _TEST.findall(tests))
            yield Guard(file, function, text, mistake, harm, found)


def without(source: str, guard: Guard) -> str:
    """The text of a module without a guard. Spaces and line ends count as one space.

    Raises ValueError where the function has no such text, or several.
    """
    start, end = _span(source, guard)
    words = r"\s+".join(map(re.escape, guard.text.split()))
    hits = [hit for hit in re.finditer(words, source) if start <= hit.start() and hit.end() <= end]
    if len(hits) != 1:
        raise ValueError(f"{len(hits)} times instead of once: {guard}")
    return source[: hits[0].start()] + guard.mistake + source[hits[0].end() :]


_NAMED = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def _span(source: str, guard: Guard) -> tuple[int, int]:
    """Where a function begins and ends in the text of its module."""
    node: ast.AST = ast.parse(source)
    for name in guard.function.split("."):
        inside = (one for one in ast.walk(node) if isinstance(one, _NAMED))
        found = next((one for one in inside if one.name == name and one is not node), None)
        if found is None:
            raise ValueError(f"there is no {guard.function} in {guard.file}")
        node = found
    assert isinstance(node, _NAMED)
    lines = source.splitlines(keepends=True)
    return len("".join(lines[: node.lineno - 1])), len("".join(lines[: node.end_lineno]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("words", nargs="*", help="only guards with one of these texts in module or function")
    parser.add_argument("--root", type=Path, default=ROOT, help="the tree to copy")
    options = parser.parse_args()
    root, words = options.root.resolve(), options.words
    guards = [
        guard
        for guard in listed((root / PAGE).read_text(encoding="utf-8"))
        if not words or any(word in f"{guard.file} {guard.function}" for word in words)
    ]
    with copied(root) as tree:
        files = sorted({test.partition("::")[0] for guard in guards for test in guard.tests})
        with Collected(tree, files) as collected:
            unseen = [guard for guard in guards if not is_seen(tree, collected, guard)]
    print(f"{len(guards)} guards, each taken away: {len(unseen)} not seen by a test that the list names")
    sys.exit(bool(unseen))


def is_seen(tree: Path, collected: Collected, guard: Guard) -> bool:
    """Whether each of its tests fails without it."""
    changed = without((tree / guard.file).read_text(encoding="utf-8"), guard)
    trial = Trial(tree, collected, guard.file, changed, SECONDS)
    alive = [test for test in guard.tests if trial.in_memory([test], outside=False)[0] != "killed"]
    for test in alive:
        print(f"not seen by {test}: {guard}")
    sys.stdout.flush()
    return not alive and bool(guard.tests)


if __name__ == "__main__":
    main()
