"""Print how the files differ from the base, for `validate --changes`."""

from __future__ import annotations

from collections.abc import Iterator

from dpsync.model.drift import Edits
from dpsync.render.drift_layout import compared_with, edit_blocks, title
from dpsync.render.plan_words import place
from dpsync.render.view import body, visible_texts


def edit_lines(edits: Edits) -> Iterator[str]:
    """Yield the counts, then each entry with its location and its fields."""
    yield title(edits)
    yield f"({compared_with(edits)})"
    for block in visible_texts(tuple(edit_blocks(edits))):
        for entry in block.entries:
            yield "  ".join(
                filter(None, (f"{entry.sign} {entry.address}", entry.message, place(entry.where)))
            )
            yield from (f"    {line}" for line in body(entry, 20))
