"""Whatever is printed or saved, text of the platform hides and reorders nothing in it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from dpsync.model.text import EMOJI_SELECTORS, INVISIBLE_CHARACTERS
from dpsync.server.process.threaded_server import ThreadedServer
from tests.by_hand import by_hand
from tests.cli.conftest import Ran, Run

HOSTILE = "Guides\u202eevil\u202c\u200b\u2028\ufeff\U000e0041\u3164"
HIDDEN = re.compile(f"(?!\n)[{INVISIBLE_CHARACTERS}{EMOJI_SELECTORS}]")
TEXT = """\
dpsync: 1
policy: {{ prune: [teams], limits: {{ deletes: 50, percent: 100 }} }}
organizations:
  acme:
    id: acme
    teams:
      writers: {{ id: writers, title: {title} }}
"""


@pytest.fixture
def hostile(project: Callable[..., Path], platform: ThreadedServer) -> Path:
    """Two teams whose titles are hostile; one is declared with another title."""
    for path in ("/orgs/acme/teams/writers", "/orgs/acme/teams/reviewers"):
        by_hand(platform, "PATCH", path, {"title": HOSTILE + path[-3:]})
    return project(TEXT.format(title="Writers"))


def clean(ended: Ran) -> Ran:
    assert HIDDEN.findall(ended.out + ended.err) == []
    return ended


def test_json_output_escapes_hidden_characters(run: Run, hostile: Path, platform: ThreadedServer) -> None:
    at = ("-C", str(hostile), "--format", "json")
    names = json.loads(clean(run("plan", *at)).out)["plan"]["delete_decision"]["names"]
    assert len(names) == 3
    may_go = [word for name in names for word in ("--confirm", f"delete {name}")]
    body = {"title": HOSTILE + "\x9b31m"}  # which no configuration may hold
    by_hand(platform, "PATCH", "/orgs/acme/teams/writers", body)
    plan = json.loads(clean(run("plan", *at, *may_go, "--out", "plan.json")).out)
    changes = {change["address"]: change for change in plan["plan"]["changes"]}
    assert changes["acme/teams/writers"]["differences"][0]["before"] == body["title"]
    saved = (hostile / "plan.json").read_text(encoding="utf-8")
    assert HIDDEN.findall(saved) == []
    assert json.loads(saved)["plan"] == plan["plan"]
    drift = json.loads(clean(run("drift", *at)).out)
    assert body["title"] in [part["live"] for item in drift["drift"]["found"] for part in item["fields"]]
    apply = json.loads(clean(run("apply", *at, *may_go, "--yes")).out)
    assert apply["converged"] is True
    journal = Path(apply["report"]["journal"]).read_text(encoding="utf-8")
    assert HIDDEN.findall(journal) == []
    assert json.loads(journal.splitlines()[0])["event"] == "journal"


@pytest.mark.usefixtures("hostile")
def test_import_escapes_hidden_characters_in_yaml(run: Run, tmp_path: Path) -> None:
    new = tmp_path / "new"
    new.mkdir()
    clean(run("import", "-C", str(new), "--organization", "acme", "--format", "json"))
    for path in new.rglob("*.yaml"):
        assert HIDDEN.findall(path.read_text(encoding="utf-8")) == [], path
    assert run("plan", "-C", str(new), "--detailed-exitcode").code == 0


def test_import_update_escapes_hidden_characters_in_yaml(run: Run, hostile: Path) -> None:
    clean(run("import", "--update", "acme/teams/writers#title", "-C", str(hostile), "--force"))
    text = (hostile / "dpsync.yaml").read_text(encoding="utf-8")
    assert HIDDEN.findall(text) == []
    assert "\\u202e" in text


def test_validate_escapes_hidden_characters_in_key_names(run: Run, project: Callable[..., Path]) -> None:
    at = project('dpsync: 1\norganizations: { acme: { id: acme, "te\\u202eams": {} } }\n')
    ended = clean(run("validate", "-C", str(at), "--format", "json"))
    assert "te\u202eams" in json.loads(ended.out)["findings"][0]["message"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["pl\x1b[2Jan"],
        ["plan", "--fo\u202emat", "json"],
        ["plan", "-f", "no\u202e\udce9file.yaml"],
        ["plan", "-f", "no\u202e\udce9file.yaml", "--format", "json"],
        ["validate", "-v", "-f", "no\u202efile.yaml"],
        ["apply", "no\u200bfile.json"],
    ],
)
def test_error_message_escapes_hidden_characters_of_argument(arguments: list[str], run: Run) -> None:
    assert clean(run(*arguments)).code in (5, 64)
