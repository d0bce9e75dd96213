"""Each promise has a mistake that breaks it; `make promises` shows that its tests notice the mistake."""

from __future__ import annotations

from pkgutil import resolve_name

import pytest

from tests.mutants.breaking import replacement
from tests.mutants.promises import Broken, listed

from .markdown import DOCS
from .test_promises import LINK, PROMISES

ROWS = list(listed((DOCS / "promise-mutants.md").read_text(encoding="utf-8")))


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_promise_mutant_refers_to_existing_code_and_tests(row: Broken) -> None:
    assert resolve_name(row.symbol) is not None
    assert replacement(row.replacement) is not None
    tests = {
        f"{target.removeprefix('../')}::{name}" for name, target in LINK.findall(PROMISES[row.promise - 1])
    }
    assert row.tests
    assert set(row.tests) <= tests


def test_every_documented_promise_has_a_mutant() -> None:
    assert {row.promise for row in ROWS} == set(range(1, len(PROMISES) + 1))
