"""`dpsync doctor` on declared objects: problems that the platform reports, and what was not examined."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dpsync.kinds.kind import Kind
from dpsync.kinds.registry import build_registry
from dpsync.server.process.threaded_server import ThreadedServer
from tests.cli.conftest import Run
from tests.cli.test_drift import change
from tests.troubled import troubled_world

Project = Callable[..., Path]
REGISTRY = build_registry()
TEXT = """\
dpsync: 1
organizations:
  acme:
    id: acme
    saml:
      azure: { label: Azure }
      okta: { label: Okta }
    openapi:
      billing: { source: { url: https://acme.example/openapi/billing.yaml } }
"""
FRENCH = {"source": {"space": "guides", "language": "en"}, "language": "fr"}
BILLING = "acme/openapi/billing"
AZURE = "acme/saml/azure"
PROBLEMS = [
    (
        BILLING,
        "could not fetch or parse the specification (FETCH_TIMEOUT",
        "dpsync.yaml:9",
        "can reach the URL",
    ),
    (AZURE, "members cannot sign in with it (pending)", "dpsync.yaml:6", "set entityID"),
]


@pytest.fixture
def platform(platform: ThreadedServer) -> ThreadedServer:
    """Serve two objects that have a problem."""
    platform.reset(troubled_world())
    return platform


@pytest.fixture
def directory(project: Project, platform: ThreadedServer) -> str:
    del platform
    return str(project(TEXT))


def checks(run: Run, directory: str, *flags: str) -> tuple[int, list[dict[str, Any]]]:
    """Return the exit code and the checks of the declared objects."""
    ended = run("doctor", "-C", directory, "--format", "json", *flags)
    document = json.loads(ended.out)
    assert ended.code == document["exit"]
    return ended.code, [one for one in document["checks"] if one["topic"] == "objects"]


def test_doctor_lists_platform_problems_as_notes(run: Run, directory: str) -> None:
    code, found = checks(run, directory)
    assert code == 0
    assert [(one["level"], one["address"], one["source"]) for one in found] == [
        ("note", address, source) for address, _, source, _ in PROBLEMS
    ]
    for one, (address, cause, _, todo) in zip(found, PROBLEMS, strict=True):
        assert one["said"].startswith(f"{address}: ")
        assert cause in one["said"]
        assert todo in one["mend"]


def test_doctor_text_shows_line_and_remedy(run: Run, directory: str) -> None:
    lines = run("doctor", "-C", directory).out.splitlines()
    for address, cause, source, todo in PROBLEMS:
        (at,) = (number for number, line in enumerate(lines) if f"  {address}: " in line)
        assert cause in lines[at]
        assert lines[at].startswith("note     objects")
        assert lines[at].endswith(f"({source})")
        assert lines[at + 1].strip().startswith("= ")
        assert todo in lines[at + 1]


def test_doctor_omits_fixed_problem(run: Run, directory: str, platform: ThreadedServer) -> None:
    change(
        platform, "/orgs/acme/saml/azure", entityID="https://a.example", ssoURL="https://a.example/sso",
        certificate="-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----",
    )  # fmt: skip
    assert [one["address"] for one in checks(run, directory)[1]] == [BILLING]


@pytest.mark.usefixtures("platform")
def test_doctor_counts_objects_without_problems(run: Run, project: Project) -> None:
    directory = str(
        project("dpsync: 1\norganizations: { acme: { id: acme, saml: { okta: { label: Okta } } } }\n")
    )
    assert [(one["level"], one["said"]) for one in checks(run, directory)[1]] == [
        ("ok", "GitBook reports no problem with 2 objects")
    ]


def test_doctor_sends_only_get_requests(run: Run, directory: str, platform: ThreadedServer) -> None:
    platform.app.requests.clear()
    checks(run, directory)
    assert {method for method, _, _ in platform.app.requests} == {"GET"}


@pytest.mark.parametrize(
    ("text", "variables", "reason"),
    [
        pytest.param(TEXT, {"DPSYNC_TOKEN": ""}, "dpsync could not read GitBook", id="no token"),
        pytest.param(TEXT, {"DPSYNC_URL": ""}, "dpsync could not read GitBook", id="no address"),
        pytest.param(TEXT, {"DPSYNC_TOKEN": "wrong"}, "dpsync could not read GitBook", id="refused token"),
        pytest.param(
            TEXT.replace("id: acme", "id: elsewhere"), {}, "dpsync could not read GitBook",
            id="no such organization",
        ),
        pytest.param(TEXT.replace("id:", "ids:"), {}, "the configuration is invalid", id="invalid file"),
        pytest.param(None, {}, "dpsync found no configuration", id="no root file"),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("platform")
def test_doctor_explains_why_objects_were_not_checked(
    text: str | None,
    variables: dict[str, str],
    reason: str,
    run: Run,
    project: Project,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    directory = str(tmp_path if text is None else project(text))
    code, found = checks(run, directory)
    assert code != 0
    assert [(one["level"], one["said"]) for one in found] == [
        ("note", f"dpsync did not check objects for problems in GitBook: {reason}")
    ]


def test_doctor_lists_objects_unreadable_by_token(
    run: Run, directory: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DPSYNC_TOKEN", "kim-token")
    code, found = checks(run, directory)
    assert code == 0
    unread = [one for one in found if "dpsync did not check acme" in one["said"]]
    assert [(one["level"], one["address"], one["source"]) for one in unread] == [
        ("note", AZURE, "dpsync.yaml:6"), ("note", "acme/saml/okta", "dpsync.yaml:7"),
    ]  # fmt: skip
    assert all("(status 403)" in one["said"] for one in unread)


@pytest.mark.usefixtures("platform")
def test_doctor_exits_1_when_plan_is_impossible(run: Run, project: Project) -> None:
    text = TEXT.replace("{ label: Azure }", "{ label: Azure, id: elsewhere }")
    code, found = checks(run, str(project(text)))
    assert code == 1
    assert [one["level"] for one in found] == ["problem"]
    assert found[0]["said"].startswith("dpsync cannot make a plan: ")


def test_doctor_prints_working_retry_command(run: Run, project: Project, platform: ThreadedServer) -> None:
    organization = {
        "id": "acme", "title": "Acme", "members": [{"user": "ada", "role": "admin"}],
        "spaces": [{"id": "guides", "title": "Guides"}],
        "translations": [{**FRENCH, "id": "fr", "status": "failed"}],
    }  # fmt: skip
    platform.reset(
        {"users": [{"id": "ada"}], "tokens": {"ada-token": "ada"}, "organizations": [organization]}
    )
    declared = {"id": "acme", "spaces": {"guides": {"title": "Guides"}}, "translations": {"fr": FRENCH}}
    directory = str(project(json.dumps({"dpsync": 1, "organizations": {"acme": declared}})))
    (found,) = checks(run, directory)[1]
    assert found["address"] == "acme/translations/fr"
    printed = found["mend"].rpartition("To try again: ")[2]
    assert printed == f"dpsync apply -C {directory} --confirm 'run acme/translations/fr'"
    assert run(*shlex.split(printed)[1:], "--yes").code == 0
    platform.wait_for_jobs()
    assert [one["level"] for one in checks(run, directory)[1]] == ["ok"]


@pytest.mark.parametrize(
    "kind",
    [kind for kind in REGISTRY.with_all_kinds.in_dependency_order if kind.platform_work.trouble],
    ids=lambda kind: kind.name,
)
def test_each_platform_problem_has_a_remedy(kind: Kind) -> None:
    trouble = kind.platform_work.trouble
    assert trouble is not None
    assert trouble.todo
