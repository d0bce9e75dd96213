"""What is protected stays so, whatever is removed from the files or committed. The sides are plain values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from dpsync.model.plans.plan import Plan
from dpsync.planner.plan import make_plan

from .stages import Case as Staged
from .stages import Things

BOTH: Things = {"space": {"a": {"title": "A"}, "safe": {"title": "Safe"}}}
REMOVED: Things = {"space": {"a": {"title": "A"}}}
PROTECTED = ("protected", "acme/spaces/[Safe]")
UNKNOWN = ("protected", "spaces/safe")


@dataclass
class Case(Staged):
    """A space that is protected by its key, and whose entry is gone."""

    wanted: Things = field(default_factory=lambda: REMOVED)
    live: Things = field(default_factory=lambda: BOTH)
    prune: Any = ("spaces",)
    protect: Any = ("spaces/safe",)

    def plan(self) -> Plan:
        return make_plan(self.sides())

    def refused(self) -> list[tuple[str, str]]:
        return [(item.code, item.address) for item in self.plan().refusals]


@pytest.mark.parametrize(
    "known",
    [
        {"lines": [("space", "a"), ("space", "safe")]},
        {"lines": [("space", "safe")], "base": REMOVED},
        {"base": BOTH},
        {"base": REMOVED, "earlier": [REMOVED, BOTH]},
    ],
    ids=["a line without entry", "with a base that has no entry", "the base", "a commit before the base"],
)
def test_committing_the_removal_of_an_entry_does_not_end_its_protection(known: dict[str, Any]) -> None:
    assert Case(**known).refused() == [PROTECTED]


def test_renamed_on_the_platform_it_is_found_by_its_line() -> None:
    live: Things = {"space": {"a": {"title": "A"}, "safe": {"title": "Quite another"}}}
    assert Case(live=live, lines=[("space", "a"), ("space", "safe")]).refused() == [
        ("protected", "acme/spaces/[Quite another]")
    ]


@pytest.mark.parametrize("base", [None, REMOVED])
def test_where_nothing_tells_what_it_was_no_delete_beside_it_is_possible(base: Things | None) -> None:
    case = Case(base=base)
    assert case.refused() == [UNKNOWN]
    assert "acme/spaces/[Safe]" in case.plan().refusals[0].message


def test_refusal_names_all_objects_that_may_be_protected() -> None:
    """The person picks one of these titles: with some names left out, that is a guess."""
    names = [f"acme/spaces/[Gone {number}]" for number in range(1, 8)]
    gone = {f"g{number}": {"title": f"Gone {number}"} for number in range(1, 8)}
    (refusal,) = Case(live={"space": {"a": {"title": "A"}, **gone}}).plan().refusals
    assert ", ".join(names) in refusal.message


def test_what_is_gone_by_its_line_stops_nothing() -> None:
    live: Things = {"space": {"a": {"title": "A"}, "other": {"title": "Other"}}}
    assert Case(live=live, lines=[("space", "a"), ("space", "safe")]).refused() == []


@pytest.mark.parametrize("protect", ["spaces/*", "**"])
def test_a_pattern_with_a_wildcard_names_no_single_thing(protect: str) -> None:
    live: Things = {"space": {"a": {"title": "A"}}, "member": {"bo": {"role": "read"}}}
    case = Case({}, live, protect=[protect], prune=["members"])
    assert UNKNOWN not in case.refused()


def test_elsewhere_things_are_deleted_as_before() -> None:
    live: Things = {**REMOVED, "member": {"bo": {"role": "read"}}}
    case = Case({**REMOVED, "member": {"ada": {"role": "admin"}}}, live, prune=["members"])
    assert [item for item in case.refused() if item[0] == "protected"] == []


def test_what_lies_in_something_unknown_could_be_in_any_of_its_kind() -> None:
    """Otherwise, what is protected under a name that nobody knows any more is deleted."""
    site = {"title": "Docs", "basename": "docs"}
    case = Case({}, {"site": {"docs": site}}, prune=["sites"], protect=["sites/old/structure/guides"])
    case.wanted = {"site": {"other": {"title": "Other", "basename": "other"}}}
    assert ("protected", "sites/old/structure/guides") in case.refused()


@pytest.mark.parametrize(("in_base", "refused"), [(True, [("protected", "spaces/[Was]")]), (False, [])])
def test_a_title_that_the_base_protects_and_nothing_bears_any_more_does_the_same(
    in_base: bool, refused: list[tuple[str, str]]
) -> None:
    """Otherwise, what is protected under a name that nobody knows any more is deleted."""
    case = Case(base=BOTH if in_base else None, protect=["spaces/[Was]"])
    assert case.refused() == refused


def test_a_title_with_an_id_that_is_not_live_protects_nothing() -> None:
    """Otherwise, a protection that is written for later stops every delete."""
    assert Case(base=BOTH, protect=["spaces/[Was~gone]"]).refused() == []


def test_somebody_whose_key_is_the_name_is_found_by_it() -> None:
    live: Things = {"member": {"bo": {"role": "read"}, "ada": {"role": "admin"}}}
    case = Case({"member": {"ada": {"role": "admin"}}}, live, prune=["members"], protect=["members/bo"])
    assert [code for code, _ in case.refused()] == ["protected"]
