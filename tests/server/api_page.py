"""docs/api.md: every operation with its statuses, what was decided, and the tests that show it.

    python tests/server/api_page.py > docs/api.md

The tests are found by their marks (covers.py), which hold because each mark is checked when its test runs.
"""

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from dpsync.server.operations import OPERATIONS, PARTS, TODAY
from dpsync.server.request.operation import Operation

HERE = Path(__file__).parent
SUCCEEDS = "test_companion_operations.py::test_every_operation_succeeds_with_its_status"
WORDS = {
    400: "malformed or invalid",
    401: "no valid token",
    403: "may not be done",
    404: "not found, or not to be seen",
    409: "conflict",
    412: "not allowed as things are",
    413: "body too long",
    415: "not JSON",
}

_INTRODUCTION = """\
# The operations of the companion

Generated from the table of operations and from the marks of the tests: `make schemas` writes it anew, and a
test fails when an operation has no test of its success, or a documented error that no test shows.

{counts}

Each operation is under `/v1`, takes a bearer token, and needs its role on the innermost organization, space,
collection or site of its path; *anyone who may view it* means that what the caller may not view is not found.
`+` marks an addition to the platform's reference: with `--profile reference` it answers 501 and says so.
`*` marks what only `--profile published` serves: with the others nothing is at its path (404). The roles
and the behavior of locked spaces on this page apply to `full` and `reference`; [who may do
what](platforms.md#who-may-do-what) lists the differences with `published`.
Errors have the body `{{"error": {{"code", "message"}}}}`. All operations refuse a call without a valid token
(401). Those with a body refuse one that is malformed or invalid (400), longer than 10 MiB (413) or not JSON
(415). Every answer names the profile that is served, in `Dpsync-Profile`. Every answer to a GET that
succeeded names the world that is served, in `Dpsync-World` ([keeping state](companion.md#the-control-plane)).
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
    """The tests that show a status of an operation: its own, else those of all rows."""
    return tests().get((row.id, status)) or tests().get(("*", status), [])


def page() -> str:
    lines = [_INTRODUCTION.format(counts=_counts())]
    for title, rows in PARTS:
        lines += [f"## {title}\n", *(line for row in rows for line in _row(row))]
    return "\n".join(lines).rstrip() + "\n"


def _counts() -> str:
    reference = [row for row in OPERATIONS if row.profile == "reference"]
    added = len(OPERATIONS) - len(reference)
    return (
        f"All {len(reference)} operations of the platform's reference are served, {added} additions, and "
        f"{len(TODAY)} that today's edition has alone."
    )


def _row(row: Operation) -> Iterator[str]:
    added = {"full": " +", "published": " \\*"}.get(row.profile, "")
    yield f"### {row.id}{added}\n"
    yield f"`{row.method} {row.path}`\n"
    if row.decided:
        yield f"{row.decided}\n"
    needs = f"the role `{row.needs}`" if row.needs else "anyone who may view it"
    locked = " Not while the space is locked (403)." if row.edits else ""
    successes = f"{row.status}, or 201 when it made something" if row.creates else str(row.status)
    yield f"- For {needs}. Answers {successes}.{locked}"
    own = [status for status in row.statuses() if (row.id, status) in tests() or status in row.errors]
    if own:
        yield "- Refuses: " + ", ".join(f"{status} ({WORDS[status]})" for status in own) + "."
    yield f"- Tests: {', '.join(_named(row)) or f'`{SUCCEEDS}`'}.\n"


def _named(row: Operation) -> list[str]:
    found: dict[str, list[int]] = defaultdict(list)
    for status in (row.status, *row.statuses()):
        for test in tests().get((row.id, status), []):
            found[test].append(status)
    return [f"`{test}` ({', '.join(map(str, statuses))})" for test, statuses in found.items()]


if __name__ == "__main__":
    sys.stdout.write(page())
