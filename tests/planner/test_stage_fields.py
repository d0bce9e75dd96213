"""What is the same, what a new object has anyway, and where each thing was written, from plain values."""

from __future__ import annotations

from typing import Any

import pytest

from dpsync.kinds.kind import Field
from dpsync.kinds.types import Text
from dpsync.model.values import LiveId, Ref
from dpsync.planner.compare import equals_live
from dpsync.planner.plan import make_plan

from .stages import ACME, Case, Things

PLAIN, QUIET = Field("note", Text()), Field("note", Text(), value_when_absent="guest")


@pytest.mark.parametrize(
    ("field", "after", "before", "equal"),
    [
        (PLAIN, None, None, True),
        (PLAIN, None, "x", False),
        (PLAIN, "x", None, False),
        (PLAIN, "x", "x", True),
        (PLAIN, "x", "y", False),
        # Null takes away: what stands for the absence of a value is as good as nothing.
        (QUIET, None, "guest", True),
        (QUIET, None, "x", False),
        # A value that was written is to be there, whatever its absence would mean.
        (QUIET, "guest", None, False),
        (QUIET, "guest", "guest", True),
    ],
)
def test_null_in_field_equals_only_absent_live_value(
    field: Field, after: Any, before: Any, equal: bool
) -> None:
    assert equals_live(field, after, before) is equal


@pytest.mark.parametrize(
    ("kind", "path", "fields", "written"),
    [
        ("share_link", "docs/l", {"active": True}, []),
        ("share_link", "docs/l", {"active": False}, ["active"]),
        ("redirect", "docs/r", {"draft": False}, []),
        ("redirect", "docs/r", {"draft": True}, ["draft"]),
        ("collection", "c", {"title": "C", "defaultLevel": "guest"}, ["defaultLevel", "title"]),
        ("collection", "c", {"title": "C", "description": None}, ["title"]),
    ],
)
def test_plan_omits_defaults_of_new_object(
    kind: str, path: str, fields: dict[str, Any], written: list[str]
) -> None:
    """Otherwise, a plan shows what a new thing has anyway."""
    case = Case({"site": {"docs": {"title": "Docs"}}, kind: {path: fields}})
    display = case.decisions().entries[case.address(kind, path)].display
    assert sorted(item.field.name for item in display) == written


SOURCE = {"url": "https://a.example/openapi.yaml"}


@pytest.mark.parametrize(
    ("fields", "noted"),
    [
        ({"visibility": "private"}, []),
        ({"source": SOURCE}, []),
        ({"source": {"text": "openapi: 3.1"}}, ["acme/openapi/shop#source"]),
    ],
)
def test_unreadable_field_without_git_base_is_noted(fields: dict[str, Any], noted: list[str]) -> None:
    live = {"slug": "shop", "visibility": "private", "source": SOURCE}
    case = Case({"openapi": {"shop": {"slug": "shop", **fields}}}, {"openapi": {"shop": live}})
    assert [note.address for note in case.decisions().notes] == noted


def test_plan_records_origin_of_every_field() -> None:
    wanted = {"space": {"s": {"title": "S", "emoji": "1f600"}}}
    origins = make_plan(Case(wanted, {"space": {"s": {"title": "T"}}}).sides()).origins
    assert {"acme", "acme/spaces/s", "acme/spaces/s#title", "acme/spaces/s#emoji"} == origins.keys()


# Flags that one of several has, guards, and names that several kinds have.


def test_removing_last_space_admin_is_allowed() -> None:
    """The last one who is admin of a space may go: somebody is admin of the organization."""
    people: Things = {"member": {"ada": {"role": "admin"}}, "space": {"s": {"title": "S"}}}
    case = Case(
        {**people, "member_permission": {}},
        {**people, "member_permission": {"s/ada": {"role": "admin"}}},
        prune=["spaces/*/permissions/members"],
        user="member-ada",
    )
    plan = make_plan(case.sides())
    assert [change.action for change in plan.changes] == ["delete"]
    assert plan.refusals == ()


def test_member_that_cannot_be_declared_is_not_pruned() -> None:
    """Whose e-mail the platform does not tell could not be declared: there is no key for it.

    Otherwise, what no entry could be written for is deleted.
    """
    live: dict[str, dict[str, Any]] = {
        "x": {"email": None, "role": "read"},
        "y": {"role": "read"},
        "ada": {"role": "admin"},
    }
    case = Case({"member": {"ada": {"role": "admin"}}}, {"member": live}, prune=["members"])
    found = case.decisions().deletions
    assert list(found.roots) == [("member", "organization/acme/member-y")]
    assert [item.addresses for item in found.kept_objects] == [("acme/members/[member-x]",)]


def test_titles_swapped_between_kinds_need_no_step_order() -> None:
    wanted = {"team": {"t": {"title": "B"}}, "collection": {"c": {"title": "A"}}}
    live = {"team": {"t": {"title": "A"}}, "collection": {"c": {"title": "B"}}}
    steps = Case(wanted, live).steps()
    assert {*steps.drafts.steps} == {"acme/teams/t update", "acme/collections/c update"}
    assert not any(steps.edges.needs(id) for id in steps.drafts.steps)


# Orders.


def test_steps_adding_objects_to_ordered_list_are_sequential() -> None:
    """Also what the order does not name: where it comes depends on what came before.

    Otherwise, what is made in the same plan counts as no sibling, and comes in any order.
    Otherwise, who comes from another place by a request of its own is not waited for.
    Otherwise, a request that only comes after another one is not sent where that failed.
    """
    inside = Ref(ACME.child("collections", "c"))
    wanted: Things = {
        "collection": {"c": {"title": "C", "order": (Ref(ACME.child("spaces", "b")),)}},
        "space": {key: {"title": key, "collection": inside} for key in "abc"},
    }
    live: Things = {"collection": {"c": {"title": "C"}}, "space": {"a": {"title": "a"}}}
    steps, _ = Case(wanted, live).lanes()
    arriving = ["acme/spaces/b create", "acme/spaces/a place collection", "acme/spaces/c create"]
    assert [steps.edges.follows(id) for id in arriving] == [set(), {arriving[0]}, {arriving[1]}]


def test_existing_spaces_of_ordered_list_are_only_moved() -> None:
    """Otherwise, a holder that leaves out its order ends the run in an error of the program.

    Otherwise, who is in the list and stays counts as somebody who arrives, and is moved.
    Otherwise, who is in the list already counts as somebody who arrives, too.
    Otherwise, a list that a request orders is told as one that no request orders.
    """
    inside = Ref(ACME.child("collections", "c"))
    wanted: Things = {
        "collection": {"c": {"title": "C", "order": tuple(Ref(ACME.child("spaces", key)) for key in "ab")}},
        "space": {key: {"title": key, "collection": inside} for key in "ab"},
    }
    live: Things = {
        "collection": {"c": {"title": "C"}},
        "space": {key: {"title": key, "collection": LiveId("collection-c")} for key in "ba"},
    }
    steps, _ = Case(wanted, live).lanes()
    assert [step.verb for step in steps.drafts.steps.values()] == ["move"]


def test_fields_not_accepted_on_create_are_sent_afterwards() -> None:
    """Otherwise, what only an update takes is sent when a thing is made.

    Otherwise, what only an update takes is never sent for a new thing.
    """
    rules = {"type": "expression", "expression": "x"}
    wanted: Things = {"space": {"s": {"title": "S", "editMode": "locked", "mergeRules": rules}}}
    (change,) = make_plan(Case(wanted, {"space": {}}).sides()).changes
    made, updated = change.steps
    assert made.body == {"title": "S", "editMode": "locked", "empty": True}
    assert updated.body == {"mergeRules": rules}
