"""Match live objects with entries, within one parent: by id, ids file, earlier name, then natural key.

`match` is the main function. `match_earlier_entries` matches the entries of the git base with the objects of
today.

The parent of an object is never part of its key, so that a move does not re-create the object. If several
objects have the same key, `NaturalKeys.tie_breakers` decides. The later keys of a kind are fields that the
create call can set: they find an object whose creation was interrupted. If two objects match equally well,
the result is an error with their ids, never a guess.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from dpsync.identity.candidates import History, key_contradiction_questions
from dpsync.identity.ids import line_questions, match_by_lines, match_renamed_keys
from dpsync.identity.keys import Key, KeyIndex, NaturalKeys, key_span, key_text
from dpsync.identity.questions import binding_answers, binding_text, candidate_objects
from dpsync.identity.renames import match_renames
from dpsync.kinds.kind import Kind, SingleEntry, TreeNode
from dpsync.kinds.registry import Registry
from dpsync.model.address import Address
from dpsync.model.desired import Desired, Entry
from dpsync.model.diagnostic import Diagnostic
from dpsync.model.ids import RecordedLine
from dpsync.model.question import WayOut
from dpsync.model.snapshot import Identity, LiveObject, Match, MatchedBy, Snapshot
from dpsync.model.text import format_count, short_commit


class MatchResult(Struct):
    """The matches, and the questions that a person must answer."""

    matches: dict[Address, Match] = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    missing_ids: dict[Address, str] = field(default_factory=dict)
    """The ids in the ids file that have no live object, by entry."""


NO_HISTORY = History()
_EntryAndObject = tuple[Entry, LiveObject]
"""An entry, and an object that it could be."""


def match(
    natural_keys: NaturalKeys,
    entries: Sequence[Entry],
    live: Sequence[LiveObject],
    history: History = NO_HISTORY,
) -> MatchResult:
    """Match the entries of one parent with its live objects, which are in live order."""
    found = MatchResult()
    claimed = _match_by_pins(natural_keys, entries, live, found)
    claimed |= _match_by_lines(natural_keys, history, entries, live, claimed, found)
    if natural_keys.kind.natural_keys:
        known = set(claimed.values())
        claimed |= _match_by_earlier_names(
            natural_keys,
            history,
            [item for item in entries if item.address not in known],
            [item for item in live if item.id not in claimed],
            found,
        )
    free = [item for item in live if item.id not in claimed]
    # Of equal nodes, the first entry gets the first object. Mappings have no order.
    in_order = (
        entries
        if isinstance(natural_keys.kind.shape, TreeNode)
        else sorted(entries, key=lambda item: item.address)
    )
    settled = set(found.matches) | _ambiguous_addresses(found)
    open_ = [item for item in in_order if item.pin is None and item.address not in settled]
    if natural_keys.kind.natural_keys:
        index = KeyIndex(natural_keys, free)
        by_first = _match_by_first_key(natural_keys, open_, index, found)
        for address, question in key_contradiction_questions(
            natural_keys, history, open_, index, by_first
        ).items():
            del found.matches[address]
            found.diagnostics.append(question)
        claimed |= {item.id: address for address, item in by_first.items()}
        settled = found.matches.keys() | _ambiguous_addresses(found)
        rest = [item for item in open_ if item.address not in settled]
        if rest:
            _match_by_later_keys(natural_keys, rest, index, claimed, found)
            left = [item for item in rest if item.address not in found.matches]
            _match_by_sole_key(natural_keys, history, left, index, claimed, found)
            if (
                history.ids_file_has_no_lines
                and natural_keys.kind.has_ids_line
                and natural_keys.kind.can_be_renamed
            ):
                _match_by_former_names(natural_keys, history, left, live, claimed, found)
    if history.recorded_lines.lines:
        found.diagnostics += line_questions(
            natural_keys, history.recorded_lines, entries, live, found.matches, history.earlier_entries
        )
    return found


def _match_by_lines(
    natural_keys: NaturalKeys,
    history: History,
    entries: Sequence[Entry],
    live: Sequence[LiveObject],
    pinned: dict[str, Address],
    result: MatchResult,
) -> dict[str, Address]:
    """Match entries by their lines, then entries with a new key by the line under the old key.

    `pinned` has the objects that entries claim by `id:`. Returns the claimed objects by id.
    """
    if not history.recorded_lines.lines and not history.recorded_lines.orphans:
        return {}
    said_so = match_by_lines(
        natural_keys, history.recorded_lines, entries, live, pinned, history.base_entries.keys()
    )
    result.matches |= said_so.matches
    result.diagnostics += said_so.diagnostics
    result.missing_ids |= said_so.missing
    claimed = {match.id: address for address, match in said_so.matches.items()}
    taken = {*claimed, *pinned}
    open_ = [
        entry
        for entry in entries
        if entry.pin is None and not entry.has_earlier_name
        if entry.address not in history.recorded_lines.lines and entry.address not in history.base_entries
    ]
    former = {address for entry in entries for address in entry.former}
    free = [
        item
        for item in live
        if item.id not in taken and history.recorded_lines.orphans.get(item.id) not in former
    ]
    for address, item in match_renamed_keys(natural_keys, history.recorded_lines, open_, free).items():
        line = history.recorded_lines.orphans[item.id]
        result.matches[address] = Match(item.id, MatchedBy.OTHER_IDS_LINE, str(line))
        claimed[item.id] = address
    return claimed


def _match_by_earlier_names(
    natural_keys: NaturalKeys,
    history: History,
    entries: Sequence[Entry],
    live: Sequence[LiveObject],
    result: MatchResult,
) -> dict[str, Address]:
    ambiguous = _ambiguous_addresses(result)
    unpinned = sorted(
        (item for item in entries if item.pin is None and item.address not in ambiguous),
        key=lambda item: item.address,
    )
    earlier = match_renames(natural_keys, history, unpinned, live)
    result.matches |= earlier.matches
    result.diagnostics += earlier.diagnostics
    return {item.id: address for address, item in earlier.matches.items()}


def _ambiguous_addresses(result: MatchResult) -> set[Address]:
    return {Address.parse(item.address) for item in result.diagnostics if item.address}


def _match_by_pins(
    natural_keys: NaturalKeys, entries: Sequence[Entry], live: Sequence[LiveObject], result: MatchResult
) -> dict[str, Address]:
    kind = natural_keys.kind
    ids = {item.id for item in live}
    for resource in entries:
        if resource.pin is None:
            continue
        if resource.pin in ids:
            result.matches[resource.address] = Match(resource.pin, MatchedBy.PIN)
        elif (
            kind.lifecycle.transfer is None and kind.create_call(resource.pin, resource.fields) == kind.create
        ):
            result.diagnostics.append(
                unknown_id_error(natural_keys.kind, resource, natural_keys.has_environments)
            )
    return {item.id: address for address, item in result.matches.items()}


def unknown_id_error(kind: Kind, entry: Entry, has_environments: bool) -> Diagnostic:
    """Return the error (DP301) for an entry whose `id:` names no live object."""
    hint = "correct the id, or remove the id so that dpsync finds or creates the object by its name"
    if has_environments:
        hint += ". Each environment has other ids, so write the id in the overlay of that environment"
    return Diagnostic(
        "DP301",
        f'there is no {kind.noun} with the id "{entry.pin}"',
        entry.field_span("id"),
        str(entry.address),
        hint,
    )


def _match_by_first_key(
    natural_keys: NaturalKeys, entries: Sequence[Entry], index: KeyIndex, result: MatchResult
) -> dict[Address, LiveObject]:
    """Match entries by the first natural key, in rounds: each certain match may make others certain.

    Returns the objects by entry.
    """
    key = natural_keys.first_key
    hits = {
        resource.address: index.objects_with(key, natural_keys.declared_value(resource, key))
        for resource in entries
    }
    open_ = [resource for resource in entries if hits[resource.address]]
    claims = _unambiguous_claims(hits)
    if claims:
        open_ = []
    taken: set[str] = set()
    while open_ and (proposals := _proposals(natural_keys, open_, hits, taken)):
        won: dict[Address, LiveObject] = {}
        for offers in proposals.values():
            winners = _best_pairs(natural_keys, offers)
            if len(winners) == 1:
                won |= {resource.address: item for resource, item in winners}
        if not won:
            break
        claims |= won
        taken |= {item.id for item in won.values()}
        open_ = [resource for resource in open_ if resource.address not in won]
    for address, item in claims.items():
        result.matches[address] = Match(item.id, MatchedBy.FIRST_NATURAL_KEY)
    for resource in open_:
        left = [item for item in hits[resource.address] if item.id not in taken]
        if left:
            result.diagnostics.append(_ambiguous_key_error(natural_keys, resource, key, left))
    return claims


def _unambiguous_claims(hits: dict[Address, list[LiveObject]]) -> dict[Address, LiveObject]:
    """Return one object for each entry with hits if the assignment is unambiguous, else {}."""
    claims = {address: item for address, items in hits.items() for item in items}
    bearers = [item.id for items in hits.values() for item in items]
    return claims if len(set(bearers)) == len(bearers) == len(claims) else {}


def _proposals(
    natural_keys: NaturalKeys,
    unmatched: Sequence[Entry],
    hits: dict[Address, list[LiveObject]],
    taken: set[str],
) -> dict[str, list[_EntryAndObject]]:
    """Return, by object id, the entries for which the object is the only best candidate."""
    proposals: dict[str, list[_EntryAndObject]] = defaultdict(list)
    for resource in unmatched:
        free = [(resource, item) for item in hits[resource.address] if item.id not in taken]
        candidates = _best_pairs(natural_keys, free)
        if len(candidates) == 1:
            for entry, item in candidates:
                proposals[item.id].append((entry, item))
    return proposals


def _best_pairs(natural_keys: NaturalKeys, offers: list[_EntryAndObject]) -> list[_EntryAndObject]:
    """Return the offers on which the most tie-breakers agree."""
    if len(offers) < 2:
        return offers
    scores = [natural_keys.tie_breakers(resource, item) for resource, item in offers]
    most = max(scores)
    return [offer for offer, score in zip(offers, scores, strict=True) if score == most]


def _ambiguous_key_error(
    natural_keys: NaturalKeys, entry: Entry, key: Key, items: list[LiveObject]
) -> Diagnostic:
    kind, ids = natural_keys.kind, [item.id for item in items]
    first, *_ = ids
    named = " and ".join(f'"{id}"' for id in ids)
    if len(ids) == 1:
        message = (
            f"another entry has the same {key_text(key)}, but only one live object has this "
            f"{key_text(key)}: {named}"
        )
    else:
        message = f"{format_count(len(ids), f'live {kind.noun}')} have this {key_text(key)}: {named}"
    hint = f"choose the object: {binding_text(entry.address, first, natural_keys.uses_ids_file)}"
    return Diagnostic(
        "DP302", message, key_span(entry, key), str(entry.address), hint,
        candidates=candidate_objects(kind, entry, {item.id: item for item in items}),
        answers=binding_answers(entry, natural_keys.uses_ids_file, *ids),
    )  # fmt: skip


def _match_by_later_keys(
    natural_keys: NaturalKeys,
    entries: Sequence[Entry],
    index: KeyIndex,
    claimed: dict[str, Address],
    result: MatchResult,
) -> None:
    """Match the remaining entries by later keys, each with the first unclaimed object in live order."""
    for key in natural_keys.later_keys:
        for resource in entries:
            if resource.address in result.matches:
                continue
            for item in index.objects_with(key, natural_keys.declared_value(resource, key)):
                if item.id not in claimed:
                    claimed[item.id] = resource.address
                    result.matches[resource.address] = Match(
                        item.id, MatchedBy.LATER_NATURAL_KEY, key_text(key)
                    )
                    break


def _match_by_sole_key(
    natural_keys: NaturalKeys,
    history: History,
    entries: Sequence[Entry],
    index: KeyIndex,
    claimed: dict[str, Address],
    result: MatchResult,
) -> None:
    """Match the remaining entries by the sole key of the kind, if exactly one entry and one object fit.

    The present value of the entry counts, and the value in the git base.
    """
    key = natural_keys.kind.sole_key
    if key is None:
        return
    candidates: dict[Address, dict[str, MatchedBy]] = {}
    asking: dict[str, int] = defaultdict(int)
    for resource in entries:
        if resource.new:
            continue
        earlier = None if resource.has_earlier_name else history.base_entries.get(resource.address)
        hits: dict[str, MatchedBy] = {}
        for entry, by in ((earlier, MatchedBy.BASE), (resource, MatchedBy.LATER_NATURAL_KEY)):
            bearing = (
                index.objects_with(key, natural_keys.declared_value(entry, key)) if entry is not None else []
            )
            bearing = history.without_recorded_line(bearing) if by is MatchedBy.BASE else bearing
            hits |= {item.id: by for item in bearing if item.id not in claimed}
        candidates[resource.address] = hits
        for id in hits:
            asking[id] += 1
    for address, hits in candidates.items():
        if len(hits) == 1 and all(asking[id] == 1 for id in hits):
            ((id, by),) = hits.items()
            claimed[id] = address
            result.matches[address] = Match(
                id, by, key_text(key) if by is MatchedBy.LATER_NATURAL_KEY else ""
            )


def _match_by_former_names(
    natural_keys: NaturalKeys,
    history: History,
    wanted: Sequence[Entry],
    live: Sequence[LiveObject],
    claimed: dict[str, Address],
    result: MatchResult,
) -> None:
    """Match entries whose present name no live object has, by their name in a commit before the git base.

    In a clone, the git base can be the commit that changed the name. The former name counts if each commit
    since has the entry under this key, and if exactly one object has that name and no entry is that object.
    If another entry of content is that object only because of its name, that is a question.
    """
    index = KeyIndex(natural_keys, live)
    offers: dict[str, list[tuple[Entry, str]]] = defaultdict(list)
    for entry in wanted:
        base = history.base_entries.get(entry.address)
        if base is None or entry.address in result.matches or entry.new:
            continue
        if any(
            item.id not in claimed
            for item in _objects_with_key(history.earlier_natural_keys(natural_keys), base, index)
        ):
            continue  # the rules for names in the git base have found more than one answer
        hits, commit = _objects_with_former_name(natural_keys, history, entry, index)
        if len(hits) != 1:
            continue
        if (other := claimed.get(hits[0].id)) is None:
            offers[hits[0].id].append((entry, commit))
        elif natural_keys.kind.has_content and result.matches[other].by in (
            MatchedBy.FIRST_NATURAL_KEY,
            MatchedBy.LATER_NATURAL_KEY,
        ):
            result.diagnostics.append(_taken_name_question(natural_keys, entry, hits[0], other, commit))
    for id, entries in offers.items():
        if len(entries) == 1:
            ((entry, commit),) = entries
            claimed[id] = entry.address
            result.matches[entry.address] = Match(id, MatchedBy.EARLIER_COMMIT, commit)


def _taken_name_question(
    natural_keys: NaturalKeys, entry: Entry, item: LiveObject, other: Address, commit: str
) -> Diagnostic:
    """Return the question about an entry whose former name is that of another entry now."""
    message = (
        f'in commit {short_commit(commit)}, this entry has the name of the object "{item.id}", which now has '
        f"the name of {other}"
    )
    it_is_that = binding_text(entry.address, item.id, natural_keys.uses_ids_file)
    new = WayOut(address=str(entry.address), add="new: true", means="the entry is new")
    return Diagnostic(
        "DP305", message, key_span(entry, natural_keys.first_key), str(entry.address),
        f"choose the object: {it_is_that}. Or, if the entry is new, add new: true",
        candidates=candidate_objects(natural_keys.kind, entry, {item.id: item}),
        answers=(*binding_answers(entry, natural_keys.uses_ids_file, item.id), new),
    )  # fmt: skip


def _objects_with_former_name(
    natural_keys: NaturalKeys, history: History, entry: Entry, index: KeyIndex
) -> tuple[list[LiveObject], str]:
    """Return the objects with the latest former name that is live, and the commit that has the name."""
    if _has_new_previously(history.base_entries[entry.address], entry):
        return [], ""
    for then in history.earlier_configurations:
        former = then.entries.get(entry.address)
        if former is None or former.kind != entry.kind or _has_new_previously(former, entry):
            return [], ""
        first_child = then.entries.get(former.children[0]) if former.children else None
        before = replace(natural_keys, first_child=lambda _, child=first_child: child)
        if hits := _objects_with_key(before, former, index):
            return hits, then.commit or ""
    return [], ""


def _objects_with_key(natural_keys: NaturalKeys, entry: Entry, index: KeyIndex) -> list[LiveObject]:
    """Return the objects that have the first natural key of an entry that any object has."""
    hits = (
        index.objects_with(key, natural_keys.declared_value(entry, key))
        for key in natural_keys.kind.natural_keys
    )
    return next(filter(None, hits), [])


def _has_new_previously(former: Entry, entry: Entry) -> bool:
    """Return whether `previously` was written or changed since: it says more than an earlier commit."""
    changed = (entry.previously, entry.former) != (former.previously, former.former)
    return entry.has_earlier_name and changed


_ObjectsByParent = dict[tuple[str, "Identity | None"], list[LiveObject]]


def match_earlier_entries(
    registry: Registry, earlier: Desired, desired: Desired, snapshot: Snapshot
) -> dict[Address, Identity]:
    """Match the entries of an earlier commit with the live objects of today.

    An entry that is still declared has the object of its present match. Another entry with a line in the ids
    file has the object of the line. The rest is matched as it was declared. Entries without an object are
    missing in the result.
    """
    found: dict[Address, Identity] = {}
    live: _ObjectsByParent = defaultdict(list)
    inside: dict[Identity, list[LiveObject]] = defaultdict(list)
    for item in snapshot.objects.values():
        live[item.kind, item.parent].append(item)
        if item.holder is not None:
            inside[item.holder].append(item)
    ids: dict[Address, str] = {}
    places: dict[str, dict[Address | None, list[Entry]]] = defaultdict(lambda: defaultdict(list))
    for resource in earlier.entries.values():
        places[resource.kind][resource.parent].append(resource)

    def find_live_id(address: Address) -> str | None:
        return ids.get(address) or snapshot.live_id(address)

    def first_child(entry: Entry) -> Entry | None:
        return earlier.entries.get(entry.children[0]) if entry.children else None

    for kind in registry.in_dependency_order:
        view = NaturalKeys(kind, find_live_id, first_child, lambda item: inside[item.identity])
        for parent, entries in places[kind.name].items():
            owner = found.get(parent) if parent is not None else None
            if parent is not None and owner is None:
                continue
            here = live[kind.name, owner]
            matches, recorded = _present_matches(entries, desired, snapshot), set[Address]()
            if kind.has_ids_line:
                recorded = {entry.address for entry in entries if _recorded_line(snapshot, entry) is not None}
                matches = {**_matches_by_lines(entries, snapshot, {item.id for item in here}), **matches}
            taken, settled = {item.id for item in matches.values()}, matches.keys() | recorded
            rest = [entry for entry in entries if entry.address not in settled]
            free = [item for item in here if item.id not in taken]
            if isinstance(kind.shape, SingleEntry):
                matches |= {
                    entry.address: Match(item.id, MatchedBy.ONLY_OBJECT_IN_PLACE)
                    for entry in rest
                    for item in free
                }
            else:
                matches |= match(view, rest, free).matches
            for address, one in matches.items():
                found[address] = kind.identity_of(one.id, owner)
                ids[address] = one.id
    return found


def _present_matches(entries: list[Entry], desired: Desired, snapshot: Snapshot) -> dict[Address, Match]:
    """Return the present matches of the entries that are still declared."""
    return {
        entry.address: snapshot.matches[entry.address]
        for entry in entries
        if entry.address in snapshot.matches
        and (now := desired.entries.get(entry.address)) is not None
        and now.kind == entry.kind
    }


def _recorded_line(snapshot: Snapshot, entry: Entry) -> RecordedLine | None:
    """Return the line of an entry in the ids file of the base, else in the present ids file."""
    records = snapshot.recorded_ids
    return records.base_lines.get(entry.address) or records.lines.get(entry.address)


def _matches_by_lines(entries: list[Entry], snapshot: Snapshot, live: set[str]) -> dict[Address, Match]:
    """Return the matches of the entries with a line whose object is live."""
    lines = ((entry.address, _recorded_line(snapshot, entry)) for entry in entries)
    return {
        address: Match(line.id, MatchedBy.IDS_LINE)
        for address, line in lines
        if line is not None and line.id in live
    }
