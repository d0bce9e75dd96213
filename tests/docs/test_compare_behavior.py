"""The comparison of two commits (tools/compare_behavior) is deterministic, and names what differs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tools.compare_behavior.__main__ import compare, main

_ONE_PAIR = ["--pairs", "1", "--applies", "0", "--ids", "0", "--situations", "0", "--seed", "5"]


def test_compare_behavior_finds_no_differences_for_same_commit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["HEAD", "HEAD", *_ONE_PAIR, "--out", str(tmp_path)]
    assert main([*arguments, "--again"]) == 0, capsys.readouterr().out
    assert int(capsys.readouterr().out.split()[0]) > 10, "too few records"


def test_compare_behavior_shows_line_of_changed_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [["pair 0, plan", "exit 0\nNo changes."], ["pair 0, drift", "exit 0\nNo drift."]]
    for side in ("a", "b"):
        (tmp_path / side).mkdir()
        text = "\n".join(map(json.dumps, lines))
        (tmp_path / side / "pairs-0-1.jsonl").write_text(text, encoding="utf-8")
        lines[1][1] = "exit 0\nNo difference."
    assert compare(tmp_path / "a", tmp_path / "b", [("pairs", 0, 1)], most=9) == 1
    assert capsys.readouterr().out.splitlines() == [
        "--- pairs: pair 0, drift",
        "    line 2",
        "      exit 0",
        "    A No drift.",
        "    B No difference.",
        "2 records compared, 1 differ: 1 in pairs",
    ]
