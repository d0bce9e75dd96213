"""At no moment is anything public that is public neither before nor after, whichever write fails."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from random import Random
from typing import Literal

import pytest

from dpsync.api import Planned
from dpsync.apply.executor import Schedule
from dpsync.client.errors import UnknownOutcomeError
from dpsync.client.transport import Request, Response, Transport
from dpsync.model.diagnostic import DiagnosticError
from dpsync.model.journal import Report
from dpsync.planner.answers import answer_in_flag
from tests.soak import SOAK, examples

from . import navigations
from .organizations import Draw
from .platform import Around, Platform
from .readers import Fact, seen
from .states import ids

Fault = Literal["none", "refused", "lost"]
"""A write that is refused before it is carried out, or that is carried out and whose answer is lost."""


class Watching(Around):
    """Looks at the platform after every write, and lets the write with one number fail."""

    def __init__(
        self, inner: Transport, look: Callable[[], None], fault: Fault = "none", at: int = -1
    ) -> None:
        super().__init__(inner)
        self.look, self.fault, self.at = look, fault, at
        self.writes = 0
        self.lock = threading.Lock()

    def send(self, request: Request) -> Response:
        if request.method == "GET":
            return self.inner.send(request)
        with self.lock:
            number, self.writes = self.writes, self.writes + 1
            if number == self.at and self.fault == "refused":
                body = b'{"error": {"code": 409, "message": "no"}}'
                return Response(409, {"content-type": "application/json"}, body)
            answer = self.inner.send(request)
            self.look()
        if number == self.at and self.fault == "lost":
            raise UnknownOutcomeError(request.method, request.path, "reset")
        return answer


class Scene:
    """A before and an after, and what anybody sees on the way from one to the other."""

    def __init__(self, platform: Platform, seed: int, full: bool = True) -> None:
        draw = Draw(Random(seed))
        flat = draw.chance(0.1)
        before = navigations.arrangement(draw, full=full, flat=flat)
        rebuilt = draw.chance(0.04)
        after = navigations.arrangement(draw, after=True, full=full, flat=flat is not rebuilt)
        self.platform, self.world = platform, navigations.world(before)
        self.session = platform.session(navigations.configuration(draw, after, before, full), 1)
        self.born = ids(self.world)
        self.answers: tuple[str, ...] = ()
        self.rebuilds = False
        self.facts: list[set[Fact]] = []

    def look(self) -> None:
        self.facts.append(seen(self.platform.state(), self.born))

    def plan(self) -> Planned | None:
        """Return the plan with every answer that it needs, or None if a question has no answer."""
        for _ in range(4):
            try:
                planned = self.platform.plan(self.session, *self.answers)
            except DiagnosticError:
                return None
            refused = planned.plan.refusals
            if not refused:
                return planned
            asked = (answer_in_flag(way.add) for item in refused for way in item.answers)
            self.answers += tuple(answer for answer in asked if answer is not None)
            self.rebuilds |= any(item.code == "restructure" for item in refused)
        return None

    def begin(self) -> Planned | None:
        self.platform.server.reset(self.world)
        return self.plan()

    def apply(self, planned: Planned, fault: Fault = "none", at: int = -1) -> tuple[Report, int]:
        watching: list[Watching] = []

        def around(inner: Transport) -> Transport:
            watching.append(Watching(inner, self.look, fault, at))
            return watching[0]

        self.facts = []
        self.look()
        report = self.platform.apply(self.session, planned, around)
        return report, watching[0].writes


def shuffled(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """Any step that may run now is the next one: only edges hold it back, not where it stands in the plan."""
    random = Random(seed)

    def next_(schedule: Schedule) -> str | None:
        if not schedule._ready:
            return None
        id = random.choice(sorted(schedule._ready))
        del schedule._ready[id]
        return id

    monkeypatch.setattr(Schedule, "take_ready_step", next_)


def faults(seed: int, writes: int, count: int) -> Iterator[tuple[Fault, int]]:
    """Yield some of the ways in which one write fails."""
    every: list[tuple[Fault, int]] = [(fault, at) for fault in ("refused", "lost") for at in range(writes)]
    yield from Random(seed).sample(every, min(count, len(every)))


def check(scene: Scene, allowed: set[Fact], what: str) -> None:
    for number, facts in enumerate(scene.facts):
        assert facts <= allowed, f"{what}, after write {number}: {sorted(facts - allowed)}"


SCENES = (*range(30), 42, 72, 123)
"""What a normal run tries: the last ones are those that have seen a mistake which the others do not see."""


@pytest.mark.parametrize("seed", range(600) if SOAK else SCENES)
def test_apply_has_no_transient_exposure(
    platform: Platform, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    walk(Scene(platform, seed), monkeypatch, seed, full=True)


@pytest.mark.parametrize("seed", range(examples(10, 200)))
def test_plan_without_draft_support_asks_before_transient_exposure(
    reference: Platform, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    walk(Scene(reference, seed, full=False), monkeypatch, seed)


def walk(scene: Scene, monkeypatch: pytest.MonkeyPatch, seed: int, full: bool = False) -> None:
    shuffled(monkeypatch, seed)
    planned = scene.begin()
    if planned is None:
        return
    asked = [item for item in planned.plan.exposures if item.moment]
    assert not full or not any(item.field for item in asked), f"nothing new needs to be asked about: {asked}"
    if asked:
        return
    _, writes = scene.apply(planned)
    end, allowed = scene.facts[-1], scene.facts[0] | scene.facts[-1]
    check(scene, allowed, "undisturbed")
    for fault, at in faults(seed, writes, examples(1, 12)):
        planned = scene.begin()
        assert planned is not None
        scene.apply(planned, fault, at)
        check(scene, allowed, f"write {at} {fault}")
        if scene.rebuilds:
            continue  # its next run goes on from here
        planned = scene.plan()
        assert planned is not None
        scene.apply(planned)
        check(scene, allowed, f"write {at} {fault}, then again")
        assert scene.facts[-1] == end, f"write {at} {fault}: the next run does not finish"
