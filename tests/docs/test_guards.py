"""Each row of the list of guards holds: the function has the text, the mistake is Python, the tests exist.

That these tests fail without the guard is what `make guards` sees.
"""

from __future__ import annotations

import pytest

from tests.mutants.guards import Guard, listed, without

from .markdown import DOCS, ROOT
from .test_promises import functions

GUARDS = list(listed((DOCS / "guards.md").read_text(encoding="utf-8")))


@pytest.mark.parametrize("guard", GUARDS, ids=str)
def test_a_guard_stands_where_the_list_says_and_its_tests_exist(guard: Guard) -> None:
    compile(without((ROOT / guard.file).read_text(encoding="utf-8"), guard), guard.file, "exec")
    assert guard.tests
    for test in guard.tests:
        file, _, name = test.partition("::")
        assert name in functions(ROOT / file), test


def test_no_guard_is_listed_twice() -> None:
    assert len({(guard.file, guard.function, guard.text, guard.mistake) for guard in GUARDS}) == len(GUARDS)
