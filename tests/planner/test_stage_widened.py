"""What the change itself lets be deleted is told beside the line of the policy. The sides are plain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from dpsync.model.address import Address, Pattern
from dpsync.model.change import Note
from dpsync.model.desired import Policy
from dpsync.model.ids import RecordedLine
from dpsync.model.plan import Plan
from dpsync.model.snapshot import RecordedIds
from dpsync.planner.plan import make_plan

from .lab import REGISTRY
from .stages import Case, Things

LIVE: Things = {"space": {"a": {"title": "A"}, "old": {"title": "Old"}}, "team": {"t": {"title": "T"}}}
KEPT: Things = {"space": {"a": {"title": "A"}}, "team": {"t": {"title": "T"}}}
OLD = "acme/spaces/[Old]"


SITE = {"title": "Docs"}


def in_a_site(sites: Mapping[str, Any], **more: Any) -> Case:
    """Return a case of a site with one live share link that has no entry any more."""
    live: Things = {"site": {"docs": SITE}, "share_link": {"docs/x": {"name": "X"}}}
    return Case(wanted={"site": sites, "share_link": {}}, live=live, base=live, **more)


def patterns(*texts: str) -> tuple[Pattern, ...]:
    return tuple(Pattern.parse(text, REGISTRY.pattern_words) for text in texts)


def notes(plan: Plan) -> list[Note]:
    """Return the notes about objects that the policy allows to delete since the base."""
    return [note for note in plan.notes if "will be deleted: " in note.text]


def told(base_policy: Mapping[str, Sequence[str]], **more: Any) -> dict[str, str]:
    """Those about spaces and teams, by what they are about."""
    case = Case(wanted=KEPT, live=LIVE, base=LIVE, base_policy=base_policy, **more)
    return {note.address: note.text for note in notes(make_plan(case.sides()))}


def test_newly_added_prune_pattern_gets_warning() -> None:
    """Otherwise, a pattern that this change adds is told as one that was there.

    Otherwise, what is declared, or stays, is told to be deleted.
    Otherwise, that this change lets something go is not told.
    """
    found = told(prune=["spaces"], base_policy={"prune": []})
    text = f"This change adds the pattern, so these unmanaged objects will be deleted: {OLD}"
    assert found == {'policy.prune "spaces"': text}


def test_equivalent_new_prune_pattern_gets_no_warning() -> None:
    """Otherwise, a line that was there already is warned of as new.

    Otherwise, patterns that were there before are warned of as new.
    """
    assert told(prune=["acme/spaces"], base_policy={"prune": ["spaces"]}) == {}


def test_new_prune_pattern_without_effect_gets_no_warning() -> None:
    assert told(prune=["spaces", "teams"], base_policy={"prune": ["spaces"]}) == {}
    assert list(told(prune=["spaces", "teams"], base_policy={"prune": ["teams"]})) == [
        'policy.prune "spaces"'
    ]


def test_prune_pattern_follows_renamed_site_key() -> None:
    """A line of the ids file still has the former key of the site."""
    sides = in_a_site({"docs": SITE}, prune=["sites/docs/shareLinks"]).sides()
    then = replace(sides.base.desired, policy=Policy(prune=patterns("sites/before/shareLinks")))
    line = RecordedLine(Address.parse("acme/sites/before"), "site-docs")
    for lines, number in (((), 1), ((line,), 0)):
        snapshot = replace(sides.snapshot, recorded_ids=RecordedIds({one.address: one for one in lines}))
        other = replace(sides, snapshot=snapshot, base=replace(sides.base, desired=then))
        assert len(notes(make_plan(other))) == number


@pytest.mark.parametrize("name", ["ignore", "forget"])
@pytest.mark.parametrize("pattern", ["spaces/old", "spaces/[Old]", "spaces/*"])
def test_removed_ignore_or_forget_pattern_gets_warning(name: str, pattern: str) -> None:
    """Otherwise, a pattern that this change takes away is told as one that does not cover a name."""
    found = told(prune=["spaces"], base_policy={name: [pattern]})
    text = f"This change removes the pattern, so these objects will be deleted: {OLD}"
    assert found == {f'policy.{name} "{pattern}"': text}


def test_ignore_pattern_whose_entry_was_removed_gets_warning() -> None:
    found = told({}, prune=["spaces"], ignore=["spaces/old"])
    text = "The pattern does not match the new names, so these objects will be deleted: "
    assert found == {'policy.ignore "spaces/old"': f"{text}{OLD}"}


def test_ignore_pattern_still_matching_gets_no_warning() -> None:
    assert told(prune=["spaces"], ignore=["spaces/[Old]"], base_policy={"ignore": ["spaces/*"]}) == {}


def test_removed_ignore_pattern_warning_includes_cascaded_deletions() -> None:
    """Otherwise, whatever goes is told as what a pattern of the base left alone."""
    case = in_a_site({}, prune=["sites"], base_policy={"ignore": ["sites/docs/shareLinks/*"]})
    (note,) = notes(make_plan(case.sides()))
    assert note.address == 'policy.ignore "sites/docs/shareLinks/*"'
    assert note.text.endswith("will be deleted: acme/sites/[Docs]/shareLinks/[X]")
    assert note.severity == "warning"


def test_policy_change_warning_omits_cascaded_children() -> None:
    """Otherwise, all that goes with a site is named before the site itself."""
    (note,) = notes(make_plan(in_a_site({}, prune=["sites"], base_policy={"ignore": ["sites/docs"]}).sides()))
    assert note.text.endswith("will be deleted: acme/sites/[Docs]")


def test_removed_ignore_pattern_of_field_gets_no_warning() -> None:
    """Otherwise, a field that the base ignored is told as if it had kept the whole."""
    assert told({"ignore": ["spaces/*#emoji"]}, prune=["spaces"]) == {}


def test_policy_change_warnings_are_absent_without_git_base() -> None:
    assert notes(make_plan(Case(wanted=KEPT, live=LIVE, prune=["spaces"]).sides())) == []
