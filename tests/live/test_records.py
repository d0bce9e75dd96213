"""Which lines of the ids files concern a reading, and which lines a reading gives: plain values."""

from __future__ import annotations

from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any, cast

import pytest
from msgspec.structs import replace

from dpsync.live.reading_state import (
    ReadingState,
    note_recorded_lines,
    recorded_lines,
    report_lines_of_other_kinds,
)
from dpsync.model.address import Address
from dpsync.model.desired import NO_BASE, Base, Desired, Unsupported
from dpsync.model.ids import IdsFile, RecordedLine
from dpsync.model.snapshot import Match, MatchedBy, MissingObject
from tests.planner.lab import REGISTRY
from tests.planner.stages import ACME, SPAN, Case, Things

HERE = "https://here.example"
OTHER = Address.root("other")


def at(place: str) -> Address:
    return Address.parse(place)


def file(*lines: str, organization: str = "1", platform: str = HERE) -> IdsFile:
    """`acme/spaces/a=x`: the line of an entry."""
    found = [RecordedLine(at(address), id) for address, _, id in (line.partition("=") for line in lines)]
    return IdsFile({platform: {organization: {line.address: line for line in found}}})


def declared(things: Things, elsewhere: Things | None = None, unserved: Iterable[str] = ()) -> Desired:
    """One organization with these entries, and another one with those `elsewhere`."""
    desired = Case(things).sides().desired
    root = desired.entries[ACME]
    resources = {**desired.entries, OTHER: replace(root, address=OTHER, key="other")}
    for address, entry in Case(elsewhere or {}).sides().desired.entries.items():
        if address != ACME:
            there = Address(("other", *address.segments[1:]))
            resources[there] = replace(entry, address=there, parent=OTHER)
    lacking = {at(address): Unsupported("it is not served", SPAN) for address in unserved}
    return replace(desired, entries=resources, unsupported=lacking)


def reading(desired: Desired, ids: IdsFile, base: Base = NO_BASE) -> ReadingState:
    """Return the state of a reading that has found both organizations."""
    client = cast(Any, SimpleNamespace(platform=HERE))
    state = ReadingState(client, REGISTRY, desired, 1, base, ids)
    state.matches |= {ACME: Match("1", MatchedBy.PIN), OTHER: Match("2", MatchedBy.PIN)}
    note_recorded_lines(state)
    return state


A, B = "acme/spaces/a", "acme/spaces/b"
SPACE: Things = {"space": {"a": {"title": "A"}}}


@pytest.mark.parametrize(
    "other", [file(f"{A}=x", platform="https://staging.example"), file(f"{A}=x", organization="9")]
)
def test_ids_lines_of_other_platform_are_ignored(other: IdsFile) -> None:
    found = reading(declared(SPACE), other)
    assert found.recorded_lines.lines == found.recorded_ids.lines == {}
    assert found.recorded_ids.organizations_without_lines == {ACME, OTHER}


def test_organization_without_ids_lines_has_no_recorded_ids() -> None:
    """Otherwise, where nothing is recorded yet content is made beside what it perhaps is."""
    assert reading(declared(SPACE), file(f"{A}=x")).recorded_ids.organizations_without_lines == {OTHER}


def test_ids_line_without_entry_is_orphan() -> None:
    found = reading(declared(SPACE), file(f"{A}=x", f"{B}=y"))
    assert found.recorded_lines.orphans == {"y": at(B)}


def test_ids_line_of_unsupported_entry_is_not_orphan() -> None:
    """Else another entry takes over what it is.

    Otherwise, what the server lacks counts as removed, and another entry takes over what it is.
    """
    assert reading(declared(SPACE, unserved=[B]), file(f"{B}=y")).recorded_lines.orphans == {}


# Removed, and back.


def base(things: Things, ids: IdsFile) -> Base:
    return Base("the base", "0" * 40, Case(things).sides().desired, ids=ids)


@pytest.mark.parametrize(
    ("before", "returned"),
    [
        (base({}, file(f"{A}=x")), True),
        (base(SPACE, file(f"{A}=x")), False),  # it was there all the time
        (base({}, file(f"{A}=y")), False),  # its line is another one by now
        (base({}, IdsFile()), False),  # nothing was there, nor a line
        (Base("the base", "0" * 40, None, ids=file(f"{A}=x")), False),  # nobody knows what was there
    ],
)
def test_entry_is_returned_if_base_has_only_id(before: Base, returned: bool) -> None:
    """Otherwise, an entry that was there all the time counts as one that came back, and is asked about.

    Otherwise, an entry that is new in this change counts as one that came back.
    """
    found = reading(declared(SPACE), file(f"{A}=x"), before)
    assert found.recorded_lines.re_added == ({at(A)} if returned else frozenset())


def test_undeclared_entry_is_never_re_added() -> None:
    """Otherwise, what nobody declares counts as an entry that came back."""
    found = reading(declared({}), file(f"{A}=x"), base({}, file(f"{A}=x")))
    assert found.recorded_lines.re_added == frozenset()


# In another organization.


def test_ids_line_follows_entry_to_other_organization() -> None:
    found = reading(declared({}, SPACE), file(f"{A}=x"))
    there = at("other/spaces/a")
    assert found.recorded_lines.lines[there].id == "x"
    assert there not in found.recorded_ids.lines  # it was written about another place: nothing is gone here


def test_own_ids_line_overrides_line_of_other_organization() -> None:
    """Otherwise, a line of another organization goes before the entry's own."""
    own = file("other/spaces/a=own", organization="2")
    both = IdsFile({HERE: {**file(f"{A}=x").sections[HERE], **own.sections[HERE]}})
    assert reading(declared({}, SPACE), both).recorded_lines.lines[at("other/spaces/a")].id == "own"


def test_ids_line_of_team_does_not_cross_organizations() -> None:
    """Otherwise, the id of one organization's team is looked for in another one, and told as gone."""
    teams: Things = {"team": {"a": {"title": "A"}}}
    found = reading(declared({}, teams), file("acme/teams/a=x"))
    assert found.recorded_lines.lines == {at("acme/teams/a"): RecordedLine(at("acme/teams/a"), "x")}


def test_ids_line_stays_with_entry_in_same_organization() -> None:
    found = reading(declared(SPACE, SPACE), file(f"{A}=x"))
    assert at("other/spaces/a") not in found.recorded_lines.lines


# A line with the id of something else.


@pytest.mark.parametrize(("missing", "codes"), [("team-t", ["DP315"]), ("space-s", []), ("nothing", [])])
def test_ids_line_of_wrong_kind_fails(missing: str, codes: list[str]) -> None:
    """Otherwise, a line with the id of something else is told as one that is gone."""
    live = Case({}, {"team": {"t": {"title": "T"}}, "space": {"s": {"title": "S"}}}).sides()
    state = reading(declared(SPACE), file(f"{A}={missing}"))
    state.objects |= live.snapshot.objects
    state.missing_objects[at(A)] = MissingObject(missing)
    report_lines_of_other_kinds(state)
    assert [found.code for found in state.diagnostics] == codes


# What a reading gives.


def test_ids_lines_are_written_only_for_matched_content() -> None:
    """Otherwise, what its key tells for certain gets a line, which then goes before the key."""
    case = Case(
        {"space": {"a": {"title": "A"}, "new": {"title": "New"}}, "member": {"ada": {"role": "read"}}},
        {"space": {"a": {"title": "A"}}, "member": {"ada": {"role": "read"}}},
    )
    sides = case.sides()
    assert recorded_lines(REGISTRY, sides.desired, sides.snapshot) == {at(A): RecordedLine(at(A), "space-a")}


def test_ids_line_of_section_includes_first_site_space() -> None:
    things: Things = {
        "space": {"a": {"title": "A"}},
        "site": {"docs": {"title": "Docs"}},
        "section": {"docs/one": {"title": "One"}, "docs/two": {"title": "Two"}},
        "site_space": {"docs/one/a": {"path": "a"}},
    }
    sides = Case(things, things).sides()
    lines = recorded_lines(REGISTRY, sides.desired, sides.snapshot)
    also = {str(address): line.second_id for address, line in lines.items()}
    assert also["acme/sites/docs/structure/one"] == "site_space-docs-one-a"
    assert also["acme/sites/docs/structure/two"] is None
    assert also["acme/sites/docs"] is None


def test_ids_line_of_translation_includes_output_space() -> None:
    case = Case()
    source = {"source": {"space": case.ref("space", "s"), "language": "en"}, "language": "fr"}
    case.wanted = case.live = {"space": {"s": {"title": "S"}}, "translation": {"fr": source}}
    sides = case.sides()
    snapshot = replace(sides.snapshot, outputs={at("acme/translations/fr"): "out"})
    assert recorded_lines(REGISTRY, sides.desired, snapshot)[at("acme/translations/fr")].second_id == "out"
