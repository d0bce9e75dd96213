"""In which order requests are sent, and what is one change, what is blocked, and what happens by itself."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from dpsync.model.plan import Plan

from .lab import Lab, section, site, spaces

LIMITLESS = "limits: { deletes: 99, percent: 100 }"


def before(lab: Lab, *patterns: str) -> None:
    """Check the order of the writes: all that match a pattern precede all that match the next one."""
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


def test_site_is_published_after_its_content(lab: Lab) -> None:
    lab.holds(spaces=spaces("x", "y"))
    more = "published: true, visibility: unlisted, "
    more += "adaptiveSchema: { type: object, properties: {}, additionalProperties: false }, "
    lab.converges(nodes(node("a", "x", "y"), node("b", "y"), more=more))
    before(lab, r"POST /orgs/acme/sites", r"POST .*/sections", r"POST .*/publish")
    assert lab.writes[-1].endswith("/publish")


def test_lowering_visibility_precedes_share_link_creation(lab: Lab) -> None:
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


def test_sso_is_required_after_provider_creation(lab: Lab) -> None:
    lab.holds()
    steps = {
        step.id: step
        for change in lab.plan("sso: true\nsaml: { okta: { label: Okta } }").changes
        for step in change.steps
    }
    (asking,) = [step for step in steps.values() if step.body == {"sso": True}]
    assert asking.needs == ("acme/saml/okta create",)


def test_conditional_section_follows_adaptive_schema(lab: Lab) -> None:
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


def test_site_is_published_after_deletions(lab: Lab) -> None:
    lab.holds(spaces=spaces("x"), sites=[site(section("a", "x"), section("b", "x"))])
    policy = f"{{ prune: [sites/*/structure], {LIMITLESS} }}"
    lab.converges(nodes(node("a", "x"), more="published: true, "), policy)
    before(lab, r"DELETE .*/sections/b", r"POST .*/publish")


def test_site_is_unpublished_before_content_changes(lab: Lab) -> None:
    lab.holds(spaces=spaces("x", "y"), sites=[site(section("a", "x"), section("b", "y"), published=True)])
    policy = f"{{ prune: [sites/*/structure], {LIMITLESS} }}"
    lab.converges(nodes(node("a", "x", "y"), more="published: false, "), policy)
    assert lab.writes[0].endswith("/unpublish")
    before(lab, r"POST .*/unpublish", r"POST .*/site-spaces", r"DELETE .*/sections/b")


@pytest.mark.parametrize(
    ("live", "wanted", "first"), [("public", "unlisted", True), ("unlisted", "public", False)]
)
def test_visibility_decreases_first_and_increases_last(lab: Lab, live: str, wanted: str, first: bool) -> None:
    lab.holds(spaces=spaces("x", "y"), sites=[site(section("a", "x"), visibility=live)])
    lab.converges(nodes(node("a", "x", "y"), more=f"visibility: {wanted}, "))
    assert lab.writes[0 if first else -1] == "PATCH /orgs/acme/sites/docs"


# Who frees goes before who takes.


def test_site_basename_is_freed_before_reuse(lab: Lab) -> None:
    lab.holds(sites=[site(basename="new", title="Old"), site(id="other", title="Other", basename="other")])
    body = (
        "sites: { a: { id: docs, title: Old, basename: old }, b: { id: other, title: Other, basename: new } }"
    )
    lab.converges(body)
    assert lab.writes == ["PATCH /orgs/acme/sites/docs", "PATCH /orgs/acme/sites/other"]


def test_rotating_paths_need_one_temporary_path(lab: Lab) -> None:
    """Otherwise, each step of a navigation counts as one that frees a value, and all steps wait."""
    lab.holds(spaces=spaces("x"), sites=[site(*(section(key, "x") for key in "abc"))])
    ring = [
        f"{{ type: section, key: {key}, id: {key}, title: Section {key}, path: {path}, children:"
        " [{ type: space, key: x, space: { id: x } }] }"
        for key, path in zip("abc", "bca", strict=True)
    ]
    lab.converges(nodes(*ring))
    assert len(lab.writes) == 4


def test_new_admin_precedes_admin_demotion(lab: Lab) -> None:
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


def test_new_team_owner_precedes_owner_removal(lab: Lab) -> None:
    members = [{"user": "bo", "role": "owner"}, {"user": "cy", "role": "member"}]
    lab.holds(teams=[{"id": "t", "title": "T", "members": members}])
    lab.converges(
        "teams: { t: { title: T, members: { cy@acme.example: owner } } }",
        f"{{ prune: [teams/*/members], {LIMITLESS} }}",
    )
    assert lab.writes == ["PUT /orgs/acme/teams/t/members/cy", "DELETE /orgs/acme/teams/t/members/bo"]


def test_plan_creates_parents_first_and_deletes_last(lab: Lab) -> None:
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


def test_new_siblings_are_created_in_order_without_moves(lab: Lab) -> None:
    lab.holds(spaces=spaces("x"))
    lab.converges(nodes(node("c", "x"), node("a", "x"), node("b", "x")))
    assert [write for write in lab.writes if write.endswith("/sort")] == []


def test_plan_moves_only_the_misplaced_sibling(lab: Lab) -> None:
    """Otherwise, nothing in a navigation is ever moved."""
    lab.holds(spaces=spaces("x"), sites=[site(*(section(key, "x") for key in "abcde"))])
    plan = lab.plan(nodes(*(node(key, "x") for key in "eabcd")))
    assert [(change.address, change.moved) for change in plan.changes] == [
        ("acme/sites/docs/structure/e", "before acme/sites/docs/structure/a")
    ]
    lab.converges(nodes(*(node(key, "x") for key in "eabcd")))
    assert lab.writes == ["PATCH /orgs/acme/sites/docs/structure/sort"]


# Defaults.


def test_moving_default_flag_is_one_change(lab: Lab) -> None:
    lab.holds(spaces=spaces("x"), sites=[site(section("a", "x", default=True), section("b", "x"))])
    body = nodes(node("a", "x", more="default: false, "), node("b", "x", more="default: true, "))
    assert changes(lab.plan(body)) == [("acme/sites/docs/structure/b", ["default"])]
    lab.converges(body)
    assert lab.writes == ["PATCH /orgs/acme/sites/docs"]


def test_default_false_without_other_default_is_blocked(lab: Lab) -> None:
    lab.holds(spaces=spaces("x"), sites=[site(section("a", "x", default=True), section("b", "x"))])
    plan = lab.plan(nodes(node("a", "x", more="default: false, "), node("b", "x")))
    assert plan.empty
    (blocked,) = plan.blocked
    assert blocked.address == "acme/sites/docs/structure/a#default"
    assert "default: true on another section" in blocked.todo


def test_default_false_with_other_default_entry_is_accepted(lab: Lab) -> None:
    lab.holds(spaces=spaces("x"), sites=[site(section("a", "x", default=True), section("b", "x"))])
    plan = lab.plan(nodes(node("a", "x"), node("b", "x", more="default: false, ")))
    assert (plan.empty, plan.blocked) == (True, ())


# Blocked.


def test_disabling_member_sso_is_blocked(lab: Lab) -> None:
    lab.holds(members=[{"user": "ada", "role": "admin"}, {"user": "bo", "role": "read", "sso": True}])
    plan = lab.plan("members: { bo@acme.example: { role: create, sso: false } }")
    assert changes(plan) == [("acme/members/bo@acme.example", ["role"])]
    (blocked,) = plan.blocked
    assert blocked.address == "acme/members/bo@acme.example#sso"
    assert "the API cannot set sso to false" in blocked.reason


def test_missing_member_blocks_only_referring_entries(lab: Lab) -> None:
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


def test_plan_is_reproducible_for_equal_input(lab: Lab) -> None:
    lab.holds(spaces=spaces("x", "y"), sites=[site(section("a", "x"), section("b", "y"))])
    body = nodes(node("b", "y", "x"), node("a", "x"), node("c", "x"), more="published: true, ")
    policy = f"{{ prune: [sites/*/structure], {LIMITLESS} }}"
    assert lab.plan(body, policy).canonical_json() == lab.plan(body, policy).canonical_json()


def test_rotating_duplicate_collection_titles_converge(lab: Lab) -> None:
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
