"""Where git has left a conflict in a file of lines, and the two texts that it was merged from."""

from __future__ import annotations

import pytest

from dpsync.config.ids_file import find_conflict_markers, split_conflict

OURS, BASE, BETWEEN, THEIRS = "<<<<<<< HEAD", "||||||| 1a2b", "=======", ">>>>>>> topic"


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (["a: 1"], []),
        (["a: 1", OURS, "b: 1", BETWEEN, "b: 2", THEIRS], [2]),
        ([OURS, BETWEEN, THEIRS, "a: 1", OURS, BETWEEN, THEIRS], [1, 5]),
        (["a: 1", BETWEEN, "b: 2", THEIRS], [2]),
        (["a: 1", "b: 2", THEIRS], [3]),
        (["<<<<<<<< eight", "a: ======="], []),
    ],
)
def test_git_conflict_markers_are_reported_at_first_marker(lines: list[str], told: list[int]) -> None:
    found = find_conflict_markers("\n".join(lines), "dpsync.ids")
    assert [(span.file, span.line, span.column) for span in found] == [
        ("dpsync.ids", line, 1) for line in told
    ]
    assert all(span.end_column == len(lines[span.line - 1]) + 1 for span in found)


@pytest.mark.parametrize(
    ("lines", "ours", "theirs"),
    [
        (["a", OURS, "b", BETWEEN, "c", THEIRS, "d"], ["a", "", "b", "", "", "", "d"],
         ["a", "", "", "", "c", "", "d"]),
        ([OURS, "b", BASE, "x", BETWEEN, "c", THEIRS], ["", "b", "", "", "", "", ""],
         ["", "", "", "", "", "c", ""]),
        (["a"], ["a"], ["a"]),
    ],
)  # fmt: skip
def test_conflict_sides_keep_original_line_numbers(
    lines: list[str], ours: list[str], theirs: list[str]
) -> None:
    assert split_conflict("\n".join(lines)) == ("\n".join(ours), "\n".join(theirs))


@pytest.mark.parametrize(
    "lines", [[OURS, "a"], [OURS, THEIRS], [BETWEEN], [THEIRS], [OURS, OURS], [OURS, BETWEEN, BASE, THEIRS]]
)
def test_unbalanced_git_conflict_markers_yield_no_sides(lines: list[str]) -> None:
    assert split_conflict("\n".join(lines)) is None
