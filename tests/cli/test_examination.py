"""What `doctor` says of the way to the platform, of an environment and of a workflow: by values."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dpsync.cli.connection import Connection
from dpsync.cli.doctor_checks import check_workflow
from dpsync.cli.doctor_platform import PlatformExamination
from dpsync.cli.doctor_settings import check_configuration
from dpsync.client.proxy import IGNORED_VARIABLES
from dpsync.model.desired import Desired, Environment
from dpsync.model.diagnostic import Diagnostic
from dpsync.render.documents import Check
from tests.github.fake_github import REPOSITORY, FakeGitHub


def said(checks: Iterator[Check]) -> list[tuple[str, str, str, str | None]]:
    return [(one.topic, one.level, one.said, one.source) for one in checks]


@pytest.fixture
def nothing_set(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Remove every proxy and certificate variable from the environment."""
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR", *IGNORED_VARIABLES):
        monkeypatch.delenv(name, raising=False)
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    return monkeypatch


def way(url: str) -> list[tuple[str, str, str, str | None]]:
    examination = PlatformExamination(Connection(url, "secret", "DPSYNC_URL", "DPSYNC_TOKEN"), 1.0)
    found = said(examination.check_settings())
    examination.close()
    return found


def test_doctor_lists_connection_settings_with_sources(
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


@pytest.mark.usefixtures("nothing_set")
def test_doctor_omits_certificates_for_plain_http() -> None:
    assert [topic for topic, *_ in way("http://127.0.0.1:9")] == ["address", "token", "proxy"]


def test_doctor_shows_selected_environment_or_none() -> None:
    desired = Desired({}, {}, environments=("prod", "test"))
    assert said(check_configuration(desired)) == [
        ("configuration", "ok", "0 entries in 0 files", None),
        ("environment", "note", "you chose none of the environments in dpsync.yaml (prod, test)", None),
    ]
    chosen = Desired({}, {}, environment=Environment("prod"), environments=("prod", "test"))
    assert said(check_configuration(chosen))[1] == ("environment", "ok", "prod", None)


def test_doctor_notes_configuration_warnings() -> None:
    desired = Desired({}, {}, warnings=(Diagnostic("DP140", "so", severity="warning"),))
    (first, *_) = check_configuration(desired)
    assert (first.level, first.said) == ("note", "0 entries in 0 files, 1 warning")
    assert first.mend == "`dpsync validate`"


HERE = {
    "GITHUB_ACTIONS": "true", "GITHUB_REPOSITORY": REPOSITORY, "GITHUB_RUN_ID": "1", "GITHUB_SHA": "a" * 40,
}  # fmt: skip


def test_doctor_skips_workflow_checks_outside_github_actions() -> None:
    assert said(check_workflow({})) == []


def test_doctor_reports_incomplete_workflow_variables() -> None:
    ((topic, level, _, source),) = said(check_workflow({"GITHUB_ACTIONS": "true"}))
    assert (topic, level, source) == ("workflow", "problem", None)


def test_doctor_reports_each_missing_github_token_permission() -> None:
    with FakeGitHub() as github:
        github.answers = [(403, {}, {}), (200, [], {}), (404, {}, {})]
        env = {**HERE, "GITHUB_TOKEN": "token", "GITHUB_API_URL": github.url}
        _, *found = said(check_workflow(env))
    assert [(level, text.partition(". ")[0]) for _, level, text, _ in found] == [
        ("problem", 'the job cannot read "contents" (status: 403)'),
        ("ok", 'the job can read "pull-requests"'),
        ("problem", 'the job cannot read "issues" (status: 404)'),
    ]
