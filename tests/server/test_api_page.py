"""docs/api.md is up to date, and every operation has tests of its success and of its documented errors."""

from pathlib import Path

import api_page
import pytest

from dpsync.server.operation import Operation
from dpsync.server.operations import OPERATIONS

HERE = Path(__file__).parent
PAGE = HERE.parent.parent / "docs" / "api.md"
each = pytest.mark.parametrize("row", OPERATIONS, ids=lambda row: str(row.id))


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == api_page.page(), "run: make schemas"


def test_the_reference_is_served_whole() -> None:
    """Method, path and id of each; the names of the parameters too."""
    reference = {f"{row.method} {row.path} {row.id}" for row in OPERATIONS if row.profile == "reference"}
    listed = (HERE / "reference_operations.txt").read_text(encoding="utf-8").splitlines()
    assert len(listed) == 145
    assert reference == set(listed)


@each
def test_every_operation_has_a_test_of_its_success(row: Operation) -> None:
    assert api_page.tests().get((row.id, row.status)), "mark a test of it with covers()"


@each
def test_every_documented_error_has_a_test(row: Operation) -> None:
    assert [status for status in row.statuses() if not api_page.showing(row, status)] == []


@each
def test_every_error_that_an_operation_alone_has_is_shown_for_it(row: Operation) -> None:
    assert [status for status in row.errors if (row.id, status) not in api_page.tests()] == []
