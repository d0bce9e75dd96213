"""How a rehearsal is run and what it says: of what it did, and of what the companion cannot do."""

from __future__ import annotations

import copy
from functools import partial
from threading import Event
from types import SimpleNamespace
from typing import Any, cast

import pytest
from msgspec.structs import replace
from pydantic_core import from_json, to_json

from dpsync.apply.journal import NullJournal
from dpsync.client.transport import Request, Response
from dpsync.model.change import Change, Kept, NavigationChange
from dpsync.model.journal import Outcome, Report
from dpsync.model.plan import Plan, Rehearsal
from dpsync.rehearse import run
from dpsync.rehearse.faults import RehearsalSetup
from dpsync.rehearse.findings import unverifiable
from dpsync.rehearse.replica import Replica, _start_counters
from dpsync.rehearse.run import rehearse
from dpsync.rehearse.world import World
from dpsync.server.store import Record
from tests.rehearse.conftest import WANTED, Staged


def kinds(rehearsal: Rehearsal) -> set[str]:
    return {one.what for one in rehearsal.deviations}


def altered(stage: RehearsalSetup, path: str, **members: Any) -> None:
    """Change the platform's recorded answers at a path."""
    for (one, query), answer in list(stage.recording._answers.items()):
        if one == path:
            body = from_json(answer.body)
            for item in body.get("items", [body]):
                item |= members
            kept = Response(answer.status, answer.headers, to_json(body), answer.has_marked_end)
            stage.recording._answers[one, query] = kept


def test_rehearsal_counts_steps_moves_and_writes(staged: Staged) -> None:
    rehearsal = rehearse(staged())
    assert (rehearsal.done, rehearsal.steps, rehearsal.moves) == (16, 16, 1)
    assert (rehearsal.writes, rehearsal.looked) == (16, 16)


@pytest.mark.parametrize("parallelism", [1, 16])
def test_rehearsal_is_independent_of_parallelism(staged: Staged, parallelism: int) -> None:
    rehearsal = rehearse(staged(parallelism=parallelism))
    assert (rehearsal.went_as_planned, rehearsal.complete) == (True, True)


def test_estimated_time_is_two_reads_plus_writes(staged: Staged) -> None:
    time = rehearse(staged()).time
    assert time is not None
    assert time.seconds == pytest.approx(2 * time.reading + time.writing, abs=0.01)


def test_rehearsal_fails_when_copy_differs_from_platform(staged: Staged) -> None:
    """Otherwise, a rehearsal of another platform than the live one calls the plan fit."""
    stage = staged()
    altered(stage, "/orgs/acme/spaces", title="Another")  # and the plan is still that of the first answer
    rehearsal = rehearse(stage)
    assert (kinds(rehearsal), rehearsal.went_as_planned, rehearsal.done) == ({"loading"}, False, 0)
    assert rehearsal.time is None


def test_rehearsal_stops_when_copy_cannot_be_loaded(
    staged: Staged,
) -> None:
    stage = staged()
    altered(stage, "/orgs/acme/sites/docs/structure", structure=[{"object": "site-space", "id": "x"}])
    rehearsal = rehearse(stage)
    assert (kinds(rehearsal), rehearsal.done) == ({"loading"}, 0)


def test_rehearsal_fails_when_plan_does_not_converge(staged: Staged, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise, a rehearsal that does not converge calls the plan fit."""
    real = Replica.send

    def kept(self: Replica, request: Request) -> Response:
        """Answer as if the write was done, without doing it."""
        if request.method == "PATCH" and request.path == "/spaces/news":
            return real(self, Request("GET", request.path))
        return real(self, request)

    monkeypatch.setattr(Replica, "send", kept)
    rehearsal = rehearse(staged())
    assert kinds(rehearsal) == {"convergence"}
    (one,) = rehearsal.deviations
    assert (one.address, one.origin is not None) == ("acme/spaces/news", True)


def test_refused_rehearsal_step_reports_status_and_line(
    staged: Staged, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Replica.send

    def refusing(self: Replica, request: Request) -> Response:
        if request.method == "PATCH" and request.path == "/spaces/news":
            body = {"error": {"code": 409, "message": "this title is taken"}}
            return Response(409, {"content-type": "application/json"}, to_json(body))
        return real(self, request)

    monkeypatch.setattr(Replica, "send", refusing)
    one = rehearse(staged()).deviations[0]
    assert (one.what, one.step, one.status) == ("step", "acme/spaces/news update", 409)
    assert "this title is taken" in one.message
    assert one.origin is not None


def test_rehearsal_lists_assumed_unread_references(staged: Staged) -> None:
    wanted = copy.deepcopy(WANTED)
    acme = wanted["organizations"]["acme"]
    acme["collections"], acme["sites"] = {"all": {"title": "All", "new": True}}, {}
    wanted["organizations"]["acme"] = {
        "id": "acme", "spaces": {"fresh": {"title": "Fresh", "new": True, "collection": {"id": "c-old"}}},
    }  # fmt: skip
    del wanted["policy"]
    rehearsal = rehearse(staged(wanted))
    assert rehearsal.went_as_planned
    assert [one.about for one in rehearsal.unproven if one.what == "assumed"] == [("the collection c-old",)]


def test_rehearsal_opens_no_connection_to_platform(staged: Staged, monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(*_: Any, **__: Any) -> Any:
        raise AssertionError("a rehearsal opens no transport")

    stage = staged()
    monkeypatch.setattr("dpsync.client.client.HttpTransport", nowhere)
    assert rehearse(stage).went_as_planned


def test_rehearsal_keeps_no_journal_or_ids_file(staged: Staged, monkeypatch: pytest.MonkeyPatch) -> None:
    stage, given = staged(), {}
    real = type(stage.session).apply

    def seen(self: Any, *arguments: Any, **more: Any) -> Any:
        given.update(more)
        return real(self, *arguments, **more)

    monkeypatch.setattr(type(stage.session), "apply", seen)
    rehearse(stage)
    assert given.keys() == {"secrets", "report", "stop"}
    assert NullJournal.path is None


def test_rehearsal_uses_fresh_placeholder_secrets(staged: Staged, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOT_KEY", "s3cret")
    bot = {"title": "Bot", "script": "x", "secrets": {"KEY": {"env": "BOT_KEY"}}, "new": True}
    bots = {"publishedIntegrations": {"acme-bot": bot}}
    stage = staged({"dpsync": 1, "organizations": {"acme": {"id": "acme", **bots}}})
    first, second = stage.placeholder_secrets(), stage.placeholder_secrets()
    assert list(first) == ["BOT_KEY"]
    assert first != second
    assert "s3cret" not in first.values()


TO_SECTIONS = NavigationChange(address="acme/sites/docs", before=(), after=(), known=False)


@pytest.mark.parametrize(
    ("plan", "told"),
    [
        (Plan(navigation=(TO_SECTIONS,)), []),
        (Plan(navigation=(TO_SECTIONS.model_copy(update={"known": True}),)), ["convergence"]),
        (Plan(confirmed=("restructure acme/sites/docs",)), ["convergence"]),
    ],
    ids=["towards sections", "in one run", "an answer to nothing"],
)
def test_only_two_run_navigation_plans_may_leave_changes(plan: Plan, told: list[str]) -> None:
    """Otherwise, whoever answers a question that nobody asks learns of no plan that does not converge.

    Otherwise, a navigation that is built in two runs can never be rehearsed.
    """
    left = Plan(changes=(Change(address="acme/teams/a", kind="team", action="update"),))
    report = Report(plan=plan.digest, remaining=left)
    assert [item.what for item in run._deviations(plan, report)] == told


def test_rehearsal_groups_failed_steps_by_reason() -> None:
    """Otherwise, what hangs on one step hides that step among as many others.

    Otherwise, an apply that stopped on the way passes for one that went well.
    """
    made = partial(Outcome, address="acme/teams/a", verb="create")
    outcomes = (
        made(step="1", result="done"),
        made(step="2", result="failed", error="no"),
        made(step="3", result="not-tried", error="it needs 2"),
        made(step="4", result="not-tried", error="it needs 3"),
    )
    report = Report(plan="", outcomes=outcomes, trouble=("the platform is gone",))
    assert [(one.what, one.message) for one in run._deviations(Plan(), report)] == [
        ("step", "failed: no"),
        ("step", "2 steps not tried: it needs 2"),
        ("stopped", "the platform is gone"),
    ]


@pytest.mark.parametrize(
    ("place", "before", "told"),
    [("acme/spaces", 0, True), ("acme/spaces", 1, False), ("acme/teams/ops/members", 0, False)],
)
def test_rehearsal_detects_duplicated_content(place: str, before: int, told: bool, staged: Staged) -> None:
    """Otherwise, content that an apply makes twice is found by nobody."""
    stage = staged()
    there = tuple(Kept(place=place, addresses=(f"{place}/[A]",)) for _ in range(before))
    stage = replace(stage, planned=replace(stage.planned, plan=Plan(kept=there)))
    after = Report(plan="", remaining=Plan(kept=(Kept(place=place, addresses=(f"{place}/[A]",)),)))
    nowhere = cast("Replica", SimpleNamespace())
    found = run._Run(stage, World(), nowhere, lambda _: None, Event())._duplicates(after)
    words = f"after the rehearsal, the copy contained 1 new object without an entry: {place}/[A]"
    assert [one.message for one in found] == [words] * told


@pytest.mark.parametrize(
    ("world", "told"),
    [
        (World(), {"token"}),
        (World(space_count=2), {"token", "content"}),
        (World(script_count=1), {"token", "scripts"}),
    ],
)
def test_rehearsal_reports_unloaded_content(world: World, told: set[str]) -> None:
    """Otherwise, that no content was loaded is told by nobody.

    Otherwise, that no content was loaded is told by nobody, also of scripts.
    """
    found = unverifiable(Plan(), world, refused=(), guessed=(), fetched=(), secrets=(), differing=())
    assert {one.what for one in found} == told


def test_rehearsal_ids_never_collide_with_existing_ids() -> None:
    """Otherwise, what a rehearsal makes takes the id of something that is there."""
    known = (("team", "tm-7"), ("team", "tm-12"), ("deleted-space", "sp-3"), ("space", "guides-99"))
    records = [Record(kind, id, {}) for kind, id in known]
    assert _start_counters(records, {"team": "tm", "space": "sp"}) == {"team": 12, "space": 3}


def test_rehearsal_skips_exposure_checks_for_harmless_steps(
    staged: Staged, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[Any] = []
    real = Replica.sites

    def counted(self: Replica, ids: set[str] | None = None) -> Any:
        looks.append(ids)
        return real(self, ids)

    monkeypatch.setattr(Replica, "sites", counted)
    spaces = {key: {"title": f"{key} again", "id": key} for key in ("guides", "news", "blog", "inside")}
    rehearsal = rehearse(staged({"dpsync": 1, "organizations": {"acme": {"id": "acme", "spaces": spaces}}}))
    assert (rehearsal.writes, rehearsal.went_as_planned) == (4, True)
    assert looks == [None, None]  # before the first write, and after the last one
