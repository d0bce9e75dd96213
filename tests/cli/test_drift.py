"""`dpsync drift`: what is live instead, and why; read-only; a failed check is never "no drift"."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from dpsync.server.process.threaded_server import ThreadedServer
from tests.by_hand import by_hand
from tests.cli.conftest import Run
from tests.cli.test_git_base import git
from tests.cli.test_plan_and_apply import SCHEMAS, asked, golden, writes

Project = Callable[..., Path]
HEAD = "dpsync: 1\npolicy:\n  prune: [teams]\n{policy}organizations:\n  acme:\n    id: acme\n"
TEAMS = """\
    teams:
      writers: { title: Technical writers }
      reviewers: { title: Reviewers }
      sales: { title: Sales }
      legacy: { title: Legacy }
    sites:
      docs: { title: Acme Docs, basename: docs }
"""


def text(below: str = TEAMS, policy: str = "") -> str:
    return HEAD.format(policy=policy) + below


def change(server: ThreadedServer, path: str, method: str = "PATCH", **body: Any) -> None:
    """Change an object on the platform without dpsync."""
    by_hand(server, method, path, body or None)


def committed(project: Project, *arguments: Any) -> Path:
    """Write a project and return a checkout whose HEAD contains it."""
    directory = project(*arguments)
    if not (directory / ".git").exists():
        git(directory, "init", "-q", "-b", "main")
    git(directory, "add", "dpsync.yaml")
    git(directory, "commit", "-q", "-m", "as it is")
    return directory


def drift(run: Run, directory: Path, code: int) -> dict[str, Any]:
    """Run drift and return its JSON document, validated against the schema."""
    ended = run("drift", "-C", str(directory), "--format", "json")
    assert ended.code == code, ended.out + ended.err
    document: dict[str, Any] = json.loads(ended.out)
    jsonschema.validate(document, json.loads((SCHEMAS / "drift.schema.json").read_text()))
    assert document["exit"] == code
    return document


@pytest.mark.usefixtures("platform")
def test_drift_exits_0_without_drift(run: Run, project: Project) -> None:
    directory = project(text())
    assert drift(run, directory, 0)["drifted"] is False
    assert "No drift." in run("drift", "-C", str(directory)).out


def test_drift_shows_both_values_of_changed_field(
    run: Run, project: Project, platform: ThreadedServer
) -> None:
    directory = committed(project, text())
    change(platform, "/orgs/acme/sites/docs", title="Acme Dox")
    ended = run("drift", "-C", str(directory))
    assert ended.code == 2
    said = ended.out.replace(f"-C {directory}", "-C project")
    golden("drift.txt", said.replace(git(directory, "rev-parse", "HEAD")[:12], "(commit)"))


def test_drift_sends_only_get_requests(run: Run, project: Project, platform: ThreadedServer) -> None:
    change(platform, "/orgs/acme/teams/legacy", "DELETE")
    platform.app.requests.clear()
    assert run("drift", "-C", str(project(text()))).code == 2
    assert asked(platform)
    assert writes(platform) == []


def one(document: dict[str, Any]) -> dict[str, Any]:
    (item,) = document["drift"]["found"]
    assert isinstance(item, dict)
    return item


def test_drift_lists_missing_and_undeclared_teams(
    run: Run, project: Project, platform: ThreadedServer
) -> None:
    directory = committed(project, text())
    assert run("apply", "-C", str(directory), "--yes").code == 0  # from here on it was live once
    change(platform, "/orgs/acme/teams/legacy", "DELETE")
    change(platform, "/orgs/acme/teams", "PUT", title="Surprise")
    found = {item["what"]: item for item in drift(run, directory, 2)["drift"]["found"]}
    assert found["missing"]["address"] == "acme/teams/legacy"
    assert found["undeclared"]["address"] == "acme/teams/[Surprise]"
    assert {item["cause"] for item in found.values()} == {"changed outside"}  # test_labels.py


@pytest.mark.usefixtures("platform")
def test_drift_labels_local_order_change_as_edited_here(run: Run, project: Project) -> None:
    def ordered(*keys: str) -> str:
        spaces = "".join(f"      {key}: {{ title: {key.title()} }}\n" for key in ("guides", "news"))
        return (
            "dpsync: 1\norganizations:\n  acme:\n    id: acme\n    collections:\n"
            f"      mine: {{ title: Mine, new: true, order: [{', '.join(keys)}] }}\n    spaces:\n"
            + spaces.replace(" }", ", collection: mine }")
        )

    directory = committed(project, ordered("guides", "news"))
    assert run("apply", "-C", str(directory), "--yes").code == 0
    project(ordered("news", "guides"))
    assert one(drift(run, directory, 2))["cause"] == "edited here"
    assert run("apply", "-C", str(directory), "--yes").code == 0
    project(ordered("guides", "news"))
    item = one(drift(run, directory, 2))
    assert item["cause"] is None  # the note is about files that were not committed
    assert "after" in item["place"] or "before" in item["place"]


def test_reordered_collections_are_drift(run: Run, project: Project, platform: ThreadedServer) -> None:
    collections = "{ product: { title: Product, parent: null }, internal: { title: Internal, parent: null } }"
    below = f"    collectionOrder: [product, internal]\n    collections: {collections}\n"
    directory = committed(project, text(below))
    drift(run, directory, 0)
    before = {"type": "collection", "collection": "product"}
    change(platform, "/collections/internal/move", "POST", position={"before": before})
    document = drift(run, directory, 2)
    item = one(document)
    told = "acme/collections/product", "before acme/collections/internal", None
    assert (item["address"], item["place"], item["cause"]) == told
    keep = document["ways_out"]["acme/collections/product"]["files"]
    assert keep == f"dpsync import -C {directory} --update 'acme#collectionOrder'"
    run(*command(keep))
    assert drift(run, directory, 0)["drifted"] is False


def test_drift_ignores_differences_in_policy_ignore(
    run: Run, project: Project, platform: ThreadedServer
) -> None:
    change(platform, "/orgs/acme/sites/docs", title="Acme Dox")
    change(platform, "/orgs/acme/teams/legacy", "DELETE")
    ignore = '  ignore: ["sites/*#visibility", teams/legacy]\n'
    below = TEAMS.replace("title: Acme Docs,", "title: Acme Dox, visibility: unlisted,")
    directory = project(text(below, ignore))
    document = drift(run, directory, 0)
    assert [item["address"] for item in document["drift"]["ignored"]] == [
        "acme/sites/docs", "acme/teams/legacy",
    ]  # fmt: skip
    assert run("drift", "-C", str(directory)).out == "No drift.\n"
    ended = run("drift", "-C", str(directory), "-v")
    assert "Differences that your policy ignores: 2\n" in ended.out
    assert "    visibility  unlisted → public" in ended.out
    assert ended.out.endswith("\nNo drift.\n")


def test_drift_separates_ignored_and_drifted_fields(
    run: Run, project: Project, platform: ThreadedServer
) -> None:
    change(platform, "/orgs/acme/sites/docs", title="Acme Dox")
    below = TEAMS.replace("title: Acme Docs,", "title: Acme Docs, visibility: unlisted,")
    document = drift(run, project(text(below, '  ignore: ["sites/*#visibility"]\n')), 2)
    assert [part["field"] for part in one(document)["fields"]] == ["title"]
    (ignored,) = document["drift"]["ignored"]
    assert [part["field"] for part in ignored["fields"]] == ["visibility"]


@pytest.mark.usefixtures("platform")
def test_unmanaged_members_are_not_drift(run: Run, project: Project) -> None:
    document = drift(run, project(text("    title: Acme\n    members: { ada@acme.example: admin }\n")), 0)
    assert document["drift"]["kept"][0]["place"] == "acme/members"


ZOE = text("    title: Acme\n    members: { ada@acme.example: admin, zoe@acme.example: read }\n")


@pytest.mark.usefixtures("platform")
def test_uninvited_member_is_drift_and_blocked(run: Run, project: Project) -> None:
    document = drift(run, project(ZOE), 2)
    assert one(document)["address"] == "acme/members/zoe@acme.example"
    assert document["drift"]["blocked"][0]["address"] == "acme/members/zoe@acme.example"
    assert document["ways_out"]["acme/members/zoe@acme.example"]["platform"].startswith("invite zoe@")


@pytest.mark.parametrize("format_", ["text", "markdown", "html", "github", "sarif", "junit", "codequality"])
@pytest.mark.usefixtures("platform")
def test_every_drift_format_shows_manual_invitation(format_: str, run: Run, project: Project) -> None:
    ended = run("drift", "-C", str(project(ZOE)), "--format", format_)
    assert ended.code == 2
    assert "missing in GitBook" in ended.out
    assert "invite zoe@acme.example to the organization" in ended.out.replace("`", "")


def command(line: str) -> list[str]:
    """Return the arguments of a printed command."""
    return shlex.split(line)[1:]


def test_both_suggested_commands_resolve_drift(run: Run, project: Project, platform: ThreadedServer) -> None:
    directory = committed(project, text())
    for way in ("platform", "files"):
        change(platform, "/orgs/acme/sites/docs", title="Acme Dox")
        out = drift(run, directory, 2)["ways_out"]["acme/sites/docs"][way]
        assert run(*command(out), *(["--yes"] if way == "platform" else [])).code == 0
        assert drift(run, directory, 0)["drifted"] is False
    assert "Acme Dox" in (directory / "dpsync.yaml").read_text()


def test_drift_suggests_fixes_for_missing_and_undeclared_objects(
    run: Run, project: Project, platform: ThreadedServer
) -> None:
    change(platform, "/orgs/acme/teams", "PUT", title="Two words")
    change(platform, "/orgs/acme/teams/legacy", "DELETE")
    directory = project(text())
    ways = drift(run, directory, 2)["ways_out"]
    assert ways["acme/teams/[Two words]"] == {
        "platform": f"dpsync apply -C {directory} --select 'acme/teams/[Two words]' "
        "--confirm 'delete acme/teams/[Two words]'",
        "files": f"dpsync import -C {directory} --add 'acme/teams/[Two words]'",
        "by_hand": 'add an entry for the object, or add "acme/teams/[Two words]" to policy: forget',
    }
    assert ways["acme/teams/legacy"]["by_hand"] == "delete the entry at dpsync.yaml:11"
    for way in ways.values():
        assert run(*command(way["platform"]), "--yes").code == 0
    assert drift(run, directory, 0)["drifted"] is False


@pytest.mark.usefixtures("platform")
def test_unreachable_platform_is_not_reported_as_no_drift(
    run: Run, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = project(text())
    monkeypatch.setenv("DPSYNC_URL", "http://127.0.0.1:9")
    ended = run("drift", "-C", str(directory), "--format", "json")
    document = json.loads(ended.out)
    assert ended.code == document["exit"] == 1
    assert document["format"] == "dpsync.findings/1"
    assert document["findings"][0]["code"] == "unreachable"
    assert "drifted" not in document


@pytest.mark.usefixtures("platform")
def test_rejected_token_is_not_reported_as_no_drift(
    run: Run, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DPSYNC_TOKEN", "not-a-token")
    ended = run("drift", "-C", str(project(text())))
    assert ended.code == 1
    assert "drift" not in ended.out.lower()


@pytest.mark.usefixtures("platform")
def test_drift_exits_5_for_invalid_configuration(run: Run, project: Project) -> None:
    assert run("drift", "-C", str(project(text("    titel: Acme\n")))).code == 5


@pytest.mark.usefixtures("platform")
def test_apply_removes_all_drift(run: Run, example: Path) -> None:
    assert drift(run, example, 2)["drifted"] is True
    assert run("apply", "-C", str(example), "--yes").code == 0
    assert drift(run, example, 0)["drift"]["found"] == []


def test_drift_escapes_control_characters_of_platform(
    run: Run, project: Project, platform: ThreadedServer
) -> None:
    change(platform, "/orgs/acme/sites/docs", title="Acme \u202e\x1b[31m Dox")
    ended = run("drift", "-C", str(project(text())))
    assert ended.code == 2
    assert "\x1b" not in ended.out
    assert "\u202e" not in ended.out
