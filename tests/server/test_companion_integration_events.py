"""Events of integrations: recorded, and in development mode sent to a tunnel."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from companion_calls import Api, StillClock
from covers import covers
from loopback import Quiet, listening

from dpsync.server import world
from dpsync.server.control.world_export import export_state
from dpsync.server.http.app import build_companion
from dpsync.server.integrations import events
from dpsync.server.process.threaded_server import ThreadedServer
from dpsync.server.store import open_store
from tests.patience import PATIENCE

TOOLS = "/integrations/acme-tools"
INSTALLED = f"{TOOLS}/installations/acme-tools-in-acme"
STATUS = "/integrations/reactor-status"
IN_ACME = f"{STATUS}/installations/reactor-status-in-acme"
BEFORE = ["acme-tools-installed", "acme-tools-configured"]


class Tunnel:
    """A web server on loopback: what it answers, and what it was sent. Held back, it answers when let go."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.status = 204
        self.headers: dict[str, str] = {}
        self.sent: list[Any] = []
        self.content_types: list[str | None] = []
        self.arrived = threading.Semaphore(0)
        self.free = threading.Event()
        self.free.set()


@contextmanager
def serving() -> Iterator[Tunnel]:
    class Answers(Quiet):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            tunnel.sent.append(json.loads(body))
            tunnel.content_types.append(self.headers["Content-Type"])
            tunnel.arrived.release()
            tunnel.free.wait(PATIENCE)
            self.answer(tunnel.status, b"", tunnel.headers)

    with listening(Answers) as url:
        tunnel = Tunnel(f"{url}/events")
        try:
            yield tunnel
        finally:
            tunnel.free.set()


@pytest.fixture
def tunnel() -> Iterator[Tunnel]:
    with serving() as tunnel:
        yield tunnel


def new_events(api: Api, integration: str = TOOLS) -> list[Any]:
    """Those that the world did not start with, as they are shown one by one."""
    shown = [event for event in api.items(f"{integration}/events") if event["id"].startswith("event-")]
    return [api.get(f"{integration}/events/{event['id']}") for event in shown]


def told(api: Api, count: int, integration: str = TOOLS) -> list[Any]:
    """Return the new events once all are sent, and check their number."""
    api.server.wait_for_jobs()
    found = new_events(api, integration)
    assert len(found) == count
    return found


def payloads(api: Api, integration: str = TOOLS) -> list[Any]:
    """Without the members that only say which event of which installation it is."""
    found = [detail["event"]["payload"] for detail in new_events(api, integration)]
    assert all(payload.pop("eventId").startswith("event-") for payload in found)
    assert all(payload.pop("installationId") for payload in found)
    return found


def logs(detail: Any) -> list[tuple[str, str]]:
    return [(entry["level"], entry["message"]) for entry in detail["trace"]["logs"]]


def develop(api: Api, url: str, integration: str = TOOLS, **more: Any) -> None:
    api.put(f"{integration}/dev", {"tunnelUrl": url, **more}, 204)


def configure(api: Api, path: str = INSTALLED, **configuration: Any) -> None:
    api.patch(path, {"configuration": configuration})


# --- recorded -----------------------------------------------------------------------------------------


@covers("listIntegrationEvents", 200)
@covers("getIntegrationEvent", 200)
def test_integration_events_are_listed_with_trace(api: Api) -> None:
    listed = api.items(f"{TOOLS}/events", limit=1)
    assert [event["id"] for event in listed] == BEFORE
    for event in listed:
        detail = api.get(f"{TOOLS}/events/{event['id']}")
        assert detail["event"] == event
        assert detail["trace"]["logs"]
    assert listed[1]["payload"]["previous"] == {"status": "pending", "configuration": {}}
    assert listed[1]["integrationId"] == "acme-tools"


@covers("getIntegrationEvent", 404)
@covers("listIntegrationEvents", 404)
def test_event_of_other_integration_returns_404(api: Api) -> None:
    api.refused(404, "GET", f"{TOOLS}/events/none")
    api.refused(404, "GET", f"{TOOLS}/events/reactor-status-installed")
    api.as_("hank-token").refused(404, "GET", f"{TOOLS}/events")


@covers("getIntegrationEvent", 403)
@covers("listIntegrationEvents", 403)
def test_integration_events_require_owner_admin(api: Api) -> None:
    for caller in (api.as_("lin-token"), api.as_("gus-token")):
        caller.refused(403, "GET", f"{TOOLS}/events")
        caller.refused(403, "GET", f"{TOOLS}/events/{BEFORE[0]}")
    api.as_("grace-token").refused(403, "GET", f"{STATUS}/events")


def test_installation_changes_are_recorded_as_events(api: Api) -> None:
    api.delete(INSTALLED)
    made = api.make(f"{TOOLS}/installations", {"organization": "acme"})
    path = f"{TOOLS}/installations/{made['id']}"
    configure(api, path, server="x")
    configure(api, path, server="x")
    api.patch(path, {"externalIds": ["x"], "space_selection": "selected"})
    configure(api, path, server="y")
    api.delete(path)
    setup, deleted = "installation_setup", "installation_deleted"
    assert payloads(api) == [
        {"type": deleted, "previous": {"configuration": {"server": "https://tools.acme.example"}}},
        {"type": setup, "status": "pending"},
        {"type": setup, "status": "active", "previous": {"status": "pending", "configuration": {}}},
        {
            "type": setup,
            "status": "active",
            "previous": {"status": "active", "configuration": {"server": "x"}},
        },
        {"type": deleted, "previous": {"configuration": {"server": "y"}}},
    ]
    detail = new_events(api)[1]
    assert detail["event"]["status"] == "success"
    assert detail["event"]["installationId"] == made["id"] == detail["event"]["payload"]["installationId"]
    assert detail["event"]["id"] == detail["event"]["payload"]["eventId"]
    assert logs(detail) == [("debug", "recorded, but not sent, because no tunnel is set")]


def test_space_and_site_installation_changes_are_recorded(api: Api) -> None:
    api.make(f"{INSTALLED}/spaces", {"space": "guides"})
    configure(api, f"{INSTALLED}/spaces/guides", label="x")
    api.delete(f"{INSTALLED}/spaces/guides")
    api.delete("/orgs/acme/sites/docs")
    active = {"status": "active"}
    assert payloads(api) == [
        {"type": "space_installation_setup", "spaceId": "guides", **active},
        {
            "type": "space_installation_setup",
            "spaceId": "guides",
            **active,
            "previous": {**active, "configuration": {}},
        },
        {
            "type": "space_installation_deleted",
            "spaceId": "guides",
            "previous": {"configuration": {"label": "x"}},
        },
        {"type": "site_installation_deleted", "siteId": "docs", "previous": {"configuration": {}}},
    ]


def test_new_integration_version_records_status_change_event(api: Api) -> None:
    declared = {"account": {"properties": {"key": {"type": "string"}}, "required": ["key"]}}
    api.post(TOOLS, {"configurations": declared})
    (payload,) = payloads(api)
    assert (payload["type"], payload["status"], payload["previous"]["status"]) == (
        "installation_setup",
        "pending",
        "active",
    )


def test_refused_installation_change_records_no_event(api: Api) -> None:
    api.refused(400, "PATCH", INSTALLED, {"configuration": {"server": 1}})
    api.refused(404, "POST", f"{INSTALLED}/spaces", {"space": "none"})
    assert new_events(api) == []


def test_server_keeps_only_latest_integration_events(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "MAX_EVENTS", 3)
    for number in range(4):
        configure(api, server=str(number))
    assert api.ids(f"{TOOLS}/events") == ["event-2", "event-3", "event-4"]
    assert api.ids(f"{STATUS}/events") == ["reactor-status-installed"]


# --- sent ---------------------------------------------------------------------------------------------


@covers("setIntegrationDevelopmentMode", 204)
def test_event_is_posted_to_tunnel_and_traced(api: Api, tunnel: Tunnel) -> None:
    develop(api, tunnel.url)
    configure(api, server="x")
    (detail,) = told(api, 1)
    assert tunnel.sent == [detail["event"]["payload"]]
    assert tunnel.content_types == ["application/json"]
    assert detail["event"]["status"] == "success"
    assert logs(detail) == [("debug", f"POST {tunnel.url}"), ("info", "the tunnel returned the status 204")]


def test_tunnel_can_be_set_by_url_member(api: Api, tunnel: Tunnel) -> None:
    api.put(f"{TOOLS}/dev", {"url": tunnel.url}, 204)
    configure(api, server="x")
    told(api, 1)
    assert len(tunnel.sent) == 1


def test_tunnel_events_are_sent_sequentially_in_order(api: Api, tunnel: Tunnel) -> None:
    develop(api, tunnel.url)
    tunnel.free.clear()
    for number in range(5):
        configure(api, server=str(number))
    assert tunnel.arrived.acquire(timeout=PATIENCE)
    assert new_events(api) == []
    assert len(tunnel.sent) == 1
    tunnel.free.set()
    details = told(api, 5)
    assert tunnel.sent == [detail["event"]["payload"] for detail in details]
    servers = [payload["previous"]["configuration"]["server"] for payload in tunnel.sent]
    assert servers == ["https://tools.acme.example", "0", "1", "2", "3"]


@pytest.mark.parametrize("status", [500, 404, 302, 304])
def test_tunnel_response_other_than_success_fails_event(api: Api, tunnel: Tunnel, status: int) -> None:
    tunnel.status, tunnel.headers = status, {"Location": tunnel.url}
    develop(api, tunnel.url)
    configure(api, server="x")
    (detail,) = told(api, 1)
    assert detail["event"]["status"] == "failed"
    assert logs(detail)[-1] == ("error", f"the tunnel returned the status {status}")
    assert len(tunnel.sent) == 1


def test_tunnel_timeout_fails_event(impatient: Api, tunnel: Tunnel) -> None:
    tunnel.free.clear()
    develop(impatient, tunnel.url)
    configure(impatient, server="x")
    (detail,) = told(impatient, 1)
    assert detail["event"]["status"] == "failed"
    assert logs(detail)[-1] == ("error", "no response within 0.1 seconds")


def test_unreachable_tunnel_fails_event(api: Api) -> None:
    develop(api, "http://127.0.0.1:1/")
    configure(api, server="x")
    (detail,) = told(api, 1)
    level, message = logs(detail)[-1]
    assert (detail["event"]["status"], level) == ("failed", "error")
    assert message.startswith("the tunnel cannot be reached")


@pytest.mark.parametrize("url", ["https://tunnel.example/", "http://10.0.0.1/", "http://[::2]/", "http://["])
def test_tunnel_outside_loopback_is_not_contacted(api: Api, url: str) -> None:
    develop(api, url)
    configure(api, server="x")
    (detail,) = told(api, 1)
    assert detail["event"]["status"] == "failed"
    if url != "http://[":
        assert "may not contact" in logs(detail)[-1][1]


def test_allowed_tunnel_host_is_contacted(impatient: Api) -> None:
    impatient.app.outside_services.allowed_hosts = ["Tunnel.invalid"]
    develop(impatient, "http://tunnel.invalid/")
    configure(impatient, server="x")
    (detail,) = told(impatient, 1)
    impatient.app.outside_services.allowed_hosts = ()
    assert detail["event"]["status"] == "failed"
    assert "may not contact" not in logs(detail)[-1][1]


@pytest.mark.parametrize(("all", "sent"), [(False, 0), (True, 1)])
def test_events_of_other_organizations_are_sent_if_requested(
    api: Api, tunnel: Tunnel, all: bool, sent: int
) -> None:
    develop(api, tunnel.url, STATUS, all=all)
    configure(api, IN_ACME, region="us")
    told(api, 1, STATUS)
    assert len(tunnel.sent) == sent
    api.delete(f"{STATUS}/installations/reactor-status-in-globex")
    told(api, 2, STATUS)
    assert len(tunnel.sent) == sent + 1


@covers("disableIntegrationDevelopmentMode", 204)
def test_no_event_is_sent_after_development_mode_ends(api: Api, tunnel: Tunnel) -> None:
    develop(api, tunnel.url)
    api.delete(f"{TOOLS}/dev")
    api.delete(f"{TOOLS}/dev")
    configure(api, server="x")
    told(api, 1)
    assert tunnel.sent == []


def test_queued_event_is_recorded_unsent_after_development_ends(api: Api, tunnel: Tunnel) -> None:
    develop(api, tunnel.url)
    tunnel.free.clear()
    configure(api, server="x")
    configure(api, server="y")
    assert tunnel.arrived.acquire(timeout=PATIENCE)
    api.delete(f"{TOOLS}/dev")
    tunnel.free.set()
    first, second = told(api, 2)
    assert logs(first)[-1] == ("info", "the tunnel returned the status 204")
    assert logs(second) == [("debug", "not sent, because the tunnel is no longer set")]
    assert len(tunnel.sent) == 1


def test_integration_event_fails_when_tunnel_queue_is_full(
    api: Api, tunnel: Tunnel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "MAX_EVENTS", 2)
    develop(api, tunnel.url)
    tunnel.free.clear()
    for number in range(3):
        configure(api, server=str(number))
    (detail,) = new_events(api)
    assert (detail["event"]["id"], detail["event"]["status"]) == ("event-3", "failed")
    assert logs(detail) == [("error", "not sent, because 2 other events wait for the tunnel")]
    tunnel.free.set()
    api.server.wait_for_jobs()
    assert api.ids(f"{TOOLS}/events") == ["event-1", "event-2"]


def test_development_mode_survives_new_version_but_not_unpublish(api: Api, tunnel: Tunnel) -> None:
    develop(api, tunnel.url)
    api.post(TOOLS, {})
    configure(api, server="x")
    told(api, 1)
    assert tunnel.arrived.acquire(blocking=False)
    assert len(tunnel.sent) == 1
    tunnel.free.clear()
    configure(api, server="y")
    assert tunnel.arrived.acquire(timeout=PATIENCE)
    api.delete(TOOLS)
    tunnel.free.set()
    api.post(TOOLS, {"organization": "acme"})
    api.make(f"{TOOLS}/installations", {"organization": "acme"})
    (detail,) = told(api, 1)
    assert detail["event"]["payload"]["type"] == "installation_setup"
    assert len(tunnel.sent) == 2


@covers("setIntegrationDevelopmentMode", 400)
@pytest.mark.parametrize(
    "given", [{}, {"all": True}, {"tunnelUrl": ""}, {"url": "ftp://a/"}, {"tunnelUrl": "http://" + "x" * 250}]
)
def test_invalid_tunnel_url_is_refused(api: Api, given: Any) -> None:
    assert api.refused(400, "PUT", f"{TOOLS}/dev", given).startswith("body")


@covers("setIntegrationDevelopmentMode", 403, 404)
@covers("disableIntegrationDevelopmentMode", 403)
def test_development_mode_requires_owner_admin(api: Api, tunnel: Tunnel) -> None:
    lin, hank = api.as_("lin-token"), api.as_("hank-token")
    develop(api, tunnel.url)
    lin.refused(403, "PUT", f"{TOOLS}/dev", {"tunnelUrl": tunnel.url})
    hank.refused(404, "PUT", f"{TOOLS}/dev", {"tunnelUrl": tunnel.url})
    lin.refused(403, "DELETE", f"{TOOLS}/dev")
    hank.refused(404, "DELETE", f"{TOOLS}/dev")
    configure(api, server="x")
    told(api, 1)
    assert len(tunnel.sent) == 1


# --- worlds and restarts ------------------------------------------------------------------------------


def test_queued_event_is_sent_after_server_data_reload(api: Api, tunnel: Tunnel) -> None:
    develop(api, tunnel.url)
    tunnel.free.clear()
    configure(api, server="x")
    assert tunnel.arrived.acquire(timeout=PATIENCE)
    dumped = api.server.run_in_server(lambda: world.dump_world(api.app.store))
    api.server.reset(dumped)
    tunnel.free.set()
    (detail,) = told(api, 1)
    assert tunnel.sent == [detail["event"]["payload"]] * 2


def test_queued_event_is_sent_after_process_restart(tmp_path: Path, tunnel: Tunnel) -> None:
    database = str(tmp_path / "state.db")
    tunnel.free.clear()
    for left_behind in (True, False):
        store = open_store(database)
        if left_behind:
            world.load_world(store, world.load_builtin_world())
        with (
            ThreadedServer(build_companion(store)) as server,
            httpx.Client(base_url=server.url, timeout=PATIENCE) as http,
        ):
            api = Api(server, http, StillClock())
            if left_behind:
                develop(api, tunnel.url)
                configure(api, server="x")
                assert tunnel.arrived.acquire(timeout=PATIENCE)
            else:
                tunnel.free.set()
                assert told(api, 1)[0]["event"]["status"] == "success"
        store.close()
    assert len(tunnel.sent) == 2


def test_exported_server_data_reloads_with_integration_events(api: Api) -> None:
    configure(api, server="x")
    before = [api.get(f"{TOOLS}/events/{id}") for id in api.ids(f"{TOOLS}/events")]
    api.server.reset(api.server.run_in_server(lambda: export_state(api.app.store)))
    assert [api.get(f"{TOOLS}/events/{id}") for id in api.ids(f"{TOOLS}/events")] == before
    configure(api, server="y")
    assert api.ids(f"{TOOLS}/events") == [*BEFORE, "event-1", "event-2"]


@pytest.mark.parametrize("level", ["space", "site"])
def test_server_data_installing_on_unknown_target_is_refused(builtin_world: Any, level: str) -> None:
    acme = builtin_world["organizations"][0]
    installation = {"integration": "acme-tools", f"{level}s": [{level: "none"}]}
    store = open_store(":memory:")
    with pytest.raises(ValueError, match=f"unknown {level} 'none'"):
        world.load_world(store, {"organizations": [{**acme, "installations": [installation]}]})
    store.close()


def test_integrations_and_installations_survive_server_data_export(api: Api) -> None:
    api.post("/integrations/weather", {"organization": "acme", "icon": "R0lGODlh", "secrets": {"K": "v"}})
    develop(api, "http://127.0.0.1:1/", "/integrations/weather")
    api.make(f"{INSTALLED}/spaces", {"space": "guides"})
    reads = ("/integrations", f"{TOOLS}/installations", f"{TOOLS}/spaces", f"{STATUS}/sites")
    before = [api.items(path) for path in reads]
    dumped = api.server.run_in_server(lambda: world.dump_world(api.app.store))
    published = {one["name"]: one for one in dumped["organizations"][0]["integrations"]}
    assert published["weather"]["secrets"] == {"K": "v"}
    assert published["weather"]["icon"] == "R0lGODlh"
    api.server.reset(dumped)
    assert [api.items(path) for path in reads] == before
    assert api.http.get(api.get("/integrations/weather")["urls"]["icon"]).content == b"GIF89a"
    assert api.server.run_in_server(lambda: world.dump_world(api.app.store)) == dumped
