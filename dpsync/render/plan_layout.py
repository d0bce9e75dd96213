"""Lay out a plan as a view: one entry for each object that changes, then what stops the plan.

`plan_view` makes the whole view. The changes are in natural order, but the digest is computed from the order
of the plan. `side_blocks` makes the blocks beside the list, for plans and drifts. `deviations` shows what
went otherwise than planned in a rehearsal.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Any, Final

from msgspec import Struct, field
from msgspec.structs import replace

from dpsync.model.address import FieldAddress
from dpsync.model.change import SHOW, Blocked, Change, Difference, Exposure, NavigationChange, Note, UrlImpact
from dpsync.model.plan import DIGITS, Plan, Rehearsal, count_deletes
from dpsync.model.question import Refusal
from dpsync.model.text import command
from dpsync.model.urls import is_preview_link
from dpsync.render import plan_words, report_words
from dpsync.render.candidate import candidate
from dpsync.render.effect_words import merged
from dpsync.render.names import Names, in_natural_order, kind_noun, names_of
from dpsync.render.plan_words import PlanOrDrift, enclosing_origin, head, origin, part_lines
from dpsync.render.url_words import breaks, old_urls, readers_glance, url_change
from dpsync.render.view import (
    LEVELS,
    Block,
    Blocks,
    Glance,
    Level,
    View,
    ViewEntry,
    ViewField,
    ViewLine,
    ViewLink,
    Word,
)
from dpsync.render.visible import visible


def deviations(plan: Plan, rehearsal: Rehearsal) -> list[Block]:
    """Return each deviation, with its line in the files."""
    blocks = Blocks()
    entries = (
        ViewEntry(
            visible(one.address or ""),
            visible(one.step or one.address or one.what),
            message=report_words.deviation(one),
            sign="x",
            where=one.origin or plan.origins.get(one.address or ""),
        )
        for one in rehearsal.deviations
    )
    blocks.add("deviation", "Problems of the rehearsal: {}", "error", entries, fails=True)
    return blocks.found


_ORDER: Final = ("create", "update", "delete")


def plan_view(plan: Plan, digest: str | None = None, rehearsal: Rehearsal | None = None) -> View:
    """Return the view of a plan.

    Args:
        digest: The digest of the plan before its secrets were masked; None for the digest of this plan.
        rehearsal: The rehearsal of the plan, whose deviations and result become part of the view.
    """
    digest = digest or plan.digest
    plan = plan.model_copy(update={"changes": _in_order(plan.changes)})
    verdict = [ViewLine(text, "good" if plan.empty else "strong") for text in plan_words.verdict(plan)]
    if refused := plan_words.refused(plan):
        verdict.append(ViewLine(refused, "bad"))
    blocks, before, details = plan_blocks(plan), hints(plan), facts(plan, digest, plan_words.effort(plan))
    if rehearsal is not None:
        blocks += deviations(plan, rehearsal)
        result, unchecked = report_words.two_lines(rehearsal)
        if not rehearsal.fit:
            result = report_words.summary(rehearsal)
            verdict.append(ViewLine(report_words.rehearsal_verdict(rehearsal), "bad"))
        before, details = (*before, result), (unchecked, *details)
    return View(
        tuple(verdict),
        tuple(blocks),
        before,
        details,
        glances=tuple(_key_figures(plan)),
        previews=tuple(previews(plan)),
    )


def previews(plan: Plan) -> Iterator[ViewLink]:
    """Yield the links to the previews of changed sites, except URLs that a forged document makes unsafe."""
    for one in plan.previews:
        if is_preview_link(one.url):
            yield ViewLink(visible(one.title), one.url)


def _in_order(changes: Iterable[Change]) -> tuple[Change, ...]:
    """Return creates, updates and deletes, each in natural order."""
    found = in_natural_order(list(changes), lambda one: one.location, lambda one: one.action == "delete")
    return tuple(sorted(found, key=lambda one: _ORDER.index(one.action)))


def _key_figures(plan: Plan) -> Iterator[Glance]:
    """Yield the key figures of a plan: refusals, deletes, opened access, changes for readers, the rest."""
    if plan.empty and not plan.refusals:
        return
    if plan.refusals:
        yield Glance(len(plan.refusals), plan_words.refusals_glance(len(plan.refusals)), "refusal", "error")
    yield Glance(count_deletes(plan.changes).number, "to delete", "delete", "error")
    yield Glance(
        len({item.address for item in plan.exposures}), plan_words.EXPOSURES_GLANCE, "exposure", "warning"
    )
    urls, broken, sites = len(plan.urls), sum(map(breaks, plan.urls)), len(plan.navigation)
    topic = "broken-url" if broken else "navigation" if sites else "url"
    yield Glance(urls + sites, readers_glance(urls, broken, sites), topic, "warning" if broken else "note")
    other_changes = sum(change.action != "delete" for change in plan.changes)
    yield Glance(other_changes, plan_words.changes_glance(other_changes), "change")


def hints(plan: PlanOrDrift) -> tuple[str, ...]:
    """Return the lines before the verdict."""
    nothing_left = isinstance(plan, Plan) and plan.reverts is not None and plan.empty and plan.can_apply
    older = f"To list older applies: {command('history')}" if nothing_left else ""
    missing = plan_words.missing_for_access(plan) if isinstance(plan, Plan) else ""
    return tuple(filter(None, (missing, plan_words.trouble(plan), older)))


def facts(plan: PlanOrDrift, digest: str = "", effort: str = "") -> tuple[str, ...]:
    """Return platform, part, digest, commit compared with, coverage, and number of requests."""
    digest = f"digest {digest[:DIGITS]}" if digest and isinstance(plan, Plan) and not plan.empty else ""
    lines = (*head(plan), *part_lines(plan), digest, plan_words.base(plan), plan_words.coverage(plan), effort)
    return tuple(filter(None, lines))


def plan_blocks(plan: Plan) -> list[Block]:
    """Return the blocks of a plan: the list of changes, the navigations, and the side blocks."""
    listing = Listing(plan)
    entries = tuple(listing.entries())
    blocks = Blocks([Block("", entries)] if entries else [])
    navigation = (_navigation(plan, listing.names, one) for one in plan.navigation)
    blocks.add("navigation", "Navigation before and after", "none", navigation, detail=1)
    return [*blocks.found, *side_blocks(plan)]


class Belonging(Struct):
    """Everything in a plan about one object except its change."""

    exposures: list[Exposure] = field(default_factory=list)
    urls: list[UrlImpact] = field(default_factory=list)
    blocked: list[Blocked] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)


class Listing(Struct, dict=True):
    """The list of a plan. Everything about an object is in the entry of the object."""

    plan: Plan

    @cached_property
    def names(self) -> Names:
        return names_of(self.plan)

    @cached_property
    def changes(self) -> dict[str, Change]:
        """The changes that have an entry of their own, by address."""
        folded = plan_words.folded(self.plan)
        return {one.address: one for one in self.plan.changes if one.address not in folded}

    @cached_property
    def shown_in_parent(self) -> dict[str, Change]:
        """The created objects that are shown in the entry of their parent, by the address of the parent."""
        return {address.rpartition("/")[0]: one for address, one in plan_words.folded(self.plan).items()}

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
        plan, belonging = self.plan, self._belonging()
        for address, change in self.changes.items():
            yield self._entry(plan, change, belonging.pop(address, Belonging()))
        rest = belonging.values()
        for urls in (own.urls for own in rest if own.urls):
            name = "broken-url" if any(map(breaks, urls)) else "url"
            yield alone(plan, urls[0].address, name, "~", url_words(plan, urls))
        for item in (item for own in rest for item in own.exposures):
            address = str(FieldAddress(item.location, item.field or None))
            yield alone(plan, address, "exposure", "!", [Word(visible(item.words), opens=True)])
        yield from (blocked_entry(plan, item) for own in rest for item in own.blocked)
        yield from (note_entry(plan, note) for own in rest for note in own.notes)
        yield from (refusal_entry(plan, item) for own in rest for item in own.refusals)

    def _belonging(self) -> dict[str, Belonging]:
        """Return what belongs to each object, by address.

        A URL below a changed object belongs to the change.
        """
        by_address: dict[str, Belonging] = defaultdict(Belonging)
        for exposure in self.plan.exposures:
            by_address[exposure.address].exposures.append(exposure)
        for url in self.plan.urls:
            upward = map(str, url.location.upward())
            by_address[next((one for one in upward if one in self.changes), url.address)].urls.append(url)
        for item in self.plan.blocked:
            by_address[_object_address(item.address)].blocked.append(item)
        for note in self.plan.notes:
            if not (note.permanent or note.detail):
                by_address[_object_address(note.address)].notes.append(note)
        for refusal in self.plan.refusals:
            by_address[_object_address(refusal.address)].refusals.append(refusal)
        return dict(by_address)

    def _entry(self, plan: Plan, change: Change, own: Belonging) -> ViewEntry:
        """Return the entry of a changed object."""
        opening = {item.field for item in own.exposures}
        fields = tuple(self._fields(plan, change, opening))
        topics = [
            *(["refusal"] if own.refusals else []),
            *(["delete"] if change.action == "delete" else []),
            *(["exposure"] if own.exposures else []),
            *(["broken-url"] if any(map(breaks, own.urls)) else ["url"] if own.urls else []),
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
            level=_level(topics),
            fails=bool(own.refusals),
            where=plan_words.edit_location(plan, change.address, (one.field for one in change.differences))
            if change.action == "update"
            else origin(plan, change.address),
            removed_from=visible(change.removed.file) if change.removed is not None else "",
            enclosing=enclosing_origin(plan, change.address),
            fields=fields,
            words=tuple(self._words(plan, change, own, {item.name for item in fields if item.opens})),
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
        cause = plan_words.why(item.cause) if self.shows_causes and change.action != "create" else ""
        return ViewField(
            item.field,
            self.names.written(change.kind, item.field, item.before),
            self.names.written(change.kind, item.field, item.after),
            unread="" if item.known else "before",
            cause=", ".join(filter(None, (cause, plan_words.kept(item)))),
            where=plan.origins.get(str(change.location.field(item.field))),
            stays=item.inherited is not None,
            opens=opens,
        )

    def _words(self, plan: Plan, change: Change, own: Belonging, opening: set[str]) -> Iterator[Word]:
        """Yield the sentences below the fields of a change."""
        if found := plan_words.recognised(plan, change):
            yield Word(found, detail=1, tone="faint")
        elif change.action != "delete" and change.id:
            yield Word(f"is {visible(change.id)}", detail=1, tone="faint")
        yield from map(Word, plan_words.facts(change))
        if change.moved:
            yield Word(plan_words.move_text(change), detail=int(change.action == "create"))
        yield from map(Word, plan_words.acts(change))
        if any(step.summary == SHOW for step in change.steps):
            yield Word("created hidden, and shown at the end of the apply", detail=1)
        if change.action == "delete":
            if cascade := plan_words.removed_along(change):
                yield Word(cascade)
            yield from (Word(visible(x.what), visible(x.address), detail=1) for x in change.effects)
            yield from (Word(visible(x.what)) for x in change.effects if not (x.counts or x.kind))
        else:
            yield from (Word(visible(one.what)) for one in change.effects)
        yield from self._exposure_words(change, own.exposures, opening)
        yield from url_words(plan, own.urls)
        cause = plan_words.why(
            change.cause, "made" if plan_words.restored(change) else plan_words.WHOLE[change.action]
        )
        if self.shows_causes and cause:
            yield Word(cause, tone="faint")
        if needed := needed_by(plan, change.address):
            yield Word(needed)
        for blocked in own.blocked:
            yield from blocked_words(blocked)
        yield from (note_word(note) for note in own.notes)
        for refusal in own.refusals:
            yield from refusal_words(refusal)
        if change.action != "delete":
            steps = (f"{step.method} {visible(step.path)}" for step in change.steps)
            yield from (Word(step, detail=2, tone="faint") for step in steps)

    @staticmethod
    def _exposure_words(change: Change, items: Iterable[Exposure], opening: set[str]) -> Iterator[Word]:
        """Yield who gains access, or what opens access, unless a field says so."""
        for item in items:
            if item.field not in opening:
                yield Word(visible(item.words), opens=True)
            elif not plan_words.said_by_field(item):
                yield Word(visible(item.words), tone="exposed")


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


def _level(topics: Iterable[str]) -> Level:
    """Return the highest level of several topics."""
    return min((_LEVEL_OF_TOPIC[topic] for topic in topics), key=LEVELS.index)


def needed_by(plan: PlanOrDrift, address: str) -> str:
    """Return why an object is planned that nobody selected; empty if somebody did."""
    also = plan.part.also if plan.part is not None else ()
    return next(
        (f"not selected, but needed by {visible(x.needed_by)}" for x in also if x.address == address), ""
    )


def url_words(plan: Plan, items: list[UrlImpact]) -> Iterator[Word]:
    """Yield which URLs change, then what becomes of the old ones."""
    items = sorted(items, key=lambda item: (item.before or "", item.after or ""))
    for item in items:
        about, text = url_change(item)
        yield Word(visible(text), about, copied=True, aligned=True)
    for said, lines in old_urls(items, plan):
        yield Word(said, tone="warning" if "stop working" in said else "plain", copied=True)
        yield from (Word(line, command=True, copied=True) for line in lines)


def alone(plan: PlanOrDrift, address: str, name: str, sign: str, said: Iterable[Word]) -> ViewEntry:
    """Return an entry for something that belongs to no change."""
    return ViewEntry(
        address=visible(address),
        title=visible(address),
        sign=sign,
        name=name,
        topics=(name,),
        level=_level([name]),
        where=origin(plan, address),
        enclosing=enclosing_origin(plan, address),
        words=tuple(said),
    )


def blocked_entry(plan: PlanOrDrift, item: Blocked) -> ViewEntry:
    """Return an entry for a blocked object that does not change."""
    return alone(plan, item.address, "blocked", "!", blocked_words(item))


def blocked_words(item: Blocked) -> Iterator[Word]:
    """Yield why an object is blocked, and what a person must do."""
    yield Word(visible(item.reason), "blocked", tone="warning")
    if item.todo:
        yield Word(visible(item.todo), "to do")


def note_word(note: Note) -> Word:
    """Return a note as a sentence."""
    return Word(visible(note.text), note.severity, tone="warning" if note.severity == "warning" else "plain")


def note_entry(plan: PlanOrDrift, note: Note) -> ViewEntry:
    """Return an entry of one line for a note."""
    loud = note.severity == "warning"
    return ViewEntry(
        address=visible(note.address),
        title=f"{note.severity}: {visible(note.address)}",
        message=visible(note.text),
        name=note.severity,
        level="warning" if loud else "note",
        where=plan.origins.get(note.address),
        enclosing=enclosing_origin(plan, note.address),
        one_line=True,
    )


def refusal_words(item: Refusal) -> Iterator[Word]:
    """Yield why a plan cannot be applied, what the entry could be, and the way out."""
    yield Word(f"{visible(item.message)} ({item.code})", "refused", tone="bad", copied=True)
    yield from (Word(candidate(one), choice=True) for one in item.candidates)
    yield Word(visible(item.way_out), copied=True)


def refusal_entry(plan: PlanOrDrift, item: Refusal) -> ViewEntry:
    """Return an entry for a refusal that belongs to no change."""
    more = [Word(candidate(one), choice=True) for one in item.candidates]
    more.append(Word(visible(item.way_out), copied=True))
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
        where=origin(plan, item.address),
        enclosing=enclosing_origin(plan, item.address),
        words=tuple(more),
    )


def _navigation(plan: Plan, names: Names, item: NavigationChange) -> ViewEntry:
    """Return the entry with the navigation of a site before and after."""
    return ViewEntry(
        address=visible(item.address),
        title=f"navigation of {visible(item.address)}",
        message=""
        if item.known
        else "not known before the apply, because GitBook chooses the new position of the top-level spaces",
        sign="~" if item.known else "?",
        topics=("navigation",),
        where=origin(plan, item.address),
        enclosing=enclosing_origin(plan, item.address),
        tree=tuple(merged(item)) if item.known else (),
    )


def side_blocks(plan: PlanOrDrift) -> list[Block]:
    """Return the blocks beside the list, for -v, pages and programs."""
    blocks = Blocks()

    def lines(items: Iterable[Any], text: Callable[[Any], str], sign: str = "") -> Iterator[ViewEntry]:
        for one in items:
            yield ViewEntry(
                visible(one.address), visible(one.address), message=visible(text(one)), sign=sign,
                where=origin(plan, one.address), enclosing=enclosing_origin(plan, one.address), one_line=True,
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
        ViewEntry(visible(one.place), visible(one.place), message=plan_words.unmanaged(one), one_line=True)
        for one in plan.kept
    )
    blocks.add("kept", f"Objects without an entry, which dpsync keeps: {number}", "none", kept, detail=1)
    return blocks.found
