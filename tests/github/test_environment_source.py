"""The action sends a token where the workflow or the merged configuration says, never where a change says."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.github.conftest import CONFIG, Workflow
from tests.recording_host import RecordingHost


def configuration(url: str, variable: str = "DPSYNC_TOKEN_PROD", name: str = "prod") -> str:
    """A configuration with one environment."""
    return f"{CONFIG}environments: {{ {name}: {{ url: {url}, token: {{ env: {variable} }} }} }}\n"


@pytest.fixture
def evil() -> Iterator[RecordingHost]:
    with RecordingHost() as host:
        yield host


def test_inputs_go_before_an_environment(
    workflow: Workflow, evil: RecordingHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The environment of a change would else send a secret of the job to a host of its author's choice."""
    monkeypatch.setenv("DPSYNC_TOKEN_PROD", "a-secret-of-the-job")
    workflow.commit(configuration(evil.url))
    ended = workflow.run("pull_request", workflow.request(), environment="prod")
    assert evil.requests == []
    assert (ended.code, ended.outputs["outcome"]) == (0, "changes")
    assert f"of the environment prod: {evil.url} is not used" in ended.printed


@pytest.mark.parametrize("missing", ["api_url", "api_token"])
def test_one_input_without_the_other_is_an_error(
    missing: str, workflow: Workflow, evil: RecordingHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DPSYNC_TOKEN_PROD", "a-secret-of-the-job")
    workflow.commit(configuration(evil.url))
    ended = workflow.run("pull_request", workflow.request(), environment="prod", **{missing: ""})
    assert (ended.code, evil.requests) == (64, [])
    assert "api-url and api-token belong together" in ended.printed
