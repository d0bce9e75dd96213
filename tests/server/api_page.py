"""Write docs/api.md (each operation's behavior and role) and docs/api-tests.md (its statuses and tests).

    python tests/server/api_page.py

The tests are found by their marks (covers.py), which hold because each mark is checked when its test runs.
"""

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from dpsync.server.operations import OPERATIONS_BY_PART
from dpsync.server.operations.profiles import REMOVED_IN_PUBLISHED
from dpsync.server.request.operation import Operation

HERE = Path(__file__).parent
DOCS = HERE.parent.parent / "docs"
SUCCEEDS = "test_companion_operations.py::test_every_operation_succeeds_with_its_status"
WORDS = {
    400: "invalid request",
    401: "no valid token",
    403: "forbidden",
    404: "not found",
    409: "conflict",
    412: "precondition failed",
    413: "body too long",
    415: "not JSON",
}

_API = """\
# Operations of the local server

The local GitBook server that dpsync contains ([companion](companion.md)) offers these API operations.
The local server can offer three [versions of GitBook's API](companion.md#api-versions): `reference` has the
operations of GitBook's older API reference, `full` has additional operations, and `published` has the
operations of GitBook's current API.

- Each path starts with `/v1`. Each request needs a bearer token. Without a valid token, the response is 401.
- "Behavior" describes what is special about the operation in the row. If the cell is empty,
  the operation follows GitBook's API description.
- "Role" is the role that the caller needs on the object in the path. "Viewer" means every caller who can view
  the object. Callers who cannot view the object get 404. "See behavior" means that the "behavior" cell says
  who can call the operation.
- Some operations work only if the space is not locked. If the space is locked (`editMode: locked`), these
  operations return 403.
- "API versions" lists the API versions that have the operation. In other API versions, the local server
  returns 404 for the operation, or 501 with `dpsync serve --profile reference`.
- A `DELETE` request for an object that does not exist returns 204, unless the "behavior" cell says otherwise.

The column "role" applies to the API versions `full` and `reference`. The API version `published`
has other access rules: see [who may do what](platforms.md#who-may-do-what).
"""

_TESTS = """\
# Tests of the local server's operations

To update this page, run `make schemas`. This page lists the statuses of each operation and the tests that
cover the statuses.
`tests/server/test_api_page.py` fails if an operation has no test of its success or of a documented error.
The mark `+` means that the API version `reference` lacks the operation. The mark `*` means that only the API
version `published` has the operation.

All operations return 401 without a valid token. Operations with a body return 400 for an invalid body, 413
for a body of more than 10 MiB, and 415 for a body that is not JSON.
"""


@cache
def tests() -> dict[tuple[str, int], list[str]]:
    """Test functions (`file::name`) by the operation and status that they are marked with."""
    found: dict[tuple[str, int], list[str]] = defaultdict(list)
    for path in sorted(HERE.glob("test_*.py")):
        for name, operation, statuses in _marks(ast.parse(path.read_text(encoding="utf-8"))):
            for status in statuses:
                found[operation, status].append(f"{path.name}::{name}")
    return found


def _marks(module: ast.Module) -> Iterator[tuple[str, str, list[int]]]:
    for function in ast.walk(module):
        if not isinstance(function, ast.FunctionDef):
            continue
        for mark in function.decorator_list:
            if not isinstance(mark, ast.Call) or not isinstance(mark.func, ast.Name):
                continue
            given = [argument.value for argument in mark.args if isinstance(argument, ast.Constant)]
            if mark.func.id == "covers":
                yield function.name, given[0], given[1:]
            elif mark.func.id == "covers_row":
                yield function.name, "*", given


def showing(row: Operation, status: int) -> list[str]:
    """Return the tests that show a status of an operation: its own, else those of all rows."""
    return tests().get((row.id, status)) or tests().get(("*", status), [])


def page() -> str:
    """Return docs/api.md: a table of operations for each part of the API."""
    lines = [_API]
    for title, rows in OPERATIONS_BY_PART:
        lines += [
            f"## {title}\n",
            "| operation | behavior | role | API versions |",
            "|---|---|---|---|",
            *map(_row, rows),
            "",
        ]
    return "\n".join(lines).rstrip() + "\n"


def tests_page() -> str:
    """Return docs/api-tests.md: the statuses of each operation with their tests."""
    lines = [_TESTS]
    for title, rows in OPERATIONS_BY_PART:
        lines += [f"## {title}\n", *(line for row in rows for line in _coverage(row))]
    return "\n".join(lines).rstrip() + "\n"


def _mark(row: Operation) -> str:
    return {"full": " +", "published": " \\*"}.get(row.profile, "")


def _row(row: Operation) -> str:
    special = row.required_role is None and 403 in row.error_statuses
    role = "see behavior" if special else f"`{row.required_role}`" if row.required_role else "viewer"
    unlocked = ", if the space is not locked" if row.edits_content else ""
    return f"| `{row.method} {row.path}` | {row.note} | {role}{unlocked} | {_versions(row)} |"


def _versions(row: Operation) -> str:
    """Return the names of the API versions that have an operation, or "all"."""
    versions = ["published"] if row.profile == "published" else ["full"]
    if row.profile == "reference":
        versions.insert(0, "reference")
    if row.profile != "published" and row.id not in REMOVED_IN_PUBLISHED:
        versions.append("published")
    return "all" if len(versions) == 3 else ", ".join(f"`{version}`" for version in versions)


def _coverage(row: Operation) -> Iterator[str]:
    yield f"### {row.id}{_mark(row)}\n"
    yield f"`{row.method} {row.path}`\n"
    successes = f"{row.status}, or 201 for a created object" if row.may_create else str(row.status)
    yield f"- Success: {successes}."
    own = [
        status
        for status in row.refusal_statuses()
        if (row.id, status) in tests() or status in row.error_statuses
    ]
    if own:
        yield "- Errors: " + ", ".join(f"{status} ({WORDS[status]})" for status in own) + "."
    yield f"- Tests: {', '.join(_named(row)) or f'`{SUCCEEDS}`'}.\n"


def _named(row: Operation) -> list[str]:
    found: dict[str, list[int]] = defaultdict(list)
    for status in (row.status, *row.refusal_statuses()):
        for test in tests().get((row.id, status), []):
            found[test].append(status)
    return [f"`{test}` ({', '.join(map(str, statuses))})" for test, statuses in found.items()]


PAGES = {"api.md": page, "api-tests.md": tests_page}

if __name__ == "__main__":
    for name, content in PAGES.items():
        (DOCS / name).write_text(content(), encoding="utf-8")
