"""What a plan says besides its requests, from plain values."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from dpsync.model.address import Address
from dpsync.model.desired import Unsupported
from dpsync.model.diagnostic import DiagnosticError
from dpsync.model.plan import Organization, Plan
from dpsync.model.snapshot import DeleteEvidence, Match, MatchedBy
from dpsync.model.values import LiveId, Ref
from dpsync.planner.plan import CircularPlanError, _check_cycles, make_plan
from dpsync.planner.rebound_ids import binding_lines
from dpsync.planner.sides import Options, Sides
from dpsync.planner.stepset import Edge, Edges, PlannedSteps

from .stages import ACME, SPAN, Case, Things

ONE = {"one": {"title": "One"}}
TWO = {"two": {"title": "Two"}}
TEAM_TWO = ACME.child("teams", "two")


def told(plan: Plan) -> tuple[list[str], list[str]]:
    return [item.address for item in plan.changes], [item.address for item in plan.blocked]


def test_plan_organizations_field_lists_only_organization_entries() -> None:
    plan = make_plan(Case({"team": ONE}, {"team": ONE}).sides())
    assert plan.organizations == (Organization(address="acme", id="acme"),)


def test_plan_lists_fields_of_created_and_updated_objects() -> None:
    wanted = {"title": "One", "emoji": "A"}
    for live, fields in [({}, ["title", "emoji"]), ({"one": {"title": "One"}}, ["emoji"])]:
        (change,) = make_plan(Case({"space": {"one": wanted}}, {"space": live}).sides()).changes
        assert [item.field for item in change.differences] == fields


def test_fields_of_created_object_have_label_of_create() -> None:
    new = {"title": "One", "emoji": "A"}
    for then, cause in [({"space": {}}, "edited here"), ({"space": {"one": new}}, "changed outside")]:
        (change,) = make_plan(Case({"space": {"one": new}}, since=[then]).sides()).changes
        assert {change.cause, *(item.cause for item in change.differences)} == {cause}


GROUPS = {
    "site": {"s": {"title": "S"}},
    "section_group": {"s/g": {"title": "G"}, "s/h": {"title": "H"}},
}


def test_plan_shows_group_field_only_for_live_nodes() -> None:
    inside = {"title": "N", "group": Ref(ACME.child("sites", "s", "structure", "g"))}
    other = {"title": "N", "group": LiveId("section_group-s-h")}
    for live, fields in [({}, ["title"]), ({"s/n": other}, ["group"])]:
        groups = GROUPS["section_group"]
        wanted, now = ({**GROUPS, "section_group": {**groups, **more}} for more in ({"s/n": inside}, live))
        (change,) = make_plan(Case(wanted, now).sides()).changes
        assert [item.field for item in change.differences][:1] == fields
        assert change.inside == (None if live else "acme/sites/s/structure/g")


def test_plan_omits_section_field_of_site_space() -> None:
    """A place is in its section, and its address says so.

    Otherwise, what an entry is in is shown twice, as its address and as a field.
    """
    tree = {"site": {"s": {"title": "S"}}, "section": {"s/k": {"title": "K", "path": "k"}}}
    place = {"site_space": {"s/k/p": {"path": "p", "space": LiveId("x")}}}
    (change,) = make_plan(Case({**tree, **place}, tree).sides()).changes
    assert [item.field for item in change.differences] == ["space", "path"]


def with_unread_teams(case: Case, *, delete: bool = True) -> Sides:
    """Sides on which nobody can tell what is undeclared among the teams."""
    sides = case.sides()
    unsettled = {ACME.child("teams"): Unsupported("a list may not be read", SPAN)}
    return replace(
        sides, snapshot=replace(sides.snapshot, prune_unsafe=unsettled), options=Options(delete=delete)
    )


@pytest.mark.parametrize(
    ("prune", "ignore", "delete", "blocked"),
    [
        (["teams"], [], True, ["acme/teams"]),
        ([], [], True, []),
        (["teams"], [], False, []),
        (["teams"], ["teams"], True, []),
    ],
)
def test_prune_of_unreadable_list_is_blocked(
    prune: list[str], ignore: list[str], delete: bool, blocked: list[str]
) -> None:
    """Otherwise, where nobody can tell what is undeclared, it is deleted."""
    case = Case({"team": {}}, {"team": TWO}, prune=prune, ignore=ignore)
    assert told(make_plan(with_unread_teams(case, delete=delete))) == ([], blocked)


def test_unreadable_list_allows_other_deletions() -> None:
    live = {"collection": {"c": {"title": "C"}}, "team": TWO, "space": {"s": {"title": "S"}}}
    case = Case({"collection": {}, "team": {}, "space": {}}, live, prune=["collections", "teams", "spaces"])
    plan = make_plan(with_unread_teams(case))
    assert told(plan) == (["acme/collections/[C]", "acme/spaces/[S]"], ["acme/teams"])
    sides = case.sides()
    unsettled = {ACME.child("collections"): Unsupported("a list may not be read", SPAN)}
    plan = make_plan(replace(sides, snapshot=replace(sides.snapshot, prune_unsafe=unsettled)))
    assert told(plan) == (["acme/spaces/[S]", "acme/teams/[Two]"], ["acme/collections"])


def test_unreadable_dependents_prevent_deletion() -> None:
    sides = Case({"team": {}}, {"team": {**ONE, **TWO}}, prune=["teams"]).sides()
    evidence = DeleteEvidence(unreadable_dependents={("team", "team-one"): "/orgs/acme/teams/one/members"})
    plan = make_plan(replace(sides, snapshot=replace(sides.snapshot, delete_evidence=evidence)))
    assert told(plan) == (["acme/teams/[Two]"], ["acme/teams/[One]"])
    assert "/orgs/acme/teams/one/members" in plan.blocked[0].reason


def test_selection_includes_missing_referenced_entries() -> None:
    wanted = {
        "collection": {"c": {"title": "C"}, "other": {"title": "Other"}},
        "space": {"s": {"title": "S", "collection": Ref(Address.parse("acme/collections/c"))}},
    }
    sides = replace(Case(wanted).sides(), options=Options(select=("spaces/s",)))
    assert told(make_plan(sides))[0] == ["acme/collections/c", "acme/spaces/s"]


def test_blocked_list_in_plan_has_source_position() -> None:
    plan = make_plan(with_unread_teams(Case({"team": {}}, {"team": TWO}, prune=["teams"])))
    assert plan.origins["acme/teams"].line == SPAN.line


@pytest.mark.parametrize("phase", ["withdraw", "expose"])
def test_steps_changing_visibility_fields_have_no_mutual_order(phase: str) -> None:
    """Otherwise, what shows or hides a thing is sent in any order."""
    seen = {"title": "Docs", "visibility": "public", "published": True, "basename": "a"}
    hidden = {"title": "Docs", "visibility": "unlisted", "published": False, "basename": "b"}
    wanted, live = (hidden, seen) if phase == "withdraw" else (seen, hidden)
    plan = make_plan(Case({"site": {"s": wanted}}, {"site": {"s": live}}).sides())
    needs = {step.id.removeprefix("acme/sites/s "): len(step.needs) for step in plan.changes[0].steps}
    first, last = (0, 2) if phase == "withdraw" else (1, 0)
    assert needs == {f"{phase} visibility": first, f"{phase} published": first, "update": last}


# What was removed.


def removed(plan: Plan) -> list[str]:
    return [note.address for note in plan.notes if note.text.startswith("the entry was removed")]


def test_removed_section_is_noted_once() -> None:
    """Otherwise, what was removed is told once more for each thing that was in it."""
    tree = {
        "section": {"docs/a": {"title": "A", "path": "a"}},
        "site_space": {"docs/a/p": {"space": LiveId("space-x"), "path": "p"}},
    }
    site = {"space": {"x": {"title": "X"}}, "site": {"docs": {"title": "Docs"}}}
    plan = make_plan(Case(site, {**site, **tree}, base={**site, **tree}).sides())
    assert removed(plan) == ["acme/sites/docs/structure/a"]


@pytest.mark.parametrize(
    ("select", "shown"),
    [
        ((), ["acme/teams/two"]),
        (("teams/two",), ["acme/teams/two"]),
        (("teams/[Two]",), ["acme/teams/two"]),
        (("teams/one",), []),
    ],
)
def test_removed_entry_note_respects_selection(select: tuple[str, ...], shown: list[str]) -> None:
    """Otherwise, a selection is told of what was removed elsewhere.

    Otherwise, what was removed is not told where it was selected by its title.
    """
    case = Case({"team": ONE}, {"team": {**ONE, **TWO}}, base={"team": {**ONE, **TWO}})
    assert removed(make_plan(replace(case.sides(), options=Options(select=select)))) == shown


@pytest.mark.parametrize(
    ("forget", "prune", "told"),
    [
        (["spaces/a"], [],
         ['the entry was removed, but the space "B" (space-b) is kept. '
          "To delete the space, add to policy: prune: [acme/spaces], removed: [acme/spaces/b]"]),
        (["spaces/a"], ["spaces"],
         ['policy.forget keeps the space "A". Write '
          "acme/spaces/[A~space-a] in policy.forget, because only git knows the former address"]),
        (["spaces/[A]"], ["spaces"], ['policy.forget keeps the space "A"']),
        (["spaces/[A~space-a]"], ["spaces"], ['policy.forget keeps the space "A"']),
    ],
    ids=["it stays anyway", "by its key", "by its title", "by its title and id"],
)  # fmt: skip
def test_plan_notes_removed_entry_and_forget_pattern(
    forget: list[str], prune: list[str], told: list[str]
) -> None:
    """Otherwise, a line that lasts is said not to.

    Otherwise, nobody learns that what is forgotten by its key is deleted as soon as the git base has lost its
    entry.
    Otherwise, what is forgotten is told like what is kept by chance.
    Otherwise, what nothing would delete is told as forgotten.
    """
    both: Things = {"space": {"a": {"title": "A"}, "b": {"title": "B"}}}
    plan = make_plan(Case({"space": {}}, both, base=both, forget=forget, prune=prune).sides())
    assert [
        note.text for note in plan.notes if note.text.startswith(("the entry was removed", "policy.forget"))
    ] == told


@pytest.mark.parametrize(("by", "done"), [(MatchedBy.PREVIOUSLY, 0), (MatchedBy.FIRST_NATURAL_KEY, 1)])
def test_plan_suggests_removing_unused_previously_line(by: MatchedBy, done: int) -> None:
    """Otherwise, a line without which an entry would not be found is said to be able to go."""
    case = Case({"team": {"t": {"title": "New", "previously": ("Old",)}}}, {"team": {"t": {"title": "New"}}})
    sides = case.sides()
    matches = {**sides.snapshot.matches, case.address("team", "t"): Match("team-t", by)}
    notes = make_plan(replace(sides, snapshot=replace(sides.snapshot, matches=matches))).notes
    assert len([note for note in notes if "remove this line" in note.text]) == done


def test_base_entry_uses_current_match_despite_old_title() -> None:
    """The base knows it by a title that it does not have any more."""
    case = Case({"team": TWO}, {"team": TWO}, base={"team": {"two": {"title": "Deux"}}})
    assert case.sides().names.objects_of_base_entries == {
        ACME: ("organization", "acme"),
        TEAM_TWO: ("team", "team-two"),
    }


def test_git_base_section_is_matched_by_its_space() -> None:
    """Otherwise, a section is not known by the space that it shows."""
    shown = {"docs/old/p": {"space": LiveId("space-x")}, "docs/old/q": {"space": LiveId("space-y")}}
    live = {"docs/a/p": {"space": LiveId("space-x")}, "docs/b/q": {"space": LiveId("space-y")}}
    spaces = {"space": {key: {"title": key} for key in "xy"}, "site": {"docs": {"title": "Docs"}}}
    case = Case(
        spaces,
        {**spaces, "section": {"docs/a": {"title": "T"}, "docs/b": {"title": "T"}}, "site_space": live},
        base={**spaces, "section": {"docs/old": {"title": "T"}}, "site_space": shown},
    )
    assert case.sides().names.objects_of_base_entries[case.address("section", "docs/old")] == (
        "section",
        "section-docs-a",
    )


# What is given away.


def test_transfer_with_unreadable_contents_is_refused() -> None:
    """Otherwise, what a site may show, unseen, is given away."""
    sides = Case({"space": {"s": {"title": "S"}}}, {"space": {"s": {"title": "S"}}}).sides()
    evidence = DeleteEvidence(unreadable_dependents={("space", "space-s"): "/orgs/acme/sites"})
    given = replace(
        sides.snapshot, transferred_entries=frozenset({ACME.child("spaces", "s")}), delete_evidence=evidence
    )
    assert [item.code for item in make_plan(replace(sides, snapshot=given)).refusals] == ["unseen"]


# What looks alike, what is forgotten, what is set once.


def guides(*titles: str, **more: object) -> Plan:
    live = {f"s{number}": {"title": title} for number, title in enumerate(titles)}
    return make_plan(Case({"space": {"g": {"title": "guides", **more}}}, {"space": live}).sides())


def test_rename_suggestion_uses_title_if_unique() -> None:
    assert "Renamed: add previously: Guides." in guides("Guides").refusals[0].way_out
    assert "Renamed: add previously: Guides or" in guides("Guides", "Guide s!").refusals[0].way_out
    assert "Renamed: add id: space-s0 or" in guides("Guides", "Guides").refusals[0].way_out
    assert guides("Guides", new=True).refusals == ()


def test_forgotten_child_prevents_site_deletion() -> None:
    """Otherwise, what is to be left alone goes along with what it is in."""
    live = {"site": {"docs": {"title": "Docs"}}, "share_link": {"docs/friends": {"active": True}}}
    for forget, codes in [(["sites/*/shareLinks/[friends]"], ["forgotten"]), ([], [])]:
        plan = make_plan(Case({"site": {}}, live, prune=["sites"], forget=forget).sides())
        assert [item.code for item in plan.refusals] == codes


@pytest.mark.parametrize(
    ("forget", "refused"),
    [
        ("teams/gone", ["teams/gone"]),
        ("teams/[Two]", []),
        ("teams/*", []),
        ("collections/gone", []),
    ],
)
def test_unresolvable_forget_pattern_prevents_deletions(forget: str, refused: list[str]) -> None:
    """Otherwise, what nobody can name any more is deleted although it is to be left alone."""
    live = {"team": {**ONE, **TWO}, "collection": {"c": {"title": "C"}}}
    plan = make_plan(Case({"team": {}}, live, prune=["teams"], forget=[forget]).sides())
    assert [item.address for item in plan.refusals] == refused


def test_create_only_field_change_is_refused() -> None:
    """Otherwise, a field that is set once is passed over in silence."""
    live = {"title": "Docs", "type": "basic"}
    plan = make_plan(Case({"site": {"s": {**live, "type": "premium"}}}, {"site": {"s": live}}).sides())
    assert [(item.code, item.address) for item in plan.refusals] == [("create-only", "acme/sites/s#type")]
    assert plan.changes == ()


@pytest.mark.parametrize(("state", "waiting"), [("complete", 0), ("pending", 1), ("progress", 1), (None, 0)])
def test_plan_waits_only_for_running_processing(state: str | None, waiting: int) -> None:
    live = {"slug": "shop", "processingState": state}
    case = Case({"openapi": {"shop": {"slug": "shop"}}}, {"openapi": {"shop": live}})
    assert len(make_plan(case.sides()).waiting) == waiting


def test_live_ancestors_of_entry_exclude_missing_objects() -> None:
    case = Case({"team": {**ONE, **TWO}}, {"team": ONE})
    sides, organization = case.sides(), ("organization", "acme")
    around = {
        key: sides.hierarchy.live_ancestors_and_self(sides.entries[ACME.child("teams", key)])
        for key in ("one", "two")
    }
    assert around == {"one": [("team", "team-one"), organization], "two": [organization]}
    assert sides.hierarchy.live_ancestors_and_self(sides.entries[ACME]) == [organization]


@pytest.mark.parametrize(
    ("match", "told"),
    [
        (Match("team-one", MatchedBy.FIRST_NATURAL_KEY), None),
        (Match("team-one", MatchedBy.IDS_LINE), None),
        (Match("team-one", MatchedBy.LATER_NATURAL_KEY, "title"), "later key"),
        (Match("team-one", MatchedBy.PIN), "pin"),
        (Match("team-one", MatchedBy.PREVIOUSLY), "previously"),
    ],
)
def test_plan_shows_match_reason_other_than_key(match: Match, told: str | None) -> None:
    """Otherwise, how an entry was recognised by something else than its line or key is not shown.

    Otherwise, of what was recognised otherwise than by its line or key it is not shown how.
    """
    sides = Case({"team": {"one": {"title": "Uno"}}}, {"team": ONE}).sides()
    matches = {**sides.snapshot.matches, ACME.child("teams", "one"): match}
    plan = make_plan(replace(sides, snapshot=replace(sides.snapshot, matches=matches)))
    assert [change.matched for change in plan.changes] == [told]


def test_section_without_first_site_space_is_rejected() -> None:
    """Otherwise, --select leaves out what must be there first.

    Otherwise, a section is selected without the place that it is made around.
    """
    wanted = {
        "space": {"x": {"title": "X"}},
        "site": {"docs": {"title": "Docs"}},
        "section": {"docs/a": {"title": "A"}},
        "site_space": {"docs/a/p": {"space": Ref(ACME.child("spaces", "x"))}},
    }
    live = {"space": wanted["space"], "site": wanted["site"]}
    tree = "sites/docs/structure/a"
    sides = replace(Case(wanted, live).sides(), options=Options(select=(tree,), exclude=(f"{tree}/p",)))
    with pytest.raises(DiagnosticError) as found:
        make_plan(sides)
    (wrong,) = found.value.diagnostics
    assert (wrong.code, wrong.message) == ("DP331", f"acme/{tree} needs acme/{tree}/p, which is excluded")


def test_address_must_begin_with_organization_key() -> None:
    sides = Case({"collection": {"c": {"title": "C"}}, "space": {"s": {"title": "S"}}}).sides()
    with pytest.raises(DiagnosticError) as found:
        make_plan(replace(sides, options=Options(select=("c/spaces/s",))))
    (wrong,) = found.value.diagnostics
    assert (wrong.code, wrong.message.split(" is ")[0]) == ("DP234", '"c"')


def test_selecting_published_site_omits_its_structure() -> None:
    """Otherwise, what is made public last brings along all that comes before it."""
    group = {"docs/g": {"title": "G"}}
    wanted = {
        "site": {"docs": {"title": "Docs", "published": True}},
        "section_group": {"docs/g": {"title": "New"}},
    }
    live = {"site": {"docs": {"title": "Docs", "published": False}}, "section_group": group}
    everything = make_plan(Case(wanted, live).sides())
    assert [len(step.needs) for change in everything.changes for step in change.steps] == [1, 0]
    options = Options(select=("sites/docs",), exclude=("sites/docs/structure",))
    part = make_plan(replace(Case(wanted, live).sides(), options=options))
    assert told(part)[0] == ["acme/sites/docs"]


@pytest.mark.parametrize(
    ("terms", "name"),
    [({"en": "Old", "de": "Alt"}, "[Alt]"), ({"en": "Old"}, "[Old]"), ({}, "[glossary_term-g]")],
)
def test_term_address_uses_first_available_language(terms: dict[str, str], name: str) -> None:
    """Otherwise, what has a name in several languages is called by all of them.

    Otherwise, what has a name in no language ends the run in an error of the program.
    """
    case = Case({"glossary_term": {}}, {"glossary_term": {"g": {"translations": terms}}})
    assert str(case.sides().names.address(("glossary_term", "glossary_term-g"))) == f"acme/glossary/{name}"


@pytest.mark.parametrize("only_ended", [False, True])
def test_circular_step_dependencies_raise_circular_plan_error(only_ended: bool) -> None:
    """Otherwise, steps that wait for each other are never sent, and nobody says why."""
    steps = Case({"team": {**ONE, **TWO}}).steps()
    one, two = "acme/teams/one create", "acme/teams/two create"
    _check_cycles(PlannedSteps(steps.drafts, Edges([Edge(one, two)])))
    with pytest.raises(CircularPlanError, match=r"one create.*two create|two create.*one create"):
        _check_cycles(PlannedSteps(steps.drafts, Edges([Edge(one, two), Edge(two, one, only_ended)])))


# What an entry is perhaps, and how it is made.


def group(**titles: str) -> Things:
    groups = {f"d/{key}": {"title": title} for key, title in titles.items()}
    return {"site": {"d": {"title": "D"}}, "section_group": groups}


@pytest.mark.parametrize(
    ("case", "notes"),
    [
        (Case(group(n="Designers"), group(old="Designer")), ["this entry lo"]),
        (Case(group(n="Designers"), group(old="Designer"), ignore=["sites/d/structure/n"]), []),
        (Case(group(n="Designers"), group(n="Designer")), []),
        (Case(group(n="Quite another"), group(old="Designer")), []),
        (Case(group(n="Quite another"), group(old="Designer"), lines=[("section_group", "d/old")]),
         ["the entry of \"D"]),
        (Case(group(n="Designers", old="Designer"), group(old="Designer")), []),  # that one is declared
        (Case(group(n="Designers"), group(n="Designers", old="Designer")), []),  # it is live itself
        (Case({**group(), "section_group": {"d/n": {"title": "Designers", "new": True}}},
              group(old="Designer")), []),
        # About content it is asked.
        (Case({"team": {"n": {"title": "Designers"}}}, {"team": {"old": {"title": "Designer"}}}), []),
    ],
)  # fmt: skip
def test_new_entry_resembling_live_object_is_noted(case: Case, notes: list[str]) -> None:
    """Otherwise, a new entry is said to be perhaps a renamed one whatever stands beside it.

    Otherwise, a new entry is said to be perhaps what another one declares.
    Otherwise, what is said to be new is said to be perhaps something else.
    Otherwise, what is live is said to be perhaps something else.
    Otherwise, content is proposed as a rename, and asked about as well.
    """
    found = [note.text for note in make_plan(case.sides()).notes]
    assert [text[: len(start)] for text, start in zip(found, notes, strict=True)] == notes


def test_previously_suggestion_uses_unique_title_or_fallback() -> None:
    """Otherwise, an id is advised where a name would do, in files that other environments read.

    Otherwise, a name is advised that is none.
    """
    things: Things = {"team": {"a": {"title": "A 1"}, "b": {"title": "B"}, "c": {"title": "B"}, "d": {}}}
    case = Case({"team": {"n": {"title": "N"}}}, things, lines=[("team", "c")])
    sides = case.sides()
    entry = sides.entries[case.address("team", "n")]
    lines = binding_lines(sides, entry, [("team", f"team-{key}") for key in "abcd"])
    assert lines == ['previously: "A 1"', "id: team-b", "previously: c", "id: team-d"]


def test_new_entry_replacing_live_object_is_noted() -> None:
    """Otherwise, what takes the place of something live is not told.

    Otherwise, a move into another group is sent with other fields, before the group is ready.
    """

    def section(group: Ref | LiveId) -> Things:
        return {"section": {"d/s": {"title": "S", "path": "s", "group": group}}}

    new = Ref(ACME.child("sites", "d", "structure", "n"))
    case = Case(
        {**group(n="Quite another"), **section(new)},
        {**group(old="Old"), **section(LiveId("section_group-d-old"))},
    )
    [note] = make_plan(case.sides()).notes
    assert (note.address, note.text.split(",")[0]) == (
        "acme/sites/d/structure/n",
        'this entry takes the position of "Old" (section_group-d-old)',
    )


def test_sso_member_is_added_by_id_otherwise_blocked() -> None:
    """Otherwise, somebody who is added by SSO is added without an id."""
    wanted = {"a@b": {"id": "u9", "sso": True, "role": "read"}, "c@d": {"sso": True}}
    plan = make_plan(Case({"member": wanted}, {"member": {}}).sides())
    (change,) = plan.changes
    assert [(step.method, step.path.partition("/{")[0]) for step in change.steps] == [
        ("POST", "/orgs/acme/members/u9/sso"),
        ("PATCH", "/orgs/acme/members"),
    ]
    assert change.steps[1].body == {"role": "read"}
    assert [item.address for item in plan.blocked] == ["acme/members/c@d"]


def test_plan_suggests_removing_new_line_after_creation() -> None:
    wanted = {"a": {"title": "A", "new": True}, "b": {"title": "B", "new": True}}
    notes = make_plan(Case({"team": wanted}, {"team": {"b": {"title": "B"}}}).sides()).notes
    assert [note.address for note in notes] == ["acme/teams/b#new"]
