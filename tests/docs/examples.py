"""Runs the examples of the documentation: files, a little shell, and what somebody did on the platform."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import httpx

from dpsync.config.discovery import find_root
from dpsync.config.layers import Layers
from dpsync.config.load import load
from dpsync.kinds.registry import load as load_registry
from dpsync.model.desired import Desired
from dpsync.model.diagnostic import Diagnostic, DiagnosticError

from .markdown import Section

REGISTRY = load_registry()
TOKEN = {"Authorization": "Bearer ada-token"}  # of the companion's built-in world


def lay_out(section: Section, directory: Path) -> dict[str, str]:
    """Write the files of a section into a new project and run its shell; the environment after that."""
    (directory / ".git").mkdir(parents=True)
    env = {"PATH": os.environ["PATH"]}
    for block in section.blocks:
        if block.language == "yaml" or block.name:
            path = directory / (block.name or "dpsync.yaml")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
        elif block.language == "sh":
            script = f"set -e\n{block.text}env -0"
            shell = ["sh", "-c", script]
            ended = subprocess.run(shell, cwd=directory, env=env, stdout=subprocess.PIPE, check=True)
            lines = ended.stdout.decode().rstrip("\0").split("\0")
            env = dict(line.split("=", 1) for line in lines)
    return env


def read(
    directory: Path, env: dict[str, str], overlays: tuple[str, ...] = ()
) -> tuple[Desired | None, list[Diagnostic]]:
    """The configuration of a project and what is wrong with it."""
    try:
        root = find_root(directory)
    except DiagnosticError as none:
        return None, list(none.diagnostics)
    desired, found = load(root, REGISTRY, env, Layers(overlays))
    return desired, list(found)


def happen(section: Section, url: str) -> None:
    """Do what the `http` blocks of a section say: METHOD PATH and a JSON body, one to a line."""
    for block in section.of("http"):
        for line in block.text.splitlines():
            method, path, body = line.split(" ", 2)
            httpx.request(method, url + path, json=json.loads(body), headers=TOKEN).raise_for_status()
