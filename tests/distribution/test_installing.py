"""The wheel is installed as people install it, where nothing else is: it needs what it says."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from dpsync import __version__
from dpsync.server.process.threaded_server import ThreadedServer
from tests.distribution.installed import PROGRAMS, environment, interpreter, missing, uv
from tests.patience import PATIENCE

VERSIONS = ("3.11", "3.12", "3.13", "3.14")
CONFIGURATION = """\
dpsync: 1
organizations:
  acme:
    id: acme
    title: Acme of ours
    sites: { docs: { title: Docs, basename: docs, customization: { styling: { corners: straight } } } }
"""
EVERY_MODULE = """
import importlib, pkgutil, dpsync
for one in pkgutil.walk_packages(dpsync.__path__, "dpsync."):
    if one.name not in ("dpsync.__main__", "dpsync.testing") and ".postgres" not in one.name:
        importlib.import_module(one.name)
"""
"""`dpsync.testing` needs pytest, and a database of its own its driver: both are for those who have them."""


def surroundings(tmp_path: Path, **more: str) -> dict[str, str]:
    """Return an environment with an empty home and without the variables of dpsync and Python."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("DPSYNC", "PYTHON"))}
    return {
        **kept,
        "HOME": str(tmp_path),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "PATH": os.defpath,
        **more,
    }


def run(command: list[str], tmp_path: Path, folder: Path | None = None, **more: str) -> str:
    """Run a command that must succeed and return its output."""
    ended = subprocess.run(
        command, cwd=folder or tmp_path, env=surroundings(tmp_path, **more),
        capture_output=True, text=True, check=False, timeout=PATIENCE,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


@pytest.mark.parametrize(
    ("version", "resolution"), [("3.11", "lowest-direct"), *((version, "highest") for version in VERSIONS)]
)
def test_wheel_works_with_every_supported_python(
    version: str, resolution: str, wheel: Path, server: ThreadedServer, tmp_path: Path
) -> None:
    server.reset()
    python = interpreter(version)
    programs = environment(tmp_path / "clean", wheel, "--resolution", resolution, python=python)
    run([str(programs / "python"), "-W", "error::SyntaxWarning", "-c", EVERY_MODULE], tmp_path)
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "dpsync.yaml").write_text(CONFIGURATION, encoding="utf-8")
    platform = {"DPSYNC_URL": server.url, "DPSYNC_TOKEN": "ada-token"}
    applied = run([str(programs / "dpsync"), "apply", "--rehearse", "--yes"], tmp_path, folder, **platform)
    assert "Verified: a new plan has no changes." in applied
    assert "No drift." in run([str(programs / "dpsync"), "drift"], tmp_path, folder, **platform)


def test_uvx_runs_dpsync_from_wheel(wheel: Path, tmp_path: Path) -> None:
    command = [uv(), "tool", "run", "--quiet", "--from", str(wheel), "dpsync", "--version"]
    cache = {"UV_CACHE_DIR": os.environ.get("UV_CACHE_DIR", str(Path.home() / ".cache" / "uv"))}
    assert run(command, tmp_path, **cache) == f"dpsync {__version__}\n"


def test_pipx_installs_dpsync_from_wheel(wheel: Path, tmp_path: Path) -> None:
    pipx = shutil.which("pipx", path=f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}")
    if pipx is None:
        missing("pipx is not installed")
    places = {"PIPX_HOME": str(tmp_path / "pipx"), "PIPX_BIN_DIR": str(tmp_path / "bin")}
    run([str(pipx), "install", "--quiet", str(wheel)], tmp_path, **places)
    assert run([str(tmp_path / "bin" / "dpsync"), "--version"], tmp_path) == f"dpsync {__version__}\n"


def test_serve_without_server_extra_suggests_install(wheel: Path, tmp_path: Path) -> None:
    subprocess.run([uv(), "venv", "--quiet", str(tmp_path / "clean")], check=True)
    python = str(tmp_path / "clean" / "bin" / "python")
    run([uv(), "pip", "install", "--quiet", "--python", python, str(wheel)], tmp_path)
    ended = subprocess.run(
        [str(tmp_path / "clean" / "bin" / "dpsync"), "serve"],
        cwd=tmp_path, env=surroundings(tmp_path), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.returncode == 1
    assert "dpsync[server]" in ended.stderr
