"""What the git base protects stays protected, and what was removed from the files is not forgotten."""

from __future__ import annotations

import re
from typing import Any

import pytest

from dpsync.client.client import WriteClient
from dpsync.client.transport import HttpTransport, Request, Response, Token
from dpsync.model.plan import Plan

from .past import Project
from .test_alike import refused, said
from .test_git_base import did, docs, teams

PRUNE = "{ prune: [teams, spaces], limits: { deletes: 9, percent: 100 } }"
PROTECTED = "{ prune: [teams, spaces], protect: [teams/a], limits: { deletes: 9, percent: 100 } }"
BOTH = "teams: { a: { title: A }, b: { title: B } }"


@pytest.fixture
def committed(project: Project) -> Project:
    return project.holds(teams=teams("A", "B")).commit(BOTH, PROTECTED)


def test_protected_object_survives_removal_of_its_entry(committed: Project) -> None:
    assert refused(committed.write("teams: { b: { title: B } }", PROTECTED).plan()) == [
        ("protected", "acme/teams/[A]")
    ]


def test_object_stays_protected_in_change_removing_protect_line(committed: Project) -> None:
    """Otherwise, taking the line away in the same change ends a protection."""
    plan = committed.write("teams: { b: { title: B } }", PRUNE).plan()
    assert refused(plan) == [("protected", "acme/teams/[A]")]
    assert "in the commit that dpsync compares with" in plan.refusals[0].message


def test_object_stays_protected_when_key_and_title_change(committed: Project) -> None:
    text = "teams: { b: { title: B }, c: { title: Quite another, new: true } }"
    assert refused(committed.write(text, PRUNE).plan()) == [("protected", "acme/teams/[A]")]


def test_protect_pattern_with_former_key_gets_no_warning(committed: Project) -> None:
    """Otherwise, every pattern that protects something is warned of, and is taken away."""
    plan = committed.write("teams: { b: { title: B } }", PROTECTED).plan()
    assert not [note for note in plan.notes if note.address.startswith("policy.protect")]


def test_protection_ends_after_commit_removing_protect_line(committed: Project) -> None:
    committed.commit(BOTH, PRUNE)
    plan = committed.write("teams: { b: { title: B } }", PRUNE).plan()
    assert refused(plan) == []
    assert did(plan) == {"acme/teams/[A]": "delete"}


@pytest.mark.parametrize("pattern", ["teams/a", "teams/*"])
def test_suggested_skip_setting_keeps_protected_object(project: Project, pattern: str) -> None:
    """Otherwise, one protected object stops every other change, and nobody knows the line that helps."""
    before = f"{{ prune: [teams], protect: [{pattern}] }}"
    committed = project.holds(teams=teams("A", "B")).commit(BOTH, before)
    (refusal,) = committed.write("teams: { b: { title: New } }", before).plan().refusals
    line = re.search(r"add (\{ address: .*, skip: true \}) to policy\.protect", refusal.way_out)
    assert line is not None, refusal.way_out
    plan = committed.write(
        "teams: { b: { title: New } }", f"{{ prune: [teams], protect: [{pattern}, {line[1]}] }}"
    ).plan()
    assert refused(plan) == []
    assert did(plan) == {"acme/teams/b": "update"}


def test_protected_section_prevents_site_deletion(project: Project) -> None:
    section: dict[str, Any] = {
        "type": "section", "id": "sec", "title": "Guides", "path": "guides",
        "children": [{"type": "space", "id": "place", "space": "s1", "path": "en"}],
    }  # fmt: skip
    site = {"id": "site1", "title": "Docs", "basename": "docs", "structure": [section]}
    other = {"id": "site2", "title": "Other", "basename": "other"}
    node = "{ type: section, key: g, title: Guides, path: guides, children: [CHILD] }".replace(
        "CHILD", "{ type: space, key: en, space: guide, path: en }"
    )
    rest = "spaces: { guide: { title: Guide } }\nsites:\n  other: { title: Other, basename: other }\n"
    docs_ = f"  docs: {{ title: Docs, basename: docs, structure: [{node}] }}\n"
    limits = "limits: { deletes: 9, percent: 100 }"
    project.holds(spaces=docs("Guide"), sites=[site, other])
    project.commit(rest + docs_, f"{{ prune: [sites], protect: [sites/docs/structure/g], {limits} }}")
    plan = project.write(rest, f"{{ prune: [sites], {limits} }}").plan()
    assert [code for code, _ in refused(plan)] == ["protected"]
    assert refused(plan)[0][1].startswith("acme/sites/[Docs]/structure/")


# Removed, and still there.


def notes(plan: Plan) -> list[str]:
    return [note for note in said(plan) if "the entry was removed" in note]


def test_plan_notes_removed_entry_whose_object_is_kept(project: Project) -> None:
    project.holds(teams=teams("A", "B")).commit(BOTH)
    plan = project.write("teams: { b: { title: B } }").plan()
    assert plan.empty
    assert notes(plan) == [
        'acme/teams/a: the entry was removed, but the team "A" (t1) is kept. '
        "To delete the team, add to policy: prune: [acme/teams], removed: [acme/teams/a]"
    ]


def test_suggested_lines_delete_object_of_removed_entry(project: Project) -> None:
    """Otherwise, a person adds `prune`, and the next plan asks for one more line."""
    project.content_may_go = False
    project.holds(teams=teams("A", "B")).commit(BOTH)
    remaining = "teams: { b: { title: B } }"
    (note,) = notes(project.write(remaining).plan())
    lines = note.partition("add to policy: ")[2]
    plan = project.write(remaining, f"{{ {lines}, limits: {{ percent: 100 }} }}").plan()
    assert refused(plan) == []
    assert [change.action for change in plan.changes] == ["delete"]


def test_plan_notes_each_entry_of_removed_list(project: Project) -> None:
    project.holds(teams=teams("A", "B")).commit(BOTH)
    plan = project.write("title: Acme").plan()
    assert [note.partition(":")[0] for note in notes(plan)] == ["acme/teams/a", "acme/teams/b"]


def test_removed_entry_being_pruned_gets_no_note(project: Project) -> None:
    """Otherwise, what is deleted is told as kept."""
    project.holds(teams=teams("A", "B")).commit(BOTH, PRUNE)
    plan = project.write("teams: { b: { title: B } }", PRUNE).plan()
    assert did(plan) == {"acme/teams/[A]": "delete"}
    assert notes(plan) == []


def test_entry_with_renamed_key_gets_no_removal_note(project: Project) -> None:
    project.holds(teams=teams("A", "B")).commit(BOTH)
    plan = project.write("teams: { c: { title: A }, b: { title: B } }").plan()
    assert plan.empty
    assert notes(plan) == []


def test_plan_shows_git_base_commit(project: Project) -> None:
    plan = project.holds(teams=teams("A", "B")).commit(BOTH).plan()
    assert plan.base is not None
    assert len(plan.base) == 40
    assert plan.base_from == "HEAD"


def test_plan_ignores_removed_list_unreadable_by_token(project: Project) -> None:
    """Otherwise, a removed place that may not be read ends the whole plan."""
    project.holds(teams=teams("A")).commit("teams: { a: { title: A } }\nsaml: { okta: { label: Okta } }")
    project.write("teams: { a: { title: A } }")
    forbids = _Forbids(project, "/saml")
    with WriteClient(project.server.url, "token", transport=forbids) as client:
        plan = project.session().plan(client).plan
    assert forbids.asked == 1
    assert plan.empty
    assert notes(plan) == []


class _Forbids:
    """A transport over which one list may not be read."""

    def __init__(self, project: Project, end: str) -> None:
        self.inner = HttpTransport(project.server.url, Token("token"))
        self.end = end
        self.asked = 0

    def send(self, request: Request) -> Response:
        if request.path.endswith(self.end):
            self.asked += 1
            body = b'{"error": {"code": 403, "message": "not for you"}}'
            return Response(403, {"content-type": "application/json"}, body)
        return self.inner.send(request)

    def close(self) -> None:
        self.inner.close()

    def stats(self) -> Any:
        return self.inner.stats()
