"""Each promise has a mistake that breaks it, and each row of that list can be tried.

That these tests fail with the mistake is what `make promises` sees.
"""

from __future__ import annotations

import pytest

from tests.mutants.guards import without
from tests.mutants.promises import Broken, listed

from .markdown import DOCS, ROOT
from .test_promises import LINK, PROMISES

ROWS = list(listed((DOCS / "promise-mutants.md").read_text(encoding="utf-8")))


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_a_mistake_can_be_made_where_the_list_says_and_its_tests_are_those_of_the_promise(
    row: Broken,
) -> None:
    mistake = row.mistake
    compile(without((ROOT / mistake.file).read_text(encoding="utf-8"), mistake), mistake.file, "exec")
    proving = {
        f"{target.removeprefix('../')}::{name}" for name, target in LINK.findall(PROMISES[row.promise - 1])
    }
    assert mistake.tests
    assert set(mistake.tests) <= proving


def test_every_promise_has_a_mistake_that_breaks_it() -> None:
    assert {row.promise for row in ROWS} == set(range(1, len(PROMISES) + 1))
