"""Drift says who did something last to what was changed outside, where the platform has audit events."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from msgspec.structs import replace

from dpsync.api import Session
from dpsync.client.client import ReadClient
from dpsync.client.errors import (
    ClientError,
    ForbiddenError,
    InterruptedRequestError,
    NotFoundError,
    ServerFaultError,
)
from dpsync.kinds.profiles import PROFILES
from dpsync.kinds.registry import build_registry as load_registry
from dpsync.live.access import EVENTS_PER_PAGE, last_events
from dpsync.model.drift import Drift
from dpsync.render.json_conversion import drift_document
from dpsync.render.markdown import render_markdown
from dpsync.render.views import make_view
from dpsync.server.process.threaded_server import ThreadedServer
from tests.direct import reading, writing

from .lab import Lab, site, spaces

FILE = """
spaces: { a: { title: Space a } }
sites: { docs: { title: Docs, basename: docs } }
"""


@pytest.fixture
def lab(published_server: ThreadedServer, tmp_path: Path) -> Lab:
    return Lab(published_server, tmp_path).holds(spaces=spaces("a"), sites=[site()])


def drift(lab: Lab, token: str = "token", profile: str = "published") -> Drift:
    session = lab.session(FILE)
    with reading(lab.server, token) as client:
        desired = replace(session.desired, profile=profile)
        return Session(desired, load_registry(profile)).drift(client)


def somebody_renames(lab: Lab, title: str = "Handbook") -> None:
    with writing(lab.server) as client:
        client.send("PATCH", "/orgs/acme/sites/docs", {"title": title}, repeatable=True)


def test_drift_shows_last_audit_event(lab: Lab) -> None:
    somebody_renames(lab)
    [found] = drift(lab).found
    assert found.last_event is not None
    assert (found.last_event.action, found.last_event.actor) == ("updateSiteById", "ada")


def test_drift_outputs_contain_last_actor(lab: Lab) -> None:
    somebody_renames(lab)
    document = drift_document(drift(lab))
    assert '"action":"updateSiteById","actor":"ada"' in document.model_dump_json()
    assert "changed by ada" in render_markdown(make_view(document), 60_000)


def test_audit_events_are_read_only_when_needed(lab: Lab) -> None:
    """Otherwise, each check for drift sends a request that the platform does not have."""
    lab.server.app.requests.clear()
    assert drift(lab).found == ()
    somebody_renames(lab)
    [found] = drift(lab, profile="full").found
    assert found.last_event is None
    assert not any("audit-events" in path for _, path, _ in lab.server.app.requests)


def test_unreadable_audit_events_become_note(lab: Lab) -> None:
    somebody_renames(lab)
    holds = {**lab.world(), "tokens": {"token": "ada", "of-cy": "cy"}}
    lab.server.reset(holds)
    found = drift(lab, "of-cy")
    assert [(one.address, one.last_event) for one in found.found] == [("acme/sites/docs", None)]
    said = {note.address: note.text for note in found.notes}
    assert said["acme"].startswith("dpsync cannot show who changed objects: ")


WHO = "@everyone [a](https://evil.example)"


def test_drift_markdown_escapes_actor_names() -> None:
    document = drift_document(
        Drift.model_validate(
            {
                "platform": "https://p.example",
                "found": [
                    {
                        "address": "acme/sites/docs", "kind": "site", "what": "different",
                        "last_event": {"action": "x", "actor": WHO, "at": "now"},
                    }
                ],
            }
        )
    )  # fmt: skip
    text = render_markdown(make_view(document), 60_000)
    assert "[a](https://evil.example)" not in text
    assert "`@everyone" in text


# What is asked, and what becomes of other answers: a platform of plain values.

TODAY = PROFILES["published"]


def event(id: str, who: str = "Ada") -> dict[str, Any]:
    return {
        "action": "site.updated", "actor": {"type": "user", "id": "u1", "label": who},
        "occurredAt": "2026-11-20T10:00:00Z", "target": {"type": "site", "id": id},
    }  # fmt: skip


class Platform:
    def __init__(self, *events: Any, refuses: ClientError | None = None) -> None:
        self.events, self.refuses = events, refuses
        self.asked: list[dict[str, Any]] = []

    def get(self, _path: str, params: dict[str, Any]) -> Any:
        self.asked.append(params)
        if self.refuses:
            raise self.refuses
        chosen = [one for one in self.events if params.get("target") in (None, one["target"]["id"])]
        return {"items": chosen[: params["limit"]]}


def found(platform: Any, *ids: str) -> Any:
    return last_events(cast(ReadClient, platform), TODAY, "acme", ids)


def test_newest_audit_event_wins() -> None:
    """Otherwise, what became of another object is kept as if it had been asked for.

    Otherwise, somebody is named who has not done it last.
    """
    known = found(Platform(event("b"), event("a", "Bo"), event("a")), "a")
    assert {id: one.actor for id, one in known.by_id.items()} == {"a": "Bo"}


def test_audit_events_need_at_most_eleven_requests() -> None:
    """Otherwise, what has no event costs ten more requests each time.

    Otherwise, a request is sent for each of a thousand objects.
    """
    platform = Platform(*(event(f"x{number}") for number in range(EVENTS_PER_PAGE)))
    found(platform, *(f"y{number}" for number in range(50)))
    assert len(platform.asked) == 11
    platform = Platform(event("x"))
    found(platform, "y")
    assert len(platform.asked) == 1


def test_known_audit_events_are_not_refetched() -> None:
    """Otherwise, where nothing has drifted the events are asked for all the same.

    Otherwise, what is known is asked for again, and what is not known never is.
    """
    platform = Platform(*(event(f"x{number}") for number in range(EVENTS_PER_PAGE)))
    assert found(platform, "x7").by_id.keys() == {"x7"}
    assert len(platform.asked) == 1
    found(platform)
    assert len(platform.asked) == 1


def test_nameless_audit_actor_is_shown_by_id() -> None:
    """Otherwise, that somebody without a name has changed it is told by nobody."""
    nameless = {**event("a"), "actor": {"type": "user", "id": "u1"}}
    assert found(Platform(nameless), "a").by_id["a"].actor == "u1"


@pytest.mark.parametrize(
    ("refuses", "why"),
    [
        (ForbiddenError("GET", "", 403, "no"), "this token cannot read the audit events"),
        (NotFoundError("GET", "", 404, "no"), "this token cannot read the audit events"),
        (ServerFaultError("GET", "", 500, "no"), "dpsync could not read the audit events"),
    ],
)
def test_unreadable_audit_events_give_one_reason(refuses: ClientError, why: str) -> None:
    """Otherwise, a token that sees no events is told that the platform has failed.

    Otherwise, events that cannot be read end the check for drift.
    """
    known = found(Platform(refuses=refuses), "a")
    assert known.by_id == {}
    assert known.unreadable_reason == f"{why} (GET /orgs/acme/audit-events)"


def test_interrupt_stops_reading_audit_events() -> None:
    """Otherwise, a signal while events are read is passed over."""
    with pytest.raises(InterruptedRequestError):
        found(Platform(refuses=InterruptedRequestError("GET", "")), "a")


@pytest.mark.parametrize(
    "answer", [None, [], {"items": None}, {"items": ["x", {"target": 1}, {"actor": "me"}]}]
)
def test_malformed_audit_event_response_is_ignored(answer: Any) -> None:
    """Otherwise, an answer of another shape ends the check for drift.

    Otherwise, an event without a person or a time is told as one.
    Otherwise, an event of another shape ends the check for drift.
    """
    known = found(SimpleNamespace(get=lambda _path, _params: answer), "a")
    assert (known.by_id, known.unreadable_reason) == ({}, None)
