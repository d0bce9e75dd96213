"""Checking a file with many mistakes takes time in proportion to its size, counted in lines of code run."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from tests.config.loading import loaded, organization

FILES: dict[str, Callable[[int], str]] = {
    "unknown keys of one entry": lambda n: organization(
        "teams:\n  a:\n    title: A\n" + "".join(f"    k{i}: 1\n" for i in range(n))
    ),
    "unknown keys with mappings": lambda n: organization(
        "teams:\n  a:\n    title: A\n" + "".join(f"    k{i}: {{}}\n" for i in range(n))
    ),
    "misspelt keys of many entries": lambda n: organization(
        "spaces:\n" + "".join(f"  s{i}: {{ titel: A }}\n" for i in range(n))
    ),
    "many references to one missing entry": lambda n: organization(
        "spaces:\n" + "".join(f"  s{i}: {{ title: A{i}, collection: nope }}\n" for i in range(n))
    ),
    "references to many missing entries": lambda n: organization(
        "spaces:\n" + "".join(f"  s{i}: {{ title: A{i}, collection: nope{i} }}\n" for i in range(n))
    ),
    "unknown values": lambda n: organization(
        "spaces:\n" + "".join(f"  s{i}: {{ title: A{i}, language: x{i} }}\n" for i in range(n))
    ),
    "patterns of the policy that match nothing": lambda n: organization(
        "teams: { a: { title: A } }",
        head="policy:\n  protect:\n" + "".join(f"    - acme/teamz/k{i}\n" for i in range(n)),
    ),
}


def lines_run(work: Callable[[], object]) -> int:
    count = 0

    def traced(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return traced

    before = sys.gettrace()
    sys.settrace(traced)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("mistakes", FILES)
def test_checking_effort_grows_linearly_with_mistakes(mistakes: str, tmp_path: Path) -> None:
    """A file of 1 MB with 100,000 unknown keys kept a checker busy for minutes."""
    make = FILES[mistakes]
    loaded(tmp_path, make(60))  # what is done once is done
    small, large = (lines_run(lambda size=size: loaded(tmp_path, make(size))) for size in (250, 1000))
    assert large <= 5 * small
