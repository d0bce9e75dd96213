"""How many things will be gone is one number: every output leads with the one that the answer wants."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from dpsync.api import Options
from dpsync.client.client import ReadClient
from dpsync.github.runner import outputs
from dpsync.model.desired import Limits
from dpsync.model.drift import Drift
from dpsync.model.plan import DeleteCount, Plan
from dpsync.model.values import LiveId
from dpsync.planner.drift import find_drift
from dpsync.planner.plan import make_plan
from dpsync.render import plan_words
from dpsync.render.formats import FormatOptions, render
from dpsync.render.json_conversion import plan_document
from dpsync.render.markdown import render_markdown
from dpsync.render.paint import Paint
from dpsync.render.question_words import delete_question
from dpsync.render.resolutions import resolutions_of
from dpsync.render.view_text import render_plan
from dpsync.render.views import make_view
from tests.direct import reading
from tests.live.answers import Tape
from tests.soak import examples

from .lab import Lab, section, site, spaces
from .stages import Case, Things

PLAIN = Paint(on=False)
NOTHING = Limits(0, 0)


@pytest.mark.parametrize(
    ("cascaded", "said"),
    [
        (0, ""),
        (1, "deleting this object also deletes 1 other object"),
        (2, "deleting this object also deletes 2 other objects"),
    ],
)
def test_delete_count_message_explains_cascaded_objects(cascaded: int, said: str) -> None:
    found = DeleteCount(1, cascaded)
    assert (found.total, found.cascade_text) == (1 + cascaded, said)


# Random plans.


def random_case(random: Random) -> Case:
    """Teams with people in them and sites with sections, of which some are not declared any more."""
    live: dict[str, dict[str, dict[str, Any]]] = {
        "member": {}, "team": {}, "team_member": {}, "site": {}, "section": {},
        "space": {"s": {"title": "S"}}, "site_space": {},
    }  # fmt: skip
    for n in range(random.randrange(5)):
        live["team"][f"t{n}"] = {"title": f"Team {n}"}
        for name in random.sample(["ada", "bo", "cy"], random.randrange(4)):
            live["member"][f"{name}@acme.example"] = {"role": "read"}
            live["team_member"][f"t{n}/{name}@acme.example"] = {"role": "member"}
    for n in range(random.randrange(3)):
        live["site"][f"d{n}"] = {"title": f"Site {n}", "basename": f"d{n}"}
        for m in range(random.randrange(1, 4)):
            live["section"][f"d{n}/k{m}"] = {"title": f"Section {m}", "path": f"k{m}"}
            live["site_space"][f"d{n}/k{m}/p"] = {"space": LiveId("space-s"), "path": "p"}
    stays = {path for kind in ("team", "site") for path in live[kind] if random.random() < 0.5}
    gone = {path for path in live["section"] if random.random() < 0.3}
    wanted = {
        kind: {
            path: fields
            for path, fields in things.items()
            if kind in ("member", "space")
            or (path.split("/")[0] in stays and not any(f"{path}/".startswith(f"{one}/") for one in gone))
        }
        for kind, things in live.items()
    }
    prune = ["teams", "teams/*/members", "sites", "sites/*/structure"]
    new_team = {"title": "New", "new": True}
    new: Things = {"team": {**wanted["team"], "new": new_team}} if random.random() < 0.5 else {}
    outside = {path for path in live["team"] if path not in stays and random.random() < 0.5}
    known = {
        kind: {path: fields for path, fields in things.items() if path.split("/")[0] not in outside}
        for kind, things in live.items()
    }
    base = known if random.random() < 0.5 else None
    return Case({**wanted, **new}, live, prune=prune, limits=NOTHING, base=base)


def answered(plan: Plan) -> int | None:
    """Return the number that the question about limits asks for, or None without a question."""
    asked = {found for item in plan.refusals if item.code == "limits" for found in _confirm(item.way_out)}
    assert len(asked) <= 1
    return asked.pop() if asked else None


def _confirm(text: str) -> list[int]:
    return [int(found) for found in re.findall(r'--confirm "delete (\d+)"', text)]


def leading(plan: Plan) -> Iterator[tuple[str, str]]:
    """By output, the number of deletes that it leads with."""
    document = plan_document(plan)
    texts = {
        "text": render_plan(plan, PLAIN),
        "quiet": render_plan(plan, PLAIN, quiet=True),
        "verdict": " ".join(plan_words.plan_verdict(plan)),
        "GitHub's summary output": outputs(document, 0)["summary"],
        "html": html.unescape(render(document, "html", FormatOptions())),
        "junit": html.unescape(render(document, "junit", FormatOptions())),
        "limits": "\n".join(item.way_out for item in plan.refusals if item.code == "limits"),
        **{
            f"markdown of {limit}": render_markdown(make_view(document), limit)
            for limit in (60_000, 900, 300)
        },
    }
    patterns = (r"(\d+) to delete", r"(\d+) things? would be deleted", r"delete (\d+)\"")
    for name, text in texts.items():
        found = [number for pattern in patterns for number in re.findall(pattern, text)]
        assert found, name
        yield from ((name, number) for number in found)
    yield "GitHub's delete output", outputs(document, 0)["delete"]
    yield "json", str(json.loads(render(document, "json", FormatOptions()))["deletes"])


def test_every_output_starts_with_delete_count_to_confirm() -> None:
    explained = 0
    for seed in range(examples(30, 2000)):
        case = random_case(Random(seed))
        plan = make_plan(case.sides())
        number = answered(plan)
        assert (number or 0) == plan.deletes, seed
        if number is None:
            assert "to delete" not in " ".join(plan_words.plan_verdict(plan))
            continue
        assert {(name, found) for name, found in leading(plan) if found != str(number)} == set(), seed
        case.confirm = [f"delete {number}"]
        assert answered(make_plan(case.sides())) is None, seed
        explained += "to delete (" in " ".join(plan_words.plan_verdict(plan))
    assert explained > 5


def test_drift_and_plan_show_same_delete_count() -> None:
    for seed in range(examples(30, 2000)):
        sides = random_case(Random(seed)).sides()
        plan = make_plan(sides)
        drift = find_drift(sides, plan)
        deleted = [item for item in drift.found if item.what == "undeclared" and not item.kept]
        assert sum(1 + item.along for item in deleted) == plan.deletes, seed
        assert all(number == plan.deletes for item in drift.refusals for number in _confirm(item.way_out))


# What only a platform can show.

LIMITED = "{ prune: [teams, sites/docs/structure], limits: { deletes: 0 } }"
KEPT = """
teams: { a: { title: A } }
sites: { docs: { title: Docs, structure: [
  { type: section, key: a, title: Section a, path: a, children: [
      { type: space, key: x, space: { id: x } } ] } ] } }
"""
NEW_ROOT = """
sites: { docs: { title: Docs, structure: [ { type: space, key: x, space: { id: x }, path: x } ] } }
"""


def drift(lab: Lab, body: str, policy: str) -> Drift:
    with reading(lab.server) as client:
        return lab.session(body, policy).drift(client, Options())


@pytest.fixture
def crowded(lab: Lab) -> Lab:
    """Of two teams and two sections one each is declared; members and a site space go with the others."""
    members = [{"user": "bo", "role": "member"}, {"user": "cy", "role": "member"}]
    teams = [{"id": "a", "title": "A"}, {"id": "b", "title": "B", "members": members}]
    return lab.holds(
        spaces=spaces("x", "y"), teams=teams, sites=[site(section("a", "x"), section("b", "y", "x"))]
    )


def test_drift_counts_cascaded_deletions(crowded: Lab) -> None:
    plan, found = crowded.plan(KEPT, LIMITED), drift(crowded, KEPT, LIMITED)
    assert plan.deletes == 6
    assert {item.address: item.along for item in found.found} == {
        "acme/sites/docs/structure/[Section b]": 2, "acme/teams/[B]": 2,
    }  # fmt: skip
    limits = [item for item in found.refusals if item.code == "limits"]
    assert limits == [item for item in plan.refusals if item.code == "limits"] != []


def test_drift_keeps_team_with_unreadable_dependents(crowded: Lab) -> None:
    """The sign-in that may name a team cannot be read: nobody can tell what would go along with it."""
    tape = Tape(crowded.server.url, "token", refused={"/orgs/acme/saml"})
    with ReadClient(crowded.server.url, "token", transport=tape) as client:
        found = crowded.session(KEPT, LIMITED).drift(client, Options())
    (team,) = [item for item in found.found if item.kind == "team"]
    assert (team.what, team.kept) == ("undeclared", True)
    assert "use a token that can read these objects" in resolutions_of(found, team).platform


def test_restructure_deletions_do_not_count_against_limits(
    crowded: Lab,
) -> None:
    """The sections go because that was agreed to; the team is asked about, with the number of everything."""
    body = KEPT[: KEPT.index("sites:")] + NEW_ROOT
    agreed_to = "restructure acme/sites/docs"
    asked = crowded.plan(body, LIMITED, agreed_to)
    (limits,) = asked.refusals
    assert asked.deletes > 3
    assert "this plan has 3 deletes" in limits.message
    assert answered(asked) == asked.deletes
    assert crowded.plan(body, LIMITED, agreed_to, f"delete {asked.deletes}").can_apply


@pytest.mark.parametrize(
    ("shown", "said"),
    [
        pytest.param((), "It can be restored for 7 days. Type", id="one space"),
        pytest.param(("en",), "Only the space can be restored, for 7 days. Type", id="space on a site"),
    ],
)
def test_delete_question_names_restorable_objects(lab: Lab, shown: tuple[str, ...], said: str) -> None:
    """Otherwise, a person who deleted a space by mistake does not look for a way to restore the space."""
    lab.holds(spaces=spaces("en", "fr"), sites=[site(section("one", *shown, "fr"))])
    plan = lab.plan("spaces: { fr: { title: Space fr } }", "{ prune: [spaces], limits: { percent: 100 } }")
    assert said in delete_question(plan)
