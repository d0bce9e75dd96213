"""`dpsync serve` with several workers on one database: one service, whoever answers."""

import os
import select
import signal
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from databases import Database
from postgres_cluster import USER, Cluster
from processes import Serving, command, serving, until
from slow_source import SlowSource

from tests.patience import PATIENCE

FIELDS = ("ssoURL", "entityID")
SPEC = '{"openapi": "3.1.0", "info": {"title": "T", "version": "1"}, "paths": {}}'


@pytest.fixture
def shared(postgres_url: str) -> Database:
    """Return an empty PostgreSQL database."""
    return Database(postgres_url)


@pytest.fixture(scope="module")
def service_database(postgres: Cluster) -> Iterator[Database]:
    with postgres.database() as url:
        yield Database(url)


@pytest.fixture(scope="module")
def service(service_database: Database) -> Iterator[Serving]:
    """Start the service once for all tests of this file that do not stop it."""
    with serving(service_database) as started:
        yield started
        assert started.stop() == 0


@pytest.fixture
def running(service: Serving) -> Iterator[Serving]:
    """With both workers and the built-in world."""
    until(lambda: len(service.workers) == 2)
    assert service.client().post("/_dpsync/reset").status_code == 204
    yield service
    service.close_clients()


@pytest.fixture
def each(running: Serving) -> list[httpx.Client]:
    """Return a connection to each worker."""
    return [running.client_of(worker) for worker in running.workers]


def test_worker_sees_writes_of_other_workers(each: list[httpx.Client]) -> None:
    first, second = each
    made = first.put("/v1/orgs/acme/teams", json={"title": "Made here"}).json()
    assert second.get(f"/v1/orgs/acme/teams/{made['id']}").json() == made


def test_workers_keep_concurrent_patches(each: list[httpx.Client]) -> None:
    """Nobody else writes a writer's field: it is always as that writer left it."""
    made = each[0].post("/v1/orgs/acme/saml", json={"label": "New"})
    assert made.is_success
    path = f"/v1/orgs/acme/saml/{made.json()['id']}"

    def write(client: httpx.Client, field: str) -> None:
        for number in range(25):
            assert client.patch(path, json={field: f"https://{field}.example/{number}"}).status_code == 200
            assert client.get(path).json()[field] == f"https://{field}.example/{number}"

    with ThreadPoolExecutor() as pool:
        both = [pool.submit(write, client, field) for client, field in zip(each, FIELDS, strict=True)]
    for done in both:
        done.result()


def test_workers_keep_concurrent_creates(each: list[httpx.Client]) -> None:
    def write(client: httpx.Client, name: str) -> None:
        for number in range(15):
            body = {"title": f"{name}-{number}", "parent": "product"}
            assert client.post("/v1/orgs/acme/spaces", json=body).status_code == 201

    with ThreadPoolExecutor() as pool:
        both = [pool.submit(write, client, name) for client, name in zip(each, "ab", strict=True)]
    for done in both:
        done.result()
    page = each[0].get("/v1/collections/product/spaces", params={"limit": 1000}).json()
    for name in "ab":
        titles = [item["title"] for item in page["items"] if item["title"].startswith(f"{name}-")]
        assert titles == [f"{name}-{number}" for number in range(15)]
    assert len({item["id"] for item in page["items"]}) == page["count"] == 33


def test_reset_or_loaded_data_applies_to_all_workers(each: list[httpx.Client]) -> None:
    first, second = each
    first.put("/v1/orgs/acme/teams", json={"title": "New"})
    assert second.post("/_dpsync/reset").status_code == 204
    assert first.get("/v1/orgs/acme/teams").json()["count"] == 4
    world = second.get("/_dpsync/world").json()
    first.delete("/v1/orgs/acme/teams/writers")
    assert second.put("/_dpsync/world", json=world).status_code == 204
    assert first.get("/_dpsync/world").json() == world


def test_clock_is_shared_by_all_workers(each: list[httpx.Client]) -> None:
    first, second = each
    first.put("/_dpsync/clock", json={"frozen": "2031-02-03T04:05:06Z"})
    second.put("/_dpsync/clock", json={"advance": 60})
    assert [client.get("/_dpsync/clock").json() for client in each] == [
        {"now": "2031-02-03T04:06:06.000Z", "mode": "frozen"}
    ] * 2
    made = second.post("/v1/orgs/acme/openapi", json={"slug": "new", "source": {"text": SPEC}}).json()
    assert made["createdAt"] == "2031-02-03T04:06:06.000Z"
    second.post("/_dpsync/reset")
    assert first.get("/_dpsync/clock").json()["mode"] == "real"


@pytest.mark.parametrize(
    ("method", "name"),
    [("GET", "requests"), ("DELETE", "requests"), ("GET", "faults"), ("PUT", "faults"), ("DELETE", "faults")],
)
def test_request_log_and_faults_need_single_worker(running: Serving, method: str, name: str) -> None:
    answer = running.client().request(method, f"/_dpsync/{name}")
    assert answer.status_code == 501
    assert "--workers 1" in answer.json()["error"]["message"]


def test_killed_worker_is_replaced_without_data_loss(running: Serving) -> None:
    first, second = running.workers
    running.client_of(first).put("/v1/orgs/acme/teams", json={"title": "Kept"})
    os.kill(first, signal.SIGKILL)
    until(lambda: first not in running.workers and len(running.workers) == 2)
    assert second in running.workers
    (new,) = set(running.workers) - {second}
    titles = [team["title"] for team in running.client_of(new).get("/v1/orgs/acme/teams").json()["items"]]
    assert "Kept" in titles


def test_other_worker_continues_interrupted_job(running: Serving) -> None:
    holder, heir = running.workers
    at_work, waiting = running.client_of(holder), running.client_of(heir)

    def start(client: httpx.Client, slug: str, source: SlowSource) -> None:
        body = {"slug": slug, "source": {"url": source.url}}
        assert client.post("/v1/orgs/acme/openapi", json=body).status_code == 201
        source.asked(1)

    def found() -> Any:
        return waiting.get("/v1/orgs/acme/openapi/new").json()

    with SlowSource(SPEC) as source, SlowSource(SPEC) as later:
        start(at_work, "new", source)
        start(waiting, "later", later)  # whose worker has looked at both by now
        assert found()["processingState"] == "progress"
        assert (source.count, later.count) == (1, 1)
        os.kill(holder, signal.SIGKILL)
        until(lambda: found() and source.count == 2)
        assert found()["processingState"] == "progress"
        source.answer()
        until(lambda: found()["processingState"] == "complete")
    assert "lastProcessErrorCode" not in found()
    assert source.count == 2


def test_workers_end_when_main_process_is_killed(shared: Database) -> None:
    with serving(shared) as started:
        workers = started.workers
        ends = [os.pidfd_open(pid) for pid in workers]
        started.process.kill()
        for end in ends:
            assert select.select([end], [], [], PATIENCE)[0]
            os.close(end)


def test_workers_reconnect_after_closed_database_connections(
    each: list[httpx.Client], postgres: Cluster, service_database: Database
) -> None:
    postgres.end_connections(service_database.where)
    for client in each:
        assert client.put("/v1/orgs/acme/teams", json={"title": "New"}).status_code == 201
    postgres.end_connections(service_database.where)
    for client in each:
        assert client.get("/v1/orgs/acme/teams").json()["count"] == 6


def test_unavailable_database_returns_503_until_recovery(
    each: list[httpx.Client], postgres: Cluster, service_database: Database
) -> None:
    name = service_database.where.partition("?")[0].rpartition("/")[2]
    postgres.run(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
    postgres.end_connections(service_database.where)
    for client in each:
        for answer in (
            client.get("/v1/orgs/acme/teams"),
            client.put("/v1/orgs/acme/teams", json={"title": "New"}),
            client.get("/_dpsync/health"),
        ):
            assert answer.status_code == 503
            assert "the database is unavailable" in answer.json()["error"]["message"]
    postgres.run(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
    for client in each:
        assert client.get("/v1/orgs/acme/teams").json()["count"] == 4


def test_failed_worker_restart_is_retried(
    running: Serving, postgres: Cluster, service_database: Database
) -> None:
    name = service_database.where.partition("?")[0].rpartition("/")[2]
    first, second = running.workers
    postgres.run(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
    os.kill(first, signal.SIGKILL)
    until(lambda: running.workers == [second])
    assert running.client_of(second).get("/v1/user").is_success
    postgres.run(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
    until(lambda: len(running.workers) == 2)
    (new,) = set(running.workers) - {second}
    assert running.client_of(new).get("/v1/user").is_success


def test_ctrl_c_ends_all_workers(shared: Database) -> None:
    with serving(shared) as started:
        workers = [os.pidfd_open(pid) for pid in started.workers]
        os.killpg(started.process.pid, signal.SIGINT)
        assert started.process.wait(PATIENCE) == 0
        for worker in workers:
            assert select.select([worker], [], [], PATIENCE)[0]
            os.close(worker)


def test_single_postgres_worker_serves_whole_control_plane(shared: Database) -> None:
    with serving(shared, "--rate-limit", "100/s", workers=1) as started:
        http = started.client()
        http.get("/v1/user")
        assert http.get("/_dpsync/requests").json()["requests"][0]["path"] == "/v1/user"
        rules = [{"operation": "getUser", "fault": {"kind": "status", "status": 418}}]
        assert http.put("/_dpsync/faults", json=rules).status_code == 200
        assert http.get("/v1/user").status_code == 418
        assert started.stop() == 0


# --- what is refused ---------------------------------------------------------------------------------


Refusal = Callable[..., str]


@pytest.fixture
def refusal(programs: Path) -> Refusal:
    return partial(refused, [str(programs / "dpsync"), "serve", "--port", "0"])


def refused(command: list[str], *options: str, **environment: str) -> str:
    """Return the error message of a command that refuses to serve."""
    ended = subprocess.run(
        [*command, *options], capture_output=True, text=True, timeout=PATIENCE, check=False,
        env={**os.environ, **environment},
    )  # fmt: skip
    assert ended.returncode == 1
    assert ended.stdout == ""
    assert "Traceback" not in ended.stderr
    return ended.stderr


def test_several_workers_on_sqlite_are_refused(refusal: Refusal, tmp_path: Path) -> None:
    message = refusal("--workers", "2", "--db", str(tmp_path / "state.db"))
    assert "several server processes need PostgreSQL: use --db postgresql://" in message
    assert not (tmp_path / "state.db").exists()


@pytest.mark.parametrize("option", ["--faults", "--rate-limit"])
def test_faults_and_rate_limit_refuse_several_workers(
    refusal: Refusal, shared: Database, tmp_path: Path, option: str
) -> None:
    (tmp_path / "faults.yaml").write_text("[]")
    value = "5/s" if option == "--rate-limit" else str(tmp_path / "faults.yaml")
    assert f"{option} needs a single server process" in refusal(
        "--workers", "2", "--db", shared.where, option, value
    )


def test_failed_worker_start_ends_the_service(refusal: Refusal, postgres: Cluster, shared: Database) -> None:
    """The first process can connect, and then only one of the two."""
    name = shared.where.partition("?")[0].rpartition("/")[2]
    postgres.run("CREATE ROLE one LOGIN CONNECTION LIMIT 1")
    postgres.run(f"ALTER DATABASE {name} OWNER TO one")
    try:
        message = refusal("--workers", "2", "--db", shared.where.replace(f"user={USER}", "user=one"))
    finally:
        postgres.run(f"ALTER DATABASE {name} OWNER TO {USER}")
        postgres.end_connections(shared.where)
        database = Database(shared.where)
        database.run("DROP OWNED BY one CASCADE")
        postgres.run("DROP ROLE one")
    assert "too many connections for role" in message
    assert "one of the server processes did not start" in message


def test_server_refuses_newer_database_schema(refusal: Refusal, database: Database) -> None:
    database.open().close()
    database.run("UPDATE meta SET value = 99 WHERE key = 'schema'")
    assert "a newer dpsync wrote the database (schema 99" in refusal("--db", database.where)


def test_missing_psycopg_error_shows_install_command(tmp_path: Path) -> None:
    (tmp_path / "psycopg.py").write_text("raise ModuleNotFoundError(\"No module named 'psycopg'\")")
    message = refused(command(), "--db", "postgresql:///x", PYTHONPATH=str(tmp_path))
    assert "pip install 'dpsync[postgres]'" in message


def test_database_errors_hide_the_password(refusal: Refusal) -> None:
    for url in (
        "postgresql://u:hush@127.0.0.1:1/x",
        "postgresql://u:hu/sh@127.0.0.1/x",
        "postgresql://u:hush@h:p/x",
    ):
        message = refusal("--db", url)
        assert "hush" not in message
        assert "hu/sh" not in message
