"""Each promise of docs/promises.md broken on purpose: do the tests that prove it fail? `make promises`.

docs/promise-mutants.md is the list. A heading is a promise; a row below it has a function, a text of it, what
takes its place, what is true then instead of the promise, and tests of that promise. Each of them must fail
with that, and pass without it.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .collected import Collected
from .guards import Guard, is_seen
from .tree import ROOT, copied

PAGE = "docs/promise-mutants.md"
_HEADING = re.compile(r"### (\d+)\. .+")
_ROW = re.compile(r"\| `([\w/]+\.py)` `([\w.]+)` \| `(.+?)` → (`.+?`|nothing) \| (.+?) \| (.+) \|")
_TEST = re.compile(r"\[(\w+)\]\(\.\./(tests/[\w/]+\.py)\)")


@dataclass(frozen=True)
class Broken:
    """One mistake that breaks one promise."""

    promise: int
    mistake: Guard

    def __str__(self) -> str:
        return f"{self.promise}: {self.mistake}"


def listed(page: str) -> Iterator[Broken]:
    """The mistakes of the page's tables. Raises ValueError for a row that says none."""
    promise = 0
    for line in page.splitlines():
        if heading := _HEADING.fullmatch(line):
            promise = int(heading[1])
        elif promise and line.startswith("| `"):
            row = _ROW.fullmatch(line)
            if row is None:
                raise ValueError(f"no mistake with its place, what is true then, and tests: {line}")
            file, function, text, mistake, then, tests = (part.replace("\\|", "|") for part in row.groups())
            mistake = "" if mistake == "nothing" else mistake.strip("`")
            found = tuple(f"{path}::{name}" for name, path in _TEST.findall(tests))
            yield Broken(promise, Guard(file, function, text, mistake, then, found))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("promises", nargs="*", type=int, help="only these promises")
    parser.add_argument("--root", type=Path, default=ROOT, help="the tree to copy")
    options = parser.parse_args()
    root, numbers = options.root.resolve(), options.promises
    chosen = [
        one
        for one in listed((root / PAGE).read_text(encoding="utf-8"))
        if not numbers or one.promise in numbers
    ]
    with copied(root) as tree:
        files = sorted({test.partition("::")[0] for one in chosen for test in one.mistake.tests})
        with Collected(tree, files) as collected:
            kept = [one for one in chosen if not is_seen(tree, collected, one.mistake)]
    for one in kept:
        print(f"promise {one}")
    print(f"{len(chosen)} mistakes, each of which breaks a promise: {len(kept)} not seen by its tests")
    sys.exit(bool(kept))


if __name__ == "__main__":
    main()
