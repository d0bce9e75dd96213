"""An apply is taken back: what it changed, and nothing that somebody has changed since."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dpsync.api import AppliedPlan, Options, Planned, Revert, applied, reverting
from dpsync.model.address import Address
from dpsync.model.diagnostic import DiagnosticError, Exit
from dpsync.model.ids import IdsEdits, RecordedLine
from dpsync.model.journal import Report
from dpsync.server.process.threaded_server import ThreadedServer
from tests.agreed import agreed
from tests.by_hand import by_hand
from tests.direct import writing
from tests.planner.lab import Lab, group, section, site, spaces

TEAMS = [{"id": "a", "title": "Alpha"}, {"id": "b", "title": "Beta"}]
NAMED = 'teams: { a: { id: a, title: "One" }, b: { id: b, title: "Two" } }'


@pytest.fixture
def lab(server: ThreadedServer, tmp_path: Path) -> Lab:
    return Lab(server, tmp_path)


class Done:
    """An apply that was carried out, and what takes it back."""

    def __init__(self, lab: Lab, body: str, policy: str = "{}") -> None:
        self.lab = lab
        self.session = lab.session(body, policy)
        with writing(lab.server) as client:
            self.planned = agreed(self.session, client)
            self.report = self.session.apply(client, self.planned)
        assert self.report.converged, self.report.outcomes

    def files(self, body: str, policy: str = "{}") -> Done:
        """Replace the session by one of other files."""
        self.session = self.lab.session(body, policy)
        return self

    def plan(self, *confirm: str, report: bool = True) -> tuple[Revert, Planned]:
        with writing(self.lab.server) as client:
            done = applied(self.planned.plan, self.report if report else None)
            revert = reverting(client, self.session, done)
            return revert, revert.plan(client, Options(confirm))

    def back(self, *confirm: str, report: bool = True) -> Report:
        revert, planned = self.plan(*confirm, report=report)
        with writing(self.lab.server) as client:
            return revert.session.apply(client, planned)

    def notes(self) -> dict[str, str]:
        revert, _ = self.plan()
        assert revert.target is not None
        return {note.address: note.text for note in (*revert.not_reverted, *revert.target.notes)}


def titles(lab: Lab, what: str = "teams") -> dict[str, str]:
    return {one["id"]: one["title"] for one in lab.world()["organizations"][0].get(what, ())}


@pytest.mark.parametrize("report", [True, False], ids=["journal", "plan"])
def test_revert_restores_previous_field_value(lab: Lab, report: bool) -> None:
    done = Done(lab.holds(teams=TEAMS), NAMED)
    assert titles(lab) == {"a": "One", "b": "Two"}
    assert done.back(report=report).converged
    assert titles(lab) == {"a": "Alpha", "b": "Beta"}


@pytest.mark.parametrize("report", [True, False], ids=["journal", "plan"])
def test_revert_deletes_team_that_apply_created(lab: Lab, report: bool) -> None:
    done = Done(lab.holds(teams=TEAMS), "teams: { c: { title: Gamma } }")
    assert done.back("delete 1", report=report).converged
    assert titles(lab) == {"a": "Alpha", "b": "Beta"}


def test_revert_restores_deleted_space(lab: Lab) -> None:
    lab.holds(spaces=[{"id": "s", "title": "Guides"}, {"id": "t", "title": "News"}])
    done = Done(lab, "spaces: { t: { title: News } }", "{ prune: [spaces], limits: { percent: 100 } }")
    assert "deletedAt" in next(one for one in lab.world()["organizations"][0]["spaces"] if one["id"] == "s")
    assert done.back().converged
    assert "deletedAt" not in str(lab.world()["organizations"][0]["spaces"])


def test_revert_note_suggests_id_of_restored_space(lab: Lab) -> None:
    lab.holds(spaces=[{"id": "s", "title": "Guides"}, {"id": "t", "title": "News"}])
    done = Done(lab, "spaces: { t: { title: News } }", "{ prune: [spaces], limits: { percent: 100 } }")
    assert done.notes()["acme/spaces/[Guides]"] == (
        "dpsync restores this space with its content (possible for 7 days after the delete). "
        'To keep this space, add an entry with "id: s"'
    )


PRUNED = (
    "{ prune: [teams, collections, sites/docs/shareLinks, sites/docs/redirects, glossary, saml], "
    "limits: { percent: 100, deletes: 9 } }"
)
SITE = "sites: { docs: { basename: docs, title: Docs, visibility: share-link%s } }"
DOCS = {"id": "docs", "title": "Docs", "basename": "docs", "visibility": "share-link"}
LINK = {"id": "l1", "name": "press", "active": False}
TERM = {"id": "g1", "translations": {"en": "valve", "de": "Ventil"}}
DELETED: dict[str, tuple[dict[str, Any], str, str]] = {
    "team": ({"teams": TEAMS}, "teams: { b: { title: Beta, id: b } }", "teams"),
    "collection": ({"collections": [{"id": "c", "title": "Old", "description": "d"}]}, "collections: {}",
                   "collections"),
    "share link": ({"sites": [{**DOCS, "shareLinks": [LINK]}]}, SITE % ", shareLinks: {}", "shareLinks"),
    "redirect": ({"sites": [{**DOCS, "redirects": [
        {"id": "r", "source": "/a", "destination": {"kind": "external", "url": "https://x.example/"}}]}]},
        SITE % ", redirects: {}", "redirects"),
    "term": ({"glossary": [TERM]}, "glossary: {}", "glossary"),
}  # fmt: skip


def without_ids(things: Any) -> list[dict[str, Any]]:
    """Return the objects without the fields that the platform sets, to compare re-created objects."""
    made = ("id", "createdAt", "updatedAt", "order", "position", "token", "createdBy")
    return sorted(({k: v for k, v in one.items() if k not in made} for one in things), key=str)


def held(lab: Lab, where: str) -> list[dict[str, Any]]:
    organization = lab.world()["organizations"][0]
    inside = organization if where in organization else organization.get("sites", [{}])[0]
    return without_ids(inside.get(where) or ())


@pytest.mark.parametrize("report", [True, False], ids=["journal", "plan"])
@pytest.mark.parametrize("what", DELETED)
def test_revert_recreates_deleted_object(lab: Lab, what: str, report: bool) -> None:
    world, body, where = DELETED[what]
    lab.holds(**world)
    before = held(lab, where)
    done = Done(lab, body, PRUNED)
    assert held(lab, where) != before
    assert done.back(report=report).converged
    assert held(lab, where) == before


def test_revert_note_for_recreated_team_suggests_entry(lab: Lab) -> None:
    done = Done(lab.holds(teams=TEAMS), "teams: { b: { title: Beta, id: b } }", PRUNED)
    assert done.notes()["acme/teams/[Alpha]"] == (
        "dpsync creates this team again with a new id. "
        "The previous content of the team and references to the team are lost. "
        "To keep this team, add an entry to acme/teams. Otherwise, the next apply may delete this team"
    )


def test_revert_skips_recreating_team_if_name_is_taken(lab: Lab) -> None:
    done = Done(lab.holds(teams=TEAMS), "teams: { b: { title: Beta, id: b } }", PRUNED)
    by_hand(lab.server, "PUT", "/orgs/acme/teams", {"title": "Alpha"}, "token")
    assert done.notes()["acme/teams/[Alpha]"].endswith(
        "another team has the same name now: acme/teams/[Alpha]"
    )
    assert done.plan()[1].plan.changes == ()


def test_revert_recreates_deleted_team_without_declared_teams(lab: Lab) -> None:
    done = Done(lab.holds(teams=TEAMS), "teams: { b: { title: Beta, id: b } }", PRUNED)
    done.files("spaces: {}", "{ prune: [spaces] }")
    assert done.back().converged
    assert sorted(titles(lab).values()) == ["Alpha", "Beta"]


def test_revert_lists_deleted_navigation_node_as_not_reverted(lab: Lab) -> None:
    shown = [{"type": "space", "id": f"p-{one}", "space": one, "path": one} for one in ("s", "t")]
    lab.holds(
        spaces=[{"id": "s", "title": "S"}, {"id": "t", "title": "T"}], sites=[{**DOCS, "structure": shown}]
    )
    structure = ", structure: [ { type: space, key: t, space: t, path: t } ]"
    body = f"spaces: {{ t: {{ title: T }} }}\n{SITE % structure}"
    done = Done(lab, body, "{ prune: [sites/docs/structure], limits: { percent: 100 } }")
    assert "does not record where the site space was in the navigation" in " ".join(done.notes().values())


def test_revert_skips_field_edited_after_apply(lab: Lab) -> None:
    """Otherwise, that somebody has changed a field since is told by nobody.

    Otherwise, what somebody has changed since is written over.
    """
    done = Done(lab.holds(teams=TEAMS), NAMED)
    by_hand(lab.server, "PATCH", "/orgs/acme/teams/a", {"title": "By hand"}, "token")
    assert (
        done.notes()["acme/teams/a#title"] == "Not reverted: somebody has changed this field since the apply"
    )
    assert done.back().converged
    assert titles(lab) == {"a": "By hand", "b": "Beta"}


def test_revert_keeps_created_team_edited_after_apply(lab: Lab) -> None:
    """Otherwise, what somebody has changed since is deleted."""
    done = Done(lab.holds(teams=TEAMS), "teams: { c: { title: Gamma } }")
    (made,) = titles(lab).keys() - {"a", "b"}
    by_hand(lab.server, "PATCH", f"/orgs/acme/teams/{made}", {"title": "By hand"}, "token")
    done.session = lab.session(f"teams: {{ c: {{ id: {made}, title: Gamma }} }}")
    assert "somebody has changed this team since the apply (title)" in done.notes()["acme/teams/c"]
    assert done.plan()[1].plan.changes == ()


def test_revert_deletes_created_team_without_entry(lab: Lab) -> None:
    done = Done(lab.holds(teams=TEAMS), "teams: { c: { title: Gamma } }")
    done.files("spaces: {}", "{ prune: [spaces] }")
    assert done.back("delete 1").converged
    assert titles(lab) == {"a": "Alpha", "b": "Beta"}


def test_revert_keeps_other_team_with_same_name(lab: Lab) -> None:
    done = Done(lab.holds(teams=TEAMS), "teams: { c: { title: Gamma } }")
    (made,) = titles(lab).keys() - {"a", "b"}
    by_hand(lab.server, "DELETE", f"/orgs/acme/teams/{made}", None, "token")
    by_hand(lab.server, "PUT", "/orgs/acme/teams", {"title": "Gamma"}, "token")
    assert done.plan()[1].plan.changes == ()


def test_revert_keeps_created_collection_with_added_space(lab: Lab) -> None:
    """Otherwise, what somebody has put into a thing since loses it."""
    lab.holds(spaces=[{"id": "s", "title": "S"}])
    done = Done(lab, "collections: { c: { title: C } }\nspaces: { s: { title: S } }")
    (made,) = titles(lab, "collections")
    by_hand(lab.server, "POST", "/spaces/s/move", {"parent": made}, "token")
    assert done.notes()["acme/collections/c"] == (
        "Not reverted: somebody has used this collection since the apply: acme/spaces/s is inside this object"
    )
    assert done.plan()[1].plan.changes == ()


def test_revert_changes_only_what_the_apply_changed(lab: Lab) -> None:
    done = Done(lab.holds(teams=TEAMS), "teams: { a: { id: a, title: One } }")
    done.files("teams: { a: { id: a, title: One }, b: { id: b, title: Edited }, d: { title: New } }")
    (change,) = done.plan()[1].plan.changes
    assert change.address == "acme/teams/a"


def test_revert_deletes_only_the_created_team(lab: Lab) -> None:
    policy = "{ prune: [teams], limits: { deletes: 9, percent: 100 } }"
    lab.holds(teams=TEAMS)
    kept = "a: { id: a, title: Alpha }, b: { id: b, title: Beta }"
    done = Done(lab, f"teams: {{ {kept}, c: {{ title: C }} }}", policy)
    done.files("teams: { c: { title: C } }", policy)
    assert done.back("delete 1").converged
    assert titles(lab) == {"a": "Alpha", "b": "Beta"}


def test_revert_deletes_created_content_only_after_confirmation(lab: Lab) -> None:
    done = Done(lab.holds(), "spaces: { s: { title: Guides } }")
    plan = done.plan()[1].plan
    assert "content" in {refusal.code for refusal in plan.refusals}
    assert done.back("delete 1").converged


def test_revert_refuses_to_delete_protected_team(lab: Lab) -> None:
    done = Done(lab.holds(teams=TEAMS), "teams: { c: { title: C } }", '{ protect: ["teams/c"] }')
    assert "protected" in {refusal.code for refusal in done.plan("delete 1")[1].plan.refusals}


def test_revert_ignores_steps_not_tried(lab: Lab) -> None:
    """Otherwise, what was not carried out is taken back."""
    done = Done(lab.holds(teams=TEAMS), NAMED)
    skipped = tuple(
        one.model_copy(update={"result": "not-tried"}) if "/a " in one.step else one
        for one in done.report.outcomes
    )
    done.report = done.report.model_copy(update={"outcomes": skipped})
    assert [change.address for change in done.plan()[1].plan.changes] == ["acme/teams/b"]


def test_revert_skips_previous_value_with_masked_secret(lab: Lab) -> None:
    """Otherwise, a value is written that says `[secret]`."""
    done = Done(lab.holds(teams=TEAMS), NAMED)
    change, other = done.planned.plan.changes
    masked = tuple(one.model_copy(update={"before": "by [secret]"}) for one in change.differences)
    changes = (change.model_copy(update={"differences": masked}), other)
    done.planned = Planned(done.planned.plan.model_copy(update={"changes": changes}), done.planned.sides)
    assert "contained a secret" in done.notes()["acme/teams/a#title"]
    assert [change.address for change in done.plan()[1].plan.changes] == ["acme/teams/b"]


def test_revert_note_warns_when_file_keeps_value(lab: Lab) -> None:
    done = Done(lab.holds(teams=TEAMS), "teams: { a: { id: a, title: One } }")
    texts = {note.address: note.text for note in done.plan()[1].plan.notes}
    assert texts["acme/teams/a#title"].endswith(
        "dpsync.yaml:6 still contains the value that the apply wrote, "
        "so the next apply writes this value again"
    )


def test_second_revert_changes_nothing(lab: Lab) -> None:
    done = Done(lab.holds(teams=TEAMS), NAMED)
    done.back()
    revert, planned = done.plan()
    assert (planned.plan.changes, revert.not_reverted) == ((), ())


def test_revert_on_another_platform_is_refused(lab: Lab) -> None:
    """Otherwise, an apply to one platform is taken back on another one."""
    session = lab.holds(teams=TEAMS).session(NAMED)
    with writing(lab.server) as client, pytest.raises(DiagnosticError) as error:
        reverting(client, session, AppliedPlan("https://api.acme.example", ()))
    assert error.value.exit_code is Exit.REFUSED


def test_revert_requiring_other_changes_is_refused(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpsync.workflows.revert.MAX_ROUNDS", 0)
    planned = plan_revert_after_other_change(lab)
    (refusal,) = planned.plan.refusals
    assert (refusal.code, refusal.address) == ("beyond", "acme/teams/b")
    assert (
        refusal.message
        == "this object would be changed, but the apply that you revert did not change this object"
    )
    assert refusal.way_out.startswith("to exclude the object from the revert, add --exclude acme/teams/b.")


def plan_revert_after_other_change(lab: Lab) -> Planned:
    """Return a revert plan for which another team was changed by hand before the plan was made."""
    lab.holds(teams=TEAMS)
    done = Done(lab, 'teams: { a: { id: a, title: One }, b: { id: b, title: "Beta" } }')
    with writing(lab.server) as client:
        revert = reverting(client, done.session, applied(done.planned.plan, done.report))
        by_hand(lab.server, "PATCH", "/orgs/acme/teams/b", {"title": "By hand"}, "token")
        return revert.plan(client, Options())


def test_revert_plan_omits_unrelated_changes(lab: Lab) -> None:
    plan = plan_revert_after_other_change(lab).plan
    assert ([change.address for change in plan.changes], plan.refusals) == (["acme/teams/a"], ())


class Lines:
    """An ids file that only notes what comes into it."""

    def __init__(self) -> None:
        self.edits: IdsEdits = {}

    def edit(self, _platform: str, edits: IdsEdits) -> None:
        self.edits = {**edits}


def test_revert_adds_ids_lines_only_for_declared_entries(lab: Lab) -> None:
    done = Done(lab.holds(teams=TEAMS), NAMED)
    a, gone = Address.parse("acme/teams/a"), Address.parse("acme/teams/gone")
    lines = Lines()
    done.plan()[0].recording(lines).edit(
        "p", {("1", a): RecordedLine(a, "a"), ("1", gone): RecordedLine(gone, "g"), ("2", gone): None}
    )
    assert lines.edits == {("1", a): RecordedLine(a, "a"), ("2", gone): None}


def test_revert_ignores_created_team_deleted_by_hand(lab: Lab) -> None:
    done = Done(lab.holds(teams=TEAMS), "teams: { c: { title: Gamma } }")
    (made,) = titles(lab).keys() - {"a", "b"}
    by_hand(lab.server, "DELETE", f"/orgs/acme/teams/{made}", None, "token")
    assert done.notes() == {}
    assert done.plan()[1].plan.changes == ()


def test_revert_restores_changed_team_without_entry(lab: Lab) -> None:
    done = Done(lab.holds(teams=TEAMS), NAMED).files("teams: { a: { id: a, title: One } }")
    assert done.back().converged
    assert titles(lab) == {"a": "Alpha", "b": "Beta"}


@pytest.mark.parametrize("again", [(), ("C",)], ids=["nothing", "another one of its name"])
def test_revert_skips_changed_collection_deleted_by_hand(lab: Lab, again: tuple[str, ...]) -> None:
    """Otherwise, where something that was changed is deleted by now, nothing can be taken back.

    Otherwise, another thing of the same name gets the values of one that was deleted.
    """
    lab.holds(teams=TEAMS, collections=[{"id": "c", "title": "C", "description": "before"}])
    done = Done(lab, f"{NAMED}\ncollections: {{ c: {{ title: C, description: after }} }}")
    by_hand(lab.server, "DELETE", "/collections/c", None, "token")
    for title in again:
        by_hand(lab.server, "POST", "/orgs/acme/collections", {"title": title}, "token")
    assert done.notes() == {"acme/collections/c": "Not reverted: this collection no longer exists"}
    assert done.back().converged
    assert titles(lab) == {"a": "Alpha", "b": "Beta"}
    assert [one.get("description") for one in lab.world()["organizations"][0].get("collections", ())] == [
        None for _ in again
    ]


def test_revert_fails_if_pinned_team_does_not_exist(lab: Lab) -> None:
    """Otherwise, an id in the files that is not live is passed over."""
    done = Done(lab.holds(teams=TEAMS), NAMED)
    by_hand(lab.server, "DELETE", "/orgs/acme/teams/b", None, "token")
    with pytest.raises(DiagnosticError, match='there is no team with the id "b"'):
        done.plan()


def test_revert_restores_deleted_space_without_declared_spaces(lab: Lab) -> None:
    lab.holds(teams=TEAMS, spaces=[{"id": "s", "title": "Guides"}, {"id": "t", "title": "News"}])
    done = Done(lab, "spaces: { t: { title: News } }", "{ prune: [spaces], limits: { percent: 100 } }")
    done.files("teams: { a: { id: a, title: Alpha } }")
    assert done.back().converged
    assert "deletedAt" not in str(lab.world()["organizations"][0]["spaces"])


def test_revert_adds_no_note_for_pinned_space(lab: Lab) -> None:
    lab.holds(spaces=[{"id": "s", "title": "Guides"}, {"id": "t", "title": "News"}])
    done = Done(lab, "spaces: { t: { title: News } }", "{ prune: [spaces], limits: { percent: 100 } }")
    done.files("spaces: { t: { title: News }, s: { id: s, title: Guides } }")
    assert done.notes() == {}


def test_revert_restores_reference_to_undeclared_object(lab: Lab) -> None:
    spaces = [{"id": "s", "title": "S", "parent": "c"}]
    lab.holds(collections=[{"id": "c", "title": "C"}, {"id": "d", "title": "D"}], spaces=spaces)
    done = Done(lab, "collections: { d: { title: D } }\nspaces: { s: { title: S, collection: d } }")
    assert done.back().converged
    (space,) = lab.world()["organizations"][0]["spaces"]
    assert space["parent"] == "c"


def test_revert_empties_and_deletes_created_collection(lab: Lab) -> None:
    lab.holds(spaces=[{"id": "s", "title": "S"}])
    done = Done(lab, "collections: { c: { title: C } }\nspaces: { s: { title: S, collection: c } }")
    done.files("spaces: { s: { title: S } }")
    assert done.back("delete 1").converged
    organization = lab.world()["organizations"][0]
    assert (organization.get("collections", []), organization["spaces"][0]["parent"]) == ([], None)


def test_revert_restores_field_beside_edited_field(lab: Lab) -> None:
    lab.holds(spaces=[{"id": "t", "title": "News", "editMode": "live"}])
    done = Done(lab, "spaces: { t: { id: t, title: News, editMode: locked } }")
    by_hand(lab.server, "PATCH", "/spaces/t", {"title": "By hand"}, "token")
    assert done.back().converged
    (space,) = lab.world()["organizations"][0]["spaces"]
    assert (space["title"], space.get("editMode", "live")) == ("By hand", "live")


def test_revert_skips_section_moved_into_group(lab: Lab) -> None:
    lab.holds(spaces=spaces("en"), sites=[site(section("one", "en"), group("both"))])
    done = Done(
        lab,
        """
        spaces: { en: { title: Space en } }
        sites:
          docs:
            title: Docs
            structure:
              - type: section-group
                key: both
                title: Group both
                children:
                  - type: section
                    key: one
                    title: Section one
                    path: one
                    children: [ { type: space, key: en, space: en, path: en } ]
        """,
    )
    told = {at.rpartition("#")[2]: text for at, text in done.notes().items()}
    assert told["group"] == "Not reverted: the API can change this field only together with other fields"
