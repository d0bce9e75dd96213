"""Who gains access by a plan, held against an oracle over random organizations, on every edition."""

from __future__ import annotations

from copy import deepcopy
from random import Random
from typing import Any

import pytest

from dpsync.model.address import Address
from dpsync.model.change import Change
from dpsync.model.plan import Plan
from dpsync.planner.access_changes import AccessFinding, access_exposures, access_findings, affects_access
from dpsync.planner.access_inputs import AccessInputs, UnlistedSpaces
from dpsync.planner.access_roles import AccessComparison, Subject
from dpsync.planner.decide import Decisions, decide
from dpsync.planner.plan import make_plan
from tests.soak import examples

from . import access_oracle as oracle
from .access_cases import sides
from .access_oracle import MEMBERS, ROLES, Pair, Place
from .stages import ACME


class Example:
    """A random plan, with everything that it says about access."""

    def __init__(self, seed: int, profile: str) -> None:
        random = Random(seed)
        self.hidden = oracle.hidden_lists(random)
        self.before = oracle.world(random)
        self.after = oracle.changed(random, self.before, self.hidden)
        if random.random() < 0.2 and not any(kind == "structure" for kind, _ in self.hidden):
            self.before = oracle.without_one(random, self.before, self.hidden)
        self.sides = sides(self.before, self.after, profile=profile, hidden=self.hidden)
        self.plan: Plan = make_plan(self.sides)
        decided: Decisions = decide(self.sides)
        changes = tuple(change for change in self.plan.changes if affects_access(decided, change))
        self.found = list(access_findings(AccessInputs(decided, changes, ACME)))
        self.gains = oracle.gains(self.before, self.after, precedence=profile == "published")

    def pairs(self, finding: AccessFinding, *, strictly: bool) -> set[Pair]:
        """Return the members and places that a finding is about.

        `strictly`: everybody else is whoever has no role on the way, also in a hidden list.
        """
        places = [
            place for key in finding.places for place in self.places(key) if place in self.before.levels
        ]
        if finding.gain is None:
            places = list(self.before.levels)
        return {
            (member, place) for place in places for member in self.members(finding.subject, place, strictly)
        }

    def places(self, key: Any) -> list[Place]:
        if isinstance(key, UnlistedSpaces):
            return [place for place in self.before.levels if place[0] == "space"]
        if isinstance(key, Address):
            kind, _, id = "/".join(key.segments[1:]).partition("s/")
            return [(kind, id)]  # type: ignore[list-item]
        kind, id = key
        return [(kind, id.removeprefix(f"{kind}-"))]

    def members(self, subject: Subject, place: Place, strictly: bool) -> set[str]:
        everybody = {member for member in MEMBERS if member in self.after.members}
        if subject.kind == "person":
            return {subject.key[1].rpartition("-")[2]}
        if subject.kind == "group":
            team = subject.key[1].removeprefix("team-")
            return (self.before.teams[team] | self.after.teams.get(team, set())) - {"ada"}
        roles = ((self.before, subject.before), (self.after, subject.after))
        found = {
            member
            for member in everybody
            if all(low <= ROLES.index(world.members[member]) <= high for world, (low, high) in roles)
        }
        if not strictly or subject.kind == "unlisted":
            return found
        return {member for member in found if not self.has_role(member, place)}

    def has_role(self, member: str, place: Place) -> bool:
        return any(
            world.given(member, around)
            for world in (self.before, self.after)
            for around in oracle.reaches(world, place)
        )

    @property
    def raised(self) -> set[str]:
        """The members who get a stronger role in the organization: the plan lists that of itself."""
        return {
            member
            for member, role in self.after.members.items()
            if ROLES.index(role) > ROLES.index(self.before.members[member])
        }


SEEDS = range(examples(300, 20000))
CHUNK = 50


@pytest.mark.parametrize("profile", ["published", "full"])
@pytest.mark.parametrize("first", [seed for seed in SEEDS if seed % CHUNK == 0])
def test_access_exposures_match_reference_implementation_on_random_organizations(
    profile: str, first: int
) -> None:
    """A member who can silently do more after an apply is what the list of exposures must prevent."""
    for seed in range(first, first + CHUNK):
        example = Example(seed, profile)
        listed = {(item.location, item.field) for item in example.plan.exposures}
        covered = {(member, place) for member in example.raised for place in example.before.levels}
        for cause, finding in example.found:
            assert (cause.change.location, cause.field) in listed, seed
            covered |= example.pairs(finding, strictly=False)
            if finding.gain is not None and finding.gain.certain:
                false = example.pairs(finding, strictly=True) - example.gains.certain
                assert false == set(), (seed, cause, finding)
        assert example.gains.possible - covered == set(), seed


def test_access_exposures_group_spaces_with_equal_access() -> None:
    """In an organization with thousands of spaces a plan must not look at each space for each member."""
    before = oracle.world(Random(1))
    api: Place = ("collection", "api")
    alike: list[Place] = [("space", str(number)) for number in range(40)]
    for place in (api, *alike):
        before.levels[place], before.inside[place] = "inherit", None if place is api else "api"
        before.people[place], before.groups[place] = {}, {}
    before.levels[api] = "read"
    after = deepcopy(before)
    after.levels[api] = "edit"
    made = sides(before, after)
    decided = decide(made)
    changes = tuple(change for change in make_plan(made).changes if affects_access(decided, change))
    found = [finding for _, finding in access_findings(AccessInputs(decided, changes, ACME))]
    assert {len(finding.places) for finding in found} == {1, 40}


def test_changes_not_affecting_access_compute_no_roles(monkeypatch: pytest.MonkeyPatch) -> None:
    """A plan of an unchanged organization must not take longer because of its roles."""
    before = oracle.world(Random(1))
    unchanged = decide(sides(before, before))
    monkeypatch.delattr(AccessInputs, "live_objects")
    assert access_exposures(unchanged, ()) == {}
    renamed = Change(address="acme/spaces/x", kind="space", action="update")
    assert access_exposures(unchanged, (renamed,)) == {}


def test_access_is_computed_once_per_equal_role(monkeypatch: pytest.MonkeyPatch) -> None:
    """A team of hundreds with one role on a site must not make each linked space cost hundreds of lookups."""
    before = oracle.world(Random(1))
    before.members |= {str(number): "read" for number in range(100)}
    before.people["site", "d"] = {str(number): "edit" for number in range(100)}
    before.links.discard(("d", "x"))
    after = deepcopy(before)
    after.links.add(("d", "x"))
    resolved: list[Subject] = []
    gain = AccessComparison.gain

    def counting(access: AccessComparison, subject: Subject, place: Any) -> Any:
        resolved.append(subject)
        return gain(access, subject, place)

    monkeypatch.setattr(AccessComparison, "gain", counting)
    make_plan(sides(before, after))
    assert len(resolved) < 20
