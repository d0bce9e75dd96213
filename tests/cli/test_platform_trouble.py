"""What the platform reports as wrong by itself is shown everywhere, is no change and never "converged"."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from dpsync.kinds.kind import Kind
from dpsync.kinds.registry import build_registry
from dpsync.server.process.threaded_server import ThreadedServer
from tests.cli.conftest import Run
from tests.cli.test_drift import change
from tests.troubled import troubled_world

Project = Callable[..., Path]
REGISTRY = build_registry()
BEFORE = """\
dpsync: 1
organizations:
  acme:
    id: acme
    openapi:
      billing: { source: { url: https://acme.example/openapi/billing.yaml } }
"""
SAML = "    saml:\n      new: { label: New }\n"
WRONG = "! acme/openapi/billing: GitBook could not fetch or parse the specification (FETCH_TIMEOUT"
ONE_PROBLEM = "1 object has a problem on GitBook's side: dpsync doctor"


@pytest.fixture
def platform(platform: ThreadedServer) -> ThreadedServer:
    """Serve two objects that have a problem."""
    platform.reset(troubled_world())
    return platform


@pytest.mark.usefixtures("platform")
def test_plan_and_drift_report_platform_problem_without_changes(run: Run, project: Project) -> None:
    directory = str(project(BEFORE))
    for command in ("plan", "drift"):
        ended = run(command, "-C", directory)
        assert ended.code == 0
        assert ended.out.splitlines()[-2].startswith(ONE_PROBLEM)
        assert WRONG in run(command, "-C", directory, "-v").out
    assert run("drift", "-C", directory).out.endswith("\nNo drift.\n")
    planned = json.loads(run("plan", "-C", directory, "--format", "json").out)["plan"]
    assert [item["address"] for item in planned["trouble"]] == ["acme/openapi/billing"]
    assert planned["changes"] == []


@pytest.mark.usefixtures("platform")
def test_apply_with_existing_platform_problem_exits_0(run: Run, project: Project) -> None:
    assert run("apply", "-C", str(project(BEFORE)), "--yes").code == 0
    directory = str(project(BEFORE + "    teams: { new: { title: New } }\n"))
    ended = run("apply", "-C", directory, "--yes")
    assert ended.code == 0, ended.out
    assert ended.out.count(ONE_PROBLEM) == 1
    assert ended.out.endswith("Verified: a new plan has no changes.\n")


@pytest.mark.usefixtures("platform")
def test_apply_causing_platform_problem_exits_3(run: Run, project: Project, tmp_path: Path) -> None:
    directory = str(project(BEFORE.partition("    openapi:")[0] + SAML))
    ended = run("apply", "-C", directory, "--yes", "--format", "json")
    document = json.loads(ended.out)
    assert ended.code == document["exit"] == 3, ended.out
    assert document["converged"] is False
    assert [item["address"] for item in document["report"]["remaining"]["trouble"]] == ["acme/saml/new"]
    assert document["report"]["remaining"]["changes"] == []
    assert [item["address"] for item in document["report"]["started"]] == ["acme/saml/new"]
    (tmp_path / "ended.json").write_text(ended.out)
    ending = run("show", str(tmp_path / "ended.json")).out.replace("\n", " ")
    assert (
        "Incomplete: a new plan has no changes, but GitBook reports a problem with 1 object that this apply"
        in ending
    )
    assert "Verified" not in ending
    assert ending.count("no changes") == 1
    again = run("apply", "-C", directory, "--yes")
    assert again.code == 0
    assert ONE_PROBLEM in again.out


def test_plan_omits_fixed_platform_problem(platform: ThreadedServer, run: Run, project: Project) -> None:
    directory = str(project(BEFORE.partition("    openapi:")[0] + "    saml: { azure: { label: Azure } }\n"))
    assert ONE_PROBLEM in run("plan", "-C", directory).out
    change(
        platform, "/orgs/acme/saml/azure", entityID="https://a.example", ssoURL="https://a.example/sso",
        certificate="-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----",
    )  # fmt: skip
    assert "problem" not in run("plan", "-C", directory).out


@pytest.mark.parametrize(
    "kind",
    [kind for kind in REGISTRY.in_dependency_order if kind.platform_work.trouble],
    ids=lambda kind: kind.name,
)
def test_platform_problem_fields_are_read_only(kind: Kind) -> None:
    trouble = kind.platform_work.trouble
    assert trouble is not None
    for name in filter(None, (trouble.field, trouble.detail_field)):
        assert kind.field(name).written_in == "neither"
        assert name not in kind.lasting_fields
    assert kind.reported_problem({trouble.field: "broken"}) is not None
    for fine in (None, *trouble.accepted_values):
        assert kind.reported_problem({trouble.field: fine}) is None
    if kind.platform_work.busy is not None:
        busy = {kind.platform_work.busy.field: kind.platform_work.busy.values[0]}
        assert kind.reported_problem({trouble.field: "broken", **busy}) is None


def test_five_kinds_can_report_platform_problems() -> None:
    assert {kind.name for kind in REGISTRY.in_dependency_order if kind.platform_work.trouble} == {
        "installation", "openapi", "organization", "saml", "translation",
    }  # fmt: skip


@pytest.mark.parametrize("command", ["plan", "drift", "apply"])
@pytest.mark.usefixtures("platform")
def test_short_output_counts_platform_problems(command: str, run: Run, project: Project) -> None:
    directory = str(project(BEFORE + "    teams: { writers: { title: Technical writers } }\n"))
    for flag in ("--summary", "-q"):
        assert ONE_PROBLEM in run(command, "-C", directory, flag).out


def test_builtin_server_data_has_no_platform_problems(
    server: ThreadedServer, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise the first thing that a newcomer sees is a problem."""
    server.reset()
    monkeypatch.setenv("DPSYNC_URL", server.url)
    for organization, token in (("acme", "ada-token"), ("globex", "hank-token")):
        monkeypatch.setenv("DPSYNC_TOKEN", token)
        directory = str(tmp_path / organization)
        run("import", "-C", directory, "--organization", organization)
        found = json.loads(run("plan", "-C", directory, "--format", "json").out)["plan"]
        assert (found["trouble"], len(found["bindings"]) > 20) == ([], True)
