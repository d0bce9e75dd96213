"""Lay out a plan as a view (what every format shows): one entry per changed object, then what stops the plan.

`plan_view` makes the whole view. The changes are in natural order, but the digest is computed from the order
of the plan. `side_blocks` makes the blocks beside the list, for plans and drifts. `deviation_blocks` shows
the problems that a rehearsal (a trial on a copy) found.
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
    Note,
    UrlImpact,
)
from dpsync.model.plan import APPROVED_DIGEST_DIGITS, Plan, Rehearsal, count_deletes
from dpsync.model.question import Refusal
from dpsync.model.text import format_command
from dpsync.model.urls import is_preview_link
from dpsync.render import plan_words, report_words
from dpsync.render.candidate import describe_candidate
from dpsync.render.names import Names, in_natural_order, kind_noun, names_of
from dpsync.render.navigation_merge import merge_navigation
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
    """Return a block with the problems that a rehearsal of a plan found, each with its line in the files."""
    blocks = Blocks()
    entries = (
        ViewEntry(
            visible(deviation.address or ""),
            visible(deviation.step or deviation.address or deviation.what),
            message=report_words.deviation_text(deviation),
            sign="x",
            origin=deviation.origin or plan.origins.get(deviation.address or ""),
        )
        for deviation in rehearsal.deviations
    )
    blocks.add("deviation", "Problems of the rehearsal: {}", "error", entries, fails=True)
    return blocks.blocks


_ACTION_ORDER: Final = ("create", "update", "delete")


def plan_view(plan: Plan, digest: str | None = None, rehearsal: Rehearsal | None = None) -> View:
    """Return the view of a plan: verdict, changes, hints and facts.

    Args:
        digest: The digest of the plan before its secrets were masked; None for the digest of this plan.
        rehearsal: The rehearsal of the plan, whose problems and result become part of the view.
    """
    digest = digest or plan.digest
    changes = in_natural_order(
        list(plan.changes), lambda change: change.location, lambda change: change.action == "delete"
    )
    changes = tuple(sorted(changes, key=lambda change: _ACTION_ORDER.index(change.action)))
    plan = plan.model_copy(update={"changes": changes})
    verdict = [ViewLine(text, "good" if plan.empty else "strong") for text in plan_words.plan_verdict(plan)]
    if refusal := plan_words.refusal_text(plan):
        verdict.append(ViewLine(refusal, "bad"))
    blocks, hints, facts = (
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
        hints, facts = (*hints, result), (unchecked, *facts)
    return View(
        tuple(verdict),
        tuple(blocks),
        hints,
        facts,
        key_figures=tuple(_make_key_figures(plan)),
        previews=tuple(preview_links(plan)),
    )


def preview_links(plan: Plan) -> Iterator[ViewLink]:
    """Yield the links to previews of the sites that a plan changes.

    A URL that is unsafe is left out, because a saved plan may be forged.
    """
    for preview in plan.previews:
        if is_preview_link(preview.url):
            yield ViewLink(visible(preview.title), preview.url)


def _make_key_figures(plan: Plan) -> Iterator[KeyFigure]:
    """Yield the numbers that matter most for a decision about a plan.

    These are refusals, deletes, changes that open access, changes for readers, and other changes.
    """
    if plan.empty and not plan.refusals:
        return
    if plan.refusals:
        yield KeyFigure(
            len(plan.refusals), plan_words.refusals_figure_text(len(plan.refusals)), "refusal", "error"
        )
    yield KeyFigure(count_deletes(plan.changes).total, "to delete", "delete", "error")
    yield KeyFigure(
        len({exposure.address for exposure in plan.exposures}),
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
    """Return the lines before the verdict of a plan or drift.

    They name access lists that the files lack, problems that GitBook reports, and the command that lists
    older applies if there is nothing to revert.
    """
    has_nothing_to_revert = (
        isinstance(plan, Plan) and plan.reverts is not None and plan.empty and plan.can_apply
    )
    history_hint = f"To list older applies: {format_command('history')}" if has_nothing_to_revert else ""
    access_hint = plan_words.missing_access_lists_text(plan) if isinstance(plan, Plan) else ""
    return tuple(filter(None, (access_hint, plan_words.platform_problems_text(plan), history_hint)))


def plan_facts(plan: PlanOrDrift, digest: str = "", effort: str = "") -> tuple[str, ...]:
    """Return facts for -v: platform, selection, digest, commit compared with, coverage, number of requests.

    `effort` is the text about the number of requests.
    """
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
    """Return the blocks of a plan: the changes, the navigations before and after, and what only -v shows."""
    listing = PlanListing(plan)
    entries = tuple(listing.entries())
    blocks = Blocks([Block("", entries)] if entries else [])
    unknown = "not known before the apply, because GitBook chooses the new position of the top-level spaces"
    navigation = (
        ViewEntry(
            address=visible(change.address),
            title=f"navigation of {visible(change.address)}",
            message="" if change.known else unknown,
            sign="~" if change.known else "?",
            topics=("navigation",),
            origin=find_origin(plan, change.address),
            parent_origin=enclosing_origin(plan, change.address),
            tree=tuple(merge_navigation(change)) if change.known else (),
        )
        for change in plan.navigation
    )
    blocks.add("navigation", "Navigation before and after", "none", navigation, detail=1)
    return [*blocks.blocks, *side_blocks(plan)]


class RelatedItems(Struct):
    """The exposures, URL changes, blockers, notes and refusals of a plan that are about one object."""

    exposures: list[Exposure] = field(default_factory=list)
    urls: list[UrlImpact] = field(default_factory=list)
    blocked: list[Blocked] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)


class PlanListing(Struct, dict=True):
    """Make the list of entries of a plan: one for each changed object, with everything about the object."""

    plan: Plan

    @cached_property
    def names(self) -> Names:
        """Short names for the objects of the plan."""
        return names_of(self.plan)

    @cached_property
    def changes(self) -> dict[str, Change]:
        """The changes that have an entry of their own, by address."""
        shown_in_parents = plan_words.changes_shown_in_parent(self.plan)
        return {
            change.address: change for change in self.plan.changes if change.address not in shown_in_parents
        }

    @cached_property
    def shown_in_parent(self) -> dict[str, Change]:
        """The created objects that are shown in the entry of their parent, by the address of the parent."""
        return {
            address.rpartition("/")[0]: change
            for address, change in plan_words.changes_shown_in_parent(self.plan).items()
        }

    @cached_property
    def shows_causes(self) -> bool:
        """Whether to show why each field differs: not if all changes are edits of these files."""
        causes = {
            cause
            for change in self.plan.changes
            for cause in (change.cause, *(difference.cause for difference in change.differences))
        }
        return not causes <= {"edited here", None}

    def entries(self) -> Iterator[ViewEntry]:
        """Yield an entry for each change, then entries for what belongs to no change.

        These are URLs, exposures (increases of access), blockers, notes and refusals.
        """
        plan, related_by_address = self.plan, self._related_items()
        for address, change in self.changes.items():
            yield self._entry(plan, change, related_by_address.pop(address, RelatedItems()))
        unrelated = related_by_address.values()
        for impacts in (related.urls for related in unrelated if related.urls):
            name = "broken-url" if any(map(is_broken, impacts)) else "url"
            yield standalone_entry(plan, impacts[0].address, name, "~", url_sentences(plan, impacts))
        for exposure in (exposure for related in unrelated for exposure in related.exposures):
            address = str(FieldAddress(exposure.location, exposure.field or None))
            yield standalone_entry(
                plan, address, "exposure", "!", [Sentence(visible(exposure.words), opens_access=True)]
            )
        yield from (blocked_entry(plan, blocked) for related in unrelated for blocked in related.blocked)
        yield from (note_entry(plan, note) for related in unrelated for note in related.notes)
        yield from (refusal_entry(plan, refusal) for related in unrelated for refusal in related.refusals)

    def _related_items(self) -> dict[str, RelatedItems]:
        """Return the exposures, URLs, blockers, notes and refusals of each object, by address.

        A changed URL belongs to the nearest of its object and the containing objects that the plan changes.
        """
        by_address: dict[str, RelatedItems] = defaultdict(RelatedItems)
        for exposure in self.plan.exposures:
            by_address[exposure.address].exposures.append(exposure)
        for url in self.plan.urls:
            ancestors = map(str, url.location.self_and_ancestors())
            by_address[
                next((ancestor for ancestor in ancestors if ancestor in self.changes), url.address)
            ].urls.append(url)
        for blocked in self.plan.blocked:
            by_address[_object_address(blocked.address)].blocked.append(blocked)
        for note in self.plan.notes:
            if not (note.permanent or note.detail):
                by_address[_object_address(note.address)].notes.append(note)
        for refusal in self.plan.refusals:
            by_address[_object_address(refusal.address)].refusals.append(refusal)
        return dict(by_address)

    def _entry(self, plan: Plan, change: Change, related: RelatedItems) -> ViewEntry:
        """Return the entry of a changed object with its fields, sentences, topics and level."""
        exposing_fields = {exposure.field for exposure in related.exposures}
        fields = tuple(self._fields(plan, change, exposing_fields))
        topics = [
            *(["refusal"] if related.refusals else []),
            *(["delete"] if change.action == "delete" else []),
            *(["exposure"] if related.exposures else []),
            *(["broken-url"] if any(map(is_broken, related.urls)) else ["url"] if related.urls else []),
            *(["blocked"] if related.blocked else []),
            "change",
        ]
        return ViewEntry(
            address=visible(change.address),
            title=self.names.title(
                change.kind,
                _address_for_people(change),
                "" if change.action == "update" else change.label,
                change.inside,
            ),
            kind=kind_noun(change.kind),
            label="" if change.action == "update" else visible(change.label),
            key=self.names.key(change.kind, _address_for_people(change), change.inside),
            sign=plan_words.SIGNS[change.action],
            code=related.refusals[0].code if related.refusals else "",
            name=topics[0],
            topics=tuple(topics),
            level=_highest_level(topics),
            fails=bool(related.refusals),
            origin=plan_words.edit_location(
                plan, change.address, (difference.field for difference in change.differences)
            )
            if change.action == "update"
            else find_origin(plan, change.address),
            removed_from=visible(change.removed.file) if change.removed is not None else "",
            parent_origin=enclosing_origin(plan, change.address),
            fields=fields,
            all_sentences=tuple(
                self._sentences(plan, change, related, {field.name for field in fields if field.opens_access})
            ),
            created=change.action == "create",
        )

    def _fields(self, plan: Plan, change: Change, exposing_fields: set[str]) -> Iterator[ViewField]:
        """Yield the fields of a change, except the ones that the title of the entry shows.

        `exposing_fields` are the fields whose change opens access. A created object also shows the fields of
        a child that has no entry of its own.
        """
        created = change.action == "create"
        for difference in change.differences:
            in_title = created and (
                (difference.field == "title" and difference.after == change.label)
                or (bool(change.inside) and difference.field == "group")
            )
            if not in_title:
                yield self._field(plan, change, difference, difference.field in exposing_fields)
        if child := self.shown_in_parent.get(change.address) if created else None:
            for difference in child.differences:
                if difference.field != "path":
                    child_field = self._field(plan, child, difference, False)
                    yield replace(child_field, name=f"shows {child_field.name}")

    def _field(self, plan: Plan, change: Change, difference: Difference, opens_access: bool) -> ViewField:
        """Return a field of a change with its values as in files, its cause and its location."""
        cause = (
            plan_words.cause_label(difference.cause)
            if self.shows_causes and change.action != "create"
            else ""
        )
        return ViewField(
            difference.field,
            self.names.as_in_files(change.kind, difference.field, difference.before),
            self.names.as_in_files(change.kind, difference.field, difference.after),
            unread="" if difference.known else "before",
            cause=", ".join(filter(None, (cause, plan_words.kept_value_reason(difference)))),
            origin=plan.origins.get(str(change.location.field(difference.field))),
            unchanged=difference.inherited is not None,
            opens_access=opens_access,
        )

    def _sentences(
        self, plan: Plan, change: Change, related: RelatedItems, exposing_fields: set[str]
    ) -> Iterator[Sentence]:
        """Yield the sentences about a change, which follow its fields.

        They say how the object was matched, and name the effects, exposures (who can see or do more), URLs,
        causes, blockers, notes and refusals. `exposing_fields` are the shown fields that already have the
        mark "opens access".
        """
        if match := plan_words.match_text(plan, change):
            yield Sentence(match, verbosity=1, tone="faint")
        elif change.action != "delete" and change.id:
            yield Sentence(f"is {visible(change.id)}", verbosity=1, tone="faint")
        yield from map(Sentence, plan_words.change_remarks(change))
        if change.moved:
            yield Sentence(plan_words.move_text(change), verbosity=int(change.action == "create"))
        yield from map(Sentence, plan_words.confirmed_actions(change))
        if any(step.summary == SHOW_SUMMARY for step in change.steps):
            yield Sentence("created hidden, and shown at the end of the apply", verbosity=1)
        if change.action == "delete":
            if effects := plan_words.delete_effects(change):
                yield Sentence(effects)
            yield from (
                Sentence(visible(effect.what), visible(effect.address), verbosity=1)
                for effect in change.effects
            )
            yield from (
                Sentence(visible(effect.what))
                for effect in change.effects
                if not (effect.counts or effect.kind)
            )
        else:
            yield from (Sentence(visible(effect.what)) for effect in change.effects)
        for exposure in related.exposures:
            if exposure.field not in exposing_fields:
                yield Sentence(visible(exposure.words), opens_access=True)
            elif not plan_words.is_said_by_field_line(exposure):
                yield Sentence(visible(exposure.words), tone="exposed")
        yield from url_sentences(plan, related.urls)
        cause = plan_words.cause_label(
            change.cause,
            "made" if plan_words.is_restored(change) else plan_words.WHOLE_CHANGE_SUBJECTS[change.action],
        )
        if self.shows_causes and cause:
            yield Sentence(cause, tone="faint")
        if reason := needed_by_text(plan, change.address):
            yield Sentence(reason)
        for blocked in related.blocked:
            yield from blocked_sentences(blocked)
        yield from (note_sentence(note) for note in related.notes)
        for refusal in related.refusals:
            yield from refusal_sentences(refusal)
        if change.action != "delete":
            steps = (f"{step.method} {visible(step.path)}" for step in change.steps)
            yield from (Sentence(step, verbosity=2, tone="faint") for step in steps)


def _address_for_people(change: Change) -> str:
    """Return the address of a changed object that people know: of a removed entry, its former address."""
    return change.removed.address if change.removed is not None else change.address


def _object_address(address: str) -> str:
    """Return the address of an object from an address that may end with a field (`acme/teams/docs#title`)."""
    return address.partition("#")[0]


_LEVEL_OF_TOPIC: Final[dict[str, Level]] = {
    "refusal": "error", "delete": "warning", "exposure": "warning", "broken-url": "warning",
    "blocked": "warning", "url": "note", "change": "note",
}  # fmt: skip


def _highest_level(topics: Iterable[str]) -> Level:
    """Return the highest level of several topics."""
    return min((_LEVEL_OF_TOPIC[topic] for topic in topics), key=LEVELS.index)


def needed_by_text(plan: PlanOrDrift, address: str) -> str:
    """Return why a plan has an object that nobody selected: another object needs it; "" for other objects."""
    added_objects = plan.part.also if plan.part is not None else ()
    return next(
        (
            f"not selected, but needed by {visible(added.needed_by)}"
            for added in added_objects
            if added.address == address
        ),
        "",
    )


def url_sentences(plan: Plan, impacts: list[UrlImpact]) -> Iterator[Sentence]:
    """Yield which URLs change, then what becomes of the old URLs, with the lines that redirect them."""
    impacts = sorted(impacts, key=lambda impact: (impact.before or "", impact.after or ""))
    for impact in impacts:
        subject, text = url_change_text(impact)
        yield Sentence(visible(text), subject, is_copied=True, aligned=True)
    for outcome, redirects in old_url_outcomes(impacts, plan):
        yield Sentence(outcome, tone="warning" if "stop working" in outcome else "plain", is_copied=True)
        yield from (Sentence(line, is_command=True, is_copied=True) for line in redirects)


def standalone_entry(
    plan: PlanOrDrift, address: str, name: str, sign: str, sentences: Iterable[Sentence]
) -> ViewEntry:
    """Return an entry for an exposure, URL or blocker that belongs to no change."""
    return ViewEntry(
        address=visible(address),
        title=visible(address),
        sign=sign,
        name=name,
        topics=(name,),
        level=_highest_level([name]),
        origin=find_origin(plan, address),
        parent_origin=enclosing_origin(plan, address),
        all_sentences=tuple(sentences),
    )


def blocked_entry(plan: PlanOrDrift, blocked: Blocked) -> ViewEntry:
    """Return an entry for a blocked object that does not change."""
    return standalone_entry(plan, blocked.address, "blocked", "!", blocked_sentences(blocked))


def blocked_sentences(blocked: Blocked) -> Iterator[Sentence]:
    """Yield why an object is blocked, and what a person must do."""
    yield Sentence(visible(blocked.reason), "blocked", tone="warning")
    if blocked.todo:
        yield Sentence(visible(blocked.todo), "to do")


def note_sentence(note: Note) -> Sentence:
    """Return a note (a remark or warning of the plan about one address) as a sentence."""
    return Sentence(
        visible(note.text), note.severity, tone="warning" if note.severity == "warning" else "plain"
    )


def note_entry(plan: PlanOrDrift, note: Note) -> ViewEntry:
    """Return an entry of one line for a note: a remark or warning of the plan about one address."""
    is_warning = note.severity == "warning"
    return ViewEntry(
        address=visible(note.address),
        title=f"{note.severity}: {visible(note.address)}",
        message=visible(note.text),
        name=note.severity,
        level="warning" if is_warning else "note",
        origin=plan.origins.get(note.address),
        parent_origin=enclosing_origin(plan, note.address),
        one_line=True,
    )


def refusal_sentences(refusal: Refusal) -> Iterator[Sentence]:
    """Yield why a plan cannot be applied, the objects that an entry could be, and how to answer."""
    yield Sentence(f"{visible(refusal.message)} ({refusal.code})", "refused", tone="bad", is_copied=True)
    yield from (
        Sentence(describe_candidate(candidate), is_candidate=True) for candidate in refusal.candidates
    )
    yield Sentence(visible(refusal.way_out), is_copied=True)


def refusal_entry(plan: PlanOrDrift, refusal: Refusal) -> ViewEntry:
    """Return an entry for a refusal that belongs to no change."""
    sentences = [
        Sentence(describe_candidate(candidate), is_candidate=True) for candidate in refusal.candidates
    ]
    sentences.append(Sentence(visible(refusal.way_out), is_copied=True))
    return ViewEntry(
        address=visible(refusal.address),
        title=visible(refusal.address),
        message=visible(refusal.message),
        sign="x",
        code=refusal.code,
        name="refusal",
        topics=("refusal",),
        level="error",
        fails=isinstance(plan, Plan),
        origin=find_origin(plan, refusal.address),
        parent_origin=enclosing_origin(plan, refusal.address),
        all_sentences=tuple(sentences),
    )


def side_blocks(plan: PlanOrDrift) -> list[Block]:
    """Return the blocks after the main list, for -v and pages: problems, notes and unmanaged objects."""
    blocks = Blocks()

    def lines(items: Iterable[Any], text: Callable[[Any], str], sign: str = "") -> Iterator[ViewEntry]:
        """Yield an entry of one line for each item, with its address and the text of `text`."""
        for item in items:
            yield ViewEntry(
                visible(item.address), visible(item.address), message=visible(text(item)), sign=sign,
                origin=find_origin(plan, item.address), parent_origin=enclosing_origin(plan, item.address),
                one_line=True,
            )  # fmt: skip

    blocks.add(
        "trouble",
        "Problems that GitBook reports: {}",
        "warning",
        lines(plan.trouble, lambda trouble: trouble.what, "!"),
        detail=1,
    )
    details = [note for note in plan.notes if note.detail]
    blocks.add(
        "detail",
        "Lines that you can remove: {}",
        "none",
        lines(details, lambda note: note.text),
        detail=1,
    )
    permanent = [note for note in plan.notes if note.permanent]
    title = "Fields that GitBook does not return: {}"
    blocks.add("permanent", title, "none", lines(permanent, lambda note: note.text), detail=1)
    title = "Accepted problems: {}"
    blocks.add("accepted", title, "none", lines(plan.accepted, lambda trouble: trouble.what), detail=1)
    title = "Work that GitBook has not finished: {}"
    blocks.add("waiting", title, "none", lines(plan.waiting, lambda work: work.what, "…"), detail=1)
    unmanaged_count = sum(len(kept.addresses) for kept in plan.kept)
    unmanaged = (
        ViewEntry(
            visible(kept.place),
            visible(kept.place),
            message=plan_words.unmanaged_text(kept),
            one_line=True,
        )
        for kept in plan.kept
    )
    blocks.add(
        "kept",
        f"Objects without an entry, which dpsync keeps: {unmanaged_count}",
        "none",
        unmanaged,
        detail=1,
    )
    return blocks.blocks
