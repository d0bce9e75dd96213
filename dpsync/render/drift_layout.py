"""Lay out drift, edited files and rehearsals as views.

`drift_view` has one entry for each object that differs, first the ones that open access. `edit_blocks` shows
what the files changed since the commit compared with. `rehearsal_view` shows deviations first, then what was
checked, then what could not be checked.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from typing import Final, Literal

from msgspec.structs import replace

from dpsync.model.address import Address, FieldAddress
from dpsync.model.change import Blocked
from dpsync.model.drift import Drift, Drifted, Edit, EditedField, Edits, FieldDrift
from dpsync.model.drift import Line as UnwatchedLine
from dpsync.model.plan import APPROVED_DIGEST_DIGITS, Rehearsal
from dpsync.model.question import Refusal
from dpsync.model.text import format_count, short_commit
from dpsync.render import plan_words, report_words
from dpsync.render.documents import DriftDocument, RehearseDocument
from dpsync.render.names import Names, in_natural_order, kind_name, kind_noun, names_of
from dpsync.render.plan_layout import (
    blocked_entry,
    blocked_sentences,
    deviation_blocks,
    note_entry,
    plan_facts,
    plan_hints,
    plan_view,
    refusal_entry,
    refusal_sentences,
    side_blocks,
)
from dpsync.render.plan_words import MAX_CANDIDATES
from dpsync.render.resolutions import WaysOut
from dpsync.render.view import Block, Blocks, Sentence, View, ViewEntry, ViewField, ViewLine
from dpsync.render.visible import visible


def drift_view(document: DriftDocument, now: datetime | None = None) -> View:
    """Return the view of a drift.

    `now` is the time for "2 hours ago"; None keeps the times of the platform.
    """
    found = in_natural_order(document.drift.found, lambda one: one.location, lambda one: False)
    found = tuple(sorted(found, key=lambda one: not one.opens))
    drift = document.drift.model_copy(update={"found": found})
    tone = "strong" if drift.drifted or drift.unread else "good"
    verdict = tuple(ViewLine(text, tone) for text in report_words.drift_verdict(drift))  # type: ignore[arg-type]
    blocks = tuple(drift_blocks(document.model_copy(update={"drift": drift}), now))
    effort = f"{format_count(drift.requests, 'request')} to read"
    return View(verdict, blocks, plan_hints(drift), plan_facts(drift, effort=effort), name="drift")


def drift_blocks(document: DriftDocument, now: datetime | None) -> list[Block]:
    """Return the blocks of a drift: the list of differences, then the side blocks."""
    listing = _DriftListing(document, now)
    entries = tuple(listing.entries())
    drift, blocks = document.drift, Blocks([Block("", entries)] if entries else [])
    unread = (_unreadable_entry(drift, address) for address in drift.unread)
    blocks.add("unread", "Objects that this token cannot read: {}", "warning", unread, detail=1)
    ignored = (listing.object_entry(item, None) for item in drift.ignored)
    blocks.add("ignored", "Differences that your policy ignores: {}", "none", ignored, detail=1)
    unwatched = (_unmanaged_entry(drift, item) for item in drift.unwatched_lines)
    blocks.add("unwatched", "Fields and lists that dpsync does not compare: {}", "none", unwatched)
    return [*blocks.blocks, *side_blocks(drift)]


class _DriftListing:
    """Make the entries of a drift: each object that differs, with its blockers and refusals."""

    def __init__(self, document: DriftDocument, now: datetime | None) -> None:
        self.drift, self.ways_out, self.now = document.drift, document.ways_out, now
        self.names: Names = names_of(self.drift)

    def entries(self) -> Iterator[ViewEntry]:
        """Yield an entry for each object that differs, then notes, then blockers and refusals of others."""
        known = {item.address for item in self.drift.found}
        by_address: dict[str, list[Refusal | Blocked]] = defaultdict(list)
        blockers: list[Refusal | Blocked] = [*self.drift.blocked, *self.drift.refusals]
        for blocker in blockers:
            address = blocker.address.partition("#")[0]
            by_address[address if address in known else ""].append(blocker)
        for item in self.drift.found:
            entry = self.object_entry(item, self.ways_out.get(item.address))
            sentences = [word for blocker in by_address[item.address] for word in _blocker_sentences(blocker)]
            yield replace(entry, all_sentences=(*entry.all_sentences, *sentences))
        notes = [note for note in self.drift.notes if not (note.permanent or note.detail)]
        yield from (note_entry(self.drift, note) for note in notes)
        for blocker in by_address[""]:
            if isinstance(blocker, Refusal):
                yield refusal_entry(self.drift, blocker)
            else:
                yield blocked_entry(self.drift, blocker)

    def object_entry(self, item: Drifted, out: WaysOut | None) -> ViewEntry:
        """Return the entry of an object. `out`: how to end the difference, if it counts."""
        label = "" if item.what == "different" else item.label
        fields = tuple(self._field(item.kind, part) for part in item.fields)
        return ViewEntry(
            address=visible(item.address),
            title=self.names.title(item.kind, item.address, label),
            kind=kind_noun(item.kind),
            label=visible(label),
            key=self.names.key(item.kind, item.address),
            sign="!" if item.opens else report_words.DRIFT_SIGNS[item.what],
            name="drift",
            topics=("exposure", "drift") if item.opens else ("drift",),
            level="warning",
            fails=True,
            origin=plan_words.edit_location(self.drift, item.address, (part.field for part in item.fields)),
            parent_origin=plan_words.enclosing_origin(self.drift, item.address),
            fields=fields,
            all_sentences=tuple(self._sentences(item, out)),
            side_names=("policy" if item.kept else "file", "live"),
        )

    def _field(self, kind: str, part: FieldDrift) -> ViewField:
        live = self.names.as_in_files(kind, part.field, part.live)
        file = self.names.as_in_files(kind, part.field, part.file)
        unread: Literal["", "after"] = "" if part.known else "after"
        return ViewField(
            part.field, file, live, unread, is_platform_default=part.watched, opens_access=part.opens
        )

    def _sentences(self, item: Drifted, out: WaysOut | None) -> Iterator[Sentence]:
        if item.what == "missing":
            yield Sentence("missing in GitBook")
        if item.what == "undeclared":
            text = ", ".join(filter(None, ("not in your files", report_words.cascade_text(item))))
            yield Sentence(text, opens_access=item.opens)
        if item.place:
            yield Sentence(f"expected position: {visible(item.place)}")
        for match in item.renamed[:MAX_CANDIDATES]:
            yield Sentence(f'"{visible(match.label)}" ({visible(match.id)})', "perhaps renamed in GitBook to")
        if (more := len(item.renamed) - MAX_CANDIDATES) > 0:
            yield Sentence(f"and {format_count(more, 'more candidate')}")
        yield from self._cause_sentences(item)
        if out is not None:
            for about, text in (("undo", out.platform), ("keep", out.files or out.by_hand or "")):
                yield Sentence(
                    text, about, is_command=text.startswith("dpsync "), is_copied=True, aligned=True
                )

    def _cause_sentences(self, item: Drifted) -> Iterator[Sentence]:
        """Yield why the object differs, and who changed it last."""
        causes = {plan_words.cause_label(part.cause): part.field for part in item.fields}
        causes[report_words.drift_cause_text(item)] = ""
        causes.pop("", None)
        if item.last_event is not None and not (causes and "changed outside" not in causes):
            cause = next(iter(causes)) if len(causes) == 1 else ""
            yield Sentence(report_words.last_change_text(item.last_event, cause, self.now))
            causes = causes if len(causes) > 1 else {}
        fields = {
            cause: [x.field for x in item.fields if plan_words.cause_label(x.cause) == cause]
            for cause in causes
        }
        for cause, named in fields.items():
            yield Sentence(
                f"{cause}: {', '.join(map(visible, named))}" if len(causes) > 1 and named else cause
            )


def _blocker_sentences(blocker: Refusal | Blocked) -> Iterator[Sentence]:
    return refusal_sentences(blocker) if isinstance(blocker, Refusal) else blocked_sentences(blocker)


def _unreadable_entry(drift: Drift, address: str) -> ViewEntry:
    where = plan_words.find_origin(drift, address)
    return ViewEntry(
        visible(address), visible(address), message="dpsync did not check this object", sign="!",
        origin=where, parent_origin=where, one_line=True,
    )  # fmt: skip


def _unmanaged_entry(drift: Drift, item: UnwatchedLine) -> ViewEntry:
    """Return an entry for a field or list that no file names, with the line that would watch it."""
    name = visible(str(FieldAddress(Address.parse(item.address), item.field)))
    return ViewEntry(
        name, name, message=visible(item.line or f"({item.why or ''})"),
        origin=drift.origins.get(item.address), one_line=True,
    )  # fmt: skip


_SIGNS: Final = {"removed": "-", "renamed": "~", "changed": "~", "added": "+"}
_LABELS: Final = {"both": "", "before": "not managed any more", "after": "was not managed"}
_FULL_NAMES: Final = Names((), several=True)
"""Names for a comparison of files: always whole addresses."""
FILES_ONLY_NOTE: Final = "dpsync compared only files, and did not connect to GitBook"


def edits_title(edits: Edits) -> str:
    """Return in a sentence how many entries were removed, renamed, changed and added."""
    if edits.base is None:
        return f"dpsync has no earlier version of the files to compare with: {visible(edits.base_from)}."
    counts = [
        f"{number} {what}" for what in _SIGNS if (number := sum(one.what == what for one in edits.found))
    ]
    return f"Entries in the files: {', '.join(counts) or 'no changes'}."


def edits_comparison_note(edits: Edits) -> str:
    """Return the commit compared with, and that nothing was read from the platform."""
    if edits.base is None:
        return FILES_ONLY_NOTE
    return (
        f"compared with: {visible(edits.base_from)} ({visible(short_commit(edits.base))}). {FILES_ONLY_NOTE}"
    )


def edit_blocks(edits: Edits) -> list[Block]:
    """Return a block for each sort of edit: removed, renamed, changed and added entries."""
    blocks = Blocks()
    for what in _SIGNS:
        found = [_edit_entry(one) for one in edits.found if one.what == what]
        blocks.add(f"files-{what}", f"Entries that somebody {what} in the files: {{}}", "none", found)
    return blocks.blocks


def _edit_entry(edit: Edit) -> ViewEntry:
    added = edit.what == "added"
    return ViewEntry(
        address=visible(edit.address),
        title=visible(edit.address),
        message=", ".join(_edit_remarks(edit)),
        sign=_SIGNS[edit.what],
        origin=edit.at,
        fields=tuple(_edited_field(one, kind_name(edit.kind), labelled=not added) for one in edit.fields),
        created=added,
        side_names=None if added else ("before", "now"),
    )


def _edit_remarks(edit: Edit) -> Iterator[str]:
    """Yield remarks on an edit: kind and title, the former address, and the number of children."""
    label = f' "{visible(edit.label)}"' if edit.label else ""
    if edit.kind and edit.what != "changed":
        yield f"{visible(edit.kind)}{label}"
    if edit.before is not None:
        yield f"was {visible(edit.before)}"
    if edit.inside:
        yield f"and {format_count(edit.inside, 'entry')} in it"


def _edited_field(item: EditedField, kind: str, labelled: bool) -> ViewField:
    return ViewField(
        visible(item.field),
        _FULL_NAMES.as_in_files(kind, item.field, item.before),
        _FULL_NAMES.as_in_files(kind, item.field, item.after),
        cause=_LABELS[item.declared] if labelled else "",
    )


def rehearsal_view(document: RehearseDocument) -> View:
    """Return everything that is shown of a rehearsal; of a plan that was not rehearsed, the plan."""
    plan, rehearsal = document.plan.plan, document.rehearsal
    if rehearsal is None:
        shown = plan_view(plan, document.plan.digest)
        first = ViewLine("Nothing to rehearse." if plan.can_apply else "Not rehearsed.")
        return View((first, *shown.verdict), shown.blocks, shown.hints, shown.facts, name="rehearse")
    blocks = Blocks([*deviation_blocks(plan, rehearsal), *_fault_blocks(rehearsal)])
    proven = (
        ViewEntry("", what, message=text, one_line=True)
        for what, text in report_words.verified_properties(rehearsal)
    )
    blocks.add("proven", "What dpsync checked on a copy of the live organization", "none", proven, detail=1)
    left = (
        ViewEntry("", one.what, message=report_words.unverifiable_text(one), one_line=True)
        for one in rehearsal.unproven
    )
    blocks.add("unproven", "Not checked: {}", "note", left, detail=1)
    verdict = (
        ViewLine(report_words.rehearsal_summary(rehearsal)),
        ViewLine(report_words.rehearsal_verdict(rehearsal), "good" if rehearsal.went_as_planned else "bad"),
    )
    about = (
        *plan_facts(plan),
        f"plan {rehearsal.plan[:APPROVED_DIGEST_DIGITS]}, dpsync sent only GET requests to GitBook",
    )
    return View(verdict, tuple(blocks.blocks), (), about, name="rehearse")


def _fault_blocks(rehearsal: Rehearsal) -> list[Block]:
    """Return the rehearsals with faults: those that ended otherwise, then those that converged."""
    blocks = Blocks()
    runs = [
        (run.good, ViewEntry("", str(number), message=report_words.fault_run_text(run), one_line=True))
        for number, run in enumerate(rehearsal.faults, 1)
    ]
    seed = f" (--seed {rehearsal.seed})"
    bad = [entry for good, entry in runs if not good]
    blocks.add(
        "failed-fault",
        f"Failed rehearsals with simulated request failures{seed}: {{}}",
        "error",
        bad,
        fails=True,
    )
    converged = [entry for good, entry in runs if good]
    blocks.add(
        "fault", f"Successful rehearsals with simulated request failures{seed}: {{}}", "none", converged
    )
    return blocks.blocks
