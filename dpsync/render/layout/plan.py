"""A plan → its view: deletes, why it may not be applied, what becomes more visible, the rest."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from dpsync.model.entries.address import FieldAddress
from dpsync.model.findings.question import Refusal
from dpsync.model.plans.cause import Group, group
from dpsync.model.plans.change import Change
from dpsync.model.plans.delete_count import count_deletes
from dpsync.model.plans.grouping import parts
from dpsync.model.plans.impact import Exposure, NavigationChange, UrlImpact
from dpsync.model.plans.plan import DIGITS, Plan
from dpsync.model.plans.rehearsal import Rehearsal
from dpsync.model.plans.remark import Blocked, Kept, Note, PlatformTrouble
from dpsync.model.texts.words import counted
from dpsync.render.layout.deviations import deviation_blocks
from dpsync.render.layout.view import (
    Block,
    Blocks,
    Glance,
    OutlineLine,
    View,
    ViewEntry,
    ViewField,
    ViewLine,
    Word,
)
from dpsync.render.words import plan as words
from dpsync.render.words import rehearsal as rehearsal_words
from dpsync.render.words.candidate import candidate
from dpsync.render.words.head import head, part_lines
from dpsync.render.words.natural_order import in_natural_order
from dpsync.render.words.navigation import merged
from dpsync.render.words.plan import PlanOrDrift, enclosing_origin, origin
from dpsync.render.words.urls import (
    breaks,
    readers_glance,
    redirect_line,
    url_sign,
    url_words,
    urls_headline,
)
from dpsync.render.words.visible import visible

_PARTS: dict[Group, str] = {"this change": "change", "there already": "drift", "origin unknown": "change"}
"""How the blocks of the parts of a plan are called."""
_BROKEN = "Public URLs that will lead nowhere, or are not known before: {}"
_URLS = "Public URLs that change, or are new: {}"
_NAMED = 10
"""Unmanaged things of a place that are named; a terminal names fewer."""


def plan_view(plan: Plan, digest: str | None = None, rehearsal: Rehearsal | None = None) -> View:
    """All that is told of a plan. `digest`: that of the plan before secrets were masked in it.

    The changes are in natural order here, in every format. The digest needs the order of the plan.
    """
    digest = digest or plan.digest
    changes = in_natural_order(plan.changes, lambda one: one.location, lambda one: one.action == "delete")
    plan = plan.model_copy(update={"changes": changes})
    verdict = [ViewLine(words.summary(plan), "good" if plan.empty else "strong")]
    if refused := words.refused(plan):
        verdict.append(ViewLine(refused, "bad"))
    blocks, rehearsed = plan_blocks(plan), tuple[str, ...]()
    if rehearsal is not None:
        blocks += deviation_blocks(plan, rehearsal)
        rehearsed = rehearsal_words.two_lines(rehearsal)
        if not rehearsal.fit:
            verdict.append(ViewLine(rehearsal_words.verdict(rehearsal), "bad"))
    return View(
        tuple(verdict),
        about(plan),
        tuple(blocks),
        (*map(ViewLine, rehearsed), *_digest(plan, digest), *foot(plan)),
        addition=words.in_trouble(plan),
        effort=words.effort(plan),
        counts=tuple(words.divided(plan)),
        outline=tuple(_outlined(plan, change) for change in plan.changes),
        as_tree=True,
        glances=tuple(_glances(plan)),
    )


def _glances(plan: Plan) -> Iterator[Glance]:
    """Why it may not be applied, what goes, what opens, what changes for readers, and all that stays."""
    if plan.empty and not plan.refusals:
        return
    if plan.refusals:
        yield Glance(len(plan.refusals), words.refusals_glance(len(plan.refusals)), "refusal", "error")
    deletes = count_deletes(plan.changes).number
    yield Glance(deletes, words.deletes_glance(deletes), "delete", "error")
    yield Glance(len(plan.exposures), words.EXPOSURES_GLANCE, "exposure", "warning")
    urls, broken, sites = len(plan.urls), sum(map(breaks, plan.urls)), len(plan.navigation)
    block = "broken-url" if broken else "navigation" if sites else "url"
    yield Glance(urls + sites, readers_glance(urls, broken, sites), block, "warning" if broken else "note")
    stays = sum(change.action != "delete" for change in plan.changes)
    yield Glance(stays, words.changes_glance(stays), "change")


def plan_blocks(plan: Plan) -> list[Block]:
    blocks = Blocks()
    goes = (change_entry(plan, change) for change in plan.changes if change.action == "delete")
    deletes = words.headline(plan)
    blocks.add("delete", deletes, "warning", goes, headline=deletes, tone="bad", outlined=True, placed=False)
    refused = "This plan may not be applied"
    blocks.found += refusal_blocks(plan, refused, fails=True)
    exposed = (_exposure(plan, one) for one in plan.exposures)
    headline = words.exposed_headline(plan)
    blocks.add("exposure", headline, "warning", exposed, headline=headline, tone="exposed")
    navigation = (_navigation(plan, one) for one in plan.navigation)
    blocks.add("navigation", "Navigation before and after", "note", navigation, shape="trees")
    urls = [(_url(plan, one), breaks(one) or not one.known) for one in plan.urls]
    headline = urls_headline(plan)
    broken = [entry for entry, is_broken in urls if is_broken]
    blocks.add("broken-url", _BROKEN, "warning", broken, headline=headline, placed=False)
    others = [entry for entry, is_broken in urls if not is_broken]
    blocks.add("url", _URLS, "note", others, headline=headline, placed=False)
    divided = bool(words.divided(plan))
    for part in parts(plan):
        stays = [change_entry(plan, change) for change in part.items if change.action != "delete"]
        if divided:
            stays += [_again(plan, change) for change in part.items if change.action == "delete"]
        title = "Changes" if part.group == "origin unknown" else part.title
        headline = f"{part.title}:" if divided else ""
        name = _PARTS[part.group]
        blocks.add(
            name, f"{title}: {{}}", "note", stays, headline=headline, shape="paragraphs", outlined=True
        )
    return [*blocks.found, *side_blocks(plan)]


def about(plan: PlanOrDrift) -> tuple[ViewLine, ...]:
    """Which platform, organization, environment and part."""
    return (*(ViewLine(line, "strong") for line in head(plan)), *map(ViewLine, part_lines(plan)))


def _digest(plan: Plan, digest: str) -> tuple[ViewLine, ...]:
    return () if plan.empty else (ViewLine(f"digest {digest[:DIGITS]}"),)


def foot(plan: PlanOrDrift) -> tuple[ViewLine, ...]:
    """Which commit was the base, what of this change is live already, and how much nobody watches."""
    lines = (
        ViewLine(words.base(plan), "faint"),
        ViewLine(words.same_edits(plan), "faint", full=words.same_edits(plan, None)),
        ViewLine(words.coverage(plan), "faint"),
    )
    return tuple(line for line in lines if line.text)


def change_entry(plan: Plan, change: Change) -> ViewEntry:
    whole = change.action != "update" or words.restored(change)
    cause = words.why(plan, change.cause, "made" if words.restored(change) else words.WHOLE[change.action])
    gist = words.gist(change)
    entry = ViewEntry(
        address=visible(change.address),
        gist=gist if whole or not cause else f"{gist} ({cause})".strip(),
        sign=words.SIGNS[change.action],
        where=words.edit_location(plan, change.address, (one.field for one in change.differences))
        if change.action == "update"
        else origin(plan, change.address),
        enclosing=enclosing_origin(plan, change.address),
        lead=tuple(_lead(plan, change)),
        words=tuple(_words(plan, change)),
        fields=tuple(_fields(plan, change)),
        created=change.action == "create",
        cause=cause if whole else "",
        summed_up=True,
    )
    if change.action != "delete":
        return entry
    return replace(entry, short=f'{words.noun(change.kind)} "{visible(change.label)}"')


def _lead(plan: Plan, change: Change) -> Iterator[Word]:
    """What is said of a change before its fields."""
    if found := words.recognised(plan, change):
        yield Word(found, faint=True)
    elif change.action != "delete" and change.id:
        yield Word(f"is {visible(change.id)}", detail=1, faint=True)
    yield from map(Word, words.facts(change))


def _words(plan: Plan, change: Change) -> Iterator[Word]:
    if change.moved:
        yield Word(words.move_text(change), cause=words.why(plan, change.cause, "place"))
    yield from map(Word, words.acts(change))
    yield from (Word(visible(one.what), visible(one.address)) for one in change.effects)
    if change.action != "delete":
        yield from (
            Word(f"{step.method} {visible(step.path)}", detail=2, faint=True) for step in change.steps
        )


def _outlined(plan: Plan, change: Change) -> OutlineLine:
    return OutlineLine(
        words.SIGNS[change.action],
        visible(change.address),
        words.gist(change),
        words.why_at_all(plan, change),
        expected=set(map(group, change.causes)) <= {"this change"},
        level="warning" if change.action == "delete" else "note",
    )


def _again(plan: Plan, change: Change) -> ViewEntry:
    """A delete among what else its part does: all about it stands with the deletes."""
    return replace(change_entry(plan, change), lead=(), words=(), again=True)


def _fields(plan: Plan, change: Change) -> Iterator[ViewField]:
    """The fields of a change, each with why it differs, where that is not said of the whole."""
    for item in change.differences:
        cause = words.why(plan, item.cause) if change.action != "create" else ""
        cause = ", ".join(filter(None, (cause, words.kept(item))))
        where = plan.origins.get(str(change.location.field(item.field)))
        stays = item.inherited is not None
        yield ViewField(item.field, item.before, item.after, item.known, cause, where=where, stays=stays)


def refusal_blocks(plan: PlanOrDrift, title: str, fails: bool = False) -> list[Block]:
    """Why an apply does nothing, as a block; none where it may go on."""
    blocks = Blocks()
    found = refusals(plan)
    blocks.add("refusal", title, "error", found, fails=fails, headline=f"{title}:", tone="bad", signed=False)
    return blocks.found


def refusals(plan: PlanOrDrift) -> Iterator[ViewEntry]:
    return (_refusal(plan, item) for item in plan.refusals)


def _refusal(plan: PlanOrDrift, item: Refusal) -> ViewEntry:
    more = [Word(candidate(one), "could be", choice=True) for one in item.candidates]
    more.append(Word(visible(item.way_out), "way out", copied=True))
    where = origin(plan, item.address)
    enclosing = enclosing_origin(plan, item.address)
    return ViewEntry(
        visible(item.address), visible(item.message), "x", item.code, where, enclosing, tuple(more)
    )


def _exposure(plan: Plan, item: Exposure) -> ViewEntry:
    name = str(FieldAddress(item.location, item.field or None))
    return ViewEntry(
        visible(name),
        visible(item.words),
        "^",
        where=origin(plan, name),
        enclosing=enclosing_origin(plan, name),
        owner=visible(item.address),
    )


def _navigation(plan: Plan, item: NavigationChange) -> ViewEntry:
    return ViewEntry(
        address=visible(item.address),
        gist="" if item.known else "not known before: the platform decides what becomes of its root",
        sign="~" if item.known else "?",
        where=origin(plan, item.address),
        enclosing=enclosing_origin(plan, item.address),
        tree=tuple(merged(item)) if item.known else (),
    )


def _url(plan: Plan, item: UrlImpact) -> ViewEntry:
    gist, *more = (visible(text) for text in url_words(item))
    line = visible(redirect_line(item))
    return ViewEntry(
        address=visible(item.address),
        gist=gist,
        sign=url_sign(item),
        where=origin(plan, item.address),
        enclosing=enclosing_origin(plan, item.address),
        words=tuple(Word(text, command=bool(line) and text == line) for text in more),
    )


def side_blocks(plan: PlanOrDrift) -> list[Block]:
    """What a plan and a drift tell beside what they are about."""
    blocks = Blocks()
    blocks.add("blocked", "Blocked: {}", "warning", (_blocked(plan, one) for one in plan.blocked))
    blocks.add("trouble", "Trouble on the platform: {}", "warning", (_trouble(plan, x) for x in plan.trouble))
    notes = [note for note in plan.notes if not (note.permanent or note.detail)]
    warnings = [_note(plan, one) for one in notes if one.severity == "warning"]
    blocks.add("warning", "Warnings: {}", "warning", warnings, shape="lines", prefix="warning: ")
    others = [_note(plan, one) for one in notes if one.severity != "warning"]
    blocks.add("note", "Notes: {}", "note", others, shape="lines", prefix="note: ", tone="faint")
    details = [_note(plan, one) for one in plan.notes if one.detail]
    blocks.add(
        "detail", "Lines that can be removed: {}", "none", details,
        shape="lines", prefix="note: ", tone="faint", folded="",
    )  # fmt: skip
    permanent = [_note(plan, one) for one in plan.notes if one.permanent]
    number = counted(len(permanent), "field")
    blocks.add(
        "permanent", "What cannot be compared with the platform: {}", "none", permanent,
        shape="lines", prefix="note: ", tone="faint",
        folded=f"note: {number} cannot be compared with the platform (listed with -v)",
    )  # fmt: skip
    accepted = (
        ViewEntry(visible(one.address), visible(one.what), where=origin(plan, one.address))
        for one in plan.accepted
    )
    blocks.add(
        "accepted", "Accepted problems on the platform: {}", "none", accepted,
        shape="lines", prefix="accepted: ", tone="faint", folded="",
    )  # fmt: skip
    waiting = (ViewEntry(visible(one.address), visible(one.what), "…") for one in plan.waiting)
    blocks.add("waiting", "The platform is at work: {}", "none", waiting, shape="lines", tone="faint")
    number = str(sum(len(one.addresses) for one in plan.kept))
    kept = map(_kept, plan.kept)
    blocks.add("kept", f"Unmanaged, kept: {number}", "none", kept, shape="lines", tone="faint")
    return blocks.found


def _kept(item: Kept) -> ViewEntry:
    short, full = words.unmanaged(item, 3), words.unmanaged(item)
    return ViewEntry(visible(item.place), words.unmanaged(item, _NAMED), short=short, full=full)


def _blocked(plan: PlanOrDrift, item: Blocked) -> ViewEntry:
    more = (Word(visible(item.todo), "to do"),) if item.todo else ()
    where, enclosing = origin(plan, item.address), enclosing_origin(plan, item.address)
    text = f"blocked: {visible(item.reason)}"
    return ViewEntry(visible(item.address), text, "!", where=where, enclosing=enclosing, words=more)


def _trouble(plan: PlanOrDrift, item: PlatformTrouble) -> ViewEntry:
    text = f"trouble on the platform: {visible(item.what)}"
    where, enclosing = origin(plan, item.address), enclosing_origin(plan, item.address)
    return ViewEntry(visible(item.address), text, "x", where=where, enclosing=enclosing)


def _note(plan: PlanOrDrift, item: Note) -> ViewEntry:
    where, enclosing = plan.origins.get(item.address), enclosing_origin(plan, item.address)
    return ViewEntry(visible(item.address), visible(item.text), where=where, enclosing=enclosing)
