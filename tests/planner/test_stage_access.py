"""What opens access to somebody: by precedence on `published`, by the strongest role on other editions.

The organization of the cases has an admin (ada), a creator (kim, in the team of writers), a reader (lin) and
a guest (gus). Its space `guide` is in no collection and on no site unless a case says so, and inherits.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import pytest

from dpsync.model.change import Exposure
from dpsync.model.values import LiveId
from dpsync.planner.plan import make_plan

from .access_cases import REGISTRIES, sides, things
from .access_oracle import Place, World
from .stages import Case

GUIDE, HIDDEN = ("space", "guide"), ("space", "hidden")
DOCS, HELP = ("site", "docs"), ("site", "help")
API, OLD = ("collection", "api"), ("collection", "old")
LINK, HELP_LINK = ("docs", "guide"), ("help", "guide")
PLACES: tuple[Place, ...] = (GUIDE, HIDDEN, DOCS, HELP, API, OLD)  # type: ignore[assignment]
ON_DOCS = {"links": {LINK}}
IN_API = {"inside": {GUIDE: "api"}}
Patch = Mapping[str, Any]


def world(*patches: Patch) -> World:
    """Return the organization of the cases with other roles, levels, parents or teams."""
    found = World(
        members={"ada": "admin", "kim": "create", "lin": "read", "gus": "guest"},
        teams={"writers": {"kim"}},
        levels=dict.fromkeys(PLACES, "inherit"),
        inside={GUIDE: None, HIDDEN: None, API: None, OLD: None},  # type: ignore[dict-item]
        people={place: {} for place in PLACES},
        groups={place: {} for place in PLACES},
    )
    found.levels[HIDDEN] = "read"  # type: ignore[index]
    for name, patch in ((name, patch) for one in patches for name, patch in one.items()):
        value = getattr(found, name)
        value.update(deepcopy(patch))
    return found


def gone(place: Place, *patches: Patch) -> World:
    """Return the same organization without a site or a collection."""
    left = world(*patches)
    for mapping in (left.levels, left.people, left.groups, left.inside):
        mapping.pop(place, None)
    left.links = {link for link in left.links if ("site", link[0]) != place}
    return left


def exposures(
    before: World, after: World, *, profile: str = "published", hidden: Any = frozenset()
) -> dict[str, str]:
    """Return the words of each exposure by address, with what the files lack in brackets."""
    plan = make_plan(sides(before, after, profile=profile, hidden=hidden))
    assert not plan.blocked
    return {item.address.removeprefix("acme/"): said(item) for item in plan.exposures}


def said(exposure: Exposure) -> str:
    return exposure.words + "".join(f" [{one}]" for one in exposure.missing)


def person(place: Any, **roles: str) -> Patch:
    return {"people": {place: roles}}


def group(place: Any, **roles: str) -> Patch:
    return {"groups": {place: roles}}


def level(place: Any, word: str) -> Patch:
    return {"levels": {place: word}}


PLACE = "sites/docs/structure/guide"
KIM = "sites/docs/permissions/members/kim"
GONE_KIM = "sites/docs/permissions/members/[kim]"
DIRECT = "spaces/guide/permissions/members"


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        pytest.param(
            world(person(DOCS, lin="comment")), world(person(DOCS, lin="comment"), ON_DOCS),
            {PLACE: "lin: read → comment on acme/spaces/guide"},
            id="link into a site with a stronger role",
        ),
        pytest.param(
            world(person(DOCS, kim="comment")), world(person(DOCS, kim="comment"), ON_DOCS), {},
            id="link into a site with a weaker role",
        ),
        pytest.param(
            world(group(DOCS, writers="review"), {"teams": {"writers": {"lin"}}}),
            world(group(DOCS, writers="review"), {"teams": {"writers": {"lin"}}}, ON_DOCS),
            {PLACE: "lin: read → review on acme/spaces/guide"},
            id="link into a site with a team's role",
        ),
        pytest.param(
            world(person(DOCS, lin="edit"), level(GUIDE, "read")),
            world(person(DOCS, lin="edit"), level(GUIDE, "read"), ON_DOCS), {},
            id="link of a space with a level of its own",
        ),
        pytest.param(
            world(person(DOCS, lin="edit"), person(GUIDE, lin="comment")),
            world(person(DOCS, lin="edit"), person(GUIDE, lin="comment"), ON_DOCS), {},
            id="link of a space with a direct role",
        ),
        pytest.param(
            world(person(DOCS, kim="comment"), ON_DOCS), world(person(DOCS, kim="comment")),
            {"sites/docs/structure/[guide]": "kim: comment → create on acme/spaces/guide"},
            id="unlink from a site with a weaker role",
        ),
        pytest.param(
            world(person(DOCS, lin="edit"), ON_DOCS), world(person(DOCS, lin="edit")), {},
            id="unlink from a site with a stronger role",
        ),
        pytest.param(
            world(ON_DOCS), world(person(DOCS, kim="comment"), ON_DOCS), {},
            id="new weaker role on a site",
        ),
        pytest.param(
            world(ON_DOCS), world(person(DOCS, lin="edit"), ON_DOCS),
            {"sites/docs/permissions/members/lin": "lin: read → edit on acme/sites/docs, acme/spaces/guide"},
            id="new stronger role on a site",
        ),
        pytest.param(
            world(person(DOCS, kim="read"), ON_DOCS), world(person(DOCS, kim="edit"), ON_DOCS),
            {KIM: "kim: read → edit on acme/sites/docs, acme/spaces/guide"},
            id="raised role on a site",
        ),
        pytest.param(
            world(person(DOCS, kim="edit"), ON_DOCS), world(person(DOCS, kim="read"), ON_DOCS), {},
            id="lowered role on a site",
        ),
        pytest.param(
            world(person(DOCS, kim="comment"), ON_DOCS), world(ON_DOCS),
            {GONE_KIM: "kim: comment → create on acme/sites/docs, acme/spaces/guide"},
            id="removed weaker role on a site",
        ),
        pytest.param(
            world(person(DOCS, lin="edit"), ON_DOCS), world(ON_DOCS), {},
            id="removed stronger role on a site",
        ),
        pytest.param(
            world(person(DOCS, kim="comment"), person(GUIDE, kim="read"), ON_DOCS),
            world(person(GUIDE, kim="read"), ON_DOCS),
            {GONE_KIM: "kim: comment → create"},
            id="removed site role below a direct role",
        ),
        pytest.param(
            world(person(GUIDE, kim="read")), world(),
            {f"{DIRECT}/[kim]": "kim: read → create"},
            id="removed weaker direct role",
        ),
        pytest.param(
            world(person(GUIDE, lin="edit")), world(), {},
            id="removed stronger direct role",
        ),
        pytest.param(
            world(person(DOCS, kim="comment"), person(GUIDE, kim="read"), ON_DOCS),
            world(person(DOCS, kim="comment"), ON_DOCS),
            {f"{DIRECT}/[kim]": "kim: read → comment"},
            id="removed direct role above a site role",
        ),
        pytest.param(
            world(), world(person(GUIDE, lin="edit")), {f"{DIRECT}/lin": "lin: read → edit"},
            id="new stronger direct role",
        ),
        pytest.param(
            world(), world(person(GUIDE, gus="read")), {f"{DIRECT}/gus": "gus: no access → read"},
            id="new direct role for a guest",
        ),
        pytest.param(world(), world(person(GUIDE, kim="read")), {}, id="new weaker direct role"),
        pytest.param(
            world(level(GUIDE, "guest")), world(level(GUIDE, "edit")),
            {"spaces/guide": "other members with the role read, create (kim, lin): no access → edit"},
            id="level of a space goes up",
        ),
        pytest.param(
            world(), world(level(GUIDE, "edit")),
            {"spaces/guide": "other members with the role read (lin): their own role → edit"},
            id="level above the role of some",
        ),
        pytest.param(
            world(level(GUIDE, "read")), world(),
            {"spaces/guide": "other members with the role create (kim): read → their own role"},
            id="level of a space is lifted",
        ),
        pytest.param(world(level(GUIDE, "edit")), world(level(GUIDE, "read")), {}, id="level goes down"),
        pytest.param(
            world(person(DOCS, lin="edit"), level(GUIDE, "read"), ON_DOCS),
            world(person(DOCS, lin="edit"), ON_DOCS),
            {
                "spaces/guide": "lin: read → edit; other members with the role create (kim): read → "
                "their own role"
            },
            id="lifted level lets a site role in",
        ),
        pytest.param(
            world(level(API, "read"), IN_API), world(level(API, "read")),
            {"spaces/guide": "other members with the role create (kim): read → their own role"},
            id="move out of a collection with a level",
        ),
        pytest.param(
            world(level(API, "edit")), world(level(API, "edit"), IN_API),
            {"spaces/guide": "other members with the role read (lin): their own role → edit"},
            id="move into a collection with a level",
        ),
        pytest.param(
            world(person(API, lin="review")), world(person(API, lin="review"), IN_API),
            {"spaces/guide": "lin: read → review"},
            id="move into a collection with a role",
        ),
        pytest.param(
            world(level(API, "edit"), level(GUIDE, "read")),
            world(level(API, "edit"), level(GUIDE, "read"), IN_API), {},
            id="move of a space with a level of its own",
        ),
        pytest.param(
            world(person(API, lin="read"), IN_API), world(person(API, lin="edit"), IN_API),
            {"collections/api/permissions/members/lin":
             "lin: read → edit on acme/collections/api, acme/spaces/guide"},
            id="raised role on a collection",
        ),
        pytest.param(
            world(person(API, lin="read"), person(DOCS, lin="comment"), IN_API, ON_DOCS),
            world(person(API, lin="edit"), person(DOCS, lin="comment"), IN_API, ON_DOCS),
            {"collections/api/permissions/members/lin": "lin: read → edit"},
            id="raised role on a collection below a site role",
        ),
        pytest.param(
            world(level(API, "read"), IN_API), gone(API, level(API, "read")),
            {"spaces/guide": "other members with the role create (kim): read → their own role"},
            id="move out of a deleted collection",
        ),
        pytest.param(
            world(person(DOCS, kim="comment"), ON_DOCS), gone(DOCS, ON_DOCS),
            {"sites/[docs]": "kim: comment → create on acme/spaces/guide"},
            id="deleted site that restricted",
        ),
        pytest.param(
            world(person(DOCS, lin="edit"), ON_DOCS), gone(DOCS, ON_DOCS), {},
            id="deleted site that gave more",
        ),
        pytest.param(
            gone(DOCS), world(person(DOCS, lin="edit"), ON_DOCS),
            {"sites/docs/permissions/members/lin": "lin: read → edit on acme/sites/docs, acme/spaces/guide"},
            id="new site with a role",
        ),
        pytest.param(
            world(group(DOCS, writers="comment"), ON_DOCS),
            world(group(DOCS, writers="comment"), {"teams": {"writers": set()}}, ON_DOCS),
            {"teams/writers/members/[kim]": "kim: comment → create on acme/sites/docs, acme/spaces/guide"},
            id="leave a team with a weaker role",
        ),
        pytest.param(
            world(group(DOCS, writers="edit"), ON_DOCS),
            world(group(DOCS, writers="edit"), {"teams": {"writers": {"kim", "lin"}}}, ON_DOCS),
            {"teams/writers/members/lin": "lin: read → edit on acme/sites/docs, acme/spaces/guide"},
            id="join a team with a stronger role",
        ),
        pytest.param(
            world(), world({"teams": {"writers": {"kim", "lin"}}}), {},
            id="join a team without roles",
        ),
        pytest.param(
            world(person(DOCS, lin="comment"), ON_DOCS),
            world(person(DOCS, lin="comment"), ON_DOCS, {"members": {"lin": "edit"}}),
            {"members/lin": "role raised: read → edit"},
            id="raised role in the organization",
        ),
        pytest.param(
            world(), world({"members": {"kim": "read"}}), {},
            id="lowered role in the organization",
        ),
        pytest.param(
            world(ON_DOCS), world(person(DOCS, ada="read"), ON_DOCS), {},
            id="role of an admin",
        ),
    ],
)  # fmt: skip
def test_exposures_list_certain_access_gains_by_role_precedence(
    before: World, after: World, found: dict[str, str]
) -> None:
    assert exposures(before, after) == found


COMBINED = "GitBook does not document how the roles of several sites combine"
IN_BOTH = {"links": {LINK, HELP_LINK}}


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        pytest.param(
            world(person(DOCS, lin="comment"), person(HELP, lin="edit"), ON_DOCS),
            world(person(DOCS, lin="comment"), person(HELP, lin="edit"), IN_BOTH),
            {"sites/help/structure/guide": f"may open acme/spaces/guide to lin: {COMBINED}"},
            id="second site with a stronger role",
        ),
        pytest.param(
            world(person(HELP, lin="edit"), ON_DOCS), world(person(HELP, lin="edit"), IN_BOTH),
            {"sites/help/structure/guide": f"may open acme/spaces/guide to lin: {COMBINED}"},
            id="only one of two sites gives a role",
        ),
        pytest.param(
            world(person(DOCS, lin="edit"), person(HELP, lin="edit"), ON_DOCS),
            world(person(DOCS, lin="edit"), person(HELP, lin="edit"), IN_BOTH), {},
            id="second site with the same role",
        ),
        pytest.param(
            world(person(GUIDE, kim="read")), world(person(GUIDE, kim="read"), group(GUIDE, writers="edit")),
            {"spaces/guide/permissions/teams/writers":
             "role edit may open acme/spaces/guide to kim: GitBook does not document how the roles of a "
             "member "
             "and of teams combine"},
            id="a member's role and a team's",
        ),
        pytest.param(
            world(person(OLD, lin="edit"), {"inside": {GUIDE: "api"}}),
            world(person(OLD, lin="edit"), {"inside": {GUIDE: "api", API: "old"}}),
            {"collections/api": "may open acme/collections/api, acme/spaces/guide to lin: GitBook does not "
                                "document how nested collections combine"},
            id="nested collections",
        ),
        pytest.param(
            world(level(DOCS, "edit")), world(level(DOCS, "edit"), ON_DOCS),
            {PLACE: "may open acme/spaces/guide to other members with the role read (lin): GitBook does not "
                    "document "
                    "whether the level of a site also applies to its spaces"},
            id="level of a site",
        ),
        pytest.param(
            world(person(DOCS, gus="read")), world(person(DOCS, gus="read"), ON_DOCS),
            {PLACE: "may open acme/spaces/guide to gus: GitBook does not document whether a "
                    "guest's role on a site or collection also applies to its spaces"},
            id="role of a guest on a site",
        ),
    ],
)  # fmt: skip
def test_undocumented_role_combination_is_possible_exposure(
    before: World, after: World, found: dict[str, str]
) -> None:
    assert exposures(before, after) == found


@pytest.mark.parametrize(
    ("hidden", "before", "after", "found"),
    [
        pytest.param(
            {("people", DOCS)}, world(), world(ON_DOCS),
            {PLACE: "may open acme/spaces/guide to people whose role your files do not list "
                    "[the permissions of acme/sites/docs]"},
            id="permissions of the site",
        ),
        pytest.param(
            {("groups", GUIDE)}, world(person(DOCS, lin="read"), ON_DOCS),
            world(person(DOCS, lin="edit"), ON_DOCS),
            {"sites/docs/permissions/members/lin":
             "lin: read → edit; role edit may open acme/spaces/guide to lin "
             "[the permissions of acme/spaces/guide]"},
            id="permissions of the space",
        ),
        pytest.param(
            {("structure", HELP)}, world(person(DOCS, lin="read")), world(person(DOCS, lin="read"), ON_DOCS),
            {PLACE: "may open acme/spaces/guide to lin, people whose role your files do not list "
                    "[the structure of every site]"},
            id="structure of another site",
        ),
        pytest.param(
            {("members", ("site", "writers"))}, world(ON_DOCS), world(group(DOCS, writers="edit"), ON_DOCS),
            {"sites/docs/permissions/teams/writers":
             "role edit may open acme/sites/docs, acme/spaces/guide to members of acme/teams/writers "
             "[the members of acme/teams/writers]"},
            id="members of the team",
        ),
        pytest.param(
            {("people", HIDDEN)}, world(), world({"teams": {"writers": set()}}),
            {"teams/writers/members/[kim]": "may open more objects to kim [the permissions of all "
                                            "spaces, collections and sites]"},
            id="roles of a team that somebody leaves",
        ),
        pytest.param(
            {("people", GUIDE)}, world(level(GUIDE, "guest")), world(level(GUIDE, "read")),
            {"spaces/guide": "other members with the role create: no access → read; other members with the "
                             "role read: no access → their own role"},
            id="nobody is hidden behind an open level",
        ),
    ],
)  # fmt: skip
def test_unreadable_permissions_make_exposure_possible(
    hidden: set[tuple[str, Place]], before: World, after: World, found: dict[str, str]
) -> None:
    assert exposures(before, after, hidden=hidden) == found


def test_access_gain_names_first_three_other_members() -> None:
    many = {"members": {f"r{number}": "read" for number in range(5)}}
    after = world(many, level(GUIDE, "edit"))
    assert exposures(world(many), after)["spaces/guide"] == (
        "other members with the role read (lin, r0, r1 and 3 more): their own role → edit"
    )


def test_access_gain_in_several_places_names_no_members() -> None:
    """Otherwise, one change has a line for each space with a member of its own."""
    both = {"inside": {GUIDE: "api", HIDDEN: "api"}, "levels": {HIDDEN: "inherit"}}
    many = {"members": {"mo": "read"}}
    own = person(GUIDE, lin="comment")
    after = world(many, both, own, level(API, "edit"))
    assert exposures(world(many, both, own), after)["collections/api"] == (
        "other members with the role read: their own role → edit on acme/collections/api, acme/spaces/guide, "
        "acme/spaces/hidden"
    )


def test_new_team_exposure_lists_only_declared_roles() -> None:
    """Otherwise, the plan warns about unknown roles of a team that does not exist yet."""
    new = exposures(world(), world({"teams": {"editors": {"kim"}}}), hidden={("people", HIDDEN)})
    assert [words for words in new.values() if "may open" in words] == []


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        pytest.param(
            world(person(DOCS, lin="edit")), world(person(DOCS, lin="edit"), ON_DOCS), {},
            id="sites give no role to their spaces",
        ),
        pytest.param(world(), world(person(GUIDE, kim="read")), {}, id="new weaker role"),
        pytest.param(world(person(GUIDE, kim="read")), world(), {}, id="removed weaker role"),
        pytest.param(
            world(), world(person(GUIDE, lin="edit")), {f"{DIRECT}/lin": "lin: read → edit"},
            id="new stronger role",
        ),
        pytest.param(
            world(person(API, lin="review")), world(person(API, lin="review"), IN_API),
            {"spaces/guide": "lin: read → review"},
            id="move into a collection with a role",
        ),
        pytest.param(
            world(person(GUIDE, lin="edit"), level(GUIDE, "read")),
            world(person(GUIDE, lin="edit"), level(GUIDE, "comment")),
            {"spaces/guide": "other members with the role create (kim): read → comment"},
            id="level below a direct role",
        ),
    ],
)  # fmt: skip
def test_strongest_role_wins_on_full_api_version(before: World, after: World, found: dict[str, str]) -> None:
    assert exposures(before, after, profile="full") == found


def test_full_api_version_exposure_ignores_unreadable_site_permissions() -> None:
    """Otherwise, the plan warns of people whose role is unlisted, and names no list to add."""
    before = world(ON_DOCS, level(API, "edit"))
    after = world(ON_DOCS, IN_API, level(API, "edit"))
    assert exposures(before, after, profile="full", hidden={("people", DOCS)}) == {
        "spaces/guide": "other members with the role read (lin): their own role → edit"
    }


def test_new_space_inherits_access_level_for_exposure() -> None:
    """A space that the plan creates is empty: only a role stronger than the inherited one is listed."""
    new = {"levels": {("space", "new"): "inherit"}, "inside": {("space", "new"): None}}
    roles = {"people": {("space", "new"): {"kim": "read", "lin": "edit"}}, "groups": {("space", "new"): {}}}
    assert exposures(world(), world(new, roles)) == {"spaces/new/permissions/members/lin": "lin: read → edit"}


def test_new_space_level_above_organization_role_is_exposure() -> None:
    new = {"levels": {("space", "new"): "edit"}, "inside": {("space", "new"): None}}
    lists = {name: {("space", "new"): {}} for name in ("people", "groups")}
    assert exposures(world(), world(new, lists)) == {
        "spaces/new": "other members with the role read (lin): their own role → edit"
    }


def test_collection_deletion_may_widen_access_to_spaces() -> None:
    """A space whose entry does not name its collection comes out of it when that is deleted."""
    before = world(level(API, "read"), IN_API)
    case = Case(
        things(gone(API), live=False),
        things(before, live=True),
        prune=["**"],
        registry=REGISTRIES["published"],
        confirm=["delete 1"],
    )
    del case.wanted["space"]["guide"]["collection"]  # type: ignore[attr-defined]
    assert {item.address: said(item) for item in make_plan(case.sides()).exposures} == {
        "acme/collections/[api]": "other members with the role create (kim): read → their own role on "
        "acme/spaces/guide"
    }


OTHERS = "the spaces of acme/collections/api that your files do not list"
NO_SPACES = ("space",)
NO_MEMBERS = ("member", "member_permission", "team_member")


@pytest.mark.parametrize(
    ("undeclared", "before", "after", "found"),
    [
        pytest.param(
            NO_SPACES, world(person(DOCS, kim="comment"), ON_DOCS), world(ON_DOCS),
            {GONE_KIM: "kim: comment → create; may open the space space-guide to kim "
                       "[all collections and spaces] [the default level of the space space-guide] "
                       "[the permissions of the space space-guide]"},
            id="space of a site",
        ),
        pytest.param(
            NO_SPACES, world(person(API, lin="read")), world(person(API, lin="edit")),
            {"collections/api/permissions/members/lin":
             f"lin: read → edit; role edit may open {OTHERS} to lin [the default level of {OTHERS}] "
             f"[the permissions of {OTHERS}] [the structure of every site]"},
            id="spaces of a collection",
        ),
        pytest.param(
            NO_MEMBERS, world(level(GUIDE, "guest")), world(level(GUIDE, "read")),
            {"spaces/guide": "all other members except guests: no access → read"},
            id="open level without members",
        ),
        pytest.param(
            NO_MEMBERS, world(), world(level(GUIDE, "edit")),
            {"spaces/guide": "may open acme/spaces/guide to all other members except guests, people whose "
                             "role your files do not list [all members] [the permissions of "
                             "acme/spaces/guide]"},
            id="level without members",
        ),
        pytest.param(NO_MEMBERS, world(), world(level(GUIDE, "read")), {}, id="least level without members"),
    ],
)  # fmt: skip
def test_access_change_of_undeclared_objects_may_be_exposure(
    undeclared: tuple[str, ...], before: World, after: World, found: dict[str, str]
) -> None:
    wanted, live = dict(things(after, live=False)), dict(things(before, live=True))
    for kind in undeclared:
        del wanted[kind], live[kind]
    if undeclared == NO_SPACES:
        shown = {
            path: {**place, "space": LiveId("space-guide")} for path, place in wanted["site_space"].items()
        }
        wanted["site_space"] = shown
        for side, name in ((wanted, "member_permission"), (wanted, "team_permission")):
            side[name] = {path: role for path, role in side[name].items() if not path.startswith("guide/")}
    case = Case(wanted, live, prune=["**"], registry=REGISTRIES["published"], confirm=["delete 9"])
    exposed = make_plan(case.sides()).exposures
    assert {item.address.removeprefix("acme/"): said(item) for item in exposed} == found
