"""A pin names one thing for good: one that was deleted a while ago, too, and somebody who is no member."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from dpsync.model.diagnostic import DiagnosticError
from dpsync.model.plan import Plan
from dpsync.render.paint import Paint
from dpsync.render.view_text import render_report
from dpsync.server import world as worlds
from tests.by_hand import by_hand

from .past import Project
from .test_git_base import did, docs, teams

PRUNED = "{ prune: [spaces], limits: { deletes: 9, percent: 100 } }"


def delete(project: Project, space: str) -> None:
    by_hand(project.server, "DELETE", f"/spaces/{space}", token="token")


def verbs(project: Project) -> list[str]:
    return [step.verb for change in project.plan().changes for step in change.steps]


@pytest.fixture
def deleted(project: Project) -> Project:
    project.holds(spaces=docs("Guide", "News"), collections=[{"id": "c1", "title": "Product"}])
    delete(project, "s1")
    return project


def test_deleted_space_with_pinned_id_is_restored(deleted: Project) -> None:
    """Otherwise, what was deleted counts as live, and is written to.

    Otherwise, what is brought back counts as gone.
    """
    deleted.write("spaces: { g: { id: s1, title: Guide } }")
    plan = deleted.plan()
    assert did(plan) == {"acme/spaces/g": "update"}
    assert verbs(deleted) == ["restore"]
    deleted.converges()
    assert deleted.live("spaces") == {"s1": "Guide", "s2": "News"}


def test_restored_space_is_updated_after_restore(deleted: Project) -> None:
    deleted.write(
        """
        collections: { p: { title: Product, order: [n, g] } }
        spaces:
          g: { id: s1, title: Handbook, collection: p }
          n: { title: News, collection: p }
        """
    )
    report = deleted.converges()
    words = [item.phase or item.verb for item in report.outcomes if item.address == "acme/spaces/g"]
    assert words[0] == "restore"
    assert set(words) == {"restore", "update", "place"}
    assert deleted.live("spaces") == {"s1": "Handbook", "s2": "News"}


PERMITTED = """
    teams: {{ w: {{ title: Writers }} }}
    spaces: {{ g: {{ {more}title: Guide, permissions: {{ teams: {{ w: {role} }} }} }} }}
"""


def test_children_of_restored_space_follow_later(project: Project) -> None:
    """Its permissions cannot be read while it is deleted; the next plan compares them.

    Otherwise, what is in something deleted is made beside what comes back with it.
    """
    project.holds(spaces=docs("Guide"), teams=teams("Writers"))
    project.write(PERMITTED.format(more="", role="read")).converges()
    delete(project, "s1")
    plan = project.write(PERMITTED.format(more="id: s1, ", role="create")).plan()
    assert did(plan) == {"acme/spaces/g": "update"}
    assert [item.address for item in plan.blocked] == ["acme/spaces/g/permissions/teams/w"]
    report = project.apply()
    assert {item.result for item in report.outcomes} == {"done"}
    assert report.remaining is not None
    assert did(report.remaining) == {"acme/spaces/g/permissions/teams/w": "update"}
    project.converges()


def test_space_is_restored_while_another_is_deleted(deleted: Project) -> None:
    """It is in no list yet: neither the first reading of the list has it nor the second.

    Otherwise, a deleted space cannot be brought back in a plan that deletes another one.
    """
    deleted.write("spaces: { g: { id: s1, title: Guide } }", PRUNED).converges()
    assert deleted.live("spaces") == {"s1": "Guide"}


def test_section_creation_waits_for_restored_space(deleted: Project) -> None:
    deleted.write(
        """
        spaces: { g: { id: s1, title: Guide } }
        sites:
          docs:
            title: Docs
            structure:
              - type: section
                key: g
                title: Guides
                path: guides
                children: [{ type: space, key: en, space: g, path: en }]
        """
    )
    restore = "acme/spaces/g restore"
    (section,) = (item for item in deleted.plan().changes if item.address.endswith("structure/g"))
    assert restore in section.steps[0].needs
    deleted.converges()


def test_deleted_space_without_pinned_id_is_recreated(deleted: Project) -> None:
    assert did(deleted.write("spaces: { g: { title: Guide } }").plan()) == {"acme/spaces/g": "create"}


def test_pinned_id_of_expired_deleted_space_fails(deleted: Project) -> None:
    state: dict[str, Any] = deleted.server.run_in_server(lambda: worlds.dump_world(deleted.server.app.store))
    (space,) = (item for item in state["organizations"][0]["spaces"] if "deletedAt" in item)
    long_ago = datetime.fromisoformat(space["deletedAt"]) - timedelta(days=8)
    space["deletedAt"] = long_ago.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    deleted.server.reset(state)
    deleted.write("spaces: { g: { id: s1, title: Guide } }")
    with pytest.raises(DiagnosticError) as ended:
        deleted.plan()
    assert [item.code for item in ended.value.diagnostics] == ["DP301"]


def test_pinned_id_of_unknown_team_fails(project: Project) -> None:
    """Otherwise, a pin that names nothing is taken for something live."""
    project.holds(teams=teams("A")).write("teams: { a: { id: t9, title: A } }")
    with pytest.raises(DiagnosticError) as ended:
        project.plan()
    assert [item.code for item in ended.value.diagnostics] == ["DP301"]


def test_pinned_id_overrides_git_base(project: Project) -> None:
    project.holds(teams=teams("A", "B")).commit("teams: { x: { title: B } }")
    project.write("teams: { x: { id: t1, title: C } }")
    assert [change.id for change in project.plan().changes] == ["t1"]


# People.


def people(project: Project, *entries: str) -> Project:
    project.holds()
    state: dict[str, Any] = project.server.run_in_server(lambda: worlds.dump_world(project.server.app.store))
    state["users"].append({"id": "bo", "displayName": "Bo", "email": "bo@acme.example"})
    project.server.reset(state)
    return project.write("members:\n  ada@acme.example: admin\n" + "".join(f"  {item}\n" for item in entries))


def test_sso_member_with_pinned_id_is_added(project: Project) -> None:
    """Otherwise, somebody who is known by an id cannot be added by SSO."""
    people(project, "bo@acme.example: { id: bo, sso: true, role: create }")
    plan = project.plan()
    assert did(plan) == {"acme/members/bo@acme.example": "create"}
    assert plan.blocked == ()
    (change,) = plan.changes
    assert [f"{step.method} {step.path}" for step in change.steps] == [
        "POST /orgs/acme/members/bo/sso",
        "PATCH /orgs/acme/members/{acme/members/bo@acme.example}",
    ]
    project.converges()
    assert project.plan().empty


def test_sso_member_joins_team_immediately(project: Project) -> None:
    people(project, "bo@acme.example: { id: bo, sso: true }")
    text = (project.directory / "dpsync.yaml").read_text()
    team = "    teams: { w: { title: Writers, members: { bo@acme.example: owner } } }\n"
    (project.directory / "dpsync.yaml").write_text(text + team)
    project.converges()
    assert project.plan().empty


@pytest.mark.parametrize("entry", ["{ id: bo, role: create }", "{ id: bo, sso: false }"])
def test_unknown_pinned_member_id_without_sso_fails(project: Project, entry: str) -> None:
    people(project, f"bo@acme.example: {entry}")
    with pytest.raises(DiagnosticError) as ended:
        project.plan()
    assert [item.code for item in ended.value.diagnostics] == ["DP301"]


def test_sso_member_without_pinned_id_is_blocked(project: Project) -> None:
    people(project, "bo@acme.example: { sso: true, role: create }")
    assert [item.address for item in project.plan().blocked] == ["acme/members/bo@acme.example"]


def test_blocked_member_message_explains_next_step(project: Project) -> None:
    """Otherwise, a person who has sent the invitation does not know when dpsync sets the role."""
    people(project, "bo@acme.example: create")
    (blocked,) = project.plan().blocked
    assert blocked.todo.startswith("invite bo@acme.example to the organization in GitBook")
    assert blocked.todo.endswith("After the person has joined, run this command again")


def test_report_explains_restoring_deleted_space(project: Project) -> None:
    project.holds(spaces=docs("Guides", "News")).write("spaces: { n: { title: News } }", PRUNED)
    report = project.apply()
    assert [(item.address, item.id, item.days) for item in report.restorable] == [
        ("acme/spaces/[Guides]", "s1", 7)
    ]
    assert (
        "To restore the object with its content, add an entry with id: s1 (possible for 7 days"
        in render_report(Plan(), report, Paint(False), verbose=1)
    )
