"""Drift → its view: one entry for each object that differs, first what opens access."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from typing import Literal

from msgspec.structs import replace

from dpsync.model.address import Address, FieldAddress
from dpsync.model.change import Blocked
from dpsync.model.diagnostic import Refusal
from dpsync.model.drift import Drift, Drifted, FieldDrift
from dpsync.model.drift import Line as UnwatchedLine
from dpsync.model.text import counted
from dpsync.render.json.documents import DriftDocument
from dpsync.render.json.ways_out import WaysOut
from dpsync.render.layout.plan import (
    blocked_entry,
    blocked_words,
    facts,
    hints,
    note_entry,
    refusal_entry,
    refusal_words,
    side_blocks,
)
from dpsync.render.layout.view import Block, Blocks, View, ViewEntry, ViewField, ViewLine, Word
from dpsync.render.words import drift as words
from dpsync.render.words import plan as plan_words
from dpsync.render.words.names import Names, kind_noun, names_of
from dpsync.render.words.natural_order import in_natural_order
from dpsync.render.words.plan import SHOWN
from dpsync.render.words.visible import visible


def drift_view(document: DriftDocument, now: datetime | None = None) -> View:
    """Return everything that is shown of a drift. `now`: to say how long ago something happened."""
    found = in_natural_order(document.drift.found, lambda one: one.location, lambda one: False)
    found = tuple(sorted(found, key=lambda one: not one.opens))
    drift = document.drift.model_copy(update={"found": found})
    tone = "strong" if drift.drifted or drift.unread else "good"
    verdict = tuple(ViewLine(text, tone) for text in words.verdict(drift))  # type: ignore[arg-type]
    blocks = tuple(drift_blocks(document.model_copy(update={"drift": drift}), now))
    effort = f"{counted(drift.requests, 'request')} to read"
    return View(verdict, blocks, hints(drift), facts(drift, effort=effort), name="drift")


def drift_blocks(document: DriftDocument, now: datetime | None) -> list[Block]:
    listing = _Listing(document, now)
    entries = tuple(listing.entries())
    drift, blocks = document.drift, Blocks([Block("", entries)] if entries else [])
    unread = (_unread(drift, address) for address in drift.unread)
    blocks.add("unread", "Objects that this token cannot read: {}", "warning", unread, detail=1)
    ignored = (listing.entry(item, None) for item in drift.ignored)
    blocks.add("ignored", "Differences that your policy ignores: {}", "none", ignored, detail=1)
    unwatched = (_line(drift, item) for item in drift.unwatched_lines)
    blocks.add("unwatched", "Fields and lists that dpsync does not compare: {}", "none", unwatched)
    return [*blocks.found, *side_blocks(drift)]


class _Listing:
    """The list of what differs, with what belongs to each object."""

    def __init__(self, document: DriftDocument, now: datetime | None) -> None:
        self.drift, self.ways_out, self.now = document.drift, document.ways_out, now
        self.names: Names = names_of(self.drift)

    def entries(self) -> Iterator[ViewEntry]:
        known = {item.address for item in self.drift.found}
        own: dict[str, list[Refusal | Blocked]] = defaultdict(list)
        stopping: list[Refusal | Blocked] = [*self.drift.blocked, *self.drift.refusals]
        for one in stopping:
            address = one.address.partition("#")[0]
            own[address if address in known else ""].append(one)
        for item in self.drift.found:
            entry = self.entry(item, self.ways_out.get(item.address))
            said = [word for one in own[item.address] for word in _stopping(one)]
            yield replace(entry, words=(*entry.words, *said))
        notes = [note for note in self.drift.notes if not (note.permanent or note.detail)]
        yield from (note_entry(self.drift, note) for note in notes)
        for one in own[""]:
            if isinstance(one, Refusal):
                yield refusal_entry(self.drift, one)
            else:
                yield blocked_entry(self.drift, one)

    def entry(self, item: Drifted, out: WaysOut | None) -> ViewEntry:
        """Return the entry of an object. `out`: how to end the difference, if it counts."""
        label = "" if item.what == "different" else item.label
        fields = tuple(self._field(item.kind, part) for part in item.fields)
        return ViewEntry(
            address=visible(item.address),
            title=self.names.title(item.kind, item.address, label),
            kind=kind_noun(item.kind),
            label=visible(label),
            key=self.names.key(item.kind, item.address),
            sign="!" if item.opens else words.SIGNS[item.what],
            name="drift",
            topics=("exposure", "drift") if item.opens else ("drift",),
            level="warning",
            fails=True,
            where=plan_words.edit_location(self.drift, item.address, (part.field for part in item.fields)),
            enclosing=plan_words.enclosing_origin(self.drift, item.address),
            fields=fields,
            words=tuple(self._words(item, out)),
            sides=("policy" if item.kept else "file", "live"),
        )

    def _field(self, kind: str, part: FieldDrift) -> ViewField:
        live = self.names.written(kind, part.field, part.live)
        file = self.names.written(kind, part.field, part.file)
        unread: Literal["", "after"] = "" if part.known else "after"
        return ViewField(part.field, file, live, unread, default=part.watched, opens=part.opens)

    def _words(self, item: Drifted, out: WaysOut | None) -> Iterator[Word]:
        if item.what == "missing":
            yield Word("missing in GitBook")
        if item.what == "undeclared":
            said = ", ".join(filter(None, ("not in your files", words.cascade_count(item))))
            yield Word(said, opens=item.opens)
        if item.place:
            yield Word(f"expected position: {visible(item.place)}")
        for one in item.renamed[:SHOWN]:
            yield Word(f'"{visible(one.label)}" ({visible(one.id)})', "perhaps renamed in GitBook to")
        if (more := len(item.renamed) - SHOWN) > 0:
            yield Word(f"and {counted(more, 'more candidate')}")
        yield from self._causes(item)
        if out is not None:
            for about, text in (("undo", out.platform), ("keep", out.files or out.by_hand or "")):
                yield Word(text, about, command=text.startswith("dpsync "), copied=True, aligned=True)

    def _causes(self, item: Drifted) -> Iterator[Word]:
        """Yield why the object differs, and who changed it last."""
        causes = {plan_words.why(part.cause): part.field for part in item.fields}
        causes[words.cause(item)] = ""
        causes.pop("", None)
        if item.last_event is not None and not (causes and "changed outside" not in causes):
            cause = next(iter(causes)) if len(causes) == 1 else ""
            yield Word(words.changed_by(item.last_event, cause, self.now))
            causes = causes if len(causes) > 1 else {}
        fields = {
            cause: [x.field for x in item.fields if plan_words.why(x.cause) == cause] for cause in causes
        }
        for cause, named in fields.items():
            yield Word(f"{cause}: {', '.join(map(visible, named))}" if len(causes) > 1 and named else cause)


def _stopping(one: Refusal | Blocked) -> Iterator[Word]:
    return refusal_words(one) if isinstance(one, Refusal) else blocked_words(one)


def _unread(drift: Drift, address: str) -> ViewEntry:
    where = plan_words.origin(drift, address)
    return ViewEntry(
        visible(address), visible(address), message="dpsync did not check this object", sign="!",
        where=where, enclosing=where, one_line=True,
    )  # fmt: skip


def _line(drift: Drift, item: UnwatchedLine) -> ViewEntry:
    """Return what no entry names, with the line that would watch it, or why there is none."""
    name = visible(str(FieldAddress(Address.parse(item.address), item.field)))
    return ViewEntry(
        name, name, message=visible(item.line or f"({item.why or ''})"),
        where=drift.origins.get(item.address), one_line=True,
    )  # fmt: skip
