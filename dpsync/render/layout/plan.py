"""A plan → the blocks of a view: deletes, why it may not be applied, what becomes more visible, the rest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from dpsync.model.entries.address import FieldAddress
from dpsync.model.findings.question import Refusal
from dpsync.model.plans.cause import Group
from dpsync.model.plans.change import Change, Difference
from dpsync.model.plans.grouping import parts
from dpsync.model.plans.impact import Exposure, NavigationChange, UrlImpact
from dpsync.model.plans.plan import Plan
from dpsync.model.plans.remark import Blocked, Note, PlatformTrouble
from dpsync.render.layout.view import Block, Blocks, Level, ViewEntry, ViewField, Word
from dpsync.render.words import plan as words
from dpsync.render.words.head import along, head
from dpsync.render.words.navigation import merged
from dpsync.render.words.plan import PlanOrDrift, around, origin
from dpsync.render.words.urls import breaks, redirect_line, url_sign, url_words
from dpsync.render.words.visible import visible

_PARTS: dict[Group, str] = {"this change": "change", "there already": "drift", "origin unknown": "change"}
"""How the blocks of the parts of a plan are called."""
_SEVERITIES: tuple[Level, ...] = ("warning", "note")


_BROKEN = "Public URLs that will lead nowhere, or are not known before: {}"
_URLS = "Public URLs that change, or are new: {}"


def plan_blocks(plan: Plan) -> list[Block]:
    blocks = Blocks()
    goes = (change_entry(plan, change) for change in plan.changes if change.action == "delete")
    blocks.add("delete", words.headline(plan), "warning", goes)
    blocks.add("refusal", "This plan may not be applied", "error", refusals(plan), fails=True)
    exposed = (_exposure(plan, one) for one in plan.exposures)
    blocks.add("exposure", words.exposed_headline(plan), "warning", exposed)
    navigation = (_navigation(plan, one) for one in plan.navigation)
    blocks.add("navigation", "Navigation before and after", "note", navigation)
    urls = [(_url(plan, one), breaks(one) or not one.known) for one in plan.urls]
    blocks.add("broken-url", _BROKEN, "warning", [entry for entry, broken in urls if broken])
    blocks.add("url", _URLS, "note", [entry for entry, broken in urls if not broken])
    for part in parts(plan):
        stays = [change_entry(plan, change) for change in part.items if change.action != "delete"]
        if words.divided(plan):
            stays += [_again(plan, change) for change in part.items if change.action == "delete"]
        title = "Changes" if part.group == "origin unknown" else part.title
        blocks.add(_PARTS[part.group], f"{title}: {{}}", "note", stays)
    return [*blocks.found, *beside(plan)]


def about(plan: PlanOrDrift) -> tuple[str, ...]:
    """Which platform, organization, environment and part."""
    return (*head(plan), *along(plan))


def change_entry(plan: Plan, change: Change) -> ViewEntry:
    found = (words.recognised(plan, change), *words.facts(change), *words.acts(change))
    more = [Word(text) for text in found if text]
    more += [Word(visible(one.what), visible(one.address)) for one in change.effects]
    gist = words.gist(change)
    if why := words.why(plan, change.cause, words.WHOLE[change.action]):
        gist = f"{gist} ({why})".strip()
    return ViewEntry(
        address=visible(change.address),
        gist=gist,
        sign=words.SIGNS[change.action],
        where=origin(plan, change.address),
        enclosing=around(plan, change.address),
        words=tuple(more),
        fields=tuple(fields(plan, change.differences, labelled=change.action != "create")),
        created=change.action == "create",
    )


def _again(plan: Plan, change: Change) -> ViewEntry:
    """A delete among what else its part does: all about it stands with the deletes."""
    return replace(change_entry(plan, change), words=(), again=True)


def fields(plan: Plan, found: Iterable[Difference], labelled: bool = True) -> Iterator[ViewField]:
    """The fields of a change. `labelled`: each with why it differs, where that is not said of the whole."""
    for item in found:
        label = words.why(plan, item.cause) if labelled else ""
        yield ViewField(item.field, item.before, item.after, item.known, label)


def refusals(plan: PlanOrDrift) -> Iterator[ViewEntry]:
    return (_refusal(plan, item) for item in plan.refusals)


def _refusal(plan: PlanOrDrift, item: Refusal) -> ViewEntry:
    more = [Word(words.candidate(one), "could be") for one in item.candidates]
    more.append(Word(visible(item.way_out), "way out"))
    where = origin(plan, item.address)
    enclosing = around(plan, item.address)
    return ViewEntry(
        visible(item.address), visible(item.message), "x", item.code, where, enclosing, tuple(more)
    )


def _exposure(plan: Plan, item: Exposure) -> ViewEntry:
    name = str(FieldAddress(item.location, item.field or None))
    return ViewEntry(
        visible(name), visible(item.words), "^", where=origin(plan, name), enclosing=around(plan, name)
    )


def _navigation(plan: Plan, item: NavigationChange) -> ViewEntry:
    lines = merged(item) if item.known else []
    return ViewEntry(
        address=visible(item.address),
        gist="" if item.known else "not known before: the platform decides what becomes of its root",
        sign="~" if item.known else "?",
        where=origin(plan, item.address),
        enclosing=around(plan, item.address),
        tree=tuple(f"{line.sign} {'  ' * line.depth}{visible(line.text)}" for line in lines),
    )


def _url(plan: Plan, item: UrlImpact) -> ViewEntry:
    gist, *more = (visible(text) for text in url_words(item))
    line = visible(redirect_line(item))
    return ViewEntry(
        address=visible(item.address),
        gist=gist,
        sign=url_sign(item),
        where=origin(plan, item.address),
        enclosing=around(plan, item.address),
        words=tuple(Word(text, command=bool(line) and text == line) for text in more),
    )


def beside(plan: PlanOrDrift) -> list[Block]:
    """What a plan and a drift tell beside what they are about."""
    blocks = Blocks()
    blocks.add("blocked", "Blocked: {}", "warning", (_blocked(plan, one) for one in plan.blocked))
    blocks.add("trouble", "Trouble on the platform: {}", "warning", (_trouble(plan, x) for x in plan.trouble))
    for severity in _SEVERITIES:
        found = [_note(plan, one) for one in plan.notes if one.severity == severity and not one.permanent]
        blocks.add(severity, f"{severity.capitalize()}s: {{}}", severity, found)
    permanent = (_note(plan, one) for one in plan.notes if one.permanent)
    blocks.add("permanent", "What cannot be compared with the platform: {}", "none", permanent)
    waiting = (ViewEntry(visible(one.address), visible(one.what), "…") for one in plan.waiting)
    blocks.add("waiting", "The platform is at work: {}", "none", waiting)
    kept = (ViewEntry(visible(one.place), words.unmanaged(one, 10)) for one in plan.kept)
    blocks.add("kept", f"Unmanaged, kept: {sum(len(one.addresses) for one in plan.kept)}", "none", kept)
    return blocks.found


def _blocked(plan: PlanOrDrift, item: Blocked) -> ViewEntry:
    more = (Word(visible(item.todo), "to do"),) if item.todo else ()
    where, enclosing = origin(plan, item.address), around(plan, item.address)
    text = f"blocked: {visible(item.reason)}"
    return ViewEntry(visible(item.address), text, "!", where=where, enclosing=enclosing, words=more)


def _trouble(plan: PlanOrDrift, item: PlatformTrouble) -> ViewEntry:
    text = f"trouble on the platform: {visible(item.what)}"
    where, enclosing = origin(plan, item.address), around(plan, item.address)
    return ViewEntry(visible(item.address), text, "x", where=where, enclosing=enclosing)


def _note(plan: PlanOrDrift, item: Note) -> ViewEntry:
    where, enclosing = plan.origins.get(item.address), around(plan, item.address)
    return ViewEntry(visible(item.address), visible(item.text), where=where, enclosing=enclosing)
