"""Find live objects that an entry had before or could be, and ask before deleting them.

`rebound_object_questions` asks before deleting an object that the ids file bound to an entry until now: an
`id:` in the entry (pin) overrides a line of the ids file, `dpsync ids --bind` replaces one, and either may be
a mistake. `find_candidates` finds live objects without an entry that a new entry could be under another name,
with reasons. For content, identity_questions.py asks; for other objects, `proposal_notes` proposes a line.
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
from dpsync.kinds.address_patterns import PlaceTypes
from dpsync.kinds.kind import Kind
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
    bindings = previous_bindings(sides) if decisions.deletions.roots else {}
    for identity in decisions.deletions.all_deleted:
        if identity not in bindings:
            continue
        binding, address = bindings[identity], sides.names.address(identity)
        answer = Answer(DELETE, str(address))
        if sides.policy.is_listed_as_removed(identity):
            yield Question(answer)
            continue
        restore_text = ""
        if binding.restore is not None:
            change = binding.restore.add
            restore_text = f". To keep the object, {f'add {change}' if change.startswith('id: ') else change}"
        delete_option = WayOut(address=str(binding.address), add=answer.flag, means="delete this object")
        refusal = REBOUND_OBJECT.refusal(
            address,
            answers=(delete_option,) if binding.restore is None else (delete_option, binding.restore),
            evidence=binding.evidence,
            answer=answer.flag,
            back=restore_text,
        )
        yield Question(answer, refusal)


def previous_bindings(sides: Sides) -> dict[Identity, PreviousBinding]:
    """Return the former entry of each object that the ids file bound to an entry until now.

    Either only the ids file of the git base has a line with the id of the object, or the entry of its line
    has another `id:`.
    """
    records, place_types = sides.snapshot.recorded_ids, PlaceTypes(sides.registry)
    present_ids = {line.id for line in records.lines.values()}
    bindings: dict[Identity, PreviousBinding] = {}
    for address, line in sorted(records.base_lines.items()):
        if line.id not in present_ids:
            binding = _binding_of_base_line(sides, address, line)
            for kind in place_types.kinds(line.address):
                if kind.has_ids_line:
                    bindings[kind.name, line.id] = binding
    for address, line in sorted(records.lines.items()):
        entry = sides.desired.entries.get(address)
        if entry is not None and entry.pin is not None and entry.pin != line.id:
            evidence = f"the ids file assigns this object to {address}, but that entry has id: {entry.pin}"
            restore = WayOut(address=str(address), add=f"id: {line.id}", means="use this object")
            bindings[entry.kind, line.id] = PreviousBinding(address, evidence, restore)
    return bindings


def _binding_of_base_line(sides: Sides, address: Address, line: RecordedLine) -> PreviousBinding:
    """Return which entry an object had by a line that only the ids file of the git base has.

    The git base is the commit compared with. The result has the evidence as text, and the command that binds
    the object to the entry again (`dpsync ids --bind`) if the entry still exists.
    """
    evidence = f"the ids file of {sides.base.name} assigns this object to {address}"
    present = sides.snapshot.recorded_ids.lines.get(address)
    present_evidence = (
        f", and the ids file now assigns {present.id} to that entry"
        if present is not None
        else ", and the ids file now has no line for that entry"
    )
    if address not in sides.desired.entries:
        return PreviousBinding(address, f"{evidence}{present_evidence}", None)
    add = format_command("ids", "--bind", f"{address}={line.id}")
    restore = WayOut(
        address=str(address), add=add, means="use this object, and replace the line in the ids file"
    )
    return PreviousBinding(address, f"{evidence}{present_evidence}", restore)


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
    """Return each new entry that could be a live object without an entry, with these objects, by address.

    An object is a candidate if it has the same kind and parent, and its title is similar, the site shows it
    where it will show the entry, or it lost its entry.
    """
    new_entries, free_objects = _new_entries(sides), _objects_without_entry(sides)
    if not any(parent in free_objects for parent in new_entries):
        return []
    similar_objects = _similar_objects(sides, new_entries, free_objects)
    objects_shown_instead = _objects_shown_instead(sides)
    # Nonempty objects that lost their entry in a change that no apply has finished.
    lost_objects = {
        identity: SimilarityReason.ENTRY_RENAMED if entry_exists else SimilarityReason.ENTRY_REMOVED
        for identity, entry_exists in sides.former_names.lost_entry_unfinished.items()
        if sides.is_nonempty(identity)
    }
    result = []
    for parent, entries in new_entries.items():
        objects = free_objects.get(parent, {})
        lost = {identity: lost_objects[identity] for identity in objects if identity in lost_objects}
        for entry in entries:
            similar = [identity for identity in similar_objects.get(entry.address, ()) if identity in objects]
            shown = dict.fromkeys(
                sorted(objects_shown_instead.get(entry.address, set()) & objects.keys()),
                SimilarityReason.SHOWN_AT_POSITION,
            )
            reasons = {**lost, **shown, **dict.fromkeys(similar, SimilarityReason.SIMILAR)}
            if reasons:
                most_likely_first = {identity: reasons[identity] for identity in (*similar, *shown, *lost)}
                result.append(RenameCandidates(entry, sides.kind(entry), most_likely_first))
    return sorted(result, key=lambda candidates: candidates.entry.address)


def kind_and_parent(sides: Sides, item: Entry | LiveObject) -> _KindAndParent:
    """Return the kind and the live parent of an entry or object.

    Only objects with equal values can be the same. The parent is None for a kind whose objects can be given
    to another parent.
    """
    kind = sides.kind(item)
    if kind.lifecycle.transfer is not None:
        return kind.name, None
    if isinstance(item, LiveObject):
        return kind.name, item.parent
    parent = sides.live(item.parent) if item.parent is not None else None
    return kind.name, parent.identity if parent is not None else None


def _new_entries(sides: Sides) -> Mapping[_KindAndParent, list[Entry]]:
    """Return the entries that may be new objects or renamed ones, by kind and live parent.

    They have no live object and no `id:` or ids line; nothing declares them to be new (`new: true`).
    """
    entries: dict[_KindAndParent, list[Entry]] = defaultdict(list)
    for address, entry in sides.entries.items():
        has_object = (
            sides.live(address) is not None
            or address in sides.snapshot.missing_objects
            or entry.pin is not None
        )
        if has_object or entry.new or entry.parent is None or sides.live(entry.parent) is None:
            continue
        if sides.kind(entry).can_be_renamed and not sides.policy.is_unmanaged(address):
            entries[kind_and_parent(sides, entry)].append(entry)
    return entries


def _objects_without_entry(sides: Sides) -> Mapping[_KindAndParent, dict[Identity, LiveObject]]:
    """Return the live objects that new entries may be, by kind and parent.

    They have no entry, and the policy neither ignores nor forgets them nor lists them as removed.
    """
    objects: dict[_KindAndParent, dict[Identity, LiveObject]] = defaultdict(dict)
    policy = sides.policy
    for identity, live in sides.snapshot.objects.items():
        if identity in sides.names.declared or identity in sides.snapshot.output_identities or live.deleted:
            continue
        if sides.kind(live).can_be_renamed and not (
            policy.is_forgotten(identity)
            or policy.is_listed_as_removed(identity)
            or policy.is_unmanaged(sides.names.address(identity))
        ):
            objects[kind_and_parent(sides, live)][identity] = live
    return objects


def _similar_objects(
    sides: Sides,
    new_entries: Mapping[_KindAndParent, list[Entry]],
    free_objects: Mapping[_KindAndParent, dict[Identity, LiveObject]],
) -> Mapping[Address, list[Identity]]:
    """Return, by address of a new entry, the live objects without an entry that have a similar title.

    The most similar object comes first. Only objects of the same kind and parent are compared.
    """
    contents: dict[Identity, list[LiveObject]] = defaultdict(list)
    for live in sides.snapshot.objects.values():
        if live.holder is not None:
            contents[live.holder].append(live)
    similar: dict[Address, list[Identity]] = {}
    for group, entries in new_entries.items():
        kind, objects = sides.registry[group[0]], list(free_objects.get(group, {}).values())
        keys = NaturalKeys(
            kind, sides.snapshot.live_id, sides.hierarchy.first_child, lambda live: contents[live.identity]
        )
        comparable = similarity.comparison_filter(kind, entries, objects, MAX_COMPARED_PAIRS)
        for entry in entries:
            similar[entry.address] = [
                live.identity for live in similarity.similar_objects(keys, entry, comparable(entry))
            ]
    return similar


def _objects_shown_instead(sides: Sides) -> Mapping[Address, set[Identity]]:
    """Return, for entries without an object, the objects that live navigation nodes show instead of them.

    The files say that a node (of a site) shows the entry, but the live node still shows another object.
    That object may be the entry under its former name.
    """
    objects: dict[Address, set[Identity]] = defaultdict(set)
    for address, entry in sides.entries.items():
        live, kind = sides.live(address), sides.kind(entry)
        for field_name, value in entry.fields.items() if live is not None and kind.is_node else ():
            for target in references(value):
                if live is not None and sides.live(target) is None:
                    kind_names = kind.field(field_name).type.referenced_kinds
                    ids = live_ids(live.fields.get(field_name))
                    objects[target] |= {
                        sides.names.referenced_object(live, kind_name, id)
                        for kind_name in kind_names
                        for id in ids
                    }
    return objects


def entries_without_history(sides: Sides) -> Iterator[Entry]:
    """Yield the new entries about whose past neither the ids file nor git has information.

    There are such entries only if this clone lacks the commit of the git base and there is an object
    without an entry. Entries without content count as well: a second section group loses no content, but is
    public.
    """
    free_objects = _objects_without_entry(sides) if sides.base.is_commit_missing else {}
    for group, entries in _new_entries(sides).items() if free_objects else ():
        if group in free_objects and sides.registry[group[0]].has_ids_line:
            yield from (
                entry
                for entry in entries
                if entry.address.organization in sides.snapshot.recorded_ids.organizations_without_lines
            )


def objects_to_check_for_contents(sides: Sides) -> set[Identity]:
    """Return the objects whose contents must be read before dpsync asks about new entries.

    An object that lost its entry is a candidate for a new entry only if it is not empty.
    """
    kinds = {kind_name for kind_name, _ in _new_entries(sides) if sides.registry[kind_name].can_be_empty}
    return (
        {identity for identity in sides.former_names.lost_entry_unfinished if identity[0] in kinds}
        if kinds
        else set()
    )


def binding_lines(sides: Sides, entry: Entry, objects: Sequence[Identity]) -> list[str]:
    """Return, for each object, the line that a user can add to an entry to bind it to the object.

    The line is `previously: KEY` with a former key or a unique title, else `id: ID` or a command (`dpsync
    ids --bind`).
    """
    kind, key = sides.kind(entry), sides.kind(entry).natural_keys[0]
    titles = Counter(
        title
        for live in sides.snapshot.objects.values()
        if live.kind == kind.name and isinstance(key, str) and isinstance(title := live.fields.get(key), str)
    )
    lines = []
    for identity in objects:
        live = sides.snapshot.objects[identity]
        title = live.fields.get(key) if isinstance(key, str) else None
        if (former_key := _former_key(sides, entry, identity)) is not None and former_key not in titles:
            lines.append(f"previously: {_yaml_scalar(former_key)}")
        elif isinstance(title, str) and titles[title] == 1:
            lines.append(f"previously: {_yaml_scalar(title)}")
        else:
            lines.append(binding_text(entry.address, live.id, bool(sides.desired.environments)))
    return lines


def _former_key(sides: Sides, entry: Entry, identity: Identity) -> str | None:
    """Return a former key of an object in the list of an entry; None if no key means only this object."""
    for former in sorted(sides.former_names.addresses_of(identity)):
        is_key = not former.last_segment.startswith("[")  # else a title
        is_in_list = former.list_address == entry.address.list_address and is_key
        is_free = is_in_list and former not in sides.desired.entries
        if is_free and sides.former_names.objects_at(former) == frozenset({identity}):
            return unquote(former.last_segment)
    return None


def _yaml_scalar(text: str) -> str:
    """Return a text as a YAML value, in quotes unless it is a plain word."""
    is_plain = (
        text.isascii()
        and text[:1].isalpha()
        and all(character.isalnum() or character in "-_." for character in text)
    )
    words = ("true", "false", "null", "yes", "no", "on", "off")
    return text if is_plain and text.lower() not in words else json.dumps(text, ensure_ascii=False)


def titles_and_ids(sides: Sides, objects: Sequence[Identity]) -> str:
    """Return the titles and ids of the first objects, joined by "or", for a sentence."""
    live_objects = [sides.snapshot.objects[identity] for identity in objects]
    texts = [f'"{sides.names.label(live)}" ({live.id})' for live in live_objects[:MAX_CANDIDATES]]
    rest = f" and {len(live_objects) - MAX_CANDIDATES} more" if len(live_objects) > MAX_CANDIDATES else ""
    return " or ".join(texts) + rest


def proposal_notes(decisions: Decisions, rename_candidates: Sequence[RenameCandidates]) -> Iterator[Note]:
    """Yield a note for each new entry without content that could be a live object under another name.

    The note proposes the line that binds the entry to the object. For entries with content,
    identity_questions.py asks a question instead.
    """
    sides = decisions.sides
    for candidates in rename_candidates:
        address = candidates.entry.address
        if (
            candidates.kind.asks_before_create
            or sides.policy.is_unselected(address)
            or decisions.blocking.is_entry_blocked(address)
        ):
            continue
        first, reason = next(iter(candidates.candidates.items()))
        objects = [
            identity for identity, other_reason in candidates.candidates.items() if other_reason is reason
        ]
        (line,) = binding_lines(sides, candidates.entry, [first])
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
