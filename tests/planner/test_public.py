"""What hides a thing is there before the thing is seen; what shows it comes last. As requests of a plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from msgspec.structs import replace

from dpsync.kinds.registry import load
from dpsync.model.change import Step
from dpsync.model.plan import Plan
from dpsync.model.values import LiveId
from dpsync.planner.plan import make_plan
from dpsync.planner.sides import Options
from dpsync.render.paint import Paint
from dpsync.render.view_text import render_plan

from .stages import Case, Things

SHOWN = {"docs": {"title": "Docs", "basename": "docs", "visibility": "public", "published": True}}
SITE = {"site": SHOWN, "space": {"a": {"title": "A"}, "b": {"title": "B"}}}
SECTION = {"docs/x": {"title": "Exx", "path": "x", "draft": False}}
AT = "acme/sites/docs/structure"
WHEN = "visitor.claims.beta"


def plan(wanted: Things, live: Things, **more: Any) -> Plan:
    return make_plan(Case({**SITE, **wanted}, {**SITE, **live}, **more).sides())


def steps(made: Plan) -> dict[str, Step]:
    return {step.id.removeprefix(f"{AT}/"): step for change in made.changes for step in change.steps}


def ref(path: str) -> Any:
    return Case(SITE).ref("space", path)


def section(key: str, child: Mapping[str, Any] | None = None, **fields: Any) -> Things:
    """A section with one site space."""
    place = {"space": ref("a"), "path": "p", **(child or {})}
    return {
        "section": {f"docs/{key}": {"title": key.title(), "path": key, **fields}},
        "site_space": {f"docs/{key}/p": place},
    }


# What is new.


@pytest.mark.parametrize(
    ("kind", "key", "fields"),
    [
        ("section_group", "docs/g", {"title": "G"}),
        ("external_link", "docs/l", {"title": "L", "url": "https://a.example"}),
        ("redirect", "docs/%2Fx", {"destination": {"kind": "external", "url": "https://a.example"}}),
    ],
)
def test_what_is_declared_to_be_a_draft_is_made_as_one(kind: str, key: str, fields: dict[str, Any]) -> None:
    found = plan({kind: {key: {**fields, "draft": True}}}, {})
    step, *more = [step for change in found.changes for step in change.steps]
    assert step.body["draft"] is True
    assert more == []


def test_a_section_that_is_declared_to_be_a_draft_is_made_as_one_and_never_shown() -> None:
    found = steps(plan(section("x", draft=True), {}))
    assert found["x create"].body["draft"] is True
    assert [step.body.get("draft") for step in found.values() if step.verb == "update"] == [None, None]


def test_what_gets_a_condition_is_a_draft_until_the_request_that_sets_it() -> None:
    """Otherwise, a new thing is public before its condition is set.

    Otherwise, what is to be hidden is made for everybody to see.
    """
    found = steps(plan(section("x", condition=WHEN), {}))
    assert found["x create"].body["draft"] is True
    assert found["x show"].body == {"path": "x", "condition": WHEN, "draft": False}


def test_plan_explains_step_that_shows_new_section() -> None:
    """Otherwise, three objects are created in four steps, and the last step is called an update."""
    made = plan(section("x", condition=WHEN), {})
    assert [id for id in steps(made) if id.startswith("x ")] == ["x create", "x show"]
    said = "created hidden, and shown at the end of the apply"
    assert [said in render_plan(made, Paint(on=False), verbose) for verbose in (0, 1)] == [False, True]


@pytest.mark.parametrize("fields", [{"hidden": True}, {"condition": WHEN}])
def test_a_site_space_is_a_draft_until_the_request_that_hides_it(fields: dict[str, Any]) -> None:
    live = section("x")
    live = {"section": live["section"], "site_space": {"docs/x/p": {"space": LiveId("space-a"), "path": "p"}}}
    wanted = section("x")
    more = {**wanted["site_space"], "docs/x/q": {"space": ref("b"), "path": "q", **fields}}
    found = steps(plan({**wanted, "site_space": more}, live))
    assert found["x/q create"].body["draft"] is True
    assert found["x/q show"].body == {"path": "q", **fields, "draft": False}


@pytest.mark.parametrize("fields", [{"hidden": True}, {"condition": WHEN}])
def test_what_is_made_along_with_a_section_is_hidden_before_that_is_shown(fields: dict[str, Any]) -> None:
    """Otherwise, a section is shown before what was made along with it is hidden.

    Otherwise, what is made along with a hidden section is seen too early.
    """
    found = steps(plan(section("x", fields), {}))
    assert found["x create"].body["draft"] is True
    assert found["x/p withdraw draft"].body == {"draft": True}
    assert "acme/sites/docs/structure/x/p withdraw draft" in found["x show"].needs
    assert found["x show"].body["draft"] is False
    assert "acme/sites/docs/structure/x show" in found["x/p show"].needs
    assert found["x/p show"].body == {"path": "p", **fields, "draft": False}


def test_what_shows_at_once_as_declared_takes_no_more_requests() -> None:
    assert set(steps(plan(section("x"), {}))) == {"x create", "x update", "x/p update"}


@pytest.mark.parametrize("site", [{}, {"docs": {**SHOWN["docs"], "published": False}}])
def test_where_nobody_sees_the_site_nothing_is_held_back(site: Things) -> None:
    """Otherwise, what has a request of its own is never sent for a new thing."""
    found = make_plan(Case({**SITE, **section("x", condition=WHEN)}, {**SITE, "site": site}).sides())
    create = next(step for step in steps(found).values() if step.id == f"{AT}/x create")
    assert "draft" not in create.body
    published = steps(found)["acme/sites/docs expose published"]
    assert f"{AT}/x update" in published.needs


def test_where_the_site_is_hidden_first_nothing_is_held_back() -> None:
    hidden = {"site": {"docs": {**SHOWN["docs"], "published": False}}}
    found = steps(plan({**hidden, **section("x", condition=WHEN)}, {}))
    assert "draft" not in found["x create"].body
    assert "acme/sites/docs withdraw published" in found["x create"].needs


# What an apply has left.


def left_as_draft(**more: Any) -> dict[str, Step]:
    live = {
        "section": {"docs/x": {"title": "X", "path": "x", "draft": True}},
        "site_space": {"docs/x/p": {"space": LiveId("space-a"), "path": "p"}},
    }
    return steps(plan(section("x", condition=WHEN), live, **more))


def test_what_was_left_as_a_draft_is_shown_by_the_request_that_sets_its_condition() -> None:
    (step,) = left_as_draft().values()
    assert step.body == {"condition": WHEN, "draft": False}


def test_what_somebody_made_a_draft_stays_one() -> None:
    """Otherwise, what somebody has made a draft is shown."""
    base = {**SITE, **section("x")}
    (step,) = left_as_draft(base=base).values()
    assert step.body == {"condition": WHEN}


def test_what_was_left_as_a_draft_stays_one_while_what_hides_its_child_is_not_selected() -> None:
    """Otherwise, a part is shown whose child, which is not selected, is to be hidden and is not yet."""
    live = {
        "section": {"docs/x": {"title": "Exx", "path": "x", "draft": True}},
        "site_space": {"docs/x/p": {"space": LiveId("space-a"), "path": "p"}},
    }
    sides = Case({**SITE, **section("x", {"hidden": True})}, {**SITE, **live}).sides()
    assert "x expose draft" in steps(make_plan(sides))
    part = replace(sides, options=Options(exclude=("sites/docs/structure/x/p",)))
    assert set(steps(make_plan(part))) == {"x update"}


# What is changed.


def test_what_is_hidden_is_hidden_before_anything_is_put_into_it() -> None:
    """Otherwise, what is to be hidden is changed with the other fields, while everybody sees it."""
    group = {"section_group": {"docs/g": {"title": "G", "draft": True}}}
    wanted = {**group, **section("x", group=Case(SITE).ref("section_group", "docs/g"))}
    found = steps(plan(wanted, {"section_group": {"docs/g": {"title": "G", "draft": False}}}))
    assert f"{AT}/g withdraw draft" in found["x create"].needs


def test_what_goes_up_is_last_and_what_comes_down_is_first() -> None:
    live = {
        "section": {"docs/x": {"title": "X", "path": "x", "draft": True}},
        "site_space": {"docs/x/p": {"space": LiveId("space-a"), "path": "p"}},
    }
    found = steps(plan(section("x", {"space": ref("b"), "hidden": True}, draft=False), live))
    assert f"{AT}/x/p withdraw hidden" in found["x/p update"].needs
    assert f"{AT}/x/p update" in found["x expose draft"].needs


def test_what_is_shown_inside_of_what_goes_into_something_hidden_is_shown_afterwards() -> None:
    group = {"section_group": {"docs/g": {"title": "G", "draft": True}}}
    live = {
        **group,
        "section": {"docs/x": {"title": "X", "path": "x", "group": None}},
        "site_space": {"docs/x/p": {"space": LiveId("space-a"), "path": "p", "draft": True}},
    }
    into = Case({**SITE, **group}).ref("section_group", "docs/g")
    found = steps(plan({**group, **section("x", {"draft": False}, group=into)}, live))
    assert f"{AT}/x place" in found["x/p expose draft"].needs


def test_a_hidden_group_is_deleted_when_what_was_in_it_is_hidden_itself() -> None:
    """Otherwise, what lay in a hidden group is seen before it is hidden itself."""
    live = {
        "section_group": {"docs/g": {"title": "G", "draft": True}},
        "section": {"docs/x": {"title": "X", "path": "x", "group": LiveId("section_group-docs-g")}},
        "site_space": {"docs/x/p": {"space": LiveId("space-a"), "path": "p"}},
    }
    wanted = section("x", {"space": ref("b")}, group=None, draft=True)
    found = steps(plan(wanted, live, prune=["sites/docs/structure"]))
    assert {f"{AT}/x withdraw draft", f"{AT}/x/p update"} <= set(found["[G] delete"].needs)


def group(draft: bool) -> Things:
    return {"section_group": {"docs/g": {"title": "G", "draft": draft}}}


@pytest.mark.parametrize("new", [True, False], ids=["new", "moved"])
@pytest.mark.parametrize("shown", [True, False], ids=["shown", "hidden"])
def test_what_comes_into_a_group_is_done_before_that_is_shown_and_after_it_is_hidden(
    shown: bool, new: bool
) -> None:
    live = {} if new else section("x", {"space": LiveId("space-b")}, group=None)
    into = Case({**SITE, **group(False)}).ref("section_group", "docs/g")
    found = steps(plan({**group(not shown), **section("x", group=into)}, {**group(shown), **live}))
    coming = {"x create", "x/p update"} if new else {"x place", "x/p update"}
    for id in coming:
        step, on = ("g expose draft", f"{AT}/{id}") if shown else (id, f"{AT}/g withdraw draft")
        assert on in found[step].needs


NESTED = {"section_group": {"docs/g": {"title": "G", "draft": True}, "docs/h": {"title": "H"}}}
"""A group that is to be in a hidden one."""


def nested(name: Callable[[str], Any]) -> Things:
    outer, inner = NESTED["section_group"]["docs/g"], NESTED["section_group"]["docs/h"]
    return {"section_group": {"docs/g": outer, "docs/h": {**inner, "group": name("docs/g")}}}


WANTED = nested(lambda path: Case({**SITE, **NESTED}).ref("section_group", path))
LIVE = nested(lambda path: LiveId(f"section_group-{path.replace('/', '-')}"))


def test_nothing_is_held_back_far_inside_of_something_hidden() -> None:
    into = Case({**SITE, **NESTED}).ref("section_group", "docs/h")
    found = steps(plan({**WANTED, **section("x", group=into, condition=WHEN)}, LIVE))
    assert "draft" not in found["x create"].body


def test_what_comes_out_from_far_inside_of_something_hidden_is_as_declared_before() -> None:
    """Otherwise, what comes out of something hidden is seen before it is as declared."""
    inside = section("x", {"space": LiveId("space-b")}, group=LiveId("section_group-docs-h"))
    found = steps(plan({**WANTED, **section("x", group=None)}, {**LIVE, **inside}))
    assert f"{AT}/x/p update" in found["x place"].needs


def test_what_goes_far_into_something_hidden_is_shown_afterwards() -> None:
    """Otherwise, what goes into something hidden is shown before it is there."""
    into = Case({**SITE, **NESTED}).ref("section_group", "docs/h")
    outside = section("x", {"space": LiveId("space-a"), "draft": True}, group=None)
    found = steps(plan({**WANTED, **section("x", {"draft": False}, group=into)}, {**LIVE, **outside}))
    assert f"{AT}/x place" in found["x/p expose draft"].needs


def adaptive(on: bool) -> Things:
    return {"site": {"docs": {**SHOWN["docs"], "adaptiveContent": {"enabled": on}}}}


def test_conditions_bind_on_the_site_before_anything_that_has_one_is_there() -> None:
    wanted = {**SITE, **adaptive(True), **section("x", condition=WHEN)}
    found = steps(make_plan(Case(wanted, {**SITE, **adaptive(False)}).sides()))
    binds = "acme/sites/docs withdraw adaptiveContent"
    assert binds in found["x create"].needs
    assert binds in found["x show"].needs


def test_conditions_bind_on_the_site_until_what_has_one_is_gone() -> None:
    one, other = section("x", condition=WHEN), section("y")
    live = {kind: {**one[kind], **other[kind]} for kind in one}
    case = Case(
        {**SITE, **adaptive(False), **other},
        {**SITE, **adaptive(True), **live},
        prune=["sites/docs/structure"],
    )
    found = steps(make_plan(case.sides()))
    assert f"{AT}/[X] delete" in found["acme/sites/docs expose adaptiveContent"].needs


# Where a server cannot.


REFERENCE = load("reference")


def on_the_reference(*confirm: str, **fields: Any) -> Plan:
    return make_plan(
        Case({**SITE, **section("x", **fields)}, SITE, registry=REFERENCE, confirm=confirm).sides()
    )


def test_what_would_be_public_for_a_moment_is_listed_and_asked_about() -> None:
    """Otherwise, what is to stay hidden is public for a moment, unasked.

    Otherwise, what is public for a moment is not told.
    """
    found = on_the_reference(condition=WHEN)
    assert [item.address for item in found.exposures if item.moment] == [f"{AT}/x"]
    (refusal,) = found.refusals
    assert refusal.code == "public-for-a-moment"
    assert [answer.add for answer in refusal.answers] == ['--confirm "expose for a moment 1"']
    assert on_the_reference("expose for a moment 1", condition=WHEN).refusals == ()
    assert len(on_the_reference("expose for a moment 2", condition=WHEN).refusals) == 1


def asked(wanted: Things, site: Mapping[str, Any] = SHOWN["docs"], *confirm: str) -> list[tuple[str, str]]:
    """What would be so only for a moment when this is made, by address and field, where it is asked about."""
    sites = {**SITE, "site": {"docs": site}}
    found = make_plan(Case({**sites, **wanted}, sites, confirm=confirm).sides())
    asking = any(item.code == "public-for-a-moment" for item in found.refusals)
    return [(item.address, item.field) for item in found.exposures if item.moment and asking]


@pytest.mark.parametrize(
    ("wanted", "about"),
    [
        ({"share_link": {"docs/l": {"active": False}}}, [("acme/sites/docs/shareLinks/l", "active")]),
        ({"share_link": {"docs/l": {"active": True}}}, []),
        ({"share_link": {"docs/l": {}}}, []),
        (
            {"installation": {"i": {"space_selection": "selected"}}},
            [("acme/integrations/i", "space_selection")],
        ),
        (
            {"installation": {"i": {"space_selection": "all", "site_selection": "selected"}}},
            [("acme/integrations/i", "site_selection")],
        ),
        ({"installation": {"i": {"space_selection": "all"}}}, []),
        ({"installation": {"i": {}}}, []),
        ({"space": {**SITE["space"], "n": {"title": "N", "editMode": "locked"}}}, []),
    ],
)
def test_what_is_made_with_more_than_it_is_to_have_is_asked_about(
    wanted: Things, about: list[tuple[str, str]]
) -> None:
    """Otherwise, a new share link works for a moment although it is declared not to, unasked."""
    assert asked(wanted) == about
    assert asked(wanted, SHOWN["docs"], "expose for a moment 1") == []


def test_where_nobody_sees_the_site_a_link_may_be_active_for_a_moment() -> None:
    assert asked({"share_link": {"docs/l": {"active": False}}}, {**SHOWN["docs"], "published": False}) == []


def test_what_nobody_sees_yet_and_what_is_there_already_are_not_asked_about() -> None:
    """Otherwise, what is there already is asked about as if it were made."""
    site = {**SHOWN["docs"], "agentsContext": "excluded"}
    new = make_plan(Case({"site": {"n": site}}, {}).sides())
    less: Things = {"installation": {"i": {"space_selection": "selected"}}}
    changed = make_plan(Case(less, {"installation": {"i": {"space_selection": "all"}}}).sides())
    assert [item for found in (new, changed) for item in found.exposures if item.moment] == []


def test_what_is_ignored_is_not_asked_about() -> None:
    wanted: Things = {"installation": {"i": {"space_selection": "selected"}}}
    found = make_plan(Case(wanted, {}, ignore=["integrations/*#space_selection"]).sides())
    assert [item for item in found.exposures if item.moment] == []


def test_what_cannot_be_hidden_at_all_is_not_made() -> None:
    """Otherwise, what cannot be hidden is made for everybody to see."""
    found = on_the_reference(draft=True)
    assert found.changes == ()
    assert found.blocked[0].address == f"{AT}/x"
    assert "setting draft to true" in found.blocked[0].reason


def test_what_is_deleted_after_it_came_out_of_something_hidden_is_public_for_a_moment() -> None:
    """Otherwise, what goes is public for a moment before, unasked."""
    live = {
        "section_group": {"docs/g": {"title": "G", "draft": True}},
        "section": {"docs/x": {"title": "X", "path": "x", "group": LiveId("section_group-docs-g")}},
        "site_space": {
            "docs/x/p": {"space": LiveId("space-a"), "path": "p"},
            "docs/x/q": {"space": LiveId("space-b"), "path": "q"},
        },
    }
    group = {"section_group": {"docs/g": {"title": "G", "draft": True}}}
    found = plan({**group, **section("x", group=None)}, live, prune=["sites/docs/structure"])
    assert [item.address for item in found.exposures if item.moment] == [f"{AT}/x/[q]"]


HIDDEN = {"section_group": {"docs/g": {"title": "G", "draft": True}}}
INTO_HIDDEN = Case({**SITE, **HIDDEN}).ref("section_group", "docs/g")


def going_in(space: str, site: tuple[bool, bool] = (True, True), **place: Any) -> list[tuple[str, str]]:
    """What would be public for a moment when a section that shows `space` goes into a hidden group.

    `site`: whether it is published before, and afterwards.
    """
    outside: Things = {
        "section": {"docs/x": {"title": "X", "path": "x", "group": None}},
        "site_space": {"docs/x/p": {"space": LiveId(f"space-{space}"), "path": "p"}},
    }
    before, after = ({"site": {"docs": {**SHOWN["docs"], "published": published}}} for published in site)
    wanted = {**SITE, **after, **HIDDEN, **section("x", place, group=INTO_HIDDEN)}
    found = make_plan(Case(wanted, {**SITE, **before, **HIDDEN, **outside}).sides())
    assert [item.code for item in found.refusals] == ["public-for-a-moment"] * any(
        item.moment for item in found.exposures
    )
    return [(item.address, item.words) for item in found.exposures if item.moment]


def test_what_shows_something_else_before_it_goes_into_something_hidden_is_public_for_a_moment() -> None:
    """Otherwise, a space is public for a moment at a place that is about to be hidden, unasked."""
    words = f"public for a moment: dpsync changes the space of this object before dpsync hides {AT}/x"
    assert going_in("b") == [(f"{AT}/x/p", words)]


def test_what_only_gets_another_path_before_it_goes_into_something_hidden_shows_nothing_new() -> None:
    """Otherwise, a path that changes before something is hidden is asked about as if it showed something."""
    assert going_in("a", path="q") == []


def test_what_leads_elsewhere_before_it_goes_into_something_hidden_is_public_for_a_moment() -> None:
    """Otherwise, a link leads elsewhere for a moment before it is hidden, unasked."""

    def link(url: str, group: object) -> Things:
        fields = {"title": "L", "url": f"https://{url}.example", "group": group}
        return {**HIDDEN, "external_link": {"docs/l": fields}}

    found = plan(link("b", INTO_HIDDEN), link("a", None))
    words = f"public for a moment: dpsync changes the url of this object before dpsync hides {AT}/l"
    assert [(item.address, item.words) for item in found.exposures if item.moment] == [(f"{AT}/l", words)]


@pytest.mark.parametrize("site", [(False, False), (True, False), (False, True)])
def test_where_nobody_sees_the_site_before_or_afterwards_nothing_is_public_for_a_moment(
    site: tuple[bool, bool],
) -> None:
    """Otherwise, where nobody sees the site, everything that moves in it is asked about."""
    assert going_in("b", site) == []


def test_what_leads_to_something_hidden_until_that_has_come_out_of_it_is_asked_about() -> None:
    """Otherwise, a redirect leads people for a moment to what was hidden so far, unasked.

    Otherwise, that a redirect shows what is hidden for a moment is not asked about.
    """

    def lead(to: object) -> Things:
        return {"redirect": {"docs/old": {"destination": {"kind": "site-section", "siteSectionId": to}}}}

    live = {
        "section": {"docs/x": {"title": "X", "path": "x", "group": LiveId("section_group-docs-g")}},
        "site_space": {"docs/x/p": {"space": LiveId("space-a"), "path": "p"}},
    }
    here, there = section("x", group=None), section("n")
    both: Things = {kind: {**here[kind], **there[kind]} for kind in here}
    new = Case({**SITE, **both}).ref("section", "docs/n")
    found = plan({**HIDDEN, **both, **lead(new)}, {**HIDDEN, **live, **lead(LiveId("section-docs-x"))})
    assert [(item.address, item.words) for item in found.exposures if item.moment] == [
        (
            "acme/sites/docs/redirects/old",
            f"public for a moment: dpsync changes this object after {AT}/x becomes visible",
        )
    ]


def test_what_is_changed_before_it_comes_out_of_something_hidden_is_not_asked_about() -> None:
    """Otherwise, what is changed while it is hidden is asked about."""
    live = {
        "section": {"docs/x": {"title": "X", "path": "x", "group": LiveId("section_group-docs-g")}},
        "site_space": {"docs/x/p": {"space": LiveId("space-b"), "path": "p"}},
    }
    found = plan({**HIDDEN, **section("x", group=None)}, {**HIDDEN, **live})
    assert [item for item in found.exposures if item.moment] == []
