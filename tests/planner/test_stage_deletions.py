"""What deletes take along, what an address meant, and what waits for what is restored: from plain values."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from dpsync.kinds.kind import EntryMapping, Field, Kind, ListRead
from dpsync.kinds.types import List, Reference, Text
from dpsync.model.snapshot import Identity, LiveObject
from dpsync.model.values import LiveId
from dpsync.planner.decide import decide
from dpsync.planner.deletions import LEFT_EMPTY, REFERS_TO_DELETED, is_deleted_with_reference
from dpsync.planner.plan import make_plan

from .stages import Case, Things

REF = Field("space", Reference.to("space"))


@pytest.mark.parametrize(
    ("item", "more", "value", "goes"),
    [
        (replace(REF, required=True), {}, LiveId("a"), True),
        (REF, {}, LiveId("a"), False),
        (REF, {"shape": EntryMapping(key_field="space")}, LiveId("a"), True),
        (replace(REF, required=True), {"has_content": True}, LiveId("a"), False),
        (replace(REF, required=True), {}, None, False),
        (Field("space", Text(), refers_to_kind="space"), {"has_content": True}, "a", True),
        (Field("spaces", List(Reference.to("space")), required=True), {}, [LiveId("a")], True),
        (Field("spaces", List(Reference.to("space")), required=True), {}, [LiveId("a"), LiveId("b")], False),
    ],
    ids=[
        "what it must have", "what it may have", "its key", "content", "nothing", "content by what it means",
        "the only one of a list", "one of several",
    ],
)  # fmt: skip
def test_deletion_cascades_to_object_requiring_deleted_object(
    item: Field, more: dict[str, Any], value: Any, goes: bool
) -> None:
    """Otherwise, content is said to go with what it names, and nobody asks about it itself.

    Otherwise, an installation that goes with its integration is not shown, nor counted.
    Otherwise, who is only known by what goes is not shown, nor counted.
    Otherwise, what names several things is said to go with one of them.
    """
    given = {"shape": EntryMapping(), **more}
    kind = Kind("thing", "org", "things", given.pop("shape"), "/{id}", ListRead("/x"), (item,), **given)
    live = LiveObject("thing", "1", None, None, {item.name: value}, "/x")
    assert is_deleted_with_reference(kind, item, live) is goes


SAML = ("saml", "saml-s")


def provider(**team: Any) -> Things:
    return {"team": {}, "saml": {"s": {"label": "S", **team}}}


NAMED = {
    "team": {"t": {"title": "T"}},
    "saml": {"s": {"label": "S", "defaultTeam": LiveId("team-t")}},
}


@pytest.mark.parametrize(
    ("wanted", "ignore", "selected", "lost"),
    [
        (provider(), (), True, True),
        (provider(defaultTeam=None), (), True, False),
        (provider(defaultTeam=None), ("saml/s",), True, True),
        (provider(defaultTeam=None), (), False, True),
    ],
    ids=["left alone", "written before", "ignored", "not selected"],
)
def test_reference_cleared_before_deletion_is_not_reported_lost(
    wanted: Things, ignore: tuple[str, ...], selected: bool, lost: bool
) -> None:
    """Otherwise, what an entry says that is not selected counts as written, and its loss is not shown.

    Otherwise, what a delete takes away from an entry that does not name it is not shown.
    Otherwise, what is written before a delete is said to be lost with it.
    """
    sides = Case(wanted, NAMED, prune=["teams"], ignore=ignore).sides()
    team = sides.names.address(("team", "team-t"))
    sides = sides if selected else replace(sides, selected_addresses=frozenset({team}))
    found = decide(sides).deletions.cascade.cleared_fields
    assert [name for _, name in found] == (["defaultTeam"] if lost else [])


SITE = {"docs": {"title": "Docs"}}
SECTION = {"docs/x": {"title": "Exx", "path": "x"}}
SHOWS_A = {"docs/x/p": {"space": LiveId("space-a"), "path": "p"}}
NEW_PLACE = {"docs/x/q": {"space": Case({"space": {"b": {}}}).ref("space", "b"), "path": "q"}}


@pytest.mark.parametrize(
    ("ignore", "why"),
    [
        ((), {"site_space-docs-x-p": REFERS_TO_DELETED}),
        (
            ("sites/docs/structure/x/q",),
            {"site_space-docs-x-p": REFERS_TO_DELETED, "section-docs-x": LEFT_EMPTY},
        ),
    ],
    ids=["a new place comes", "it is ignored"],
)
def test_section_receiving_new_space_survives_space_deletion(
    ignore: tuple[str, ...], why: dict[str, str]
) -> None:
    """Otherwise, a section is said to stay for a place that is never made."""
    b = {"b": {"title": "B"}}
    wanted: Things = {"space": b, "site": SITE, "section": SECTION, "site_space": NEW_PLACE}
    live: Things = {
        "space": {"a": {"title": "A"}, **b},
        "site": SITE,
        "section": SECTION,
        "site_space": SHOWS_A,
    }
    found = Case(wanted, live, prune=["spaces"], ignore=ignore).decisions().deletions.cascade.objects
    assert {id: reason for (_, id), reason in found.items()} == why


A: Identity = ("space", "space-a")
THERE: Things = {"space": {"a": {"title": "A"}}}
OTHER: Things = {"space": {"b": {"title": "B"}}}


@pytest.mark.parametrize(
    ("known", "meant"),
    [
        ({"lines": [("space", "a")]}, {A}),
        ({"lines": [("space", "a")], "live": OTHER, "base": THERE}, set()),
        ({"base": THERE}, {A}),
        ({"base": OTHER, "earlier": [OTHER, THERE]}, {A}),
        ({"base": OTHER, "earlier": [OTHER]}, None),
        ({}, None),
    ],
    ids=["its line", "its line, and it is gone", "the base", "a commit before", "no commit", "nothing"],
)
def test_former_address_uses_first_knowing_source(known: dict[str, Any], meant: set[Identity] | None) -> None:
    """Otherwise, an object that a line names and that was deleted blocks all other deletes in its place.

    Otherwise, an object that only the base knows by an address is not found, and its protection is lost.
    Otherwise, an object that only an earlier commit knows is not found, and its protection is lost.

    Otherwise, what the base knows by an address is not found, and its protection is lost.
    Otherwise, what only an earlier commit knows is not found, and its protection is lost.
    """
    case = Case(**{"live": THERE, **known})
    found = case.sides().former_names.objects_at(case.address("space", "a"))
    assert found == meant


def test_ids_line_resolves_only_objects_of_its_kind() -> None:
    """A team and a space may have one id on a platform.

    Otherwise, a line of a space means a team with the same id, too.
    """
    sides = Case(live=THERE, lines=[("space", "a")]).sides()
    twin = LiveObject("team", "space-a", ("organization", "acme"), None, {"title": "T"}, "/orgs/acme/teams")
    objects = {**sides.snapshot.objects, twin.identity: twin}
    former = replace(sides, snapshot=replace(sides.snapshot, objects=objects)).former_names
    assert former.objects_at(Case().address("space", "a")) == {A}


def test_space_restore_runs_before_steps_referencing_space() -> None:
    """It has its id already, so that nothing else would wait for it. A delete waits for nothing of it.

    Otherwise, what is brought back is named before it is there, and the platform refuses halfway.
    Otherwise, a section is made around a space that is not back yet.
    Otherwise, nothing can be deleted in a plan that brings something back.
    Otherwise, what comes back from its deletion gets no values.
    Otherwise, what is deleted is written to, and never brought back.
    """
    wanted: Things = {
        "space": {"a": {"title": "A"}}, "site": SITE, "section": SECTION, "team": {},
        "site_space": {"docs/x/p": {"space": Case(THERE).ref("space", "a"), "path": "p"}},
    }  # fmt: skip
    live: Things = {**THERE, "site": SITE, "team": {"t": {"title": "T"}}}
    sides = Case(wanted, live, prune=["teams"]).sides()
    gone = replace(sides.snapshot.objects[A], deleted=True)
    sides = replace(sides, snapshot=replace(sides.snapshot, objects={**sides.snapshot.objects, A: gone}))
    steps = {step.id: step for change in make_plan(sides).changes for step in change.steps}
    assert "acme/spaces/a restore" in steps["acme/sites/docs/structure/x create"].needs
    assert "acme/spaces/a restore" in steps["acme/sites/docs/structure/x/p create"].needs
    assert "acme/spaces/a restore" not in steps["acme/teams/[T] delete"].needs
