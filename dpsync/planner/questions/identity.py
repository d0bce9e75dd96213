"""Questions of who is who: whether what would be made is perhaps live already, asked before content is
made.

A twin beside the real thing, without its pages, members or roles, is a loss that no guard against
deletes sees. So an entry of content that nothing says to be new is not made while an object of its kind
is live that nobody claims and that it could be. What is open is asked all at once; nothing of its kind
is made or deleted before that.

Names may also have gone round by hand (`exchanged`). When two collections exchange their titles,
everything that lies in them seems to want to move, and when two spaces do, every site seems to show the
wrong one. Without a line of the ids file or an answer nobody can tell that from things that were really
exchanged. So it is asked, instead of dealing them out anew.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence

from dpsync.identity.questions import meaning
from dpsync.kinds.kind import Kind
from dpsync.model.circles import circles
from dpsync.model.entries.address import Address
from dpsync.model.entries.desired import Entry
from dpsync.model.entries.snapshot import Identity, LiveObject
from dpsync.model.entries.values import live_ids, references
from dpsync.model.findings.question import Candidate, Refusal, WayOut
from dpsync.model.findings.refusals import EXCHANGED, TAKEN_OVER, UNCLEAR, UNCLEAR_PAST
from dpsync.model.texts.words import counted
from dpsync.planner.decide.decisions import Decisions
from dpsync.planner.inputs.names import Names
from dpsync.planner.inputs.sides import Sides
from dpsync.planner.questions.candidates import MOST, CouldBe, Open, found_by_name
from dpsync.planner.questions.content import DeleteQuestion, delete_question
from dpsync.planner.questions.lookalikes import Lookalike, Reason, lookalikes, previous_name


def identity_refusals(
    decided: Decisions, similar: Collection[Lookalike], unnamed: Sequence[Identity]
) -> Iterator[Refusal]:
    """One refusal per entry that is open, where the plan makes or deletes something of its kind.

    Where content of that kind goes that nobody has named (`unnamed`), whether it may is a part of the same
    question.
    """
    sides, deletions = decided.sides, decided.deletions
    found = CouldBe(sides, decided.blocking, unnamed)
    for kind in sides.registry.ordered:
        if not kind.mistakable:
            continue
        deleted = [one for one in deletions.everything if one[0] == kind.name]
        if open_ := _asked_about(decided, found, kind, similar):
            showing = _showing(sides.names)
            to_delete = [identity for identity in unnamed if identity[0] == kind.name]
            may = delete_question(decided, to_delete, len(unnamed)) if to_delete else None
            yield from (_refusal(sides.names, one, len(open_) - 1, showing, may) for one in open_)
        elif lost := [one for one in deleted if one in found.removed and not sides.policy.removed(one)]:
            to_delete = [identity for identity in unnamed if identity[0] == kind.name]
            may = delete_question(decided, to_delete, len(unnamed)) if to_delete else None
            for entry in found.taken_over(kind):
                if (live := sides.live(entry.address)) is not None:
                    yield _taken_over(sides.names, entry, live, lost, may)


def _asked_about(
    decided: Decisions, found: CouldBe, kind: Kind, similar: Collection[Lookalike]
) -> list[Open]:
    """The open entries of a kind, where the plan makes or deletes something of it."""
    open_ = found.of(kind, similar)
    deleted = any(one[0] == kind.name for one in decided.deletions.everything)
    return open_ if deleted or any(found.made(one.resource) for one in open_) else []


def perhaps_renamed(decided: Decisions, unnamed: Sequence[Identity]) -> dict[Address, Open]:
    """Each entry that is not live, with what it is perhaps called now and the reasons, the likeliest first.

    That is what a plan asks about or, where that is no content, proposes. `unnamed`: as for `unclear`.
    """
    sides, similar = decided.sides, lookalikes(decided.sides, decided.blocking)
    perhaps = {
        one.resource.address: Open(one.resource, one.kind, {live.identity: one.why for live in one.live})
        for one in similar
        if not one.kind.mistakable
    }
    found = CouldBe(sides, decided.blocking, unnamed)
    for kind in sides.registry.ordered:
        for one in _asked_about(decided, found, kind, similar) if kind.mistakable else ():
            perhaps[one.resource.address] = one
    return perhaps


def _refusal(
    names: Names, one: Open, others: int, showing: Mapping[str, list[str]], may_go: DeleteQuestion | None
) -> Refusal:
    address, noun = one.resource.address, one.kind.noun
    candidates = tuple(candidate(names, identity, one.reason(identity), showing) for identity in one.could_be)
    if not candidates:
        return UNCLEAR_PAST.at(
            address,
            answers=(*_answers(names, one.resource, candidates), *(may_go.answers if may_go else ())),
            one=one.kind.one,
            base=names.base.name,
        )
    deeper = "; the whole history (fetch-depth: 0) may tell" if one.unseen_past else ""
    deleted = f". {may_go.words}" if may_go else ""
    go = f"; {may_go.way_out}" if may_go else ""
    more = f", {one.more} more than are named here" if one.more else ""
    also = f". {counted(others, f'other {noun}')} would be made and must be answered, too" if others else ""
    return UNCLEAR.at(
        address,
        candidates,
        (*_answers(names, one.resource, candidates), *(may_go.answers if may_go else ())),
        one=one.kind.one,
        more=more,
        also=also,
        deleted=deleted,
        it_is=_line(names, one),
        deeper=deeper,
        may_go=go,
    )


def _taken_over(
    names: Names, entry: Entry, live: LiveObject, lost: Sequence[Identity], may_go: DeleteQuestion | None
) -> Refusal:
    """A new entry has found an object by its name, while another of its kind goes whose entry was removed."""
    named = {live.identity: Reason.NAME, **dict.fromkeys(lost[:MOST], Reason.REMOVED)}
    showing = _showing(names)
    candidates = tuple(candidate(names, identity, why.value, showing) for identity, why in named.items())
    deleted = f". {may_go.words}" if may_go else ""
    go = f"; {may_go.way_out}" if may_go else ""
    return TAKEN_OVER.at(
        entry.address,
        candidates,
        (*it_is(names, entry.address, candidates), *(may_go.answers if may_go else ())),
        id=live.id,
        removed=candidates[1].address,
        deleted=deleted,
        by_name=answer_text(names, entry.address, live.id),
        by_entry=answer_text(names, entry.address, candidates[1].id),
        may_go=go,
    )


def candidate(
    names: Names, identity: Identity, why: str, showing: Mapping[str, list[str]] | None = None
) -> Candidate:
    """A live object with the reason; `showing` has the addresses of what shows it, by id."""
    item = names.snapshot.objects[identity]
    return Candidate(
        address=str(names.address(identity)),
        id=item.id,
        title=names.label(item),
        why=why,
        changed=item.changed,
        shown_in=tuple(sorted((showing or {}).get(item.id, ()))),
    )


def _showing(names: Names) -> Mapping[str, list[str]]:
    """By id, the addresses of the nodes that name it, as far as they were read."""
    found: dict[str, list[str]] = defaultdict(list)
    for identity, item in names.snapshot.objects.items():
        if names.kind(item).in_tree:
            for id in {id for value in item.fields.values() for id in live_ids(value)}:
                found[id].append(str(names.address(identity)))
    return found


def _line(names: Names, one: Open) -> str:
    line = previous_name(one.kind, [names.snapshot.objects[identity] for identity in one.could_be])
    first = next(iter(one.could_be))
    return (
        answer_text(names, one.resource.address, names.snapshot.objects[first].id)
        if line[:3] == "id:"
        else f"add {line}"
    )


def answer_text(names: Names, address: Address, id: str) -> str:
    """What to do where an entry is that object, in a sentence."""
    add = meaning(address, id, bool(names.desired.environments))
    return f"add {add}" if add.startswith("id: ") else f"say {add}"


def it_is(names: Names, address: Address, candidates: Sequence[Candidate]) -> tuple[WayOut, ...]:
    """An answer for each: the entry is that one."""
    shared = bool(names.desired.environments)
    return tuple(
        WayOut(address=str(address), add=meaning(address, one.id, shared), means="it is that one")
        for one in candidates
    )


def _answers(names: Names, entry: Entry, candidates: Sequence[Candidate]) -> tuple[WayOut, ...]:
    another = WayOut(address=str(entry.address), add="new: true", means="it is another one")
    return (*it_is(names, entry.address, candidates), another)


def exchanged(sides: Sides) -> Iterator[Refusal]:
    """A refusal for each entry of a ring: all that names one of them names the object of the next one now."""
    standing = _standing(sides)
    ring_of = {one: ring for ring in circles(standing, standing.get) for one in ring}
    for address in sorted(ring_of):
        if not all(sides.policy.ignored(one) for one in ring_of[address]):
            yield _exchange(sides, address, standing[address])


def _standing(sides: Sides) -> Mapping[Address, Address]:
    """By entry that was found by its name, the one whose object stands everywhere in its place."""
    found: dict[Address, set[Address | None]] = defaultdict(set)
    by_name = {
        address
        for address, entry in sides.resources.items()
        if sides.kind(entry).mistakable
        and found_by_name(sides.snapshot, address)
        and sides.live(address) is not None
    }
    in_place: set[Address] = set()
    """What is named somewhere by what names it in the files: it is in no ring, wherever else it is named."""
    for address, entry in sides.resources.items() if by_name else ():
        live = sides.live(address)
        for field in sides.kind(entry).reference_fields if live is not None else ():
            wanted = references(entry.fields.get(field.name))
            if len(wanted) != 1 or wanted.isdisjoint(by_name) or not wanted.isdisjoint(in_place):
                continue
            if _edited(sides.names, entry, field.name):
                continue
            assert live is not None
            (named,) = wanted
            now = _named(sides.names, live, field.name)
            found[named].add(now)
            if now == named:
                in_place.add(named)
    only = {address: next(iter(now)) for address, now in found.items() if len(now) == 1}
    return {address: now for address, now in only.items() if now in by_name and now != address}


def _edited(names: Names, entry: Entry, name: str) -> bool:
    """Whether the git base has the field otherwise: then somebody wants what stands there to change."""
    before = names.base.desired.resources.get(entry.address) if names.base.desired is not None else None
    return before is not None and before.fields.get(name) != entry.fields[name]


def _named(names: Names, live: LiveObject, name: str) -> Address | None:
    """The entry whose object a field names now, where it names one thing."""
    ids = live_ids(live.fields.get(name))
    if len(ids) != 1:
        return None
    (id,) = ids
    kinds = names.kind(live).field(name).type.refers
    known = (names.declared.get(names.named(live, kind, id)) for kind in kinds)
    return next((address for address in known if address is not None), None)


def _exchange(sides: Sides, address: Address, other: Address) -> Refusal:
    mine, theirs = sides.live(address), sides.live(other)
    assert mine is not None
    assert theirs is not None
    candidates = (
        candidate(sides.names, mine.identity, Reason.NAME.value),
        candidate(sides.names, theirs.identity, Reason.NAMED.value),
    )
    return EXCHANGED.at(
        address,
        candidates,
        it_is(sides.names, address, candidates),
        id=mine.id,
        other_id=theirs.id,
        other=other,
        by_name=answer_text(sides.names, address, mine.id),
        by_place=answer_text(sides.names, address, theirs.id),
    )
