"""`forget`: to stop managing a thing without deleting it, even where prune deletes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dpsync.server.process.threaded_server import ThreadedServer
from tests.cli.conftest import Run
from tests.cli.test_drift import committed
from tests.cli.test_plan_and_apply import writes
from tests.cli.test_select import changes, planned

Project = Callable[..., Path]
TEAMS = (
    "teams: { writers: { title: Technical writers }, reviewers: { title: Reviewers }, sales: { title: Sales }"
)


def text(
    forget: str = "",
    more: str = "",
    prune: str = "teams",
    teams: str = TEAMS,
    removed: str = "teams/[Legacy]",
) -> str:
    policy = f"prune: [{prune}], forget: [{forget}], limits: {{ deletes: 9, percent: 100 }}"
    policy += f", removed: ['{removed}']"
    return f"dpsync: 1\npolicy: {{ {policy} }}\norganizations:\n  acme:\n    id: acme\n    {teams}{more} }}\n"


LEGACY = ", old: { title: Legacy }"


@pytest.mark.usefixtures("platform")
def test_forget_policy_keeps_object_of_removed_entry(run: Run, project: Project) -> None:
    committed(project, text(more=LEGACY))
    assert changes(planned(run, project(text()))) == ["acme/teams/[Legacy]"]
    plan = planned(run, project(text("teams/old")))
    assert changes(plan) == []
    assert plan["kept"] == []


@pytest.mark.usefixtures("platform")
def test_plan_suggests_permanent_forget_address(run: Run, project: Project) -> None:
    committed(project, text(more=LEGACY))
    (note,) = planned(run, project(text("teams/old")))["notes"]
    lasting = (
        note["text"]
        .partition(". Write ")[2]
        .removesuffix(" in policy.forget, because only git knows the former address")
    )
    assert lasting.startswith("acme/teams/[Legacy~")
    directory = committed(project, text(f'"{lasting}"'))
    assert changes(planned(run, directory)) == []
    assert planned(run, directory)["notes"] == []


@pytest.mark.usefixtures("platform")
def test_policy_forget_hides_removed_entry_without_prune(run: Run, project: Project) -> None:
    committed(project, text(more=LEGACY))
    assert (
        "the entry was removed"
        in run("plan", "-C", str(project(text(prune="", removed="teams/[Other]")))).out
    )
    ended = run("plan", "-C", str(project(text("teams/old", prune="", removed="teams/[Other]"))))
    assert (ended.code, "Legacy" in ended.out) == (0, False)


def test_unknown_forget_key_refuses_deletes(run: Run, project: Project, platform: ThreadedServer) -> None:
    directory = project(text("teams/old"))
    plan = planned(run, directory, code=4)
    assert [refusal["code"] for refusal in plan["refusals"]] == ["forgotten"]
    assert run("apply", "-C", str(directory), "--yes").code == 4
    assert writes(platform) == []


@pytest.mark.usefixtures("platform")
def test_policy_forget_matches_title_without_git_base(run: Run, project: Project) -> None:
    directory = project(text('"teams/[Legacy]"'))
    assert changes(planned(run, directory)) == []
    assert run("drift", "-C", str(directory)).code == 0


def test_policy_forget_rejects_declared_entry(run: Run, project: Project) -> None:
    ended = run("validate", "-C", str(project(text("teams/sales"))))
    assert (ended.code, "DP233" in ended.err) == (5, True)
    assert "acme/teams/sales has an entry, so the address cannot be under" in ended.err


@pytest.mark.usefixtures("platform")
def test_policy_forget_wildcard_keeps_undeclared_teams(run: Run, project: Project) -> None:
    assert changes(planned(run, project(text('"teams/*"')))) == []


@pytest.mark.usefixtures("platform")
def test_delete_of_parent_with_forgotten_child_is_refused(run: Run, project: Project) -> None:
    site = "sites: { docs: { title: Acme Docs, basename: docs, structure: [{ type: section, key: news,"
    site += (
        " title: News, path: news, children: [{ type: space, key: latest, space: news, path: latest }] }] }"
    )
    site += " }\n    spaces: { news: { title: News }"
    config = text(
        '"sites/docs/structure/[API]/*"',
        prune="sites/docs/structure",
        teams=site,
        removed="sites/docs/structure/[Guides]', 'sites/docs/structure/[API]",
    )
    plan = planned(run, project(config), code=4)
    assert {refusal["code"] for refusal in plan["refusals"]} == {"forgotten"}
