"""Long lines on a terminal: broken between words, their indent kept, nothing lost."""

from __future__ import annotations

import pytest
from click import style, unstyle
from hypothesis import given
from hypothesis import strategies as st

from dpsync.render.paint import display_width, wrap_text

LONG = " ".join(["word"] * 30)


def test_wrapped_lines_are_indented_further() -> None:
    first, *rest = wrap_text(f"    {LONG}", 80).split("\n")
    assert first.startswith("    word")
    assert rest
    assert all(line.startswith("      word") for line in rest)
    assert all(len(line) <= 80 for line in (first, *rest))


@pytest.mark.parametrize(
    "line",
    [
        "x" * 79,
        f"  undo: dpsync apply --select {LONG}",
        f"`dpsync ids --forget {LONG}`",
        f"12 | {LONG}",
        f"   | {'^' * 90}",
        "y" * 200,
        f"{' ' * 50}{LONG}",
    ],
)
def test_short_or_copyable_lines_are_not_wrapped(line: str) -> None:
    assert wrap_text(line, 80) == line


@pytest.mark.parametrize(
    ("line", "lines"),
    [
        (f"{'a' * 20} {'b' * 19} c", [f"{'a' * 20} {'b' * 19}", "  c"]),
        (f"{'a' * 20} {'b' * 20} c", ["a" * 20, f"  {'b' * 20} c"]),
    ],
)
def test_wrapping_fills_lines_to_last_column(line: str, lines: list[str]) -> None:
    assert wrap_text(line, 40).split("\n") == lines


def test_narrow_terminals_disable_wrapping() -> None:
    assert wrap_text(LONG, 39) == LONG
    assert wrap_text(LONG, 40) != LONG


@pytest.mark.parametrize(("indent", "broken"), [(38, True), (39, False)])
def test_deeply_indented_lines_are_not_wrapped(indent: int, broken: bool) -> None:
    line = " " * indent + LONG
    assert (wrap_text(line, 80) != line) is broken


def test_wrapping_counts_wide_characters_twice() -> None:
    assert all(display_width(line) <= 40 for line in wrap_text("漢字漢字 " * 20, 40).split("\n"))
    coloured = " ".join(style("word", fg="red") for _ in range(16))
    assert wrap_text(coloured, 80) == coloured


@given(st.text("ab \n漢é", max_size=300), st.integers(40, 120), st.sampled_from(["", "red"]))
def test_wrapping_changes_only_whitespace(text: str, width: int, colour: str) -> None:
    given_ = "\n".join(style(line, fg=colour) if colour else line for line in text.split("\n"))
    assert unstyle(wrap_text(given_, width)).split() == text.split()
