"""Places in files are links where a terminal has them, and the same bytes as ever elsewhere."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import re
import struct
import subprocess
import termios
from contextlib import suppress
from pathlib import Path

import pytest
from click import unstyle

from dpsync.cli.output import screen_width, wants_links, with_links
from tests.cli.conftest import Run
from tests.patience import PATIENCE

LINK = re.compile(r"\x1b\]8;;file://[^/\x1b]*(/[^\x1b]*)\x1b\\([^\x1b]*)\x1b\]8;;\x1b\\")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("terminal", "env", "wanted"),
    [
        (True, {"TERM_PROGRAM": "vscode"}, True),
        (True, {"TERM": "xterm-kitty"}, True),
        (True, {"VTE_VERSION": "7600"}, True),
        (True, {"VTE_VERSION": "5000"}, True),
        (True, {"VTE_VERSION": "4999"}, False),
        (True, {"WT_SESSION": "x"}, True),
        (True, {"TERM": "xterm-256color"}, False),
        (True, {}, False),
        (True, {"FORCE_HYPERLINK": "1"}, True),
        (True, {"TERM_PROGRAM": "vscode", "FORCE_HYPERLINK": "0"}, False),
        (True, {"TERM_PROGRAM": "vscode", "CI": "true"}, False),
        (True, {"TERM_PROGRAM": "vscode", "NO_COLOR": "1"}, False),
        (True, {"TERM_PROGRAM": "vscode", "TERM": "dumb"}, False),
        (True, {"TERM_PROGRAM": "vscode", "TERM": "tmux-256color"}, False),
        (False, {"TERM_PROGRAM": "vscode", "FORCE_HYPERLINK": "1"}, False),
    ],
)
def test_hyperlinks_are_enabled_only_for_supporting_terminals(
    terminal: bool, env: dict[str, str], wanted: bool
) -> None:
    assert wants_links(Terminal() if terminal else io.StringIO(), env) is wanted


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("~ docs  dpsync.yaml:4:7", [("/dpsync.yaml#4", "dpsync.yaml:4:7")]),
        (" --> sites/docs page.yaml:12:1", []),
        ("(sites/a.yaml:12:1), and dpsync.yaml:1:2.", [
            ("/sites/a.yaml#12", "sites/a.yaml:12:1"), ("/dpsync.yaml#1", "dpsync.yaml:1:2"),
        ]),
        ("\x1b[2mdpsync.yaml:4:7\x1b[0m", [("/dpsync.yaml#4", "dpsync.yaml:4:7")]),
        ("acme  dpsync.yaml:16    x", [("/dpsync.yaml#16", "dpsync.yaml:16")]),
        ("none.yaml:4:7 /etc/passwd:1:1 ../x.yaml:1:1 dpsync.yaml: 4 http://dpsync.yaml:1:1", []),
    ],
)  # fmt: skip
def test_file_locations_in_project_become_hyperlinks(
    tmp_path: Path, text: str, links: list[tuple[str, str]]
) -> None:
    (tmp_path / "dpsync.yaml").touch()
    (tmp_path.parent / "x.yaml").touch()
    (tmp_path / "sites").mkdir()
    (tmp_path / "sites" / "a.yaml").touch()
    made = with_links(text, tmp_path)
    root = str(tmp_path.resolve())
    assert LINK.findall(made) == [(f"{root}{path}", said) for path, said in links]
    assert LINK.sub(r"\2", made) == text


def test_piped_output_has_no_hyperlinks(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_HYPERLINK", "1")
    (tmp_path / "dpsync.yaml").write_text("dpsync: 1\norganisations: {}\n", encoding="utf-8")
    ended = run("validate", "-C", str(tmp_path), "--color", "always")
    assert "dpsync.yaml:2:1" in ended.err
    assert "\x1b]8" not in ended.out + ended.err


def test_terminal_output_wraps_and_has_hyperlinks(tmp_path: Path, programs: Path) -> None:
    names = ", ".join(f"key-{number}: 1" for number in range(3))
    (tmp_path / "dpsync.yaml").write_text(f"dpsync: 1\norganizations: {{ acme: {{ {names} }} }}\n")
    words = [str(programs / "dpsync"), "validate", "-C", str(tmp_path)]
    surroundings = {name: value for name, value in os.environ.items() if name not in ("CI", "NO_COLOR")}
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    env = {**surroundings, "FORCE_HYPERLINK": "1", "TERM": "xterm"}
    with subprocess.Popen(words, stdout=follower, stderr=follower, env=env, text=True) as running:
        os.close(follower)
        shown = b""
        with suppress(OSError):  # the end of a terminal
            while part := os.read(leader, 65536):
                shown += part
        assert running.wait(PATIENCE) == 5
    os.close(leader)
    text = unstyle(LINK.sub(r"\2", shown.decode())).replace("\r", "")
    assert LINK.search(shown.decode())
    assert max(map(len, text.splitlines())) <= 80
    assert "allowed keys" in text


def test_invalid_or_missing_file_name_is_not_linked(tmp_path: Path) -> None:
    for text in ("a\x00b.yaml:4", f"{'x' * 5_000}.yaml:4", "../dpsync.yaml:4", "gone.yaml:4"):
        assert with_links(text, tmp_path) == text


def test_unknown_terminal_width_is_zero() -> None:
    assert screen_width(Terminal()) == screen_width(io.StringIO()) == 0
