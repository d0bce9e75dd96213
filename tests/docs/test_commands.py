"""Commands and flags that a sentence mentions exist, and every command is in a table."""

from __future__ import annotations

import re
import shlex
from importlib import import_module
from keyword import iskeyword
from pathlib import Path

import click
import pytest

from dpsync.cli.main import COMMANDS

from .markdown import DOCS, PAGES, ROOT, sections


def options(command: str) -> set[str]:
    found = import_module(f"dpsync.cli.commands.{command}{'_' * iskeyword(command)}").command
    assert isinstance(found, click.Command)
    return {option for one in found.params if isinstance(one, click.Option) for option in one.opts}


ALL = {flag for command in COMMANDS for flag in options(command)} | {"--help", "--version"}


def spans(page: Path) -> list[str]:
    """Return the pieces of code in the sentences of a page."""
    text = " ".join(word for section in sections(page) for word in section.words)
    return [re.sub(r"\s+", " ", span).replace("\\|", "|") for span in re.findall(r"`([^`]+)`", text)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_documented_command_and_flags_exist(page: Path) -> None:
    for span in spans(page):
        if not span.startswith("dpsync "):
            continue
        command, *arguments = shlex.split(span)[1:]
        if command in {"--version", "--help"}:
            continue
        assert command in COMMANDS, span
        flags = {argument.partition("=")[0] for argument in arguments if re.match(r"--?\w", argument)}
        assert flags <= {*options(command), "--help"}, span


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_documented_flag_exists(page: Path) -> None:
    for span in spans(page):
        if flag := re.match(r"--[a-z][\w-]*|-[a-zA-Z]", span):
            assert flag[0] in ALL | {"-p"}, span  # -p is one of pytest


def test_commands_page_lists_every_command() -> None:
    rows = [
        line
        for section in sections(DOCS / "commands.md")
        for line in section.words
        if line.startswith("| `dpsync")
    ]
    assert {row.split("`")[1].removeprefix("dpsync ") for row in rows} == set(COMMANDS)
