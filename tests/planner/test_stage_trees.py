"""Navigations, from plain values: one request at a time, what is made along, and a root of another kind."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest
from msgspec.structs import replace

from dpsync.kinds.registry import build_registry
from dpsync.model.change import Change
from dpsync.model.snapshot import Identity, Match, MatchedBy
from dpsync.model.values import LiveId
from dpsync.planner.decide import decide
from dpsync.planner.deletions import INSIDE_DELETED, Cascade, find_cascade
from dpsync.planner.plan import make_plan
from dpsync.planner.sides import Options, Sides
from dpsync.planner.stepset import PlannedSteps

from .stages import ACME, Case, Things, before

TREE = ACME.child("sites", "docs", "structure")
AGREED = "restructure acme/sites/docs"
NAMES = Case({"space": {key: {} for key in "xyz"}})
SPACES = {key: {"title": key} for key in "xyz"}


def files(*spaces: str, **kinds: dict[str, dict[str, Any]]) -> Things:
    """One site and its navigation as the files have it. `space` is what a place shows."""
    places = {
        path: {**fields, "space": NAMES.ref("space", fields["space"])}
        for path, fields in kinds.pop("site_space", {}).items()
    }
    return {
        "space": {key: SPACES[key] for key in spaces or "xyz"}, "site": {"docs": {"title": "Docs"}},
        "site_space": places, **kinds,
    }  # fmt: skip


def platform(*spaces: str, **kinds: dict[str, dict[str, Any]]) -> Things:
    """Return the same objects as the platform has them."""
    places = {
        path: {**fields, "space": LiveId(f"space-{fields['space']}")}
        for path, fields in kinds.pop("site_space", {}).items()
    }
    return {
        "space": {key: SPACES[key] for key in spaces or "xyz"}, "site": {"docs": {"title": "Docs"}},
        "site_space": places, **kinds,
    }  # fmt: skip


def one_at_a_time(steps: PlannedSteps, ids: list[str]) -> bool:
    """Whether of any two steps one waits for the other."""
    waits: dict[str, set[str]] = {}

    def above(id: str) -> set[str]:
        if id not in waits:
            direct = steps.edges.needs(id) | steps.edges.follows(id)
            waits[id] = direct.union(*(above(other) for other in direct))
        return waits[id]

    return all(one in above(other) or other in above(one) for one, other in combinations(ids, 2))


SECTIONS = {f"docs/{key}": {"title": key, "path": key} for key in "abc"}
FOUR = {f"docs/{key}": {"title": key, "path": key} for key in "abcd"}
SHOWN = {f"docs/{key}/p": {"space": space, "path": "p"} for key, space in zip("abc", "xyz", strict=True)}


def renamed(**paths: str) -> dict[str, dict[str, Any]]:
    return {path: {**fields, "path": paths.get(path[-1], path[-1])} for path, fields in SECTIONS.items()}


@pytest.mark.parametrize(
    ("sections", "more"),
    [
        (renamed(a="b", b="a"), {}),
        (renamed(a="b", b="c", c="a"), {}),
        (renamed(a="b", b="n"), {}),
        (dict(reversed(renamed(a="b", b="a").items())), {}),
        (
            {**renamed(a="n"), "docs/d": {"title": "d", "path": "a"}},
            {"docs/d/p": {"space": "x", "path": "q"}},
        ),
    ],
    ids=["a pair", "a ring", "a chain", "a pair in another order", "a new one takes the path"],
)
def test_navigation_steps_of_one_site_are_sequential(
    sections: dict[str, dict[str, Any]], more: dict[str, dict[str, Any]]
) -> None:
    wanted = files(section=sections, site_space={**SHOWN, **more})
    steps, _ = Case(wanted, platform(section=SECTIONS, site_space=SHOWN)).lanes()
    inside = [step.id for step in steps.drafts.steps_below(TREE)]
    assert len(inside) > 1
    assert one_at_a_time(steps, inside)


def test_navigation_steps_freeing_paths_are_sequential() -> None:
    """Two pairs exchange their paths: of each pair one steps aside, and nothing else says when."""
    shown = {f"docs/{key}/p": {"space": "x", "path": "p"} for key in "abcd"}
    swapped = {f"docs/{key}": {"title": key, "path": path} for key, path in zip("abcd", "badc", strict=True)}
    live = platform(section=FOUR, site_space=shown)
    steps, _ = Case(files(section=swapped, site_space=shown), live).lanes()
    assert [step.phase for step in steps.drafts.steps.values()].count("free") == 2
    assert one_at_a_time(steps, list(steps.drafts.steps))


def test_site_space_may_reuse_sibling_section_path() -> None:
    """A place may have the path that a section beside it has, and nobody waits for that."""
    places = {"docs/a/p": {"space": "x", "path": "b"}}
    live = platform(section=SECTIONS, site_space={**SHOWN, "docs/a/p": {"space": "x", "path": "p"}})
    plan = make_plan(Case(files(section=SECTIONS, site_space={**SHOWN, **places}), live).sides())
    assert plan.refusals == ()
    assert [(change.address, [step.id for step in change.steps]) for change in plan.changes] == [
        ("acme/sites/docs/structure/a/p", ["acme/sites/docs/structure/a/p update"])
    ]


def changed(plan: Any) -> dict[str, Change]:
    return {change.address.removeprefix("acme/sites/docs/structure/"): change for change in plan.changes}


@pytest.mark.parametrize("path", [{}, {"path": "p"}])
def test_new_site_space_is_separate_change(path: dict[str, str]) -> None:
    """Otherwise, what is made along with its section has no id, and nothing in it can be made."""
    wanted = files(section={"docs/a": {"title": "a"}}, site_space={"docs/a/p": {"space": "x", **path}})
    found = changed(make_plan(Case(wanted, platform()).sides()))
    assert {address: change.action for address, change in found.items()} == {"a": "create", "a/p": "create"}
    assert [step.verb for step in found["a/p"].steps] == (["update"] if path else [])
    assert [gives.address for gives in found["a"].steps[0].gives] == [f"{TREE}/a", f"{TREE}/a/p"]


def test_section_receiving_new_site_space_is_not_deleted() -> None:
    """Otherwise, a section that gets a new place is said to go."""
    live = platform(
        "x", "y", section={"docs/a": SECTIONS["docs/a"]}, site_space={"docs/a/p": SHOWN["docs/a/p"]}
    )
    for place, along in [({}, {"a", "a/[p]"}), ({"docs/a/q": {"space": "y", "path": "q"}}, {"a/[p]"})]:
        wanted = files("y", section={"docs/a": SECTIONS["docs/a"]}, site_space=place)
        cascade = (case := Case(wanted, live, prune=["spaces"])).decisions().deletions.cascade
        names = case.sides().names
        gone = {str(names.address(one)).removeprefix(f"{TREE}/") for one in cascade.objects}
        assert gone == along


# Another kind of root.

ROOT = {f"docs/{key}": {"space": key, "path": key} for key in "xy"}
TWO = {
    "section": {"docs/a": {"title": "a"}, "docs/b": {"title": "b"}},
    "site_space": {"docs/a/p": {"space": "x"}, "docs/b/p": {"space": "z"}},
}


def test_restructure_creates_least_dependent_section_first() -> None:
    case = Case(files(**TWO), platform(site_space=ROOT), confirm=[AGREED])
    assert case.decisions().blocking.created_first == {TREE: TREE.child("b")}
    both = {**TWO, "site_space": {"docs/a/p": {"space": "x"}, "docs/b/p": {"space": "y"}}}
    case = Case(files(**both), platform(site_space=ROOT), confirm=[AGREED])
    assert case.decisions().blocking.created_first == {TREE: TREE.child("a")}


def sections_live(**redirect: Any) -> Things:
    return platform(section=SECTIONS, site_space=SHOWN, redirect=redirect)


TO_A = {"destination": {"kind": "site-section", "siteSectionId": LiveId("section-docs-a")}}
ELSEWHERE = {"destination": {"kind": "external", "url": "https://a.example"}}


@pytest.mark.parametrize(("live", "held"), [(TO_A, True), (ELSEWHERE, False)])
def test_redirect_into_old_navigation_is_blocked_until_restructured(live: dict[str, Any], held: bool) -> None:
    """Otherwise, a redirect into the old navigation is changed too early, and deleted with that navigation.

    Otherwise, a redirect with another destination waits for the new navigation, too.

    Otherwise, what leads elsewhere today waits for the new navigation, too.
    """
    case = Case(confirm=[AGREED])
    case.wanted = files(site_space=ROOT)
    to_new = {"destination": {"kind": "site-space", "siteSpaceId": case.ref("site_space", "docs/x")}}
    case.wanted = {**case.wanted, "redirect": {"docs/old": to_new}}
    case.live = sections_live(**{"docs/old": live})
    redirect = case.address("redirect", "docs/old")
    assert case.decisions().blocking.is_entry_blocked(redirect) is held
    assert (redirect in case.decisions().restructuring.owners_of_replaced_targets) is held


def test_redirect_to_external_url_is_independent_of_restructure() -> None:
    """Otherwise, what leads out of the old navigation waits for the new one."""
    case = Case(confirm=[AGREED])
    case.wanted = {**files(site_space=ROOT), "redirect": {"docs/old": ELSEWHERE}}
    case.live = sections_live(**{"docs/old": TO_A})
    assert case.decisions().restructuring.owners_of_replaced_targets == {}


@pytest.mark.parametrize(
    ("by", "idle"),
    [
        (MatchedBy.SAME_CONTENTS, []),
        (MatchedBy.ONLY_OBJECT_IN_PLACE, [AGREED]),
        (MatchedBy.FIRST_NATURAL_KEY, [AGREED]),
    ],
)
def test_confirm_restructure_is_needed_during_match_by_contents(by: MatchedBy, idle: list[str]) -> None:
    """Otherwise, an answer that has served counts as one that is still needed.

    Otherwise, the answer is refused as idle while something is recognised by its content.
    """
    both = {"section": SECTIONS, "site_space": SHOWN}
    sides = Case(files(**both), platform(**both), confirm=[AGREED]).sides()
    matches = {
        address: Match(match.id, MatchedBy.FIRST_NATURAL_KEY)
        for address, match in sides.snapshot.matches.items()
    }
    matches[TREE.child("a")] = Match("section-docs-a", by)
    sides = Sides(sides.registry, sides.desired, replace(sides.snapshot, matches=matches), sides.options)
    asked = decide(sides).requested_answers
    assert [str(answer) for answer in sides.answers.unneeded_answers(asked)] == idle


def test_restructure_creates_new_navigation_after_old() -> None:
    """Otherwise, the old navigation is not gone when the new one is built."""
    live = platform(section=SECTIONS, site_space=SHOWN)
    steps = Case(files(site_space=ROOT), live, confirm=[AGREED], prune=["sites/*/structure"]).steps()
    old = [step.id for step in steps.drafts.steps.values() if step.phase == "clear"]
    new = [step.id for step in steps.drafts.steps.values() if step.verb == "create"]
    assert (len(old), len(new)) == (3, 2)
    assert all(before(steps, one, other) for one in old for other in new)


@pytest.mark.parametrize(
    ("wanted", "live", "words"),
    [
        (TWO, {"site_space": ROOT}, "from spaces to sections"),
        ({"site_space": ROOT}, {"section": SECTIONS, "site_space": SHOWN},
         "from sections to spaces"),
    ],
)  # fmt: skip
def test_navigation_type_change_needs_confirmation(
    wanted: dict[str, Any], live: dict[str, Any], words: str
) -> None:
    """Otherwise, towards sections a restructuring is always refused.

    Otherwise, towards spaces a restructuring is refused since there is no section to begin with.
    """
    for confirm, codes in [([], ["restructure"]), ([AGREED], [])]:
        plan = make_plan(Case(files(**wanted), platform(**live), confirm=confirm).sides())
        assert [item.code for item in plan.refusals] == codes
        assert all(words in item.message for item in plan.refusals)


def test_automatically_created_section_matches_entry_with_its_space() -> None:
    """Of two new entries the one that is to hold the space that lies in it; nobody else.

    Otherwise, what no entry wants ends the run in an error of the program.
    Otherwise, a section that the platform made and nobody wants stays.
    Otherwise, what the platform made becomes an entry that wants nothing of what is in it.
    Otherwise, what the platform made becomes any entry of its kind.
    """
    live = platform(
        section={"docs/z": {"title": "Docs"}}, site_space={"docs/z/p": {"space": "x", "path": "x"}}
    )
    for inside, pins in [("x", {TREE.child("a"): "section-docs-z"}), ("y", {})]:
        places = {"docs/a/p": {"space": inside}, "docs/b/p": {"space": "z"}}
        case = Case(files(section=TWO["section"], site_space=places), live, confirm=[AGREED])
        found = case.decisions().restructuring
        assert found.recognized_ids == pins
        assert found.leftover_sections == (() if pins else (("section", "section-docs-z"),))


# Flags that one of several always has.


@pytest.mark.parametrize(
    ("flags", "blocked"),
    [
        ({"a": False, "b": False}, [f"{TREE}/a#default"]),
        ({"a": False, "b": True}, []),
        ({"a": False}, []),
        ({}, []),
    ],
)
@pytest.mark.parametrize("made", [True, False])
def test_default_false_is_blocked_without_other_default_candidate(
    flags: dict[str, bool], blocked: list[str], made: bool
) -> None:
    """Whether they are all new, or the one that has it is to give it up."""
    sections = {
        path: {**fields, **({"default": flags[path[-1]]} if path[-1] in flags else {})}
        for path, fields in TWO["section"].items()
    }
    there = {path: {**fields, "default": path == "docs/a"} for path, fields in TWO["section"].items()}
    live = platform() if made else platform(section=there, site_space=TWO["site_space"])
    case = Case(files(section=sections, site_space=TWO["site_space"]), live)
    if not made and flags == {"a": False}:
        blocked = [f"{TREE}/a#default"]  # nobody else is said to have it instead
    assert [item.address for item in case.decisions().blocking.reported()] == blocked


@pytest.mark.parametrize("ignore", [["sites/docs/structure/b"], []])
def test_ignored_section_does_not_become_default(ignore: list[str]) -> None:
    sections = {path: {**fields, "default": False} for path, fields in TWO["section"].items()}
    case = Case(files(section=sections, site_space=TWO["site_space"]), platform(), ignore=ignore)
    noted = [
        item.address for item in case.decisions().blocking.reported() if item.address.endswith("#default")
    ]
    assert noted == [f"{TREE}/a#default"]


def test_unsupported_group_move_names_target_position() -> None:
    """A server without the call that orders groups.

    Otherwise, what no request moves is passed over in silence.
    Otherwise, what is to be the first is told to be moved behind nothing.
    """
    groups = {f"docs/{key}": {"title": key} for key in "abc"}
    live = {"site": {"docs": {"title": "Docs"}}, "section_group": groups}
    for order, told in [("bca", f"after {TREE}/c"), ("cab", f"before {TREE}/a")]:
        wanted = {**live, "section_group": {f"docs/{key}": groups[f"docs/{key}"] for key in order}}
        _, lanes = Case(wanted, live, registry=build_registry("reference")).lanes()
        (item,) = lanes.order_unsupported
        assert item.todo.startswith(f"move the object {told} in GitBook")


def test_ignored_sibling_does_not_cause_moves() -> None:
    """Otherwise, what the policy ignores is moved."""
    links = {f"docs/{key}": {"title": key, "url": "https://x"} for key in "abc"}
    site = {"site": {"docs": {"title": "Docs"}}}
    live = {path: links[path] for path in ("docs/b", "docs/a", "docs/c")}
    case = Case({**site, "external_link": links}, {**site, "external_link": live})
    assert len(case.lanes()[1].moves) == 1
    for key in "ab":
        case.ignore = [f"sites/docs/structure/{key}"]
        assert case.lanes()[1].moves == ()


@pytest.mark.parametrize(("shown", "proposed"), [("x", True), ("y", False)])
def test_partly_similar_section_is_candidate_with_equal_space(shown: str, proposed: bool) -> None:
    wanted = files(
        section={"docs/g": {"title": "Product documentation"}}, site_space={"docs/g/p": {"space": "x"}}
    )
    live = platform(section={"docs/z": {"title": "Product docs"}}, site_space={"docs/z/p": {"space": shown}})
    asked = [item.address for item in make_plan(Case(wanted, live).sides()).refusals]
    assert asked == ([f"{TREE}/g"] if proposed else [])


@pytest.mark.parametrize(
    ("there", "base", "words"),
    [
        ({"space": "x", "path": "p"}, False, "if you moved acme/sites/docs/structure/b/[p]: "),
        ({"space": "x", "path": "q"}, False, None),
        ({"space": "y", "path": "p"}, False, None),
        (
            {"space": "x", "path": "q"},
            True,
            "GitBook cannot change the section of this object. dpsync therefore creates a new object, and "
            "acme",
        ),
    ],
)
def test_site_space_moved_between_sections_gets_note(
    there: dict[str, Any], base: bool, words: str | None
) -> None:
    """The base tells it of anything, and without a base only what has every natural key does.

    Otherwise, anything new is told to be perhaps something else that was moved.
    Otherwise, what has another name counts as something that was moved.
    """
    sections = {f"docs/{key}": SECTIONS[f"docs/{key}"] for key in "ab"}
    shown = {"docs/a/z": {"space": "z", "path": "z"}, "docs/b/z": {"space": "z", "path": "z"}}
    wanted = files(section=sections, site_space={**shown, "docs/a/p": {"space": "x", "path": "p"}})
    live = platform(section=sections, site_space={**shown, "docs/b/old": there})
    earlier = files(section=sections, site_space={**shown, "docs/b/old": there})
    plan = make_plan(Case(wanted, live, base=earlier if base else None).sides())
    told = [note.text for note in plan.notes if note.address == f"{TREE}/a/p"]
    assert [text.startswith(words) for text in told if words] == ([True] if words else [])
    assert bool(told) is (words is not None)


def test_site_space_without_path_gets_no_note() -> None:
    """Otherwise, what declares no natural key ends the run in an error of the program."""
    sections = {f"docs/{key}": SECTIONS[f"docs/{key}"] for key in "ab"}
    shown = {"docs/a/z": {"space": "z", "path": "z"}, "docs/b/z": {"space": "z", "path": "z"}}
    wanted = files(section=sections, site_space={**shown, "docs/a/p": {"space": "x"}})
    live = platform(section=sections, site_space={**shown, "docs/b/old": {"space": "x", "path": "p"}})
    plan = make_plan(Case(wanted, live).sides())
    assert [note.text for note in plan.notes if note.address == f"{TREE}/a/p"] == []


def test_redirect_to_blocked_section_is_blocked() -> None:
    """Otherwise, what stands behind a thing in the alphabet counts as being in it."""
    case = Case(confirm=[AGREED])
    case.wanted = files(**TWO)
    to = {key: case.ref("section", f"docs/{key}") for key in "ab"}
    leads = {key: {"kind": "site-section", "siteSectionId": to[key]} for key in "ab"}
    case.wanted = {**case.wanted, "redirect": {f"docs/{key}": {"destination": leads[key]} for key in "ab"}}
    case.live = platform(site_space=ROOT)
    blocked = [item.address.removeprefix("acme/sites/docs/") for item in case.decisions().blocking.reported()]
    assert blocked == ["redirects/a", "structure/a", "structure/a/p", "structure/b/p"]


def test_restructure_ignores_other_sites() -> None:
    """Neither one that is made, nor one that nobody answered for, nor one that is restructured.

    Otherwise, what the platform made becomes an entry, or goes, although nobody agreed to it.
    Otherwise, a site that is not made yet ends the run in an error of the program.
    Otherwise, behind a site that nobody answered for no other one is settled.
    Otherwise, behind a site that is not made yet no other one is settled.
    Otherwise, behind a site that is still to change no other one is settled.
    Otherwise, what the platform made in one site becomes an entry of another one.
    """
    made, quiet, changing, other = names = ("docs-a", "docs-b", "docs-c", "docs-d")
    sites = {key: {"title": key} for key in names}
    wanted = files(
        section={f"{key}/a": {"title": "a"} for key in names},
        site_space={f"{key}/a/p": {"space": "x"} for key in names},
    )
    live = platform(
        section={f"{key}/z": {"title": key} for key in (quiet, other)},
        site_space={
            f"{changing}/x": {"space": "x"},
            **{f"{key}/z/p": {"space": "x"} for key in (quiet, other)},
        },
    )
    case = Case({**wanted, "site": sites}, {**live, "site": {key: sites[key] for key in names[1:]}})
    case.confirm = [f"restructure acme/sites/{key}" for key in (made, changing, other)]
    pins = case.decisions().restructuring.recognized_ids
    assert pins == {case.address("section", f"{other}/a"): f"section-{other}-z"}


@pytest.mark.parametrize("select", [("sites/docs-a/structure",), ("sites/docs-b/structure/a",), ()])
def test_restructure_question_covers_only_selected_sites(select: tuple[str, ...]) -> None:
    """Otherwise, a navigation outside of the selected part is asked about, and built anew with the answer.

    Otherwise, a run without a selection ends in an error of the program.
    """
    names = ("docs-a", "docs-b")
    sites = {key: {"title": key} for key in names}
    wanted = files(
        section={f"{key}/a": {"title": "a"} for key in names},
        site_space={f"{key}/a/p": {"space": "x"} for key in names},
    )
    live = platform(site_space={f"{key}/x": {"space": "x"} for key in names})
    sides = Case({**wanted, "site": sites}, {**live, "site": sites}).sides()
    plan = make_plan(replace(sides, options=Options(select=select)))
    refused = [item.address for item in plan.refusals if item.code == "restructure"]
    assert refused == [f"acme/sites/{key}" for key in names if any(key in one for one in select or names)]


def test_automatic_section_without_entry_is_deleted() -> None:
    """Behind the sections that are declared, too.

    Otherwise, a section that the platform made and nobody wants stays, beside the one that was built.
    Otherwise, behind the first section that is declared nothing is left over.
    """
    live = platform(
        section={"docs/a": {"title": "a"}, "docs/z": {"title": "Docs"}},
        site_space={"docs/a/p": {"space": "x"}, "docs/z/p": {"space": "y"}},
    )
    wanted = files(section={"docs/a": {"title": "a"}}, site_space={"docs/a/p": {"space": "x"}})
    case = Case(wanted, live, confirm=[AGREED])
    assert case.decisions().restructuring.leftover_sections == (("section", "section-docs-z"),)
    assert list(case.decisions().deletions.roots) == [("section", "section-docs-z")]


def test_restructure_keeps_declared_or_renamed_section() -> None:
    """Otherwise, a section of an entry counts as left over, and is deleted.

    Otherwise, a section that somebody made, with a title of its own, is deleted as left over.
    """
    live = platform(
        section={"docs/a": {"title": "Docs"}, "docs/z": {"title": "Of somebody"}},
        site_space={"docs/a/p": {"space": "x"}, "docs/z/p": {"space": "y"}},
    )
    wanted = files(section={"docs/a": {"title": "Docs"}}, site_space={"docs/a/p": {"space": "x"}})
    assert Case(wanted, live, confirm=[AGREED]).decisions().restructuring.leftover_sections == ()


def test_restructure_to_sections_keeps_site_published() -> None:
    """Otherwise, a site is hidden although its navigation only gets sections."""
    seen = {"site": {"docs": {"title": "Docs", "published": True}}}
    case = Case({**files(**TWO), **seen}, {**platform(site_space=ROOT), **seen}, confirm=[AGREED])
    assert [step.verb for step in case.steps().drafts.steps.values()] == ["create"]


def test_no_delete_option_keeps_automatic_section_without_entry() -> None:
    """Otherwise, what is left over of a new navigation is deleted in spite of --no-delete."""
    live = platform(
        section={"docs/a": {"title": "a"}, "docs/z": {"title": "Docs"}},
        site_space={"docs/a/p": {"space": "x"}, "docs/z/p": {"space": "y"}},
    )
    wanted = files(section={"docs/a": {"title": "a"}}, site_space={"docs/a/p": {"space": "x"}})
    sides = Case(wanted, live, confirm=[AGREED]).sides()
    assert dict(decide(replace(sides, options=Options((AGREED,), delete=False))).deletions.roots) == {}


def test_unanswered_restructure_does_not_prevent_other_deletions() -> None:
    case = Case({**files(**TWO), "team": {}}, {**platform(site_space=ROOT), "team": {"t": {"title": "T"}}})
    case.confirm, case.prune = [AGREED], ["teams", "sites/*/structure"]
    assert list(case.decisions().deletions.roots) == [("team", "team-t")]


def test_cascade_reports_directly_deleted_objects_nested_in_others() -> None:
    case = Case({}, {
        "site": {"d": {"title": "D"}},
        "section": {"d/k": {"title": "K", "path": "k"}},
        "site_space": {"d/k/p": {"path": "p", "space": LiveId("s")}},
    })  # fmt: skip
    site, section, place = ("site", "site-d"), ("section", "section-d-k"), ("site_space", "site_space-d-k-p")

    def found(*roots: Identity) -> Cascade:
        return find_cascade(case.names(), roots, lambda *_: False, lambda _: False)

    assert found(site, section, place).redundant_roots == {section: {site}, place: {section}}
    assert found(site, section, place).objects == {}
    assert found(section, place).redundant_roots == {place: {section}}
    assert found(site).objects == dict.fromkeys([section, place], INSIDE_DELETED)


def test_deleting_saml_provider_lists_no_cleared_default_team() -> None:
    """A provider whose default team goes: it loses that, unless it goes, too."""
    case = Case(
        {}, {"team": {"a": {"title": "A"}}, "saml": {"s": {"label": "S", "defaultTeam": LiveId("team-a")}}}
    )
    for roots, lost in [(["team-a"], 1), (["team-a", "saml-s"], 0)]:
        going = [(id.partition("-")[0], id) for id in roots]
        assert (
            len(find_cascade(case.names(), going, lambda *_: False, lambda _: False).cleared_fields) == lost
        )
