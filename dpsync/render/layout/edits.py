"""What the files say otherwise than the base, as blocks of a view. Nobody is called for any of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dpsync.model.drift import Edit, EditedField, Edits
from dpsync.model.text import counted, short_commit
from dpsync.render.layout.view import Block, Blocks, ViewEntry, ViewField
from dpsync.render.words.names import Names, kind_name
from dpsync.render.words.visible import visible

_SIGNS: Final = {"removed": "-", "renamed": "~", "changed": "~", "added": "+"}
_LABELS: Final = {"both": "", "before": "not managed any more", "after": "was not managed"}
_NAMES: Final = Names((), several=True)
"""The names of a comparison of files: always whole addresses."""
FILES: Final = "dpsync compared only files, and did not connect to GitBook"


def title(edits: Edits) -> str:
    """In a sentence how many there are of each sort."""
    if edits.base is None:
        return f"dpsync has no earlier version of the files to compare with: {visible(edits.base_from)}."
    counts = [
        f"{number} {what}" for what in _SIGNS if (number := sum(one.what == what for one in edits.found))
    ]
    return f"Entries in the files: {', '.join(counts) or 'no changes'}."


def compared_with(edits: Edits) -> str:
    """The commit, and what is not in the comparison."""
    if edits.base is None:
        return FILES
    return f"compared with: {visible(edits.base_from)} ({visible(short_commit(edits.base))}). {FILES}"


def edit_blocks(edits: Edits) -> list[Block]:
    blocks = Blocks()
    for what in _SIGNS:
        found = [_entry(one) for one in edits.found if one.what == what]
        blocks.add(f"files-{what}", f"Entries that somebody {what} in the files: {{}}", "none", found)
    return blocks.found


def _entry(edit: Edit) -> ViewEntry:
    added = edit.what == "added"
    return ViewEntry(
        address=visible(edit.address),
        title=visible(edit.address),
        message=", ".join(_gist(edit)),
        sign=_SIGNS[edit.what],
        where=edit.at,
        fields=tuple(_field(one, kind_name(edit.kind), labelled=not added) for one in edit.fields),
        created=added,
        sides=None if added else ("before", "now"),
    )


def _gist(edit: Edit) -> Iterator[str]:
    label = f' "{visible(edit.label)}"' if edit.label else ""
    if edit.kind and edit.what != "changed":
        yield f"{visible(edit.kind)}{label}"
    if edit.before is not None:
        yield f"was {visible(edit.before)}"
    if edit.inside:
        yield f"and {counted(edit.inside, 'entry')} in it"


def _field(one: EditedField, kind: str, labelled: bool) -> ViewField:
    return ViewField(
        visible(one.field),
        _NAMES.written(kind, one.field, one.before),
        _NAMES.written(kind, one.field, one.after),
        cause=_LABELS[one.declared] if labelled else "",
    )
