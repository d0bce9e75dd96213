"""A plan that was saved is carried out exactly, or refused; what was approved is what is applied."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from dpsync.model.plan import Plan
from dpsync.server.process.threaded_server import ThreadedServer
from tests.cli.conftest import Run
from tests.cli.test_drift import change
from tests.cli.test_plan_and_apply import SCHEMAS, writes

Project = Callable[..., Path]
OLD = "'teams/[Legacy]', 'teams/[Reviewers]', 'teams/[Sales]', 'teams/[Technical writers]'"
TEXT = """\
dpsync: 1
organizations:
  acme:
    id: acme
    title: Acme Inc
    teams: { fresh: { title: Quite another } }
"""


@pytest.fixture
def saved(run: Run, project: Project, platform: ThreadedServer) -> Path:
    """Return a project with a saved plan of all its entries."""
    del platform
    directory = project(TEXT)
    ended = run("plan", "-C", str(directory), "-o", "plan.json")
    assert ended.code == 0
    assert f"dpsync apply -C {directory} plan.json" in ended.err
    return directory


def digest(directory: Path) -> str:
    return str(json.loads((directory / "plan.json").read_text())["digest"])


def refused(run: Run, platform: ThreadedServer, directory: Path, code: int, *flags: str) -> str:
    """Return what is printed when nothing is written."""
    platform.app.requests.clear()
    ended = run("apply", "-C", str(directory), *flags)
    assert ended.code == code, ended.out + ended.err
    assert writes(platform) == []
    return ended.out + ended.err


def test_saved_plan_matches_schema_and_printed_plan(saved: Path, run: Run) -> None:
    document = json.loads((saved / "plan.json").read_text())
    jsonschema.validate(document, json.loads((SCHEMAS / "saved-plan.schema.json").read_text()))
    shown = json.loads(run("plan", "-C", str(saved), "--format", "json").out)
    assert document["digest"] == shown["digest"]
    assert document["plan"]["changes"] == shown["plan"]["changes"]


def test_saved_plan_is_applied_exactly(saved: Path, run: Run, platform: ThreadedServer) -> None:
    platform.app.requests.clear()
    ended = run("apply", "-C", str(saved), "plan.json", "--yes", "--format", "json")
    document = json.loads(ended.out)
    assert (ended.code, document["converged"]) == (0, True)
    assert document["report"]["plan"] == digest(saved)
    assert len(writes(platform)) == 2


def test_saved_plan_keeps_selection(run: Run, project: Project, platform: ThreadedServer) -> None:
    directory = project(TEXT)
    run("plan", "-C", str(directory), "-o", "plan.json", "--select", "teams")
    ended = run("apply", "-C", str(directory), "plan.json", "--yes")
    assert ended.code == 0, ended.err
    assert writes(platform) == ["PUT /v1/orgs/acme/teams"]


@pytest.mark.usefixtures("platform")
def test_saved_plan_keeps_confirmed_answers(run: Run, project: Project) -> None:
    policy = "policy: { prune: [teams], limits: { deletes: 0 } }\norganizations"
    directory = project(TEXT.replace("organizations", policy))
    found = json.loads(run("plan", "-C", str(directory), "--format", "json").out)
    decision = found["plan"]["delete_decision"]
    assert decision["number"] == found["deletes"]
    answers = [f"delete {one}" for one in (decision["number"], *decision["names"])]
    flags = [word for answer in answers for word in ("--confirm", answer)]
    assert run("plan", "-C", str(directory), "-o", "plan.json", *flags).code == 0
    assert run("apply", "-C", str(directory), "plan.json", "--yes").code == 0


def test_saved_plan_is_refused_after_platform_change(saved: Path, run: Run, platform: ThreadedServer) -> None:
    change(platform, "/orgs/acme", title="Somebody else's")
    said = refused(run, platform, saved, 4, "plan.json", "--yes")
    assert (
        "error[stale]: the saved plan is out of date: a new plan would change this object differently" in said
    )
    assert "--> dpsync.yaml:" in said
    assert "address: acme\n" in said


def test_saved_plan_for_other_platform_is_refused(
    saved: Path, run: Run, platform: ThreadedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By whatever name the very same one is known: the plan says where it goes."""
    monkeypatch.setenv("DPSYNC_URL", platform.url.replace("127.0.0.1", "localhost"))
    assert "the plan was made for http://127.0.0.1" in refused(run, platform, saved, 4, "plan.json", "--yes")


def test_saved_plan_is_refused_after_file_change(
    saved: Path, run: Run, project: Project, platform: ThreadedServer
) -> None:
    project(TEXT.replace("fresh: { title: Quite another }", "other: { title: Yet another }"))
    said = refused(run, platform, saved, 4, "plan.json", "--yes")
    assert "acme/teams/fresh" in said
    assert "acme/teams/other" in said


def test_saved_plan_cannot_be_applied_twice(saved: Path, run: Run, platform: ThreadedServer) -> None:
    assert run("apply", "-C", str(saved), "plan.json", "--yes").code == 0
    assert "needs no change now" in refused(run, platform, saved, 4, "plan.json", "--yes")


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[: len(text) // 2],
        lambda text: text.replace("Acme Inc", "Acme Ltd"),
        lambda _text: "not JSON",
        lambda text: text.replace("saved-plan/1", "saved-plan/2"),
        lambda _text: "",
    ],
)
def test_apply_exits_5_for_damaged_saved_plan(
    damage: Callable[[str], str], saved: Path, run: Run, platform: ThreadedServer
) -> None:
    """Otherwise, a plan whose file was edited is applied."""
    path = saved / "plan.json"
    path.write_text(damage(path.read_text()))
    assert "DP143" in refused(run, platform, saved, 5, "plan.json", "--yes")


def test_apply_exits_5_for_missing_saved_plan(saved: Path, run: Run, platform: ThreadedServer) -> None:
    assert "cannot read the file" in refused(run, platform, saved, 5, "gone.json", "--yes")


def test_tampered_saved_plan_is_not_approved(saved: Path, run: Run, platform: ThreadedServer) -> None:
    from dpsync.model.plan import Saved

    approved = digest(saved)
    path = saved / "plan.json"
    document = json.loads(path.read_text().replace("Acme Inc", "Acme Ltd"))
    document["digest"] = Saved.model_validate(document).plan.digest
    path.write_text(json.dumps(document))
    said = refused(run, platform, saved, 4, "plan.json", "--approved", approved)
    assert "error[not-approved]" in said
    refused(run, platform, saved, 4, "plan.json", "--yes")


@pytest.mark.parametrize("digits", [32, 64])
@pytest.mark.usefixtures("platform")
def test_approved_saved_plan_is_applied_without_prompt(digits: int, saved: Path, run: Run) -> None:
    assert run("apply", "-C", str(saved), "plan.json", "--approved", digest(saved)[:digits]).code == 0


def test_apply_with_approved_digest_needs_no_saved_plan(
    saved: Path, run: Run, platform: ThreadedServer
) -> None:
    assert "not-approved" in refused(run, platform, saved, 4, "--approved", "0" * 16)
    assert "not-approved" in refused(run, platform, saved, 4, "--approved", digest(saved)[:8])
    assert run("apply", "-C", str(saved), "--approved", digest(saved)).code == 0


def test_saved_plan_without_yes_is_refused(saved: Path, run: Run, platform: ThreadedServer) -> None:
    assert "--yes" in refused(run, platform, saved, 4, "plan.json")


def test_saved_plan_rejects_plan_flags(saved: Path, run: Run, platform: ThreadedServer) -> None:
    assert "a saved plan already contains" in refused(run, platform, saved, 64, "plan.json", "--no-delete")


@pytest.mark.usefixtures("platform")
def test_refused_plan_is_not_saved(run: Run, project: Project) -> None:
    policy = "policy: { prune: [teams], limits: { deletes: 0 } }\norganizations"
    directory = project(TEXT.replace("organizations", policy))
    assert run("plan", "-C", str(directory), "-o", "plan.json").code == 4
    assert not (directory / "plan.json").exists()


@pytest.mark.usefixtures("platform")
def test_plan_exits_1_when_out_file_is_unwritable(run: Run, project: Project) -> None:
    directory = project(TEXT)
    ended = run("plan", "-C", str(directory), "-o", "gone/plan.json")
    assert (ended.code, "cannot be written" in ended.err) == (1, True)
    assert [path.name for path in directory.iterdir()] == ["dpsync.yaml"]


# What arises after a plan was saved.

TEAMS = """\
dpsync: 1
policy: { prune: [teams], limits: { deletes: 9, percent: 100 }, removed: [NAMED]%s }
organizations:
  acme:
    id: acme
    teams: { writers: { title: Technical writers }, reviewers: { title: Reviewers } }
""".replace("NAMED", "'teams/[Legacy]', 'teams/[Sales]'")
MEMBERS = """\
dpsync: 1
policy: { prune: [members], limits: { deletes: 9, percent: 100 } }
organizations:
  acme:
    id: acme
    members: { %s }
"""


@pytest.mark.parametrize(
    ("policy", "code"),
    [
        (", protect: ['teams/*']", "protected"),
        (", forget: ['acme/teams/sales']", "forgotten"),
    ],
)
def test_saved_plan_is_refused_by_policy_added_later(
    policy: str, code: str, run: Run, project: Project, platform: ThreadedServer
) -> None:
    directory = project(TEAMS % "")
    assert run("plan", "-C", str(directory), "-o", "plan.json").code == 0
    project(TEAMS % policy)
    platform.app.requests.clear()
    ended = run("apply", "-C", str(directory), "plan.json", "--yes")
    assert ended.code == 4
    assert code in ended.out + ended.err
    assert writes(platform) == []


def test_saved_plan_respects_limit_lowered_later(
    run: Run, project: Project, platform: ThreadedServer
) -> None:
    kept = "ada: admin, lin: create, rui: review, eve: edit, cam: comment, kim: read"
    members = MEMBERS % ", ".join(one.replace(":", "@acme.example:") for one in kept.split(", "))
    directory = project(members)
    assert run("plan", "-C", str(directory), "-o", "plan.json").code == 0
    project(members.replace("deletes: 9", "deletes: 0"))
    refused(run, platform, directory, 4, "plan.json", "--yes")


def test_saved_plan_removing_own_user_is_refused(
    run: Run, project: Project, platform: ThreadedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The plan was made by one admin and removes another one, whose token applies it."""
    others = ["lin: create", "rui: review", "eve: edit", "cam: comment", "kim: read", "gus: guest"]
    declared = ", ".join(f"{item.replace(':', '@acme.example:')}" for item in ["ada: admin", *others])
    directory = project(MEMBERS % declared)
    assert run("plan", "-C", str(directory), "-o", "plan.json").code == 0
    monkeypatch.setenv("DPSYNC_TOKEN", "grace-token")
    platform.app.requests.clear()
    ended = run("apply", "-C", str(directory), "plan.json", "--yes")
    assert ended.code == 4
    assert "own-user" in ended.out + ended.err
    assert writes(platform) == []


@pytest.mark.parametrize("answer", ["delete 4", "not my own acme/members/grace@acme.example"])
def test_forged_answer_in_saved_plan_is_rejected(
    answer: str, run: Run, project: Project, platform: ThreadedServer
) -> None:
    """What was answered is a part of the plan: whoever approves the plan has approved the answers."""
    directory = project(TEAMS % "")
    run("plan", "-C", str(directory), "-o", "plan.json")
    approved = digest(directory)
    project((TEAMS % "").replace("deletes: 9", "deletes: 0"))
    path = directory / "plan.json"
    document = json.loads(path.read_text())
    for place in (document, document["plan"]):
        for name in ("confirm", "confirmed"):
            if name in place:
                place[name] = [answer]
    path.write_text(json.dumps(document))
    refused(run, platform, directory, 5, "plan.json", "--approved", approved)
    document["digest"] = Plan.model_validate(document["plan"]).digest
    path.write_text(json.dumps(document))
    refused(run, platform, directory, 4, "plan.json", "--approved", approved)


@pytest.mark.usefixtures("platform")
def test_saved_plan_of_example_is_applied(run: Run, example: Path) -> None:
    """Otherwise, the first saved plan that somebody tries is refused."""
    assert run("plan", "--out", "p", "-C", str(example)).code == 0
    applied = run("apply", "p", "-C", str(example), "--yes")
    assert applied.code == 0, applied.out + applied.err
    assert run("plan", "-C", str(example), "--detailed-exitcode").code == 0
