"""README and docs: every command line and every block is run as it is printed."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from dpsync.server.process.threaded_server import ThreadedServer
from dpsync.server.world import load_builtin_world

from .examples import LANGUAGES, InvalidPageError, Reader, read, update
from .markdown import DOCS, PAGES, ROOT, Block, blocks

BY_SECTION = {DOCS / "configuration.md", DOCS / "errors.md"}
"""Pages on which each section stands alone: test_configuration.py and test_errors.py work through them."""
BEGINNING = {ROOT / "README.md", DOCS / "companion.md", DOCS / "tutorial.md"}
"""Pages that start the companion themselves. The others are for readers for whom it runs already."""
ENTRIES = DOCS / "kinds"
"""The pages about object types: tests/kinds/test_meanings.py loads their examples."""
CONTRIBUTING = ROOT / "CONTRIBUTING.md"
"""The page that is worked through in a clone of this repository."""
HEX = "0123456789abcdef" * 2
"""A digest."""


def names(page: Path) -> str:
    return str(page.relative_to(ROOT))


def clone(folder: Path) -> None:
    """Copy the current checkout into its own repository, with the installed packages."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    (folder / ".venv").symlink_to(sys.prefix)
    who = (["config", "user.name", "Ada"], ["config", "user.email", "ada@acme.example"])
    for words in (
        ["init", "--quiet"],
        *who,
        ["add", "."],
        ["commit", "--quiet", "--message", "All"],
    ):
        subprocess.run(["git", *words], cwd=folder, check=True)


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if page not in BY_SECTION and page.parent != ENTRIES and blocks(page)],
    ids=names,
)
def test_page_examples_run_as_shown(
    page: Path, platform: ThreadedServer, programs: Path, tmp_path: Path
) -> None:
    url = "" if page in BEGINNING else platform.url
    with Reader(tmp_path / "folder", url, programs) as reader:
        if page == CONTRIBUTING:
            clone(reader.folder)
        try:
            reader.work_through(blocks(page))
        except InvalidPageError as wrong:
            pytest.fail(f"{names(page)}, {wrong}", pytrace=False)
        if reader.updates:
            update(page, reader.updates)
            pytest.fail(f"{names(page)} is updated: read the difference", pytrace=False)
        assert reader.taken == [block for block in blocks(page) if block.not_run is None]
        if (reader.folder / "dpsync.yaml").exists():
            assert read(reader.folder, reader.env)[1] == []


def test_staging_guide_shows_no_token_consent_prompt(
    platform: ThreadedServer, programs: Path, tmp_path: Path
) -> None:
    """With tokens of their own, unlike the companion's documented ones, readers meet no refusal either."""
    page = DOCS / "how-to" / "staging-and-production.md"
    world = load_builtin_world()
    platform.reset({**world, "tokens": {**world["tokens"], "a-real-token": "ada"}})
    shown = [replace(block, text=block.text.replace("ada-token", "a-real-token")) for block in blocks(page)]
    with Reader(tmp_path / "folder", platform.url, programs) as reader:
        reader.work_through(shown)


@pytest.mark.parametrize("page", PAGES, ids=names)
def test_code_block_is_run_or_explains_skip(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert text.count("```") == 2 * len(blocks(page)), "a fence that begins at no line's beginning"
    assert not re.search(r"^ *~~~|^\n    \S", text, re.MULTILINE), "a block without a fence"
    comments = re.sub(r"^<!-- (derived|end): \w+ -->$", "", text, flags=re.MULTILINE).count("<!--")
    assert comments == sum(block.not_run is not None for block in blocks(page))
    for block in blocks(page):
        if block.not_run is None:
            assert block.name or block.language in LANGUAGES, f"line {block.line}"
        else:
            assert len(block.not_run.split()) > 3, f"line {block.line}: why not?"


@pytest.mark.parametrize("page", PAGES, ids=names)
def test_file_block_name_appears_above_block(page: Path) -> None:
    """What stands behind the word of a fence is seen by nobody."""
    lines = page.read_text(encoding="utf-8").splitlines()
    for block in blocks(page):
        above = "\n".join(lines[: block.line - 1]).rstrip().split("\n\n")[-1]
        assert not block.name or f"`{block.name}`" in above, f"line {block.line}"


# The reader itself: a page that is wrong is found.


def block(language: str, text: str, name: str = "") -> Block:
    return Block(language, name, text, 1)


@pytest.mark.parametrize(
    ("page", "why"),
    [
        ([block("sh", "false\n")], "ends with 1"),
        ([block("sh", "true\nfalse\ntrue\n")], "ends with 1"),
        ([block("console", "echo a\n")], "begins with a `\\$ ` command"),
        ([block("console", "$ false\n")], "ended with 1, and the page does not say so"),
        ([block("console", "$ false\n$ true\n")], "ended with 1, and the page does not say so"),
        ([block("console", "$ false\n$ echo $?\n0\n")], "--- printed\n1"),
        ([block("console", "$ echo a\nb\n")], "--- shown\nb\n--- printed\na\n"),
        ([block("console", "$ echo a >&2\n")], "--- printed\na\n"),
        ([block("console", "$ printf 'a\\nb\\n'\na\n")], "--- printed\na\nb\n"),
        ([block("console", f"$ echo digest {HEX[:-1]}g\ndigest {HEX}\n")], "--- printed"),
        ([block("python", "print(1)\n"), block("text", "2\n")], "--- printed\n1\n"),
        ([block("python", "raise SystemExit(3)\n")], "the program ends with 3"),
        ([block("text", "a\n")], "nobody knows what this block is for"),
        ([block("", "a\n")], "nobody knows what this block is for"),
        ([block("json", "{}\n")], "nobody knows what this block is for"),
    ],
)
def test_example_runner_detects_wrong_example(page: list[Block], why: str, tmp_path: Path) -> None:
    with Reader(tmp_path / "folder") as reader, pytest.raises(InvalidPageError, match=why):
        reader.work_through(page)


def test_example_runner_keeps_state_between_commands(tmp_path: Path) -> None:
    page = [
        block("markdown", "a\n", "notes/a.md"),
        block("sh", "export NAME=value\ncd notes\n"),
        block(
            "console",
            "$ cat a.md\na\n$ echo $NAME\nvalue\n$ false\n$ echo $?\n1\n$ printf 'x\\ny\\nz\\n'\n…\nz\n",
        ),
        block("python", "import os; print(os.environ['NAME'])\n"),
        block("text", "value\n"),
    ]
    with Reader(tmp_path / "folder") as reader:
        assert reader.work_through(page).taken == page


def test_example_runner_replaces_placeholder_digest(tmp_path: Path) -> None:
    shown, real = "0" * 32, "0123456789abcdef" * 2
    page = [
        block("sh", f"echo 'echo digest {real}' > plan\n"),
        block("console", f"$ sh plan\ndigest {shown}\n$ test {shown} = {real[:9]}''{real[9:]}\n"),
    ]
    with Reader(tmp_path / "folder") as reader:
        assert reader.work_through(page).taken == page
