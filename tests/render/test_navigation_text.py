"""A navigation before and after, as one tree of lines."""

from __future__ import annotations

import pytest

from dpsync.model.change import NavigationChange, NavigationNode
from dpsync.model.plan import Plan
from dpsync.render.navigation_merge import merge_navigation
from dpsync.render.paint import Paint
from dpsync.render.plan_layout import plan_blocks
from dpsync.render.view_text import MAX_COLUMNS, TextWriter


def node(name: str, *inside: NavigationNode, **more: object) -> NavigationNode:
    return NavigationNode.model_validate(
        {"address": name, "kind": "section", "title": name.upper(), "inside": inside, **more}
    )


A, B, C, D, E = (node(name) for name in "abcde")


def lines(before: tuple[NavigationNode, ...], after: tuple[NavigationNode, ...]) -> list[str]:
    found = merge_navigation(NavigationChange(address="acme/sites/docs", before=before, after=after))
    return [f"{line.sign}{'  ' * line.depth}{line.text}" for line in found]


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        ((A,), (A, B), [" A", "+B"]),
        ((A, B, C), (A, C), [" A", "-B", " C"]),
        ((A, B), (B,), ["-A", " B"]),
        ((A, B, C), (B, C), ["-A", " B", " C"]),
        ((A, B, C), (C,), ["-A", "-B", " C"]),
        ((A, B, C), (A, B, C, D), [" A", " B", " C", "+D"]),
        ((A, B, C), (C, A, B), [">C (moved)", " A", " B"]),
        ((node("a", B),), (node("a"), B), [" A", ">B (moved here)"]),
        ((node("a", path="x"),), (node("a", path="y"),), ["~A [/y] (was A [/x])"]),
        ((A,), (node("a", marks=("hidden",)),), ["~A [hidden] (was A)"]),
        ((node("a", B, C),), (node("a", B, C, D),), [" A", "   B", "   C", "+  D"]),
        ((A, B, C, D), (A, B, C, D, E), [" … 4 without a change", "+E"]),
        ((node("a", B, C), D), (D,), ["-A", "-  B", "-  C", " D"]),
        ((), (node("a", B),), ["+A", "+  B"]),
        (
            (),
            (node("a", node("b", also=("d",))), node("c", D)),
            ["+A", "+  B (also in C)", "+C", "+  D"],
        ),
    ],
)
def test_navigation_diff_shows_added_removed_and_moved_nodes(
    before: tuple[NavigationNode, ...], after: tuple[NavigationNode, ...], shown: list[str]
) -> None:
    assert lines(before, after) == shown


def text(*after: NavigationNode, known: bool = True) -> str:
    change = NavigationChange(address="acme/sites/docs", before=(), after=after, known=known)
    return "\n\n".join(TextWriter(Paint(False), 1).block_paragraphs(plan_blocks(Plan(navigation=(change,)))))


def test_navigation_diff_fits_terminal_width() -> None:
    assert all(len(line) <= MAX_COLUMNS for line in text(node("t" * 300)).splitlines())


def test_hostile_title_cannot_break_navigation_diff() -> None:
    shown = text(node("a", title="x\n  - forged\x1b[31m\u202e"))
    assert len(shown.splitlines()) == 3
    assert "\x1b" not in shown
    assert "\u202e" not in shown


def test_unknown_navigation_result_is_stated() -> None:
    assert "not known before the apply" in text(known=False)


def test_unchanged_navigation_is_not_printed() -> None:
    assert plan_blocks(Plan()) == []
