"""`dpsync list`: every entry with its place in the files, its object, and by what that was recognised."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from dpsync.api import load
from dpsync.server.process.threaded_server import ThreadedServer
from tests.cli.conftest import Run

SCHEMA = json.loads((Path(__file__).parents[2] / "schemas" / "list.schema.json").read_text(encoding="utf-8"))
TEAMS = """\
dpsync: 1
organizations:
  acme:
    id: acme
    teams:
      writers: { title: Technical writers }
      new: { title: Nobody has this }
      pinned: { id: sales, title: Sales }
"""


def row(out: str, address: str) -> list[str]:
    return next(line.split() for line in out.splitlines() if line.startswith(f"{address} "))


@pytest.mark.usefixtures("platform")
def test_list_prints_every_entry(example: Path, run: Run) -> None:
    ended = run("list", "-C", str(example))
    assert ended.code == 0
    wanted = [str(address) for address in load(example / "dpsync.yaml").entries]
    header, *lines = ended.out.splitlines()
    assert header.split() == ["ADDRESS", "KIND", "FILE", "ID", "RECOGNIZED"]
    assert sorted(line.split()[0] for line in lines) == sorted(wanted)


@pytest.mark.parametrize(
    ("patterns", "listed"),
    [
        pytest.param(["acme/teams/new"], ["acme/teams/new"], id="an address"),
        pytest.param(["acme/teams/*"], ["new", "pinned", "writers"], id="a pattern"),
        pytest.param(["acme"], ["acme", "new", "pinned", "writers"], id="everything in an object"),
        pytest.param(["acme/teams/new", "*/teams/pinned"], ["new", "pinned"], id="two patterns"),
    ],
)
def test_list_filters_entries_by_pattern(
    patterns: list[str], listed: list[str], project: Callable[..., Path], run: Run
) -> None:
    directory = str(project(TEAMS))
    lines = run("list", "--offline", "-C", directory, *patterns).out.splitlines()[1:]
    found = [line.split()[0] for line in lines]
    assert [one.rpartition("/")[2] for one in found] == [one.rpartition("/")[2] for one in listed]
    document = json.loads(run("list", "--offline", "-C", directory, *patterns, "--format", "json").out)
    jsonschema.validate(document, SCHEMA)
    assert [one["address"] for one in document["entries"]] == found


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        pytest.param("acme/teams/writer", "nearest: acme/teams/writers", id="misspelled key"),
        pytest.param("acme/teams/new#title", "names a field. Write the address of an entry", id="field"),
        pytest.param("Sales", 'did you mean "acme/teams/pinned"?', id="title"),
    ],
)
def test_list_rejects_wrong_pattern_with_hint(
    pattern: str, words: str, project: Callable[..., Path], run: Run
) -> None:
    ended = run("list", "--offline", "-C", str(project(TEAMS)), pattern)
    assert (ended.code, ended.out, words in ended.err) == (5, "", True), ended.err


@pytest.mark.usefixtures("platform")
def test_list_shows_location_id_and_match_reason(project: Callable[..., Path], run: Run) -> None:
    out = run("list", "-C", str(project(TEAMS))).out
    said = {words[0]: " ".join(words[1:]) for words in map(str.split, out.splitlines())}
    assert said["acme/teams/writers"] == "team dpsync.yaml:6 writers by its title"
    assert said["acme/teams/new"] == "team dpsync.yaml:7 - no live object"
    assert said["acme/teams/pinned"] == "team dpsync.yaml:8 sales by the id in your files"


@pytest.mark.usefixtures("platform")
def test_list_json_matches_schema(example: Path, run: Run) -> None:
    document = json.loads(run("list", "-C", str(example), "--format", "json").out)
    jsonschema.validate(document, SCHEMA)
    site = next(one for one in document["entries"] if one["address"] == "acme/sites/docs")
    assert (site["id"], site["recognised"], site["detail"]) == ("docs", "key", "basename")
    assert document["platform"]


@pytest.mark.usefixtures("platform")
def test_list_offline_shows_ids_from_files(
    project: Callable[..., Path], run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DPSYNC_URL", "https://api.acme.example")
    folder = project(TEAMS)
    (folder / "dpsync.ids.yaml").write_text(
        "https://api.acme.example:\n  acme:\n    acme/teams/writers: team-1\n"
        "https://other.example:\n  acme:\n    acme/teams/new: team-2\n"
    )
    out = run("list", "-C", str(folder), "--offline").out
    assert row(out, "acme/teams/writers")[3:] == ["team-1", "by", "the", "ids", "file"]
    assert row(out, "acme/teams/pinned")[3:] == ["sales", "by", "the", "id", "in", "your", "files"]
    assert row(out, "acme/teams/new")[3:] == ["-"]


def test_list_without_token_uses_ids_from_files(
    project: Callable[..., Path], run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("DPSYNC_URL", "DPSYNC_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    ended = run("list", "-C", str(project(TEAMS)))
    assert ended.code == 0
    assert "the ids come from the files: dpsync needs an access token" in ended.err


@pytest.mark.usefixtures("platform")
def test_list_exits_1_for_rejected_token(
    project: Callable[..., Path], run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DPSYNC_TOKEN", "nobody's")
    ended = run("list", "-C", str(project(TEAMS)))
    assert (ended.code, ended.out) == (1, "")
    assert "nobody's" not in ended.err


def test_list_exits_5_for_invalid_configuration(project: Callable[..., Path], run: Run) -> None:
    assert run("list", "-C", str(project("dpsync: 1\norganizations: { acme: { titel: A } }\n"))).code == 5


def test_list_escapes_control_characters_in_file_names(project: Callable[..., Path], run: Run) -> None:
    part = {"a\x1b[2J\u202e.yaml": "organizations: { acme: { teams: { w: { title: W } } } }\n"}
    root = "dpsync: 1\ninclude: [a*.yaml]\norganizations: { acme: { id: acme } }\n"
    ended = run("list", "--offline", "-C", str(project(root, part)))
    assert "\x1b" not in ended.out
    assert "\\x1b[2J\\u202e" in ended.out


OWNED = """\
dpsync: 1
organizations:
  acme:
    id: acme
    sites: { docs: { title: Docs, basename: docs } }
"""
SITE = {
    "id": "docs",
    "title": "Docs",
    "basename": "docs",
    "hostname": "docs.acme.example",
    "visibility": "public",
    "published": True,
    "gitSync": {"repoName": "acme/docs", "installationId": "git-7"},
}


@pytest.fixture
def owned(
    published_server: ThreadedServer, project: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> Path:
    """One synced site with a custom domain, on the edition of today."""
    published_server.reset(
        {
            "users": [{"id": "ada", "displayName": "Ada", "email": "ada@acme.example"}],
            "tokens": {"token": "ada"},
            "organizations": [
                {
                    "id": "acme",
                    "title": "Acme",
                    "members": [{"user": "ada", "role": "admin"}],
                    "sites": [SITE],
                }
            ],
        }
    )
    monkeypatch.setenv("DPSYNC_URL", published_server.url)
    monkeypatch.setenv("DPSYNC_TOKEN", "token")
    monkeypatch.setenv("DPSYNC_PROFILE", "published")
    return project(OWNED)


def test_list_shows_git_sync_and_custom_domain(owned: Path, run: Run) -> None:
    out = run("list", "-C", str(owned)).out
    line = next(line for line in out.splitlines() if line.startswith("acme/sites/docs"))
    assert line.endswith(
        "by its basename, synced with the repository acme/docs (github), installation git-7, "
        "at the custom domain docs.acme.example"
    )


def test_list_json_contains_url_domain_and_git_sync(owned: Path, run: Run) -> None:
    document = json.loads(run("list", "-C", str(owned), "--format", "json").out)
    jsonschema.validate(document, SCHEMA)
    site = next(one for one in document["entries"] if one["address"] == "acme/sites/docs")
    assert (site["url"], site["domain"]) == ("https://docs.acme.example/", "docs.acme.example")
    assert site["synced"] == {"repository": "the repository acme/docs (github)", "installation": "git-7"}


def test_plan_rejects_declared_custom_domain(owned: Path, run: Run) -> None:
    file = owned / "dpsync.yaml"
    file.write_text(OWNED.replace("basename: docs", "basename: docs, hostname: other.acme.example"))
    ended = run("plan", "-C", str(owned))
    assert ended.code == 5
    assert '"hostname" cannot be set in files: only GitBook sets this field' in ended.err


def test_list_sorts_numbered_entries_naturally(project: Callable[..., Path], run: Run) -> None:
    keys = ("gen-10", "gen-2", "gen-1")
    teams = "".join(f"      {key}: {{ title: {key} }}\n" for key in keys)
    text = f"dpsync: 1\norganizations:\n  acme:\n    id: acme\n    teams:\n{teams}"
    ended = run("list", "--offline", "-C", str(project(text)))
    listed = [line.split()[0].rpartition("/")[2] for line in ended.out.splitlines()]
    assert [key for key in listed if key in keys] == ["gen-1", "gen-2", "gen-10"]
