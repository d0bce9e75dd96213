"""dpsync as it is published: its distributions, and clean environments with the wheel.

What is needed: hatchling and uv (both in the group `test` of pyproject.toml), and an index of packages. A
test that lacks one of them is skipped with one line; in CI it fails.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.patience import PATIENCE

ROOT = Path(__file__).parents[2]
PROGRAMS = Path(sys.executable).parent
LEFT_OUT = {".git", ".venv", ".venv-site", "__pycache__", ".dpsync", "build", "dist", ".hypothesis"}
"""What no clone of the checkout has."""
_NO_NETWORK = ("failed to fetch", "dns error", "error sending request")
_NO_NETWORK = ("failed to fetch", "dns error", "error sending request")


def missing(what: str) -> None:
    """Skip the test that needs it; in CI it fails."""
    if os.environ.get("CI"):
        pytest.fail(f"{what}: `make environment` installs it", pytrace=False)
    pytest.skip(what)


def uv() -> str:
    """Return the path of uv."""
    found = shutil.which("uv", path=f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}")
    if found is None:
        missing("uv is not installed")
    return str(found)


def copied(folder: Path) -> Path:
    """Copy the files that distributions are made of, without files that git ignores."""
    for name in ("dpsync", "docs", "examples"):
        shutil.copytree(ROOT / name, folder / name, ignore=lambda _, names: LEFT_OUT & {*names})
    for path in ROOT.iterdir():
        if path.is_file() and path.name != ".git":
            shutil.copyfile(path, folder / path.name)
    return folder


def build(source: Path, into: Path, target: str, epoch: str | None = None) -> Path:
    """Build `wheel` or `sdist` of a copy of the checkout; the file that was made."""
    if find_spec("hatchling") is None:
        missing("hatchling is not installed")
    surroundings = {name: value for name, value in os.environ.items() if name != "SOURCE_DATE_EPOCH"}
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", str(into)],
        cwd=source, env=surroundings | ({"SOURCE_DATE_EPOCH": epoch} if epoch else {}),
        check=True, capture_output=True, timeout=PATIENCE,
    )  # fmt: skip
    (made,) = into.glob("*.whl" if target == "wheel" else "*.tar.gz")
    return made


def interpreter(version: str) -> str:
    """Return a Python of this version on this machine, pyenv's included, or skip. Nothing is downloaded."""
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    if by_pyenv := sorted(root.glob(f"versions/{version}.*/bin/python")):
        return str(by_pyenv[-1])
    found = subprocess.run(
        [uv(), "python", "find", "--no-python-downloads", "--no-project", "--system", version],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if found.returncode:
        pytest.skip(f"Python {version} is not on this machine")
    return found.stdout.strip()


def environment(folder: Path, wheel: Path, *words: str, python: str = sys.executable) -> Path:
    """Create an environment with only the wheel and its dependencies; return its directory of programs."""
    subprocess.run([uv(), "venv", "--quiet", "--python", python, str(folder)], check=True)
    programs = folder / "bin"
    got = subprocess.run(
        [uv(), "pip", "install", "--quiet", "--python", str(programs / "python"), *words, f"{wheel}[server]"],
        capture_output=True, text=True, check=False, timeout=PATIENCE,
    )  # fmt: skip
    if got.returncode:
        if any(word in got.stderr.lower() for word in _NO_NETWORK):
            missing("no index of packages can be reached")
        pytest.fail(got.stderr, pytrace=False)
    return programs
