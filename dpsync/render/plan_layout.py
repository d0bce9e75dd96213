"""Lay out a plan as a view: one entry for each object that changes, then what stops the plan.

`plan_view` makes the whole view. The changes are in natural order, but the digest is computed from the order
of the plan. `side_blocks` makes the blocks beside the list, for plans and drifts. `deviation_blocks` shows
what went otherwise than planned in a rehearsal.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Any, Final

from msgspec import Struct, field
from msgspec.structs import replace

from dpsync.model.address import FieldAddress
from dpsync.model.change import (
    SHOW_SUMMARY,
    Blocked,
    Change,
    Difference,
    Exposure,
    NavigationChange,
    Note,
    UrlImpact,
)
from dpsync.model.plan import APPROVED_DIGEST_DIGITS, Plan, Rehearsal, count_deletes
from dpsync.model.question import Refusal
from dpsync.model.text import format_command
from dpsync.model.urls import is_preview_link
from dpsync.render import plan_words, report_words
from dpsync.render.candidate import describe_candidate
from dpsync.render.effect_words import merge_navigation
from dpsync.render.names import Names, in_natural_order, kind_noun, names_of
from dpsync.render.plan_words import PlanOrDrift, enclosing_origin, find_origin, part_lines, target_lines
from dpsync.render.url_words import is_broken, old_url_outcomes, readers_figure_text, url_change_text
from dpsync.render.view import (
    LEVELS,
    Block,
    Blocks,
    KeyFigure,
    Level,
    Sentence,
    View,
    ViewEntry,
    ViewField,
    ViewLine,
    ViewLink,
)
from dpsync.render.visible import visible


def deviation_blocks(plan: Plan, rehearsal: Rehearsal) -> list[Block]:
    """Return each deviation, with its line in the files."""
    blocks = Blocks()
    entries = (
        ViewEntry(
            visible(one.address or ""),
            visible(one.step or one.address or one.what),
            message=report_words.deviation_text(one),
            sign="x",
            origin=one.origin or plan.origins.get(one.address or ""),
        )
        for one in rehearsal.deviations
    )
    blocks.add("deviation", "Problems of the rehearsal: {}", "error", entries, fails=True)
    return blocks.blocks


_ACTION_ORDER: Final = ("create", "update", "delete")


def plan_view(plan: Plan, digest: str | None = None, rehearsal: Rehearsal | None = None) -> View:
    """Return the view of a plan.

    Args:
        digest: The digest of the plan before its secrets were masked; None for the digest of this plan.
        rehearsal: The rehearsal of the plan, whose deviations and result become part of the view.
    """
    digest = digest or plan.digest
    plan = plan.model_copy(update={"changes": _in_display_order(plan.changes)})
    verdict = [ViewLine(text, "good" if plan.empty else "strong") for text in plan_words.plan_verdict(plan)]
    if refused := plan_words.refusal_text(plan):
        verdict.append(ViewLine(refused, "bad"))
    blocks, before, details = (
        plan_blocks(plan),
        plan_hints(plan),
        plan_facts(plan, digest, plan_words.request_counts_text(plan)),
    )
    if rehearsal is not None:
        blocks += deviation_blocks(plan, rehearsal)
        result, unchecked = report_words.rehearsal_lines(rehearsal)
        if not rehearsal.went_as_planned:
            result = report_words.rehearsal_summary(rehearsal)
            verdict.append(ViewLine(report_words.rehearsal_verdict(rehearsal), "bad"))
        before, details = (*before, result), (unchecked, *details)
    return View(
        tuple(verdict),
        tuple(blocks),
        before,
        details,
        key_figures=tuple(_make_key_figures(plan)),
        previews=tuple(preview_links(plan)),
    )


def preview_links(plan: Plan) -> Iterator[ViewLink]:
    """Yield the links to the previews of changed sites, except URLs that a forged document makes unsafe."""
    for one in plan.previews:
        if is_preview_link(one.url):
            yield ViewLink(visible(one.title), one.url)


def _in_display_order(changes: Iterable[Change]) -> tuple[Change, ...]:
    """Return creates, updates and deletes, each in natural order."""
    found = in_natural_order(list(changes), lambda one: one.location, lambda one: one.action == "delete")
    return tuple(sorted(found, key=lambda one: _ACTION_ORDER.index(one.action)))


def _make_key_figures(plan: Plan) -> Iterator[KeyFigure]:
    """Yield the key figures of a plan: refusals, deletes, opened access, changes for readers, the rest."""
    if plan.empty and not plan.refusals:
        return
    if plan.refusals:
        yield KeyFigure(
            len(plan.refusals), plan_words.refusals_figure_text(len(plan.refusals)), "refusal", "error"
        )
    yield KeyFigure(count_deletes(plan.changes).total, "to delete", "delete", "error")
    yield KeyFigure(
        len({item.address for item in plan.exposures}),
        plan_words.EXPOSURES_FIGURE_TEXT,
        "exposure",
        "warning",
    )
    urls, broken, sites = len(plan.urls), sum(map(is_broken, plan.urls)), len(plan.navigation)
    topic = "broken-url" if broken else "navigation" if sites else "url"
    yield KeyFigure(
        urls + sites, readers_figure_text(urls, broken, sites), topic, "warning" if broken else "note"
    )
    other_changes = sum(change.action != "delete" for change in plan.changes)
    yield KeyFigure(other_changes, plan_words.changes_figure_text(other_changes), "change")


def plan_hints(plan: PlanOrDrift) -> tuple[str, ...]:
    """Return the lines before the verdict."""
    nothing_left = isinstance(plan, Plan) and plan.reverts is not None and plan.empty and plan.can_apply
    older = f"To list older applies: {format_command('history')}" if nothing_left else ""
    missing = plan_words.missing_access_lists_text(plan) if isinstance(plan, Plan) else ""
    return tuple(filter(None, (missing, plan_words.platform_problems_text(plan), older)))


def plan_facts(plan: PlanOrDrift, digest: str = "", effort: str = "") -> tuple[str, ...]:
    """Return platform, part, digest, commit compared with, coverage, and number of requests."""
    digest = (
        f"digest {digest[:APPROVED_DIGEST_DIGITS]}"
        if digest and isinstance(plan, Plan) and not plan.empty
        else ""
    )
    lines = (
        *target_lines(plan),
        *part_lines(plan),
        digest,
        plan_words.base_text(plan),
        plan_words.coverage_text(plan),
        effort,
    )
    return tuple(filter(None, lines))


def plan_blocks(plan: Plan) -> list[Block]:
    """Return the blocks of a plan: the list of changes, the navigations, and the side blocks."""
    listing = PlanListing(plan)
    entries = tuple(listing.entries())
    blocks = Blocks([Block("", entries)] if entries else [])
    navigation = (_navigation_entry(plan, listing.names, one) for one in plan.navigation)
    blocks.add("navigation", "Navigation before and after", "none", navigation, detail=1)
    return [*blocks.blocks, *side_blocks(plan)]


class RelatedItems(Struct):
    """Everything in a plan about one object except its change."""

    exposures: list[Exposure] = field(default_factory=list)
    urls: list[UrlImpact] = field(default_factory=list)
    blocked: list[Blocked] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)


class PlanListing(Struct, dict=True):
    """The list of a plan. Everything about an object is in the entry of the object."""

    plan: Plan

    @cached_property
    def names(self) -> Names:
        return names_of(self.plan)

    @cached_property
    def changes(self) -> dict[str, Change]:
        """The changes that have an entry of their own, by address."""
        folded = plan_words.changes_shown_in_parent(self.plan)
        return {one.address: one for one in self.plan.changes if one.address not in folded}

    @cached_property
    def shown_in_parent(self) -> dict[str, Change]:
        """The created objects that are shown in the entry of their parent, by the address of the parent."""
        return {
            address.rpartition("/")[0]: one
            for address, one in plan_words.changes_shown_in_parent(self.plan).items()
        }

    @cached_property
    def shows_causes(self) -> bool:
        """Whether to show why each field differs: not if all changes are edits of these files."""
        causes = {
            cause
            for change in self.plan.changes
            for cause in (change.cause, *(item.cause for item in change.differences))
        }
        return not causes <= {"edited here", None}

    def entries(self) -> Iterator[ViewEntry]:
        """Yield the entries of all changes, then what belongs to no change."""
        plan, belonging = self.plan, self._related_items()
        for address, change in self.changes.items():
            yield self._entry(plan, change, belonging.pop(address, RelatedItems()))
        rest = belonging.values()
        for urls in (own.urls for own in rest if own.urls):
            name = "broken-url" if any(map(is_broken, urls)) else "url"
            yield standalone_entry(plan, urls[0].address, name, "~", url_sentences(plan, urls))
        for item in (item for own in rest for item in own.exposures):
            address = str(FieldAddress(item.location, item.field or None))
            yield standalone_entry(
                plan, address, "exposure", "!", [Sentence(visible(item.words), opens_access=True)]
            )
        yield from (blocked_entry(plan, item) for own in rest for item in own.blocked)
        yield from (note_entry(plan, note) for own in rest for note in own.notes)
        yield from (refusal_entry(plan, item) for own in rest for item in own.refusals)

    def _related_items(self) -> dict[str, RelatedItems]:
        """Return what belongs to each object, by address.

        A URL below a changed object belongs to the change.
        """
        by_address: dict[str, RelatedItems] = defaultdict(RelatedItems)
        for exposure in self.plan.exposures:
            by_address[exposure.address].exposures.append(exposure)
        for url in self.plan.urls:
            upward = map(str, url.location.self_and_ancestors())
            by_address[next((one for one in upward if one in self.changes), url.address)].urls.append(url)
        for item in self.plan.blocked:
            by_address[_object_address(item.address)].blocked.append(item)
        for note in self.plan.notes:
            if not (note.permanent or note.detail):
                by_address[_object_address(note.address)].notes.append(note)
        for refusal in self.plan.refusals:
            by_address[_object_address(refusal.address)].refusals.append(refusal)
        return dict(by_address)

    def _entry(self, plan: Plan, change: Change, own: RelatedItems) -> ViewEntry:
        """Return the entry of a changed object."""
        opening = {item.field for item in own.exposures}
        fields = tuple(self._fields(plan, change, opening))
        topics = [
            *(["refusal"] if own.refusals else []),
            *(["delete"] if change.action == "delete" else []),
            *(["exposure"] if own.exposures else []),
            *(["broken-url"] if any(map(is_broken, own.urls)) else ["url"] if own.urls else []),
            *(["blocked"] if own.blocked else []),
            "change",
        ]
        return ViewEntry(
            address=visible(change.address),
            title=self._title(change),
            kind=kind_noun(change.kind),
            label="" if change.action == "update" else visible(change.label),
            key=self.names.key(change.kind, _address_for_people(change), change.inside),
            sign=plan_words.SIGNS[change.action],
            code=own.refusals[0].code if own.refusals else "",
            name=topics[0],
            topics=tuple(topics),
            level=_highest_level(topics),
            fails=bool(own.refusals),
            origin=plan_words.edit_location(plan, change.address, (one.field for one in change.differences))
            if change.action == "update"
            else find_origin(plan, change.address),
            removed_from=visible(change.removed.file) if change.removed is not None else "",
            parent_origin=enclosing_origin(plan, change.address),
            fields=fields,
            all_sentences=tuple(
                self._sentences(plan, change, own, {item.name for item in fields if item.opens_access})
            ),
            created=change.action == "create",
        )

    def _title(self, change: Change) -> str:
        label = "" if change.action == "update" else change.label
        return self.names.title(change.kind, _address_for_people(change), label, change.inside)

    def _fields(self, plan: Plan, change: Change, opening: set[str]) -> Iterator[ViewField]:
        """Yield the fields of a change, except the ones that the title of the entry shows."""
        created = change.action == "create"
        for item in change.differences:
            in_title = created and (
                (item.field == "title" and item.after == change.label)
                or (bool(change.inside) and item.field == "group")
            )
            if not in_title:
                yield self._field(plan, change, item, item.field in opening)
        if child := self.shown_in_parent.get(change.address) if created else None:
            for item in child.differences:
                if item.field != "path":
                    part = self._field(plan, child, item, False)
                    yield replace(part, name=f"shows {part.name}")

    def _field(self, plan: Plan, change: Change, item: Difference, opens: bool) -> ViewField:
        cause = plan_words.cause_label(item.cause) if self.shows_causes and change.action != "create" else ""
        return ViewField(
            item.field,
            self.names.as_in_files(change.kind, item.field, item.before),
            self.names.as_in_files(change.kind, item.field, item.after),
            unread="" if item.known else "before",
            cause=", ".join(filter(None, (cause, plan_words.kept_value_reason(item)))),
            origin=plan.origins.get(str(change.location.field(item.field))),
            unchanged=item.inherited is not None,
            opens_access=opens,
        )

    def _sentences(
        self, plan: Plan, change: Change, own: RelatedItems, opening: set[str]
    ) -> Iterator[Sentence]:
        """Yield the sentences below the fields of a change."""
        if found := plan_words.match_text(plan, change):
            yield Sentence(found, verbosity=1, tone="faint")
        elif change.action != "delete" and change.id:
            yield Sentence(f"is {visible(change.id)}", verbosity=1, tone="faint")
        yield from map(Sentence, plan_words.change_remarks(change))
        if change.moved:
            yield Sentence(plan_words.move_text(change), verbosity=int(change.action == "create"))
        yield from map(Sentence, plan_words.confirmed_actions(change))
        if any(step.summary == SHOW_SUMMARY for step in change.steps):
            yield Sentence("created hidden, and shown at the end of the apply", verbosity=1)
        if change.action == "delete":
            if cascade := plan_words.delete_effects(change):
                yield Sentence(cascade)
            yield from (Sentence(visible(x.what), visible(x.address), verbosity=1) for x in change.effects)
            yield from (Sentence(visible(x.what)) for x in change.effects if not (x.counts or x.kind))
        else:
            yield from (Sentence(visible(one.what)) for one in change.effects)
        yield from self._exposure_sentences(change, own.exposures, opening)
        yield from url_sentences(plan, own.urls)
        cause = plan_words.cause_label(
            change.cause,
            "made" if plan_words.is_restored(change) else plan_words.WHOLE_CHANGE_SUBJECTS[change.action],
        )
        if self.shows_causes and cause:
            yield Sentence(cause, tone="faint")
        if needed := needed_by_text(plan, change.address):
            yield Sentence(needed)
        for blocked in own.blocked:
            yield from blocked_sentences(blocked)
        yield from (note_sentence(note) for note in own.notes)
        for refusal in own.refusals:
            yield from refusal_sentences(refusal)
        if change.action != "delete":
            steps = (f"{step.method} {visible(step.path)}" for step in change.steps)
            yield from (Sentence(step, verbosity=2, tone="faint") for step in steps)

    @staticmethod
    def _exposure_sentences(
        change: Change, items: Iterable[Exposure], opening: set[str]
    ) -> Iterator[Sentence]:
        """Yield who gains access, or what opens access, unless a field says so."""
        for item in items:
            if item.field not in opening:
                yield Sentence(visible(item.words), opens_access=True)
            elif not plan_words.is_said_by_field_line(item):
                yield Sentence(visible(item.words), tone="exposed")


def _address_for_people(change: Change) -> str:
    """Return the address that people know: of a removed entry, its former address."""
    return change.removed.address if change.removed is not None else change.address


def _object_address(address: str) -> str:
    """Return the address of an object, without a field."""
    return address.partition("#")[0]


_LEVEL_OF_TOPIC: Final[dict[str, Level]] = {
    "refusal": "error", "delete": "warning", "exposure": "warning", "broken-url": "warning",
    "blocked": "warning", "url": "note", "change": "note",
}  # fmt: skip


def _highest_level(topics: Iterable[str]) -> Level:
    """Return the highest level of several topics."""
    return min((_LEVEL_OF_TOPIC[topic] for topic in topics), key=LEVELS.index)


def needed_by_text(plan: PlanOrDrift, address: str) -> str:
    """Return why an object is planned that nobody selected; empty if somebody did."""
    also = plan.part.also if plan.part is not None else ()
    return next(
        (f"not selected, but needed by {visible(x.needed_by)}" for x in also if x.address == address), ""
    )


def url_sentences(plan: Plan, items: list[UrlImpact]) -> Iterator[Sentence]:
    """Yield which URLs change, then what becomes of the old ones."""
    items = sorted(items, key=lambda item: (item.before or "", item.after or ""))
    for item in items:
        about, text = url_change_text(item)
        yield Sentence(visible(text), about, is_copied=True, aligned=True)
    for said, lines in old_url_outcomes(items, plan):
        yield Sentence(said, tone="warning" if "stop working" in said else "plain", is_copied=True)
        yield from (Sentence(line, is_command=True, is_copied=True) for line in lines)


def standalone_entry(
    plan: PlanOrDrift, address: str, name: str, sign: str, said: Iterable[Sentence]
) -> ViewEntry:
    """Return an entry for something that belongs to no change."""
    return ViewEntry(
        address=visible(address),
        title=visible(address),
        sign=sign,
        name=name,
        topics=(name,),
        level=_highest_level([name]),
        origin=find_origin(plan, address),
        parent_origin=enclosing_origin(plan, address),
        all_sentences=tuple(said),
    )


def blocked_entry(plan: PlanOrDrift, item: Blocked) -> ViewEntry:
    """Return an entry for a blocked object that does not change."""
    return standalone_entry(plan, item.address, "blocked", "!", blocked_sentences(item))


def blocked_sentences(item: Blocked) -> Iterator[Sentence]:
    """Yield why an object is blocked, and what a person must do."""
    yield Sentence(visible(item.reason), "blocked", tone="warning")
    if item.todo:
        yield Sentence(visible(item.todo), "to do")


def note_sentence(note: Note) -> Sentence:
    """Return a note as a sentence."""
    return Sentence(
        visible(note.text), note.severity, tone="warning" if note.severity == "warning" else "plain"
    )


def note_entry(plan: PlanOrDrift, note: Note) -> ViewEntry:
    """Return an entry of one line for a note."""
    loud = note.severity == "warning"
    return ViewEntry(
        address=visible(note.address),
        title=f"{note.severity}: {visible(note.address)}",
        message=visible(note.text),
        name=note.severity,
        level="warning" if loud else "note",
        origin=plan.origins.get(note.address),
        parent_origin=enclosing_origin(plan, note.address),
        one_line=True,
    )


def refusal_sentences(item: Refusal) -> Iterator[Sentence]:
    """Yield why a plan cannot be applied, what the entry could be, and the way out."""
    yield Sentence(f"{visible(item.message)} ({item.code})", "refused", tone="bad", is_copied=True)
    yield from (Sentence(describe_candidate(one), is_candidate=True) for one in item.candidates)
    yield Sentence(visible(item.way_out), is_copied=True)


def refusal_entry(plan: PlanOrDrift, item: Refusal) -> ViewEntry:
    """Return an entry for a refusal that belongs to no change."""
    more = [Sentence(describe_candidate(one), is_candidate=True) for one in item.candidates]
    more.append(Sentence(visible(item.way_out), is_copied=True))
    return ViewEntry(
        address=visible(item.address),
        title=visible(item.address),
        message=visible(item.message),
        sign="x",
        code=item.code,
        name="refusal",
        topics=("refusal",),
        level="error",
        fails=isinstance(plan, Plan),
        origin=find_origin(plan, item.address),
        parent_origin=enclosing_origin(plan, item.address),
        all_sentences=tuple(more),
    )


def _navigation_entry(plan: Plan, names: Names, item: NavigationChange) -> ViewEntry:
    """Return the entry with the navigation of a site before and after."""
    return ViewEntry(
        address=visible(item.address),
        title=f"navigation of {visible(item.address)}",
        message=""
        if item.known
        else "not known before the apply, because GitBook chooses the new position of the top-level spaces",
        sign="~" if item.known else "?",
        topics=("navigation",),
        origin=find_origin(plan, item.address),
        parent_origin=enclosing_origin(plan, item.address),
        tree=tuple(merge_navigation(item)) if item.known else (),
    )


def side_blocks(plan: PlanOrDrift) -> list[Block]:
    """Return the blocks beside the list, for -v, pages and programs."""
    blocks = Blocks()

    def lines(items: Iterable[Any], text: Callable[[Any], str], sign: str = "") -> Iterator[ViewEntry]:
        for one in items:
            yield ViewEntry(
                visible(one.address), visible(one.address), message=visible(text(one)), sign=sign,
                origin=find_origin(plan, one.address), parent_origin=enclosing_origin(plan, one.address),
                one_line=True,
            )  # fmt: skip

    blocks.add(
        "trouble", "Problems that GitBook reports: {}", "warning", lines(plan.trouble, lambda x: x.what, "!"),
        detail=1,
    )  # fmt: skip
    details = [note for note in plan.notes if note.detail]
    blocks.add(
        "detail",
        "Lines that you can remove: {}",
        "none",
        lines(details, lambda x: x.text),
        detail=1,
    )
    permanent = [note for note in plan.notes if note.permanent]
    title = "Fields that GitBook does not return: {}"
    blocks.add("permanent", title, "none", lines(permanent, lambda x: x.text), detail=1)
    title = "Accepted problems: {}"
    blocks.add("accepted", title, "none", lines(plan.accepted, lambda x: x.what), detail=1)
    title = "Work that GitBook has not finished: {}"
    blocks.add("waiting", title, "none", lines(plan.waiting, lambda x: x.what, "…"), detail=1)
    number = sum(len(one.addresses) for one in plan.kept)
    kept = (
        ViewEntry(
            visible(one.place), visible(one.place), message=plan_words.unmanaged_text(one), one_line=True
        )
        for one in plan.kept
    )
    blocks.add("kept", f"Objects without an entry, which dpsync keeps: {number}", "none", kept, detail=1)
    return blocks.blocks
