"""In which order requests are sent, and what is one change, what is blocked, and what happens by itself."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from dpsync.model.plan import Plan

from .lab import Lab, section, site, spaces

LIMITLESS = "limits: { deletes: 99, percent: 100 }"


def before(lab: Lab, *patterns: str) -> None:
    """The writes that match come in this order, all of one before any of the next."""
    found = [
        [at for at, write in enumerate(lab.writes) if re.fullmatch(pattern, write)] for pattern in patterns
    ]
    assert all(found), (patterns, lab.writes)
    for earlier, later in pairwise(found):
        assert max(earlier) < min(later), (patterns, lab.writes)


def nodes(*items: str, more: str = "") -> str:
    return f"sites: {{ docs: {{ title: Docs, {more}structure: [{', '.join(items)}] }} }}"


def node(key: str, *shown: str, more: str = "") -> str:
    children = ", ".join(
        f"{{ type: space, key: {space}, space: {{ id: {space} }}, path: {space} }}" for space in shown
    )
    return f"{{ type: section, key: {key}, title: Section {key}, path: {key}, {more}children: [{children}] }}"


def changes(plan: Plan) -> list[tuple[str, list[str]]]:
    return [(change.address, [item.field for item in change.differences]) for change in plan.changes]


# Exposure.


def test_a_site_is_published_after_everything_in_it(lab: Lab) -> None:
    lab.holds(spaces=spaces("x", "y"))
    more = "published: true, visibility: unlisted, "
    more += "adaptiveSchema: { type: object, properties: {}, additionalProperties: false }, "
    lab.converges(nodes(node("a", "x", "y"), node("b", "y"), more=more))
    before(lab, r"POST /orgs/acme/sites", r"POST .*/sections", r"POST .*/publish")
    assert lab.writes[-1].endswith("/publish")


def test_what_comes_down_does_not_wait_for_what_going_up_would_wait_for(lab: Lab) -> None:
    """A site is shown to more people after its share links are made, and to fewer ones before."""
    shown = site(section("a", "x"), visibility="public", published=True)
    lab.holds(spaces=spaces("x"), sites=[shown])
    plan = lab.plan("sites: { docs: { title: Docs, visibility: unlisted, shareLinks: { P: {} } } }")
    steps = {step.id: step for change in plan.changes for step in change.steps}
    down = steps["acme/sites/docs withdraw visibility"]
    assert (down.needs, down.follows) == ((), ())
    assert down.id in steps["acme/sites/docs/shareLinks/P create"].needs
    lab.holds(spaces=spaces("x"), sites=[{**shown, "visibility": "share-link"}])
    plan = lab.plan("sites: { docs: { title: Docs, visibility: unlisted, shareLinks: { P: {} } } }")
    steps = {step.id: step for change in plan.changes for step in change.steps}
    assert "acme/sites/docs/shareLinks/P create" in steps["acme/sites/docs expose visibility"].needs


def test_single_sign_on_is_asked_for_after_its_providers_are_made(lab: Lab) -> None:
    lab.holds()
    steps = {
        step.id: step
        for change in lab.plan("sso: true\nsaml: { okta: { label: Okta } }").changes
        for step in change.steps
    }
    (asking,) = [step for step in steps.values() if step.body == {"sso": True}]
    assert asking.needs == ("acme/saml/okta create",)


def test_what_has_a_condition_is_made_after_the_schema_that_the_condition_is_about(lab: Lab) -> None:
    lab.holds(spaces=spaces("x"), sites=[site(section("a", "x"))])
    more = "adaptiveSchema: { type: object, properties: {}, additionalProperties: false }, "
    link = "{ type: external-link, key: l, title: Link, url: 'https://l.example' }"
    plan = lab.plan(nodes(node("a", "x"), node("b", "x"), link, more=more))
    base = "acme/sites/docs"
    (schema,) = [step.id for change in plan.changes for step in change.steps if "chema" in change.address]
    making = {
        change.address.removeprefix(f"{base}/structure/"): step.needs
        for change in plan.changes
        for step in change.steps
        if step.verb == "create" and "structure" in change.address
    }
    assert making.keys() == {"b", "l"}
    assert all(schema in needs for needs in making.values())


def test_a_site_is_published_after_what_goes_has_gone(lab: Lab) -> None:
    lab.holds(spaces=spaces("x"), sites=[site(section("a", "x"), section("b", "x"))])
    policy = f"{{ prune: [sites/*/structure], {LIMITLESS} }}"
    lab.converges(nodes(node("a", "x"), more="published: true, "), policy)
    before(lab, r"DELETE .*/sections/b", r"POST .*/publish")


def test_a_site_is_unpublished_before_anything_in_it_changes(lab: Lab) -> None:
    lab.holds(spaces=spaces("x", "y"), sites=[site(section("a", "x"), section("b", "y"), published=True)])
    policy = f"{{ prune: [sites/*/structure], {LIMITLESS} }}"
    lab.converges(nodes(node("a", "x", "y"), more="published: false, "), policy)
    assert lab.writes[0].endswith("/unpublish")
    before(lab, r"POST .*/unpublish", r"POST .*/site-spaces", r"DELETE .*/sections/b")


@pytest.mark.parametrize(
    ("live", "wanted", "first"), [("public", "unlisted", True), ("unlisted", "public", False)]
)
def test_visibility_comes_down_first_and_goes_up_last(lab: Lab, live: str, wanted: str, first: bool) -> None:
    lab.holds(spaces=spaces("x", "y"), sites=[site(section("a", "x"), visibility=live)])
    lab.converges(nodes(node("a", "x", "y"), more=f"visibility: {wanted}, "))
    assert lab.writes[0 if first else -1] == "PATCH /orgs/acme/sites/docs"


# Who frees goes before who takes.


def test_a_basename_is_freed_before_it_is_taken(lab: Lab) -> None:
    lab.holds(sites=[site(basename="new", title="Old"), site(id="other", title="Other", basename="other")])
    body = (
        "sites: { a: { id: docs, title: Old, basename: old }, b: { id: other, title: Other, basename: new } }"
    )
    lab.converges(body)
    assert lab.writes == ["PATCH /orgs/acme/sites/docs", "PATCH /orgs/acme/sites/other"]


def test_three_paths_in_a_ring_step_aside_once(lab: Lab) -> None:
    """Otherwise, every step of a navigation counts as one that frees a value, and each waits for the
    others.
    """
    lab.holds(spaces=spaces("x"), sites=[site(*(section(key, "x") for key in "abc"))])
    ring = [
        f"{{ type: section, key: {key}, id: {key}, title: Section {key}, path: {path}, children:"
        " [{ type: space, key: x, space: { id: x } }] }"
        for key, path in zip("abc", "bca", strict=True)
    ]
    lab.converges(nodes(*ring))
    assert len(lab.writes) == 4


def test_somebody_becomes_admin_before_somebody_else_stops_to_be(lab: Lab) -> None:
    people = [
        {"user": "ada", "role": "create"},
        {"user": "bo", "role": "admin"},
        {"user": "cy", "role": "admin"},
    ]
    lab.holds(members=people)
    lab.server.app.requests.clear()
    plan = lab.plan("members: { ada@acme.example: admin, bo@acme.example: read, cy@acme.example: read }")
    steps = {change.address.rpartition("/")[2]: change.steps[0] for change in plan.changes}
    promotion = steps["ada@acme.example"].id
    assert promotion in steps["bo@acme.example"].needs
    assert promotion in steps["cy@acme.example"].needs


def test_a_team_gets_its_new_owner_before_the_old_one_goes(lab: Lab) -> None:
    members = [{"user": "bo", "role": "owner"}, {"user": "cy", "role": "member"}]
    lab.holds(teams=[{"id": "t", "title": "T", "members": members}])
    lab.converges(
        "teams: { t: { title: T, members: { cy@acme.example: owner } } }",
        f"{{ prune: [teams/*/members], {LIMITLESS} }}",
    )
    assert lab.writes == ["PUT /orgs/acme/teams/t/members/cy", "DELETE /orgs/acme/teams/t/members/bo"]


def test_parents_before_children_and_deletes_last(lab: Lab) -> None:
    lab.holds(teams=[{"id": "old", "title": "Old"}], spaces=spaces("gone"))
    body = """
        teams: { a: { title: Aaa, members: { bo@acme.example: owner } } }
        collections: { c: { title: Cee }, d: { title: Dee, parent: c } }
        spaces: { s: { title: Ess, collection: d } }
        sites:
          docs:
            title: Docs
            structure:
              - type: section-group
                key: g
                title: Group
                children:
                  - { type: section, key: x, title: Exx, children: [{ type: space, key: s, space: s }] }
    """
    lab.converges(body, f"{{ prune: [teams, spaces], {LIMITLESS} }}")
    before(lab, r"PUT /orgs/acme/teams", r"PUT /orgs/acme/teams/[^/]+/members/bo")
    before(lab, r"POST /orgs/acme/spaces", r"POST .*/sections")
    before(lab, r"POST .*/section-groups", r"POST .*/sections")
    assert [write.split()[0] for write in lab.writes[-2:]] == ["DELETE", "DELETE"]
    assert sum(write.startswith("DELETE") for write in lab.writes) == 2


def test_siblings_are_made_in_order_without_a_move(lab: Lab) -> None:
    lab.holds(spaces=spaces("x"))
    lab.converges(nodes(node("c", "x"), node("a", "x"), node("b", "x")))
    assert [write for write in lab.writes if write.endswith("/sort")] == []


def test_one_sibling_out_of_place_is_one_move(lab: Lab) -> None:
    """Otherwise, nothing in a navigation is ever moved."""
    lab.holds(spaces=spaces("x"), sites=[site(*(section(key, "x") for key in "abcde"))])
    plan = lab.plan(nodes(*(node(key, "x") for key in "eabcd")))
    assert [(change.address, change.moved) for change in plan.changes] == [
        ("acme/sites/docs/structure/e", "before acme/sites/docs/structure/a")
    ]
    lab.converges(nodes(*(node(key, "x") for key in "eabcd")))
    assert lab.writes == ["PATCH /orgs/acme/sites/docs/structure/sort"]


# Defaults.


def test_a_default_that_moves_is_one_change(lab: Lab) -> None:
    lab.holds(spaces=spaces("x"), sites=[site(section("a", "x", default=True), section("b", "x"))])
    body = nodes(node("a", "x", more="default: false, "), node("b", "x", more="default: true, "))
    assert changes(lab.plan(body)) == [("acme/sites/docs/structure/b", ["default"])]
    lab.converges(body)
    assert lab.writes == ["PATCH /orgs/acme/sites/docs"]


def test_no_default_at_all_is_blocked(lab: Lab) -> None:
    lab.holds(spaces=spaces("x"), sites=[site(section("a", "x", default=True), section("b", "x"))])
    plan = lab.plan(nodes(node("a", "x", more="default: false, "), node("b", "x")))
    assert plan.empty
    (blocked,) = plan.blocked
    assert blocked.address == "acme/sites/docs/structure/a#default"
    assert "default: true on another section" in blocked.todo


def test_false_is_fine_where_another_one_is_the_default(lab: Lab) -> None:
    lab.holds(spaces=spaces("x"), sites=[site(section("a", "x", default=True), section("b", "x"))])
    plan = lab.plan(nodes(node("a", "x"), node("b", "x", more="default: false, ")))
    assert (plan.empty, plan.blocked) == (True, ())


# Blocked.


def test_single_sign_on_is_not_taken_back(lab: Lab) -> None:
    lab.holds(members=[{"user": "ada", "role": "admin"}, {"user": "bo", "role": "read", "sso": True}])
    plan = lab.plan("members: { bo@acme.example: { role: create, sso: false } }")
    assert changes(plan) == [("acme/members/bo@acme.example", ["role"])]
    (blocked,) = plan.blocked
    assert blocked.address == "acme/members/bo@acme.example#sso"
    assert "the API cannot set sso to false" in blocked.reason


def test_somebody_who_is_missing_blocks_only_what_names_them(lab: Lab) -> None:
    lab.holds(teams=[{"id": "t", "title": "T", "members": [{"user": "bo", "role": "owner"}]}])
    body = """
        title: Acme Docs
        members: { ada@acme.example: admin, bo@acme.example: create, new@acme.example: read }
        mergeRules: { type: rules, rules: [{ rule: allow_bypass, users: [new@acme.example] }] }
        teams:
          t:
            title: T
            members: { bo@acme.example: owner, new@acme.example: member, cy@acme.example: member }
    """
    with_cy = body.replace("new@acme.example: read }", "cy@acme.example: read, new@acme.example: read }")
    report = lab.apply(with_cy)
    assert (report.converged, report.complete) == (True, False)
    assert report.remaining is not None
    blocked = {item.address: item.because for item in report.remaining.blocked}
    assert blocked == {
        "acme/members/new@acme.example": None,
        "acme#mergeRules": "acme/members/new@acme.example",
        "acme/teams/t/members/new@acme.example": "acme/members/new@acme.example",
    }
    assert lab.writes == ["PATCH /orgs/acme", "PUT /orgs/acme/teams/t/members/cy"]
    todo = next(item.todo for item in report.remaining.blocked if item.because is None)
    assert "new@acme.example" in todo


def test_the_same_two_sides_give_the_same_bytes(lab: Lab) -> None:
    lab.holds(spaces=spaces("x", "y"), sites=[site(section("a", "x"), section("b", "y"))])
    body = nodes(node("b", "y", "x"), node("a", "x"), node("c", "x"), more="published: true, ")
    policy = f"{{ prune: [sites/*/structure], {LIMITLESS} }}"
    assert lab.plan(body, policy).bytes() == lab.plan(body, policy).bytes()


def test_names_that_several_bear_go_round_too(lab: Lab) -> None:
    """Two things may have one title: who takes it waits for both, and so is in two circles at once."""
    lab.holds(
        collections=[
            {"id": "a", "title": "Same"},
            {"id": "b", "title": "Same"},
            {"id": "c", "title": "Other"},
            {"id": "d", "title": "Third"},
            {"id": "e", "title": "Fourth"},
        ]
    )
    titles = {"a": "Other", "b": "Third", "c": "Same", "d": "Fourth", "e": "Same"}
    entries = "".join(f"  {id}: {{ id: {id}, title: {title} }}\n" for id, title in titles.items())
    lab.converges(f"collections:\n{entries}")
