"""docs/api.md and docs/api-tests.md are up to date. Every operation has tests of success and of errors."""

from pathlib import Path

import api_page
import pytest

from dpsync.server.operations import ALL_OPERATIONS
from dpsync.server.operations.profiles import operations_of_profile

HERE = Path(__file__).parent


@pytest.mark.parametrize("name", api_page.PAGES)
def test_generated_api_pages_are_up_to_date(name: str) -> None:
    content = api_page.PAGES[name]()
    assert (api_page.DOCS / name).read_text(encoding="utf-8") == content, "run: make schemas"


def test_api_page_lists_api_versions_of_each_operation() -> None:
    """Without the list, readers would call operations that return 404 or 501."""
    lines = (api_page.DOCS / "api.md").read_text(encoding="utf-8").splitlines()
    cells = {
        line.split("`")[1]: line.split(" | ")[-1].rstrip("| ") for line in lines if line.startswith("| `")
    }
    offered = {
        "`reference`": {f"{row.method} {row.path}" for row in ALL_OPERATIONS if row.profile == "reference"},
        "`full`": {f"{row.method} {row.path}" for row in operations_of_profile(ALL_OPERATIONS, "full")},
        "`published`": {
            f"{row.method} {row.path}" for row in operations_of_profile(ALL_OPERATIONS, "published")
        },
    }
    assert set(cells) == set().union(*offered.values())
    for operation, cell in cells.items():
        versions = [version for version, operations in offered.items() if operation in operations]
        assert cell == ("all" if len(versions) == 3 else ", ".join(versions)), operation


def test_reference_api_version_contains_all_145_operations() -> None:
    """Method, path and id of each; the names of the parameters too."""
    reference = {f"{row.method} {row.path} {row.id}" for row in ALL_OPERATIONS if row.profile == "reference"}
    listed = (HERE / "reference_operations.txt").read_text(encoding="utf-8").splitlines()
    assert len(listed) == 145
    assert reference == set(listed)


def test_every_operation_has_a_success_test() -> None:
    """What is missing is marked at a test of it, with covers()."""
    tests = api_page.tests()
    assert [row.id for row in ALL_OPERATIONS if not tests.get((row.id, row.status))] == []


def test_every_documented_error_has_a_test() -> None:
    errors = [(row, status) for row in ALL_OPERATIONS for status in row.refusal_statuses()]
    assert [(row.id, status) for row, status in errors if not api_page.showing(row, status)] == []


def test_every_operation_specific_error_has_a_test() -> None:
    tests = api_page.tests()
    errors = [(row.id, status) for row in ALL_OPERATIONS for status in row.error_statuses]
    assert [error for error in errors if error not in tests] == []
