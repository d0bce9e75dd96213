"""The control plane: what a test may ask of the companion beside the API, and who may ask."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

import dpsync
from dpsync.server import world
from dpsync.server.http.app import build_companion
from dpsync.server.store import SCHEMA_VERSION, open_store, world_name
from dpsync.testing import DocsPlatform
from tests.no_tls import NO_TLS
from tests.patience import PATIENCE

ORG = "/v1/orgs/acme"


@pytest.fixture
def http(docs_platform: DocsPlatform) -> Iterator[httpx.Client]:
    headers = {"Authorization": f"Bearer {docs_platform.token}"}
    with httpx.Client(base_url=docs_platform.url, headers=headers, timeout=PATIENCE, **NO_TLS) as client:
        yield client


def titles(http: httpx.Client, of: str = "teams") -> list[str]:
    return [item["title"] for item in http.get(f"{ORG}/{of}").json()["items"]]


# --- health, reset, tokens ----------------------------------------------------------------------------


def test_health_endpoint_shows_version_and_record_counts(http: httpx.Client) -> None:
    found = http.get("/_dpsync/health").json()
    counts = found.pop("counts")
    assert found == {
        "version": dpsync.__version__,
        "profile": "full",
        "schema": SCHEMA_VERSION,
        "origin": None,
    }
    organizations = world.load_builtin_world()["organizations"]
    assert counts["organization"] == 2
    assert counts["team"] == sum(len(found["teams"]) for found in organizations)


def test_reset_restores_server_data_clock_and_faults(http: httpx.Client, docs_platform: DocsPlatform) -> None:
    before = docs_platform.world
    http.put(f"{ORG}/teams", json={"title": "New"})
    http.delete("/v1/spaces/guides")
    docs_platform.clock.advance(timedelta(days=1))
    docs_platform.faults = [{"fault": {"kind": "status", "status": 500}}]
    assert http.post("/_dpsync/reset").status_code == 204
    assert docs_platform.world == before
    assert docs_platform.requests == []
    assert docs_platform.faults == []
    assert http.get("/_dpsync/clock").json()["mode"] == "real"
    assert http.put(f"{ORG}/teams", json={"title": "New"}).json()["id"] == "team-1"


def test_reset_statements_do_not_grow_with_data() -> None:
    statements: list[str] = []
    store = open_store(":memory:")

    class Counting:
        def __getattr__(self, name: str) -> Any:
            statements.append(name)
            return getattr(store, name)

    def reset() -> list[str]:
        statements.clear()
        world.load_world(Counting(), world.load_builtin_world())
        return list(statements)

    once = reset()
    for number in range(300):
        store.put(world.Record("team", f"more-{number}", {"title": "x"}, "acme"))
    assert reset() == once
    assert len(once) < 10
    store.close()


def test_token_is_created_for_any_user(http: httpx.Client, docs_platform: DocsPlatform) -> None:
    token = docs_platform.token_of("kim")
    headers = {"Authorization": f"Bearer {token}"}
    assert http.get("/v1/user", headers=headers).json()["id"] == "kim"
    assert docs_platform.token_of("kim") != token


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        ({"user": "nobody"}, 404, "'nobody' not found"),
        ({"who": "kim"}, 400, "body.user"),
        ({"user": 1}, 400, "body.user"),
        ([], 400, "body"),
    ],
)
def test_token_for_unknown_user_is_refused(http: httpx.Client, body: Any, status: int, message: str) -> None:
    answer = http.post("/_dpsync/tokens", json=body)
    assert answer.status_code == status == answer.json()["error"]["code"]
    assert message in answer.json()["error"]["message"]


def test_channel_is_activated_by_control_plane(http: httpx.Client, docs_platform: DocsPlatform) -> None:
    world = docs_platform.world
    world["organizations"][0]["sites"][0]["channels"] = [{"id": "slack", "type": "builtin:slack"}]
    docs_platform.world = world
    assert http.post("/_dpsync/channels", json={"channel": "none"}).status_code == 404
    assert http.post("/_dpsync/channels", json={"channel": "slack"}).status_code == 204
    (channel,) = docs_platform.world["organizations"][0]["sites"][0]["channels"]
    assert channel["status"] == "active"


# --- worlds -------------------------------------------------------------------------------------------

READS = [
    "/v1/orgs", "/v1/spaces/changelog", "/v1/collections/product/spaces", f"{ORG}/agent-instructions",
    *(f"{ORG}/{part}" for part in ("members", "teams", "collections", "spaces", "sites", "saml", "openapi")),
    *(f"{ORG}/{part}" for part in ("link-invites", "translations", "teams/team-1/members")),
    *(f"{ORG}/sites/{site}/structure" for site in ("docs", "help")),
    f"{ORG}/sites/docs/adaptive-schema",
]  # fmt: skip


def test_exported_server_data_reloads_with_same_responses(
    http: httpx.Client, docs_platform: DocsPlatform
) -> None:
    docs_platform.clock.freeze(datetime(2026, 5, 1, tzinfo=UTC))
    schema = {"type": "object", "properties": {"beta": {"type": "boolean"}}, "additionalProperties": False}
    position = {"position": {"before": {"type": "collection", "collection": "api"}}}
    for method, path, body in [
        ("PUT", f"{ORG}/teams", {"title": "New"}),
        ("PUT", f"{ORG}/teams/team-1/members/kim", {"role": "owner"}),
        ("POST", "/v1/spaces/news/move", position),
        ("DELETE", "/v1/spaces/changelog", None),
        ("PUT", f"{ORG}/agent-instructions", {"instructions": {"object": "document", "nodes": []}}),
        ("PUT", f"{ORG}/sites/docs/adaptive-schema", {"jsonSchema": schema}),
        ("POST", f"{ORG}/link-invites", {"role": "edit"}),
    ]:
        answer = http.request(method, path, json=body)
        assert answer.is_success, answer.text
    before = [(path, http.get(path).status_code, http.get(path).json()) for path in READS]
    exported = docs_platform.world
    docs_platform.reset()
    docs_platform.clock.freeze(datetime(2026, 5, 1, tzinfo=UTC))
    docs_platform.world = exported
    assert [(path, http.get(path).status_code, http.get(path).json()) for path in READS] == before
    assert docs_platform.world == exported


def test_exported_server_data_keeps_unknown_records(docs_platform: DocsPlatform) -> None:
    record = {"kind": "thing", "id": "x", "doc": {"of": "a later version"}, "organization": "acme"}
    docs_platform.world = {**docs_platform.world, "records": [record]}
    assert docs_platform.world["records"] == [record]


@pytest.mark.parametrize(
    "given",
    [
        [],
        3,
        {"organizations": 3},
        {"organizations": [{"id": "a"}, {"id": "a"}]},
        {"organizations": [{"members": [{"role": "admin"}]}]},
        {"records": [{"id": "x"}]},
        {"records": [{"kind": "a", "id": {"not": "text"}, "doc": {}}]},
    ],
)
def test_invalid_server_data_leaves_state_unchanged(http: httpx.Client, given: Any) -> None:
    answer = http.put("/_dpsync/world", json=given)
    assert answer.status_code == 400
    assert "invalid data" in answer.json()["error"]["message"]
    assert titles(http)[0] == "Technical writers"


# --- requests -----------------------------------------------------------------------------------------


def test_request_log_shows_operation_caller_and_status(
    http: httpx.Client, docs_platform: DocsPlatform
) -> None:
    http.get(f"{ORG}/teams?limit=2")
    http.put(f"{ORG}/teams", json={"title": "New"}, headers={"Authorization": "Bearer wrong"})
    http.get("/v1/nowhere")
    listed, refused, missed = docs_platform.requests
    assert (listed.method, listed.path, listed.query) == ("GET", f"{ORG}/teams", "limit=2")
    assert (listed.operation, listed.caller, listed.status, listed.fault) == (
        "listTeamsInOrganizationById",
        "ada",
        200,
        None,
    )
    assert 0 < listed.ms < 10_000
    assert (refused.operation, refused.caller, refused.status) == ("createOrganizationTeam", None, 401)
    assert (missed.operation, missed.status) == (None, 404)
    assert http.delete("/_dpsync/requests").status_code == 204
    assert docs_platform.requests == []


def test_bounded_request_log_counts_dropped_entries() -> None:
    from dpsync.server.control.request_log import LoggedRequest, RequestLog

    log = RequestLog(3)
    for number in range(5):
        log.add(LoggedRequest("GET", str(number), "", None, None, 200, 0.0, None))
    assert ([entry.path for entry in log.entries], log.dropped) == (["2", "3", "4"], 2)


# --- clock --------------------------------------------------------------------------------------------


def test_clock_can_be_frozen_and_advanced(http: httpx.Client, docs_platform: DocsPlatform) -> None:
    clock = docs_platform.clock
    clock.freeze(datetime(2026, 5, 1, 2, tzinfo=UTC))
    assert http.get("/_dpsync/clock").json() == {"now": "2026-05-01T02:00:00.000Z", "mode": "frozen"}
    clock.advance(timedelta(hours=1))
    made = http.put(f"{ORG}/teams", json={"title": "New"}).json()
    assert made["createdAt"] == "2026-05-01T03:00:00.000Z"
    clock.real()
    began = datetime.now(UTC) - timedelta(milliseconds=1)  # the companion's clock counts no less
    assert began <= clock.now <= datetime.now(UTC)
    clock.advance(timedelta(days=30))
    assert began <= clock.now - timedelta(days=30) <= datetime.now(UTC)
    assert http.get("/_dpsync/clock").json()["mode"] == "ahead"


def test_deleted_space_expires_after_advancing_clock(http: httpx.Client, docs_platform: DocsPlatform) -> None:
    clock = docs_platform.clock
    clock.freeze(datetime(2026, 5, 1, tzinfo=UTC))
    http.delete("/v1/spaces/guides")
    clock.advance(timedelta(days=7))
    assert http.get("/v1/spaces/guides").status_code == 200
    clock.advance(timedelta(seconds=1))
    clock.freeze(datetime(2026, 5, 1, tzinfo=UTC))
    assert http.post("/v1/spaces/guides/restore").status_code == 404


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"frozen": "2026-05-01T00:00:00"},
        {"frozen": "0001-01-01T00:00:00+05:00"},
        {"advance": 1e15},
        {"advance": 1, "real": True},
        {"real": False},
        {"forward": 1},
    ],
)
def test_invalid_clock_setting_is_refused(http: httpx.Client, given: Any) -> None:
    assert http.put("/_dpsync/clock", json=given).status_code == 400
    assert http.get("/_dpsync/clock").json()["mode"] == "real"


# --- who may ask --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"X-Forwarded-For": "203.0.113.9"}, 404),
        ({"X-Forwarded-For": "127.0.0.1"}, 404),
        ({"Forwarded": "for=127.0.0.1"}, 404),
        ({"Host": "rebound.example"}, 421),
        ({"Host": "[::1"}, 421),
        ({"Origin": "https://elsewhere.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "something-new"}, 403),
    ],
    ids=str,
)
def test_control_plane_refuses_forwarded_or_foreign_requests(
    http: httpx.Client, headers: dict[str, str], status: int
) -> None:
    http.put(f"{ORG}/teams", json={"title": "New"})
    assert http.post("/_dpsync/reset", headers=headers).status_code == status
    assert "New" in titles(http)


def test_control_plane_refuses_origin_with_other_scheme(
    http: httpx.Client, docs_platform: DocsPlatform
) -> None:
    other = docs_platform.url.replace("http://", "https://")
    assert http.get("/_dpsync/health", headers={"Origin": other}).status_code == 403


@pytest.mark.parametrize("name", ["Origin", "Sec-Fetch-Site"])
def test_every_repeated_origin_header_is_checked(
    http: httpx.Client, docs_platform: DocsPlatform, name: str
) -> None:
    good = {"Origin": docs_platform.url, "Sec-Fetch-Site": "same-origin"}[name]
    assert http.get("/_dpsync/health", headers=[(name, good), (name, good)]).status_code == 200
    assert http.get("/_dpsync/health", headers=[(name, good), (name, "null")]).status_code == 403


@pytest.mark.parametrize("site", ["none", "same-origin"])
def test_control_plane_accepts_same_origin_requests(
    http: httpx.Client, docs_platform: DocsPlatform, site: str
) -> None:
    headers = {"Origin": docs_platform.url, "Sec-Fetch-Site": site}
    assert http.get("/_dpsync/health", headers=headers).status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "content", "kind", "status"),
    [
        ("GET", "/_dpsync/none", b"", "", 404),
        ("PATCH", "/_dpsync/world", b"{}", "application/json", 405),
        ("PUT", "/_dpsync/clock", b'{"real": true}', "text/plain", 415),
        ("PUT", "/_dpsync/clock", b'{"real": ', "application/json", 400),
    ],
)
def test_control_plane_errors_use_api_error_format(
    http: httpx.Client, method: str, path: str, content: bytes, kind: str, status: int
) -> None:
    answer = http.request(method, path, content=content, headers={"Content-Type": kind} if kind else {})
    assert answer.status_code == status == answer.json()["error"]["code"]


def test_control_plane_is_not_part_of_api(http: httpx.Client) -> None:
    assert "_dpsync" not in http.get("/v1/openapi.json").text
    assert http.get("/v1/_dpsync/health").status_code == 404


# --- the name of the world ----------------------------------------------------------------------------


def named(http: httpx.Client) -> str:
    return http.get("/v1/user").headers["Dpsync-World"]


def test_every_response_header_has_same_dataset_name(http: httpx.Client) -> None:
    first = named(http)
    http.put(f"{ORG}/teams", json={"title": "New"})
    answers = [http.get(f"{ORG}/teams"), http.get("/v1/spaces/guides"), http.get(ORG)]

    assert [answer.headers["Dpsync-World"] for answer in answers] == [first] * 3
    assert len(first) == 16


def test_reset_or_loaded_server_data_gets_new_name(http: httpx.Client, docs_platform: DocsPlatform) -> None:
    names = [named(http)]
    docs_platform.reset()
    names.append(named(http))
    docs_platform.world = docs_platform.world
    names.append(named(http))

    assert len(set(names)) == 3


def test_reopened_database_keeps_dataset_name(tmp_path: Path) -> None:
    file = str(tmp_path / "companion.db")
    names = []
    for _ in range(2):
        store = open_store(file)
        if not store.find("organization"):
            world.load_world(store, world.load_builtin_world())
        build_companion(store)
        names.append(world_name.load_world_name(store))
        store.close()

    assert names[0] == names[1] != ""


def test_old_database_gets_permanent_dataset_name() -> None:
    store = open_store(":memory:")
    world.load_world(store, world.load_builtin_world())
    store.set_setting("world", None)
    build_companion(store)
    first = world_name.load_world_name(store)
    build_companion(store)

    assert first == world_name.load_world_name(store) != ""
    store.close()
