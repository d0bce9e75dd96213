"""Which requests carry decisions out, and what comes before what, from plain values."""

from __future__ import annotations

from itertools import islice

import pytest
from msgspec.structs import replace

from dpsync.identity.keys import temporary_name
from dpsync.model.values import LiveId, Ref
from dpsync.planner.decide import Nesting, self_nesting_fields
from dpsync.planner.edges import order_edges
from dpsync.planner.plan import make_plan
from dpsync.planner.requests import write_steps
from dpsync.planner.unique_values import order_unique_values

from .stages import ACME, Case, Things, before


def collection(key: str) -> Ref:
    return Ref(ACME.child("collections", key))


def sent(case: Case) -> dict[str, tuple[str, str, object]]:
    return {id: (step.method, step.path, step.body) for id, step in case.steps().drafts.steps.items()}


def test_steps_create_update_and_delete_teams() -> None:
    case = Case(
        {"team": {"new": {"title": "New"}, "old": {"title": "Renamed"}}},
        {"team": {"old": {"title": "Old"}, "left": {"title": "Left"}}},
        prune=["teams"],
    )
    assert sent(case) == {
        "acme/teams/new create": ("PUT", "/orgs/acme/teams", {"title": "New"}),
        "acme/teams/old update": ("PATCH", "/orgs/acme/teams/team-old", {"title": "Renamed"}),
        "acme/teams/[Left] delete": ("DELETE", "/orgs/acme/teams/team-left", None),
    }


def test_no_steps_without_differences() -> None:
    assert sent(Case({"team": {"a": {"title": "A"}}}, {"team": {"a": {"title": "A"}}})) == {}


def test_referenced_collection_is_created_before_space() -> None:
    steps = Case(
        {"collection": {"c": {"title": "C"}}, "space": {"s": {"title": "S", "collection": collection("c")}}}
    ).steps()
    assert before(steps, "acme/collections/c create", "acme/spaces/s create")
    assert steps.drafts.steps["acme/spaces/s create"].body["parent"] == {"dpsync:ref": "acme/collections/c"}


def test_nested_collections_move_from_outermost_inward() -> None:
    """A chain a > b > c turned round: no move may close a circle on the way.

    Otherwise, what is to be in something that is declared counts as outermost: circles are sent, and moves
    come in any order.
    """
    live = {
        "a": {"title": "A"},
        "b": {"title": "B", "parent": LiveId("collection-a")},
        "c": {"title": "C", "parent": LiveId("collection-b")},
    }
    wanted = {
        "a": {"title": "A", "parent": collection("b")},
        "b": {"title": "B", "parent": collection("c")},
        "c": {"title": "C", "parent": None},
    }
    steps = Case({"collection": wanted}, {"collection": live}).steps()
    outer, middle, inner = (f"acme/collections/{key} place parent" for key in "cba")
    assert before(steps, outer, middle)
    assert before(steps, middle, inner)


@pytest.mark.parametrize("ring", ["ab", "abc", "abcd"])
def test_rotating_titles_need_one_temporary_title(ring: str) -> None:
    """Otherwise, two things of one place take each other's names, and the platform refuses the first.

    Otherwise, two things of one place take each other's names, and the platform refuses the first, also of
    what the files say.
    """
    live = {key: {"title": key} for key in ring}
    wanted = {key: {"title": other} for key, other in zip(ring, ring[1:] + ring[0], strict=True)}
    steps = Case({"team": wanted}, {"team": live}).steps()
    freeing = [step.id for step in steps.drafts.steps.values() if step.phase == "free"]
    assert freeing == ["acme/teams/a free title"]
    # By this name the next run knows it, if this one is interrupted.
    assert steps.drafts.steps[freeing[0]].body == {"title": temporary_name("acme/teams/a")}
    assert len(steps.drafts.steps) == len(ring) + 1
    for key in ring[1:]:
        assert before(steps, freeing[0], f"acme/teams/{key} update")


def test_title_is_freed_before_reuse() -> None:
    live = {"a": {"title": "One"}, "b": {"title": "Two"}}
    steps = Case({"team": {"a": {"title": "Two"}, "b": {"title": "Three"}}}, {"team": live}).steps()
    assert before(steps, "acme/teams/b update", "acme/teams/a update")
    new = Case({"team": {"n": {"title": "Two"}, "b": {"title": "Three"}}}, {"team": {"b": {"title": "Two"}}})
    assert before(new.steps(), "acme/teams/b update", "acme/teams/n create")


def test_new_admin_precedes_admin_removal() -> None:
    """Otherwise, a delete of anything waits for a new admin, as if an admin went.

    Otherwise, nobody counts as one who loses the role: for a moment there is no admin.
    Otherwise, for a moment there is no admin, or for ever after a failure.
    """
    live = {"ada": {"role": "admin"}, "bo": {"role": "read"}}
    demoted = Case({"member": {"ada": {"role": "read"}, "bo": {"role": "admin"}}}, {"member": live}).steps()
    assert before(demoted, "acme/members/bo update", "acme/members/ada update")
    gone = {"member": live, "team": {"t": {"title": "T"}}}
    wanted: Things = {"member": {"bo": {"role": "admin"}}, "team": {}}
    removed = Case(wanted, gone, prune=["members", "teams"]).steps()
    assert not before(removed, "acme/members/bo update", "acme/teams/[T] delete")
    assert before(removed, "acme/members/bo update", "acme/members/[ada] delete")


def test_visibility_decreases_first_and_increases_last() -> None:
    """Otherwise, what is to be hidden is changed while everybody sees it.

    Otherwise, what is to be shown is seen before it is as declared.
    """
    live = {"title": "Docs", "visibility": "public", "basename": "a"}
    hidden = Case({"site": {"s": {**live, "visibility": "unlisted", "basename": "b"}}}, {"site": {"s": live}})
    assert before(hidden.steps(), "acme/sites/s withdraw visibility", "acme/sites/s update")
    quiet = {**live, "visibility": "unlisted"}
    shown = Case({"site": {"s": {**live, "basename": "b"}}}, {"site": {"s": quiet}})
    assert before(shown.steps(), "acme/sites/s update", "acme/sites/s expose visibility")


def test_space_leaves_collection_before_collection_deletion() -> None:
    """Otherwise, a collection is deleted before what leaves it has left.

    Otherwise, a move into a collection is no move, and a collection is deleted before what leaves it has
    left.
    """
    live = {
        "collection": {"c": {"title": "C"}},
        "space": {"s": {"title": "S", "collection": LiveId("collection-c")}},
    }
    wanted = {"collection": {}, "space": {"s": {"title": "S", "collection": None}}}
    steps = Case(wanted, live, prune=["collections"]).steps()
    assert before(steps, "acme/spaces/s place collection", "acme/collections/[C] delete")


LINK = {"share_link": {"docs/friends": {"active": True}}}


def shown(visibility: str) -> dict[str, dict[str, str]]:
    return {"docs": {"title": "Docs", "visibility": visibility}}


@pytest.mark.parametrize(
    ("now", "then", "phase", "link_first"),
    [("public", "share-link", "withdraw", False), ("visitor-auth", "share-link", "expose", True)],
)
def test_lowering_visibility_precedes_share_link_creation(
    now: str, then: str, phase: str, link_first: bool
) -> None:
    """Otherwise, what is to be hidden stays public until something else is made."""
    steps = Case({"site": shown(then), **LINK}, {"site": shown(now)}).steps()
    shows, makes = f"acme/sites/docs {phase} visibility", "acme/sites/docs/shareLinks/friends create"
    assert before(steps, makes, shows) is link_first
    assert before(steps, shows, makes) is not link_first


def test_raising_visibility_waits_for_share_link_activation() -> None:
    live = {"site": shown("visitor-auth"), "share_link": {"docs/friends": {"active": False}}}
    steps = Case({"site": shown("share-link"), **LINK}, live).steps()
    assert before(
        steps, "acme/sites/docs/shareLinks/friends expose active", "acme/sites/docs expose visibility"
    )


def test_publishing_site_does_not_wait_for_other_sites() -> None:
    live = {key: {"title": key, "visibility": "unlisted", "basename": key} for key in ("docs", "docs-b")}
    wanted = {key: {**fields, "visibility": "public"} for key, fields in live.items()}
    wanted["docs-b"]["title"] = "B"
    steps = Case({"site": wanted}, {"site": live}).steps()
    assert steps.edges.needs("acme/sites/docs expose visibility") == set()
    assert steps.edges.needs("acme/sites/docs-b expose visibility") == {"acme/sites/docs-b update"}


def test_collection_move_waits_for_moves_of_new_ancestors() -> None:
    live = {key: {"title": key} for key in ("a", "c", "z")}
    wanted = {
        "a": {"title": "a", "parent": collection("z")},
        "b": {"title": "b", "parent": collection("a")},
        "c": {"title": "c", "parent": collection("b")},
        "z": {"title": "z"},
    }
    steps = Case({"collection": wanted}, {"collection": live}).steps()
    assert before(steps, "acme/collections/a place parent", "acme/collections/c place parent")


@pytest.mark.parametrize(
    ("parents", "above"), [({"b": "a", "c": "b"}, "ba"), ({"a": "c", "b": "a", "c": "b"}, "ba"), ({}, "")]
)
def test_collection_ancestors_are_listed_nearest_first_without_repetition(
    parents: dict[str, str], above: str
) -> None:
    """In a circle, too: it ends where it began.

    Otherwise, collections that are in each other are followed round for ever.
    Otherwise, what is in nothing ends in an error of the program.
    Otherwise, what refers to a thing of another kind counts as lying in it.
    """
    inside = {key: {"parent": collection(parents[key])} if key in parents else {} for key in "abc"}
    wanted = {key: {"title": key, **inside[key]} for key in "abc"}
    sides = Case({"collection": wanted}).sides()
    ((kind, place),) = [both for both in self_nesting_fields(sides.registry) if both[0].name == "collection"]
    found = list(islice(Nesting(sides, kind, place, lambda *_: False).containers(collection("c").address), 9))
    assert found == [collection(key).address for key in above]


def test_step_ordering_rules_do_not_modify_steps() -> None:
    live = {"a": {"title": "One"}, "b": {"title": "Two"}}
    case = Case({"team": {"a": {"title": "Two"}, "b": {"title": "One"}, "c": {"title": "C"}}}, {"team": live})
    decisions = case.decisions()
    steps = write_steps(decisions)
    before_rules = dict(steps.steps)
    unique = order_unique_values(decisions, steps)
    assert unique == order_unique_values(decisions, steps)
    assert order_edges(decisions, steps) == order_edges(decisions, steps)
    assert steps.steps == before_rules
    assert {(edge.step, edge.waits_for) for edge in unique.edges} == {
        ("acme/teams/a update", "acme/teams/a free title"),
        ("acme/teams/a update", "acme/teams/b update"),
        ("acme/teams/b update", "acme/teams/a free title"),
    }


def test_step_clears_fields_with_value_platform_expects() -> None:
    """Otherwise, what is cleared by an empty text is sent as null, which the platform refuses.

    Otherwise, what is cleared by null is sent in another form.
    """
    live = {"title": "T", "description": "x", "emoji": "1f600"}
    steps = Case(
        {
            "collection": {"c": {"title": "T", "description": None}},
            "space": {"s": {"title": "T", "emoji": None}},
        },
        {"collection": {"c": live}, "space": {"s": live}},
    )
    bodies = {id: body for id, (_, _, body) in sent(steps).items()}
    assert bodies == {
        "acme/collections/c update": {"description": ""},
        "acme/spaces/s update": {"emoji": None},
    }


@pytest.mark.parametrize(("confirm", "told"), [(["run acme/translations/fr"], ["run"]), ([], [])])
def test_translation_run_step_needs_confirmation(confirm: list[str], told: list[str]) -> None:
    """Otherwise, a thing is told to act that nobody has asked for.

    Otherwise, each apply waits for every translation.
    """
    spaces = {"space": {"s": {"title": "S"}}}
    names = Case(spaces)
    source = {"space": names.ref("space", "s"), "language": "en"}
    wanted = {**spaces, "translation": {"fr": {"source": source, "language": "fr"}}}
    there = {
        "source": {"space": LiveId("space-s"), "language": "en"},
        "language": "fr",
        "status": "completed",
    }
    steps = sent(Case(wanted, {**spaces, "translation": {"fr": there}}, confirm=confirm))
    path = "/orgs/acme/translations/translation-fr/run"
    assert steps == {f"acme/translations/fr act {word}": ("POST", path, None) for word in told}


def test_space_is_restored_before_site_space_creation() -> None:
    tree: Things = {"site": {"d": {"title": "D"}}, "section": {"d/k": {"title": "K", "path": "k"}}}
    names = Case({"space": {"s": {}}})
    place = {"site_space": {"d/k/p": {"path": "p", "space": names.ref("space", "s")}}}
    spaces = {"space": {"s": {"title": "S"}, "t": {"title": "T"}}}
    sides = Case({**tree, **spaces, **place}, {**tree, **spaces}).sides()
    gone = replace(sides.snapshot.objects["space", "space-s"], deleted=True)
    objects = {**sides.snapshot.objects, gone.identity: gone}
    plan = make_plan(replace(sides, snapshot=replace(sides.snapshot, objects=objects)))
    needs = {step.id: set(step.needs) for change in plan.changes for step in change.steps}
    assert "acme/spaces/s restore" in needs["acme/sites/d/structure/k/p create"]
