"""`dpsync rehearse` as people use it: what it sends, what it needs, what it leaves, and how it ends."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from dpsync.apply.executor import Schedule
from dpsync.server.process.threaded_server import ThreadedServer
from tests.cli.conftest import Run
from tests.cli.test_plan_and_apply import writes

Project = Callable[..., Path]
TEXT = """\
dpsync: 1
organizations:
  acme:
    id: acme
    spaces:
      news: { title: The news, new: true }
    sites:
      fresh:
        title: Fresh
        basename: fresh
        new: true
        published: true
        structure:
          - { type: space, key: news, space: news, path: news }
"""
SECRET = """\
dpsync: 1
organizations:
  acme:
    id: acme
    publishedIntegrations:
      acme-bot: { title: Bot, script: "x", secrets: { KEY: { env: BOT_KEY } }, new: true }
"""
SCHEMA = Path(__file__).parents[2] / "schemas" / "rehearse.schema.json"


@pytest.fixture
def directory(project: Project, platform: ThreadedServer) -> Path:
    del platform
    return project(TEXT)


def document(run: Run, directory: Path, *more: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run("rehearse", "-C", str(directory), "--format", "json", *more).out)
    return found


def edges_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove all dependencies between steps, so that the steps run in any order."""
    real = Schedule.__init__

    def forgetful(self: Schedule, steps: Any) -> None:
        real(self, [step.model_copy(update={"needs": (), "follows": ()}) for step in steps])

    monkeypatch.setattr(Schedule, "__init__", forgetful)


PAGE_TEXT = """\
dpsync: 1
organizations:
  acme:
    id: acme
    spaces:
      guides: { id: guides, title: Guides }
    sites:
      fresh:
        title: Fresh
        new: true
        structure:
          - { type: space, key: guides, space: guides, path: guides }
        redirects:
          /old: { destination: { kind: site-page, siteSpaceId: guides, pageId: getting-started/first-steps } }
"""


@pytest.mark.usefixtures("platform")
def test_rehearsal_of_redirect_to_page_succeeds(run: Run, project: Project) -> None:
    """The rehearsal copy must contain the page, or the redirect to the page is refused."""
    directory = project(PAGE_TEXT)
    ended = run("rehearse", "-C", str(directory))
    assert ended.code == 0, ended.out + ended.err


# What it touches.


def test_rehearse_sends_same_requests_as_plan(run: Run, directory: Path, platform: ThreadedServer) -> None:
    platform.app.requests.clear()
    run("plan", "-C", str(directory))
    planned = sorted(platform.app.requests)
    platform.app.requests.clear()
    ended = run("rehearse", "-C", str(directory))
    assert ended.code == 0, ended.out + ended.err
    assert sorted(platform.app.requests) == planned
    assert writes(platform) == []


def test_rehearse_connects_only_to_the_platform(
    run: Run, directory: Path, platform: ThreadedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached: set[Any] = set()
    connect = socket.socket.connect

    def watched(self: socket.socket, address: Any) -> None:
        reached.add(address)
        connect(self, address)

    def closed(_self: socket.socket, *_: Any) -> None:
        raise AssertionError("a rehearsal listens to nobody")

    monkeypatch.setattr(socket.socket, "connect", watched)
    monkeypatch.setattr(socket.socket, "listen", closed)
    assert run("rehearse", "-C", str(directory)).code == 0
    host, port = platform.url.removeprefix("http://").split(":")
    assert reached == {(host, int(port))}


def test_rehearse_writes_no_files(run: Run, directory: Path, tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    run("rehearse", "-C", str(directory))
    assert sorted(tmp_path.rglob("*")) == before


# What it needs.


@pytest.mark.usefixtures("platform")
def test_rehearse_needs_only_a_read_token(run: Run, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPSYNC_TOKEN", "kim-token")
    found = document(run, directory)
    assert (found["exit"], found["rehearsal"]["converged"]) == (0, True)
    assert "token" in {one["what"] for one in found["rehearsal"]["unproven"]}


@pytest.mark.usefixtures("platform")
def test_rehearse_lists_unreadable_objects_as_unverifiable(
    run: Run, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise, what the token may not read looks empty in a rehearsal, and is filled."""
    monkeypatch.setenv("DPSYNC_TOKEN", "kim-token")
    found = document(run, project(TEXT + "    saml: { okta: { label: Okta } }\n"))
    refused = [one["about"] for one in found["rehearsal"]["unproven"] if one["what"] == "refused"]
    assert (found["exit"], refused) == (3, [["/orgs/acme/saml"]])


@pytest.mark.usefixtures("platform")
def test_rehearse_succeeds_without_secret_values(
    run: Run, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BOT_KEY", raising=False)
    found = document(run, project(SECRET))
    assert (found["exit"], found["fit"]) == (0, True)
    assert [one["about"] for one in found["rehearsal"]["unproven"] if one["what"] == "secrets"] == [
        ["BOT_KEY"]
    ]


@pytest.mark.usefixtures("platform")
def test_rehearse_output_contains_no_secrets(
    run: Run, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BOT_KEY", "s3cret-value")
    ended = run("rehearse", "-C", str(project(SECRET)), "--format", "json", "-vv")
    assert "s3cret-value" not in ended.out + ended.err
    assert "rehearsal-" not in ended.out


# How it ends.


def test_verbose_rehearse_lists_checked_and_unchecked_properties(run: Run, directory: Path) -> None:
    said = run("rehearse", "-C", str(directory), "-v").out
    assert ": a new plan has no changes. Estimated time: " in said
    assert "convergence: After the last step, a new plan had no changes." in said
    assert "token: The rehearsal cannot check whether your token has write access." in said


def test_rehearse_json_matches_schema(run: Run, directory: Path) -> None:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    assert list(Draft202012Validator(schema).iter_errors(document(run, directory))) == []


def test_failed_rehearsal_exits_4_with_step_and_line(
    run: Run, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise, a rehearsal that went otherwise than planned is a success."""
    edges_forgotten(monkeypatch)
    ended = run("rehearse", "-C", str(directory))
    assert ended.code == 4
    assert "The rehearsal failed" in ended.out
    assert "acme/sites/fresh/structure/news create" in ended.out
    assert "dpsync.yaml:1" in ended.out
    assert "convergence: After the last step, a new plan had no changes." not in ended.out


@pytest.mark.usefixtures("platform")
def test_refused_plan_is_not_rehearsed(run: Run, project: Project) -> None:
    ended = run(
        "rehearse", "-C", str(project(TEXT.replace("title: The news, new: true", "title: News, id: no")))
    )
    assert ended.code == 5
    unanswered = TEXT.replace("title: The news, new: true", "title: Guidess")
    ended = run("rehearse", "-C", str(project(unanswered)))
    assert (ended.code, "Not rehearsed." in ended.out) == (4, True), ended.out + ended.err


@pytest.mark.usefixtures("platform")
def test_rehearse_without_changes_exits_0(run: Run, project: Project) -> None:
    ended = run("rehearse", "-C", str(project("dpsync: 1\norganizations:\n  acme: { id: acme }\n")))
    assert (ended.code, "Nothing to rehearse." in ended.out) == (0, True)


@pytest.mark.parametrize("format_", ["markdown", "html", "junit", "sarif", "github", "codequality"])
def test_every_rehearse_format_shows_deviation(
    run: Run, directory: Path, monkeypatch: pytest.MonkeyPatch, format_: str
) -> None:
    edges_forgotten(monkeypatch)
    assert "structure/news" in run("rehearse", "-C", str(directory), "--format", format_).out


def test_show_reads_rehearse_json(run: Run, directory: Path, tmp_path: Path) -> None:
    printed = tmp_path / "printed.json"
    printed.write_text(run("rehearse", "-C", str(directory), "--format", "json").out, encoding="utf-8")
    shown = run("show", str(printed), "--format", "markdown")
    assert (shown.code, "Rehearsed " in shown.out) == (0, True)


# With a plan, and before an apply.


def test_plan_prints_rehearsal_result_before_summary_line(run: Run, directory: Path) -> None:
    said = run("plan", "-C", str(directory), "--rehearse").out
    rehearsed, verdict = said.splitlines()[-2:]
    assert rehearsed.startswith("Rehearsed 6 of 6 steps. Verified: a new plan has no changes.")
    assert rehearsed.endswith("The rehearsal succeeded.")
    assert verdict.startswith("Plan: ")
    detailed = run("plan", "-C", str(directory), "--rehearse", "-v").out
    assert "\nnot checked: token, content, assumed\n" in detailed


def test_plan_digest_is_independent_of_rehearsal(run: Run, directory: Path) -> None:
    def digest(*more: str) -> str:
        return str(json.loads(run("plan", "-C", str(directory), "--format", "json", *more).out)["digest"])

    assert digest() == digest("--rehearse")


def test_saved_plan_with_rehearsal_is_applied(run: Run, directory: Path, tmp_path: Path) -> None:
    saved = tmp_path / "saved"
    assert run("plan", "-C", str(directory), "--rehearse", "--out", str(saved)).code == 0
    assert json.loads(saved.read_text(encoding="utf-8"))["rehearsal"]["converged"] is True
    assert "Rehearsed " in run("show", str(saved)).out
    assert run("apply", "-C", str(directory), "--yes", str(saved)).code == 0


def test_saved_plan_with_foreign_rehearsal_is_rejected(run: Run, directory: Path, tmp_path: Path) -> None:
    saved = tmp_path / "saved"
    run("plan", "-C", str(directory), "--rehearse", "--out", str(saved))
    content = json.loads(saved.read_text(encoding="utf-8"))
    content["rehearsal"]["plan"] = "0" * 64
    saved.write_text(json.dumps(content), encoding="utf-8")
    ended = run("show", str(saved))
    assert (ended.code, ("the file contains the result of a rehearsal of another plan") in ended.err) == (
        5,
        True,
    )


def test_plan_with_failed_rehearsal_is_not_saved(
    run: Run, directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edges_forgotten(monkeypatch)
    ended = run("plan", "-C", str(directory), "--rehearse", "--out", str(tmp_path / "saved"))
    assert (ended.code, (tmp_path / "saved").exists()) == (4, False)
    assert "The rehearsal failed" in ended.out


def test_apply_with_rehearse_flag_rehearses_then_applies(
    run: Run, directory: Path, platform: ThreadedServer
) -> None:
    ended = run("apply", "-C", str(directory), "--rehearse", "--yes")
    assert ended.code == 0, ended.out + ended.err
    assert ended.out.index("Rehearsed ") < ended.out.index("Applied: ")
    assert writes(platform) != []


def test_apply_with_failed_rehearsal_sends_no_writes(
    run: Run, directory: Path, platform: ThreadedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise, what has failed on a copy of the platform is done on the platform."""
    edges_forgotten(monkeypatch)
    platform.app.requests.clear()
    ended = run("apply", "-C", str(directory), "--rehearse", "--yes", "--format", "json")
    assert (ended.code, writes(platform)) == (4, [])
    found = json.loads(ended.out)
    assert (found["exit"], found["report"]) == (4, None)
    assert found["plan"]["rehearsal"]["deviations"]


def test_rehearse_with_faults_prints_line_per_injected_fault(run: Run, directory: Path) -> None:
    ended = run("rehearse", "-C", str(directory), "--faults", "2", "--seed", "3")
    assert ended.code == 0, ended.out
    assert "Successful rehearsals with simulated request failures (--seed 3): 2\n1: " in ended.out
    assert "\n2: " in ended.out
