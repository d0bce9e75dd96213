"""Find live objects without an entry, and entries that may be such objects under another name.

`import --add` and `import --update` use these functions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from dpsync.kinds.kind import SingleEntry
from dpsync.model.address import Address, Pattern
from dpsync.model.desired import Scope
from dpsync.model.diagnostic import Diagnostic
from dpsync.model.snapshot import Identity, LiveObject, Match, MatchedBy
from dpsync.model.text import format_command
from dpsync.planner.decide import decide
from dpsync.planner.history import Names
from dpsync.planner.identity_questions import (
    binding_answers,
    binding_instruction,
    candidate,
    possibly_renamed_entries,
)
from dpsync.planner.plan import make_plan
from dpsync.planner.rebound_ids import RenameCandidates, SimilarityReason, find_candidates
from dpsync.planner.sides import Sides
from dpsync.workflows.session import Planned, Session


def find_undeclared_singles(session: Session, patterns: Sequence[Pattern]) -> dict[Address, Scope]:
    """Return the scopes of undeclared single objects, such as the settings of a site, by address.

    `patterns` select the scopes; without patterns, the policy's `watch` selects them, by scope or field.
    """
    desired, policy = session.readable, session.readable.policy
    wanted = patterns or (*policy.watch, *policy.watch_fields)
    found: dict[Address, Scope] = {}
    for entry in desired.entries.values() if wanted else ():
        for word, kinds in session.registry.kinds_by_list_key(entry.kind).items():
            address = entry.address.child(*word.split("."))
            known = address in desired.entries or address in desired.unsupported
            is_single = isinstance(kinds[0].shape, SingleEntry)
            if is_single and not known and any(pattern.matches(address) for pattern in wanted):
                found[address] = Scope(address, entry.address, tuple(kind.name for kind in kinds), entry.span)
    return found


def find_undeclared(
    planned: Planned, patterns: Sequence[Pattern]
) -> tuple[Mapping[Address, LiveObject], list[Diagnostic]]:
    """Return live objects without an entry that match the patterns, and an error for each unused pattern.

    A pattern with `*` skips objects that have no value of their own.
    """
    sides = planned.sides
    known = {
        sides.names.address(identity): sides.snapshot.objects[identity]
        for identities in sides.snapshot.scopes.values()
        for identity in identities
        if identity not in sides.names.declared
    }
    found: dict[Address, LiveObject] = {}
    problems, addresses = list[Diagnostic](), sorted(known)
    for pattern in patterns:
        named = [address for address in addresses if pattern.matches(address)]
        exact = "*" not in pattern.text
        found |= {
            address: known[address]
            for address in named
            # An object without a value of its own inherits all its values.
            if exact or any(value not in (None, {}) for value in known[address].fields.values())
        }
        if not named:
            problems.append(_unused_pattern_error(sides, pattern))
    return found, problems


def _unused_pattern_error(sides: Sides, pattern: Pattern) -> Diagnostic:
    """Return the error about a pattern that matches no object without an entry, with the likely reason."""
    for place, unread in sides.snapshot.not_readable_watched.items():
        if pattern.matches(place) or pattern.list_pattern.matches(place):
            return Diagnostic("unread", unread.reason, address=str(place), hint=unread.todo)
    if any(pattern.matches(address) for address in sides.desired.entries):
        update = format_command("import", "--update", pattern.text)
        hint = f"to write the values from GitBook into the entry: {update}"
        return Diagnostic("unknown-address", f'"{pattern.text}" has an entry already', hint=hint)
    message = f'"{pattern.text}" matches no object that is in GitBook but not in your files'
    hint = (
        f"{format_command('drift', '--everything')} lists the objects without an entry. If your files do not "
        "contain the list of the object, add the address of the list to policy: watch"
    )
    return Diagnostic("unknown-address", message, hint=hint)


def bind_renamed_entries(
    planned: Planned, patterns: Sequence[Pattern]
) -> tuple[Planned, Mapping[Address, Diagnostic]]:
    """Bind entries without a live object to the objects that they probably are, and plan again.

    Only entries that the patterns name are bound, each to its only candidate: an object with a similar title,
    or any candidate if the pattern has no wildcard. Also return, by address, an error for each entry that was
    not bound.
    """
    sides = planned.sides
    perhaps: dict[Address, RenameCandidates] = {}
    meant: dict[Identity, list[Address]] = defaultdict(list)
    for address, found in possibly_renamed_entries(decide(sides), find_candidates(sides)).items():
        if not any(pattern.matches_or_contains(address) or pattern.matches(address) for pattern in patterns):
            continue
        perhaps[address] = found
        exactly = any("*" not in pattern.text and pattern.matches(address) for pattern in patterns)
        match list(found.candidates.items()):
            case [(identity, reason)] if exactly or reason is SimilarityReason.SIMILAR:
                meant[identity].append(address)
    taken = {
        address: Match(sides.snapshot.objects[identity].id, MatchedBy.SIMILARITY)
        for identity, addresses in meant.items()
        if len(addresses) == 1
        for address in addresses
    }
    left = {
        address: _ambiguous_rename_finding(sides.names, address, found.candidates)
        for address, found in perhaps.items()
        if address not in taken
    }
    if not taken:
        return planned, left
    snapshot = replace(sides.snapshot, matches={**sides.snapshot.matches, **taken})
    again = Sides(sides.registry, sides.desired, snapshot, sides.options, sides.base)
    return Planned(make_plan(again), again), left


def _ambiguous_rename_finding(
    names: Names, address: Address, could_be: Mapping[Identity, SimilarityReason]
) -> Diagnostic:
    """Return the error for an entry that may be one of several objects, with the answers that decide it."""
    candidates = tuple(candidate(names, identity, reason.value) for identity, reason in could_be.items())
    first, *_ = candidates
    pin = binding_instruction(names, address, first.id)
    return Diagnostic(
        "not-live",
        "dpsync did not find the object of this entry in GitBook. "
        "One of these objects may be the same object with a new name",
        names.desired.entries[address].span,
        str(address),
        f"{pin} if this is the same object, or delete the entry if the object no longer exists",
        candidates=candidates,
        answers=binding_answers(names, address, candidates),
    )
