"""Checking effort, counted in executed lines of code, grows in proportion to the size of a faulty file."""

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


def count_executed_lines(work: Callable[[], object]) -> int:
    count = 0

    def traced(_frame: FrameType, event: str, _argument: Any) -> Any:
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
def test_validation_time_grows_linearly_with_number_of_mistakes(mistakes: str, tmp_path: Path) -> None:
    """Checking a 1 MB file with 100,000 unknown keys once took minutes."""
    make = FILES[mistakes]
    loaded(tmp_path, make(60))  # warm up: fill caches
    small, large = (
        count_executed_lines(lambda size=size: loaded(tmp_path, make(size))) for size in (250, 1000)
    )
    assert large <= 5 * small
