"""Each mistake has a message that says where it is, why, and what to do; whoever does that goes on.

The messages are in golden/, one file for each mistake; UPDATE_GOLDEN=1 writes them anew.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Final

import pytest

from dpsync.apply.journal import lock_organizations
from dpsync.server.process.threaded_server import ThreadedServer
from tests.cli.conftest import Ran, Run
from tests.cli.mistakes.in_circumstances import COMMANDS, CONNECTION, PLANS
from tests.cli.mistakes.in_entries import KEYS, POLICY, REFERENCES, VALUES
from tests.cli.mistakes.in_files import FILES, ROOT, START, YAML
from tests.cli.mistakes.mistake import SERVER, SERVER_OVER_TLS, Mistake, edit, write

GOLDEN: Final = Path(__file__).parent / "golden"
MISTAKES: Final = (*YAML, *FILES, *KEYS, *VALUES, *REFERENCES, *POLICY, *CONNECTION, *COMMANDS, *PLANS)
PROXIES: Final = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")

_VARYING: Final = re.compile(r"^(?:digest|base|not compared|journal)[: ].*\n", re.MULTILINE)
"""Lines that tell of this run, or of all that the platform holds."""


class Newcomer:
    """Somebody at a terminal: a project, variables, and commands one after the other."""

    def __init__(self, folder: Path, run: Run, env: pytest.MonkeyPatch, url: str) -> None:
        self.folder, self.url = folder, url
        self._run, self._env = run, env

    def set(self, variables: Mapping[str, str | None]) -> None:
        for name, value in variables.items():
            if value is None:
                self._env.delenv(name, raising=False)
            else:
                value = value.replace(SERVER, self.url).replace(SERVER_OVER_TLS, f"https{self.url[4:]}")
                self._env.setenv(name, value)

    def types(self, line: str) -> Ran:
        """Run a command as it is typed in the project, or `commit` what is there."""
        words, _, out = line.partition(" > ")
        if words == "commit":
            who = ("-c", "user.name=a", "-c", "user.email=a@b")
            for step in (("init", "-q"), ("add", "-A"), (*who, "commit", "-qmx")):
                subprocess.run(["git", *step], cwd=self.folder, check=True)
            return Ran(0, "", "")
        *first, last = words.split(" && ")
        for each in first:
            self._run(*shlex.split(each))
        ended = self._run(*shlex.split(last))
        if out:
            (self.folder / out).write_text(ended.out, encoding="utf-8")
        return ended


@pytest.fixture
def newcomer(run: Run, platform: ThreadedServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Newcomer:
    for name in (*PROXIES, *map(str.lower, PROXIES), "DPSYNC_ENV", "DPSYNC_PROFILE", "BRAND"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "project"
    folder.mkdir()

    monkeypatch.chdir(folder)
    return Newcomer(folder, run, monkeypatch, platform.url)


def golden(mistake: Mistake) -> str:
    """Return the name of the file that holds the mistake's message."""
    return f"{mistake.name.replace(' ', '-').replace(':', '')}.txt"


def shown(ended: Ran, newcomer: Newcomer) -> str:
    """Return the output of a command without the parts that differ from run to run."""
    text = ended.out + ended.err
    text = text.replace(newcomer.url, "http://127.0.0.1:8787").replace(newcomer.url[4:], "://127.0.0.1:8787")
    text = text.replace(str(newcomer.folder), "/home/ada/docs")
    return _VARYING.sub("", text)


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda one: one.name.replace(" ", "-"))
def test_user_mistake_prints_expected_message_whose_fix_works(mistake: Mistake, newcomer: Newcomer) -> None:
    for texts, command in mistake.earlier:
        write(newcomer.folder, texts, newcomer.url)
        newcomer.types(command)
    write(newcomer.folder, mistake.files, newcomer.url)
    newcomer.set(mistake.env)
    meanwhile = lock_organizations(newcomer.url, ["acme"]) if mistake.locked else nullcontext()
    with meanwhile:
        ended = newcomer.types(mistake.command)
    path = GOLDEN / golden(mistake)
    text = f"$ dpsync {mistake.command}\n{shown(ended, newcomer)}exit code {ended.code}\n"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    edit(newcomer.folder, mistake.mend, newcomer.url)
    newcomer.set(mistake.mended_env)
    after = newcomer.types(mistake.then or mistake.command)
    assert (after.code, after.out + after.err if after.code else "") == (0, "")
    assert "warning" not in after.out + after.err
    assert text == path.read_text(encoding="utf-8")
    assert ended.code == mistake.code


def test_every_user_mistake_has_an_expected_output_file() -> None:
    assert len(MISTAKES) >= 60
    assert sorted(path.name for path in GOLDEN.iterdir()) == sorted(map(golden, MISTAKES))


WITHOUT_FINDING: Final = {
    "a byte order mark": b"\xef\xbb\xbf" + START.encode(),
    "line ends of Windows": START.replace("\n", "\r\n").encode(),
    "an anchor and its alias": f"{START}    title: &a Acme\n    spaces: {{ a: {{ title: *a }} }}\n".encode(),
    "words that YAML 1.1 takes for true and false": f"{START}    teams: {{ on: {{ title: no }} }}\n".encode(),
    "a date as a title": f"{START}    teams: {{ a: {{ title: 2026-11-23 }} }}\n".encode(),
    "a price": f"{START}    title: $100 docs\n".encode(),
}


@pytest.mark.parametrize("content", WITHOUT_FINDING.values(), ids=WITHOUT_FINDING)
def test_validate_accepts_valid_but_unusual_yaml_bytes(content: bytes, newcomer: Newcomer) -> None:
    write(newcomer.folder, {ROOT: content}, newcomer.url)
    ended = newcomer.types("validate")
    assert (ended.code, ended.err) == (0, "")
