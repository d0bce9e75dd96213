"""What is decided about each thing, from plain values."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from dpsync.model.address import Address
from dpsync.model.desired import Limits
from dpsync.model.question import Refusal
from dpsync.model.values import LiveId, Ref
from dpsync.planner.changes import build_changes
from dpsync.planner.decide import Decisions, Transfers, decide, find_transfers
from dpsync.planner.delete_questions import (
    delete_questions,
    effective_limits,
    exceeded_limits,
    undecided_deletes,
)
from dpsync.planner.guards import find_refusals
from dpsync.planner.requests import write_steps
from dpsync.planner.stepset import Edges, PlannedSteps

from .stages import ACME, NO_ROLES, Case, Things

ONE = {"one": {"title": "One"}}
TWO = {"two": {"title": "Two"}}


def decided(case: Case) -> dict[str, str]:
    """In a word what becomes of each thing, by address."""
    found = case.decisions()
    words = {
        str(address): "create" if entry.live is None else "update" if entry.separately_written else "keep"
        for address, entry in found.entries.items()
        if address != ACME
    }
    words |= {str(address): "delete" for address in found.deletions.addresses}
    return words | {item.address: "blocked" for item in found.blocking.reported()}


@pytest.mark.parametrize(
    ("case", "words"),
    [
        (Case({"team": ONE}, {"team": ONE}), {"acme/teams/one": "keep"}),
        (Case({"team": {"one": {"title": "Uno"}}}, {"team": ONE}), {"acme/teams/one": "update"}),
        (
            Case({"team": {**ONE, **TWO}}, {"team": ONE}),
            {"acme/teams/one": "keep", "acme/teams/two": "create"},
        ),
        # What is not declared stays, unless its place is pruned.
        (Case({"team": ONE}, {"team": {**ONE, **TWO}}), {"acme/teams/one": "keep"}),
        (
            Case({"team": ONE}, {"team": {**ONE, **TWO}}, prune=["teams"]),
            {"acme/teams/one": "keep", "acme/teams/[Two]": "delete"},
        ),
        (Case({"team": ONE}, {"team": {**ONE, **TWO}}, prune=["spaces"]), {"acme/teams/one": "keep"}),
        (Case({"team": {}}, {"team": TWO}, prune=["**"]), {"acme/teams/[Two]": "delete"}),
        # What is ignored is neither changed nor made nor deleted.
        (Case({"team": {"one": {"title": "Uno"}}}, {"team": ONE}, ignore=["teams/one"]), {}),
        (Case({"team": TWO}, {}, ignore=["teams/two"]), {}),
        (Case({"team": {}}, {"team": TWO}, prune=["teams"], ignore=["teams/*"]), {}),
        (Case({"team": {}}, {"team": TWO}, prune=["teams"], forget=["teams/[Two]"]), {}),
        (
            Case({"team": {"one": {"title": "Uno"}}}, {"team": ONE}, ignore=["teams/one#title"]),
            {"acme/teams/one": "keep"},
        ),
        (
            Case({"team": {"one": {"title": "Uno"}, **TWO}}, {"team": ONE}, ignore=["teams/one"]),
            {"acme/teams/two": "create"},
        ),
        # People are invited by people.
        (Case({"member": {"a@b.example": {"role": "read"}}}), {"acme/members/a@b.example": "blocked"}),
    ],
)  # fmt: skip
def test_entries_and_objects_get_create_update_or_delete(case: Case, words: dict[str, str]) -> None:
    """Otherwise, what the policy ignores is deleted.

    Otherwise, what is declared is deleted.
    Otherwise, undeclared things are deleted where nobody has said prune.
    Otherwise, what is to be left where it is is deleted.
    Otherwise, what is live is blocked as if it were to be made.
    Otherwise, what the policy ignores is changed.
    Otherwise, a field that the policy ignores is compared and written.
    Otherwise, a field that the policy ignores is compared and written, also of an entry with plain values.
    """
    assert decided(case) == words


@pytest.mark.parametrize(
    ("wanted", "live", "changed"),
    [
        ({"title": "S", "emoji": None}, {"title": "S"}, False),
        ({"title": "S", "emoji": None}, {"title": "S", "emoji": "1f600"}, True),
        ({"title": "S"}, {"title": "S", "emoji": "1f600"}, False),
        ({"title": "S", "emoji": "1f600"}, {"title": "S"}, True),
    ],
)
def test_null_clears_field_and_absent_field_keeps_value(
    wanted: dict[str, object], live: dict[str, object], changed: bool
) -> None:
    found = Case({"space": {"s": wanted}}, {"space": {"s": live}}).decisions()
    assert bool(found.entries[ACME.child("spaces", "s")].separately_written) is changed


def test_blocked_reference_blocks_only_its_field() -> None:
    """Otherwise, a field that names something blocked is written without it."""
    who = Ref(ACME.child("members", "a@b.example"))
    rules = {"type": "rules", "rules": [{"rule": "allow_bypass", "users": [who]}]}
    case = Case(
        {
            "member": {"a@b.example": {"role": "read"}},
            "space": {"s": {"title": "New", "emoji": "1f600", "mergeRules": rules}},
        },
        {"space": {"s": {"title": "Old"}}},
    )
    found = case.decisions()
    written = [item.field.name for item in found.entries[ACME.child("spaces", "s")].separately_written]
    assert sorted(written) == ["emoji", "title"]
    assert [item.address for item in found.blocking.reported()] == [
        "acme/members/a@b.example",
        "acme/spaces/s#mergeRules",
    ]


def refused(case: Case) -> list[Refusal]:
    return refused_by(case.decisions())


def refused_by(found: Decisions) -> list[Refusal]:
    made = build_changes(found, PlannedSteps(write_steps(found), Edges(())))
    deletes = [change for change in made if change.action == "delete"]
    bounds = effective_limits(found.sides.desired.policy, found.sides.base, found.sides.names)
    undecided = undecided_deletes(found)
    too_many = exceeded_limits(found, undecided, bounds, deletes)
    about_deletes = delete_questions(found, undecided, bounds, deletes, too_many)
    asked = [*find_refusals(found, bounds), *([about_deletes.refusal] if about_deletes.refusal else [])]
    return list(found.sides.answers.unanswered_refusals(asked))


@pytest.mark.parametrize(
    ("limits", "allowed"),
    [
        (Limits(2, 100), True),
        (Limits(1, 100), False),
        (Limits(2, 10), True),
        (Limits(2, 9), False),
        (Limits(0, 0), False),
    ],
)
def test_deletions_must_satisfy_count_and_percent_limits(limits: Limits, allowed: bool) -> None:
    """Otherwise, any number of things is deleted.

    Otherwise, a tenth of an organization is deleted.
    Otherwise, thousands of a large organization are deleted.
    """
    live = {key: {"title": key} for key in "abcdefghijklmnopqrst"}
    kept = {key: live[key] for key in live if key not in "ab"}
    case = Case({"team": kept}, {"team": live}, prune=["teams"], limits=limits)
    assert [item.code for item in refused(case)] == ([] if allowed else ["limits"])
    case.confirm = ["delete 2"]
    assert refused(case) == []
    case.confirm = ["delete 3"]
    assert [item.code for item in refused(case)] == ([] if allowed else ["limits"])


def test_protected_team_deletion_is_refused() -> None:
    """Otherwise, what is protected is deleted."""
    case = Case({"team": ONE}, {"team": {**ONE, **TWO}}, prune=["teams"], protect=["teams/*"])
    assert [(item.code, item.address) for item in refused(case)] == [("protected", "acme/teams/[Two]")]


def test_last_admin_refusal_names_first_removed_admin() -> None:
    live = {key: {"role": "admin"} for key in ("ada", "bo")}
    wanted = {key: {"role": "read"} for key in live}
    (refusal,) = refused(Case({"member": wanted}, {"member": live}, user="somebody"))
    assert (refusal.code, refusal.address) == ("last-admin", "acme/members/ada")
    assert refusal.message == "acme would no longer have an admin"


def test_plan_refuses_removing_last_admin_or_token_user() -> None:
    """Otherwise, who is removed counts as the admin who stays."""
    live = {"ada": {"role": "admin"}, "bo": {"role": "read"}}
    removed = Case(
        {"member": {"bo": {"role": "read"}}}, {"member": live}, prune=["members"], user="member-bo"
    )
    assert [item.code for item in refused(removed)] == ["last-admin"]
    followed = Case(
        {"member": {"bo": {"role": "admin"}}}, {"member": live}, prune=["members"], user="member-bo"
    )
    assert refused(followed) == []
    myself = Case({"member": {"ada": live["ada"]}}, {"member": live}, prune=["members"], user="member-bo")
    assert [item.code for item in refused(myself)] == ["own-user"]
    demoted = Case(
        {"member": {"ada": {"role": "read"}, "bo": {"role": "admin"}}}, {"member": live}, user="member-ada"
    )
    words = ["be removed", "stop being admin"]
    assert [
        item.message.split("this member is the user of the token and would ")[1]
        for case in (myself, demoted)
        for item in refused(case)
    ] == words


def test_last_admin_check_uses_live_role_if_ignored() -> None:
    """So they stay admin although their entry says otherwise, and do not become admin by it either."""
    live = {"ada": {"role": "admin"}, "bo": {"role": "read"}}
    stays = {"ada": {"role": "read"}, "bo": {"role": "read"}}
    assert refused(Case({"member": stays}, {"member": live}, ignore=["members/ada"], user="member-x")) == []
    never = {"ada": {"role": "read"}, "bo": {"role": "admin"}}
    found = refused(Case({"member": never}, {"member": live}, ignore=["members/bo"], user="member-x"))
    assert [(item.code, item.address) for item in found] == [("last-admin", "acme/members/ada")]


@pytest.mark.parametrize(
    ("entry", "ignore"), [({}, []), ({"id": "bo", "sso": True}, ["members/bo"])], ids=["invited", "ignored"]
)
def test_invited_or_ignored_member_cannot_replace_last_admin(
    entry: dict[str, object], ignore: list[str]
) -> None:
    """Otherwise, somebody who was only invited counts as the next admin."""
    live = {"member": {"ada": {"role": "admin"}}}
    wanted = {"ada": {"role": "read"}, "bo": {"role": "admin", **entry}}
    case = Case({"member": wanted}, live, ignore=ignore, user="member-x")
    assert [item.code for item in refused(case)] == ["last-admin"]


def test_unselected_member_cannot_replace_last_admin() -> None:
    """Otherwise, who is not selected counts as what their entry says, and the last admin goes."""
    live = {"member": {"ada": {"role": "admin"}, "bo": {"role": "read"}}}
    wanted = {"member": {"ada": {"role": "read"}, "bo": {"role": "admin"}}}
    sides = Case(wanted, live, user="member-x").sides()
    found = decide(replace(sides, selected_addresses=frozenset({ACME.child("members", "ada")})))
    assert [item.code for item in refused_by(found)] == ["last-admin"]


@pytest.mark.parametrize(
    ("wanted", "live"),
    [({}, {"bo": {"role": "read"}}), ({"id": "bo", "sso": True}, {})],
    ids=["who is there", "who is added"],
)
def test_member_with_unwritable_role_cannot_replace_last_admin(
    wanted: dict[str, object], live: dict[str, dict[str, object]]
) -> None:
    """Otherwise, a member whose role cannot be written counts as admin, and the last admin is deleted."""
    case = Case(
        {"member": {"bo": {"role": "admin", **wanted}}},
        {"member": {"ada": {"role": "admin"}, **live}},
        prune=["members"],
        registry=NO_ROLES,
        user="member-x",
    )
    assert [item.code for item in refused(case)] == ["last-admin"]


def test_member_added_by_sso_replaces_last_admin() -> None:
    """Otherwise, a new admin does not count, so that nobody can hand over."""
    wanted = {"ada": {"role": "read"}, "bo": {"role": "admin", "id": "bo", "sso": True}}
    case = Case({"member": wanted}, {"member": {"ada": {"role": "admin"}}}, user="member-x")
    assert refused(case) == []


def test_owner_of_other_team_cannot_replace_last_owner() -> None:
    """Otherwise, an owner of another team counts for this one."""
    live = {
        "member": {"ada": {"role": "read"}, "bo": {"role": "read"}},
        "team": {"t": {"title": "T"}, "u": {"title": "U"}},
        "team_member": {"t/ada": {"role": "owner"}},
    }
    wanted = {**live, "team_member": {"t/ada": {"role": "member"}, "u/bo": {"role": "owner"}}}
    assert [item.code for item in refused(Case(wanted, live))] == ["last-owner"]


def test_object_referenced_by_id_is_not_deletable() -> None:
    """Otherwise, what an entry names by its id is deleted under it."""
    case = Case(
        {"collection": {}, "space": {"s": {"title": "S", "collection": LiveId("collection-c")}}},
        {"collection": {"c": {"title": "C"}}, "space": {"s": {"title": "S"}}},
        prune=["collections"],
    )
    assert ("in-use", "acme/spaces/s#collection") in [(item.code, item.address) for item in refused(case)]


def test_nonempty_collection_deletion_is_refused() -> None:
    """Otherwise, what lies in a deleted collection is lifted out of it.

    Otherwise, what leaves a collection in the same plan is said to be still in it.
    """
    inside = {"title": "S", "collection": LiveId("collection-c")}
    live = {"collection": {"c": {"title": "C"}}, "space": {"s": inside}}
    left = Case({"collection": {}, "space": {"s": {"title": "S"}}}, live, prune=["collections"])
    assert [item.code for item in refused(left)] == ["not-empty"]
    moved = Case(
        {"collection": {}, "space": {"s": {"title": "S", "collection": None}}}, live, prune=["collections"]
    )
    assert refused(moved) == []
    moved.ignore = ["spaces/s"]  # so it is not moved
    assert [item.code for item in refused(moved)] == ["not-empty"]


def test_blocked_child_move_prevents_collection_deletion() -> None:
    """Otherwise, a collection is shown as deleted although what is in it cannot be moved out."""
    moved = {"title": "S", "collection": Ref(ACME.child("collections", "d"))}
    case = Case(
        {"collection": {"d": {"title": "D"}}, "space": {"s": moved}},
        {
            "collection": {"c": {"title": "C"}},
            "space": {"s": {"title": "S", "collection": LiveId("collection-c")}},
        },
        prune=["collections"],
    )
    assert refused(case) == []
    case.ignore = ["collections/d"]  # so it is never made, and nothing can be moved there
    assert [item.code for item in refused(case)] == ["not-empty"]


def test_collection_cycle_through_undeclared_parent_is_refused() -> None:
    """Otherwise, a circle through something that nobody declares ends in an error of the program.

    Otherwise, what an entry says about its place is not seen: a circle is sent, or a collection goes before
    what it is in.
    Otherwise, what nobody declares counts as being in nothing, and a circle through it is sent.
    Otherwise, a circle through something that nobody declares is sent.
    """
    live = {"a": {"title": "A"}, "b": {"title": "B", "parent": LiveId("collection-a")}}
    declared = {"a": {"title": "A", "parent": LiveId("collection-b")}}
    case = Case({"collection": declared}, {"collection": live})
    assert [(item.code, item.address) for item in refused(case)] == [("circle", "acme/collections/a#parent")]
    assert Address.parse("acme/collections/a") in case.decisions().entries


@pytest.mark.parametrize(("prune", "codes"), [([], ["circle"]), (["collections"], ["in-use"])])
def test_deleting_collection_inside_cycle_is_refused_as_used(prune: list[str], codes: list[str]) -> None:
    """Otherwise, what is deleted anyway is told as a circle."""
    live = {"a": {"title": "A"}, "u": {"title": "U", "parent": LiveId("collection-a")}}
    wanted = {"a": {"title": "A", "parent": LiveId("collection-u")}}
    found = refused(Case({"collection": wanted}, {"collection": live}, prune=prune))
    assert [item.code for item in found] == codes


def test_collection_deletion_does_not_hide_another_cycle() -> None:
    live = {"a": {"title": "A"}, "u": {"title": "U", "parent": LiveId("collection-a")}}
    live |= {"b": {"title": "B"}, "c": {"title": "C", "parent": LiveId("collection-b")}}
    at = {key: LiveId(f"collection-{holder}") for key, holder in (("a", "u"), ("b", "c"), ("c", "b"))}
    wanted = {key: {"title": key.upper(), "parent": at[key]} for key in "abc"}
    found = refused(Case({"collection": wanted}, {"collection": live}, prune=["collections"]))
    assert [(item.code, item.address) for item in found] == [
        ("in-use", "acme/collections/a#parent"),
        ("circle", "acme/collections/b#parent"),
    ]


@pytest.mark.parametrize(
    ("parent", "ignore"),
    [(None, "collections/a"), ("d", "collections/d")],
    ids=["it is ignored", "its move is blocked"],
)
def test_collection_cycle_with_unmoved_parent_is_refused(parent: str | None, ignore: str) -> None:
    """Collection a is in b and leaves it; collection b moves into a.

    Otherwise, a circle with a collection whose move is blocked is sent.
    Otherwise, a circle with what stays where it is is sent.
    """
    live: Things = {
        "collection": {"a": {"title": "A", "parent": LiveId("collection-b")}, "b": {"title": "B"}}
    }
    keys = Case({"collection": {key: {} for key in "abd"}})
    place = keys.ref("collection", parent) if parent else None
    wanted = {
        "a": {"title": "A", "parent": place},
        "b": {"title": "B", "parent": keys.ref("collection", "a")},
        "d": {"title": "D"},
    }
    case = Case({"collection": wanted}, live)
    assert refused(case) == []
    case.ignore = [ignore]
    assert [item.code for item in refused(case)] == ["circle"]


# What is given to another organization.

GIVEN: Things = {
    "collection": {"c": {"title": "C"}},
    "space": {"s": {"title": "S", "collection": Case({"collection": {"c": {}}}).ref("collection", "c")}},
}
ELSEWHERE: Things = {
    "collection": {"c": {"title": "C"}},
    "space": {"s": {"title": "S", "collection": LiveId("collection-c")}},
}
C, S = Case(GIVEN).address("collection", "c"), Case(GIVEN).address("space", "s")


def given(ignore: Sequence[str] = (), owner: str = "acme") -> Transfers:
    """Return the transfers of a collection from another organization, with a space for a third one."""
    sides = Case(GIVEN, ELSEWHERE, ignore=ignore).sides()
    objects = {
        identity: replace(live, parent=("organization", "other")) if live.parent is not None else live
        for identity, live in sides.snapshot.objects.items()
    }
    snapshot = replace(sides.snapshot, objects=objects, transferred_entries=frozenset({C, S}))
    entries = dict(sides.desired.entries)
    entries[Address.root(owner)] = replace(entries[ACME], address=Address.root(owner))
    entries[S] = replace(entries[S], parent=Address.root(owner))
    declared = replace(sides.loaded, entries=entries)
    return find_transfers(replace(sides, snapshot=snapshot, loaded=declared))


def test_collection_transfer_includes_spaces_unless_moved() -> None:
    """Otherwise, what goes to a third organization gets no call of its own."""
    assert given().requested_entries == (C,)
    assert given(owner="third").requested_entries == (C, S)


def test_ignored_space_is_not_transferred() -> None:
    """Otherwise, what the policy ignores is given to another organization."""
    assert set(given(ignore=["spaces/s"]).transferred.values()) == {C}
