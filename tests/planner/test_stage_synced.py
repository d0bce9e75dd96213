"""What the platform itself syncs with a repository has an owner: it is left alone, and told; plain values."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from dpsync.model.plan import Plan
from dpsync.model.snapshot import SyncedRepository
from dpsync.model.values import LiveId
from dpsync.planner.drift import find_drift
from dpsync.planner.plan import make_plan
from dpsync.planner.sides import Sides

from .stages import Case, Things

REPOSITORY = SyncedRepository("the repository acme/docs (github)")
SPACES = {"alpha": {"title": "Alpha"}, "beta": {"title": "Beta"}}
SITE = {"docs": {"title": "Docs", "basename": "docs", "visibility": "public"}}


def things(*sections: tuple[str, str], site: Any = SITE, spaces: Any = SPACES) -> Things:
    """Return a site with sections, each with its key and title, that all show the space `alpha`."""
    return {
        "space": spaces,
        "site": site,
        "section": {f"docs/{key}": {"title": title, "path": key} for key, title in sections},
        "site_space": {
            f"docs/{key}/en": {"path": "en", "space": LiveId("space-alpha")} for key, _ in sections
        },
    }


def wanted(found: Things) -> Things:
    """Return the same objects as entries."""
    case = Case(found)
    shown = {
        path: {**fields, "space": case.ref("space", "alpha")}
        for path, fields in found.get("site_space", {}).items()
    }
    return {**found, "site_space": shown}


def synced(case: Case, **by_kind: SyncedRepository) -> Sides:
    """Return the sides of a case in which all live objects of these kinds are synced with a repository."""
    sides = case.sides()
    objects = {
        identity: replace(live, synced_repository=by_kind.get(live.kind))
        for identity, live in sides.snapshot.objects.items()
    }
    return replace(sides, snapshot=replace(sides.snapshot, objects=objects))


def takes_over(sides: Sides, kind: str) -> Sides:
    """Return the sides with `takeover: true` in every entry of a kind."""
    entries = {
        address: replace(entry, takeover=entry.kind == kind)
        for address, entry in sides.loaded.entries.items()
    }
    return replace(sides, loaded=replace(sides.loaded, entries=entries))


def changed(plan: Plan) -> list[str]:
    return [change.address for change in plan.changes]


RENAMED = {"docs": {**SITE["docs"], "title": "Handbook"}}
OTHER = Case(
    wanted(things(("new", "New"), ("news", "What is new"), site=RENAMED)),
    things(("news", "News"), ("old", "Old")),
    prune=["sites/*/structure"],
)  # fmt: skip
"""The files rename, add and remove nodes, and rename the site."""


def test_site_without_git_sync_plans_all_changes() -> None:
    assert {
        "acme/sites/docs", "acme/sites/docs/structure/new", "acme/sites/docs/structure/news",
        "acme/sites/docs/structure/[Old]",
    } <= set(changed(make_plan(OTHER.sides())))  # fmt: skip


def test_git_synced_structure_gets_no_changes() -> None:
    """Otherwise, a navigation that the platform syncs with a repository is changed and pruned.

    Otherwise, what only the repository has is pruned.
    Otherwise, what a repository decides is written, and the next sync writes it back.
    """
    plan = make_plan(synced(OTHER, site=REPOSITORY))
    assert (changed(plan), plan.refusals, plan.kept) == ([], (), ())


def test_git_synced_differences_are_blocked() -> None:
    """Otherwise, what is in a thing is not found below it.

    Otherwise, what the files have otherwise than the repository is not told.
    Otherwise, a node that the repository does not have is not told.
    """
    [blocked] = make_plan(synced(OTHER, site=REPOSITORY)).blocked
    assert blocked.address == "acme/sites/docs"
    assert blocked.reason == (
        "Git Sync connects this object to the repository acme/docs (github), which has other values: "
        "title, structure/new, structure/new/en and 1 more"
    )
    assert "takeover: true" in blocked.todo
    assert "remove the fields from your files" in blocked.todo


def test_matching_git_synced_structure_gets_note() -> None:
    """Otherwise, what agrees with its repository is blocked."""
    case = Case(wanted(things(("news", "News"))), things(("news", "News"), ("old", "Old")))
    plan = make_plan(synced(case, site=REPOSITORY))
    assert (changed(plan), plan.blocked) == ([], ())
    [note] = [note for note in plan.notes if note.address == "acme/sites/docs"]
    assert note.text == (
        "Git Sync sets title and structure from the repository acme/docs (github), so dpsync does not "
        "change title and structure"
    )


def test_drift_ignores_git_synced_structure() -> None:
    """Otherwise, what the platform syncs, or the policy ignores, is drift."""
    sides = synced(OTHER, site=REPOSITORY)
    drift = find_drift(sides, make_plan(sides), with_watched=True)
    assert (drift.found, drift.ignored) == ((), ())


def test_plan_changes_fields_git_sync_does_not_manage() -> None:
    site = {"docs": {**SITE["docs"], "visibility": "unlisted"}}
    sides = synced(Case(wanted(things(("news", "N"), site=site)), things(("news", "News"))), site=REPOSITORY)
    [change] = make_plan(sides).changes
    assert [(change.address, item.field) for item in change.differences] == [
        ("acme/sites/docs", "visibility")
    ]


def test_takeover_policy_plans_git_synced_changes_with_warning() -> None:
    """Otherwise, what somebody takes over is never written.

    Otherwise, a line that is needed is said to be able to go.
    """
    plan = make_plan(takes_over(synced(OTHER, site=REPOSITORY), "site"))
    assert changed(plan) == changed(make_plan(OTHER.sides()))
    [note] = [note for note in plan.notes if note.address == "acme/sites/docs#takeover"]
    assert (note.severity, "the next sync overwrites" in note.text) == ("warning", True)
    assert [note.text for note in plan.notes if "left alone" in note.text or "can go" in note.text] == []


def test_unneeded_takeover_policy_is_noted() -> None:
    """Otherwise, a line that does nothing is not told."""
    [note] = [
        note for note in make_plan(takes_over(OTHER.sides(), "site")).notes if "takeover" in note.address
    ]
    assert note.text.endswith("remove takeover from the entry")


def test_redirect_to_unsynced_section_is_blocked() -> None:
    found = things(("news", "News"), ("new", "New"))
    case = Case(wanted(found), things(("news", "News")))
    to = {"kind": "site-section", "siteSectionId": case.ref("section", "docs/new")}
    case.wanted = {**case.wanted, "redirect": {"docs/old": {"destination": to}}}
    [blocked] = [
        item for item in make_plan(synced(case, site=REPOSITORY)).blocked if "redirects" in item.address
    ]
    assert "acme/sites/docs/structure/new" in blocked.reason
    assert "repository" in blocked.reason


def test_git_synced_navigation_needs_no_restructure() -> None:
    """Otherwise, a navigation that the platform syncs with a repository is asked about, or taken apart."""
    flat = {**things(), "site_space": {"docs/en": {"path": "en", "space": LiveId("space-alpha")}}}
    case = Case(wanted(things(("news", "News"))), flat)
    assert [item.code for item in make_plan(case.sides()).refusals] == ["restructure"]
    assert make_plan(synced(case, site=REPOSITORY)).refusals == ()


@pytest.mark.parametrize(
    ("together", "left"), [(False, {"title"}), (True, set())], ids=["of its own", "of the site that shows it"]
)
def test_git_synced_space_keeps_uneditable_fields(together: bool, left: set[str]) -> None:
    now = {"alpha": {"title": "Alpha", "editMode": "locked", "emoji": "1f41d"}}
    then = {"alpha": {"title": "Alphabet", "editMode": "live", "emoji": "1f41d"}}
    sides = synced(Case({"space": then}, {"space": now}), space=SyncedRepository("a repository", together))
    fields = {item.field for change in make_plan(sides).changes for item in change.differences}
    assert fields == left
    assert [item.address for item in make_plan(sides).blocked] == ["acme/spaces/alpha"]


def test_git_synced_spaces_share_one_note() -> None:
    sides = synced(Case({"space": SPACES}, {"space": SPACES}), space=REPOSITORY)
    [note] = [note for note in make_plan(sides).notes if "Git Sync" in note.text]
    assert note.text == (
        "Git Sync connects 2 spaces to repositories, so dpsync does not change editMode: "
        "alpha (the repository acme/docs (github)), beta (the repository acme/docs (github))"
    )


def test_git_sync_notes_skip_ignored_site() -> None:
    """Otherwise, what the policy ignores is warned of.

    Otherwise, what the policy ignores is told.
    """
    case = Case(OTHER.wanted, OTHER.live, ignore=["sites/docs"])
    plan = make_plan(synced(case, site=REPOSITORY))
    assert "Git Sync" not in str(make_plan(takes_over(synced(case, site=REPOSITORY), "site")).notes)
    assert [item for item in (*plan.blocked, *plan.notes) if "Git Sync" in str(item)] == []


GOES = Case({"space": {"alpha": SPACES["alpha"]}}, {"space": SPACES}, prune=["spaces"], agreed=False)


def test_synced_space_deletion_refusal_names_repository() -> None:
    """Otherwise, who answers does not learn that a repository is in step with what goes."""
    words = "; Git Sync connects acme/spaces/[Beta] to the repository acme/docs (github)"
    [asked] = [item for item in make_plan(synced(GOES, space=REPOSITORY)).refusals if item.code == "content"]
    assert words in asked.message
    [asked] = [item for item in make_plan(GOES.sides()).refusals if item.code == "content"]
    assert "Git Sync" not in asked.message


def test_git_synced_space_deletion_gets_warning() -> None:
    """Otherwise, that content of a repository would be deleted is not warned of."""
    case = Case(GOES.wanted, GOES.live, prune=["spaces"], agreed=False, removed=["spaces/[Beta]"])
    plan = make_plan(synced(case, space=REPOSITORY))
    [note] = [note for note in plan.notes if note.address == "acme/spaces/[Beta]" and "Git Sync" in note.text]
    assert note.text == (
        "Git Sync connects this object to the repository acme/docs (github), and the plan deletes the object"
    )
    assert (note.severity, plan.refusals) == ("warning", ())
