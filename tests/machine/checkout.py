"""The checkout of a person: a git repository with the files of a configuration, and dpsync in it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.nested_files import nested

from .command import Disturbance, Ran, ran

IDENTITY = ("-c", "user.name=Ada", "-c", "user.email=ada@acme.example", "-c", "commit.gpgsign=false")
QUIET = ("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "maintenance.auto=false")
DATE = "2026-01-01T00:00:00Z"
ROOT = "dpsync.yaml"

Tree = Any
"""What one file of YAML holds: dicts, lists, scalars."""


@dataclass
class Checkout:
    """A working tree, and the environment in which its commands run."""

    directory: Path
    env: dict[str, str]
    flags: tuple[str, ...] = ()
    """Of every command that asks a platform: --profile, --ids."""

    def dpsync(self, *arguments: str, disturbed: Disturbance | None = None, asks: bool = True) -> Ran:
        command, *rest = arguments
        flags = self.flags if asks else ()
        return ran((command, "-C", str(self.directory), *flags, *rest), self.env, disturbed)

    # Files.

    def names(self) -> list[str]:
        """Return the files of the configuration by their relative paths."""
        found = sorted(path for path in self.directory.rglob("*.yaml") if path.is_file())
        names = (str(path.relative_to(self.directory)) for path in found)
        return [name for name in names if not name.startswith((".dpsync", "dpsync.ids", ".git/"))]

    def trees(self) -> dict[str, Tree]:
        texts = {name: (self.directory / name).read_text("utf-8") for name in self.names()}
        return {name: nested(yaml.load(text, Loader=yaml.CSafeLoader)) for name, text in texts.items()}

    def write(self, trees: dict[str, Tree]) -> None:
        """Write the files that are different now."""
        for name, tree in trees.items():
            path = self.directory / name
            if (
                not path.exists()
                or nested(yaml.load(path.read_text("utf-8"), Loader=yaml.CSafeLoader)) != tree
            ):
                path.parent.mkdir(parents=True, exist_ok=True)
                text = yaml.dump(
                    tree, Dumper=yaml.CSafeDumper, sort_keys=False, allow_unicode=True, width=110
                )
                path.write_text(text, "utf-8")

    def entries(self) -> Iterator[tuple[str, str, str, Tree]]:
        """Organization, place, key and content of each entry right below an organization."""
        for tree in self.trees().values():
            for org, places in (tree.get("organizations") or {}).items():
                for place, entries in (places or {}).items():
                    if isinstance(entries, dict):
                        yield from ((org, place, str(key), entry) for key, entry in entries.items())

    def journals(self) -> list[Path]:
        return sorted(
            (self.directory / ".dpsync/journal").glob("*.jsonl"), key=lambda one: one.stat().st_mtime_ns
        )

    # Git.

    def git(self, *arguments: str, check: bool = True) -> str:
        env = {
            "PATH": os.environ["PATH"], "HOME": self.env["HOME"], "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_DATE": DATE, "GIT_COMMITTER_DATE": DATE,
        }  # fmt: skip
        command = ["git", "-C", str(self.directory), *IDENTITY, *QUIET, *arguments]
        done = subprocess.run(command, check=False, capture_output=True, text=True, env=env)
        if check and done.returncode:
            raise AssertionError(f"{command}: {done.stdout}{done.stderr}")
        return done.stdout.strip()

    def begin(self, canary: Path) -> None:
        """Make it a repository. Whoever runs what its git configuration names touches the canary."""
        self.git("init", "-q", "-b", "main")
        (self.directory / ".gitattributes").write_text("*.yaml diff=canary filter=canary\n", "utf-8")
        for name in ("core.fsmonitor", "diff.canary.textconv", "diff.external"):
            self.git("config", name, f"touch {canary} #")
        self.commit()

    def commit(self) -> None:
        self.git("add", "--all")
        self.git("commit", "-q", "--allow-empty", "-m", "as it is")

    def clone(self, directory: Path, *flags: str) -> None:
        """Go on in a clone: what git does not have is gone."""
        env = {"PATH": os.environ["PATH"], "HOME": self.env["HOME"], "GIT_CONFIG_NOSYSTEM": "1"}
        command = ["git", *QUIET, "clone", "-q", *flags, f"file://{self.directory}", str(directory)]
        subprocess.run(command, check=True, capture_output=True, env=env)
        shutil.rmtree(self.directory)
        self.directory = directory

    def branches(self) -> list[str]:
        return self.git("for-each-ref", "--format=%(refname:short)", "refs/heads").split()


def document(ended: Ran) -> Any:
    """Return the JSON that a command has printed, or None if its output is not JSON."""
    try:
        return json.loads(ended.out)
    except ValueError:
        return None
