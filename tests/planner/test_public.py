"""What hides a thing is there before the thing is seen; what shows it comes last. As requests of a plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from msgspec.structs import replace

from dpsync.kinds.registry import build_registry
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
    """Return a section with one site space."""
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
def test_draft_object_is_created_as_draft(kind: str, key: str, fields: dict[str, Any]) -> None:
    found = plan({kind: {key: {**fields, "draft": True}}}, {})
    step, *more = [step for change in found.changes for step in change.steps]
    assert step.body["draft"] is True
    assert more == []


def test_declared_draft_section_is_never_shown() -> None:
    found = steps(plan(section("x", draft=True), {}))
    assert found["x create"].body["draft"] is True
    assert [step.body.get("draft") for step in found.values() if step.verb == "update"] == [None, None]


def test_conditional_section_is_created_as_draft() -> None:
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
def test_restricted_site_space_is_created_as_draft(fields: dict[str, Any]) -> None:
    live = section("x")
    live = {"section": live["section"], "site_space": {"docs/x/p": {"space": LiveId("space-a"), "path": "p"}}}
    wanted = section("x")
    more = {**wanted["site_space"], "docs/x/q": {"space": ref("b"), "path": "q", **fields}}
    found = steps(plan({**wanted, "site_space": more}, live))
    assert found["x/q create"].body["draft"] is True
    assert found["x/q show"].body == {"path": "q", **fields, "draft": False}


@pytest.mark.parametrize("fields", [{"hidden": True}, {"condition": WHEN}])
def test_site_space_is_hidden_before_showing_new_section(fields: dict[str, Any]) -> None:
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


def test_all_steps_creating_hidden_section_are_named_create() -> None:
    """Otherwise, a report of an apply calls the creation of a section an update."""
    assert set(steps(plan(section("x"), {}))) == {"x create", "x create (second request)", "x/p create"}


@pytest.mark.parametrize("site", [{}, {"docs": {**SHOWN["docs"], "published": False}}])
def test_unpublished_site_creates_section_without_draft(site: Things) -> None:
    """Otherwise, what has a request of its own is never sent for a new thing."""
    found = make_plan(Case({**SITE, **section("x", condition=WHEN)}, {**SITE, "site": site}).sides())
    create = next(step for step in steps(found).values() if step.id == f"{AT}/x create")
    assert "draft" not in create.body
    published = steps(found)["acme/sites/docs expose published"]
    assert f"{AT}/x create (second request)" in published.needs


def test_section_is_created_after_site_is_hidden() -> None:
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


def test_draft_left_by_interruption_is_shown_with_condition() -> None:
    (step,) = left_as_draft().values()
    assert step.body == {"condition": WHEN, "draft": False}


def test_draft_set_by_user_is_kept() -> None:
    """Otherwise, what somebody has made a draft is shown."""
    base = {**SITE, **section("x")}
    (step,) = left_as_draft(base=base).values()
    assert step.body == {"condition": WHEN}


def test_draft_left_by_interruption_stays_with_unselected_child() -> None:
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


def test_group_is_hidden_before_receiving_section() -> None:
    """Otherwise, what is to be hidden is changed with the other fields, while everybody sees it."""
    group = {"section_group": {"docs/g": {"title": "G", "draft": True}}}
    wanted = {**group, **section("x", group=Case(SITE).ref("section_group", "docs/g"))}
    found = steps(plan(wanted, {"section_group": {"docs/g": {"title": "G", "draft": False}}}))
    assert f"{AT}/g withdraw draft" in found["x create"].needs


def test_section_is_shown_after_its_child_is_hidden() -> None:
    live = {
        "section": {"docs/x": {"title": "X", "path": "x", "draft": True}},
        "site_space": {"docs/x/p": {"space": LiveId("space-a"), "path": "p"}},
    }
    found = steps(plan(section("x", {"space": ref("b"), "hidden": True}, draft=False), live))
    assert f"{AT}/x/p withdraw hidden" in found["x/p update"].needs
    assert f"{AT}/x/p update" in found["x expose draft"].needs


def test_site_space_is_shown_after_entering_draft_group() -> None:
    group = {"section_group": {"docs/g": {"title": "G", "draft": True}}}
    live = {
        **group,
        "section": {"docs/x": {"title": "X", "path": "x", "group": None}},
        "site_space": {"docs/x/p": {"space": LiveId("space-a"), "path": "p", "draft": True}},
    }
    into = Case({**SITE, **group}).ref("section_group", "docs/g")
    found = steps(plan({**group, **section("x", {"draft": False}, group=into)}, live))
    assert f"{AT}/x place" in found["x/p expose draft"].needs


def test_contents_are_hidden_before_draft_group_deletion() -> None:
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
def test_group_stays_hidden_while_section_moves_in(shown: bool, new: bool) -> None:
    live = {} if new else section("x", {"space": LiveId("space-b")}, group=None)
    into = Case({**SITE, **group(False)}).ref("section_group", "docs/g")
    found = steps(plan({**group(not shown), **section("x", group=into)}, {**group(shown), **live}))
    coming = {"x create", "x/p create"} if new else {"x place", "x/p update"}
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


def test_section_below_draft_group_needs_no_own_draft() -> None:
    into = Case({**SITE, **NESTED}).ref("section_group", "docs/h")
    found = steps(plan({**WANTED, **section("x", group=into, condition=WHEN)}, LIVE))
    assert "draft" not in found["x create"].body


def test_section_is_updated_before_leaving_draft_group() -> None:
    """Otherwise, what comes out of something hidden is seen before it is as declared."""
    inside = section("x", {"space": LiveId("space-b")}, group=LiveId("section_group-docs-h"))
    found = steps(plan({**WANTED, **section("x", group=None)}, {**LIVE, **inside}))
    assert f"{AT}/x/p update" in found["x place"].needs


def test_site_space_is_shown_after_entering_nested_draft() -> None:
    """Otherwise, what goes into something hidden is shown before it is there."""
    into = Case({**SITE, **NESTED}).ref("section_group", "docs/h")
    outside = section("x", {"space": LiveId("space-a"), "draft": True}, group=None)
    found = steps(plan({**WANTED, **section("x", {"draft": False}, group=into)}, {**LIVE, **outside}))
    assert f"{AT}/x place" in found["x/p expose draft"].needs


def adaptive(on: bool) -> Things:
    return {"site": {"docs": {**SHOWN["docs"], "adaptiveContent": {"enabled": on}}}}


def test_adaptive_content_is_enabled_before_conditional_section() -> None:
    wanted = {**SITE, **adaptive(True), **section("x", condition=WHEN)}
    found = steps(make_plan(Case(wanted, {**SITE, **adaptive(False)}).sides()))
    binds = "acme/sites/docs withdraw adaptiveContent"
    assert binds in found["x create"].needs
    assert binds in found["x show"].needs


def test_adaptive_content_is_disabled_after_conditional_section() -> None:
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


REFERENCE = build_registry("reference")


def on_the_reference(*confirm: str, **fields: Any) -> Plan:
    return make_plan(
        Case({**SITE, **section("x", **fields)}, SITE, registry=REFERENCE, confirm=confirm).sides()
    )


def test_transient_exposure_needs_confirmation() -> None:
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
    """Return the briefly visible fields that a plan asks about, by address and field."""
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
def test_object_temporarily_created_with_wider_access_needs_confirmation(
    wanted: Things, about: list[tuple[str, str]]
) -> None:
    """Otherwise, a new share link works for a moment although it is declared not to, unasked."""
    assert asked(wanted) == about
    assert asked(wanted, SHOWN["docs"], "expose for a moment 1") == []


def test_share_link_on_unpublished_site_needs_no_confirmation() -> None:
    assert asked({"share_link": {"docs/l": {"active": False}}}, {**SHOWN["docs"], "published": False}) == []


def test_transient_exposure_skips_hidden_and_live_objects() -> None:
    """Otherwise, what is there already is asked about as if it were made."""
    site = {**SHOWN["docs"], "agentsContext": "excluded"}
    new = make_plan(Case({"site": {"n": site}}, {}).sides())
    less: Things = {"installation": {"i": {"space_selection": "selected"}}}
    changed = make_plan(Case(less, {"installation": {"i": {"space_selection": "all"}}}).sides())
    assert [item for found in (new, changed) for item in found.exposures if item.moment] == []


def test_transient_exposure_skips_ignored_fields() -> None:
    wanted: Things = {"installation": {"i": {"space_selection": "selected"}}}
    found = make_plan(Case(wanted, {}, ignore=["integrations/*#space_selection"]).sides())
    assert [item for item in found.exposures if item.moment] == []


def test_section_without_draft_support_is_blocked() -> None:
    """Otherwise, what cannot be hidden is made for everybody to see."""
    found = on_the_reference(draft=True)
    assert found.changes == ()
    assert found.blocked[0].address == f"{AT}/x"
    assert "setting draft to true" in found.blocked[0].reason


def test_section_leaving_draft_group_exposes_child_before_deletion() -> None:
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
    """Return what is briefly public while a section that shows `space` moves into a hidden group.

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


def test_changing_shown_space_before_hiding_is_transient_exposure() -> None:
    """Otherwise, a space is public for a moment at a place that is about to be hidden, unasked."""
    words = f"public for a moment: dpsync changes the space of this object before dpsync hides {AT}/x"
    assert going_in("b") == [(f"{AT}/x/p", words)]


def test_changing_path_before_hiding_is_no_exposure() -> None:
    """Otherwise, a path that changes before something is hidden is asked about as if it showed something."""
    assert going_in("a", path="q") == []


def test_changing_url_before_hiding_is_transient_exposure() -> None:
    """Otherwise, a link leads elsewhere for a moment before it is hidden, unasked."""

    def link(url: str, group: object) -> Things:
        fields = {"title": "L", "url": f"https://{url}.example", "group": group}
        return {**HIDDEN, "external_link": {"docs/l": fields}}

    found = plan(link("b", INTO_HIDDEN), link("a", None))
    words = f"public for a moment: dpsync changes the url of this object before dpsync hides {AT}/l"
    assert [(item.address, item.words) for item in found.exposures if item.moment] == [(f"{AT}/l", words)]


@pytest.mark.parametrize("site", [(False, False), (True, False), (False, True)])
def test_unpublished_site_has_no_transient_exposure(
    site: tuple[bool, bool],
) -> None:
    """Otherwise, where nobody sees the site, everything that moves in it is asked about."""
    assert going_in("b", site) == []


def test_redirect_to_section_leaving_draft_is_transient_exposure() -> None:
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


def test_changing_section_before_leaving_draft_is_no_exposure() -> None:
    """Otherwise, what is changed while it is hidden is asked about."""
    live = {
        "section": {"docs/x": {"title": "X", "path": "x", "group": LiveId("section_group-docs-g")}},
        "site_space": {"docs/x/p": {"space": LiveId("space-b"), "path": "p"}},
    }
    found = plan({**HIDDEN, **section("x", group=None)}, {**HIDDEN, **live})
    assert [item for item in found.exposures if item.moment] == []
