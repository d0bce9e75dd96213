"""dpsync's own client and executor against faults of the companion, on a real socket."""

from pathlib import Path

import pytest

from dpsync.api import Session, load, load_registry
from dpsync.client.client import ReadClient, WriteClient
from dpsync.client.errors import InvalidListError, NotJsonError, UnknownOutcomeError
from dpsync.client.retry import Clock
from dpsync.model.journal import Report
from dpsync.testing import DocsPlatform
from tests.patience import PATIENCE

CONFIGURATION = """
dpsync: 1
organizations:
  acme:
    id: acme
    teams:
      one: { title: One }
      two: { title: Two }
      sales: { id: sales, title: Selling }
"""


class Impatient(Clock):
    """Notes how long it should wait, and does not."""

    def __init__(self) -> None:
        self.waits: list[float] = []
        self._passed = 0.0

    def now(self) -> float:
        return self._passed

    def wait(self, seconds: float, _cancelled: object) -> None:
        self.waits.append(seconds)
        self._passed += seconds


@pytest.fixture
def session(tmp_path: Path) -> Session:
    (tmp_path / "dpsync.yaml").write_text(CONFIGURATION)
    return Session(load(tmp_path / "dpsync.yaml"), load_registry(), parallelism=1)


@pytest.fixture
def clock() -> Impatient:
    return Impatient()


@pytest.fixture
def client(docs_platform: DocsPlatform, clock: Impatient) -> WriteClient:
    return WriteClient(docs_platform.url, docs_platform.token, clock=clock, timeout=PATIENCE)


def apply(session: Session, client: WriteClient) -> Report:
    with client:
        return session.apply(client, session.plan(client))


def titles(platform: DocsPlatform) -> list[str]:
    acme = platform.world["organizations"][0]
    return sorted(team["title"] for team in acme["teams"])


ALL = ["Legacy", "One", "Reviewers", "Selling", "Technical writers", "Two"]


@pytest.mark.parametrize(
    "fault",
    [
        {"kind": "reset", "when": "after"},
        {"kind": "reset", "when": "before"},
        {"kind": "truncate"},
        {"kind": "content-type"},
        {"kind": "status", "status": 502, "when": "after"},
        {"kind": "status", "status": 503, "when": "before"},
    ],
    ids=str,
)
def test_unanswered_create_is_looked_up_not_retried(
    docs_platform: DocsPlatform, session: Session, client: WriteClient, fault: dict[str, str]
) -> None:
    """What was carried out is found. What was not may still come: that is told; the next apply makes it."""
    docs_platform.faults = [{"operation": "createOrganizationTeam", "nth": 1, "fault": fault}]
    report = apply(session, client)
    came = fault.get("when") != "before"
    assert (report.converged, report.count("unknown")) == ((True, 0) if came else (False, 1))
    sent = [request.operation for request in docs_platform.writes]
    assert sent.count("createOrganizationTeam") == 2  # one for each of the two new teams
    with WriteClient(docs_platform.url, docs_platform.token) as again:
        assert session.apply(again, session.plan(again)).converged
    assert titles(docs_platform) == ALL


def test_apply_waits_out_two_rate_limit_responses(
    docs_platform: DocsPlatform, session: Session, client: WriteClient, clock: Impatient
) -> None:
    limited = {"kind": "status", "status": 429, "retryAfter": 3}
    docs_platform.faults = [{"operation": "createOrganizationTeam", "times": 2, "fault": limited}]
    assert apply(session, client).converged
    assert titles(docs_platform) == ALL
    assert len([wait for wait in clock.waits if wait > 2.5]) == 2
    statuses = [
        request.status for request in docs_platform.writes if request.operation == "createOrganizationTeam"
    ]
    assert statuses == [429, 429, 201, 201]


def test_second_apply_completes_after_repeated_resets(
    docs_platform: DocsPlatform, session: Session, client: WriteClient
) -> None:
    docs_platform.faults = [{"every": 3, "fault": {"kind": "reset"}}]
    apply(session, client)
    docs_platform.faults = []
    with WriteClient(docs_platform.url, docs_platform.token) as again:
        session.apply(again, session.plan(again))
    assert titles(docs_platform) == ALL


@pytest.mark.parametrize("fault", [{"kind": "repeat-page", "limit": 2}, {"kind": "shift-page", "limit": 2}])
def test_plan_fails_on_inconsistent_list_pages(
    docs_platform: DocsPlatform, session: Session, client: WriteClient, fault: dict[str, object]
) -> None:
    docs_platform.faults = [{"operation": "listTeamsInOrganizationById", "fault": fault}]
    with client, pytest.raises(InvalidListError):
        session.plan(client)
    assert docs_platform.writes == []


def test_plan_fails_on_html_list_response(
    docs_platform: DocsPlatform, session: Session, client: WriteClient
) -> None:
    docs_platform.faults = [{"operation": "listTeamsInOrganizationById", "fault": {"kind": "content-type"}}]
    with client, pytest.raises(NotJsonError):
        session.plan(client)


def test_slow_response_ends_at_request_timeout(docs_platform: DocsPlatform) -> None:
    docs_platform.faults = [
        {"operation": "listTeamsInOrganizationById", "fault": {"kind": "drip", "seconds": 0.05}}
    ]
    with (
        ReadClient(docs_platform.url, docs_platform.token, timeout=0.3, clock=Impatient()) as client,
        pytest.raises(UnknownOutcomeError),
    ):
        client.pages("/orgs/acme/teams")
