"""What a line of the ids file said until now is deleted only by its name."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from dpsync.model.address import Pattern
from dpsync.model.ids import RecordedLine
from dpsync.model.plan import Plan
from dpsync.model.question import Refusal
from dpsync.planner.answers import answer_in_flag
from dpsync.planner.plan import make_plan
from dpsync.planner.sides import Sides

from .lab import REGISTRY
from .stages import Case, Things
from .test_key_and_name_at_once import KINDS, PLACES, things


def rebound(kind: str, *confirm: str, line: bool = True, before: bool = True) -> Sides:
    """Return sides in which the line of the entry "alpha" named "billing" in the base, with prune."""
    path, key = PLACES.get(kind, ""), REGISTRY[kind].key
    wanted, live = things(kind, ["Alpha"]), things(kind, ["Alpha", "Billing"])
    known = [("site", "docs"), ("space", "home"), (kind, f"{path}alpha")]
    case = Case(
        wanted, live, lines=known if line else known[:2],
        prune=[f"sites/*/{key}" if path else key], confirm=confirm,
        agreed=False,
    )  # fmt: skip
    sides = case.sides()
    address = case.address(kind, f"{path}alpha")
    old = RecordedLine(address, f"{kind}-{path.replace('/', '-')}billing")
    records = replace(sides.snapshot.recorded_ids, base_lines={address: old} if before else {})
    return replace(sides, snapshot=replace(sides.snapshot, recorded_ids=records))


def asked(plan: Plan) -> list[Refusal]:
    return [item for item in plan.refusals if item.code == "passed-over"]


@pytest.mark.parametrize("kind", KINDS)
def test_deleting_object_replaced_by_new_id_needs_address(kind: str) -> None:
    """Otherwise, no answer lets go what an entry was."""
    [refusal] = asked(make_plan(rebound(kind)))
    go, back = refusal.answers
    assert go.add == f'--confirm "delete {refusal.address}"'
    assert back.add.startswith("`dpsync ids --bind ")
    assert back.add.endswith("billing`")
    assert asked(make_plan(rebound(kind, f"delete {refusal.address}"))) == []


def test_removed_policy_confirms_deleting_object_replaced_by_id() -> None:
    sides = rebound("space")
    policy = replace(
        sides.desired.policy, removed=(Pattern.parse("spaces/[Billing]", REGISTRY.pattern_words),)
    )
    assert asked(make_plan(replace(sides, loaded=replace(sides.desired, policy=policy)))) == []


def test_removed_ids_line_makes_deletion_need_address() -> None:
    [refusal] = asked(make_plan(rebound("space", line=False)))
    assert "the ids file now has no line for that entry" in refusal.message


def test_rebound_question_skips_bound_and_never_bound_objects() -> None:
    """Otherwise, what another entry is now is asked about as if it were lost."""
    assert asked(make_plan(rebound("space", before=False))) == []
    sides = rebound("space")
    lines = dict(sides.snapshot.recorded_ids.lines)
    other = Case({}).address("space", "removed")
    lines[other] = RecordedLine(other, "space-billing")  # the key was removed: its line says so still
    records = replace(sides.snapshot.recorded_ids, lines=lines)
    assert asked(make_plan(replace(sides, snapshot=replace(sides.snapshot, recorded_ids=records)))) == []


def test_rebound_section_group_deletion_can_be_confirmed() -> None:
    site: Things = {"site": {"docs": {"title": "Docs"}}}
    groups = {"docs/a": {"title": "A"}, "docs/b": {"title": "B"}}
    case = Case({**site, "section_group": {"docs/a": groups["docs/a"]}}, {**site, "section_group": groups},
                prune=["sites/*/structure"])  # fmt: skip
    sides = case.sides()
    address = case.address("section_group", "docs/a")
    records = replace(
        sides.snapshot.recorded_ids, base_lines={address: RecordedLine(address, "section_group-docs-b")}
    )
    sides = replace(sides, snapshot=replace(sides.snapshot, recorded_ids=records))
    [refusal] = asked(make_plan(sides))
    answer = answer_in_flag(refusal.answers[0].add)
    assert answer is not None
    assert make_plan(replace(sides, options=replace(sides.options, confirm=(answer,)))).can_apply
