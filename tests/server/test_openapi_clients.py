"""Programs that write clients from an OpenAPI document make whole ones of the companion's."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import dpsync
from dpsync.server.http.openapi import build_document
from dpsync.server.operations import OPERATIONS

CLIENTS = Path(dpsync.__file__).parent.parent / ".venv" / "clients"
NEEDED = "make clients installs what clients are written with: openapi-typescript and openapi-python-client"
_ALL = """\
import type {{ operations, paths }} from "./companion";
export const all: {{ [name in keyof operations]: true }} = {{ {names} }};
export type Every = paths[keyof paths];
"""


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the document into a new directory for generated clients and return the directory."""
    if not (CLIENTS / "ready").exists():
        pytest.skip(NEEDED)
    folder = tmp_path_factory.mktemp("clients")
    (folder / "openapi.json").write_text(json.dumps(build_document(OPERATIONS)))
    return folder


def run(folder: Path, *command: str | Path, **environment: str) -> None:
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"


def test_generated_typescript_client_contains_every_operation(written: Path) -> None:
    programs = CLIENTS / "node_modules" / ".bin"
    run(written, programs / "openapi-typescript", "openapi.json", "-o", "companion.d.ts")
    names = ", ".join(f"{row.id}: true" for row in OPERATIONS)
    (written / "all.ts").write_text(_ALL.format(names=names))
    run(written, programs / "tsc", "--noEmit", "--strict", "all.ts")


def test_generated_python_client_contains_every_operation(written: Path) -> None:
    (written / "config.yaml").write_text("post_hooks: []\n")
    given = ("--path", "openapi.json", "--config", "config.yaml", "--output-path", "companion")
    command = (
        sys.executable,
        "-m",
        "openapi_python_client",
        "generate",
        "--meta",
        "none",
        "--fail-on-warning",
    )
    run(written, *command, *given, PYTHONPATH=str(CLIENTS / "python"))
    modules = [path.stem for path in (written / "companion" / "api").glob("*/*.py")]
    made = sorted(name.replace("_", "") for name in modules if name != "__init__")
    assert made == sorted(re.sub("_", "", row.id).lower() for row in OPERATIONS)
