"""A member whose removal the platform only requests: waited for, told as requested, and never called done."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from dpsync.client.client import WriteClient
from dpsync.client.retry import Clock
from dpsync.kinds.registry import build_registry
from dpsync.model.journal import Report
from dpsync.server.control.clock import MovableClock
from dpsync.server.control.gateway import Gateway
from dpsync.server.control.plane import ControlPlane
from dpsync.server.http.app import build_companion
from dpsync.server.process.threaded_server import ThreadedServer
from dpsync.server.store import open_store
from tests.agreed import agreed
from tests.planner.lab import Lab

WITHOUT_CY = "members: { ada@acme.example: admin, bo@acme.example: create }"
PRUNED = "{ prune: ['acme/members'], limits: { percent: 100 } }"


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    """Run a platform that asks its administrators before it removes a member."""
    store = open_store(":memory:")
    app = build_companion(store, profile="published", asks_before_removal=True)
    plane = ControlPlane(Gateway(app), MovableClock(store), lambda _: None)
    with ThreadedServer(app, plane) as server:
        yield Lab(server, tmp_path, build_registry("published")).holds()
    store.close()


class Answering(Clock):
    """Waits no time; the administrators answer while the client waits for the second time."""

    def __init__(self, answer: Any) -> None:
        super().__init__()
        self.waits: list[float] = []
        self.answer = answer

    def wait(self, seconds: float, _cancelled: object) -> None:
        self.waits.append(seconds)
        if len(self.waits) == 2 and self.answer is not None:
            self.answer()


def applied(lab: Lab, clock: Clock, timeout: float = 30.0) -> Report:
    session = lab.session(WITHOUT_CY, PRUNED)
    with WriteClient(lab.server.url, "token", clock=clock, timeout=timeout) as client:
        return session.apply(client, agreed(session, client))


def agree(lab: Lab) -> None:
    asked = {"organization": "acme", "user": "cy"}
    httpx.post(f"{lab.server.url}/_dpsync/removals", json=asked).raise_for_status()


def test_unconfirmed_member_removal_stays_requested(lab: Lab) -> None:
    """Otherwise, a removal that the platform only asks its administrators about is called done."""
    clock = Answering(None)
    report = applied(lab, clock)
    assert [item.result for item in report.outcomes] == ["requested"]
    assert not report.converged
    assert report.remaining is not None
    assert [(item.action, item.id) for item in report.remaining.changes] == [("delete", "cy")]
    assert 30 <= sum(clock.waits) < 36


def test_confirmed_member_removal_is_done(lab: Lab) -> None:
    clock = Answering(lambda: agree(lab))
    report = applied(lab, clock)
    assert [item.result for item in report.outcomes] == ["done"]
    assert report.converged
    assert len(clock.waits) == 2


def test_member_removal_waits_no_longer_than_timeout(lab: Lab) -> None:
    clock = Answering(None)
    applied(lab, clock, timeout=10.0)
    assert 10 <= sum(clock.waits) < 16


def test_member_removal_stays_requested_when_list_unreadable(lab: Lab) -> None:
    def fail() -> None:
        rule = {
            "operation": "listMembersInOrganizationById",
            "every": 1,
            "fault": {"kind": "status", "status": 403},
        }
        httpx.put(f"{lab.server.url}/_dpsync/faults", json=[rule]).raise_for_status()

    clock = Answering(fail)
    report = applied(lab, clock)
    assert [item.result for item in report.outcomes] == ["requested"]
    assert not report.complete
    assert len(clock.waits) == 2
