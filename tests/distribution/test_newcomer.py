"""A newcomer with the wheel alone: the tutorial in an empty folder, and then a pull request on GitHub."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.docs.examples import InvalidPageError, Reader
from tests.docs.markdown import DOCS, blocks
from tests.github.act import TOOLS, act_in
from tests.github.fake_github import REPOSITORY, FakeGitHub
from tests.github.tool_cache import action_in

PAGE = DOCS / "tutorial.md"
SHOWN = "dpsync plan --base main --format markdown"
"""The command of the tutorial that prints what the comment says."""
COMMANDS = ("init", "validate", "plan", "apply", "drift", "import")


def commands() -> list[str]:
    """Return the commands of the tutorial, in order."""
    return [line[2:] for block in blocks(PAGE) for line in block.text.splitlines() if line.startswith("$ ")]


def test_tutorial_uses_every_basic_command() -> None:
    typed = {line.split()[1] for line in commands() if line.startswith("dpsync ")}
    assert typed >= set(COMMANDS)


def test_tutorial_and_pull_request_work_from_wheel(installed: Path, tmp_path: Path) -> None:
    if not (TOOLS / "act").exists():
        pytest.skip("act is not installed: `make environment` does")
    with Reader(tmp_path / "folder", programs=installed) as reader:
        try:
            reader.work_through(blocks(PAGE))
        except InvalidPageError as wrong:
            pytest.fail(f"docs/tutorial.md, {wrong}", pytrace=False)
        comment = pull_request(reader, installed, tmp_path)
    shown = [block.text for block in blocks(PAGE) if SHOWN in block.text]
    _, _, markdown = shown[0].partition("\n")
    for line in filter(
        None, markdown.replace(":8787", f":{reader.env['DPSYNC_URL'].rpartition(':')[2]}").splitlines()
    ):
        assert line in comment


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def pull_request(reader: Reader, installed: Path, tmp_path: Path) -> str:
    """Run the workflow of `init` on the tutorial's pull request and return the comment."""
    folder = reader.folder
    base, head = git(folder, "rev-parse", "main", "HEAD").split()
    action = action_in(tmp_path / "action")
    (action / "dpsync").unlink()
    (package,) = installed.parent.glob("lib/python3*/site-packages/dpsync")
    (action / "dpsync").symlink_to(package)
    with FakeGitHub() as github:
        act = act_in(tmp_path, folder, github, reader.env["DPSYNC_URL"], action)
        act.path = f"{installed}:{act.path}"
        request = {
            "number": 7,
            "head": {"sha": head, "repo": {"full_name": REPOSITORY}},
            "base": {"sha": base, "ref": "main", "repo": {"full_name": REPOSITORY}},
        }
        github.requests[7] = {"state": "open", "merged_at": None, **request}
        act.run("plan.yml", "pull_request", {"pull_request": request})
        (comment,) = github.bodies(7)
    return str(comment)
