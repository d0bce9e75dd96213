"""The picture of the packages in docs/architecture.md is what imports what, now."""

from __future__ import annotations

from tools.house_picture import picture, reduced

from .markdown import DOCS, sections


def test_the_picture_of_the_packages_is_drawn_from_the_imports_of_now() -> None:
    now, _before = [
        block for section in sections(DOCS / "architecture.md") for block in section.of("mermaid")
    ]
    assert now.text == picture(), (
        "write what `python -m tools.house_picture` prints into docs/architecture.md"
    )


def test_an_arrow_that_follows_from_others_is_left_out() -> None:
    assert reduced({"a": ["b", "c"], "b": ["c"], "c": []}) == {"a": ["b"], "b": ["c"], "c": []}
