"""A plan and a drift are one list with few lines: each fact stands once, the verdict at the end."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from dpsync.server.process.threaded_server import ThreadedServer
from tests.troubled import troubled_world

from .conftest import Run
from .test_drift import change
from .test_git_base import git
from .test_plan_and_apply import golden

Edit = Callable[[str, str, str], None]
LEGACY = "legacy: { title: Legacy, members: { kim@acme.example: member, cam@acme.example: member } }"
WEBHOOKS_SECTION = """          - type: section
            key: webhooks
            title: Webhooks
            path: webhooks
            children: [{ type: space, key: main, space: webhooks, path: main }]
"""
WEBHOOKS_SPACE = "      webhooks: { title: Webhooks, collection: api, language: en }\n"


@pytest.fixture
def edit(example: Path) -> Edit:
    """Replace a text in a file of the example."""

    def replace(name: str, before: str, after: str) -> None:
        text = (example / name).read_text(encoding="utf-8")
        assert before in text, f"{name} does not have {before!r}"
        (example / name).write_text(text.replace(before, after), encoding="utf-8")

    return replace


@pytest.fixture
def applied(run: Run, example: Path, edit: Edit, platform: ThreadedServer) -> Path:
    """Commit and apply the example without webhooks, with an extra team and with accepted problems."""
    platform.reset(troubled_world())
    edit("dpsync.yaml", "prune: [sites/*/structure]", "prune: [sites/*/structure, teams, teams/*/members]")
    edit(
        "dpsync.yaml", "policy:\n", "policy:\n  accept: ['saml/*#status', 'openapi/*#lastProcessErrorCode']\n"
    )
    edit("spaces.yaml", WEBHOOKS_SPACE, "")
    edit("sites/docs.yaml", webhooks_section(example), "")
    edit("automation.yaml", 'billing.yaml" }, visibility: public', 'billing.yaml" }, visibility: private')
    edit("people.yaml", "      support:\n", f"      {LEGACY}\n      support:\n")
    edit("people.yaml", "defaultTeam: sales", "defaultTeam: legacy")
    git(example, "init", "-q", "-b", "main")
    git(example, "add", ".")
    git(example, "commit", "-q", "-m", "as it is")
    ended = run("apply", "-C", str(example), "--yes")
    assert ended.code == 0, ended.out + ended.err
    return example


def webhooks_section(example: Path) -> str:
    found = re.search(
        r" *- type: section\n *key: webhooks\n(.*\n){5}", (example / "sites/docs.yaml").read_text()
    )
    assert found is not None
    return found[0]


def printed(run: Run, directory: Path, *arguments: str) -> str:
    """Return the output of a command without the directory of the test."""
    command, *flags = arguments
    ended = run(command, "-C", str(directory), *flags)
    assert ended.code in (0, 2), ended.out + ended.err
    return ended.out.replace(f" -C {directory}", "")


def lines(text: str) -> int:
    return len(text.rstrip("\n").split("\n"))


def test_plan_without_changes_prints_single_line(run: Run, applied: Path) -> None:
    assert printed(run, applied, "plan") == "No changes. acme matches your files.\n"


def test_plan_with_platform_problems_prints_two_lines(run: Run, applied: Path, edit: Edit) -> None:
    edit("dpsync.yaml", "accept: [", "accept: [] # [")
    assert printed(run, applied, "plan").splitlines() == [
        "2 objects have a problem on GitBook's side: dpsync doctor",
        "No changes. acme matches your files.",
    ]


def rename_site(edit: Edit) -> None:
    edit("sites/docs.yaml", "title: Acme Docs", "title: Acme Documentation")


def create_space_in_section(edit: Edit) -> None:
    edit("spaces.yaml", "      handbook:\n", f"{WEBHOOKS_SPACE}      handbook:\n")
    edit(
        "sites/docs.yaml",
        "          - { type: external-link",
        f"{WEBHOOKS_SECTION}          - {{ type: external-link",
    )


def delete_team(edit: Edit) -> None:
    edit("people.yaml", f"      {LEGACY}\n", "")
    edit("people.yaml", "defaultTeam: legacy, ", "")
    edit("dpsync.yaml", "policy:\n", "policy:\n  removed: [teams/legacy]\n")


def change_much(edit: Edit) -> None:
    create_space_in_section(edit)
    delete_team(edit)
    edit("automation.yaml", "visibility: private", "visibility: public")
    edit("sites/docs.yaml", "path: news\n", "path: whats-new\n")


@pytest.mark.parametrize(
    ("name", "change", "budget"),
    [
        ("one-field", rename_site, 6),
        ("space-in-section", create_space_in_section, 10),
        ("deleted-team", delete_team, 8),
        ("several", change_much, 19),
    ],
)
def test_plan_output_has_limited_number_of_lines(
    run: Run, applied: Path, edit: Edit, name: str, change: Callable[[Edit], None], budget: int
) -> None:
    change(edit)
    text = printed(run, applied, "plan")
    assert lines(text) <= budget
    golden(f"list-{name}.txt", text)


@pytest.mark.parametrize(
    ("number", "flags", "budget"), [(25, (), 60), (300, (), 400), (300, ("--summary",), 20)]
)
def test_plan_of_many_creates_has_limited_lines(
    run: Run, applied: Path, edit: Edit, number: int, flags: tuple[str, ...], budget: int
) -> None:
    entries = "".join(
        f"      area-{n}: {{ title: Area {n}, collection: api, language: en, new: true }}\n"
        for n in range(number)
    )
    edit("spaces.yaml", "      handbook:\n", f"{entries}      handbook:\n")
    text = printed(run, applied, "plan", *flags)
    assert lines(text) <= budget
    assert text.endswith(f"Plan: {number} to create.\n")


def test_drift_lists_widened_access_first(run: Run, applied: Path, platform: ThreadedServer) -> None:
    change(platform, "/orgs/acme/sites/docs", title="Acme Dox")
    change(platform, "/orgs/acme/members/kim", role="admin")
    golden("list-drift.txt", printed(run, applied, "drift"))
    found = json.loads(printed(run, applied, "drift", "--format", "json"))["drift"]["found"]
    assert [(item["address"], item["opens"]) for item in found] == [
        ("acme/members/kim@acme.example", True), ("acme/sites/docs", False),
    ]  # fmt: skip
    sarif = json.loads(printed(run, applied, "drift", "--format", "sarif"))
    assert "opens access" in sarif["runs"][0]["results"][0]["message"]["text"]
    assert "Drift: 2 objects. 1 change opens access." in printed(
        run, applied, "drift", "--format", "markdown"
    )
