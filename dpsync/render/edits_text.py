"""What the files say otherwise than the base, as lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dpsync.model.drift import Edits
from dpsync.render.drift_layout import compared_with, edit_blocks, title
from dpsync.render.plan_words import place
from dpsync.render.view import body, visible_texts

if TYPE_CHECKING:
    pass


def edit_lines(edits: Edits) -> Iterator[str]:
    """The counts, then each entry with its place and its fields."""
    yield title(edits)
    yield f"({compared_with(edits)})"
    for block in visible_texts(tuple(edit_blocks(edits))):
        for entry in block.entries:
            yield "  ".join(
                filter(None, (f"{entry.sign} {entry.address}", entry.message, place(entry.where)))
            )
            yield from (f"    {line}" for line in body(entry, 20))
