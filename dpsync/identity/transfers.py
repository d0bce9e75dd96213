"""An entry that was given to another parent: the live object still lies below the one that it had.

Nothing is guessed: its pin says so, the ids file or the git base, which have the same key elsewhere, or an
earlier name.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from dpsync.identity.natural_keys import NaturalKeys, key_text
from dpsync.model.desired import Entry
from dpsync.model.ids import RecordedLine
from dpsync.model.snapshot import LiveObject, Match, MatchedBy


def find_elsewhere(
    view: NaturalKeys,
    resource: Entry,
    live: Sequence[LiveObject],
    earlier: Sequence[Entry],
    line: RecordedLine | None = None,
) -> Match | None:
    """The live object below another parent that the entry is; None where none or several could be meant."""
    if resource.pin is not None:
        return next((Match(item.id, MatchedBy.PIN) for item in live if item.id == resource.pin), None)
    if line is not None and any(item.id == line.id for item in live):
        return Match(line.id, MatchedBy.LINE)
    if resource.new:
        return None
    was = [replace(resource, fields={**resource.fields, **names}) for names in resource.previously]
    for entry in (*was, *earlier):
        for key in view.kind.identity:
            value = view.wanted(entry, key)
            hits = [item for item in live if value is not None and view.has(item, key, value)]
            if len(hits) == 1:
                return Match(hits[0].id, MatchedBy.LATER_KEY, key_text(key))
    return None
