"""A secret that is written down is a warning with its place and the way out, and its line is never shown."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from dpsync.server.process.threaded_server import ThreadedServer
from tests.by_hand import by_hand
from tests.cli.conftest import Run

Project = Callable[..., Path]

TEXT = """\
dpsync: 1
organizations:
  acme:
    id: acme
    integrations:
      acme-tools: {{ configuration: {{ channel: docs, {settings} }} }}
    sites:
      docs: {{ title: Acme Docs, basename: docs, customization: {{ header: {header} }} }}
"""
LITERAL = "hunter2-hunter2"


def test_literal_secret_prints_warning_with_location(run: Run, project: Project) -> None:
    text = TEXT.format(settings=f"token: {LITERAL}", header=f"{{ apiKey: {LITERAL} }}")
    ended = run("validate", "-C", str(project(text)), "--profile", "full")
    assert ended.code == 0
    assert ended.out.startswith("Valid for the API version full: ")
    assert ended.err.count("warning[DP236]") == 2
    assert "dpsync.yaml:6:60" in ended.err
    assert "{ env: NAME }" in ended.err
    assert LITERAL not in ended.out + ended.err
    flags = ("--profile", "full", "--format", "json")
    found = json.loads(run("validate", "-C", str(project(text)), *flags).out)
    assert [(one["code"], one["severity"]) for one in found["findings"]] == [("DP236", "warning")] * 2
    assert found["exit"] == 0


def test_line_of_literal_secret_is_never_quoted(run: Run, project: Project) -> None:
    text = TEXT.format(settings=f"token: {LITERAL} }}, cofiguration: {{ x: y", header="{ }")
    ended = run("validate", "-C", str(project(text)))
    assert ended.code == 5
    assert "DP236" in ended.err
    assert LITERAL not in ended.out + ended.err


def test_literal_secret_in_json_file_is_located(run: Run, project: Project) -> None:
    text = TEXT.format(settings="x: y", header="{ file: header.json }")
    at = project(text, {"header.json": f'{{ "links": [{{ "secret": "{LITERAL}" }}] }}'})
    ended = run("validate", "-C", str(at))
    assert "header.json:1:25" in ended.err
    assert LITERAL not in ended.err


def test_secret_from_variable_prints_no_warning(run: Run, project: Project) -> None:
    text = TEXT.format(settings="token: { env: TOKEN }", header="{ apiKey: { env: KEY } }")
    assert run("validate", "-C", str(project(text)), "--profile", "full").err == ""


def test_validate_warns_about_literal_secret_in_overlay(run: Run, project: Project) -> None:
    text = TEXT.format(settings="x: y", header="{ }") + "environments: { prod: { overlay: prod.yaml } }\n"
    integrations = f"integrations: {{ acme-tools: {{ configuration: {{ password: {LITERAL} }} }} }}"
    at = project(text, {"prod.yaml": f"organizations: {{ acme: {{ {integrations} }} }}\n"})
    assert "prod.yaml:1:" in run("validate", "-C", str(at)).err
    assert LITERAL not in run("validate", "-C", str(at)).err


@pytest.mark.usefixtures("platform")
def test_plan_and_drift_warn_about_literal_secret(run: Run, project: Project) -> None:
    at = project(TEXT.format(settings=f"token: {LITERAL}", header="{ }"))
    for command in ("plan", "drift"):
        ended = run(command, "-C", str(at))
        assert ended.code in (0, 2)
        assert "warning[DP236]" in ended.err


def test_customization_secret_is_sent_but_not_printed(
    run: Run, project: Project, platform: ThreadedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEY", LITERAL)
    text = TEXT.format(settings="x: y", header="{ }, footer: { copyright: { env: KEY } }")
    integrations = text[text.index("    integrations") : text.index("    sites")]
    at = project(text.replace(integrations, ""))
    send = ("--confirm", "send acme/sites/docs/customization#footer")
    ended = run("apply", "-C", str(at), "--yes", "--format", "json", *send)
    assert ended.code == 0
    assert LITERAL not in ended.out + ended.err
    live = by_hand(platform, "GET", "/orgs/acme/sites/docs/customization")
    assert live["footer"]["copyright"] == LITERAL
