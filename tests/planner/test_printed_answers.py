"""The `--confirm` answers that one plan prints, given together, confirm every deletion of content."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from dpsync.model.desired import Limits
from dpsync.model.ids import RecordedLine
from dpsync.model.plan import Plan
from dpsync.model.values import LiveId
from dpsync.planner.answers import DELETE, answer_in_flag
from dpsync.planner.plan import make_plan
from dpsync.planner.sides import Options, Sides
from tests.soak import examples

from .stages import Case, Things

KINDS = ("team", "collection", "space", "site", "section", "site_space")
NAMED = Case({"space": {key: {} for key in "ab"}})


def printed_answers(plan: Plan) -> list[str]:
    ways = (way.add for refusal in plan.refusals for way in refusal.answers)
    return [answer for way in ways if (answer := answer_in_flag(way)) is not None]


def plan_with_answers(sides: Sides, *answers: str) -> Plan:
    return make_plan(replace(sides, options=Options(answers)))


def with_base_lines(sides: Sides, lines: Mapping[tuple[str, str], tuple[str, str]]) -> Sides:
    """Return `sides` with lines in the ids file of the git base.

    Each item of `lines` has the kind and path of a live object, and the kind and path of its earlier entry.
    """
    case = Case({"site": {"docs": {}, "help": {}}})
    found = {}
    for (kind, path), (_, entry) in lines.items():
        address = case.address(kind, entry)
        found[address] = RecordedLine(address, f"{kind}-{path.replace('/', '-')}")
    records = replace(sides.snapshot.recorded_ids, base_lines=found)
    return replace(sides, snapshot=replace(sides.snapshot, recorded_ids=records))


def test_apply_accepts_all_printed_confirm_flags_together() -> None:
    """Otherwise, the answers to one question make those to the other one wrong."""
    tree: Things = {
        "site": {"docs": {"title": "Docs"}},
        "section": {"docs/a": {"title": "A", "path": "a"}},
        "site_space": {"docs/a/p": {"space": LiveId("space-a"), "path": "p"}},
    }
    spaces = {"a": {"title": "A"}}
    live = {**tree, "space": {**spaces, "old": {"title": "Old"}}}
    case = Case({"space": spaces, "site": {}}, live, prune=["spaces", "sites"], agreed=False)
    sides = with_base_lines(case.sides(), {("site", "docs"): ("site", "docs")})
    plan = plan_with_answers(sides)
    assert sorted(refusal.code for refusal in plan.refusals) == ["content", "passed-over"]
    answers = printed_answers(plan)
    assert answers == ["delete acme/sites/[Docs]", "delete acme/spaces/[Old]"]
    assert plan_with_answers(sides, *answers).can_apply
    assert printed_answers(plan_with_answers(sides, answers[0])) == answers[1:]


def test_confirm_restructure_also_confirms_deleted_navigation_content() -> None:
    """The answer about the navigation names it."""
    spaces = {"a": {"title": "A"}}
    wanted: Things = {
        "space": spaces,
        "site": {"docs": {"title": "Docs"}},
        "site_space": {"docs/q": {"space": NAMED.ref("space", "a"), "path": "q"}},
    }
    live: Things = {
        "space": {**spaces, "old": {"title": "Old"}},
        "site": {"docs": {"title": "Docs"}},
        "section": {"docs/x": {"title": "X", "path": "x"}},
        "site_space": {"docs/x/p": {"space": LiveId("space-a"), "path": "p"}},
    }
    sides = Case(wanted, live, prune=["spaces", "sites/*/structure"], agreed=False).sides()
    plan = plan_with_answers(sides)
    assert sorted(refusal.code for refusal in plan.refusals) == ["content", "restructure"]
    assert sorted(printed_answers(plan)) == ["delete acme/spaces/[Old]", "restructure acme/sites/docs"]
    assert plan_with_answers(sides, *printed_answers(plan)).can_apply


@pytest.mark.parametrize("seed", range(examples(60, 3000)))
def test_printed_confirm_flags_confirm_all_deletions(seed: int) -> None:
    """Otherwise, dpsync refuses a run even if the user gives all printed answers."""
    sides = random_sides(Random(seed))
    answers = printed_answers(plan_with_answers(sides))
    left = [
        answer for answer in printed_answers(plan_with_answers(sides, *answers)) if answer.startswith(DELETE)
    ]
    assert left == [], f"after {answers}"


def random_sides(random: Random) -> Sides:
    """Return random live objects and entries, with prune patterns and earlier lines of the ids file."""
    sides: dict[str, dict[str, dict[str, Any]]] = {"live": {}, "wanted": {}}
    for things in sides.values():
        things.update({kind: {} for kind in KINDS})
        things["space"] |= {key: {"title": key.upper()} for key in "ab"}
    paths = [("space", key, {"title": f"Space {key}"}) for key in "cdefg"[: random.randint(0, 5)]]
    paths += [("team", key, {"title": f"Team {key}"}) for key in "xy"[: random.randint(0, 2)]]
    paths += [("collection", key, {"title": f"Collection {key}"}) for key in "xy"[: random.randint(0, 2)]]
    sites = ["docs", "help"][: random.randint(0, 2)]
    paths += [("site", key, {"title": key.title(), "basename": key}) for key in sites]
    for kind, path, fields in paths:
        for side in random.choice([("live", "wanted"), ("live",), ("wanted",)]):
            sides[side][kind][path] = fields
            if kind == "site":
                add_random_navigation(random, sides[side], path, declared=side == "wanted")
    live, wanted = sides["live"], sides["wanted"]
    both = [(kind, path) for kind in KINDS[:-1] for path in live[kind] if path in wanted[kind]]
    prune = random.sample(["spaces", "teams", "collections", "sites", "sites/*/structure"], 4)
    lines = [one for one in both if random.random() < 0.7]
    case = Case(wanted, live, prune=prune, limits=Limits(1000, 1000), lines=lines, agreed=False)
    before = {}
    removed = [(kind, path) for kind in KINDS[:-1] for path in live[kind] if path not in wanted[kind]]
    for kind, path in removed:
        beside = [one for one in lines if one[0] == kind and parent_path(one[1]) == parent_path(path)]
        if random.random() < 0.4:
            before[kind, path] = random.choice([*beside, (kind, path)])
    return with_base_lines(case.sides(), before)


def parent_path(path: str) -> str:
    return path.rpartition("/")[0]


def add_random_navigation(
    random: Random, things: dict[str, dict[str, Any]], site: str, declared: bool
) -> None:
    """Add a random navigation to a site: sections with a space each, or a single space without sections."""

    def place() -> dict[str, Any]:
        key = random.choice("ab")
        return {"space": NAMED.ref("space", key) if declared else LiveId(f"space-{key}"), "path": "p"}

    if random.random() < 0.7:
        for key in random.sample("xyz", random.randint(1, 3)):
            things["section"][f"{site}/{key}"] = {"title": key, "path": key}
            things["site_space"][f"{site}/{key}/p"] = place()
    else:
        things["site_space"][f"{site}/p"] = place()
