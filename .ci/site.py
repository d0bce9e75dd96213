"""Builds the documentation as a site into build/site, from docs/ and mkdocs.yml.

    python3 .ci/site.py

Needs Python ≥ 3.11 with venv, and a network for the first run: it makes .venv-site, with nothing but MkDocs
and its theme. A warning of MkDocs is an error.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv-site"
READY = VENV / "ready"
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": str(ROOT),  # mkdocs.yml names a function of tools/
    "NO_MKDOCS_2_WARNING": "1",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
}


def main() -> None:
    """Build the site, or say what is missing."""
    if not READY.exists() or READY.stat().st_mtime < (ROOT / "pyproject.toml").stat().st_mtime:
        print("Setting up .venv-site (once) …", file=sys.stderr, flush=True)
        python = str(VENV / "bin" / "python")
        if uv := shutil.which("uv"):
            run(uv, "venv", "--quiet", "--clear", str(VENV))
            run(uv, "pip", "install", "--quiet", "--python", python, "--group", "site")
        else:
            run(sys.executable, "-m", "venv", "--clear", str(VENV))
            run(python, "-m", "pip", "install", "--quiet", "--upgrade", "pip>=25.1")
            run(python, "-m", "pip", "install", "--quiet", "--group", "site")
        READY.touch()
    run(str(VENV / "bin" / "mkdocs"), "build", "--quiet")
    print("The site is in build/site. To read it: python3 -m http.server --directory build/site")


def run(*command: str) -> None:
    """Run in the project's root; a failure has said on stderr what it was."""
    if subprocess.run(command, cwd=ROOT, env=ENVIRONMENT, check=False).returncode:
        sys.exit(f"the site was not built: {' '.join(command)}")


if __name__ == "__main__":
    main()
