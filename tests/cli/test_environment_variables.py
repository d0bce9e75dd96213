"""A configuration chooses the host of an environment, so it may name only variables meant for dpsync."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.test_overlays import git
from tests.recording_host import RecordingHost

Project = Callable[..., Path]

TEXT = """\
dpsync: 1
organizations: {{ acme: {{ id: acme, title: Acme }} }}
environments:
  prod:
    url: {url}
    token: {{ env: {variable} }}
"""


@pytest.fixture
def host() -> Iterator[RecordingHost]:
    with RecordingHost() as running:
        yield running


@pytest.mark.parametrize(
    ("variable", "code"),
    [
        pytest.param("AWS_SECRET_ACCESS_KEY", "DP147", id="cloud key"),
        pytest.param("GITHUB_TOKEN", "DP147", id="token of another service"),
        pytest.param("DPSYNC_TOKENS", "DP147", id="name without the underscore"),
        pytest.param("DPSYNC_TOKEN_FILE", "DP147", id="path of a token file"),
        pytest.param('"DPSYNC_TOKEN_${AWS_SECRET_ACCESS_KEY}"', "DP205", id="name out of a variable"),
        pytest.param("gb_api_123", "DP205", id="token in place of a name"),
    ],
)
def test_forbidden_token_variable_is_an_error(
    variable: str, code: str, run: Run, project: Project, host: RecordingHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise, one line of a file could send any secret of the process to a host of its author's choice."""
    names = ("AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "DPSYNC_TOKENS", "DPSYNC_TOKEN_FILE", "gb_api_123")
    for name in names:
        monkeypatch.setenv(name, "a-secret")
    monkeypatch.setenv("DPSYNC_TOKEN_a-secret", "a-secret")
    directory = str(project(TEXT.format(url=host.url, variable=variable)))
    for command in ("validate", "plan", "drift", "list", "ids", "doctor"):
        ended = run(command, "-C", directory, "--env", "prod")
        assert (ended.code, code in ended.out + ended.err) == (5, True), command
        assert "DPSYNC_TOKEN_NAMES" in ended.out + ended.err
        assert "a-secret" not in ended.out + ended.err
    (found,) = json.loads(run("validate", "-C", directory, "--format", "json").out)["findings"]
    assert (found["code"], found["at"]["line"]) == (code, 6)
    assert host.requests == []


@pytest.mark.parametrize(
    ("variable", "names"),
    [
        pytest.param("DPSYNC_TOKEN", None, id="the variable of the shell"),
        pytest.param("DPSYNC_TOKEN_PROD", None, id="one with the prefix"),
        pytest.param("DOCS_KEY", "DOCS_KEY", id="an added name"),
        pytest.param("DOCS_KEY", "OTHER,DOCS_KEY THIRD", id="an added name among others"),
    ],
)
def test_allowed_token_variable_is_sent(
    variable: str, names: str | None, run: Run, project: Project, host: RecordingHost,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """These names need no confirmation, so ordinary work is not interrupted."""
    monkeypatch.delenv("DPSYNC_URL", raising=False)
    monkeypatch.setenv(variable, "ada-token")
    if names is not None:
        monkeypatch.setenv("DPSYNC_TOKEN_NAMES", names)
    ended = run("plan", "-C", str(project(TEXT.format(url=host.url, variable=variable))), "--env", "prod")
    assert (ended.code, "(401)" in ended.err, host.tokens) == (1, True, {"ada-token"})


@pytest.mark.parametrize(
    "path",
    [
        pytest.param("/${AWS_SECRET_ACCESS_KEY}", id="in the path"),
        pytest.param("/${AWS_SECRET_ACCESS_KEY:-none}", id="with a default"),
        pytest.param("/${DPSYNC_TOKEN_PROD}", id="the token itself"),
    ],
)
def test_forbidden_variable_in_url_is_an_error(
    path: str, run: Run, project: Project, host: RecordingHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A secret in an address reaches the host, or every name server that resolves the address."""
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "a-secret")
    monkeypatch.setenv("DPSYNC_TOKEN_PROD", "a-secret")
    directory = str(project(TEXT.format(url=f'"{host.url}{path}"', variable="DPSYNC_TOKEN_PROD")))
    for command in ("validate", "plan", "drift", "list", "ids", "doctor"):
        ended = run(command, "-C", directory, "--env", "prod")
        assert (ended.code, "DP148" in ended.out + ended.err) == (5, True), command
        assert "a-secret" not in ended.out + ended.err
    assert host.requests == []


def test_allowed_variable_in_url_is_used(
    run: Run, project: Project, host: RecordingHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DPSYNC_URL", raising=False)
    monkeypatch.setenv("DPSYNC_URL_PROD", host.url)
    monkeypatch.setenv("DPSYNC_TOKEN_PROD", "ada-token")
    text = TEXT.format(url='"${DPSYNC_URL_PROD}"', variable="DPSYNC_TOKEN_PROD")
    ended = run("plan", "-C", str(project(text)), "--env", "prod")
    assert (ended.code, "(401)" in ended.err, host.tokens) == (1, True, {"ada-token"})


@pytest.mark.parametrize(("old", "new"), [("PROD_TOKEN", "DPSYNC_TOKEN_PROD"), ("PROD_URL", "DPSYNC_URL")])
def test_git_base_with_forbidden_variable_still_loads(
    old: str, new: str, run: Run, project: Project, host: RecordingHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The git base is the commit before the variable was renamed. Its protected entries stay protected."""
    monkeypatch.setenv("DPSYNC_TOKEN_PROD", "ada-token")
    for name in ("PROD_URL", "DPSYNC_URL"):
        monkeypatch.setenv(name, host.url)
    before = {"PROD_TOKEN": (host.url, "PROD_TOKEN"), "PROD_URL": ('"${PROD_URL}"', "DPSYNC_TOKEN_PROD")}[old]
    text = TEXT.format(url=before[0], variable=before[1])
    directory = project(text)
    git(directory, "init", "-q", "-b", "main")
    git(directory, "add", "-A")
    git(directory, "commit", "-q", "-m", "before")
    (directory / "dpsync.yaml").write_text(text.replace(old, new), encoding="utf-8")
    ended = run("doctor", "-C", str(directory), "--format", "json")
    (base,) = [check for check in json.loads(ended.out)["checks"] if check["topic"] == "git base"]
    assert (base["level"], base["said"].startswith("HEAD")) == ("ok", True)
