"""The places where a task runs: each is a directory made by real git from the checkout that has the edit."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import yaml

from dpsync.server import world as worlds
from dpsync.server.process.threaded_server import ThreadedServer
from tests.machine.command import Ran, ran

from .files import Files

Edit = Callable[[Files], object]
Start = Literal["imported", "pruned", "partial"]
IDS = "dpsync.ids.yaml"
WORLD: dict[str, Any] = yaml.safe_load((Path(__file__).parent / "world.yaml").read_text("utf-8"))
PRUNED = [
    "teams", "teams/*/members", "spaces", "collections", "sites/*/structure", "sites/*/redirects",
    "sites/*/shareLinks", "spaces/*/permissions/teams",
]  # fmt: skip
PARTIAL = {
    "dpsync.yaml": "dpsync: 1\ninclude: [teams.yaml, content.yaml]\norganizations:\n  acme: { id: acme }\n",
    "teams.yaml": """\
organizations:
  acme:
    teams:
      writers:
        title: Technical writers
        members: { ada@acme.example: owner, lin@acme.example: member }
      sales: { title: Sales }
      translators: { title: Translators }
""",
    "content.yaml": """\
organizations:
  acme:
    spaces:
      guides: { title: Guides, language: en }
      news: { title: News }
      api-reference: { title: API reference }
    sites:
      docs:
        title: Acme Docs
        basename: docs
        structure:
          - type: section
            key: guides
            title: Guides
            path: guides
            children: [{ type: space, key: en, space: guides, path: en }]
          - type: section-group
            key: more
            title: More
            children:
              - type: section
                key: news
                title: News
                path: news
                children: [{ type: space, key: latest, space: news, path: latest }]
""",
}


@dataclass(frozen=True)
class Place:
    """One way to have the files."""

    name: str
    committed: bool = True
    ids: bool = True
    """Whether git has the ids file."""
    clone: tuple[str, ...] | None = None
    """The arguments of `git clone`; None where the work goes on in the checkout with the edit."""
    ci: bool = False
    """Whether it is a job on GitHub, for the push of the edit."""

    @property
    def flags(self) -> tuple[str, ...]:
        return ("--ids", IDS) if self.ids else ()


HERE = Place("here")
UNCOMMITTED = Place("uncommitted", committed=False)
ACTION = Place("clone in CI", clone=(), ci=True)
NO_IDS = Place("clone without ids file", ids=False, clone=())
SHALLOW = Place("clone of one commit", clone=("--depth", "1"), ci=True)
LOST = Place("clone of one commit without ids file", ids=False, clone=("--depth", "1"), ci=True)
"""An accident rather than a place to work in: nothing says who is who."""
PLACES = (HERE, UNCOMMITTED, ACTION, NO_IDS, SHALLOW)


@dataclass
class Work:
    """A directory in which dpsync runs, and the platform that its files are for."""

    bench: Bench
    place: Place
    directory: Path
    env: dict[str, str] = field(default_factory=dict)

    def run(self, command: str, *arguments: str) -> Ran:
        return ran((command, "-C", str(self.directory), *self.place.flags, *arguments), self.env)

    def edit(self, edit: Edit) -> None:
        files = Files(self.directory)
        edit(files)
        files.save()


class Bench:
    """A companion with one world, and the checkouts from which each case starts."""

    def __init__(self, server: ThreadedServer, directory: Path) -> None:
        self.server, self.directory = server, directory
        self._starts: dict[tuple[Start, bool], Path] = {}
        self.server.reset(WORLD)
        self._home = directory / "home"
        self._home.mkdir(parents=True)

    @cached_property
    def env(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"], "HOME": str(self._home), "XDG_STATE_HOME": str(self._home / "state"),
            "DPSYNC_URL": self.server.url, "DPSYNC_TOKEN": "ada-token", "NO_COLOR": "1",
        }  # fmt: skip

    def reset(self) -> None:
        """Load the world. Its name is the same each time, so the committed ids files are for it."""
        self.server.reset(WORLD)
        self.server.run_in_server(lambda: self.server.app.store.set_setting("world", "tasks"))

    def state(self) -> dict[str, Any]:
        """Return what is live, as a world."""
        self.server.wait_for_jobs(include_abandoned=True)
        return self.server.run_in_server(lambda: worlds.dump_world(self.server.app.store))

    def writes(self) -> int:
        """Return how many requests that write there were since the reset."""
        return self.server.run_in_server(
            lambda: sum(method != "GET" for method, *_ in self.server.app.requests)
        )

    def start(self, start: Start, ids: bool) -> Path:
        """Return a repository with the files of a start, all of them committed."""
        made = self._starts.get((start, ids))
        if made is None:
            made = self._starts[start, ids] = self._made(start, ids)
        return made

    def _made(self, start: Start, ids: bool) -> Path:
        directory = self.directory / f"{start}-{'ids' if ids else 'no-ids'}"
        directory.mkdir()
        git(directory, "init", "-q", "-b", "main")
        (directory / ".gitignore").write_text(".dpsync/\n")
        self.reset()
        work = Work(self, Place("start", ids=ids), directory, self.env)
        if start == "partial":
            for name, text in PARTIAL.items():
                (directory / name).write_text(text)
            commands: tuple[tuple[str, ...], ...] = (("ids",),)
        else:
            commands = (("import", "--organization", "acme"),)
        for command in commands:
            expect(work.run(*command), 0)
        commit(directory, "Import acme")
        if start == "pruned":
            work.edit(lambda files: files.policy(prune=PRUNED))
            commit(directory, "Prune what is removed")
        if not ids:
            shutil.rmtree(directory / ".dpsync", ignore_errors=True)
        expect(work.run("plan", "--detailed-exitcode"), 0)
        return directory

    @contextmanager
    def at(self, place: Place, start: Start, edit: Edit, earlier: tuple[Earlier, ...] = ()) -> Iterator[Work]:
        """Yield the place after the edit. The earlier edits are applied before, and committed."""
        with TemporaryDirectory(dir=self.directory) as made:
            self_made = Path(made)
            origin = self_made / "origin"
            shutil.copytree(self.start(start, place.ids), origin, symlinks=True)
            self.reset()
            work = Work(self, place, origin, self.env)
            for done in earlier:
                work.edit(done.edit)
                commit(origin, done.message)
                ended = work.run("apply", "--yes", *done.confirm)
                if ended.code != 0:
                    raise EarlierWorkFailedError(ended)
                commit(origin, "Record the ids")
            before = git(origin, "rev-parse", "HEAD")
            work.edit(edit)
            if place.committed:
                commit(origin, "Do the task")
            if place.clone is not None:
                work.directory = self_made / "clone"
                clone = ("clone", "-q", *place.clone, f"file://{origin}", str(work.directory))
                git(self_made, *clone)
            if place.ci:
                work.env = self.env | _push(self_made, before, git(origin, "rev-parse", "HEAD"))
            yield work


@dataclass(frozen=True)
class Earlier:
    """An edit that was committed and applied before the task."""

    edit: Edit
    confirm: tuple[str, ...] = ()
    message: str = "Work of last week"


class EarlierWorkFailedError(Exception):
    """The work before the task was not applied."""

    def __init__(self, ended: Ran) -> None:
        self.ended = ended


def _push(directory: Path, before: str, after: str) -> dict[str, str]:
    """Return the environment of a workflow run for a push."""
    event = directory / "event.json"
    event.write_text(json.dumps({"before": before, "after": after, "ref": "refs/heads/main"}))
    return {
        "CI": "true", "GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": "push", "GITHUB_SHA": after,
        "GITHUB_REF": "refs/heads/main", "GITHUB_EVENT_PATH": str(event),
    }  # fmt: skip


def expect(ended: Ran, code: int) -> None:
    assert ended.code == code, str(ended)


def commit(directory: Path, message: str) -> None:
    git(directory, "add", "--all")
    git(directory, "commit", "-q", "--allow-empty", "-m", message)


def git(directory: Path, *arguments: str) -> str:
    """Run git without this machine's configuration."""
    env = {"PATH": os.environ["PATH"], "HOME": str(directory), "GIT_CONFIG_NOSYSTEM": "1"}
    own = ("user.name=Ada", "user.email=ada@acme.example", "commit.gpgsign=false", "maintenance.auto=false")
    options = [part for setting in own for part in ("-c", setting)]
    done = subprocess.run(
        ["git", *options, *arguments], cwd=directory, env=env, check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, f"git {arguments}: {done.stdout}{done.stderr}"
    return done.stdout.strip()
