"""What holds content goes only where somebody named it. The sides are plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from msgspec.structs import force_setattr, replace

from dpsync.model.entries.address import Address
from dpsync.model.entries.desired import Limits
from dpsync.model.entries.git_base import Base
from dpsync.model.entries.ids import RecordedLine
from dpsync.model.entries.match import Match, MatchedBy
from dpsync.model.entries.snapshot import Records
from dpsync.model.findings.question import Refusal
from dpsync.model.plans.plan import Plan
from dpsync.planner.plan import make_plan

from .stages import Case as Staged
from .stages import Things

LIVE: Things = {"space": {"a": {"title": "A"}, "old": {"title": "Old"}}}
KEPT: Things = {"space": {"a": {"title": "A"}}}


@dataclass
class Case(Staged):
    """A case in which nobody agreed to anything."""

    wanted: Things = field(default_factory=lambda: KEPT)
    live: Things = field(default_factory=lambda: LIVE)
    prune: Sequence[str] = ("spaces",)
    agreed: bool = False

    def plan(self) -> Plan:
        return make_plan(self.sides())


def refused(case: Case) -> Refusal | None:
    found = [item for item in case.plan().refusals if item.code == "content"]
    return found[0] if found else None


def notes(case: Case) -> list[str]:
    return [item.text for item in case.plan().notes if item.address.startswith("policy.removed")]


def test_content_that_nobody_named_is_not_deleted_whatever_limits_allow() -> None:
    """Otherwise, content is deleted that nobody has named."""
    refusal = refused(Case(limits=Limits(1000, 1000)))
    assert refusal is not None
    assert (
        "1 thing with content would be deleted, and nobody has named it: acme/spaces/[Old]" in refusal.message
    )
    assert [way.add for way in refusal.answers] == [
        'removed: ["acme/spaces/[Old~space-old]"]',
        '--confirm "delete content 1"',
    ]
    assert all(way.add in refusal.way_out for way in refusal.answers)


def test_way_out_names_all_content_to_delete() -> None:
    """Otherwise, a person copies a line with "…" into the policy and looks for the other names."""
    old = {f"old{number}": {"title": f"Old {number}"} for number in range(1, 8)}
    refusal = refused(Case(live={"space": KEPT["space"] | old}))
    assert refusal is not None
    names = [f'"acme/spaces/[Old {number}~space-old{number}]"' for number in range(1, 8)]
    line = f"removed: [{', '.join(names)}]"
    assert line in refusal.way_out
    assert line in [way.add for way in refusal.answers]


BY_ITS_ADDRESS: Mapping[str, Mapping[str, Any]] = {
    "by a line without entry": {"lines": [("space", "a"), ("space", "old")]},
    "by the git base": {"base": LIVE},
    "by a commit before it": {"base": KEPT, "earlier": [KEPT, LIVE]},
}


@pytest.mark.parametrize("known", BY_ITS_ADDRESS)
def test_it_goes_where_its_former_address_is_named(known: str) -> None:
    """Otherwise, what the policy names is asked about all the same."""
    facts = BY_ITS_ADDRESS[known]
    assert refused(Case(removed=["spaces/old"], **facts)) is None
    assert refused(Case(removed=["acme/spaces/old"], **facts)) is None
    assert refused(Case(removed=["acme/spaces/other"], **facts)) is not None


@pytest.mark.parametrize("known", ["by a line without entry", "by the git base"])
def test_the_line_that_is_asked_for_has_the_former_address_and_is_enough(known: str) -> None:
    facts = BY_ITS_ADDRESS[known]
    refusal = refused(Case(**facts))
    assert refusal is not None
    assert refusal.answers[0].add == "removed: [acme/spaces/old]"
    assert refused(Case(removed=["acme/spaces/old"], **facts)) is None


@pytest.mark.parametrize("name", ["[Old]", "[Old~space-old]"])
def test_it_goes_where_its_title_is_named(name: str) -> None:
    assert refused(Case(removed=[f"spaces/{name}"])) is None


def test_a_title_with_an_id_names_it_under_that_title_only() -> None:
    assert refused(Case(removed=["spaces/[Older~space-old]"])) is not None


def test_a_title_that_several_bear_names_none_of_them() -> None:
    twins: Things = {"space": {"a": {"title": "A"}, "x": {"title": "Old"}, "y": {"title": "Old"}}}
    case = Case(live=twins, removed=["spaces/[Old]"])
    refusal = refused(case)
    assert refusal is not None
    assert refusal.answers[-1].add == '--confirm "delete content 2"'


BETA = Address.root("beta")


def in_two_organizations(pattern: str) -> list[str]:
    """The spaces that a line lets go, where each of two organizations had one at that address."""
    sides = Case(removed=[pattern], lines=[("space", "old")]).sides()
    place, (old, acme) = BETA.child("spaces"), (("space", "space-old"), ("organization", "acme"))
    objects, resources = sides.snapshot.objects, sides.desired.resources
    beta = replace(objects[acme], id="beta")
    other = replace(objects[old], id="space-other", parent=beta.identity)
    root = replace(resources[Address.root("acme")], address=BETA, key="beta")
    lines = (*sides.snapshot.records.lines.values(), RecordedLine(place.child("old"), "space-other"))
    snapshot = replace(
        sides.snapshot,
        objects={**objects, beta.identity: beta, other.identity: other},
        matches={**sides.snapshot.matches, BETA: Match("beta", MatchedBy.PIN)},
        scopes={**sides.snapshot.scopes, place: (other.identity,)},
        records=Records({line.address: line for line in lines}),
    )
    both = replace(
        sides, declared=replace(sides.desired, resources={**resources, BETA: root}), snapshot=snapshot
    )
    return [id for kind, id in (old, other.identity) if both.policy.removed((kind, id))]


def test_an_address_that_two_organizations_have_names_neither_of_them() -> None:
    """Otherwise, a line that names two things lets both go."""
    assert in_two_organizations("spaces/old") == []
    assert in_two_organizations("acme/spaces/old") == ["space-old"]
    assert in_two_organizations("beta/spaces/old") == ["space-other"]


def test_a_line_that_names_another_object_now_names_that_one() -> None:
    """The address was another thing's in the base; what the file of now says counts."""
    live: Things = {"space": {"a": {"title": "A"}, "old": {"title": "Old"}, "new": {"title": "New"}}}
    case = Case(live=live, base={"space": {"old": {"title": "New"}}}, removed=["spaces/old"])
    case.lines = [("space", "old")]
    refusal = refused(case)
    assert refusal is not None
    assert "acme/spaces/[New]" in refusal.message
    assert "acme/spaces/[Old]" not in refusal.message


def test_a_line_whose_object_is_gone_names_nothing_else() -> None:
    """Not what bears its name today."""
    case = Case(base=LIVE, removed=["spaces/old"], lines=[("space", "old")])
    case.live = {"space": {"a": {"title": "A"}, "again": {"title": "Old"}}}
    assert refused(case) is not None
    assert notes(case) == ["no object has this name any more: remove this line"]


def test_who_names_a_thing_names_what_lies_in_it() -> None:
    """Otherwise, who names a thing is asked about each thing in it."""
    site = {"title": "Docs", "basename": "docs"}
    nodes = {"docs/g": {"title": "G", "path": "g"}}
    case = Case(
        {}, {"site": {"docs": site}, "section": nodes}, prune=["sites"], base={"site": {"docs": site}}
    )
    case.wanted = {"site": {"other": {"title": "Other", "basename": "other"}}}
    assert refused(case) is not None
    case.removed = ["sites/docs"]
    assert refused(case) is None


def test_a_translation_that_would_go_with_its_space_must_be_named_itself() -> None:
    case = Case(prune=["spaces", "translations"], base=LIVE, removed=["spaces/old"])
    case.live = {**LIVE, "translation": {"fr": {"language": "fr", "source": case.ref("space", "old")}}}
    case.wanted = {**KEPT, "translation": {}}
    going = [one.address for one in case.plan().changes if one.action == "delete"]
    assert "acme/spaces/[Old]" in going
    refusal = refused(case)
    assert refusal is None or "acme/translations" in refusal.message


@pytest.mark.parametrize(("number", "agreed"), [(2, True), (1, False), (3, False)])
def test_one_answer_names_how_many_there_are(number: int, agreed: bool) -> None:
    """Otherwise, an answer for one thing lets all go."""
    live: Things = {
        "space": {"a": {"title": "A"}, "x": {"title": "X"}, "y": {"title": "Y"}, "z": {"title": "Z"}}
    }
    case = Case(live=live, removed=["spaces/[Z]"], confirm=[f"delete content {number}"])
    assert (refused(case) is None) == agreed


def test_the_answer_about_the_limits_is_another_one() -> None:
    case = Case(limits=Limits(0, 0), confirm=["delete 1"])
    assert [item.code for item in case.plan().refusals] == ["content"]
    case.confirm = ["delete content 1"]
    assert [item.code for item in case.plan().refusals] == ["limits"]
    case.confirm = ["delete content 1", "delete 1"]
    assert case.plan().can_apply


def test_what_holds_no_content_is_deleted_without_being_named() -> None:
    member = {"member": {"bo": {"role": "read"}}}
    case = Case({}, member, prune=["members"])
    assert refused(case) is None


def test_what_was_never_declared_is_said_to_be_so() -> None:
    refusal = refused(Case(base=KEPT))
    assert refusal is not None
    assert "neither the ids file nor the git base has an entry for it" in refusal.message
    refusal = refused(Case(base=LIVE))
    assert refusal is not None
    assert "neither" not in refusal.message


@pytest.mark.parametrize(
    ("case", "note"),
    [
        (Case(live=KEPT, removed=["spaces/old"]), "no object has this name any more: remove this line"),
        (Case(removed=["spaces/[Old]"], prune=()), "not deleted: no prune pattern covers its list"),
        (
            Case(
                {"space": {"new": {"title": "N", "id": "space-old"}}}, LIVE, removed=["spaces/old"], base=LIVE
            ),
            "",
        ),
    ],
)
def test_a_line_whose_work_is_done_is_told(case: Case, note: str) -> None:
    """Otherwise, what lies in something that is gone counts as something that stays."""
    assert [text for text in notes(case) if text == note] == ([note] if note else [])


def test_the_past_is_looked_at_only_where_something_goes() -> None:
    class Unread:
        def __iter__(self) -> Any:
            raise AssertionError("nobody asked for it")

    sides = Case(live=KEPT, base=KEPT, protect=["spaces/a"]).sides()
    base: Base = sides.base
    force_setattr(base, "earlier", Unread())
    assert make_plan(sides).can_apply


RAISED = [
    (Limits(0, 100), Limits(9, 100), False),
    (Limits(9, 0), Limits(9, 100), False),
    (Limits(9, 100), Limits(0, 100), False),
    (Limits(9, 100), Limits(9, 100), True),
]


@pytest.mark.parametrize(("before", "now", "allowed"), RAISED)
def test_limits_that_the_same_change_raises_hold_as_the_base_has_them(
    before: Limits, now: Limits, allowed: bool
) -> None:
    """Otherwise, who needs more deletes raises the limit in the same change.

    Otherwise, who needs more deletes raises the limit in the same change, also of the share.
    """
    more = {f"s{number}": {"title": f"S{number}"} for number in range(18)}
    live: Things = {"space": LIVE["space"] | more}
    wanted: Things = {"space": KEPT["space"] | more}
    case = Case(wanted, live, base=live, limits=now, base_limits=before, removed=["spaces/old"])
    refusals = [item for item in case.plan().refusals if item.code == "limits"]
    assert (refusals == []) == allowed
    if not allowed and now != Limits(0, 100):
        assert "by the base: that this change raises them does not count yet" in refusals[0].message
