"""Law: content whose key and name change in one commit is never silently replaced by another one.

For every kind of content that is recorded: old entries leave, with their lines or in the git base; others
come, stay, or were never declared. Whatever may be deleted or is selected, nothing is made before it is
answered. And where nothing left, nobody asks.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from dpsync.model.plan import Plan
from dpsync.planner.drift import find_drift
from dpsync.planner.plan import make_plan
from dpsync.planner.sides import Options, Sides
from tests.soak import examples

from .lab import REGISTRY
from .stages import Case, Things

KINDS = sorted(
    kind.name for kind in REGISTRY.in_dependency_order if kind.asks_before_create and kind.can_be_renamed
)
WORDS = [
    "Alpha",
    "Billing",
    "Cooking",
    "Dentist",
    "Evening",
    "Fortune",
    "Gardens",
    "Hotline",
    "Insects",
    "Jungle",
]
"""Names of which none looks like another."""
AROUND: Things = {
    "site": {"docs": {"title": "Docs", "basename": "docs"}},
    "space": {"home": {"title": "Home"}},
}
PLACES = {"section": "docs/"}


def test_content_kinds_support_rename_question_or_stable_key() -> None:
    content = {kind.name for kind in REGISTRY.in_dependency_order if kind.has_content}
    assert KINDS == ["collection", "saml", "section", "site", "space", "team"]
    assert content == {*KINDS, "translation", "installation", "openapi", "published_integration"}


def one(kind: str, word: str) -> dict[str, Any]:
    """Return the fields of an object with this name."""
    named = {REGISTRY[kind].title_field: word}
    return {**named, "path": word.lower()} if kind == "section" else named


def things(kind: str, words: list[str], **more: Any) -> Things:
    path = PLACES.get(kind, "")
    mine = {f"{path}{word.lower()}": {**one(kind, word), **more} for word in words}
    inside = {f"{above}/it": {"path": "it"} for above in mine} if kind == "section" else {}
    return {**AROUND, kind: {**AROUND.get(kind, {}), **mine}, "site_space": inside}


History = tuple[str, list[str], list[str], list[str], list[str]]


@st.composite
def histories(draw: st.DrawFn) -> History:
    """Draw a kind, and the names of removed, new, unchanged and undeclared objects."""
    words = draw(st.permutations(WORDS))
    leave, come = draw(st.integers(1, 2)), draw(st.integers(1, 3))
    stay, strange = draw(st.integers(0, 2)), draw(st.integers(0, 2))
    ends = (0, leave, leave + come, leave + come + stay, leave + come + stay + strange)
    groups = [list(words[start:end]) for start, end in pairwise(ends)]
    return draw(st.sampled_from(KINDS)), groups[0], groups[1], groups[2], groups[3]


def sides(kind: str, wanted: Things, live: Things, known: list[str], how: str, prune: bool) -> Sides:
    path = PLACES.get(kind, "")
    key = REGISTRY[kind].key
    around = [("site", "docs"), ("space", "home")]
    lines = [*around, *((kind, f"{path}{word.lower()}") for word in known)] if how != "base" else []
    case = Case(
        wanted, live, lines=lines, prune=[f"sites/*/{key}" if path else key] if prune else [],
        base=things(kind, known) if how != "lines" else None,
    )  # fmt: skip
    return case.sides()


def made(plan: Plan, kind: str) -> list[str]:
    return [change.address for change in plan.changes if change.kind == kind and change.action == "create"]


@settings(max_examples=examples(60, 3000))
@given(
    history=histories(), how=st.sampled_from(["lines", "base", "both"]), prune=st.booleans(), data=st.data()
)
def test_changing_key_and_title_together_asks_about_rename(
    history: History,
    how: str,
    prune: bool,
    data: st.DataObject,
) -> None:
    kind, leave, come, stay, strange = history
    live = things(kind, [*leave, *stay, *strange])
    both = sides(kind, things(kind, [*come, *stay]), live, [*leave, *stay], how, prune)
    new = sorted(str(address) for address in both.entries if address.segments[-1] in map(str.lower, come))
    selected = data.draw(st.sampled_from([(), *((one,) for one in new)]))
    options = Options(select=selected, delete=data.draw(st.booleans()))
    plan = make_plan(replace(both, options=options))
    asked = [item for item in plan.refusals if item.code == "unclear"]
    place = f"{kind}-{PLACES.get(kind, '').replace('/', '-')}"
    gone = {f"{place}{word.lower()}" for word in leave}
    (item,) = asked
    assert {one.id for one in item.candidates} == gone
    number = len(selected) or len(new)
    (answer,) = [one.add for one in item.answers if '--confirm "new ' in one.add]
    assert (f"new {number} " in answer) == (number > 1)
    previously = [one.add for one in item.answers if one.add.startswith(("previously: ", "id: "))]
    assert len(previously) == len(gone)


@settings(max_examples=examples(40, 2000))
@given(history=histories(), how=st.sampled_from(["lines", "base", "both"]), prune=st.booleans())
def test_drift_and_plan_list_same_rename_candidates(history: History, how: str, prune: bool) -> None:
    kind, leave, come, stay, strange = history
    live = things(kind, [*leave, *stay, *strange])
    both = sides(kind, things(kind, [*come, *stay]), live, [*leave, *stay], how, prune)
    plan = make_plan(both)
    (asked,) = [{one.id for one in item.candidates} for item in plan.refusals if item.code == "unclear"]
    found = [{one.id for one in item.renamed} for item in find_drift(both, plan).found if item.renamed]
    assert found == [asked] * len(come)


@settings(max_examples=examples(40, 2000))
@given(history=histories(), how=st.sampled_from(["lines", "base", "both"]), prune=st.booleans())
def test_entries_marked_new_are_created_without_rename_question(
    history: History, how: str, prune: bool
) -> None:
    kind, leave, come, stay, strange = history
    old, new = things(kind, stay), things(kind, come, new=True)
    wanted = {name: {**old[name], **new[name]} for name in old}
    live = things(kind, [*leave, *stay, *strange])
    plan = make_plan(sides(kind, wanted, live, [*leave, *stay], how, prune))
    assert [item for item in plan.refusals if item.code == "unclear"] == []
    assert len(made(plan, kind)) == len(come)


@settings(max_examples=examples(40, 2000))
@given(history=histories(), how=st.sampled_from(["lines", "base", "both"]))
def test_new_entries_without_removals_need_no_question(history: History, how: str) -> None:
    """Otherwise, where nobody has renamed anything, every new entry of a place is asked about."""
    kind, leave, come, stay, strange = history
    declared = [*leave, *stay]
    live = things(kind, [*declared, *strange])
    plan = make_plan(sides(kind, things(kind, [*declared, *come]), live, declared, how, False))
    assert plan.can_apply, plan.refusals
    assert len(made(plan, kind)) == len(come)


@pytest.mark.parametrize("base", [True, False])
def test_rename_question_ignores_other_sites(base: bool) -> None:
    """A section stays in its site: no answer could make it the one of another site.

    Otherwise, a navigation that is empty counts as one of another kind.
    """
    sites: Things = {"site": {"a": {"title": "A", "basename": "a"}, "b": {"title": "B", "basename": "b"}}}
    before = {**sites, "section": {"a/old": one("section", "Alpha")}}
    inside = {"b/new/it": {"path": "it"}}
    wanted = {**sites, "section": {"b/new": one("section", "Billing")}, "site_space": inside}
    lines = [] if base else [("section", "a/old")]
    assert make_plan(Case(wanted, before, base=before if base else None, lines=lines).sides()).can_apply
