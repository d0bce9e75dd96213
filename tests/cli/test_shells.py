"""Real shells complete commands, flags, addresses and environments by the scripts that `completion` prints.

A shell that is not installed is not tested.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = """\
dpsync: 1
environments: { staging: {}, production: {} }
organizations:
  acme:
    id: acme
    teams: { writers: { title: Writers }, press: { title: Press } }
"""
BASH = """\
source <(dpsync completion bash)
COMP_WORDS=({words}) COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_dpsync_completion dpsync
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
ZSH = """\
compdef() {{ }}
compadd() {{ print -l -- ${{(P)@[-1]}} }}
_describe() {{ print -l -- ${{(P)3}} }}
eval "$(dpsync completion zsh)"
words=({words}) CURRENT=$#words
_dpsync_completion
"""
FISH = """\
dpsync completion fish | source
complete --do-complete '{words}'
"""
SHELLS = {
    "bash": ("bash", "--norc", "-c", BASH),
    "zsh": ("zsh", "-f", "-c", ZSH),
    "fish": ("fish", "--no-config", "-c", FISH),
}


@pytest.fixture(params=SHELLS)
def offered(request: pytest.FixtureRequest, programs: Path, tmp_path: Path) -> Callable[[str], list[str]]:
    """Return a function that lists a shell's completions of a command line."""
    program, *options, script = SHELLS[request.param]
    if (found := shutil.which(program)) is None:
        pytest.skip(f"{program} is not installed")
    (tmp_path / "dpsync.yaml").write_text(ROOT, encoding="utf-8")
    env = {"PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(tmp_path), "LC_ALL": "C.UTF-8"}

    def offered_(line: str) -> list[str]:
        ended = subprocess.run(
            [found, *options, script.format(words=line)], cwd=tmp_path, env=env,
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert ended.stderr == ""
        # Behind a word a shell may show what it means.
        return [line.replace("\t", ":").split(":")[0] for line in ended.stdout.splitlines() if line]

    return offered_


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("dpsync pla", ["plan"]),
        ("dpsync plan --det", ["--detailed-exitcode"]),
        ("dpsync plan --env p", ["production"]),
        ("dpsync plan --select acme/teams/w", ["acme/teams/writers"]),
        ("dpsync explain site.vis", ["site.visibility"]),
    ],
)
def test_shell_completion_offers_matching_words(
    line: str, wanted: list[str], offered: Callable[[str], list[str]]
) -> None:
    assert offered(line) == wanted
