"""The command line as people use it: arguments in, exit code and text out, against a running companion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from dpsync.cli.main import main
from dpsync.server.process.threaded_server import ThreadedServer

EXAMPLE = Path(__file__).parents[2] / "examples" / "acme"


@dataclass(frozen=True)
class Ran:
    """How a command ended."""

    code: int
    out: str
    err: str


Run = Callable[..., Ran]


@pytest.fixture
def platform(server: ThreadedServer, monkeypatch: pytest.MonkeyPatch) -> ThreadedServer:
    """Serve the built-in world and name the companion in the environment."""
    server.reset()
    monkeypatch.setenv("DPSYNC_URL", server.url)
    monkeypatch.setenv("DPSYNC_TOKEN", "ada-token")
    return server


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Run a command in this process."""
    for name in ("DPSYNC_FILE", "DPSYNC_TOKEN_FILE", "NO_COLOR", "CI", "ACME_ORG_ID", "DPSYNC_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    def run_(*arguments: str) -> Ran:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([*arguments])
        out, err = capsys.readouterr()
        return Ran(int(ended.value.code or 0), out, err)

    return run_


@pytest.fixture
def project(tmp_path: Path) -> Callable[..., Path]:
    """Write files into a new project: `project("text of dpsync.yaml", **{"name.yaml": "text"})`."""

    def write(root: str, files: dict[str, str] | None = None) -> Path:
        for name, text in {"dpsync.yaml": root, **(files or {})}.items():
            path = tmp_path / "project" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return tmp_path / "project"

    return write


@pytest.fixture
def example(tmp_path: Path) -> Path:
    """Copy examples/acme, so that journals and edits stay out of the checkout."""
    import shutil

    return Path(shutil.copytree(EXAMPLE, tmp_path / "acme", ignore=shutil.ignore_patterns(".dpsync")))
