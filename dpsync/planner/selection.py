"""Select the part of a configuration to plan: by patterns (`--select`, `--exclude`), with dependencies.

`find_selection` returns the selected addresses. `dependencies` adds the entries that the selected part needs;
deletes are never added. The rest of the files and live objects is ignored, as if a policy said so, because a
plan cannot be filtered afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import Final

from msgspec import Struct

from dpsync.kinds.address_patterns import PlaceTypes
from dpsync.kinds.kind import Call
from dpsync.kinds.registry import Registry
from dpsync.model.address import Address, Pattern
from dpsync.model.desired import Desired, Entry
from dpsync.model.diagnostic import Diagnostic, DiagnosticError, Exit
from dpsync.model.text import format_command
from dpsync.model.values import references
from dpsync.planner.sides import Sides
from dpsync.planner.stepset import PlannedSteps

MAX_NEAREST_NAMES: Final = 3


class Selection(Struct, frozen=True):
    """The selected addresses, and the patterns of addresses that may not be added as dependencies."""

    addresses: frozenset[Address]
    excluded: tuple[Pattern, ...]


def find_selection(sides: Sides) -> Selection | None:
    """Return the selection by `--select` and `--exclude`; None without these options.

    Raises:
        DiagnosticError: A pattern is invalid or matches nothing (exit 5).
    """
    options = sides.options
    if not options.select and not options.exclude:
        return None
    select = parse_patterns(sides.registry, sides.desired, options.select)
    exclude = parse_patterns(sides.registry, sides.desired, options.exclude)
    names = dict(_selectable_names(sides))
    if not options.proof:  # after an apply, a pattern may name only deleted objects
        _check_matches(names, [*select, *exclude])
    addresses = {address for name, address in names.items() if is_selected(name, select, exclude)}
    return Selection(frozenset(addresses), tuple(exclude))


def selected_names(
    registry: Registry,
    desired: Desired,
    names: Iterable[Address],
    select: Iterable[str],
    exclude: Iterable[str],
) -> frozenset[Address]:
    """Return the addresses in `names` that `select` and `exclude` leave, without requests.

    Raises:
        DiagnosticError: A pattern is invalid or matches none of the addresses (exit 5).
    """
    known_names = list(names)
    selected, excluded = (parse_patterns(registry, desired, texts) for texts in (select, exclude))
    _check_matches(known_names, [*selected, *excluded])
    return frozenset(name for name in known_names if is_selected(name, selected, excluded))


def is_selected(name: Address, select: list[Pattern], exclude: list[Pattern]) -> bool:
    """Return whether `--select` and `--exclude` leave an address in the plan."""
    is_named = not select or any(pattern.matches_or_contains(name) for pattern in select)
    return is_named and not any(pattern.matches_or_contains(name) for pattern in exclude)


def parse_patterns(registry: Registry, desired: Desired, texts: Iterable[str]) -> list[Pattern]:
    """Parse the patterns of `--select` or `--exclude`.

    Raises:
        DiagnosticError: A pattern is invalid or can never match anything (exit 5).
    """
    organizations = {entry.key for entry in desired.entries.values() if entry.kind == registry.root.name}
    place_types = PlaceTypes(registry, organizations)
    patterns = []
    for text in texts:
        try:
            pattern = Pattern.parse(text, registry.pattern_words)
        except ValueError as error:
            raise _invalid("DP230", f'"{text}" is not a valid pattern: {error}') from None
        if pattern.field:
            raise _invalid("DP230", f'"{text}" names a field. Write the address of an entry')
        if mistake := place_types.find_problem(pattern):
            addresses = _addresses_with_name(registry, desired, text)
            hint = f"did you mean {addresses}?" if addresses else mistake.hint
            raise _invalid("DP234", mistake.reason, hint)
        patterns.append(pattern)
    return patterns


def _addresses_with_name(registry: Registry, desired: Desired, text: str) -> str:
    """Return, for a hint, the first addresses of entries with this key or name; "" if there are none."""
    folded = text.casefold()
    addresses = [
        f'"{entry.address}"'
        for entry in desired.entries.values()
        if folded == entry.key.casefold()
        or any(
            str(entry.fields.get(field_name)).casefold() == folded
            for field_name in registry[entry.kind].natural_key_fields
        )
    ]
    return " or ".join(addresses[:MAX_NEAREST_NAMES])


def _selectable_names(sides: Sides) -> Iterator[tuple[Address, Address]]:
    """Yield each address by which a pattern can select something, with its address in the plan.

    The object of a removed entry can also be selected by the address of that entry.
    """
    for address in (*sides.desired.entries, *sides.desired.unsupported):
        yield address, address
    for identities in sides.snapshot.scopes.values():
        for identity in identities:
            if identity in sides.names.declared:
                continue
            address = sides.names.address(identity)
            yield address, address
            if identity in sides.names.base_addresses:
                yield sides.names.base_addresses[identity], address


def _check_matches(names: Iterable[Address], patterns: Iterable[Pattern]) -> None:
    """Check that each pattern matches one of the addresses.

    Raises:
        DiagnosticError: A pattern matches nothing; the hint has the nearest addresses (exit 5).
    """
    known_names = list(names)
    for pattern in patterns:
        if not any(pattern.matches_or_contains(name) for name in known_names):
            guessable_names = [
                text for name in known_names if "@" not in (text := str(name))
            ]  # never guess e-mails
            nearest = (
                get_close_matches(pattern.text, guessable_names, MAX_NEAREST_NAMES, 0.5)
                if "@" not in pattern.text
                else []
            )
            hint = (
                f"nearest: {', '.join(nearest)}"
                if nearest
                else f"to see all addresses, run {format_command('plan')}"
            )
            raise _invalid("DP330", f'"{pattern.text}" names nothing here', hint)


def _invalid(code: str, message: str, hint: str | None = None) -> DiagnosticError:
    """Return the error for an invalid pattern or selection (exit 5)."""
    return DiagnosticError([Diagnostic(code, message, hint=hint)], Exit.INVALID)


def dependencies(
    sides: Sides, planned: PlannedSteps, selection: Selection, selected_addresses: frozenset[Address]
) -> dict[Address, Address]:
    """Return the entries that a plan of only the selected addresses needs, too, each with one that needs it.

    `sides` (the files and the live objects) and `planned` belong to a plan of at least the selected part.

    Raises:
        DiagnosticError: A needed entry is excluded (exit 5).
    """
    needed: dict[Address, Address] = {}
    pending = sorted(selected_addresses)
    while pending:
        address = pending.pop()
        for other in sorted(set(_needed_addresses(sides, planned, address))):
            if other in selected_addresses or other in needed or other not in sides.desired.entries:
                continue
            if any(pattern.matches_or_contains(other) for pattern in selection.excluded):
                hint = f"do not exclude {other}, or do not select {address}"
                raise _invalid("DP331", f"{address} needs {other}, which is excluded", hint)
            needed[other] = address
            pending.append(other)
    return needed


def _needed_addresses(sides: Sides, planned: PlannedSteps, address: Address) -> Iterator[Address]:
    """Yield the other addresses without which the selected address cannot be applied alone.

    These are the entries to which it refers and that do not exist yet, those with steps for which its steps
    wait, and a sibling that must be moved before.
    """
    entry = sides.entries.get(address)
    if entry is not None:
        yield from _missing_references(sides, entry)
    for step in planned.drafts.steps_of(address):
        if step.verb == "move" and sides.selected_addresses is None:
            continue  # moves in the plan of everything assume siblings that the part does not create
        for id in planned.edges.needs(step.id):
            other = planned.drafts.steps[id]
            # Steps that wait only so that objects are hidden first and exposed last need nothing.
            is_needed = step.phase != "expose" and other.phase != "withdraw"
            if other.address != address and is_needed:
                yield other.address
        if step.sibling is not None and step.sibling in planned.out_of_place:
            yield step.sibling


def _missing_references(sides: Sides, entry: Entry) -> Iterator[Address]:
    """Yield the parents and references of an entry that are declared but not live yet."""
    targets = {other for value in entry.fields.values() for other in references(value)}
    if sides.live(entry.address) is None:
        targets |= {other for other in (entry.parent, entry.holder) if other is not None}
        create = sides.kind(entry).create
        if isinstance(create, Call) and create.first_child_id_path:
            targets |= set(entry.children[:1])
    for other in targets:
        if other in sides.desired.entries and sides.live(other) is None:
            yield other
