"""Without prune nothing goes: what nobody declares stays where it is and is listed."""

from __future__ import annotations

from .laws import law, plan_of, said
from .organizations import Draw, Fields
from .platform import Platform, case
from .states import ids


@law(40)
def test_apply_without_prune_deletes_no_objects(platform: Platform, draw: Draw) -> None:
    made = case(draw, size=draw.number(1, 5))
    made.configuration["policy"]["prune"] = []
    for organization in made.configuration["organizations"].values():
        without_empty(organization)
    platform.start(made)
    before = ids(platform.state())
    session = platform.session(made.configuration)
    planned = plan_of(platform, session)

    report = platform.apply(session, planned)

    assert report.complete, said(report)
    assert before <= ids(platform.state())
    assert not [method for method, _, _ in platform.writes() if method == "DELETE"]
    assert platform.apply(session).writes == 0


@law(30)
def test_apply_deletes_only_in_pruned_lists(platform: Platform, draw: Draw) -> None:
    made = case(draw, size=draw.number(1, 5))
    organizations = made.configuration["organizations"].values()
    for organization in organizations:
        without_empty(organization)
    # Members are taken away only with what they own: a team without an owner is refused.
    owning = ["teams", "teams/*/members"]
    people = [[*owning, "members"]] if all("teams" in one for one in organizations) else []
    chosen = draw.some([[place] for place in owning] + [*people, ["sites/*/structure"]])
    pruned = sorted({place for places in chosen for place in places})
    made.configuration["policy"]["prune"] = pruned
    platform.start(made)
    session = platform.session(made.configuration)
    planned = plan_of(platform, session)

    report = platform.apply(session, planned)

    assert report.complete, said(report)
    words = {"members" if word == "teams/*/members" else word.split("/")[-1] for word in pruned}
    deletes = [change.address.split("/") for change in planned.plan.changes if change.action == "delete"]
    assert all(words & set(segments) for segments in deletes)
    assert platform.apply(session).writes == 0


@law(30)
def test_deletions_above_limits_need_confirmed_count(platform: Platform, draw: Draw) -> None:
    made = case(draw, size=draw.number(1, 5))
    made.configuration["policy"]["limits"] = {"deletes": 0, "percent": 0}
    platform.start(made)
    session = platform.session(made.configuration)
    number = plan_of(platform, platform.session(unlimited(made.configuration))).plan.deletes

    plain, right, wrong = (
        platform.plan(session, *confirm).plan
        for confirm in ((), (f"delete {number}",), (f"delete {number + 1}",))
    )

    assert plain.can_apply == (number == 0)
    assert wrong.refusals == plain.refusals
    assert right.can_apply


def unlimited(configuration: Fields) -> Fields:
    policy = {name: value for name, value in configuration["policy"].items() if name != "limits"}
    limits = {"deletes": 100_000, "percent": 100_000}
    return {**configuration, "policy": policy | {"limits": limits}}


def without_empty(organization: Fields) -> None:
    """Remove empty places, which mean nothing without `prune` and are refused."""
    for name in ("teams", "collections", "spaces", "sites"):
        if organization.get(name) == {}:
            del organization[name]
    for site in organization.get("sites", {}).values():
        if site.get("structure") == []:
            del site["structure"]
