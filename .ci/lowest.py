"""Runs the tests of the core beside the oldest versions of what dpsync depends on, in .venv-lowest.

    .venv/bin/python .ci/lowest.py [TESTS…]

Needs .venv (environment.py), of which it takes uv, and a network. The lower bounds of pyproject.toml are
those with which these tests pass; what they depend on in turn is the newest.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
UV = ROOT / ".venv" / "bin" / "uv"
LOWEST = ROOT / ".venv-lowest"
PYTHON = LOWEST / "bin" / "python"
CORE = (
    "model", "config", "kinds", "identity", "document", "client", "live", "planner", "apply", "cli",
    "importing", "test_disk.py",
)  # fmt: skip
NEEDS_MORE = ("cli/test_graph.py",)
"""Tests of the core with libraries that are not in the group `core`."""


def main() -> int:
    """Make the environment anew and run the tests in it; the exit code of pytest."""
    versions = LOWEST / "requirements.txt"
    run(UV, "venv", "--quiet", "--clear", LOWEST)
    extras = [word for extra in ("server", "rehearse", "postgres") for word in ("--extra", extra)]
    run(
        UV, "pip", "compile", "--quiet", "pyproject.toml", *extras, "--resolution", "lowest-direct",
        "--no-header", "--output-file", versions,
    )  # fmt: skip
    run(UV, "pip", "install", "--quiet", "--python", PYTHON, "-r", versions, "--group", "core")
    run(UV, "pip", "install", "--quiet", "--python", PYTHON, "--no-deps", "--editable", ".")
    given = sys.argv[1:] or [f"tests/{name}" for name in CORE]
    left_out = [f"--ignore=tests/{name}" for name in NEEDS_MORE]
    command = [PYTHON, "-m", "pytest", "-n", "auto", *left_out, *given]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


def run(*command: str | Path) -> None:
    """Run in the project's root; a failure has said on stderr what it was."""
    if subprocess.run(command, cwd=ROOT, check=False).returncode:
        sys.exit(f"set-up failed: {' '.join(map(str, command))}")


if __name__ == "__main__":
    sys.exit(main())
