"""Print how the files differ from the git base (the commit compared with), for `validate --changes`."""

from __future__ import annotations

from collections.abc import Iterator

from dpsync.model.drift import Edits
from dpsync.render.drift_layout import edit_blocks, edits_comparison_note, edits_title
from dpsync.render.plan_words import location_text
from dpsync.render.view import body_lines, visible_texts


def edit_lines(edits: Edits) -> Iterator[str]:
    """Yield how many entries of the files were edited, then each of these entries with its fields."""
    yield edits_title(edits)
    yield f"({edits_comparison_note(edits)})"
    for block in visible_texts(tuple(edit_blocks(edits))):
        for entry in block.entries:
            yield "  ".join(
                filter(None, (f"{entry.sign} {entry.address}", entry.message, location_text(entry.origin)))
            )
            yield from (f"    {line}" for line in body_lines(entry, 20))
