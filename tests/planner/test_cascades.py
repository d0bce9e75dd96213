"""What goes along with a delete is shown and counted, and what is kept or left alone is not touched."""

from __future__ import annotations

import pytest

from dpsync.model.change import Change
from dpsync.model.plan import Plan
from dpsync.planner.deletions import INSIDE_DELETED

from .lab import Lab, group, section, site, spaces

LIMITLESS = "limits: { deletes: 99, percent: 100 }"


def prune(*places: str, more: str = "") -> str:
    return f"{{ prune: [{', '.join(places)}], {more}{LIMITLESS} }}"


def deleted(plan: Plan) -> dict[str, dict[str, bool]]:
    """By address of what is deleted, what goes along and whether it counts."""
    gone = [change for change in plan.changes if change.action == "delete"]
    return {change.address: {effect.address: effect.counts for effect in change.effects} for change in gone}


def changed(plan: Plan) -> dict[str, list[str]]:
    """By address, the fields that would be written."""
    return {
        change.address: [item.field for item in change.differences]
        for change in plan.changes
        if change.action == "update"
    }


def only(plan: Plan, address: str) -> Change:
    return next(change for change in plan.changes if change.address == address)


def test_section_deletion_cascades_to_site_spaces(lab: Lab) -> None:
    lab.holds(spaces=spaces("x", "y"), sites=[site(section("a", "x"), section("b", "x", "y"))])
    body = "sites: { docs: { title: Docs, structure: [{ type: section, key: a, title: Section a, path: a," \
        " children: [{ type: space, key: x, space: { id: x } }] }] } }"  # fmt: skip
    plan = lab.plan(body, prune("sites/docs/structure"))
    base = "acme/sites/docs/structure/[Section b]"
    assert deleted(plan) == {base: {f"{base}/[x]": True, f"{base}/[y]": True}}
    assert plan.deletes == 3
    lab.converges(body, prune("sites/docs/structure"))
    assert lab.writes == ["DELETE /orgs/acme/sites/docs/sections/b"]


def test_site_deletion_cascades_to_whole_navigation(lab: Lab) -> None:
    navigation = site(
        group("g", section("a", "x"), section("b", "y")),
        adaptiveSchema={"type": "object", "properties": {}, "additionalProperties": False},
    )
    lab.holds(spaces=spaces("x", "y"), sites=[navigation])
    plan = lab.plan("sites: {}", prune("sites"))
    ((address, along),) = deleted(plan).items()
    assert address == "acme/sites/[Docs]"
    assert set(along) == {
        f"acme/sites/[Docs]/structure/{name}"
        for name in ("[Group g]", "[Section a]", "[Section a]/[x]", "[Section b]", "[Section b]/[y]")
    }
    assert plan.deletes == 6


def test_space_deletion_cascades_to_declared_site_spaces(lab: Lab) -> None:
    lab.holds(spaces=spaces("x", "y"), sites=[site(section("a", "x", "y"))])
    body = (
        "spaces: { x: { title: Space x } }\n"
        "sites: { docs: { title: Docs, structure: [{ type: section, key: a, title: Section a, path: a,"
        " children: [{ type: space, key: x, space: x, path: x }] }] } }"
    )
    plan = lab.plan(body, prune("spaces"))
    assert deleted(plan) == {"acme/spaces/[Space y]": {"acme/sites/docs/structure/a/[y]": True}}
    assert plan.deletes == 2
    lab.converges(body, prune("spaces"))


def test_space_deletion_cascades_into_undeclared_sites(lab: Lab) -> None:
    other = site(section("b", "y"), section("c", "x"), id="other", title="Other", basename="other")
    lab.holds(spaces=spaces("x", "y"), sites=[site(section("a", "x")), other])
    body = "spaces: { x: { title: Space x } }\nsites: { docs: { title: Docs } }"
    plan = lab.plan(body, prune("spaces"))
    ((address, along),) = deleted(plan).items()
    assert address == "acme/spaces/[Space y]"
    assert along == {
        "acme/sites/[Other]": False,  # section c becomes its default
        "acme/sites/[Other]/structure/[Section b]": True,
        "acme/sites/[Other]/structure/[Section b]/[y]": True,
    }
    assert plan.deletes == 3


def test_deleting_space_on_no_site_has_no_cascade(lab: Lab) -> None:
    lab.holds(spaces=spaces("x", "y"), sites=[site(section("a", "x"))])
    plan = lab.plan("spaces: { x: { title: Space x } }", prune("spaces"))
    assert deleted(plan) == {"acme/spaces/[Space y]": {}}


def test_team_deletion_cascades_to_team_members(lab: Lab) -> None:
    members = [{"user": "bo", "role": "owner"}, {"user": "cy"}]
    lab.holds(teams=[{"id": "t", "title": "Sales", "members": members}, {"id": "u", "title": "Ops"}])
    plan = lab.plan("teams: { u: { title: Ops } }", prune("teams"))
    ((address, along),) = deleted(plan).items()
    assert address == "acme/teams/[Sales]"
    assert len(along) == 2
    assert plan.can_apply
    lab.converges("teams: { u: { title: Ops } }", prune("teams"))


def test_site_deletion_lists_undeclared_referring_field(lab: Lab) -> None:
    lab.holds(sites=[site()], defaultContent={"type": "site", "site": "docs"})
    plan = lab.plan("sites: {}", prune("sites"))
    assert deleted(plan)["acme/sites/[Docs]"] == {"acme#defaultContent": False}
    assert plan.deletes == 1  # the organization stays


def test_referring_field_is_updated_before_site_deletion(lab: Lab) -> None:
    other = site(id="other", title="Other", basename="other")
    lab.holds(sites=[site(), other], defaultContent={"type": "site", "site": "docs"})
    body = "defaultContent: { type: site, site: other }\nsites: { other: { title: Other } }"
    assert deleted(lab.plan(body, prune("sites"))) == {"acme/sites/[Docs]": {}}
    lab.converges(body, prune("sites"))
    assert lab.writes == ["PATCH /orgs/acme", "DELETE /orgs/acme/sites/docs"]


def test_section_deletion_lists_undeclared_default_change(lab: Lab) -> None:
    lab.holds(spaces=spaces("x"), sites=[site(section("a", "x"), section("b", "x"))])
    text = "sites: {{ docs: {{ title: Docs, structure: [{{ type: section, key: b, title: Section b," \
        " path: b{}, children: [{{ type: space, key: x, space: {{ id: x }} }}] }}] }} }}"  # fmt: skip
    along = deleted(lab.plan(text.format(""), prune("sites/docs/structure")))[
        "acme/sites/docs/structure/[Section a]"
    ]
    assert along == {"acme/sites/docs": False, "acme/sites/docs/structure/[Section a]/[x]": True}
    chosen = deleted(lab.plan(text.format(", default: true"), prune("sites/docs/structure")))
    assert chosen == {
        "acme/sites/docs/structure/[Section a]": {"acme/sites/docs/structure/[Section a]/[x]": True}
    }


# What names a deleted thing, where nothing of its kind is declared.

LEADING = {"id": "r", "source": "/old", "destination": {"kind": "site-section", "siteSectionId": "b"}}
ONLY_A = (
    "sites: { docs: { title: Docs, structure: [{ type: section, key: a, title: Section a, path: a, children:"
    " [{ type: space, key: x, space: { id: x } }] }]%s } }"
)


def test_section_deletion_cascades_to_its_redirects(lab: Lab) -> None:
    lab.holds(spaces=spaces("x"), sites=[site(section("a", "x"), section("b", "x"), redirects=[LEADING])])
    base = "acme/sites/docs/structure/[Section b]"
    along = {f"{base}/[x]": True, "acme/sites/docs/redirects/[/old]": True}
    plan = lab.plan(ONLY_A % "", prune("sites/docs/structure"))
    assert (deleted(plan), plan.deletes) == ({base: along}, 3)
    body = ONLY_A % ", redirects: { /new: { destination: { kind: external, url: 'https://a.example' } } }"
    plan = lab.plan(body, prune("sites/docs/structure"))
    assert (deleted(plan), plan.kept) == ({base: along}, ())


def test_redirect_deleted_directly_is_counted_once(lab: Lab) -> None:
    lab.holds(spaces=spaces("x"), sites=[site(section("a", "x"), section("b", "x"), redirects=[LEADING])])
    places = prune("sites/docs/structure", "sites/docs/redirects")
    plan = lab.plan(ONLY_A % ", redirects: {}", places)
    assert plan.deletes == 3
    lab.converges(ONLY_A % ", redirects: {}", places)
    assert lab.writes == [
        "DELETE /orgs/acme/sites/docs/redirects/r",
        "DELETE /orgs/acme/sites/docs/sections/b",
    ]


def test_redirect_with_new_destination_survives_section_deletion(lab: Lab) -> None:
    lab.holds(spaces=spaces("x"), sites=[site(section("a", "x"), section("b", "x"), redirects=[LEADING])])
    redirect = ", redirects: { /old: { destination: { kind: external, url: 'https://a.example' } } }"
    plan = lab.plan(ONLY_A % redirect, prune("sites/docs/structure"))
    base = "acme/sites/docs/structure/[Section b]"
    assert deleted(plan) == {base: {f"{base}/[x]": True}}
    lab.converges(ONLY_A % redirect, prune("sites/docs/structure"))


def test_section_deletion_cascades_to_ignored_redirect(lab: Lab) -> None:
    lab.holds(spaces=spaces("x"), sites=[site(section("a", "x"), section("b", "x"), redirects=[LEADING])])
    redirect = ", redirects: { /old: { destination: { kind: external, url: 'https://a.example' } } }"
    plan = lab.plan(
        ONLY_A % redirect, prune("sites/docs/structure", more="ignore: ['sites/docs/redirects/*'], ")
    )
    base = "acme/sites/docs/structure/[Section b]"
    assert deleted(plan) == {base: {f"{base}/[x]": True, "acme/sites/docs/redirects//old": True}}


def test_section_emptied_by_two_deletions_is_counted_once(lab: Lab) -> None:
    lab.holds(spaces=spaces("x", "y", "z"), sites=[site(section("a", "x"), section("b", "y", "z"))])
    plan = lab.plan("spaces: { x: { title: Space x } }", prune("spaces"))
    base = "acme/sites/[Docs]/structure/[Section b]"
    assert deleted(plan) == {
        "acme/spaces/[Space y]": {base: True, f"{base}/[y]": True},
        "acme/spaces/[Space z]": {f"{base}/[z]": True},
    }
    assert plan.deletes == 5


def test_cascade_is_listed_under_site_deletion(lab: Lab) -> None:
    """It is shown where the holder is, whichever of the two deletes is looked at first."""
    second = {**site(section("a", "x", "y")), "id": "other", "title": "Other", "basename": "other"}
    lab.holds(spaces=spaces("x", "y", "z"), sites=[site(section("b", "z")), second])
    policy = prune("sites", "spaces")
    plan = lab.plan("spaces: { z: { title: Space z } }\nsites: { docs: { title: Docs } }", policy)
    assert {change.address: [effect.what for effect in change.effects] for change in plan.changes} == {
        "acme/sites/[Other]": [INSIDE_DELETED, INSIDE_DELETED, INSIDE_DELETED],
        "acme/spaces/[Space x]": [],
        "acme/spaces/[Space y]": [],
    }


def test_space_deletion_keeps_section_receiving_new_space(lab: Lab) -> None:
    """Otherwise, a section of that title that shows another space is taken for the one that is meant."""
    lab.holds(spaces=spaces("x", "y"), sites=[site(section("a", "x"), section("b", "y"))])
    body = (
        "spaces: { x: { title: Space x } }\n"
        "sites: { docs: { title: Docs, structure: [{ type: section, key: b, title: Section b, path: b,"
        " children: [{ type: space, key: x, space: x, path: new }] }] } }"
    )
    plan = lab.plan(body, prune("spaces"))
    base = "acme/sites/docs/structure/b"
    assert deleted(plan) == {"acme/spaces/[Space y]": {base: False, f"{base}/[y]": True}}
    lab.converges(body, prune("spaces"))


def test_space_deletion_keeps_section_with_another_space(lab: Lab) -> None:
    lab.holds(spaces=spaces("x", "y"), sites=[site(section("b", "x", "y"))])
    plan = lab.plan("spaces: { x: { title: Space x } }", prune("spaces"))
    assert plan.deletes == 2


def test_collection_deletion_cascades_to_permissions(lab: Lab) -> None:
    lab.holds(collections=[{"id": "c", "title": "Shelf", "permissions": {"users": {"bo": "read"}}}])
    ((_, along),) = deleted(lab.plan("collections: {}", prune("collections"))).items()
    assert list(along) == ["acme/collections/[Shelf]/permissions/members/[bo@acme.example]"]


def test_member_deletion_cascades_to_translated_permissions(lab: Lab) -> None:
    lab.holds(
        spaces=[*spaces("x"), {"id": "fr", "title": "FR", "permissions": {"users": {"bo": "read"}}}],
        translations=[
            {
                "id": "t",
                "source": {"space": "x", "language": "en"},
                "language": "fr",
                "result": "fr",
                "status": "completed",
            }
        ],
    )
    body = "members: { ada@acme.example: admin, cy@acme.example: read }\nspaces: { x: { title: Space x } }"
    ((_, along),) = deleted(lab.plan(body, prune("members"))).items()
    assert list(along) == ["acme/translations/[fr]/access/permissions/members/[bo@acme.example]"]


# How much is read for it.


def reads(lab: Lab, body: str, policy: str) -> int:
    lab.server.app.requests.clear()
    lab.unanswered(body, policy)
    return len(lab.server.app.requests)


def test_plan_reads_site_spaces_once(lab: Lab) -> None:
    many = spaces(*(f"s{number}" for number in range(30)))
    lab.holds(spaces=many, sites=[site(section("a", *(item["id"] for item in many)))])
    # Each space has two lists of roles; the rest is read for all of them.
    assert reads(lab, "spaces: {}", prune("spaces")) <= 2 * len(many) + 10


def test_plan_reads_structure_only_of_affected_sites(lab: Lab) -> None:
    others = [
        site(section(f"a{n}", "x"), id=f"o{n}", title=f"Other {n}", basename=f"o{n}") for n in range(12)
    ]
    lab.holds(spaces=spaces("x", "y"), sites=[*others, site(section("b", "y"))])
    lab.server.app.requests.clear()
    plan = lab.unanswered("spaces: { x: { title: Space x } }", prune("spaces"))
    assert plan.deletes == 3
    trees = [path for _, path, _ in lab.server.app.requests if path.endswith("/structure")]
    assert trees == ["/v1/orgs/acme/sites/docs/structure"]


# Kept, ignored, pruned.

TEAMS = [
    {"id": "t1", "title": "Writers"},
    {"id": "t2", "title": "Sales"},
    {"id": "t3", "title": "Same"},
    {"id": "t4", "title": "Same"},
]


def test_unmanaged_objects_with_equal_titles_show_ids(lab: Lab) -> None:
    lab.holds(teams=TEAMS)
    (kept,) = lab.plan("teams: { w: { title: Writers } }").kept
    assert kept.place == "acme/teams"
    assert kept.addresses == ("acme/teams/[Sales]", "acme/teams/[Same~t3]", "acme/teams/[Same~t4]")


@pytest.mark.parametrize(
    ("pattern", "gone", "kept"),
    [
        ("teams/[Sales]", ["[Same~t3]", "[Same~t4]"], []),
        ("teams/[Same~t3]", ["[Sales]", "[Same~t4]"], []),
        ("teams/*", [], []),
        ("teams", [], []),
        ("acme", [], []),
    ],
)
def test_ignored_objects_are_not_deleted_or_listed(
    lab: Lab, pattern: str, gone: list[str], kept: list[str]
) -> None:
    lab.holds(teams=TEAMS)
    plan = lab.plan("teams: { w: { title: Writers } }", prune("teams", more=f"ignore: ['{pattern}'], "))
    assert sorted(deleted(plan)) == [f"acme/teams/{name}" for name in gone]
    assert [address for item in plan.kept for address in item.addresses] == kept


@pytest.mark.parametrize(
    ("pattern", "fields"),
    [
        ("spaces/en#emoji", {"acme/spaces/en": ["language"], "acme/spaces/fr": ["emoji"]}),
        ("spaces/*#emoji", {"acme/spaces/en": ["language"]}),
        ("spaces/en", {"acme/spaces/fr": ["emoji"]}),
        ("spaces/*#language", {"acme/spaces/en": ["emoji"], "acme/spaces/fr": ["emoji"]}),
        ("spaces", {}),
        ("**", {}),
    ],
)
def test_ignored_fields_are_not_changed(lab: Lab, pattern: str, fields: dict[str, list[str]]) -> None:
    lab.holds(
        spaces=[{"id": "en", "title": "EN", "emoji": "a", "language": "en"}, {"id": "fr", "title": "FR"}]
    )
    body = "spaces: { en: { title: EN, emoji: b, language: fr }, fr: { title: FR, emoji: c } }"
    assert changed(lab.plan(body, f"{{ ignore: ['{pattern}'] }}")) == fields


def test_entry_matching_ignore_policy_is_not_created(lab: Lab) -> None:
    lab.holds()
    plan = lab.plan("teams: { a: { title: Aaa }, b: { title: Bbb } }", "{ ignore: [teams/a] }")
    assert [change.address for change in plan.changes] == ["acme/teams/b"]


@pytest.mark.parametrize(
    ("patterns", "gone"),
    [
        (["teams"], {"acme/teams/[Sales]"}),
        (["teams/*/members"], {"acme/teams/w/members/[cy@acme.example]"}),
        (["teams/w/members"], {"acme/teams/w/members/[cy@acme.example]"}),
        (["teams/x/members"], set()),
        (["teams", "teams/*/members"], {"acme/teams/[Sales]", "acme/teams/w/members/[cy@acme.example]"}),
    ],
)
def test_prune_pattern_deletes_in_exactly_one_list(lab: Lab, patterns: list[str], gone: set[str]) -> None:
    team = {"id": "t1", "title": "Writers", "members": [{"user": "bo", "role": "owner"}, {"user": "cy"}]}
    lab.holds(teams=[team, {"id": "t2", "title": "Sales"}])
    body = "members: { ada@acme.example: admin, bo@acme.example: create, cy@acme.example: read }\n" \
        "teams: { w: { title: Writers, members: { bo@acme.example: owner } } }"  # fmt: skip
    assert set(deleted(lab.plan(body, prune(*patterns)))) == gone


def test_prune_of_site_structure_includes_all_levels(lab: Lab) -> None:
    lab.holds(
        spaces=spaces("x", "y"),
        sites=[site(section("a", "x", "y"), group("g", group("h", section("b", "x"))))],
    )
    body = "sites: { docs: { title: Docs, structure: [{ type: section, key: a, title: Section a, path: a," \
        " children: [{ type: space, key: x, space: { id: x }, path: x }] }] } }"  # fmt: skip
    assert set(deleted(lab.plan(body, prune("sites/*/structure")))) == {
        f"acme/sites/docs/structure/{name}" for name in ("a/[y]", "[Group g]", "[Group h]", "[Section b]")
    }
    lab.converges(body, prune("sites/*/structure"))


def test_plan_lists_deletions_last(lab: Lab) -> None:
    lab.holds(teams=TEAMS[:2])
    plan = lab.plan("teams: { z: { title: Zzz } }", prune("teams"))
    assert [change.action for change in plan.changes] == ["create", "delete", "delete"]
    assert plan.deletes == 2
