"""Makes .venv with dpsync, its companion and the tools of development.

    python3 .ci/environment.py

Needs Python ≥ 3.11 with venv, and a network. Uses uv when it is there, else venv and pip. Does nothing when
.venv is as new as pyproject.toml.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
READY = VENV / "ready"


def main() -> None:
    """Make the environment, or say what is missing."""
    if sys.version_info < (3, 11):
        sys.exit("dpsync needs Python 3.11 or newer")
    if READY.exists() and READY.stat().st_mtime >= (ROOT / "pyproject.toml").stat().st_mtime:
        return
    python = VENV / "bin" / "python"
    print("Setting up .venv (once) …", file=sys.stderr, flush=True)
    if uv := shutil.which("uv"):
        run(uv, "venv", "--quiet", "--clear", str(VENV))
        run(
            uv,
            "pip",
            "install",
            "--quiet",
            "--python",
            str(python),
            "-e",
            ".[server,postgres]",
            "--group",
            "dev",
        )
    else:
        run(sys.executable, "-m", "venv", "--clear", str(VENV))
        run(str(python), "-m", "pip", "install", "--quiet", "--upgrade", "pip>=25.1")
        run(str(python), "-m", "pip", "install", "--quiet", "-e", ".[server,postgres]", "--group", "dev")
    READY.touch()


def run(*command: str) -> None:
    """Run in the project's root; a failure has said on stderr what it was."""
    result = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}, check=False
    )
    if result.returncode:
        sys.exit(f"set-up failed: {' '.join(command)}")


if __name__ == "__main__":
    main()
