"""The commands that docs/plan.md shows are run, one after the other, and print what it shows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import click
import pytest

from dpsync.cli import apply, drift, plan, serve, validate
from dpsync.cli.main import main
from dpsync.model.diagnostic import Exit
from dpsync.model.values import LIVE, REF
from dpsync.server.thread import ThreadedServer

from .examples import lay_out
from .markdown import DOCS, Section, sections
from .test_errors import PAGE as ERRORS
from .test_errors import _refusal_codes

SECTIONS = {section.title: section for section in sections(DOCS / "plan.md")}
TEXT = (DOCS / "plan.md").read_text(encoding="utf-8")
COMMANDS = {
    "plan": plan.command,
    "apply": apply.command,
    "drift": drift.command,
    "serve": serve.command,
    "validate": validate.command,
}


def shown(on: Iterable[Section] = SECTIONS.values()) -> Iterator[tuple[str, str]]:
    """Every command of a page with the output below it."""
    for section in on:
        for block in section.of("console"):
            for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
                command, _, output = part.partition("\n")
                yield command, output


def same(text: str) -> str:
    """Without what differs from run to run."""
    text = re.sub(r"^digest [0-9a-f]{16}$", "digest …", text, flags=re.MULTILINE)
    return re.sub(
        r"^journal: .*\.dpsync/journal/\d{8}T\d{6}Z-[0-9a-f]{8}\.jsonl$", "journal: …", text, flags=re.M
    )


def pattern(output: str) -> str:
    """A line of … stands for any lines."""
    return "".join(r"(?:.*\n)*?" if line == "…" else re.escape(line) + "\n" for line in output.splitlines())


def test_the_commands_print_what_the_page_shows(
    platform: ThreadedServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    lay_out(SECTIONS["Reading a plan"], tmp_path / "project")
    monkeypatch.chdir(tmp_path / "project")
    monkeypatch.setenv("DPSYNC_URL", platform.url)
    monkeypatch.setenv("DPSYNC_TOKEN", "ada-token")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for name in ("DPSYNC_FILE", "DPSYNC_TOKEN_FILE", "CI"):
        monkeypatch.delenv(name, raising=False)
    code = 0
    for command, output in shown():
        if command == "echo $?":
            assert output == f"{code}\n"
            continue
        with pytest.raises(SystemExit) as ended:
            main([word.strip('"') for word in re.findall(r'"[^"]+"|\S+', command)[1:]])
        code = int(ended.value.code or 0)
        printed = same(capsys.readouterr().out)
        if "…\n" in output:
            assert re.fullmatch(pattern(same(output)), printed), command
        else:
            assert printed == same(output), command


def test_every_flag_is_in_the_table_and_no_other() -> None:
    rows = [line for line in SECTIONS["Flags"].words if line.startswith("| `-")]
    listed: dict[str, set[str]] = {}
    for row in rows:
        flags, commands = row.replace("\\|", "/").split("|")[1:3]
        for flag in re.findall(r"(--[\w-]+)", flags):
            listed.setdefault(flag, set()).update(command.strip() for command in commands.split(","))
    for name, command in COMMANDS.items():
        options = {
            option
            for parameter in command.params
            if isinstance(parameter, click.Option) and not parameter.hidden
            for option in parameter.opts
            if option.startswith("--")
        }
        assert {flag for flag, commands in listed.items() if name in commands} == options, name


def test_every_exit_code_is_in_the_table() -> None:
    rows = [line.split("|")[1] for line in SECTIONS["Exit codes"].words if re.match(r"\| \d", line)]
    assert {int(number) for row in rows for number in re.findall(r"\d+", row)} == set(Exit)


def test_every_refusal_is_listed_and_linked() -> None:
    assert (
        set(re.findall(r"\]\(errors\.md#([\w-]+)\)", "\n".join(SECTIONS["Deleting"].words)))
        == _refusal_codes()
    )


def test_links_to_errors_lead_somewhere() -> None:
    titles = {title.lower() for title in ERRORS} | {"refusals"}
    assert set(re.findall(r"errors\.md#([\w-]+)", TEXT)) <= titles


def test_the_markers_of_references_are_named() -> None:
    assert f'{{"{REF}": ADDRESS}}' in TEXT
    assert f'{{"{LIVE}": ID}}' in TEXT
