"""Faults: which request meets which, and what a client on a real socket sees of it."""

import asyncio
import re
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path
from queue import SimpleQueue
from typing import Any, get_args

import httpx
import pytest

from dpsync.server.control import faults
from dpsync.server.control.gateway import Gateway
from dpsync.server.control.request_log import LoggedRequest, RequestLog
from dpsync.testing import DocsPlatform
from tests.no_tls import NO_TLS
from tests.patience import PATIENCE

TEAMS = "/v1/orgs/acme/teams"
GIVEN_UP = httpx.Timeout(PATIENCE, read=0.1)
"""Whoever sends a request by this does not wait for the answer."""


@pytest.fixture
def http(docs_platform: DocsPlatform) -> Iterator[httpx.Client]:
    headers = {"Authorization": f"Bearer {docs_platform.token}"}
    with httpx.Client(base_url=docs_platform.url, headers=headers, **NO_TLS, timeout=PATIENCE) as client:
        yield client


@pytest.fixture
def ended(monkeypatch: pytest.MonkeyPatch) -> SimpleQueue[LoggedRequest]:
    """Return a queue of the API requests, each added when the request has ended."""
    found: SimpleQueue[LoggedRequest] = SimpleQueue()
    add = RequestLog.add

    def adding(log: RequestLog, entry: LoggedRequest) -> None:
        add(log, entry)
        found.put(entry)

    monkeypatch.setattr(RequestLog, "add", adding)
    return found


def end_of(ended: SimpleQueue[LoggedRequest], operation: str) -> LoggedRequest:
    """Wait for the end of a request to this operation and return its log entry."""
    while (entry := ended.get(timeout=PATIENCE)).operation != operation:
        pass
    return entry


def titles(http: httpx.Client) -> list[str]:
    return [item["title"] for item in http.get(TEAMS).json()["items"]]


def create(http: httpx.Client, title: str = "New") -> httpx.Response:
    return http.put(TEAMS, json={"title": title})


def one(
    fault: dict[str, Any], operation: str = "createOrganizationTeam", **more: Any
) -> list[dict[str, Any]]:
    return [{"operation": operation, "times": 1, **more, "fault": fault}]


# --- which request ------------------------------------------------------------------------------------

UNAVAILABLE = {"kind": "status", "status": 503}


@pytest.mark.parametrize(
    ("rule", "failed"),
    [
        ({}, [0, 1, 2, 3, 4, 5]),
        ({"nth": 3}, [2]),
        ({"every": 2}, [1, 3, 5]),
        ({"every": 2, "times": 2}, [1, 3]),
        ({"times": 2}, [0, 1]),
        ({"probability": 1.0}, [0, 1, 2, 3, 4, 5]),
    ],
)
def test_fault_rule_selects_requests(
    http: httpx.Client, docs_platform: DocsPlatform, rule: dict[str, Any], failed: list[int]
) -> None:
    docs_platform.faults = [{"operation": "getUser", **rule, "fault": UNAVAILABLE}]
    statuses = []
    for _ in range(6):
        statuses.append(http.get("/v1/user").status_code)
        assert http.get("/v1/orgs").status_code == 200
    assert [index for index, status in enumerate(statuses) if status == 503] == failed
    (told,) = docs_platform.faults
    assert (told["matched"], told["used"]) == (6, len(failed))
    assert told["rule"] == {"operation": "getUser", **rule, "fault": UNAVAILABLE}


def test_fault_probability_is_reproducible_by_seed(http: httpx.Client, docs_platform: DocsPlatform) -> None:
    def draw(seed: int) -> list[int]:
        docs_platform.faults = [{"probability": 0.5, "seed": seed, "fault": UNAVAILABLE}]
        return [http.get("/v1/user").status_code for _ in range(30)]

    assert draw(1) == draw(1) != draw(2)
    assert set(draw(1)) == {200, 503}


@pytest.mark.parametrize(
    ("operation", "met"),
    [
        ("listTeamsInOrganizationById", True),
        ("GET /orgs/{organizationId}/teams", True),
        ("GET /v1/orgs/{any}/teams", True),
        ("GET /orgs/acme/teams", True),
        ("GET /orgs/globex/teams", False),
        ("PUT /orgs/acme/teams", False),
    ],
)
def test_fault_rule_names_operation_by_id_or_path(
    http: httpx.Client, docs_platform: DocsPlatform, operation: str, met: bool
) -> None:
    docs_platform.faults = [{"operation": operation, "fault": UNAVAILABLE}]
    assert (http.get(TEAMS).status_code == 503) is met
    assert [told["used"] for told in docs_platform.faults] == [met]
    docs_platform.faults = []


def test_first_firing_fault_rule_wins_and_all_count(http: httpx.Client, docs_platform: DocsPlatform) -> None:
    docs_platform.faults = [
        {"nth": 2, "fault": {"kind": "status", "status": 500}},
        {"fault": {"kind": "status", "status": 502}},
    ]
    assert [http.get("/v1/user").status_code for _ in range(3)] == [502, 500, 502]
    assert [(told["matched"], told["used"]) for told in docs_platform.faults] == [(3, 1), (3, 2)]


def test_fault_rules_can_be_cleared(http: httpx.Client, docs_platform: DocsPlatform) -> None:
    docs_platform.faults = [{"fault": UNAVAILABLE}]
    assert http.delete("/_dpsync/faults").status_code == 204
    assert http.get("/v1/user").status_code == 200


WRONG = [
    ({}, "valid list"),
    ([{"fault": {"kind": "none"}}], "kind"),
    ([{"fault": {"kind": "status", "status": 200}}], "status"),
    ([{"operation": "createTeem", "fault": UNAVAILABLE}], "unknown operation 'createTeem'"),
    ([{"operation": "GET /nowhere", "fault": UNAVAILABLE}], "unknown operation 'GET /nowhere'"),
    ([{"nth": 1, "every": 2, "fault": UNAVAILABLE}], "only one of"),
    ([{"seed": 1, "fault": UNAVAILABLE}], "'seed' needs"),
    ([{"often": 1, "fault": UNAVAILABLE}], "often"),
    ([{"fault": {**UNAVAILABLE, "retryAfter": "a\r\nb"}}], "retryAfter"),
    ([{"fault": {"kind": "delay", "seconds": -1}}], "seconds"),
]


@pytest.mark.parametrize(("given", "message"), WRONG)
def test_invalid_fault_rule_is_refused(http: httpx.Client, given: Any, message: str) -> None:
    answer = http.put("/_dpsync/faults", json=given)
    assert answer.status_code == 400
    assert message in answer.json()["error"]["message"]


@pytest.mark.parametrize("text", ["[{", "- {fault: {kind: none}}", "text"])
def test_unreadable_fault_file_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "faults.yaml").write_text(text)
    with pytest.raises(ValueError, match=r"faults\.yaml"):
        faults.read_schedule(tmp_path / "faults.yaml")


# --- what it does -------------------------------------------------------------------------------------


def test_status_fault_replaces_the_request(http: httpx.Client, docs_platform: DocsPlatform) -> None:
    docs_platform.faults = one({"kind": "status", "status": 429, "retryAfter": 2})
    answer = create(http)
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "2")
    assert answer.json() == {"error": {"code": 429, "message": "requested failure (fault)"}}
    assert "New" not in titles(http)
    assert docs_platform.requests[0].fault == "status"


def test_status_fault_can_follow_the_executed_request(
    http: httpx.Client, docs_platform: DocsPlatform
) -> None:
    page = {"body": "<h1>Bad gateway</h1>", "contentType": "text/html"}
    docs_platform.faults = one({"kind": "status", "status": 502, "when": "after", **page})
    answer = create(http)
    assert (answer.status_code, answer.text) == (502, "<h1>Bad gateway</h1>")
    assert answer.headers["content-type"] == "text/html"
    assert "New" in titles(http)


def test_status_fault_sends_retry_after_date_or_text(http: httpx.Client, docs_platform: DocsPlatform) -> None:
    limited = {"kind": "status", "status": 429}
    docs_platform.faults = one({**limited, "retryDate": 60})
    began = datetime.now(UTC)
    at = parsedate_to_datetime(create(http).headers["retry-after"])
    second, minute = timedelta(seconds=1), timedelta(seconds=60)
    assert began + minute - second <= at <= datetime.now(UTC) + minute + second
    docs_platform.faults = one({**limited, "retryAfter": "soon"})
    assert create(http).headers["retry-after"] == "soon"


@pytest.mark.parametrize("when", ["before", "after"])
def test_delay_fault_postpones_response(http: httpx.Client, docs_platform: DocsPlatform, when: str) -> None:
    docs_platform.faults = one({"kind": "delay", "seconds": 0.3, "when": when})
    began = time.monotonic()
    assert create(http).status_code == 201
    assert time.monotonic() - began >= 0.3


@pytest.fixture
def over(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Every delay takes until a test says that it is over."""
    told = threading.Event()

    async def wait(_gateway: Gateway, seconds: float) -> None:
        del seconds
        await asyncio.to_thread(told.wait, PATIENCE)

    monkeypatch.setattr(Gateway, "wait", wait)
    yield told
    told.set()


def test_request_abandoned_by_client_is_still_executed(
    http: httpx.Client, docs_platform: DocsPlatform, ended: SimpleQueue[LoggedRequest], over: threading.Event
) -> None:
    docs_platform.faults = one({"kind": "delay", "seconds": 1})
    with pytest.raises(httpx.ReadTimeout):
        http.put(TEAMS, json={"title": "New"}, timeout=GIVEN_UP)
    assert "New" not in titles(http)
    over.set()
    end_of(ended, "createOrganizationTeam")
    assert "New" in titles(http)


def test_delayed_request_is_dropped_by_reset(
    http: httpx.Client, docs_platform: DocsPlatform, ended: SimpleQueue[LoggedRequest]
) -> None:
    docs_platform.faults = one({"kind": "delay", "seconds": 60})
    with pytest.raises(httpx.ReadTimeout):
        http.put(TEAMS, json={"title": "New"}, timeout=GIVEN_UP)
    docs_platform.reset()
    assert end_of(ended, "createOrganizationTeam").status is None
    assert "New" not in titles(http)


@pytest.mark.parametrize(("when", "done"), [("before", False), ("after", True)])
def test_reset_fault_resets_the_connection(
    http: httpx.Client, docs_platform: DocsPlatform, when: str, done: bool
) -> None:
    docs_platform.faults = one({"kind": "reset", "when": when})
    with pytest.raises(httpx.ReadError) as failed:
        create(http)
    assert "ECONNRESET" in str(failed.value) or "reset by peer" in str(failed.value)
    assert ("New" in titles(http)) is done
    (write,) = docs_platform.writes
    assert (write.status, write.fault) == (None, "reset")


def test_truncate_fault_cuts_response_body(http: httpx.Client, docs_platform: DocsPlatform) -> None:
    docs_platform.faults = one({"kind": "truncate"}, "listTeamsInOrganizationById")
    with pytest.raises(httpx.RemoteProtocolError, match="without sending complete message body"):
        http.get(TEAMS)
    assert docs_platform.requests[0].status == 200


def test_truncate_fault_drops_response_without_body(http: httpx.Client, docs_platform: DocsPlatform) -> None:
    docs_platform.faults = one({"kind": "truncate"}, "removeTeamFromOrganizationById")
    with pytest.raises(httpx.RemoteProtocolError, match="without sending a response"):
        http.delete(f"{TEAMS}/legacy")
    assert "Legacy" not in titles(http)


def test_content_type_fault_changes_header_only(http: httpx.Client, docs_platform: DocsPlatform) -> None:
    docs_platform.faults = one({"kind": "content-type"}, "listTeamsInOrganizationById")
    answer = http.get(TEAMS)
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.json() == http.get(TEAMS).json()


def test_drip_fault_sends_response_in_pieces(http: httpx.Client, docs_platform: DocsPlatform) -> None:
    whole = http.get("/v1/user").content
    docs_platform.faults = one({"kind": "drip", "bytes": 10, "seconds": 0.02}, "getUser")
    with http.stream("GET", "/v1/user") as answer:
        pieces = list(answer.iter_raw())
    assert b"".join(pieces) == whole
    assert len(pieces) > 3


def test_drip_fault_ends_when_client_disconnects(
    http: httpx.Client, docs_platform: DocsPlatform, ended: SimpleQueue[LoggedRequest]
) -> None:
    docs_platform.faults = one({"kind": "drip", "seconds": 0.05}, "listTeamsInOrganizationById")
    with http.stream("GET", TEAMS) as answer:
        next(answer.iter_raw())
    assert end_of(ended, "listTeamsInOrganizationById").ms < 5000


# --- lists --------------------------------------------------------------------------------------------


def test_repeat_page_fault_keeps_repeated_query_parameters(
    http: httpx.Client, docs_platform: DocsPlatform
) -> None:
    path = "/v1/spaces/support/comments?authors=cam&authors=rui"
    whole = http.get(path).json()
    assert {comment["postedBy"]["id"] for comment in whole["items"]} == {"cam", "rui"}
    docs_platform.faults = one({"kind": "repeat-page", "limit": 1}, "listCommentsInSpace")
    cut = http.get(path).json()
    assert (cut["count"], cut["items"]) == (whole["count"], whole["items"][:1])


def walk(http: httpx.Client, pages: int, limit: int | None = None) -> list[list[str]]:
    """Return the ids on each page, for at most this many pages."""
    found: list[list[str]] = []
    query: dict[str, Any] = {} if limit is None else {"limit": limit}
    while len(found) < pages:
        page = http.get(TEAMS, params=query).json()
        found.append([item["id"] for item in page["items"]])
        if "next" not in page:
            break
        query["page"] = page["next"]["page"]
    return found


A, B, C, D = "writers", "reviewers", "sales", "legacy"


def test_repeat_page_fault_repeats_same_page(http: httpx.Client, docs_platform: DocsPlatform) -> None:
    docs_platform.faults = [{"operation": "listTeamsInOrganizationById", "fault": {"kind": "repeat-page"}}]
    assert walk(http, 4, 2) == [[A, B]] * 4
    assert docs_platform.faults[0]["used"] == 3


def test_repeat_page_fault_overrides_requested_limit(http: httpx.Client, docs_platform: DocsPlatform) -> None:
    docs_platform.faults = [
        {"operation": "listTeamsInOrganizationById", "fault": {"kind": "repeat-page", "limit": 3}}
    ]
    assert walk(http, 2, 1000) == [[A, B, C]] * 2


@pytest.mark.parametrize(("by", "pages"), [(1, [[A, B], [B, C]]), (2, [[A, B], [A, B]]), (-1, [[A, B], [D]])])
def test_shift_page_fault_moves_list_between_pages(
    http: httpx.Client, docs_platform: DocsPlatform, by: int, pages: list[list[str]]
) -> None:
    docs_platform.faults = [
        {"operation": "listTeamsInOrganizationById", "fault": {"kind": "shift-page", "by": by}}
    ]
    assert walk(http, 9, 2) == pages
    assert docs_platform.faults[0]["used"] == 1


def test_shift_page_fault_by_zero_is_not_counted(http: httpx.Client, docs_platform: DocsPlatform) -> None:
    docs_platform.faults = [
        {"operation": "listTeamsInOrganizationById", "fault": {"kind": "shift-page", "by": 0}}
    ]
    assert walk(http, 9, 2) == [[A, B], [C, D]]
    assert (docs_platform.faults[0]["matched"], docs_platform.faults[0]["used"]) == (1, 0)
    docs_platform.faults = []


# --- the page -----------------------------------------------------------------------------------------

PAGE = (Path(__file__).parents[2] / "docs" / "companion.md").read_text(encoding="utf-8")


def test_faults_page_documents_every_kind_and_member() -> None:
    kinds = get_args(get_args(faults.Fault)[0])
    for kind in kinds:
        (name,) = get_args(kind.model_fields["kind"].annotation)
        (row,) = (line for line in PAGE.splitlines() if line.startswith(f"| `{name}` |"))
        members = {found.alias for field, found in kind.model_fields.items() if field != "kind"}
        assert members <= set(re.findall(r"`(\w+)`", row)), name
    for name in faults.FaultRule.model_fields:
        assert f"`{name}`" in PAGE or f'"{name}"' in PAGE


def test_faults_page_documents_every_control_operation(docs_platform: DocsPlatform) -> None:
    shown = set(re.findall(r"^\| `([A-Z]+) /_dpsync/(\w+)` \|", PAGE, re.MULTILINE))
    with httpx.Client(base_url=docs_platform.url, **NO_TLS, timeout=PATIENCE) as http:
        for name in {name for _, name in shown}:
            refusal = http.request("OPTIONS", f"/_dpsync/{name}").json()["error"]["message"]
            methods = refusal.partition("Allowed methods: ")[2].split(", ")
            assert {method for method, other in shown if other == name} == set(methods)
