"""Match live objects with entries, within one parent: by id, ids file, earlier name, then natural key.

`match` is the main function. `match_earlier_entries` matches the entries of an earlier commit with the
objects of today. If two objects match equally well, the result is a question with their ids, never a guess. A
natural key is a set of fields that identifies an object. The parent is never part of it, so that a move does
not re-create the object. Later natural keys of a kind are fields of the create call: they find objects whose
creation was interrupted.
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
    """Match the entries of one parent with its live objects, which are in live order.

    Each rule sees only what the rules before left: `id:`, ids file, earlier names, first natural key, later
    keys, sole key, names in commits before the git base. The result also has the questions.
    """
    kind, result = natural_keys.kind, MatchResult()
    claimed = _match_by_pins(natural_keys, entries, live, result)
    claimed |= _match_by_lines(natural_keys, history, entries, live, claimed, result)
    if kind.natural_keys:
        matched = set(claimed.values())
        claimed |= _match_by_earlier_names(
            natural_keys,
            history,
            [entry for entry in entries if entry.address not in matched],
            [live_object for live_object in live if live_object.id not in claimed],
            result,
        )
        # Of equal nodes, the first entry gets the first object. Mappings have no order.
        is_tree = isinstance(kind.shape, TreeNode)
        in_order = entries if is_tree else sorted(entries, key=lambda entry: entry.address)
        settled = set(result.matches) | _ambiguous_addresses(result)
        unmatched = [entry for entry in in_order if entry.pin is None and entry.address not in settled]
        index = KeyIndex(natural_keys, [live_object for live_object in live if live_object.id not in claimed])
        by_first_key = _match_by_first_key(natural_keys, unmatched, index, result)
        questions = key_contradiction_questions(natural_keys, history, unmatched, index, by_first_key)
        for address, question in questions.items():
            del result.matches[address]
            result.diagnostics.append(question)
        claimed |= {live_object.id: address for address, live_object in by_first_key.items()}
        settled = result.matches.keys() | _ambiguous_addresses(result)
        unmatched = [entry for entry in unmatched if entry.address not in settled]
        if unmatched:
            _match_by_later_keys(natural_keys, unmatched, index, claimed, result)
            unmatched = [entry for entry in unmatched if entry.address not in result.matches]
            _match_by_sole_key(natural_keys, history, unmatched, index, claimed, result)
            if history.ids_file_has_no_lines and kind.has_ids_line and kind.can_be_renamed:
                _match_by_former_names(natural_keys, history, unmatched, live, claimed, result)
    if history.recorded_lines.lines:
        result.diagnostics += line_questions(
            natural_keys, history.recorded_lines, entries, live, result.matches, history.earlier_entries
        )
    return result


def _match_by_lines(
    natural_keys: NaturalKeys,
    history: History,
    entries: Sequence[Entry],
    live: Sequence[LiveObject],
    pinned: dict[str, Address],
    result: MatchResult,
) -> dict[str, Address]:
    """Match entries by their lines in the ids file, then entries with a new key by the line of the old key.

    `pinned` has the objects that entries name by `id:`. Add the matches and questions to `result`, and return
    the address of the entry for each matched object, by id.
    """
    if not history.recorded_lines.lines and not history.recorded_lines.orphans:
        return {}
    line_matches = match_by_lines(
        natural_keys, history.recorded_lines, entries, live, pinned, history.base_entries.keys()
    )
    result.matches |= line_matches.matches
    result.diagnostics += line_matches.diagnostics
    result.missing_ids |= line_matches.missing
    claimed = {match.id: address for address, match in line_matches.matches.items()}
    taken_ids = {*claimed, *pinned}
    new_entries = [
        entry
        for entry in entries
        if entry.pin is None and not entry.has_earlier_name
        if entry.address not in history.recorded_lines.lines and entry.address not in history.base_entries
    ]
    former = {address for entry in entries for address in entry.former}
    free_objects = [
        live_object
        for live_object in live
        if live_object.id not in taken_ids
        and history.recorded_lines.orphans.get(live_object.id) not in former
    ]
    for address, live_object in match_renamed_keys(
        natural_keys, history.recorded_lines, new_entries, free_objects
    ).items():
        line = history.recorded_lines.orphans[live_object.id]
        result.matches[address] = Match(live_object.id, MatchedBy.OTHER_IDS_LINE, str(line))
        claimed[live_object.id] = address
    return claimed


def _match_by_earlier_names(
    natural_keys: NaturalKeys,
    history: History,
    entries: Sequence[Entry],
    live: Sequence[LiveObject],
    result: MatchResult,
) -> dict[str, Address]:
    """Match entries by `previously` and by their names in the git base, and add the matches to `result`.

    Return the address of the matched entry by object id, so that no later rule uses these objects. Entries
    with `id:` and entries about which there is a question are left out.
    """
    ambiguous = _ambiguous_addresses(result)
    unpinned = sorted(
        (entry for entry in entries if entry.pin is None and entry.address not in ambiguous),
        key=lambda entry: entry.address,
    )
    renames = match_renames(natural_keys, history, unpinned, live)
    result.matches |= renames.matches
    result.diagnostics += renames.diagnostics
    return {match.id: address for address, match in renames.matches.items()}


def _ambiguous_addresses(result: MatchResult) -> set[Address]:
    """Return the entries about which there is a question; no later rule may match them."""
    return {Address.parse(question.address) for question in result.diagnostics if question.address}


def _match_by_pins(
    natural_keys: NaturalKeys, entries: Sequence[Entry], live: Sequence[LiveObject], result: MatchResult
) -> dict[str, Address]:
    """Match entries by `id:` (the pin); return the addresses by object id.

    An unknown id is an error (DP301), unless a create request needs the id (the object is then new), or the
    object may be in another organization from which the plan transfers it.
    """
    kind = natural_keys.kind
    ids = {live_object.id for live_object in live}
    for entry in entries:
        if entry.pin is None:
            continue
        if entry.pin in ids:
            result.matches[entry.address] = Match(entry.pin, MatchedBy.PIN)
        elif kind.lifecycle.transfer is None and kind.create_call(entry.pin, entry.fields) == kind.create:
            result.diagnostics.append(
                unknown_id_error(natural_keys.kind, entry, natural_keys.has_environments)
            )
    return {match.id: address for address, match in result.matches.items()}


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
    """Match entries by the first natural key, in rounds: each match may leave only one choice for others.

    Return the objects by entry. An entry that still has several possible objects is an error (DP302).
    """
    key = natural_keys.first_key
    hits = {
        entry.address: index.objects_with(key, natural_keys.declared_value(entry, key)) for entry in entries
    }
    open_entries = [entry for entry in entries if hits[entry.address]]
    matches = _unambiguous_matches(hits)
    if matches:
        open_entries = []
    taken_ids: set[str] = set()
    while open_entries and (proposals := _proposals(natural_keys, open_entries, hits, taken_ids)):
        new_matches: dict[Address, LiveObject] = {}
        for pairs in proposals.values():
            best_pairs = _best_pairs(natural_keys, pairs)
            if len(best_pairs) == 1:
                new_matches |= {entry.address: live_object for entry, live_object in best_pairs}
        if not new_matches:
            break
        matches |= new_matches
        taken_ids |= {live_object.id for live_object in new_matches.values()}
        open_entries = [entry for entry in open_entries if entry.address not in new_matches]
    for address, live_object in matches.items():
        result.matches[address] = Match(live_object.id, MatchedBy.FIRST_NATURAL_KEY)
    for entry in open_entries:
        free_objects = [live_object for live_object in hits[entry.address] if live_object.id not in taken_ids]
        if free_objects:
            result.diagnostics.append(_ambiguous_key_error(natural_keys, entry, key, free_objects))
    return matches


def _unambiguous_matches(hits: dict[Address, list[LiveObject]]) -> dict[Address, LiveObject]:
    """Return one object for each entry with hits if the whole assignment is unambiguous, else {}.

    It is if each of these entries has one object, and no object has two entries.
    """
    matches = {address: live for address, objects in hits.items() for live in objects}
    ids = [live.id for objects in hits.values() for live in objects]
    return matches if len(set(ids)) == len(ids) == len(matches) else {}


def _proposals(
    natural_keys: NaturalKeys,
    unmatched: Sequence[Entry],
    hits: dict[Address, list[LiveObject]],
    taken_ids: set[str],
) -> dict[str, list[_EntryAndObject]]:
    """Return, by object id, the entries for which the object is the best candidate, better than all others.

    Only objects that are not in `taken_ids` are candidates. The tie-breaker fields of the kind decide which
    is best.
    """
    proposals: dict[str, list[_EntryAndObject]] = defaultdict(list)
    for entry in unmatched:
        free_pairs = [
            (entry, live_object) for live_object in hits[entry.address] if live_object.id not in taken_ids
        ]
        best_pairs = _best_pairs(natural_keys, free_pairs)
        if len(best_pairs) == 1:
            _, live_object = best_pairs[0]
            proposals[live_object.id].append((entry, live_object))
    return proposals


def _best_pairs(natural_keys: NaturalKeys, pairs: list[_EntryAndObject]) -> list[_EntryAndObject]:
    """Return the pairs in which entry and object agree best in the kind's tie-breaker fields."""
    if len(pairs) < 2:
        return pairs
    scores = [natural_keys.tie_breakers(entry, live_object) for entry, live_object in pairs]
    best_score = max(scores)
    return [pair for pair, score in zip(pairs, scores, strict=True) if score == best_score]


def _ambiguous_key_error(
    natural_keys: NaturalKeys, entry: Entry, key: Key, objects: list[LiveObject]
) -> Diagnostic:
    """Return the question (DP302) about an entry that several objects, or other entries, fit by this key."""
    kind, ids = natural_keys.kind, [live.id for live in objects]
    first, *_ = ids
    quoted_ids = " and ".join(f'"{id}"' for id in ids)
    if len(ids) == 1:
        message = (
            f"another entry has the same {key_text(key)}, but only one live object has this "
            f"{key_text(key)}: {quoted_ids}"
        )
    else:
        message = f"{format_count(len(ids), f'live {kind.noun}')} have this {key_text(key)}: {quoted_ids}"
    hint = f"choose the object: {binding_text(entry.address, first, natural_keys.uses_ids_file)}"
    return Diagnostic(
        "DP302", message, key_span(entry, key), str(entry.address), hint,
        candidates=candidate_objects(kind, entry, {live.id: live for live in objects}),
        answers=binding_answers(entry, natural_keys.uses_ids_file, *ids),
    )  # fmt: skip


def _match_by_later_keys(
    natural_keys: NaturalKeys,
    entries: Sequence[Entry],
    index: KeyIndex,
    claimed: dict[str, Address],
    result: MatchResult,
) -> None:
    """Match the remaining entries by later keys, each with the first unclaimed object in live order.

    That finds objects whose creation was interrupted before they got their first key.
    """
    for key in natural_keys.later_keys:
        for entry in entries:
            if entry.address in result.matches:
                continue
            for live_object in index.objects_with(key, natural_keys.declared_value(entry, key)):
                if live_object.id not in claimed:
                    claimed[live_object.id] = entry.address
                    result.matches[entry.address] = Match(
                        live_object.id, MatchedBy.LATER_NATURAL_KEY, key_text(key)
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

    The sole key (the title of a section) recognizes an object if no natural key does. The entry's present
    value counts, and its value in the git base (the commit compared with). `claimed` maps the ids of objects
    that already have an entry to that entry; new matches are added to it and to `result`.
    """
    key = natural_keys.kind.sole_key
    if key is None:
        return
    candidates: dict[Address, dict[str, MatchedBy]] = {}
    entry_counts: dict[str, int] = defaultdict(int)
    for entry in entries:
        if entry.new:
            continue
        earlier = None if entry.has_earlier_name else history.base_entries.get(entry.address)
        hits: dict[str, MatchedBy] = {}
        for version, by in ((earlier, MatchedBy.BASE), (entry, MatchedBy.LATER_NATURAL_KEY)):
            value = natural_keys.declared_value(version, key) if version is not None else None
            objects = index.objects_with(key, value)
            objects = history.without_recorded_line(objects) if by is MatchedBy.BASE else objects
            hits |= {live_object.id: by for live_object in objects if live_object.id not in claimed}
        candidates[entry.address] = hits
        for id in hits:
            entry_counts[id] += 1
    for address, hits in candidates.items():
        if len(hits) == 1 and all(entry_counts[id] == 1 for id in hits):
            ((id, by),) = hits.items()
            claimed[id] = address
            result.matches[address] = Match(
                id, by, key_text(key) if by is MatchedBy.LATER_NATURAL_KEY else ""
            )


def _match_by_former_names(
    natural_keys: NaturalKeys,
    history: History,
    unmatched: Sequence[Entry],
    live: Sequence[LiveObject],
    claimed: dict[str, Address],
    result: MatchResult,
) -> None:
    """Match entries whose present name no live object has, by their name in a commit before the git base.

    The git base, the commit compared with, can already have the new name. The former name counts if each
    commit since has the entry at this address, and if exactly one object has that name and no entry is that
    object. If another entry of content is that object only because of its name, ask a question.
    """
    index = KeyIndex(natural_keys, live)
    entries_by_id: dict[str, list[tuple[Entry, str]]] = defaultdict(list)
    for entry in unmatched:
        base_entry = history.base_entries.get(entry.address)
        if base_entry is None or entry.address in result.matches or entry.new:
            continue
        base_keys = history.earlier_natural_keys(natural_keys)
        if any(
            live_object.id not in claimed for live_object in _objects_with_key(base_keys, base_entry, index)
        ):
            continue  # the rules for names in the git base have found more than one answer
        hits, commit = _objects_with_former_name(natural_keys, history, entry, index)
        if len(hits) != 1:
            continue
        if (other := claimed.get(hits[0].id)) is None:
            entries_by_id[hits[0].id].append((entry, commit))
        elif natural_keys.kind.has_content and result.matches[other].by in (
            MatchedBy.FIRST_NATURAL_KEY,
            MatchedBy.LATER_NATURAL_KEY,
        ):
            result.diagnostics.append(_taken_name_question(natural_keys, entry, hits[0], other, commit))
    for id, entries in entries_by_id.items():
        if len(entries) == 1:
            ((entry, commit),) = entries
            claimed[id] = entry.address
            result.matches[entry.address] = Match(id, MatchedBy.EARLIER_COMMIT, commit)


def _taken_name_question(
    natural_keys: NaturalKeys, entry: Entry, live: LiveObject, other: Address, commit: str
) -> Diagnostic:
    """Ask (DP305) whether an object is this entry by its former name, or another one by its present name."""
    message = (
        f'in commit {short_commit(commit)}, this entry has the name of the object "{live.id}", which now has '
        f"the name of {other}"
    )
    binding = binding_text(entry.address, live.id, natural_keys.uses_ids_file)
    new_answer = WayOut(address=str(entry.address), add="new: true", means="the entry is new")
    return Diagnostic(
        "DP305", message, key_span(entry, natural_keys.first_key), str(entry.address),
        f"choose the object: {binding}. Or, if the entry is new, add new: true",
        candidates=candidate_objects(natural_keys.kind, entry, {live.id: live}),
        answers=(*binding_answers(entry, natural_keys.uses_ids_file, live.id), new_answer),
    )  # fmt: skip


def _objects_with_former_name(
    natural_keys: NaturalKeys, history: History, entry: Entry, index: KeyIndex
) -> tuple[list[LiveObject], str]:
    """Return the live objects that have a former name of an entry, and the commit with that name.

    Search the commits before the git base, latest first, until a name has objects, or a commit lacks the
    entry or has another `previously`.
    """
    if _has_new_previously(history.base_entries[entry.address], entry):
        return [], ""
    for configuration in history.earlier_configurations:
        former = configuration.entries.get(entry.address)
        if former is None or former.kind != entry.kind or _has_new_previously(former, entry):
            return [], ""
        first_child = configuration.entries.get(former.children[0]) if former.children else None
        former_keys = replace(natural_keys, first_child=lambda _, child=first_child: child)
        if hits := _objects_with_key(former_keys, former, index):
            return hits, configuration.commit or ""
    return [], ""


def _objects_with_key(natural_keys: NaturalKeys, entry: Entry, index: KeyIndex) -> list[LiveObject]:
    """Return the objects with the first natural key of an entry for which there is any object."""
    hits = (
        index.objects_with(key, natural_keys.declared_value(entry, key))
        for key in natural_keys.kind.natural_keys
    )
    return next(filter(None, hits), [])


def _has_new_previously(former: Entry, entry: Entry) -> bool:
    """Return whether an entry got a new `previously` since `former`, which then has priority over commits."""
    changed = (entry.previously, entry.former) != (former.previously, former.former)
    return entry.has_earlier_name and changed


def match_earlier_entries(
    registry: Registry, earlier: Desired, desired: Desired, snapshot: Snapshot
) -> dict[Address, Identity]:
    """Match the entries of an earlier commit with the live objects of today.

    An entry that is still declared has the object of its present match. Another entry with a line in the ids
    file has the object of the line. The rest is matched as it was declared. Entries without an object are
    missing in the result.
    """
    identities: dict[Address, Identity] = {}
    objects_by_parent: dict[tuple[str, Identity | None], list[LiveObject]] = defaultdict(list)
    contents: dict[Identity, list[LiveObject]] = defaultdict(list)
    for live_object in snapshot.objects.values():
        objects_by_parent[live_object.kind, live_object.parent].append(live_object)
        if live_object.holder is not None:
            contents[live_object.holder].append(live_object)
    ids: dict[Address, str] = {}
    entries_by_parent: dict[str, dict[Address | None, list[Entry]]] = defaultdict(lambda: defaultdict(list))
    for entry in earlier.entries.values():
        entries_by_parent[entry.kind][entry.parent].append(entry)

    def find_live_id(address: Address) -> str | None:
        """Return the id of the object that is matched with an address of the commit, else of today."""
        return ids.get(address) or snapshot.live_id(address)

    def first_child(entry: Entry) -> Entry | None:
        """Return the first child that an entry had in the commit."""
        return earlier.entries.get(entry.children[0]) if entry.children else None

    for kind in registry.in_dependency_order:
        natural_keys = NaturalKeys(
            kind, find_live_id, first_child, lambda live_object: contents[live_object.identity]
        )
        for parent, entries in entries_by_parent[kind.name].items():
            parent_object = identities.get(parent) if parent is not None else None
            if parent is not None and parent_object is None:
                continue
            objects = objects_by_parent[kind.name, parent_object]
            matches, with_line = _present_matches(entries, desired, snapshot), set[Address]()
            if kind.has_ids_line:
                with_line = {
                    entry.address for entry in entries if _recorded_line(snapshot, entry) is not None
                }
                matches = {
                    **_matches_by_lines(entries, snapshot, {live_object.id for live_object in objects}),
                    **matches,
                }
            taken_ids = {present.id for present in matches.values()}
            settled = matches.keys() | with_line
            unmatched = [entry for entry in entries if entry.address not in settled]
            free_objects = [live_object for live_object in objects if live_object.id not in taken_ids]
            if isinstance(kind.shape, SingleEntry):
                matches |= {
                    entry.address: Match(live_object.id, MatchedBy.ONLY_OBJECT_IN_PLACE)
                    for entry in unmatched
                    for live_object in free_objects
                }
            else:
                matches |= match(natural_keys, unmatched, free_objects).matches
            for address, entry_match in matches.items():
                identities[address] = kind.identity_of(entry_match.id, parent_object)
                ids[address] = entry_match.id
    return identities


def _present_matches(entries: list[Entry], desired: Desired, snapshot: Snapshot) -> dict[Address, Match]:
    """Return the present matches of those entries of an earlier commit that are still declared."""
    return {
        entry.address: snapshot.matches[entry.address]
        for entry in entries
        if entry.address in snapshot.matches
        and (present_entry := desired.entries.get(entry.address)) is not None
        and present_entry.kind == entry.kind
    }


def _recorded_line(snapshot: Snapshot, entry: Entry) -> RecordedLine | None:
    """Return the line of an entry in the ids file of the base, else in the present ids file."""
    records = snapshot.recorded_ids
    return records.base_lines.get(entry.address) or records.lines.get(entry.address)


def _matches_by_lines(entries: list[Entry], snapshot: Snapshot, live_ids: set[str]) -> dict[Address, Match]:
    """Return the matches of the entries whose line in the ids file has the id of a live object."""
    lines = ((entry.address, _recorded_line(snapshot, entry)) for entry in entries)
    return {
        address: Match(line.id, MatchedBy.IDS_LINE)
        for address, line in lines
        if line is not None and line.id in live_ids
    }
