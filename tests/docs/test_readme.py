"""What the README shows is what happens."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from dpsync.api import load

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def block(language: str, beginning: str) -> str:
    blocks = re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)
    return next(
        text
        for text in blocks
        if text.lstrip("# ").startswith(beginning) or beginning in text.splitlines()[0]
    )


def test_the_configuration_in_the_readme_loads(tmp_path: Path) -> None:
    (tmp_path / "dpsync.yaml").write_text(block("yaml", "yaml-language-server"), encoding="utf-8")
    assert len(load(tmp_path / "dpsync.yaml", {}).resources) == 10


def test_the_commands_shown_first_exist() -> None:
    for line in block("console", "make demo").splitlines():
        target = line.removeprefix("make ")
        assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)


def test_the_demo_runs_and_ends_with_the_plan_that_the_readme_shows(tmp_path: Path) -> None:
    # The demo's own set-up is not what is tested here: run it with this interpreter.
    driver = (
        f"import sys; sys.path.insert(0, {str(ROOT / 'examples')!r}); import demo; from pathlib import Path; "
        f"demo.PYTHON = Path({sys.executable!r}); demo.prepare = lambda: None; sys.exit(demo.main())"
    )
    result = subprocess.run(
        [sys.executable, "-c", driver], capture_output=True, text=True, cwd=tmp_path, check=False, timeout=120
    )
    assert result.returncode == 0, result.stderr
    shown = block("console", "$ dpsync plan").partition("\n")[2]
    assert shown in result.stdout
