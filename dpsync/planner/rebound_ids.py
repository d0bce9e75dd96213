"""Find live objects that an entry had before or could be, and ask before deleting them.

`rebound_object_questions` asks before deleting an object that the ids file bound to an entry until now: a pin
overrides a line, `dpsync ids --bind` replaces a line, and either may be a mistake.

`find_candidates` finds live objects without an entry that a new entry could be under another name, with
reasons. About content dpsync asks (planner/identity_questions.py); for other objects, `proposal_notes`
proposes a line.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from typing import Final
from urllib.parse import unquote

from msgspec import Struct

from dpsync.identity import similarity
from dpsync.identity.keys import NaturalKeys
from dpsync.identity.questions import binding_text
from dpsync.kinds.kind import Kind
from dpsync.kinds.places import PlaceTypes
from dpsync.model.address import Address
from dpsync.model.change import Note
from dpsync.model.desired import Entry
from dpsync.model.ids import RecordedLine
from dpsync.model.question import WayOut
from dpsync.model.refusals import REBOUND_OBJECT
from dpsync.model.snapshot import Identity, LiveObject
from dpsync.model.text import format_command
from dpsync.model.values import live_ids, references
from dpsync.planner.answers import DELETE, Answer, Question
from dpsync.planner.decide import Decisions
from dpsync.planner.sides import Sides


class PreviousBinding(Struct, frozen=True):
    """The former entry of an object, and the evidence that the entry is another object now."""

    address: Address
    evidence: str
    restore: WayOut | None
    """The change that binds the entry to the object again, if there is one."""


def rebound_object_questions(decisions: Decisions) -> Iterator[Question]:
    """Ask before deleting an object that the ids file bound to an entry until now.

    A new pin, or `dpsync ids --bind`, detaches an entry from its object, and the plan would then delete the
    object. If the pin was a mistake, the content is lost, so a person must confirm each delete by address.
    """
    sides = decisions.sides
    former = previous_bindings(sides) if decisions.deletions.roots else {}
    for identity in decisions.deletions.all_deleted:
        if identity not in former:
            continue
        previous, address = former[identity], sides.names.address(identity)
        answer = Answer(DELETE, str(address))
        if sides.policy.is_listed_as_removed(identity):
            yield Question(answer)
            continue
        back = (
            f". To keep the object, {_restore_instruction(previous.restore)}"
            if previous.restore is not None
            else ""
        )
        may_go = WayOut(address=str(previous.address), add=answer.flag, means="delete this object")
        refusal = REBOUND_OBJECT.refusal(
            address,
            answers=(may_go,) if previous.restore is None else (may_go, previous.restore),
            evidence=previous.evidence,
            answer=answer.flag,
            back=back,
        )
        yield Question(answer, refusal)


def _restore_instruction(back: WayOut) -> str:
    return f"add {back.add}" if back.add.startswith("id: ") else back.add


def previous_bindings(sides: Sides) -> dict[Identity, PreviousBinding]:
    """Return the former entry of each object that no present line names, or whose entry has another `id:`."""
    records, places = sides.snapshot.recorded_ids, PlaceTypes(sides.registry)
    now = {line.id for line in records.lines.values()}
    found: dict[Identity, PreviousBinding] = {}
    for address, line in sorted(records.base_lines.items()):
        if line.id not in now:
            found |= dict.fromkeys(_objects_of_line(places, line), _previous_binding(sides, address, line))
    for address, line in sorted(records.lines.items()):
        entry = sides.desired.entries.get(address)
        if entry is not None and entry.pin is not None and entry.pin != line.id:
            said = f"the ids file assigns this object to {address}, but that entry has id: {entry.pin}"
            back = WayOut(address=str(address), add=f"id: {line.id}", means="use this object")
            found[entry.kind, line.id] = PreviousBinding(address, said, back)
    return found


def _objects_of_line(places: PlaceTypes, line: RecordedLine) -> list[Identity]:
    return [(kind.name, line.id) for kind in places.kinds(line.address) if kind.has_ids_line]


def _previous_binding(sides: Sides, address: Address, line: RecordedLine) -> PreviousBinding:
    said = f"the ids file of {sides.base.name} assigns this object to {address}"
    present = sides.snapshot.recorded_ids.lines.get(address)
    is_now = (
        f", and the ids file now assigns {present.id} to that entry"
        if present is not None
        else ", and the ids file now has no line for that entry"
    )
    if address not in sides.desired.entries:
        return PreviousBinding(address, f"{said}{is_now}", None)
    add = format_command("ids", "--bind", f"{address}={line.id}")
    back = WayOut(
        address=str(address), add=add, means="use this object, and replace the line in the ids file"
    )
    return PreviousBinding(address, f"{said}{is_now}", back)


MAX_COMPARED_PAIRS: Final = 250_000
"""The most pairs of one parent, with the same numbers in their names, whose names are compared.

Beyond this number, only names that differ in case and punctuation alone are similar.
"""
MAX_CANDIDATES: Final = 3
_KindAndParent = tuple[str, "Identity | None"]
"""A kind, and the parent of an object; None for a kind whose objects can be given to another parent."""


class SimilarityReason(Enum):
    """Why a new entry could be a live object; the values are texts for messages."""

    SIMILAR = "its title is similar"
    SHOWN_AT_POSITION = "the site already shows this object at the position of the new entry"
    ENTRY_REMOVED = "its entry was removed"
    ENTRY_RENAMED = "its entry has another name"


class RenameCandidates(Struct, frozen=True):
    """A new entry and the live objects that it could be, the most likely first."""

    entry: Entry
    kind: Kind
    candidates: Mapping[Identity, SimilarityReason]


def find_candidates(sides: Sides) -> list[RenameCandidates]:
    """Return every entry that is not live and could be a live object without an entry, by address."""
    new, free = _new_entries(sides), _objects_without_entry(sides)
    if not any(place in free for place in new):
        return []
    similar, shown, lost = (
        _similar_objects(sides, new, free),
        _objects_shown_instead(sides),
        _objects_with_removed_entry(sides),
    )
    found = []
    for place, entries in new.items():
        here = free.get(place, {})
        gone = {identity: lost[identity] for identity in here if identity in lost}
        for entry in entries:
            looks = [one for one in similar.get(entry.address, ()) if one in here]
            stand = dict.fromkeys(
                sorted(shown.get(entry.address, set()) & here.keys()), SimilarityReason.SHOWN_AT_POSITION
            )
            could_be = {**gone, **stand, **dict.fromkeys(looks, SimilarityReason.SIMILAR)}
            if could_be:
                first = {one: could_be[one] for one in (*looks, *stand, *gone)}
                found.append(RenameCandidates(entry, sides.kind(entry), first))
    return sorted(found, key=lambda one: one.entry.address)


def kind_and_parent(sides: Sides, item: Entry | LiveObject) -> _KindAndParent:
    """Return the kind and the parent below which an object stays."""
    kind = sides.kind(item)
    if kind.lifecycle.transfer is not None:
        return kind.name, None
    if isinstance(item, LiveObject):
        return kind.name, item.parent
    owner = sides.live(item.parent) if item.parent is not None else None
    return kind.name, owner.identity if owner is not None else None


def _new_entries(sides: Sides) -> Mapping[_KindAndParent, list[Entry]]:
    """Return the entries that are not live and that nothing declares to be new, by place."""
    found: dict[_KindAndParent, list[Entry]] = defaultdict(list)
    for address, entry in sides.entries.items():
        known = (
            sides.live(address) is not None
            or address in sides.snapshot.missing_objects
            or entry.pin is not None
        )
        if known or entry.new or entry.parent is None or sides.live(entry.parent) is None:
            continue
        if sides.kind(entry).can_be_renamed and not sides.policy.is_unmanaged(address):
            found[kind_and_parent(sides, entry)].append(entry)
    return found


def _objects_without_entry(sides: Sides) -> Mapping[_KindAndParent, dict[Identity, LiveObject]]:
    """Return the live objects without an entry, except those that the policy ignores or removes, by place."""
    found: dict[_KindAndParent, dict[Identity, LiveObject]] = defaultdict(dict)
    policy = sides.policy
    for identity, item in sides.snapshot.objects.items():
        if identity in sides.names.declared or identity in sides.snapshot.output_identities or item.deleted:
            continue
        if sides.kind(item).can_be_renamed and not (
            policy.is_forgotten(identity)
            or policy.is_listed_as_removed(identity)
            or policy.is_unmanaged(sides.names.address(identity))
        ):
            found[kind_and_parent(sides, item)][identity] = item
    return found


def _similar_objects(
    sides: Sides,
    new: Mapping[_KindAndParent, list[Entry]],
    free: Mapping[_KindAndParent, dict[Identity, LiveObject]],
) -> Mapping[Address, list[Identity]]:
    """Return the objects with a similar title for each entry, the most similar first."""
    inside: dict[Identity, list[LiveObject]] = defaultdict(list)
    for item in sides.snapshot.objects.values():
        if item.holder is not None:
            inside[item.holder].append(item)
    found: dict[Address, list[Identity]] = {}
    for place, entries in new.items():
        kind, objects = sides.registry[place[0]], list(free.get(place, {}).values())
        view = NaturalKeys(
            kind, sides.snapshot.live_id, sides.hierarchy.first_child, lambda item: inside[item.identity]
        )
        alike = similarity.comparison_filter(kind, entries, objects, MAX_COMPARED_PAIRS)
        for entry in entries:
            found[entry.address] = [
                item.identity for item in similarity.similar_objects(view, entry, alike(entry))
            ]
    return found


def _objects_shown_instead(sides: Sides) -> Mapping[Address, set[Identity]]:
    """Return, by entry without an object, what the live nodes show now that will show the entry."""
    found: dict[Address, set[Identity]] = defaultdict(set)
    for address, entry in sides.entries.items():
        live, kind = sides.live(address), sides.kind(entry)
        for name, value in entry.fields.items() if live is not None and kind.is_node else ():
            for shown in references(value):
                if live is not None and sides.live(shown) is None:
                    names = kind.field(name).type.referenced_kinds
                    ids = live_ids(live.fields.get(name))
                    found[shown] |= {
                        sides.names.referenced_object(live, one, id) for one in names for id in ids
                    }
    return found


def _objects_with_removed_entry(sides: Sides) -> Mapping[Identity, SimilarityReason]:
    """Return the nonempty objects that lost their entry in a change that no apply has finished."""
    return {
        identity: SimilarityReason.ENTRY_RENAMED if entry_exists else SimilarityReason.ENTRY_REMOVED
        for identity, entry_exists in sides.former_names.lost_entry_unfinished.items()
        if sides.is_nonempty(identity)
    }


def entries_without_history(sides: Sides) -> Iterator[Entry]:
    """Yield new entries about whose past neither the ids file nor git has information.

    There are such entries only if this clone lacks the git base and there is an object without an entry.
    Entries without content count as well: a second section group is no lost content, but it is public.
    """
    free = _objects_without_entry(sides) if sides.base.is_commit_missing else {}
    for place, entries in _new_entries(sides).items() if free else ():
        if place in free and sides.registry[place[0]].has_ids_line:
            yield from (
                one
                for one in entries
                if one.address.organization in sides.snapshot.recorded_ids.organizations_without_lines
            )


def objects_to_check_for_contents(sides: Sides) -> set[Identity]:
    """Return the objects about which a question depends on whether they are empty."""
    kinds = {name for name, _ in _new_entries(sides) if sides.registry[name].can_be_empty}
    return (
        {identity for identity in sides.former_names.lost_entry_unfinished if identity[0] in kinds}
        if kinds
        else set()
    )


def binding_lines(sides: Sides, entry: Entry, objects: Sequence[Identity]) -> list[str]:
    """Return, for each object, the line that binds an entry to it: a former key, a title, or an id."""
    kind, key = sides.kind(entry), sides.kind(entry).natural_keys[0]
    titles = Counter(
        title
        for item in sides.snapshot.objects.values()
        if item.kind == kind.name and isinstance(key, str) and isinstance(title := item.fields.get(key), str)
    )
    lines = []
    for identity in objects:
        item = sides.snapshot.objects[identity]
        title = item.fields.get(key) if isinstance(key, str) else None
        if (former := _former_key(sides, entry, identity)) is not None and former not in titles:
            lines.append(f"previously: {_yaml_scalar(former)}")
        elif isinstance(title, str) and titles[title] == 1:
            lines.append(f"previously: {_yaml_scalar(title)}")
        else:
            lines.append(binding_text(entry.address, item.id, bool(sides.desired.environments)))
    return lines


def _former_key(sides: Sides, entry: Entry, identity: Identity) -> str | None:
    """Return the key that an object had in the place of an entry, if that key means no other object."""
    for former in sorted(sides.former_names.addresses_of(identity)):
        here = former.list_address == entry.address.list_address and not former.last_segment.startswith("[")
        free = here and former not in sides.desired.entries
        if free and sides.former_names.objects_at(former) == frozenset({identity}):
            return unquote(former.last_segment)
    return None


def _yaml_scalar(text: str) -> str:
    """Return a text as a YAML value."""
    plain = text.isascii() and text[:1].isalpha() and all(one.isalnum() or one in "-_." for one in text)
    words = ("true", "false", "null", "yes", "no", "on", "off")
    return text if plain and text.lower() not in words else json.dumps(text, ensure_ascii=False)


def titles_and_ids(sides: Sides, objects: Sequence[Identity]) -> str:
    """Return the titles and ids of the first objects, for a sentence."""
    items = [sides.snapshot.objects[identity] for identity in objects]
    texts = [f'"{sides.names.label(item)}" ({item.id})' for item in items[:MAX_CANDIDATES]]
    more = f" and {len(items) - MAX_CANDIDATES} more" if len(items) > MAX_CANDIDATES else ""
    return " or ".join(texts) + more


def proposal_notes(decisions: Decisions, found: Sequence[RenameCandidates]) -> Iterator[Note]:
    """Yield a note for each entry without content; about content dpsync asks."""
    sides = decisions.sides
    for one in found:
        address = one.entry.address
        if (
            one.kind.asks_before_create
            or sides.policy.is_unselected(address)
            or decisions.blocking.is_entry_blocked(address)
        ):
            continue
        first, reason = next(iter(one.candidates.items()))
        objects = [identity for identity, why in one.candidates.items() if why is reason]
        (line,) = binding_lines(sides, one.entry, [first])
        text = f"{_PROPOSAL_TEXTS[reason].format(titles_and_ids(sides, objects))}, add {line}"
        yield Note(address=str(address), text=text)


_PROPOSAL_TEXTS: Final = {
    SimilarityReason.SIMILAR: "this entry looks like {}, which has no entry. If you renamed that object",
    SimilarityReason.SHOWN_AT_POSITION: "this entry takes the position of {}, which has no entry. "
    "If you renamed that object",
    SimilarityReason.ENTRY_REMOVED: "the entry of {} was removed. If this entry is the new name of "
    "that object",
    SimilarityReason.ENTRY_RENAMED: "the entry of {} has another name. If this entry is the new "
    "name of that object",
}
