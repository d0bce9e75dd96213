"""What the README shows first, `make demo`, works. The rest of it is run by test_examples.py."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tests.patience import PATIENCE

from .markdown import ROOT, blocks


def test_readme_make_targets_exist() -> None:
    first = next(block for block in blocks(ROOT / "README.md") if block.text.startswith("make "))
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for line in first.text.splitlines():
        assert re.search(rf"^{line.removeprefix('make ')}:", makefile, re.MULTILINE)


def test_demo_succeeds_without_changing_example_files(tmp_path: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in (ROOT / "examples" / "acme").rglob("*")}
    # The demo's own set-up is not what is tested here: run it with this interpreter.
    driver = (
        f"import sys; sys.path.insert(0, {str(ROOT / 'examples')!r}); import demo; from pathlib import Path; "
        f"demo.PYTHON = Path({sys.executable!r}); demo.prepare = lambda: None; sys.exit(demo.main())"
    )
    result = subprocess.run(
        [sys.executable, "-c", driver],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
        timeout=PATIENCE,
    )
    assert result.returncode == 0, result.stderr
    assert 'title  "Acme Documentation" → "Acme Dox"' in result.stdout
    assert "Verified: a new plan has no changes." in result.stdout
    assert "7:  prune: [teams]" in result.stdout  # otherwise, the delete is a surprise
    assert len(result.stdout.splitlines()) <= 60
    assert {path: path.stat().st_mtime_ns for path in (ROOT / "examples" / "acme").rglob("*")} == before


def test_readme_has_at_most_120_lines() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 120


def test_readme_starts_with_purpose_and_test_status() -> None:
    """Nobody should learn after the first apply that dpsync has never run against GitBook."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    beginning = " ".join(text.splitlines()[:10])
    first, *_ = blocks(ROOT / "README.md")
    commands = [line.split("#")[0].strip() for line in first.text.splitlines()]

    assert "manages a [GitBook]" in beginning
    assert "never run against GitBook's servers" in beginning
    assert len(commands) == 5
    assert [command for command in commands if command.startswith("dpsync ")] == [
        "dpsync import -C ~/acme-gitbook",
        "dpsync doctor -C ~/acme-gitbook --contact",
        "dpsync plan -C ~/acme-gitbook",
    ]
