"""The main job, from the command line: plan, apply, proof, drift; what is shown is what is done."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from dpsync.server.process.threaded_server import ThreadedServer
from tests.by_hand import by_hand
from tests.cli.conftest import Run

HERE = Path(__file__).parent
SCHEMAS = HERE.parents[1] / "schemas"


def golden(name: str, text: str) -> None:
    """Compare with tests/cli/golden/NAME; UPDATE_GOLDEN=1 writes it."""
    path = HERE / "golden" / name
    text = re.sub(r"http://127\.0\.0\.1:\d+", "http://127.0.0.1:8787", text)
    text = re.sub(r"(dpsync doctor) -C \S+", r"\1", text)
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def asked(server: ThreadedServer) -> list[str]:
    return [f"{method} {path}" for method, path, _ in server.app.requests]


def writes(server: ThreadedServer) -> list[str]:
    return [line for line in asked(server) if not line.startswith("GET ")]


@pytest.mark.usefixtures("platform")
def test_plan_of_example_matches_golden_file(run: Run, example: Path) -> None:
    ended = run("plan", "-C", str(example))
    assert ended.code == 0
    golden("plan.txt", ended.out)


@pytest.mark.usefixtures("platform")
def test_plan_json_matches_schema(run: Run, example: Path) -> None:
    ended = run("plan", "-C", str(example), "--format", "json")
    document = json.loads(ended.out)
    jsonschema.validate(document, json.loads((SCHEMAS / "plan.schema.json").read_text()))
    assert document["format"] == "dpsync.plan-output/1"
    assert document["counts"] == {"create": 13, "update": 11, "move": 1, "delete": 0}
    assert document["can_apply"] is True


def test_plan_sends_only_get_requests(run: Run, example: Path, platform: ThreadedServer) -> None:
    run("plan", "-C", str(example))
    assert asked(platform)
    assert writes(platform) == []


def test_apply_executes_all_planned_steps_and_converges(
    run: Run, example: Path, platform: ThreadedServer
) -> None:
    plan = json.loads(run("plan", "-C", str(example), "--format", "json").out)
    steps = [step for change in plan["plan"]["changes"] for step in change["steps"]]
    platform.app.requests.clear()
    ended = run("apply", "-C", str(example), "--yes", "--format", "json")
    document = json.loads(ended.out)
    jsonschema.validate(document, json.loads((SCHEMAS / "apply.schema.json").read_text()))
    assert ended.code == 0
    assert document["converged"] is True
    assert document["plan"]["digest"] == plan["digest"]
    assert len(writes(platform)) == len(steps)
    assert {item["result"] for item in document["report"]["outcomes"]} == {"done"}


def test_second_apply_sends_no_writes(run: Run, example: Path, platform: ThreadedServer) -> None:
    assert run("apply", "-C", str(example), "--yes").code == 0
    platform.app.requests.clear()
    ended = run("apply", "-C", str(example), "--yes")
    assert ended.code == 0
    assert "No changes." in ended.out
    assert writes(platform) == []


NO_OP_READS = [
    "GET /v1/orgs/acme",  # one per organization
    "GET /v1/orgs/acme/collections",  # one per page of each managed list …
    "GET /v1/orgs/acme/installations",
    "GET /v1/orgs/acme/members",
    "GET /v1/orgs/acme/openapi",
    "GET /v1/orgs/acme/saml",
    "GET /v1/orgs/acme/sites",
    "GET /v1/orgs/acme/spaces",
    "GET /v1/orgs/acme/teams",
    "GET /v1/orgs/acme/translations",
    "GET /v1/orgs/acme/translations-glossary",
    "GET /v1/integrations/acme-tools/installations/acme-tools-in-acme/spaces",
    "GET /v1/orgs/acme/sites/docs/redirects",
    "GET /v1/spaces/support/permissions/teams",
    "GET /v1/collections/product/spaces",  # … of a collection's spaces, where it has an order
    "GET /v1/orgs/acme/teams/reviewers/members",  # … of a team's members, where they are declared
    "GET /v1/orgs/acme/teams/team-1/members",
    "GET /v1/orgs/acme/teams/writers/members",
    "GET /v1/orgs/acme/sites/docs/structure",  # one per site's structure
    "GET /v1/orgs/acme/sites/internal-handbook/structure",
    "GET /v1/orgs/acme/sites/internal-handbook/adaptive-schema",  # one per declared single
    "GET /v1/orgs/acme/agent-instructions",
    "GET /v1/user",  # one, since members are managed
]


def test_plan_without_changes_sends_expected_reads(run: Run, example: Path, platform: ThreadedServer) -> None:
    assert run("apply", "-C", str(example), "--yes").code == 0
    platform.app.requests.clear()
    ended = run("plan", "-v", "-C", str(example), "--detailed-exitcode")
    assert ended.code == 0
    assert sorted(asked(platform)) == sorted(NO_OP_READS)
    assert f"\n{len(NO_OP_READS)} requests to read\n" in ended.out
    assert "No changes." in ended.out


def test_plan_detects_manual_change(run: Run, example: Path, platform: ThreadedServer) -> None:
    run("apply", "-C", str(example), "--yes")
    by_hand(platform, "PATCH", "/orgs/acme/sites/docs", {"title": "Acme Dox"})
    ended = run("plan", "-C", str(example), "--detailed-exitcode")
    assert ended.code == 2
    assert '"Acme Dox" → "Acme Docs"' in ended.out


def test_apply_without_yes_or_terminal_exits_4(run: Run, example: Path, platform: ThreadedServer) -> None:
    ended = run("apply", "-C", str(example))
    assert ended.code == 4
    assert "--yes" in ended.out
    assert writes(platform) == []


@pytest.mark.usefixtures("platform")
def test_plan_digest_is_independent_of_parallelism(run: Run, example: Path) -> None:
    digests = {
        re.findall(r"digest (\w+)", run("plan", "-v", "-C", str(example), "--parallelism", number).out)[0]
        for number in ("1", "3", "16")
    }
    assert len(digests) == 1


@pytest.mark.usefixtures("platform")
def test_apply_writes_journal_in_project_directory(run: Run, example: Path) -> None:
    run("apply", "-C", str(example), "--yes")
    (journal,) = (example / ".dpsync" / "journal").glob("*.jsonl")
    events = [json.loads(line) for line in journal.read_text().splitlines()]
    assert [event["event"] for event in (*events[:2], *events[-2:])] == ["journal", "start", "end", "exit"]
    assert (events[-2]["remaining"]["changes"], events[-1]["code"]) == ([], 0)
    intents = [event["step"] for event in events if event["event"] == "intent"]
    outcomes = [event["outcome"]["step"] for event in events if event["event"] == "outcome"]
    assert sorted(intents) == sorted(outcomes)
    assert len(intents) == 26


@pytest.mark.usefixtures("platform")
def test_file_flag_selects_root_file(run: Run, example: Path) -> None:
    (example / "dpsync.yaml").rename(example / "other.yaml")
    assert run("plan", "-C", str(example)).code == 5
    assert run("plan", "-C", str(example), "-f", "other.yaml").code == 0


def test_example_is_valid_and_matches_schema(run: Run, example: Path) -> None:
    import yaml

    assert run("validate", "-C", str(example)).code == 0
    schema = json.loads((SCHEMAS / "dpsync.schema.json").read_text())
    for path in sorted(example.rglob("*.yaml")):
        jsonschema.validate(yaml.safe_load(path.read_text()), schema)


@pytest.mark.parametrize(
    "name",
    [
        "configuration",
        "plan",
        "apply",
        "drift",
        "import",
        "ids",
        "ids-file",
        "saved-plan",
        "journal",
        "findings",
    ],
)
def test_committed_schemas_match_schema_command(name: str, run: Run) -> None:
    file = SCHEMAS / f"{'dpsync' if name == 'configuration' else name}.schema.json"
    assert run("schema", name).out == file.read_text(encoding="utf-8")


BAD_FOR_SCHEMA: list[Any] = [
    {"organizations": {"acme": {"titel": "Acme"}}},
    {"organizations": {"acme": {"members": {"a@b.c": "boss"}}}},
    {
        "organizations": {
            "acme": {"sites": {"d": {"title": "Docs", "structure": [{"type": "page", "key": "x"}]}}}
        }
    },
    {"organizations": {"acme": {"spaces": {"no key!": {"title": "T"}}}}},
    {"dpsync": 2, "organizations": {}},
    {"organizations": {"acme": {"collections": {"c": {"description": None, "title": None}}}}},
]


@pytest.mark.parametrize("document", BAD_FOR_SCHEMA)
def test_schema_rejects_invalid_configuration(document: Any) -> None:
    schema = json.loads((SCHEMAS / "dpsync.schema.json").read_text())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, schema)


# The configuration that the documentation shows as a whole.


@pytest.mark.usefixtures("platform")
def test_apply_of_block_example_converges(run: Run, tmp_path: Path) -> None:
    """Its site shows what a translation makes, which waits in the built-in world until somebody runs it.

    Otherwise, a translation is named where its space is meant.
    """
    directory = shutil.copytree(HERE / "block", tmp_path / "block")
    assert run("validate", "-C", str(directory)).code == 0
    refused = run("apply", "-C", str(directory), "--yes")
    assert refused.code == 4
    answers = dict.fromkeys(re.findall(r'--confirm "(delete [^"]+)"', refused.out))
    confirm = [word for answer in answers for word in ("--confirm", answer)]
    blocked = run("apply", "-C", str(directory), "--yes", *confirm)
    assert blocked.code == 3
    assert (
        "this entry refers to the object that acme/translations/guides-fr creates, and GitBook has not "
        "created that object yet" in blocked.out
    )
    ended = run("apply", "-v", "-C", str(directory), "--yes", "--confirm", "run acme/translations/guides-fr")
    assert ended.code == 0
    assert "Verified: a new plan has no changes." in ended.out
    # The plan counts what the report counts: one of these steps only waits for the platform.
    assert re.findall(r"(\d+) to write in (\d+) steps$", ended.out, re.MULTILINE) == [("3", "4")]
    assert "Applied: 1 created, 1 changed, in " in ended.out
    assert run("plan", "-C", str(directory), "--detailed-exitcode").code == 0


def test_markdown_error_has_location_in_markdown_file(run: Run, tmp_path: Path) -> None:
    directory = shutil.copytree(HERE / "block", tmp_path / "block")
    (directory / "agents.md").write_text("# How\n\nAnswer <b>briefly</b>.\n", encoding="utf-8")
    ended = run("validate", "-C", str(directory))
    assert ended.code == 5
    assert "agents.md:3:8" in ended.err
