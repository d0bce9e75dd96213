"""Installs what the tests take from npm: writers of clients of the companion's API, and a language server.

    python3 .ci/clients.py

Needs .venv (environment.py), npm and a network. Does nothing when they are there and as new as this file.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CLIENTS = ROOT / ".venv" / "clients"
READY = CLIENTS / "ready"
EDITOR = ROOT / ".venv" / "editor"
PINNED = Path(__file__).parent / "editor"
"""The language server of editors for YAML, with the checksum of each package."""
FROM_NPM = ("openapi-typescript@7", "typescript@5")
FROM_PYPI = "openapi-python-client>=0.26,<0.30"


def main() -> None:
    """Install them, or say what is missing."""
    if READY.exists() and READY.stat().st_mtime >= Path(__file__).stat().st_mtime:
        return
    npm = shutil.which("npm")
    if npm is None:
        sys.exit("npm is needed (apt-get install npm)")
    print("Setting up .venv/clients and .venv/editor (once) …", file=sys.stderr, flush=True)
    run(npm, "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(CLIENTS), *FROM_NPM)
    EDITOR.mkdir(exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(PINNED / name, EDITOR)
    run(npm, "ci", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(EDITOR))
    target = ("install", "--quiet", "--target", str(CLIENTS / "python"), FROM_PYPI)
    python = str(ROOT / ".venv" / "bin" / "python")
    if uv := shutil.which("uv"):
        run(uv, "pip", *target, "--python", python)
    else:
        run(python, "-m", "pip", *target)
    READY.touch()


def run(*command: str) -> None:
    """Run one command; a failure has said on stderr what it was."""
    result = subprocess.run(command, env={**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}, check=False)
    if result.returncode:
        sys.exit(f"set-up failed: {' '.join(command)}")


if __name__ == "__main__":
    main()
