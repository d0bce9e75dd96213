"""What `doctor` says of the way to the platform, of an environment and of a workflow: by values."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dpsync.cli.connection import Connection
from dpsync.cli.doctor_checks import workflow
from dpsync.cli.doctor_platform import PlatformExamination
from dpsync.cli.doctor_settings import configuration
from dpsync.client.proxy import UNREAD
from dpsync.model.desired import Desired, Environment
from dpsync.model.diagnostic import Diagnostic
from dpsync.render.documents import Check
from tests.github.fake_github import REPOSITORY, FakeGitHub


def said(checks: Iterator[Check]) -> list[tuple[str, str, str, str | None]]:
    return [(one.topic, one.level, one.said, one.source) for one in checks]


@pytest.fixture
def nothing_set(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """An environment that names no proxy and no certificates."""
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR", *UNREAD):
        monkeypatch.delenv(name, raising=False)
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    return monkeypatch


def way(url: str) -> list[tuple[str, str, str, str | None]]:
    examination = PlatformExamination(Connection(url, "secret", "DPSYNC_URL", "DPSYNC_TOKEN"), 1.0)
    found = said(examination.settings())
    examination.close()
    return found


def test_the_way_to_a_platform_is_told_and_where_each_setting_is_from(
    nothing_set: pytest.MonkeyPatch,
) -> None:
    address = ("address", "ok", "https://api.acme.example", "DPSYNC_URL")
    token = ("token", "ok", "the token is set (dpsync never shows the token)", "DPSYNC_TOKEN")
    usual = ("certificates", "ok", "the certificates of dpsync", "the default")
    assert way(address[2]) == [address, token, ("proxy", "ok", "none", None), usual]
    nothing_set.setenv("HTTPS_PROXY", "http://proxy.example:3128")
    nothing_set.setenv("REQUESTS_CA_BUNDLE", "a.pem")
    assert way(address[2]) == [
        address,
        token,
        ("proxy", "ok", "http://proxy.example:3128", "HTTPS_PROXY"),
        usual,
        ("certificates", "note", "dpsync does not read the environment variable REQUESTS_CA_BUNDLE", None),
    ]


def test_without_tls_there_are_no_certificates(nothing_set: pytest.MonkeyPatch) -> None:
    assert [topic for topic, *_ in way("http://127.0.0.1:9")] == ["address", "token", "proxy"]


def test_an_environment_is_told_or_that_none_is_chosen() -> None:
    desired = Desired({}, {}, environments=("prod", "test"))
    assert said(configuration(desired)) == [
        ("configuration", "ok", "0 entries in 0 files", None),
        ("environment", "note", "you chose none of the environments in dpsync.yaml (prod, test)", None),
    ]
    chosen = Desired({}, {}, environment=Environment("prod"), environments=("prod", "test"))
    assert said(configuration(chosen))[1] == ("environment", "ok", "prod", None)


def test_a_configuration_with_warnings_is_a_note() -> None:
    desired = Desired({}, {}, warnings=(Diagnostic("DP140", "so", severity="warning"),))
    (first, *_) = configuration(desired)
    assert (first.level, first.said) == ("note", "0 entries in 0 files, 1 warning")
    assert first.mend == "`dpsync validate`"


HERE = {
    "GITHUB_ACTIONS": "true", "GITHUB_REPOSITORY": REPOSITORY, "GITHUB_RUN_ID": "1", "GITHUB_SHA": "a" * 40,
}  # fmt: skip


def test_outside_a_workflow_nothing_is_said_of_one() -> None:
    assert said(workflow({})) == []


def test_what_is_no_job_of_a_workflow_is_a_problem() -> None:
    ((topic, level, _, source),) = said(workflow({"GITHUB_ACTIONS": "true"}))
    assert (topic, level, source) == ("workflow", "problem", None)


def test_what_the_token_of_a_workflow_may_not_read_is_a_problem_each() -> None:
    with FakeGitHub() as github:
        github.answers = [(403, {}, {}), (200, [], {}), (404, {}, {})]
        env = {**HERE, "GITHUB_TOKEN": "token", "GITHUB_API_URL": github.url}
        _, *found = said(workflow(env))
    assert [(level, text.partition(". ")[0]) for _, level, text, _ in found] == [
        ("problem", 'the job cannot read "contents" (status: 403)'),
        ("ok", 'the job can read "pull-requests"'),
        ("problem", 'the job cannot read "issues" (status: 404)'),
    ]
