"""Content that would be deleted because a file is no longer included, or because its entry is gone."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from dpsync.server.process.threaded_server import ThreadedServer
from tests.cli.conftest import Run

ROOT = """\
dpsync: 1
include: [acme/*.yaml]
policy: { prune: [spaces], limits: { deletes: 99, percent: 100 } }
organizations:
  acme:
    id: acme
"""
KEPT = "organizations: { acme: { spaces: { kept: { title: Kept } } } }\n"
TWO = "organizations: { acme: { spaces: { one: { title: One }, two: { title: Two } } } }\n"
WORLD: dict[str, Any] = {
    "users": [{"id": "ada", "displayName": "ada", "email": "ada@acme.example"}],
    "tokens": {"ada-token": "ada"},
    "organizations": [
        {
            "id": "acme",
            "title": "Acme",
            "members": [{"user": "ada", "role": "admin"}],
            "spaces": [{"id": name.lower(), "title": name} for name in ("Kept", "One", "Two")],
        }
    ],
}


@dataclass
class Checkout:
    """A checkout of a project with two files, its platform, and the command."""

    at: Path
    run: Run

    def write(self, name: str, text: str) -> None:
        (self.at / name).parent.mkdir(parents=True, exist_ok=True)
        (self.at / name).write_text(text, encoding="utf-8")

    def git(self, *words: str) -> None:
        author = ["-c", "user.name=Ada", "-c", "user.email=ada@acme.example", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *author, *words], cwd=self.at, check=True, capture_output=True)

    def commit(self) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "as it is")

    def move(self, to: str) -> None:
        (self.at / to).parent.mkdir(parents=True, exist_ok=True)
        self.git("mv", "acme/tmp.yaml", to)

    def plan(self, *more: str) -> dict[str, object]:
        ended = self.run("plan", "-C", str(self.at), "--format", "json", *more)
        return dict(json.loads(ended.out))


@pytest.fixture
def checkout(server: ThreadedServer, monkeypatch: pytest.MonkeyPatch, run: Run, tmp_path: Path) -> Checkout:
    server.reset(WORLD)
    monkeypatch.setenv("DPSYNC_URL", server.url)
    monkeypatch.setenv("DPSYNC_TOKEN", "ada-token")
    found = Checkout(tmp_path / "project", run)
    for name, text in {"dpsync.yaml": ROOT, "acme/kept.yaml": KEPT, "acme/tmp.yaml": TWO}.items():
        found.write(name, text)
    found.write(".gitignore", ".dpsync/\n")
    found.git("init", "-q", "-b", "main")
    found.commit()
    return found


def refusal(plan: dict[str, object]) -> dict[str, object]:
    inside = plan["plan"]
    assert isinstance(inside, dict)
    (one,) = inside["refusals"]
    return dict(one)


def titles(server: ThreadedServer) -> set[str]:
    from dpsync.server import world

    (acme,) = server.run_in_server(lambda: world.dump_world(server.app.store))["organizations"]
    return {space["title"] for space in acme["spaces"] if "deletedAt" not in space}


@pytest.mark.parametrize("committed", [False, True])
@pytest.mark.parametrize("to", ["acme/spaces/tmp.yaml", "drafts/other.yml"])
def test_apply_keeps_spaces_of_file_no_longer_included(
    checkout: Checkout, server: ThreadedServer, to: str, committed: bool
) -> None:
    checkout.move(to)
    if committed:
        checkout.commit()
    found = refusal(checkout.plan())
    assert found["code"] == "content"
    assert f": the entry is in {to}, which no file includes" in str(found["message"])
    assert str(found["way_out"]).startswith(f"include {to} again")
    assert checkout.run("apply", "-C", str(checkout.at), "--yes").code == 4
    assert titles(server) == {"Kept", "One", "Two"}


@pytest.mark.parametrize("committed", [False, True])
def test_validate_warns_about_file_no_longer_included(checkout: Checkout, committed: bool) -> None:
    checkout.move("acme/spaces/tmp.yaml")
    if committed:
        checkout.commit()
    ended = checkout.run("validate", "-C", str(checkout.at))
    assert ended.code == 0
    assert "DP130" in ended.err
    assert "acme/spaces/tmp.yaml:1:1" in ended.err
    (one,) = json.loads(checkout.run("validate", "-C", str(checkout.at), "--format", "json").out)["findings"]
    assert (one["code"], one["severity"], one["at"]["file"]) == ("DP130", "warning", "acme/spaces/tmp.yaml")


def test_validate_ignores_unincluded_duplicate_of_declared_entries(checkout: Checkout) -> None:
    checkout.write("old/tmp.yaml", TWO)
    assert "DP130" not in checkout.run("validate", "-C", str(checkout.at)).err


@pytest.mark.usefixtures("server")
def test_delete_refusal_names_missing_overlay_file(checkout: Checkout) -> None:
    """The base is read without it as well: the lines of the ids file tell what was in it."""
    checkout.move("prod.yaml")
    root, prod, ids = (str(checkout.at / name) for name in ("dpsync.yaml", "prod.yaml", "ids.yaml"))
    assert checkout.run("apply", "-f", root, "-f", prod, "--ids", ids, "--yes").code == 0
    ended = checkout.run("plan", "-f", root, "--ids", ids, "--format", "json")
    assert ": the entry is in prod.yaml, which no file" in str(refusal(json.loads(ended.out))["message"])


def test_suggested_line_in_removed_policy_allows_delete(checkout: Checkout, server: ThreadedServer) -> None:
    checkout.move("drafts/other.yml")
    checkout.commit()
    at = str(checkout.at)
    for command in ("plan", "drift"):
        assert 'add removed: ["acme/spaces/[One~one]", "acme/spaces/[Two~two]"] to policy' in (
            checkout.run(command, "-C", at).out
        )
    (of_file, of_policy, *_) = refusal(checkout.plan())["answers"]
    assert (of_file["address"], of_policy["address"]) == ("include", "policy")
    checkout.write("dpsync.yaml", ROOT.replace("prune", f"{of_policy['add']}, prune"))
    assert checkout.run("apply", "-C", at, "--yes").code == 0
    assert titles(server) == {"Kept"}
    assert checkout.run("plan", "-C", at).out.count("no object has this name: remove this line") == 2


@pytest.mark.parametrize("commits", [0, 1, 3])
def test_deleted_file_needs_only_delete_count_confirmation(
    checkout: Checkout, server: ThreadedServer, commits: int
) -> None:
    """Ordinary work: a file is deleted in git, and the delete is applied at once or some commits later."""
    checkout.git("rm", "-q", "acme/tmp.yaml")
    for number in range(commits):
        checkout.write("acme/kept.yaml", f"{KEPT}# {number}\n")
        checkout.commit()
    (flag,) = refusal(checkout.plan())["answers"]
    assert flag["add"] == '--confirm "delete 2"'
    assert checkout.run("apply", "-C", str(checkout.at), "--yes").code == 4
    assert checkout.run("apply", "-C", str(checkout.at), "--yes", "--confirm", "delete 1").code == 64
    assert titles(server) == {"Kept", "One", "Two"}
    assert checkout.run("apply", "-C", str(checkout.at), "--yes", "--confirm", "delete 2").code == 0
    assert titles(server) == {"Kept"}


def test_removed_entry_needs_only_delete_count_confirmation(
    checkout: Checkout, server: ThreadedServer
) -> None:
    """Ordinary work: a person removes one entry from a file."""
    checkout.write("acme/tmp.yaml", TWO.replace(", two: { title: Two }", ""))
    (flag,) = refusal(checkout.plan())["answers"]
    assert flag["add"] == '--confirm "delete 1"'
    assert checkout.run("apply", "-C", str(checkout.at), "--yes", "--confirm", "delete 1").code == 0
    assert titles(server) == {"Kept", "One"}


def test_confirmed_delete_count_is_insufficient_in_shallow_clone(
    checkout: Checkout, server: ThreadedServer, tmp_path: Path
) -> None:
    """Otherwise, a job with one commit deletes what it cannot know anything about."""
    checkout.git("rm", "-q", "acme/tmp.yaml")
    checkout.commit()
    checkout.git("clone", "-q", "--depth", "1", checkout.at.as_uri(), str(tmp_path / "clone"))
    clone = Checkout(tmp_path / "clone", checkout.run)
    apply = ("apply", "-C", str(clone.at), "--yes")
    assert clone.run(*apply, "--confirm", "delete 2").code == 64
    assert clone.run(*apply).code == 4
    assert titles(server) == {"Kept", "One", "Two"}
    found = refusal(clone.plan())
    assert "this clone lacks the commits that show" in str(found["message"])
    assert str(found["way_out"]).startswith(
        "fetch the whole history: set fetch-depth: 0 in actions/checkout; to delete"
    )


EMPTY_TEAM = {
    "teams": [
        {"id": "legacy", "title": "Legacy"},
        {"id": "used", "title": "Used", "members": [{"user": "ada"}]},
    ]
}
TEAMS = "organizations: {{ acme: {{ teams: {{ {} }} }} }}\n"
KEPT_TEAM, LEGACY, USED = "kept: { title: Kept }", "legacy: { title: Legacy }", "used: { title: Used }"


@pytest.mark.parametrize(("removed", "code"), [(LEGACY, 0), (USED, 4)])
def test_yes_flag_deletes_only_empty_teams(
    checkout: Checkout, server: ThreadedServer, removed: str, code: int
) -> None:
    """`--yes` deletes what a person visibly removed and nobody uses; it never types a number."""
    (acme,) = WORLD["organizations"]
    server.reset({**WORLD, "organizations": [{**acme, **EMPTY_TEAM}]})
    checkout.write("dpsync.yaml", ROOT.replace("[spaces]", "[teams]"))
    checkout.write("acme/tmp.yaml", TEAMS.format(f"{LEGACY}, {USED}"))
    checkout.commit()
    left = USED if removed == LEGACY else LEGACY
    checkout.write("acme/tmp.yaml", TEAMS.format(left))
    ended = checkout.run("apply", "-C", str(checkout.at), "--yes")
    assert ended.code == code
    assert ('--confirm "delete 2"' in ended.out) == (code == 4)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("spaces/*", "DP230"),
        ("teams/**", "DP230"),
        ("spaces/one#title", "DP230"),
        ("members/ada@acme.example", "DP234"),
        ("spaces", "DP234"),
        ("spaces/kept", "DP233"),
    ],
)
def test_policy_removed_rejects_invalid_address(checkout: Checkout, line: str, code: str) -> None:
    checkout.write("dpsync.yaml", ROOT.replace("prune", f"removed: ['{line}'], prune"))
    ended = checkout.run("validate", "-C", str(checkout.at), "--format", "json")
    assert ended.code == 5
    assert [one["code"] for one in json.loads(ended.out)["findings"]] == [code]


def test_policy_removed_ignores_old_key_after_rename(checkout: Checkout, server: ThreadedServer) -> None:
    at = str(checkout.at)
    checkout.write("acme/tmp.yaml", TWO.replace("two:", "second:"))
    checkout.write("dpsync.yaml", ROOT.replace("prune", "removed: [spaces/two], prune"))
    assert (
        "the object has the entry acme/spaces/second: remove this line" in checkout.run("plan", "-C", at).out
    )
    assert checkout.run("apply", "-C", at, "--yes").code == 0
    assert titles(server) == {"Kept", "One", "Two"}
