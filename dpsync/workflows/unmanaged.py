"""Find live objects without an entry, and entries that may be such objects under another name.

Input: a session and address patterns. Output: live objects for `import --add` and `import --update`.
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
from dpsync.planner.identity_questions import (
    binding_answers,
    binding_instruction,
    candidate,
    possibly_renamed_entries,
)
from dpsync.planner.names import Names
from dpsync.planner.plan import make_plan
from dpsync.planner.rebound_ids import RenameCandidates, SimilarityReason, find_candidates
from dpsync.planner.sides import Sides
from dpsync.workflows.session import Planned, Session


def find_undeclared_singles(session: Session, patterns: Sequence[Pattern]) -> dict[Address, Scope]:
    """Find objects that exist once in each parent (such as the settings of a site) and have no entry.

    Return their places in the files by address. `patterns` select them; without patterns, `policy.watch`
    does, by object or field.
    """
    desired, policy = session.readable, session.readable.policy
    selected = patterns or (*policy.watch, *policy.watch_fields)
    scopes: dict[Address, Scope] = {}
    for entry in desired.entries.values() if selected else ():
        for word, kinds in session.registry.kinds_by_list_key(entry.kind).items():
            address = entry.address.child(*word.split("."))
            is_declared = address in desired.entries or address in desired.unsupported
            is_single = isinstance(kinds[0].shape, SingleEntry)
            if is_single and not is_declared and any(pattern.matches(address) for pattern in selected):
                scopes[address] = Scope(
                    address, entry.address, tuple(kind.name for kind in kinds), entry.span
                )
    return scopes


def find_undeclared(
    planned: Planned, patterns: Sequence[Pattern]
) -> tuple[Mapping[Address, LiveObject], list[Diagnostic]]:
    """Return live objects without an entry that match the patterns, and an error for each unused pattern.

    A pattern with `*` skips objects that have no value of their own.
    """
    sides = planned.sides
    undeclared = {
        sides.names.address(identity): sides.snapshot.objects[identity]
        for identities in sides.snapshot.scopes.values()
        for identity in identities
        if identity not in sides.names.declared
    }
    matching: dict[Address, LiveObject] = {}
    problems, addresses = list[Diagnostic](), sorted(undeclared)
    for pattern in patterns:
        addresses_matched = [address for address in addresses if pattern.matches(address)]
        exact = "*" not in pattern.text
        matching |= {
            address: undeclared[address]
            for address in addresses_matched
            # An object without a value of its own inherits all its values.
            if exact or any(value not in (None, {}) for value in undeclared[address].fields.values())
        }
        if not addresses_matched:
            problems.append(_unused_pattern_error(sides, pattern))
    return matching, problems


def _unused_pattern_error(sides: Sides, pattern: Pattern) -> Diagnostic:
    """Return the error about a pattern that matches no object without an entry, with the likely reason."""
    for scope_address, problem in sides.snapshot.not_readable_watched.items():
        if pattern.matches(scope_address) or pattern.list_pattern.matches(scope_address):
            return Diagnostic("unread", problem.reason, address=str(scope_address), hint=problem.todo)
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
    candidates_by_address: dict[Address, RenameCandidates] = {}
    addresses_by_object: dict[Identity, list[Address]] = defaultdict(list)
    for address, candidates in possibly_renamed_entries(decide(sides), find_candidates(sides)).items():
        if not any(pattern.matches_or_contains(address) or pattern.matches(address) for pattern in patterns):
            continue
        candidates_by_address[address] = candidates
        is_named = any("*" not in pattern.text and pattern.matches(address) for pattern in patterns)
        match list(candidates.candidates.items()):
            case [(identity, reason)] if is_named or reason is SimilarityReason.SIMILAR:
                addresses_by_object[identity].append(address)
    new_matches = {
        address: Match(sides.snapshot.objects[identity].id, MatchedBy.SIMILARITY)
        for identity, addresses in addresses_by_object.items()
        if len(addresses) == 1
        for address in addresses
    }
    ambiguous = {
        address: _ambiguous_rename_finding(sides.names, address, candidates.candidates)
        for address, candidates in candidates_by_address.items()
        if address not in new_matches
    }
    if not new_matches:
        return planned, ambiguous
    snapshot = replace(sides.snapshot, matches={**sides.snapshot.matches, **new_matches})
    bound_sides = Sides(sides.registry, sides.desired, snapshot, sides.options, sides.base)
    return Planned(make_plan(bound_sides), bound_sides), ambiguous


def _ambiguous_rename_finding(
    names: Names, address: Address, reasons: Mapping[Identity, SimilarityReason]
) -> Diagnostic:
    """Return the error for an entry that may be one of several renamed objects, with advice for each."""
    candidates = tuple(candidate(names, identity, reason.value) for identity, reason in reasons.items())
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
