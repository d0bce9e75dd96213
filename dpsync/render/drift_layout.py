"""Lay out drift, edited files and rehearsals as views (what every format shows).

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
from dpsync.model.drift import Drifted, Edit, Edits
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
    """Return the view of a drift: the objects that differ, those that open access first, and the verdict.

    Args:
        now: The time for "2 hours ago"; None shows the times as the platform has them.
    """
    drifted_objects = in_natural_order(
        document.drift.found, lambda drifted: drifted.location, lambda _: False
    )
    drifted_objects = tuple(sorted(drifted_objects, key=lambda drifted: not drifted.opens))
    drift = document.drift.model_copy(update={"found": drifted_objects})
    tone = "strong" if drift.drifted or drift.unread else "good"
    verdict = tuple(ViewLine(text, tone) for text in report_words.drift_verdict(drift))  # type: ignore[arg-type]
    blocks = tuple(drift_blocks(document.model_copy(update={"drift": drift}), now))
    effort = f"{format_count(drift.requests, 'request')} to read"
    return View(verdict, blocks, plan_hints(drift), plan_facts(drift, effort=effort), name="drift")


def drift_blocks(document: DriftDocument, now: datetime | None) -> list[Block]:
    """Return the blocks of a drift: the differences, then unreadable, ignored and unmanaged objects."""
    listing = _DriftListing(document, now)
    entries = tuple(listing.entries())
    drift, blocks = document.drift, Blocks([Block("", entries)] if entries else [])
    unread = []
    for address in drift.unread:
        name, origin = visible(address), plan_words.find_origin(drift, address)
        message = "dpsync did not check this object"
        unread.append(
            ViewEntry(
                name, name, message=message, sign="!", origin=origin, parent_origin=origin, one_line=True
            )
        )
    blocks.add("unread", "Objects that this token cannot read: {}", "warning", unread, detail=1)
    ignored = (listing.object_entry(drifted, None) for drifted in drift.ignored)
    blocks.add("ignored", "Differences that your policy ignores: {}", "none", ignored, detail=1)
    unwatched = []
    for line in drift.unwatched_lines:
        name = visible(str(FieldAddress(Address.parse(line.address), line.field)))
        message = visible(line.line or f"({line.why or ''})")  # the line to write, or why there is none
        origin = drift.origins.get(line.address)
        unwatched.append(ViewEntry(name, name, message=message, origin=origin, one_line=True))
    blocks.add("unwatched", "Fields and lists that dpsync does not compare: {}", "none", unwatched)
    return [*blocks.blocks, *side_blocks(drift)]


class _DriftListing:
    """Make the entries of a drift: each object that differs, with its blockers and refusals."""

    def __init__(self, document: DriftDocument, now: datetime | None) -> None:
        self.drift, self.ways_out, self.now = document.drift, document.ways_out, now
        self.names: Names = names_of(self.drift)

    def entries(self) -> Iterator[ViewEntry]:
        """Yield an entry of the drift report for each object whose files and live object differ.

        The entry has the blockers and refusals about the object. Then yield the notes, and the blockers and
        refusals about other objects.
        """
        drifted_addresses = {drifted.address for drifted in self.drift.found}
        by_address: dict[str, list[Refusal | Blocked]] = defaultdict(list)
        blockers: list[Refusal | Blocked] = [*self.drift.blocked, *self.drift.refusals]
        for blocker in blockers:
            address = blocker.address.partition("#")[0]
            by_address[address if address in drifted_addresses else ""].append(blocker)
        for drifted in self.drift.found:
            entry = self.object_entry(drifted, self.ways_out.get(drifted.address))
            sentences: list[Sentence] = []
            for blocker in by_address[drifted.address]:
                if isinstance(blocker, Refusal):
                    sentences += refusal_sentences(blocker)
                else:
                    sentences += blocked_sentences(blocker)
            yield replace(entry, all_sentences=(*entry.all_sentences, *sentences))
        notes = [note for note in self.drift.notes if not (note.permanent or note.detail)]
        yield from (note_entry(self.drift, note) for note in notes)
        for blocker in by_address[""]:
            if isinstance(blocker, Refusal):
                yield refusal_entry(self.drift, blocker)
            else:
                yield blocked_entry(self.drift, blocker)

    def object_entry(self, drifted: Drifted, ways_out: WaysOut | None) -> ViewEntry:
        """Return the view entry of an object whose file values and live values differ.

        `ways_out` has the commands that end the difference; None if the policy ignores it.
        """
        label = "" if drifted.what == "different" else drifted.label
        fields = []
        for field in drifted.fields:
            live = self.names.as_in_files(drifted.kind, field.field, field.live)
            file = self.names.as_in_files(drifted.kind, field.field, field.file)
            unread: Literal["", "after"] = "" if field.known else "after"
            fields.append(
                ViewField(
                    field.field,
                    file,
                    live,
                    unread,
                    is_platform_default=field.watched,
                    opens_access=field.opens,
                )
            )
        return ViewEntry(
            address=visible(drifted.address),
            title=self.names.title(drifted.kind, drifted.address, label),
            kind=kind_noun(drifted.kind),
            label=visible(label),
            key=self.names.key(drifted.kind, drifted.address),
            sign="!" if drifted.opens else report_words.DRIFT_SIGNS[drifted.what],
            name="drift",
            topics=("exposure", "drift") if drifted.opens else ("drift",),
            level="warning",
            fails=True,
            origin=plan_words.edit_location(
                self.drift, drifted.address, (field.field for field in drifted.fields)
            ),
            parent_origin=plan_words.enclosing_origin(self.drift, drifted.address),
            fields=tuple(fields),
            all_sentences=tuple(self._sentences(drifted, ways_out)),
            side_names=("policy" if drifted.kept else "file", "live"),
        )

    def _sentences(self, drifted: Drifted, ways_out: WaysOut | None) -> Iterator[Sentence]:
        """Yield how an object differs, where it should be, why, and the commands that end the difference."""
        if drifted.what == "missing":
            yield Sentence("missing in GitBook")
        if drifted.what == "undeclared":
            text = ", ".join(filter(None, ("not in your files", report_words.cascade_text(drifted))))
            yield Sentence(text, opens_access=drifted.opens)
        if drifted.place:
            yield Sentence(f"expected position: {visible(drifted.place)}")
        for match in drifted.renamed[:MAX_CANDIDATES]:
            yield Sentence(f'"{visible(match.label)}" ({visible(match.id)})', "perhaps renamed in GitBook to")
        if (omitted_count := len(drifted.renamed) - MAX_CANDIDATES) > 0:
            yield Sentence(f"and {format_count(omitted_count, 'more candidate')}")
        yield from self._cause_sentences(drifted)
        if ways_out is not None:
            for subject, text in (
                ("undo", ways_out.platform),
                ("keep", ways_out.files or ways_out.by_hand or ""),
            ):
                yield Sentence(
                    text, subject, is_command=text.startswith("dpsync "), is_copied=True, aligned=True
                )

    def _cause_sentences(self, drifted: Drifted) -> Iterator[Sentence]:
        """Yield why an object differs, and who changed it last.

        If its fields have different causes, each cause names its fields: "edited here: title, visibility".
        """
        causes = {plan_words.cause_label(field.cause): field.field for field in drifted.fields}
        causes[report_words.drift_cause_text(drifted)] = ""
        causes.pop("", None)
        if drifted.last_event is not None and not (causes and "changed outside" not in causes):
            cause = next(iter(causes)) if len(causes) == 1 else ""
            yield Sentence(report_words.last_change_text(drifted.last_event, cause, self.now))
            causes = causes if len(causes) > 1 else {}
        fields = {
            cause: [
                field_drift.field
                for field_drift in drifted.fields
                if plan_words.cause_label(field_drift.cause) == cause
            ]
            for cause in causes
        }
        for cause, field_names in fields.items():
            yield Sentence(
                f"{cause}: {', '.join(map(visible, field_names))}"
                if len(causes) > 1 and field_names
                else cause
            )


_SIGNS: Final = {"removed": "-", "renamed": "~", "changed": "~", "added": "+"}
_LABELS: Final = {"both": "", "before": "not managed any more", "after": "was not managed"}
_FULL_NAMES: Final = Names((), several_organizations=True)
"""Names for a comparison of files: always whole addresses."""
FILES_ONLY_NOTE: Final = "dpsync compared only files, and did not connect to GitBook"


def edits_title(edits: Edits) -> str:
    """Return a sentence with the number of removed, renamed, changed and added entries."""
    if edits.base is None:
        return f"dpsync has no earlier version of the files to compare with: {visible(edits.base_from)}."
    counts = [
        f"{number} {edit_type}"
        for edit_type in _SIGNS
        if (number := sum(edit.what == edit_type for edit in edits.found))
    ]
    return f"Entries in the files: {', '.join(counts) or 'no changes'}."


def edits_comparison_note(edits: Edits) -> str:
    """Return the commit with which the files are compared, and that dpsync read nothing from GitBook."""
    if edits.base is None:
        return FILES_ONLY_NOTE
    return (
        f"compared with: {visible(edits.base_from)} ({visible(short_commit(edits.base))}). {FILES_ONLY_NOTE}"
    )


def edit_blocks(edits: Edits) -> list[Block]:
    """Return a block for each type of edit in the files: removed, renamed, changed and added entries."""
    blocks = Blocks()
    for edit_type in _SIGNS:
        entries = [_edit_entry(edit) for edit in edits.found if edit.what == edit_type]
        blocks.add(
            f"files-{edit_type}", f"Entries that somebody {edit_type} in the files: {{}}", "none", entries
        )
    return blocks.blocks


def _edit_entry(edit: Edit) -> ViewEntry:
    """Return the entry of an edit in the files: kind and title, former address, children and fields."""
    added = edit.what == "added"
    kind = kind_name(edit.kind)
    remarks = []
    if edit.kind and edit.what != "changed":
        label = f' "{visible(edit.label)}"' if edit.label else ""
        remarks.append(f"{visible(edit.kind)}{label}")
    if edit.before is not None:
        remarks.append(f"was {visible(edit.before)}")
    if edit.inside:
        remarks.append(f"and {format_count(edit.inside, 'entry')} in it")
    fields = (
        ViewField(
            visible(field.field),
            _FULL_NAMES.as_in_files(kind, field.field, field.before),
            _FULL_NAMES.as_in_files(kind, field.field, field.after),
            cause="" if added else _LABELS[field.declared],
        )
        for field in edit.fields
    )
    return ViewEntry(
        address=visible(edit.address),
        title=visible(edit.address),
        message=", ".join(remarks),
        sign=_SIGNS[edit.what],
        origin=edit.at,
        fields=tuple(fields),
        created=added,
        side_names=None if added else ("before", "now"),
    )


def rehearsal_view(document: RehearseDocument) -> View:
    """Return the view of a rehearsal: deviations, failed runs, what was verified, and what was not.

    For a plan that was not rehearsed, this is the view of the plan.
    """
    plan, rehearsal = document.plan.plan, document.rehearsal
    if rehearsal is None:
        view = plan_view(plan, document.plan.digest)
        first = ViewLine("Nothing to rehearse." if plan.can_apply else "Not rehearsed.")
        return View((first, *view.verdict), view.blocks, view.hints, view.facts, name="rehearse")
    blocks = Blocks([*deviation_blocks(plan, rehearsal), *_fault_blocks(rehearsal)])
    verified_entries = (
        ViewEntry("", property_name, message=text, one_line=True)
        for property_name, text in report_words.verified_properties(rehearsal)
    )
    blocks.add(
        "proven", "What dpsync checked on a copy of the live organization", "none", verified_entries, detail=1
    )
    unverified_entries = (
        ViewEntry("", unverified.what, message=report_words.unverifiable_text(unverified), one_line=True)
        for unverified in rehearsal.unproven
    )
    blocks.add("unproven", "Not checked: {}", "note", unverified_entries, detail=1)
    verdict = (
        ViewLine(report_words.rehearsal_summary(rehearsal)),
        ViewLine(report_words.rehearsal_verdict(rehearsal), "good" if rehearsal.went_as_planned else "bad"),
    )
    facts = (
        *plan_facts(plan),
        f"plan {rehearsal.plan[:APPROVED_DIGEST_DIGITS]}, dpsync sent only GET requests to GitBook",
    )
    return View(verdict, tuple(blocks.blocks), (), facts, name="rehearse")


def _fault_blocks(rehearsal: Rehearsal) -> list[Block]:
    """Return the rehearsals with simulated request failures: a block of failed and one of successful runs."""
    blocks = Blocks()
    entries = [
        (run.good, ViewEntry("", str(number), message=report_words.fault_run_text(run), one_line=True))
        for number, run in enumerate(rehearsal.faults, 1)
    ]
    seed = f" (--seed {rehearsal.seed})"
    failed = [entry for good, entry in entries if not good]
    blocks.add(
        "failed-fault",
        f"Failed rehearsals with simulated request failures{seed}: {{}}",
        "error",
        failed,
        fails=True,
    )
    converged = [entry for good, entry in entries if good]
    blocks.add(
        "fault", f"Successful rehearsals with simulated request failures{seed}: {{}}", "none", converged
    )
    return blocks.blocks
