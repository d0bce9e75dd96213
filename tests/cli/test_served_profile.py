"""The API edition that a server names in its answers, and the default address."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dpsync.kinds.profiles import PROFILES, profile_of_url
from dpsync.server.http.app import build_companion
from dpsync.server.process.threaded_server import ThreadedServer
from dpsync.server.store import open_store
from tests.altering_proxy import Answer, altering_proxy
from tests.cli.silent_host import SilentHost

from .conftest import Run

Project = Callable[..., Path]
ACME = "dpsync: 1\norganizations: { acme: { id: acme, teams: { press: { title: Press } } } }\n"
NOT_PUBLISHED = f"""\
dpsync: 1
organizations:
  acme: {{ id: acme, sites: {{ docs: {{ title: Docs, shareLinks: {{ {"n" * 60}: {{}} }} }} }} }}
"""
BY_HOSTNAME = "dpsync: 1\norganizations: { acme: { hostname: acme, teams: { press: { title: Press } } } }\n"


@pytest.fixture(scope="module")
def editions() -> Iterator[dict[str, ThreadedServer]]:
    running = {
        name: ThreadedServer(build_companion(open_store(":memory:"), profile=name)) for name in PROFILES
    }
    for server in running.values():
        server.__enter__()
    yield running
    for server in running.values():
        server.__exit__(None, None, None)


@pytest.fixture(params=PROFILES)
def edition(
    request: pytest.FixtureRequest, editions: dict[str, ThreadedServer], monkeypatch: pytest.MonkeyPatch
) -> ThreadedServer:
    server = editions[request.param]
    server.reset()
    connect(monkeypatch, server.url)
    return server


def connect(monkeypatch: pytest.MonkeyPatch, url: str | None, token: str = "ada-token") -> None:
    for name in ("DPSYNC_PROFILE", "DPSYNC_ENV", "DPSYNC_URL"):
        monkeypatch.delenv(name, raising=False)
    if url is not None:
        monkeypatch.setenv("DPSYNC_URL", url)
    monkeypatch.setenv("DPSYNC_TOKEN", token)


def planned_profile(run: Run, folder: Path, *flags: str) -> str:
    ended = run("plan", "-C", str(folder), "--format", "json", *flags)
    assert ended.code == 0, ended.err
    return str(json.loads(ended.out)["plan"]["profile"])


# --- the edition that the server names ----------------------------------------------------------------


def test_plan_uses_api_version_reported_by_server(
    edition: ThreadedServer, run: Run, project: Project
) -> None:
    assert planned_profile(run, project(ACME)) == edition.app.profile


@pytest.mark.parametrize("text", [ACME, BY_HOSTNAME], ids=["by id", "by hostname"])
@pytest.mark.parametrize("command", ["plan", "drift", "list", "ids --check", "rehearse"])
def test_reading_server_api_version_needs_no_extra_request(
    command: str, text: str, edition: ThreadedServer, run: Run, project: Project
) -> None:
    """Otherwise every command on a server that is not GitBook sends a request more than it needs."""
    folder, sent = project(text), []
    for flags in ((), ("--profile", edition.app.profile)):
        edition.run_in_server(edition.app.requests.clear)
        assert run(*command.split(), "-C", str(folder), *flags).code in (0, 2)
        sent.append(sorted(edition.run_in_server(lambda: list(edition.app.requests))))

    assert sent[0] == sent[1]


def test_import_uses_api_version_reported_by_server(
    edition: ThreadedServer, run: Run, tmp_path: Path
) -> None:
    """With another profile, the plan of the imported files is not empty, or its requests answer 404."""
    flags = ("--organization", "acme")
    imported = run("import", "-C", str(tmp_path / "a"), *flags)
    named = run("import", "-C", str(tmp_path / "b"), *flags, "--profile", edition.app.profile)

    assert imported.code == named.code
    assert imported.out == named.out


def test_revert_and_apply_use_api_version_of_server(
    edition: ThreadedServer, run: Run, project: Project
) -> None:
    folder = project("dpsync: 1\norganizations: { acme: { id: acme, title: Acme Docs } }\n")
    assert run("apply", "-C", str(folder), "--yes").code == 0
    reverted = run("revert", "--last", "-C", str(folder), "--yes", "--format", "json")

    assert reverted.code == 0, reverted.err
    assert json.loads(reverted.out)["plan"]["plan"]["profile"] == edition.app.profile


@pytest.mark.usefixtures("edition")
def test_profile_flag_overrides_api_version_of_server(run: Run, project: Project) -> None:
    folder = project(ACME + "environments: { old: { profile: reference } }\n")

    assert planned_profile(run, folder, "--profile", "reference") == "reference"
    assert planned_profile(run, folder, "--env", "old") == "reference"


def test_plan_validates_files_against_api_version_of_server(
    edition: ThreadedServer, run: Run, project: Project
) -> None:
    """A value that only one edition accepts is valid exactly where the server has that edition."""
    only_published = ACME.replace("teams", "sites: { docs: { title: Docs, type: site } }, teams")
    site, link = (run("plan", "-C", str(project(text))) for text in (only_published, NOT_PUBLISHED))

    published = edition.app.profile == "published"
    assert (site.code, link.code) == ((0, 5) if published else (5, 0)), site.err + link.err


@pytest.mark.parametrize(
    ("named", "profile", "warned"),
    [
        (None, "full", False),
        ("reference", "reference", False),
        ("edition-of-tomorrow", "full", True),
        ("<b>", "full", False),
        ("full, published", "full", False),
    ],
    ids=["none", "known", "unknown", "not a name", "two"],
)
def test_plan_accepts_only_known_api_version_from_header(
    named: str | None, profile: str, warned: bool, editions: dict[str, ThreadedServer], run: Run,
    project: Project, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """A hostile server chooses the header: it can choose one of the known editions and nothing else."""

    def alter(_method: str, _path: str, answer: Answer) -> None:
        answer.headers.pop("dpsync-profile", None)
        if named is not None:
            answer.headers["dpsync-profile"] = named

    editions["full"].reset()
    with altering_proxy(editions["full"].url, alter) as url:
        connect(monkeypatch, url)
        ended = run("plan", "-C", str(project(ACME)), "--format", "json")

    assert json.loads(ended.out)["plan"]["profile"] == profile
    assert ("reports the API version edition-of-tomorrow" in ended.err) == warned


def test_approved_plan_of_other_api_version_is_refused(
    editions: dict[str, ThreadedServer], run: Run, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = "full"

    def alter(_method: str, _path: str, answer: Answer) -> None:
        answer.headers["dpsync-profile"] = named

    folder = project(ACME)
    editions["full"].reset()
    with altering_proxy(editions["full"].url, alter) as url:
        connect(monkeypatch, url)
        digest = json.loads(run("plan", "-C", str(folder), "--format", "json").out)["digest"]
        named = "published"
        other = run("apply", "-C", str(folder), "--approved", digest)
        named = "full"
        same = run("apply", "-C", str(folder), "--approved", digest)

    assert (other.code, same.code) == (4, 0)


def test_redirect_response_with_profile_is_not_followed(
    editions: dict[str, ThreadedServer], run: Run, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A redirect names no edition: the errors are those of `full`."""
    paths = []

    def alter(_method: str, path: str, answer: Answer) -> None:
        paths.append(path)
        answer.status = 307
        answer.headers |= {"location": f"{editions['published'].url}/v1{path}", "dpsync-profile": "published"}

    with altering_proxy(editions["full"].url, alter) as url:
        connect(monkeypatch, url)
        ended = run("plan", "-C", str(project(NOT_PUBLISHED)))

    assert (ended.code, paths) == (1, ["/orgs/acme"])
    assert "307" in ended.err


@pytest.mark.parametrize(
    ("url", "profile"),
    [
        ("https://api.gitbook.com", "published"),
        ("https://API.GitBook.com/", "published"),
        ("http://api.gitbook.com", "published"),
        ("https://api.gitbook.com:8443", "published"),
        ("https://api.gitbook.com.evil.example", None),
        ("https://evil.example/api.gitbook.com", None),
        ("http://127.0.0.1:8787", None),
        ("https://[", None),
    ],
)
def test_default_api_version_depends_only_on_url(url: str, profile: str | None) -> None:
    """Otherwise a proxy in front of GitBook chooses the edition."""
    assert profile_of_url(url) == profile


def test_doctor_reports_api_version_differing_from_server(
    edition: ThreadedServer, run: Run, project: Project
) -> None:
    def check(*flags: str) -> tuple[str, str]:
        checks = json.loads(run("doctor", "-C", str(project(ACME)), "--format", "json", *flags).out)["checks"]
        (one,) = (one for one in checks if one["topic"] == "profile")
        assert one["source"] == ("--profile" if flags else "named by the server")
        return one["level"], one["said"]

    served = edition.app.profile
    assert check() == ("ok", served)
    assert check("--profile", served) == ("ok", served)
    other = "reference" if served == "full" else "full"
    assert check("--profile", other) == (
        "problem", f"--profile chooses the API version {other}, but the server uses the API version {served}"
    )  # fmt: skip


# --- the default address ------------------------------------------------------------------------------


REFUSED_TUNNEL = b"HTTP/1.1 403 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


@pytest.fixture
def proxy(monkeypatch: pytest.MonkeyPatch) -> Iterator[SilentHost]:
    """Set a proxy for all other machines that refuses every tunnel."""
    running = SilentHost(REFUSED_TUNNEL)
    for name in ("HTTPS_PROXY", "HTTP_PROXY"):
        monkeypatch.setenv(name, running.url)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    yield running
    running.close()


@pytest.mark.parametrize("url", [None, "", "https://api.gitbook.com"], ids=["not set", "empty", "GitBook"])
def test_plan_without_url_connects_to_gitbook(
    url: str | None, proxy: SilentHost, run: Run, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect(monkeypatch, url, "gb_api_token")
    ended = run("plan", "-C", str(project(ACME)))

    assert ended.code == 1
    assert "dpsync cannot connect to https://api.gitbook.com through the proxy" in ended.err
    assert proxy.received.startswith(b"CONNECT api.gitbook.com:443")


def test_validate_uses_default_api_version_of_url(
    run: Run, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`validate` sends nothing, and still reports what a plan for GitBook refuses."""
    local = (
        "environments: { local: { url: 'http://127.0.0.1:9' }, live: { url: 'https://api.gitbook.com' } }\n"
    )
    cases = [
        (None, (), 5),
        ("https://api.gitbook.com", (), 5),
        ("http://127.0.0.1:8787", (), 0),
        (None, ("--env", "local"), 0),
        ("http://127.0.0.1:8787", ("--env", "live"), 5),
        (None, ("--profile", "full"), 0),
    ]
    found = []
    for url, flags, code in cases:
        connect(monkeypatch, url)
        text = NOT_PUBLISHED + (local if "--env" in flags else "")
        found.append((url, flags, run("validate", "-C", str(project(text)), *flags).code, code))

    assert [(ended, code) for _, _, ended, code in found] == [(code, code) for *_, code in found]


@pytest.mark.parametrize("command", ["apply --yes", "revert --last --yes"])
def test_apply_and_revert_without_terminal_require_url(
    command: str, editions: dict[str, ThreadedServer], proxy: SilentHost, run: Run, project: Project,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Otherwise a job whose variable is missing writes to production."""
    folder = project(ACME)
    editions["full"].reset()
    connect(monkeypatch, editions["full"].url)
    assert run("apply", "-C", str(folder), "--yes").code == 0
    connect(monkeypatch, None, "gb_api_token")
    refused, sent = run(*command.split(), "-C", str(folder)), proxy.received
    connect(monkeypatch, "https://api.gitbook.com", "gb_api_token")
    explicit = run(*command.split(), "-C", str(folder))

    assert (refused.code, sent) == (64, b"")
    assert "set DPSYNC_URL=https://api.gitbook.com" in refused.err
    assert explicit.code != 64


@pytest.mark.parametrize("command", ["plan", "apply --yes", "import --organization acme", "drift", "list"])
@pytest.mark.parametrize("url", [None, "http://companion.example:8787", "https://api.gitbook.com"])
def test_public_test_token_is_never_sent_remotely(
    url: str | None, command: str, proxy: SilentHost, run: Run, project: Project, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Otherwise whoever forgets DPSYNC_URL after a try-out sends requests to GitBook that mean nothing."""
    folder = tmp_path / "new" if command.startswith("import") else project(ACME)
    connect(monkeypatch, url)
    ended = run(*command.split(), "-C", str(folder))

    assert ended.code == 64
    assert proxy.received == b""
    if url is not None or command != "apply --yes":
        assert "DPSYNC_TOKEN is a public test token" in ended.err


def test_doctor_reports_public_test_token(
    proxy: SilentHost, run: Run, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect(monkeypatch, None)
    ended = run("doctor", "-C", str(project(ACME)))

    assert (ended.code, proxy.received) == (1, b"")
    assert "is a public test token" in ended.out
