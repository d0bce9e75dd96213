"""`policy: accept` on the command line: an accepted problem is not counted, and -v lists it as accepted."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dpsync.server.process.threaded_server import ThreadedServer
from tests.cli.conftest import Run
from tests.cli.test_drift import change
from tests.importing.test_command import committed
from tests.troubled import troubled_world

Project = Callable[..., Path]
AZURE = "saml/azure#status"
ENTRIES = """\
organizations:
  acme:
    id: acme
    saml:
      azure: { label: Azure }
    openapi:
      billing: { source: { url: https://acme.example/openapi/billing.yaml } }
"""
ACTIVE = {
    "entityID": "https://a.example", "ssoURL": "https://a.example/sso",
    "certificate": "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----",
}  # fmt: skip


@pytest.fixture
def platform(platform: ThreadedServer) -> ThreadedServer:
    """Serve two objects that have a problem."""
    platform.reset(troubled_world())
    return platform


def accepting(*patterns: str, entries: str = ENTRIES) -> str:
    return f"dpsync: 1\npolicy:\n  accept: {json.dumps(patterns)}\n{entries}"


def document(run: Run, command: str, directory: str, *flags: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run(command, "-C", directory, "--format", "json", *flags).out)
    return found


@pytest.mark.parametrize("command", ["plan", "drift"])
@pytest.mark.usefixtures("platform")
def test_plan_and_drift_omit_accepted_problems(command: str, run: Run, project: Project) -> None:
    directory = str(project(accepting(AZURE)))
    ended = run(command, "-C", directory)
    assert ended.code == 0, ended.err
    assert "1 object has a problem on GitBook's side: dpsync doctor" in ended.out
    listed, _, accepted = run(command, "-C", directory, "-v").out.partition("Accepted problems")
    assert ("acme/saml/azure" in listed, "acme/saml/azure" in accepted) == (False, True)
    assert "! acme/openapi/billing: GitBook could not fetch or parse the specification" in listed
    found = document(run, command, directory)[command]
    assert [item["address"] for item in found["accepted"]] == ["acme/saml/azure"]
    assert [item["address"] for item in found["trouble"]] == ["acme/openapi/billing"]


@pytest.mark.parametrize("command", ["plan", "drift"])
@pytest.mark.usefixtures("platform")
def test_verbose_output_lists_accepted_problems(command: str, run: Run, project: Project) -> None:
    ended = run(command, "-C", str(project(accepting(AZURE))), "-v")
    _, _, accepted = ended.out.partition("Accepted problems: 1\n")
    assert accepted.startswith("acme/saml/azure: the SAML provider is not active")


SPEC = "organizations: { acme: { id: acme, openapi: { new: { source: { %s } } } } }\n"


@pytest.mark.parametrize(
    ("entries", "pattern"),
    [
        pytest.param(
            "organizations: { acme: { id: acme, saml: { new: { label: New } } } }\n", "saml/new#status",
            id="created provider is not active",
        ),
        pytest.param(
            SPEC % "url: https://acme.example/new.yaml", "openapi/*#lastProcessErrorCode",
            id="sent URL cannot be fetched",
        ),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("platform")
def test_apply_with_only_accepted_problems_converges(
    entries: str, pattern: str, run: Run, project: Project
) -> None:
    directory = str(project(accepting(pattern, entries=entries)))
    ended = document(run, "apply", directory, "--yes")
    assert (ended["exit"], ended["converged"]) == (0, True)
    assert len(ended["report"]["remaining"]["accepted"]) == 1
    assert ended["report"]["started"] == []


@pytest.mark.usefixtures("platform")
def test_apply_of_unprocessed_openapi_text_is_incomplete(run: Run, project: Project) -> None:
    """The platform still has no text, so a new plan sends it again; that is no lost value."""
    entries = SPEC % """text: '{"openapi": "3.0.0"}'"""
    ended = document(
        run, "apply", str(project(accepting("openapi/*#lastProcessErrorCode", entries=entries))), "--yes"
    )
    assert (ended["exit"], ended["converged"]) == (3, False)
    assert len(ended["report"]["remaining"]["accepted"]) == 1
    assert (ended["report"]["started"], ended["report"]["unkept"]) == ([], [])


@pytest.mark.usefixtures("platform")
def test_apply_with_unaccepted_problem_exits_3(run: Run, project: Project) -> None:
    entries = (
        "organizations: { acme: { id: acme, saml: { new: { label: New }, azure: { label: Azure } } } }\n"
    )
    ended = document(run, "apply", str(project(accepting(AZURE, entries=entries))), "--yes")
    assert (ended["exit"], ended["converged"]) == (3, False)
    assert [item["address"] for item in ended["report"]["started"]] == ["acme/saml/new"]


def test_verbose_plan_suggests_removing_obsolete_accept_line(
    platform: ThreadedServer, run: Run, project: Project
) -> None:
    directory = str(project(accepting(AZURE)))
    change(platform, "/orgs/acme/saml/azure", **ACTIVE)
    ended = run("plan", "-C", directory, "-v")
    assert ended.code == 0
    (line,) = (line for line in ended.out.splitlines() if "policy.accept" in line)
    assert line.endswith("GitBook no longer reports this problem: remove this line  dpsync.yaml:3")


@pytest.mark.usefixtures("platform")
def test_doctor_lists_accepted_problem_as_ok(run: Run, project: Project) -> None:
    found = document(run, "doctor", str(project(accepting(AZURE))))
    levels = {one["address"]: (one["level"], one["source"]) for one in found["checks"] if one["address"]}
    assert levels == {
        "acme/saml/azure": ("ok", "dpsync.yaml:8"), "acme/openapi/billing": ("note", "dpsync.yaml:10"),
    }  # fmt: skip
    (azure,) = (one for one in found["checks"] if one["address"] == "acme/saml/azure")
    assert azure["said"].endswith(" (accepted by policy: accept)")


@pytest.mark.usefixtures("platform")
def test_doctor_suggests_working_accept_patterns(run: Run, project: Project) -> None:
    """Each pattern that the notes print is put into the policy; then no problem is left."""
    found = document(run, "doctor", str(project(f"dpsync: 1\n{ENTRIES}")))["checks"]
    notes = [one for one in found if one["address"] and one["level"] == "note"]
    printed = [one["mend"].partition('add "')[2].partition('" to policy: accept')[0] for one in notes]
    assert len(printed) == 2
    again = document(run, "plan", str(project(accepting(*printed))))["plan"]
    assert (again["trouble"], len(again["accepted"])) == ([], 2)


@pytest.mark.usefixtures("platform")
def test_invalid_accept_pattern_error_suggests_valid_field(run: Run, project: Project) -> None:
    ended = run("plan", "-C", str(project(accepting("saml/azure#label"))))
    assert ended.code == 5
    assert "error[DP244]" in ended.err
    assert 'did you mean "saml/azure#status"?' in ended.err


@pytest.mark.parametrize("flags", [["--update", "acme/saml/azure#label"], ["--add", "acme/teams"], []])
def test_import_keeps_accept_lines(
    flags: list[str], platform: ThreadedServer, run: Run, project: Project
) -> None:
    entries = ENTRIES + "    teams: { writers: { title: Technical writers } }\n"
    directory = project(accepting(AZURE, entries=entries))
    change(platform, "/orgs/acme/saml/azure", label="Azure AD")
    committed(directory)
    ended = run("import", "-C", str(directory), *flags)
    assert ended.code in (0, 3), ended.out + ended.err
    assert f'accept: ["{AZURE}"]' in (directory / "dpsync.yaml").read_text(encoding="utf-8")
