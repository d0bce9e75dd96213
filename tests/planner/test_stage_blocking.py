"""What cannot be made blocks what it is part of: from plain values, with kinds of their own."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from dpsync.kinds.kind import (
    Call,
    EntryMapping,
    Field,
    Kind,
    ListRead,
    ManualStep,
    Patch,
    Post,
    SingleRead,
    TreeNode,
    TreeRead,
)
from dpsync.kinds.registry import Registry
from dpsync.kinds.types import Reference, Text
from dpsync.model.change import Blocked
from dpsync.model.snapshot import MissingObject
from dpsync.planner.decide import decide
from dpsync.planner.plan import make_plan
from dpsync.planner.sides import Options

from .stages import Case, Things

_TREE = TreeRead("{parent}/plan", root_member="plan")
_TITLE = Field("title", Text())


def _node(name: str, *fields: Field, create: Call | ManualStep | None, holds: tuple[str, ...] = ()) -> Kind:
    return Kind(
        name, "house", "plan", TreeNode(name, name, children_member="inside", child_kinds=holds),
        "{parent}/plan/{id}", _TREE, (_TITLE, *fields), create=create, update=Patch("{self}", repeat="safe"),
        natural_keys=("title",),
    )  # fmt: skip


HOUSES = Registry(
    [
        Kind(
            "house", None, "organizations", EntryMapping(), "/houses/{id}", SingleRead(), (_TITLE,),
            natural_keys=("title",),
        ),
        Kind(
            "hall", "house", "halls", EntryMapping(), "{parent}/halls/{id}", ListRead("{parent}/halls"),
            (_TITLE,), create=ManualStep("build {key}"), update=Patch("{self}", repeat="safe"),
            natural_keys=("title",),
        ),
        Kind(
            "chair", "hall", "chairs", EntryMapping(), "{parent}/chairs/{id}", ListRead("{parent}/chairs"),
            (_TITLE,), create=Post("{parent}/chairs", repeat="look_up"),
            update=Patch("{self}", repeat="safe"), natural_keys=("title",),
        ),
        _node("wing", create=ManualStep("build {key}"), holds=("room",)),
        # Creating does not say where it is: only the tree says what holds it.
        _node(
            "room", Field("wing", Reference.to("wing"), written_in="update", is_parent_reference=True),
            create=Post("{parent}/plan", repeat="look_up"),
        ),
    ]
)  # fmt: skip


def blocked(wanted: Things, live: Things | None = None, ignore: tuple[str, ...] = ()) -> dict[str, Blocked]:
    case = Case(wanted, live or {}, ignore=ignore, registry=HOUSES)
    return {item.address: item for item in case.decisions().blocking.reported()}


CHAIR: Things = {"hall": {"h": {"title": "H"}}, "chair": {"h/c": {"title": "C"}}}
WING: Things = {"wing": {"w": {"title": "W"}}}
ROOM: Things = {**WING, "room": {"r": {"title": "R"}}}


def in_a_wing() -> Things:
    """Return a room whose address does not contain its wing."""
    return {**ROOM, "room": {"r": {"title": "R", "wing": Case(WING, registry=HOUSES).ref("wing", "w")}}}


@pytest.mark.parametrize(
    ("wanted", "holder", "inside"),
    [
        (CHAIR, "acme/halls/h", "acme/halls/h/chairs/c"),
        (in_a_wing(), "acme/plan/w", "acme/plan/r"),
    ],
    ids=["parent", "holder"],
)
def test_manually_created_object_blocks_children(wanted: Things, holder: str, inside: str) -> None:
    """Otherwise, what needs something blocked is tried, and fails halfway."""
    found = blocked(wanted)
    assert found.keys() == {holder, inside}
    assert found[holder].todo == f"build {holder[-1]}"
    assert (found[inside].reason, found[inside].because) == (
        f"this entry needs {holder}, which is blocked",
        holder,
    )


def test_ignored_missing_object_blocks_children() -> None:
    """Otherwise, what is ignored is told as blocked.

    Otherwise, what needs something ignored is tried, and fails halfway.
    """
    (found,) = blocked(in_a_wing(), ignore=("plan/w",)).values()
    assert found.address == "acme/plan/r"
    assert found.reason == "this entry needs acme/plan/w, which does not exist and is in policy.ignore"
    assert found.todo == "create acme/plan/w in GitBook, or remove acme/plan/w from policy.ignore"


@pytest.mark.parametrize("wanted", [CHAIR, in_a_wing()], ids=["parent", "holder"])
def test_live_parent_does_not_block_children(wanted: Things) -> None:
    live = {kind: things for kind, things in wanted.items() if kind in ("hall", "wing")}
    assert blocked(wanted, live) == {}


# What the platform makes of an entry.


@pytest.mark.parametrize(
    ("live", "confirm", "ignore", "waits"),
    [
        (None, (), (), False),  # it is at work as soon as it is made
        (None, (), ("translations/fr",), True),
        ({"status": "running"}, (), (), False),
        ({"status": "pending"}, (), (), True),
        ({"status": "pending"}, ("run acme/translations/fr",), (), False),
        ({"status": "completed"}, (), (), True),
    ],
)
def test_field_referring_to_unfinished_translation_is_blocked(
    live: dict[str, str] | None, confirm: tuple[str, ...], ignore: tuple[str, ...], waits: bool
) -> None:
    """Unless the platform is at work on it. In a field of what is live, and in what is to be made.

    Otherwise, an answer that starts the work does not count, and what waits for it stays blocked.
    Otherwise, a field that names what is not made yet is sent, and refused halfway.
    Otherwise, what the platform has not made yet is named, and the request fails.
    Otherwise, what the platform is still to make is named by an id that does not exist.
    """
    case = Case(confirm=confirm, ignore=ignore)
    source = {"source": {"space": case.ref("space", "s"), "language": "en"}, "language": "fr"}
    translated = case.ref("translation", "fr")
    rules = {"type": "rules", "rules": [{"rule": "x", "users": [translated]}]}
    case.wanted = {
        "space": {"s": {"title": "S"}, "t": {"title": "T", "mergeRules": rules}},
        "translation": {"fr": source},
        "site": {"docs": {"title": "Docs"}},
        "site_space": {"docs/fr": {"space": translated}},
    }
    case.live = {
        "space": {"s": {"title": "S"}, "t": {"title": "T"}},
        "site": {"docs": {"title": "Docs"}},
        "translation": {} if live is None else {"fr": {**source, **live}},
    }
    sides = case.sides()
    nothing_yet = replace(sides.snapshot, outputs={translated.address: None})
    found = [item.address for item in decide(replace(sides, snapshot=nothing_yet)).blocking.reported()]
    assert found == (["acme/sites/docs/structure/fr", "acme/spaces/t#mergeRules"] if waits else [])


def test_ignored_missing_object_blocks_referring_field() -> None:
    """Otherwise, a field that names what is never made is sent, and refused halfway.

    Otherwise, what has nothing in it ends a plan with a mistake of dpsync.
    """
    names = Case({"collection": {"c": {}}})
    wanted = {
        "collection": {"c": {"title": "C"}},
        "space": {"s": {"title": "S", "collection": names.ref("collection", "c")}},
    }
    for ignore, fields in [([], ["collection"]), (["collections/c"], [])]:
        plan = make_plan(Case(wanted, {"space": {"s": {"title": "S"}}}, ignore=ignore).sides())
        assert [item.field for change in plan.changes for item in change.differences if change.id] == fields
        assert [item.address for item in plan.blocked] == ["acme/spaces/s#collection"] * (not fields)


@pytest.mark.parametrize(
    ("restorable", "reason", "back"),
    [(True, "was deleted", True), (False, "does not exist, or this token cannot see it", False)],
)
def test_recreating_missing_content_needs_confirmation(restorable: bool, reason: str, back: bool) -> None:
    """Otherwise, where the files are of one platform an overlay is advised that nobody has.

    Otherwise, no answer makes another one in the place of what was deleted.
    Otherwise, what is no content is not made again by itself.
    """
    site: Things = {"site": {"d": {"title": "D"}}}
    case = Case({"space": {"s": {"title": "S"}}, "section_group": {"d/g": {"title": "G"}}, **site}, site)
    paths = {"space": "s", "section_group": "d/g"}
    lost = {case.address(kind, path): MissingObject("old", restorable) for kind, path in paths.items()}
    sides = case.sides()
    sides = replace(sides, snapshot=replace(sides.snapshot, missing_objects=lost))
    [found] = decide(sides).blocking.reported()
    assert (found.address, found.reason) == ("acme/spaces/s", f"the space with the id old {reason}")
    assert found.todo.startswith("to restore the object, add id: old") is back
    again = replace(sides, options=Options(("new acme/spaces/s",)))
    assert [*decide(again).blocking.reported()] == []
