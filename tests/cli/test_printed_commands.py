"""Every printed command is complete: copied, it does what it said, where it said it, and no more."""

from __future__ import annotations

import ast
import json
import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import dpsync
from dpsync.cli.main import COMMANDS
from dpsync.model.text import ProjectFlags, format_command
from dpsync.planner.answers import Answer
from dpsync.server.process.threaded_server import ThreadedServer
from tests.by_hand import by_hand
from tests.cli.conftest import Ran, Run
from tests.cli.test_git_base import git

Project = Callable[..., Path]

ROOT = """\
dpsync: 1
policy: { prune: [sites/docs/redirects] }
"""
HERE = """\
organizations:
  acme:
    id: acme
    title: Acme
    teams:
      writers: { title: Technical writers }
    sites:
      docs:
        title: Acme Docs
        basename: docs
        redirects:
          /old: { destination: { kind: external, url: "https://acme.example/" } }
"""
ENVIRONMENTS = """\
environments:
  prod: { overlay: prod.yaml }
  staging: { organizations: { acme: { id: globex } } }
"""
OVERLAY = "organizations: { acme: { emailDomains: [acme.example, acme.test] } }\n"


@dataclass(frozen=True)
class Way:
    """One way to run dpsync: the name of the root file, the directory to be in, flags, and variables."""

    flags: tuple[str, ...] = ()
    root: str = "dpsync.yaml"
    below: str = ""
    variables: tuple[tuple[str, str], ...] = ()


WAYS = {
    "an environment, from elsewhere": Way(
        ("-C", "a project", "--env", "prod", "--ids", "who is.yaml"), below=".."
    ),
    "overlays": Way(("-f", "base.yaml", "-f", "prod.yaml", "--profile", "full"), "base.yaml"),
    "an environment of the shell, below": Way(below="teams", variables=(("DPSYNC_ENV", "prod"),)),
    "a part": Way(("--exclude", "acme/sites/docs/redirects")),
}


@pytest.fixture
def started(
    run: Run, platform: ThreadedServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[[Way], tuple[str, ...]]:
    """Return a function that applies the project of a case, enters its directory and returns its flags."""
    del platform

    def start(way: Way) -> tuple[str, ...]:
        directory = tmp_path / "a project"
        (directory / "teams").mkdir(parents=True)
        environments = ENVIRONMENTS if "--env" in way.flags or way.variables else ""
        (directory / way.root).write_text(ROOT + environments + HERE)
        (directory / "prod.yaml").write_text(OVERLAY)
        monkeypatch.chdir(directory / way.below)
        for name, value in way.variables:
            monkeypatch.setenv(name, value)
        made = run("apply", *(flag for flag in way.flags if flag not in excluded(way)), "--yes")
        assert made.code == 0, made.out + made.err
        git(directory, "init", "-q", "-b", "main")
        commit(directory)
        return way.flags

    return start


def commit(directory: Path) -> None:
    """Commit the imported files, so that the next import may overwrite them."""
    git(directory, "add", "*.yaml")
    git(directory, "commit", "-q", "--allow-empty", "-m", "as it is")


def excluded(way: Way) -> tuple[str, ...]:
    return way.flags if "--exclude" in way.flags else ()


def meddle(platform: ThreadedServer, times: str) -> None:
    """Change objects and their children on the platform without dpsync."""
    redirects = {item["source"]: item["id"] for item in items(platform, "/orgs/acme/sites/docs/redirects")}
    by_hand(platform, "PATCH", "/orgs/acme", {"title": f"Acme {times}"})
    by_hand(platform, "PATCH", "/orgs/acme/sites/docs", {"title": f"Acme Docs {times}"})
    by_hand(platform, "PATCH", "/orgs/acme/teams/writers", {"title": f"Writers {times}"})
    other = {"kind": "external", "url": f"https://{times}.example/"}
    by_hand(platform, "PATCH", f"/orgs/acme/sites/docs/redirects/{redirects['/old']}", {"destination": other})
    by_hand(
        platform, "POST", "/orgs/acme/sites/docs/redirects", {"source": f"/{times}", "destination": other}
    )


def items(platform: ThreadedServer, path: str) -> list[Any]:
    found: list[Any] = by_hand(platform, "GET", path)["items"]
    return found


def found(run: Run, flags: tuple[str, ...]) -> dict[str, Any]:
    """Run drift and return the differences by address."""
    ended = run("drift", *flags, "--format", "json")
    assert ended.code in (0, 2), ended.out + ended.err
    listed = json.loads(ended.out)["drift"]["found"]
    return {item["address"]: {key: item[key] for key in ("what", "fields", "place")} for item in listed}


def printed(ended: Ran) -> dict[str, dict[str, str]]:
    """By address the commands of a drift in text: a whole line each, from the name of the program."""
    commands: dict[str, dict[str, str]] = {}
    address = ""
    for line in ended.out.splitlines():
        if head := re.match(r"[~+!-] .*?(acme(?:/\S*)?)", line):
            address = head[1]
        elif way := re.match(r"    (undo|keep) +(dpsync .*)", line):
            commands.setdefault(address, {})[way[1]] = way[2]
    return commands


@pytest.mark.parametrize("name", WAYS)
def test_printed_drift_command_resolves_only_matching_difference(
    run: Run,
    platform: ThreadedServer,
    started: Callable[[Way], tuple[str, ...]],
    name: str,
    tmp_path: Path,
) -> None:
    flags = started(WAYS[name])
    for word, more in (("undo", ["--yes"]), ("keep", [])):
        meddle(platform, word)
        commands, left = printed(run("drift", "-v", *flags)), found(run, flags)
        assert commands.keys() == left.keys()
        for address in sorted(left, key=lambda one: (one.count("/"), one)):
            ended = run(*shlex.split(commands[address][word])[1:], *more)
            assert ended.code == 0, commands[address][word] + ended.out + ended.err
            commit(tmp_path / "a project")
            left.pop(address)
            assert found(run, flags) == left, commands[address][word]


def test_commands_undoing_drift_keep_selected_environment(
    run: Run, platform: ThreadedServer, started: Callable[[Way], tuple[str, ...]]
) -> None:
    flags = started(WAYS["an environment, from elsewhere"])
    meddle(platform, "undo")
    for ways in printed(run("drift", "-v", *flags)).values():
        platform.app.requests.clear()
        run(*shlex.split(ways["undo"])[1:], "--yes")
        assert {path.split("/")[3] for _, path, _ in platform.app.requests if path.count("/") > 2} == {"acme"}


@pytest.mark.parametrize("content", [False, True])
def test_drift_undo_command_includes_needed_confirm_flag(
    run: Run,
    platform: ThreadedServer,
    started: Callable[[Way], tuple[str, ...]],
    tmp_path: Path,
    content: bool,
) -> None:
    flags = started(Way())
    root = tmp_path / "a project" / "dpsync.yaml"
    policy = "policy: { prune: [teams, sites/docs/redirects], limits: { deletes: 0 } }"
    root.write_text(root.read_text().replace("policy: { prune: [sites/docs/redirects] }", policy))
    commit(tmp_path / "a project")
    if content:
        by_hand(platform, "PUT", "/orgs/acme/teams", {"title": "Made by hand"})
    else:
        gone = {"kind": "external", "url": "https://gone.example/"}
        by_hand(
            platform, "POST", "/orgs/acme/sites/docs/redirects", {"source": "/by-hand", "destination": gone}
        )
    place = "acme/teams/[Made" if content else "acme/sites"
    found = printed(run("drift", "-v", *flags))
    ways = next(ways for at, ways in found.items() if at.startswith(place) and "--confirm" in ways["undo"])
    answer = "delete acme/teams/[Made by hand]" if content else "delete 1"
    assert f"--confirm '{answer}'" in ways["undo"]
    ended = run(*shlex.split(ways["undo"])[1:], "--yes")
    assert ended.code == 0, ways["undo"] + ended.out + ended.err
    assert ways["undo"] not in run("drift", *flags).out


SAID = ProjectFlags("a dir", ("base.yaml", "prod.yaml"), "prod", "reference", "who.yaml", "v1")


@pytest.mark.parametrize(
    ("words", "typed"),
    [
        (
            ("apply", "--select", "acme/teams/[Two words]"),
            "dpsync apply -C 'a dir' -f base.yaml -f prod.yaml --env prod --profile reference --ids who.yaml "
            "--base v1 --select 'acme/teams/[Two words]'",
        ),
        (("import",), "dpsync import -C 'a dir' --profile reference --ids who.yaml"),
        (
            ("import", "--add", "a/b"),
            "dpsync import -C 'a dir' -f base.yaml -f prod.yaml --env prod --profile reference "
            "--ids who.yaml --add a/b",
        ),
        (("show", "plan.json"), "dpsync show -C 'a dir' plan.json"),
        (
            ("revert", "a.jsonl"),
            "dpsync revert -C 'a dir' -f base.yaml -f prod.yaml --env prod --profile reference "
            "--ids who.yaml --base v1 a.jsonl",
        ),
        (
            ("ids", "--forget", 'a/[`it\'s "$HOME"`]'),
            "dpsync ids -C 'a dir' -f base.yaml -f prod.yaml --env prod --profile reference --ids who.yaml "
            "--forget 'a/[`it'\"'\"'s \"$HOME\"`]'",
        ),
    ],
)
def test_printed_command_repeats_flags_of_run(words: tuple[str, ...], typed: str) -> None:
    assert SAID.add_flags_to_commands(f"do it: {format_command(*words)}") == f"do it: {typed}"
    assert ProjectFlags().add_flags_to_commands(format_command(*words)) == shlex.join(["dpsync", *words])


def test_text_resembling_command_stays_unchanged() -> None:
    for text in ("dpsync apply", "`dpsync`", "`dpsync apply", "`dpsync a'b`", "``", "`rm -rf`"):
        assert SAID.add_flags_to_commands(text) == text


def texts() -> Iterator[tuple[str, str]]:
    """Every text of the program that is no docstring, no help and none of the companion: file, text."""
    package = Path(dpsync.__file__).parent
    for path in sorted(package.rglob("*.py")):
        if package / "server" in path.parents:
            continue
        tree = ast.parse(path.read_text("utf-8"))
        spared = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.keyword) and node.arg in ("help", "examples"):
                spared |= {id(one) for one in ast.walk(node.value)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in spared:
                yield path.relative_to(package).as_posix(), node.value


MENTIONED = {
    ("cli/commands/revert.py", "dpsync history"): "the help",
    **{
        ("cli/foreign_flags.py", f"dpsync {name}"): "the name of the command that another name stands for"
        for name in ("apply", "drift", "ids", "import", "plan", "revert", "validate")
    },
    ("config/ids_file.py", "dpsync ids"): "the head of the file: the same whoever writes it",
    ("config/policy.py", "dpsync drift"): "what a pattern is for",
    ("cli/connection.py", "dpsync serve"): "it takes no such flag",
    ("client/transport.py", "dpsync serve"): "the same",
    ("cli/commands/help.py", "dpsync plan"): "the help",
    ("cli/commands/help.py", "dpsync drift"): "the help",
    ("cli/commands/help.py", "dpsync github"): "the help",
    ("cli/commands/help.py", "dpsync doctor"): "the help",
    ("cli/main.py", "dpsync serve"): "the help",
    ("cli/main.py", "dpsync apply"): "the help",
    ("github/ids_branch.py", "dpsync apply"): "who has made a commit",
    ("cli/doctor_checks.py", "dpsync plan"): "what a comment on GitHub says",
    ("github/plan_comment.py", "dpsync plan"): "the name of a label",
    ("github/commits.py", "dpsync plan"): "what a comment on GitHub says",
    ("cli/doctor_platform.py", "dpsync import"): "how many requests the command sends",
    ("cli/doctor_platform.py", "dpsync plan"): "the same",
    ("cli/doctor_settings.py", "dpsync apply"): "what creates a file",
    ("cli/doctor_settings.py", "dpsync import"): "the same",
    ("cli/doctor_checks.py", "dpsync apply"): "what needs a permission",
    ("cli/doctor_checks.py", "dpsync drift"): "the same",
    ("cli/doctor_checks.py", "dpsync doctor"): "a step of a workflow, with the flags of its job",
    ("importing/files.py", "dpsync drift"): "the beginning of a comment that import wrote",
    ("kinds/field_descriptions.py", "dpsync drift"): "the meaning of a key, in the schema and on a page",
    ("kinds/field_descriptions.py", "dpsync plan"): "the same",
    ("kinds/value_descriptions.py", "dpsync serve"): "the same",
    ("render/command_texts.py", "dpsync apply"): "what was run",
    ("render/value_words.py", "dpsync apply"): "a sentence of a page",
}
"""Names of commands in texts that are not to be typed, and why."""


def test_messages_contain_no_hard_coded_commands() -> None:
    """What is not made by `command` would lack the flags of the run that prints it."""
    names = "|".join(COMMANDS)
    written = {(file, one) for file, text in texts() for one in re.findall(rf"dpsync (?:{names})\b", text)}
    assert written <= MENTIONED.keys()


@pytest.mark.parametrize("title", ["Sales", 'a "b" c', "$(touch x)", "`id`", "it's", "a!b", "a\\b"])
def test_printed_confirm_answer_is_shell_quoted(title: str) -> None:
    answer = Answer("delete", f"acme/teams/[{title}]")
    assert shlex.split(answer.flag) == ["--confirm", str(answer)]
    assert not re.search(r'"[^\']*[$`!]', answer.flag)
