"""Whether what would be made is perhaps live already: asked before content is made.

A twin beside the real thing, without its pages, members or roles, is a loss that no guard against deletes
sees. So an entry of content that nothing says to be new is not made while an object of its kind is live that
nobody claims and that it could be. What is open is asked all at once; nothing of its kind is made or deleted
before that.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence

from dpsync.identity.questions import meaning
from dpsync.kinds.kind import Kind
from dpsync.model.entries.address import Address
from dpsync.model.entries.desired import Resource
from dpsync.model.entries.snapshot import Identity
from dpsync.model.entries.values import live_ids
from dpsync.model.findings.question import Candidate, Refusal, WayOut
from dpsync.model.texts.words import counted
from dpsync.planner.decide.decisions import Decisions
from dpsync.planner.inputs.sides import Sides
from dpsync.planner.questions.candidates import LOOKS, MOST, PLACE, REMOVED, CouldBe, Open
from dpsync.planner.questions.content import MayGo, may_go, unanswered
from dpsync.planner.questions.lookalikes import Lookalike, lookalikes, previous_name


def unclear(decided: Decisions, similar: Collection[Lookalike]) -> Iterator[Refusal]:
    """One refusal per entry that is open, where the plan makes or deletes something of its kind.

    Where content of that kind goes that nobody has named, whether it may is a part of the same question.
    """
    sides, deletions = decided.sides, decided.deletions
    unnamed = unanswered(decided)
    found = CouldBe(sides, decided.blocking, unnamed)
    for kind in sides.registry.ordered:
        if not kind.mistakable:
            continue
        deleted = [one for one in deletions.everything if one[0] == kind.name]
        if open_ := _asked_about(decided, found, kind, similar):
            showing = _showing(sides)
            to_delete = [identity for identity in unnamed if identity[0] == kind.name]
            may = may_go(decided, to_delete) if to_delete else None
            yield from (_refusal(sides, one, len(open_) - 1, showing, may) for one in open_)
        elif lost := [one for one in deleted if one in found.removed and not sides.policy.removed(one)]:
            to_delete = [identity for identity in unnamed if identity[0] == kind.name]
            may = may_go(decided, to_delete) if to_delete else None
            yield from (_taken_over(sides, entry, lost, may) for entry in found.taken_over(kind))


def _asked_about(
    decided: Decisions, found: CouldBe, kind: Kind, similar: Collection[Lookalike]
) -> list[Open]:
    """The open entries of a kind, where the plan makes or deletes something of it."""
    open_ = found.of(kind, similar)
    deleted = any(one[0] == kind.name for one in decided.deletions.everything)
    return open_ if deleted or any(found.made(one.resource) for one in open_) else []


def perhaps_renamed(decided: Decisions) -> dict[Address, dict[Identity, str]]:
    """By entry that is not live, what it is perhaps called now, with the reasons, the likeliest first.

    That is what a plan asks about or, where that is no content, proposes.
    """
    sides, similar = decided.sides, lookalikes(decided.sides, decided.blocking)
    reasons = {"looks": LOOKS, "place": PLACE, "removed": REMOVED}
    perhaps = {
        one.resource.address: {live.identity: reasons[one.why] for live in one.live}
        for one in similar
        if not one.kind.mistakable
    }
    found = CouldBe(sides, decided.blocking, unanswered(decided))
    for kind in sides.registry.ordered:
        for one in _asked_about(decided, found, kind, similar) if kind.mistakable else ():
            perhaps[one.resource.address] = one.could_be
    return perhaps


def _refusal(
    sides: Sides, one: Open, others: int, showing: Mapping[str, list[str]], may_go: MayGo | None
) -> Refusal:
    address, noun = one.resource.address, one.kind.noun
    candidates = tuple(candidate(sides, identity, why, showing) for identity, why in one.could_be.items())
    if not candidates:
        return Refusal(
            code="unclear",
            address=str(address),
            message=f"{one.kind.one} would be made, and {sides.base.said}, so nobody can tell whether it was "
            "there before, under another name",
            way_out="fetch the whole history (fetch-depth: 0), or add new: true if it was not",
            answers=(*_answers(sides, one.resource, candidates), *(may_go.answers if may_go else ())),
        )
    deeper = "; the whole history (fetch-depth: 0) may tell" if one.unseen_past else ""
    deleted = f". {may_go.said}" if may_go else ""
    go = f"; {may_go.way_out}" if may_go else ""
    more = f", {one.more} more than are named here" if one.more else ""
    also = f". {counted(others, f'other {noun}')} would be made and must be answered, too" if others else ""
    return Refusal(
        code="unclear",
        address=str(address),
        message=f"{one.kind.one} would be made that may be live already{more}{also}{deleted}",
        way_out=f"{_line(sides, one)} if it is that one, or new: true if it is another{deeper}{go}",
        candidates=candidates,
        answers=(*_answers(sides, one.resource, candidates), *(may_go.answers if may_go else ())),
    )


def _taken_over(sides: Sides, entry: Resource, lost: Sequence[Identity], may_go: MayGo | None) -> Refusal:
    """A new entry has found an object by its name, while another of its kind goes whose entry was removed."""
    live = sides.live(entry.address)
    assert live is not None
    named = {live.identity: "it has its name", **dict.fromkeys(lost[:MOST], REMOVED)}
    showing = _showing(sides)
    candidates = tuple(candidate(sides, identity, why, showing) for identity, why in named.items())
    deleted = f". {may_go.said}" if may_go else ""
    go = f"; {may_go.way_out}" if may_go else ""
    return Refusal(
        code="unclear",
        address=str(entry.address),
        message=f"it has the name of {live.id}, and {candidates[1].address}, whose entry was removed, would "
        f"be deleted: perhaps it is that one, under a new key and a new name{deleted}",
        way_out=f"{said(sides, entry.address, live.id)} if it is what bears its name, or "
        f"{said(sides, entry.address, candidates[1].id)}{go}",
        candidates=candidates,
        answers=(*it_is(sides, entry.address, candidates), *(may_go.answers if may_go else ())),
    )


def candidate(
    sides: Sides, identity: Identity, why: str, showing: Mapping[str, list[str]] | None = None
) -> Candidate:
    """A live object with the reason; `showing` has the addresses of what shows it, by id."""
    item = sides.snapshot.objects[identity]
    return Candidate(
        address=str(sides.names.address(identity)),
        id=item.id,
        title=sides.names.label(item),
        why=why,
        changed=item.changed,
        shown_in=tuple(sorted((showing or {}).get(item.id, ()))),
    )


def _showing(sides: Sides) -> Mapping[str, list[str]]:
    """By id, the addresses of the nodes that name it, as far as they were read."""
    found: dict[str, list[str]] = defaultdict(list)
    for identity, item in sides.snapshot.objects.items():
        if sides.kind(item).in_tree:
            for id in {id for value in item.fields.values() for id in live_ids(value)}:
                found[id].append(str(sides.names.address(identity)))
    return found


def _line(sides: Sides, one: Open) -> str:
    line = previous_name(one.kind, [sides.snapshot.objects[identity] for identity in one.could_be])
    first = next(iter(one.could_be))
    return (
        said(sides, one.resource.address, sides.snapshot.objects[first].id)
        if line[:3] == "id:"
        else f"add {line}"
    )


def said(sides: Sides, address: Address, id: str) -> str:
    """What to do where an entry is that object, in a sentence."""
    add = meaning(address, id, bool(sides.desired.environments))
    return f"add {add}" if add.startswith("id: ") else f"say {add}"


def it_is(sides: Sides, address: Address, candidates: Sequence[Candidate]) -> tuple[WayOut, ...]:
    """An answer for each: the entry is that one."""
    shared = bool(sides.desired.environments)
    return tuple(
        WayOut(address=str(address), add=meaning(address, one.id, shared), means="it is that one")
        for one in candidates
    )


def _answers(sides: Sides, entry: Resource, candidates: Sequence[Candidate]) -> tuple[WayOut, ...]:
    another = WayOut(address=str(entry.address), add="new: true", means="it is another one")
    return (*it_is(sides, entry.address, candidates), another)
