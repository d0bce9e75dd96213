"""What was read is loaded and nothing else; what was rehearsed is what an apply does."""

from __future__ import annotations

import json
from collections.abc import Callable
from threading import Event
from typing import Any

import pytest

from dpsync.api import Planned, Session
from dpsync.client.transport import Request, Response, Transport
from dpsync.model.journal import SUCCESSFUL
from dpsync.model.text import json_text
from dpsync.rehearse.faults import RehearsalSetup
from dpsync.rehearse.findings import PublicFact, PublicHistory, facts_of_site
from dpsync.rehearse.replica import Replica
from dpsync.rehearse.run import _Run, rehearse
from dpsync.rehearse.world import SavedFrom, world_file
from dpsync.server.store import Record

from . import others
from .laws import law, said
from .organizations import Draw
from .platform import TOKEN, Around, Platform, case
from .rehearsals import staged
from .test_other_kinds import applied


def loaded_is_what_was_read(stage: RehearsalSetup) -> None:
    world = stage.world()
    with Replica(world, stage.session.registry.profile.name, stage.recording) as replica:
        with stage.client(replica) as client:
            again = stage.session.plan(client, stage.planned.options)
        assert replica.guessed_lists == set()
    assert again.snapshot.objects == stage.planned.snapshot.objects
    assert again.snapshot.matches == stage.planned.snapshot.matches
    assert again.plan.canonical_json() == stage.plan.canonical_json()
    assert world.unknown == []


def saved_is_what_was_read(platform: Platform, stage: RehearsalSetup) -> None:
    """Check that a world that was saved and is served is read as the platform was."""
    made = world_file(stage.world(), SavedFrom("https://a.example", "2026-01-31T09:30:00Z", "full"), str)
    platform.server.reset(json.loads(json_text(made)))
    token = Record("token", TOKEN, {}, ref=made["origin"]["caller"])
    platform.server.run_in_server(lambda: platform.server.app.store.put(token))
    with platform.client() as client:
        again = stage.session.plan(client, stage.planned.options)
    plain, read = without_settings(again), without_settings(stage.planned)
    assert plain == read
    assert again.snapshot.matches == stage.planned.snapshot.matches


def without_settings(planned: Planned) -> dict[Any, dict[str, Any]]:
    """Return what was read, without the settings of integrations: any of them may be a key."""
    return {
        at: {name: value for name, value in one.fields.items() if name != "configuration"}
        for at, one in planned.snapshot.objects.items()
    }


def rehearsed_is_what_is_done(platform: Platform, session: Session, stage: RehearsalSetup) -> None:
    rehearsal = rehearse(stage)

    with platform.client() as client:
        report = session.apply(client, stage.planned, secrets={})

    assert rehearsal.deviations == (), rehearsal.deviations
    assert rehearsal.done == report.count(*SUCCESSFUL) == rehearsal.steps, said(report)
    assert rehearsal.writes == report.writes
    assert not report.remaining or report.remaining.empty, said(report)


@law(50)
def test_rehearsal_copy_reproduces_read_responses(platform: Platform, draw: Draw) -> None:
    made = case(draw, size=draw.number(1, 4))
    platform.start(made)
    loaded_is_what_was_read(staged(platform, platform.session(made.configuration)))


@law(50)
def test_rehearsal_copy_of_reference_version_reproduces_read_responses(
    reference: Platform, draw: Draw
) -> None:
    made = case(draw, size=draw.number(1, 4))
    reference.start(made)
    loaded_is_what_was_read(staged(reference, reference.session(made.configuration)))


@law(50)
def test_rehearsal_copy_of_published_version_reproduces_read_responses(today: Platform, draw: Draw) -> None:
    made = case(draw, size=draw.number(1, 4))
    today.start(made)
    loaded_is_what_was_read(staged(today, today.session(made.configuration)))


@law(22)
def test_saved_copy_reproduces_read_responses(platform: Platform, draw: Draw) -> None:
    made = case(draw, size=draw.number(1, 4))
    platform.start(made)
    saved_is_what_was_read(platform, staged(platform, platform.session(made.configuration)))


@law(22)
def test_saved_copy_of_reference_version_reproduces_read_responses(reference: Platform, draw: Draw) -> None:
    made = case(draw, size=draw.number(1, 4))
    reference.start(made)
    saved_is_what_was_read(reference, staged(reference, reference.session(made.configuration)))


@law(22)
def test_saved_copy_of_published_version_reproduces_read_responses(today: Platform, draw: Draw) -> None:
    made = case(draw, size=draw.number(1, 4))
    today.start(made)
    saved_is_what_was_read(today, staged(today, today.session(made.configuration)))


@law(22)
def test_saved_copy_with_every_kind_reproduces_responses(platform: Platform, draw: Draw) -> None:
    platform.server.reset(others.world())
    applied(platform, others.document(others.organization(draw)))
    platform.server.wait_for_jobs(include_abandoned=True)
    stage = staged(platform, platform.session(others.document(others.organization(draw))))
    saved_is_what_was_read(platform, stage)


@law(30)
def test_clean_apply_converges_after_rehearsed_faults(platform: Platform, draw: Draw) -> None:
    made = case(draw, size=draw.number(1, 4))
    platform.start(made)
    rehearsal = rehearse(staged(platform, platform.session(made.configuration)), faults=4, seed=0)
    assert [run for run in rehearsal.faults if not run.good] == []


@law(28)
def test_rehearsal_copy_with_every_kind_reproduces_responses(platform: Platform, draw: Draw) -> None:
    platform.server.reset(others.world())
    applied(platform, others.document(others.organization(draw)))
    platform.server.wait_for_jobs(include_abandoned=True)
    loaded_is_what_was_read(staged(platform, platform.session(others.document(others.organization(draw)))))


@law(100)
def test_apply_equals_its_rehearsal(platform: Platform, draw: Draw) -> None:
    made = case(draw, size=draw.number(1, 4))
    platform.start(made)
    session = platform.session(made.configuration, draw.pick([4, 1]))
    rehearsed_is_what_is_done(platform, session, staged(platform, session))


@law(100)
def test_apply_on_reference_version_equals_its_rehearsal(reference: Platform, draw: Draw) -> None:
    made = case(draw, size=draw.number(1, 4))
    reference.start(made)
    session = reference.session(made.configuration)
    rehearsed_is_what_is_done(reference, session, staged(reference, session))


@law(100)
def test_apply_of_every_kind_equals_its_rehearsal(platform: Platform, draw: Draw) -> None:
    platform.server.reset(others.world())
    applied(platform, others.document(others.organization(draw)))
    platform.server.wait_for_jobs(include_abandoned=True)
    session = platform.session(others.document(others.organization(draw)))
    rehearsed_is_what_is_done(platform, session, staged(platform, session))


class Watched(Around):
    """Notes what is public after each write, as a rehearsal does."""

    def __init__(self, inner: Transport, look: Callable[[str], None]) -> None:
        super().__init__(inner)
        self.look = look

    def send(self, request: Request) -> Response:
        answer = self.inner.send(request)
        if request.method != "GET":
            self.look(f"{request.method} {request.path}")
        return answer


@law(40)
def test_apply_changes_visibility_in_rehearsed_order(platform: Platform, draw: Draw) -> None:
    made = case(draw, size=draw.number(1, 4))
    platform.start(made)
    session = platform.session(made.configuration, 1)
    stage = staged(platform, session)
    world = stage.world()
    with Replica(world, "full", stage.recording) as replica:
        rehearsed = _Run(stage, world, replica, lambda _: None, Event())
        assert rehearsed.run().deviations == ()
        born = replica.initial_ids
    history = PublicHistory()

    def facts() -> dict[str, set[PublicFact]]:
        sites = (site for one in platform.state()["organizations"] for site in one["sites"])
        found = {site["id"]: facts_of_site(site, born) for site in sites}
        return {site: found.get(site, set()) for site in {*history.sites, *found}}

    history.set_start(facts())
    around = lambda inner: Watched(inner, lambda write: history.record_write(write, facts()))  # noqa: E731
    with platform.client(around) as client:
        session.apply(client, stage.planned, secrets={})

    seen = [(write, facts) for write, _, facts in rehearsed.public_history.changes]
    assert seen == [(write, facts) for write, _, facts in history.changes]


@pytest.mark.parametrize("seed", [15, 32])
def test_rehearsal_leaves_platform_unchanged(platform: Platform, seed: int) -> None:
    from random import Random

    made = case(Draw(Random(seed)), size=4, explicit=True)
    platform.start(made)
    stage = staged(platform, platform.session(made.configuration))
    before = platform.state()
    platform.server.run_in_server(platform.server.app.requests.clear)

    rehearse(stage)

    assert platform.server.run_in_server(lambda: list(platform.server.app.requests)) == []
    assert platform.state() == before
