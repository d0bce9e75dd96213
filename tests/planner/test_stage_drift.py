"""Why a plan and drift differ from what is live: edited here, changed outside; from plain values."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from dpsync.kinds.registry import Registry
from dpsync.model.address import Address
from dpsync.model.change import Unwatched
from dpsync.model.desired import Scope, Unsupported
from dpsync.model.drift import Drifted
from dpsync.model.snapshot import DeleteEvidence, MissingObject
from dpsync.model.values import LiveId
from dpsync.planner.coverage import coverage
from dpsync.planner.drift import find_drift
from dpsync.planner.plan import make_plan, with_all_differences
from dpsync.planner.sides import Options
from dpsync.render.paint import Paint
from dpsync.render.resolutions import resolutions_of
from tests.render.drift_text import render_drift

from .lab import REGISTRY
from .stages import SPAN, Case, Things

ADA = "ada@acme.example"


def drift(case: Case) -> list[Drifted]:
    sides = case.sides()
    return list(find_drift(sides, make_plan(sides)).found)


def causes(case: Case) -> dict[str, str]:
    return {item.address: f"{item.what}, {item.cause}" for item in drift(case)}


def space(**fields: Any) -> Things:
    return {"space": {"s": {"title": "S", **fields}}}


TEAM = {"t": {"title": "T"}}


@pytest.mark.parametrize("first", ["a", "b"])
def test_drift_labels_each_team_membership_separately(first: str) -> None:
    """Taken out of one team by the files, and put into the other one on the platform."""
    everybody: Things = {
        "member": {ADA: {"role": "read"}},
        "team": {"a": {"title": "A"}, "b": {"title": "B"}},
    }
    member = {"role": "owner"}
    case = Case(
        {**everybody, "team_member": {}},
        {**everybody, "team_member": {f"a/{ADA}": member, f"b/{ADA}": member}},
        prune=["teams/*/members"],
        since=[{**everybody, "team_member": {f"{first}/{ADA}": member}}],
    )
    assert causes(case) == {
        f"acme/teams/{team}/members/[{ADA}]": "undeclared, "
        + ("edited here" if team == first else "changed outside")
        for team in "ab"
    }


def ordered(case: Case, *keys: str) -> Things:
    spaces = {key: {"title": key, "collection": case.ref("collection", "c")} for key in "xyz"}
    order = tuple(case.ref("space", key) for key in keys)
    return {"collection": {"c": {"title": "C", "order": order}}, "space": spaces}


@pytest.mark.parametrize(
    ("base", "told"),
    [
        ("xyz", {"x": "changed outside", "y": "changed outside"}),
        ("zyx", {"x": "edited here", "y": "edited here"}),
        ("yxz", {"x": None, "y": None}),
        (None, {"x": None, "y": None}),
    ],
)
def test_drift_labels_moved_sibling_by_change_of_order(base: str | None, told: dict[str, str | None]) -> None:
    """Otherwise, what stands elsewhere among its siblings is no drift.

    Otherwise, of what stands elsewhere among its siblings the place is not told.
    Otherwise, what a list orders cannot be moved.
    """
    names = Case({"collection": {"c": {}}, "space": {key: {} for key in "xyz"}})
    inside = {key: {"title": key, "collection": LiveId("collection-c")} for key in "zyx"}
    case = Case(
        ordered(names, *"xyz"),
        {"collection": {"c": {"title": "C"}}, "space": inside},
        since=[] if base is None else [ordered(names, *base)],
    )
    found = drift(case)
    assert {item.label: item.cause for item in found} == told
    assert all(item.place and item.order == "acme/collections/c#order" for item in found)


@pytest.mark.parametrize(
    ("base", "told"),
    [
        ({"emoji": "A", "language": "en"}, None),
        ({"emoji": "B", "language": "en"}, "edited here"),
    ],
)
def test_drift_lists_ignored_fields_separately(base: dict[str, str], told: str | None) -> None:
    """Otherwise, what is drift is told once more as what is ignored.

    Otherwise, a field that is drift is told once more as what is ignored.
    """
    case = Case(
        space(emoji="A", language="de", title="T"), space(emoji="B", language="en"),
        ignore=["spaces/*#emoji", "spaces/*#language"], since=[space(**base)],
    )  # fmt: skip
    sides = case.sides()
    found = find_drift(sides, make_plan(sides))
    assert [[part.field for part in item.fields] for item in found.found] == [["title"]]
    (ignored,) = found.ignored
    assert {part.field: part.cause for part in ignored.fields} == {"emoji": told, "language": "edited here"}


SITES: Things = {"site": {key: {"title": key, "type": "basic"} for key in "abc"}}


def test_drift_includes_changed_create_only_fields() -> None:
    """Its type is set when a site is made: the plan refuses it, and has no step for it.

    Otherwise, behind the first entry that is not live no difference is told: an alarm is silent.
    """
    live = {"a": SITES["site"]["a"], "c": {"title": "c", "type": "premium"}}
    found = {item.address: item for item in drift(Case(SITES, {"site": live}, since=[SITES]))}
    assert [item.what for item in found.values()] == ["missing", "different"]
    parts = [(part.field, part.cause) for part in found["acme/sites/c"].fields]
    assert parts == [("type", "changed outside")]


def test_drift_of_create_only_fields_respects_selection() -> None:
    """Otherwise, what was not selected is told.

    Otherwise, of a selection nothing is told that no request writes: an alarm is silent.
    """
    live = {key: {"title": key, "type": "premium"} for key in "abc"}
    sides = replace(Case(SITES, {"site": live}).sides(), options=Options(select=("sites/b",)))
    assert [item.address for item in find_drift(sides, make_plan(sides)).found] == ["acme/sites/b"]


def test_drift_reports_planned_and_unwritable_differences_once() -> None:
    """The second site has a change for its title, the third one is to be made; another one goes.

    Otherwise, what a plan changes is told twice.
    """
    wanted = {"a": {"title": "a", "type": "basic"}, "b": {"title": "B", "type": "basic"}, "c": {"title": "c"}}
    live = {
        "a": {"title": "a", "type": "premium"},
        "b": {"title": "b", "type": "premium"},
        "d": {"title": "d"},
    }
    sides = Case({"site": wanted}, {"site": live}, prune=["sites"]).sides()
    found = with_all_differences(sides, make_plan(sides).model_copy(update={"blocked": ()}))
    assert {
        item.address: (item.action, item.id, [one.field for one in item.differences])
        for item in found.changes
    } == {
        "acme/sites/a": ("update", "site-a", ["type"]),
        "acme/sites/b": ("update", "site-b", ["title", "type"]),
        "acme/sites/c": ("create", None, ["title"]),
        "acme/sites/[d]": ("delete", "site-d", []),
    }


# What is not live.

MEMBER: Things = {"member": {ADA: {"role": "read"}}}


def test_drift_reports_missing_members_awaiting_invitation() -> None:
    """Otherwise, what is live is told as missing."""
    case = Case({**MEMBER, "team": TEAM, "team_member": {f"t/{ADA}": {"role": "owner"}}}, {"team": TEAM})
    found = find_drift(sides := case.sides(), make_plan(sides))
    names = {f"acme/members/{ADA}", f"acme/teams/t/members/{ADA}"}
    assert {item.address for item in found.found if item.what == "missing"} == names
    assert {item.address for item in found.blocked} == names
    undo = {item.address: resolutions_of(found, item).platform for item in found.found}
    assert undo[f"acme/members/{ADA}"].startswith("invite ada@acme.example")
    assert undo[f"acme/teams/t/members/{ADA}"] == f"this entry needs acme/members/{ADA}, which is blocked"


def test_missing_content_is_drift_although_recreation_is_blocked() -> None:
    case = Case({"space": {"s": {"title": "S"}}, "collection": {"c": {"title": "C"}}})
    sides = case.sides()
    snapshot = replace(
        sides.snapshot, missing_objects={case.address("space", "s"): MissingObject("space-9", True)}
    )
    found = find_drift(sides := replace(sides, snapshot=snapshot), make_plan(sides))
    assert [(item.address, item.what) for item in found.found] == [
        ("acme/collections/c", "missing"), ("acme/spaces/s", "missing"),
    ]  # fmt: skip
    assert [item.address for item in found.blocked] == ["acme/spaces/s"]


def test_drift_reports_restorable_deleted_space_as_missing() -> None:
    """Otherwise, what was deleted and can be brought back counts as live, and no alarm tells that it is gone.

    Otherwise, what is missing is told twice.
    Otherwise, what was deleted is told as different, and its last values are written into the files.
    """
    sides = Case(space(id="space-s", emoji="A"), space(emoji="B")).sides()
    (identity,) = (found for found in sides.snapshot.objects if found[0] == "space")
    deleted = replace(sides.snapshot.objects[identity], deleted=True)
    snapshot = replace(sides.snapshot, objects={**sides.snapshot.objects, identity: deleted})
    sides = replace(sides, snapshot=snapshot)
    plan = make_plan(sides)
    (item,) = find_drift(sides, plan).found
    assert (item.address, item.what, item.fields) == ("acme/spaces/s", "missing", ())
    assert with_all_differences(sides, plan.model_copy(update={"changes": ()})).changes == ()


def test_drift_of_undeletable_undeclared_objects_respects_selection() -> None:
    """Otherwise, what was not selected is told as undeclared.

    Otherwise, of a selection nothing is told that has no request: an alarm is silent.
    """
    live = {"collection": {"c": {"title": "C"}}, "team": {"one": {"title": "One"}}}
    sides = Case({"collection": {}, "team": {}}, live, prune=["collections", "teams"]).sides()
    evidence = DeleteEvidence(
        unreadable_dependents={("collection", "collection-c"): "/c", ("team", "team-one"): "/t"}
    )
    sides = replace(
        sides, snapshot=replace(sides.snapshot, delete_evidence=evidence), options=Options(select=("teams",))
    )
    assert [item.address for item in find_drift(sides, make_plan(sides)).found] == ["acme/teams/[One]"]


def test_drift_skips_unselected_members() -> None:
    """Otherwise, what the policy ignores is told as missing.

    Otherwise, what was not selected is told as missing.
    Otherwise, what is ignored or not selected is told as missing.
    """
    wanted: Things = {"member": {ADA: {"role": "read"}, "lin@acme.example": {"role": "read"}}}
    sides = Case(wanted, {"member": {}}).sides()
    sides = replace(sides, options=Options(select=("acme/members/lin@acme.example",)))
    assert [item.address for item in find_drift(sides, make_plan(sides)).found] == [
        "acme/members/lin@acme.example"
    ]
    sides = Case(wanted, {"member": {}}, ignore=[f"members/{ADA}"]).sides()
    found = find_drift(sides, make_plan(sides))
    assert [item.address for item in found.found] == ["acme/members/lin@acme.example"]
    assert [item.address for item in found.ignored] == [f"acme/members/{ADA}"]


@pytest.mark.parametrize("title", ["A", "a"])
def test_order_that_apply_cannot_restore_is_drift(title: str) -> None:
    """With the documented operations alone, links have no order of their own.

    Otherwise, what no request can bring to its place is told without the place.
    """
    registry = Registry(
        [
            replace(kind, order=None) if kind.name == "external_link" else kind
            for kind in REGISTRY.in_dependency_order
        ]
    )
    link = {"url": "https://x", "title": "B"}
    site: Things = {"site": {"d": {"title": "D"}}}
    first = {**link, "title": "A"}
    wanted = {**site, "external_link": {"d/a": first, "d/b": link}}
    live = {**site, "external_link": {"d/b": link, "d/a": {**first, "title": title}}}
    sides = Case(wanted, live, since=[wanted], registry=registry).sides()
    found = find_drift(sides, make_plan(sides))
    (item,) = found.found
    assert (item.what, item.place, item.cause) == ("different", "before acme/sites/d/structure/b",
                                                  "changed outside")  # fmt: skip
    assert [part.field for part in item.fields] == ([] if title == "A" else ["title"])
    if title == "A":
        assert resolutions_of(found, item).platform.startswith("move the object before ")


@pytest.mark.parametrize(
    ("watch", "prune", "told"),
    [
        (["teams"], [], [("acme/teams/[T]", True)]),
        (["**"], [], [("acme/collections/[C]", True), ("acme/teams/[T]", True)]),
        (["spaces"], [], []),
        ([], [], []),
        (["teams"], ["teams"], [("acme/teams/[T]", False)]),
    ],
)
def test_watched_undeclared_objects_are_drift(
    watch: list[str], prune: list[str], told: list[tuple[str, bool]]
) -> None:
    """Otherwise, what is undeclared is told although nobody asked for it.

    Otherwise, what appears in a place that nobody watches is drift.
    """
    live = {"collection": {"c": {"title": "C"}}, "team": TEAM}
    case = Case({"collection": {}, "team": {}, "space": {}}, live, watch=watch, prune=prune)
    plan = make_plan(sides := case.sides())
    found = find_drift(sides, plan, with_watched=True).found
    assert [(item.address, item.kept) for item in found] == told
    assert [item.kept for item in find_drift(sides, plan).found] == [False] * bool(prune)


def test_watched_undeclared_object_is_reported_once() -> None:
    """Otherwise, what is told as undeclared is told a second time as what is kept.

    Otherwise, what is declared in a place that is watched is told as undeclared.
    """
    case = Case({"team": TEAM}, {"team": {**TEAM, "u": {"title": "U"}}}, watch=["teams"])
    sides = case.sides()
    found = find_drift(sides, make_plan(sides), with_watched=True)
    assert [item.address for item in found.found] == ["acme/teams/[U]"]
    assert found.kept == ()


@pytest.mark.parametrize("ignore", [[], ["spaces/*#emoji"], ["spaces"], ["teams"]])
def test_drift_lists_unreadable_fields_unless_ignored(ignore: list[str]) -> None:
    """Otherwise, a place that is ignored is told as unread.

    Otherwise, a field that is ignored is told as unread.
    Otherwise, what may not be read counts as not there.
    """
    case = Case({**space(), "team": TEAM}, {**space(), "team": TEAM}, ignore=ignore)
    sides = case.sides()
    why = Unsupported("it may not be read", SPAN)
    fields = {(case.address("space", "s"), "emoji"): why}
    snapshot = replace(
        sides.snapshot, not_readable_fields=fields, not_readable={case.address("team", "t"): why}
    )
    found = find_drift(sides := replace(sides, snapshot=snapshot), make_plan(sides)).unread
    told = {"acme/spaces/s#emoji": "spaces", "acme/teams/t": "teams"}
    assert found == tuple(at for at, word in told.items() if not any(word in one for one in ignore))


# What nobody watches.


@pytest.mark.parametrize(
    ("ignore", "fewer"),
    [([], 0), (["spaces/s#language"], 1), (["spaces/*#emoji"], 0), (["teams"], 0), (["teams/*#title"], 0)],
)
def test_unwatched_count_includes_undeclared_fields_unless_ignored(ignore: list[str], fewer: int) -> None:
    """Otherwise, what an entry names counts as not watched.

    Otherwise, a field that the policy ignores is called not watched.
    """
    case = Case({**space(emoji="A"), "team": TEAM})
    all_ = coverage(case.sides()).count_unwatched()
    found = coverage(Case(case.wanted, ignore=ignore).sides()).count_unwatched()
    assert (all_.fields - found.fields, all_.things - found.things) == (fewer, 0)


@pytest.mark.parametrize("chosen", [None, "acme/spaces/s"])
@pytest.mark.parametrize(
    ("ignore", "watch", "quiet"),
    [
        ([], [], set()),
        (["translations/nothing"], [], set()),
        (["teams"], [], {"acme/teams/t"}),
        (["sites/docs/shareLinks"], [], {"acme/sites/docs/shareLinks"}),
        ([], ["spaces/*#defaultLevel"], {"acme/spaces/s#defaultLevel"}),
        ([], ["spaces/s#defaultLevel"], {"acme/spaces/s#defaultLevel"}),
        (["spaces/s#defaultLevel"], ["spaces/*#defaultLevel"], {"acme/spaces/s#defaultLevel"}),
    ],
)
def test_unwatched_count_equals_number_of_listed_items(
    ignore: list[str], watch: list[str], quiet: set[str], chosen: str | None
) -> None:
    """Otherwise, a plan of a part counts what it did not look at.

    Otherwise, a default that is watched in one entry counts as watched in all.
    Otherwise, a place that is watched, or that no server has, is counted as not watched.
    Otherwise, a default that the policy watches is called not watched.
    Otherwise, an entry with nothing but a place that is not watched is not listed.
    """
    # Without any pattern it is counted by kind, with one by entry: both are the list.
    nodes = {"docs/news": {"title": "News", "path": "news"}, "docs/blog": {"title": "Blog"}}
    wanted: Things = {
        "space": {"s": {"title": "S", "emoji": "A"}, "u": {"title": "U", "emoji": "B"}},
        "team": TEAM,
        "site": {"docs": {"title": "Docs"}, "help": {"title": "Help", "basename": "help"}},
        "section": nodes,
    }
    selected = None if chosen is None else frozenset({Address.parse(chosen)})
    sides = replace(Case(wanted, ignore=ignore, watch=watch).sides(), selected_addresses=selected)
    unserved = {Address.parse("acme/sites/help/customization"): Unsupported("not here", SPAN)}
    place = Address.parse("acme/sites/help/redirects")
    appearing = {place: Scope(place, Address(place.segments[:-1]), ("redirect",), SPAN)}
    for more in ({}, {"unsupported": unserved}, {"watched_scopes": appearing}):
        desired = replace(sides.desired, **more)
        seen = replace(sides, loaded=desired)
        listed = list(coverage(seen).unwatched_by_entry())
        assert coverage(seen).count_unwatched() == Unwatched(
            things=sum(1 for _, fields, _ in listed if fields),
            fields=sum(len(fields) for _, fields, _ in listed),
            places=sum(len(places) for _, _, places in listed),
        )
        told = {str(entry.address) for entry, _, _ in listed}
        told |= {str(entry.address.field(one.name)) for entry, fields, _ in listed for one in fields}
        told |= {str(address) for _, _, places in listed for address, _ in places}
        everything = {
            "acme/sites/docs/shareLinks",
            "acme/spaces/s#defaultLevel",
            *map(str, desired.entries),
        }
        mine = {one for one in everything if chosen is None or one.partition("#")[0] == chosen}
        assert told & everything == mine - quiet


def test_unwatched_list_contains_undeclared_readable_writable_fields() -> None:
    """Not what says where a thing is, what it is recognised by, or what nobody can read or write.

    Otherwise, what nobody can write is called not watched.
    Otherwise, what the server does not have is called not watched.
    Otherwise, what nobody can read is called not watched.
    """
    wanted = {**space(emoji="A"), "site": {"docs": {}}, "section": {"docs/news": {}}, "saml": {"okta": {}}}
    case = Case({**wanted, "published_integration": {"bot": {}}})
    watched = coverage(sides := case.sides())
    found = {
        path: " ".join(sorted(one.name for one in watched.unwatched_fields(sides.entries[address])))
        for path in (
            ("space", "s"),
            ("section", "docs/news"),
            ("saml", "okta"),
            ("published_integration", "bot"),
        )
        for address in [case.address(*path)]
    }
    assert found == {
        ("space", "s"): "collection defaultLevel editMode language mergeRules",
        (
            "section",
            "docs/news",
        ): "condition default description draft icon localizedDescription localizedTitle path title",
        ("saml", "okta"): "certificate defaultRole defaultTeam entityID label ssoURL",
        ("published_integration", "bot"): (
            "blocks categories configurations contentSecurityPolicy contentSources description externalLinks"
            " scopes summary target title visibility"
        ),
    }


MOVED = {"defaultLevel": "edit"}


@pytest.mark.parametrize(
    ("live", "drifts"),
    [
        (MOVED, True),
        ({"defaultLevel": REGISTRY["space"].field("defaultLevel").platform_default}, False),
        ({}, False),
    ],
)
def test_watched_field_differing_from_default_is_drift(live: dict[str, Any], drifts: bool) -> None:
    """Otherwise, a value that was not in the answer is drift. No apply wrote the default: it has no label."""
    case = Case(space(), space(**live), since=[space()], watch=["spaces/*#defaultLevel"])
    found = [(one.field, one.cause) for item in drift(case) for one in item.fields]
    assert found == ([("defaultLevel", None)] if drifts else [])


def test_drift_ignores_watched_fields_ignored_or_without_default() -> None:
    """Otherwise, a field without a default is drift wherever it has a value.

    Otherwise, a default that the policy ignores is drift.
    """
    watch = ["spaces/*#defaultLevel"]
    assert drift(Case(space(), space(**MOVED), watch=watch, ignore=watch)) == []
    site: Things = {"site": {"docs": {"title": "Docs"}}}
    live: Things = {"site": {"docs": {"title": "Docs", "visibility": "public"}}}
    assert drift(Case(site, live, watch=["**#visibility"])) == []


def test_unwatched_list_skips_ignored_entries() -> None:
    """Otherwise, a place that is declared counts as not watched.

    Otherwise, what is ignored on purpose is counted as not watched.
    Otherwise, a place that the policy ignores is called not watched.
    """
    case = Case({**space(emoji="A"), "team": TEAM})
    before, after = (
        coverage(Case(case.wanted, ignore=ignore).sides()).count_unwatched() for ignore in ([], ["spaces"])
    )
    entry = case.sides().entries[case.address("space", "s")]
    watched = coverage(case.sides())
    fields, places = [*watched.unwatched_fields(entry)], [*watched.unwatched_places(entry)]
    assert (before.things - after.things, before.fields - after.fields) == (1, len(fields))
    assert before.places - after.places == len(places)
    assert {"title", "emoji"}.isdisjoint(field.name for field in fields)


def test_drift_text_lists_at_most_five_rename_candidates() -> None:
    was = {word.lower(): {"title": word} for word in ("Ash", "Birch", "Cedar", "Elm", "Fir", "Oak", "Yew")}
    new: Things = {"team": {"new": {"title": "Quite another"}}}
    case = Case(new, {"team": was}, lines=[("team", key) for key in was])
    sides = case.sides()
    found = find_drift(sides, make_plan(sides))
    (item,) = found.found
    assert len(item.renamed) == 7
    text = render_drift(found, Paint(on=False))
    assert text.count("perhaps renamed in GitBook to:") == 5
    assert "and 2 more candidates" in text


def test_drift_rename_candidates_have_similar_titles() -> None:
    """An object that merely stands there is no likely rename of an entry that is not live."""
    live: Things = {"team": {"old": {"title": "Designer"}, "other": {"title": "Ash"}}}
    (item,) = drift(Case({"team": {"n": {"title": "Designers"}}}, live))
    assert [one.id for one in item.renamed] == ["team-old"]
