"""Accidents with files and git delete no content that nobody decided about, and make nothing twice.

A random organization is managed by several files in git. Then something goes wrong: a file is lost, renamed
or cut, a merge is resolved badly, an old commit is checked out. Nobody answers a question and nobody gives
`--confirm`: plans without a refusal are applied, as with `--yes`.

`DPSYNC_SEED=1 DPSYNC_EXAMPLES=200 python -m pytest tests/properties/test_deletes.py` runs 200 accidents.
"""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from subprocess import CalledProcessError
from typing import Any

import pytest

from dpsync.api import IdsOnDisk, Options, Session, load, load_base, load_ids
from dpsync.model.diagnostic import DiagnosticError
from dpsync.server import world as worlds
from tests.identity.past import git
from tests.soak import examples

from .configurations import TOKEN
from .platform import REGISTRY, Platform

SEED = int(os.environ.get("DPSYNC_SEED", "0"))
EXAMPLES = int(os.environ.get("DPSYNC_EXAMPLES", "0")) or examples(30, 300)
PLACES = ("teams", "collections", "spaces")
FILES = ("dpsync.yaml", "parts/a.yaml", "parts/b.yaml", "prod.yaml")
TITLES = ("Guides", "News", "Archive", "Drafts", "Legacy", "Old API")
APPLIES = 3

Key = tuple[str, str]
"""The place and the title of an object."""


class Accident:
    """A project, its platform, and what a person visibly removed.

    `entries` are the files: by name the keys of its entries. `removable` are the objects that `--yes` may
    delete: a person visibly removed the entry while `prune` was in effect, and nobody uses the object.
    """

    def __init__(self, platform: Platform, seed: int, directory: Path) -> None:
        self.platform, self.random, self.directory = platform, Random(seed), directory
        self.log: list[str] = []
        self.used: set[Key] = set()
        self.removable: set[Key] = set()
        self.entries: dict[str, list[Key]] = {name: [] for name in FILES}
        self.prune = self.random.random() < 0.7
        self.records = self.random.random() < 0.7
        self.layers: dict[str, Any] = self.random.choice(
            [{}, {}, {"overlays": [Path("prod.yaml")]}, {"environment": "prod"}]
        )
        self.include, self.ci = "parts/*.yaml", False
        self._fill()
        self.save()
        git(directory, "init", "-q", "-b", "main")
        self.commit()
        self.apply()
        assert self.log == ["apply: done"]
        self.commit()

    def _fill(self) -> None:
        layered = bool(self.layers)
        names = [name for name in FILES if name != "prod.yaml" or layered]
        world: dict[str, list[dict[str, Any]]] = {}
        for place in PLACES:
            world[place] = [
                {"id": f"{place}-{number}", "title": title} for number, title in enumerate(TITLES)
            ]
            for item in world[place]:
                one = place, item["title"]
                if place == "spaces" or self.random.random() < 0.5:
                    self.used.add(one)
                    if place == "teams":
                        item["members"] = [{"user": "ada"}]
                    if place == "collections":
                        item["permissions"] = {"users": {"ada": "read"}}
        apart = self.random.random() < 0.6  # one file has only objects that nobody uses
        for one in ((place, title) for place in PLACES for title in TITLES):
            fitting = names
            if apart:
                fitting = [name for name in names if (name == "parts/b.yaml") != (one in self.used)]
            self.entries[self.random.choice(fitting)].append(one)
        ada = {"id": "ada", "displayName": "ada", "email": "ada@acme.example"}
        acme = {"id": "acme", "title": "Acme", "members": [{"user": "ada", "role": "admin"}], **world}
        self.platform.server.reset({"users": [ada], "tokens": {TOKEN: "ada"}, "organizations": [acme]})

    # The files.

    def save(self) -> None:
        """Write every file that is there."""
        prune = f"prune: [{', '.join(PLACES)}], " if self.prune else ""
        limits = "limits: { deletes: 99, percent: 100 }"
        environments = (
            "environments: { prod: { overlay: prod.yaml } }\n" if "environment" in self.layers else ""
        )
        head = f"dpsync: 1\ninclude: ['{self.include}']\npolicy: {{ {prune}{limits} }}\n{environments}"
        for name, entries in self.entries.items():
            if name == "prod.yaml" and not self.layers:
                continue
            (self.directory / name).parent.mkdir(parents=True, exist_ok=True)
            text = head + _text(entries, "id: acme") if name == FILES[0] else _text(entries)
            (self.directory / name).write_text(text, encoding="utf-8")

    def commit(self) -> None:
        git(self.directory, "add", "--all")
        git(self.directory, "commit", "-q", "--allow-empty", "-m", "as it is")

    def sometimes_commit(self) -> None:
        for _ in range(self.random.choice([0, 1, 1, 2])):
            self.commit()

    def _file(self) -> str:
        return self.random.choice([name for name in FILES[1:3] if self.entries[name]] or ["parts/a.yaml"])

    def _visibly(self, removed: list[Key]) -> None:
        """Record that a person removed these entries, so that `prune` may delete their objects."""
        if self.prune:
            self.removable |= {key for key in removed if key not in self.used}

    # What happens.

    def remove_entry(self) -> None:
        name = self._file()
        if self.entries[name]:
            self._visibly([self.entries[name].pop(self.random.randrange(len(self.entries[name])))])
        self.save()

    def delete_file(self) -> None:
        self._visibly(self.entries.pop("parts/b.yaml"))
        (self.directory / "parts/b.yaml").unlink()

    def lose_include(self) -> None:
        self.include = "parts/a.yaml"
        self.save()

    def move_out(self) -> None:
        """Move the file to another directory of the project."""
        (self.directory / "elsewhere").mkdir()
        shutil.move(self.directory / "parts/b.yaml", self.directory / "elsewhere/b.yaml")
        self.entries.pop("parts/b.yaml")

    def rename_and_edit(self) -> None:
        """Remove an entry and change the file's extension at once, so that nothing reads the file."""
        kept = self.entries.pop("parts/b.yaml")
        (self.directory / "parts/b.yaml").unlink()
        (self.directory / "parts/c.yaml.bak").write_text(_text(kept[1:]), encoding="utf-8")
        git(self.directory, "add", "--all")

    def cut_file(self) -> None:
        name = self._file()
        text = (self.directory / name).read_text(encoding="utf-8")
        cut = self.random.randrange(len(text))
        if text[:cut].endswith("\n"):
            cut -= 1
        (self.directory / name).write_text(text[:cut], encoding="utf-8")

    def ignore_file(self) -> None:
        """Delete the file and add it to .gitignore: the author keeps the file, another clone lacks it."""
        git(self.directory, "rm", "-q", "--cached", "parts/b.yaml")
        (self.directory / ".gitignore").write_text("b.yaml\n", encoding="utf-8")
        self.commit()
        (self.directory / "parts/b.yaml").unlink()

    def check_out_sparsely(self) -> None:
        git(self.directory, "sparse-checkout", "set", "--no-cone", "/*", "!/parts/b.yaml")

    def merge_badly(self) -> None:
        """Two branches edit a file, and the merge drops what one of them has."""
        git(self.directory, "checkout", "-q", "-b", "feature")
        self.entries["parts/a.yaml"].append(("teams", "Of the branch"))
        self.save()
        self.commit()
        git(self.directory, "checkout", "-q", "main")
        git(self.directory, "merge", "-q", "--no-ff", "--no-commit", "feature")
        lost = self.entries["parts/a.yaml"][:-1][:2]
        self.entries["parts/a.yaml"] = self.entries["parts/a.yaml"][2:]
        self._visibly(lost)
        self.save()
        self.commit()

    def revert_commit(self) -> None:
        new = "teams", "New here"
        self.entries["parts/a.yaml"].append(new)
        self.save()
        self.commit()
        self.apply()
        git(self.directory, "add", "--all")
        git(self.directory, "commit", "-q", "--allow-empty", "-m", "ids")
        self.entries["parts/a.yaml"].remove(new)
        self._visibly([new])
        self.save()

    def rebase_commit(self) -> None:
        """Remove the commit that added an entry from the history."""
        start = git(self.directory, "rev-parse", "HEAD")
        new = "teams", "New here"
        self.entries["parts/a.yaml"].append(new)
        self.save()
        self.commit()
        self.apply()
        git(self.directory, "reset", "-q", "--hard", start)

    def check_out_older_commit(self) -> None:
        start = git(self.directory, "rev-parse", "HEAD")
        self.entries["parts/a.yaml"] += [("teams", "Newer"), ("spaces", "Newer")]
        self.save()
        self.commit()
        self.apply()
        self.commit()
        git(self.directory, "checkout", "-q", start)

    def check_out_other_branch(self) -> None:
        git(self.directory, "branch", "other")
        self.check_out_older_commit()
        git(self.directory, "checkout", "-q", "other")

    def forget_layers(self) -> None:
        self.layers = {}

    def clone_shallowly(self) -> None:
        """Clone with one commit, as a job does; the file may have been deleted in an earlier commit."""
        if self.random.random() < 0.5:
            self._lose_in_git()
        clone = self.directory.with_name("clone")
        git(self.directory, "clone", "-q", "--depth", "1", self.directory.as_uri(), str(clone))
        self.directory, self.ci = clone, True

    def _lose_in_git(self) -> None:
        self.entries.pop("parts/b.yaml")
        git(self.directory, "rm", "-q", "parts/b.yaml")
        self.commit()
        self.commit()

    def lose_ids_file(self) -> None:
        (self.directory / "dpsync.ids.yaml").unlink(missing_ok=True)

    def add_prune_with_removal(self) -> None:
        """Remove an entry and add `prune` in one change, in separate files."""
        if self.prune:
            return
        name = self._file()
        self.entries[name] = self.entries[name][1:]
        self.prune = True
        self.save()

    def add_prune_later(self) -> None:
        """Add `prune` after an entry was removed without it and an apply kept the object."""
        before = set(self.removable)
        self.prune = False
        self.save()
        self.commit()
        self.remove_entry()
        self.commit()
        self.apply()
        self.prune, self.removable = True, before
        self.save()

    ORDINARY = ("remove_entry", "delete_file")
    DAMAGE = (
        "lose_include", "move_out", "rename_and_edit", "cut_file", "ignore_file", "check_out_sparsely",
        "merge_badly", "revert_commit", "rebase_commit", "check_out_older_commit", "check_out_other_branch",
        "forget_layers", "clone_shallowly", "lose_ids_file", "add_prune_with_removal", "add_prune_later",
    )  # fmt: skip

    def happens(self, names: tuple[str, ...]) -> None:
        name = self.random.choice(names)
        self.log.append(name)
        action: Callable[[], None] = getattr(self, name)
        try:
            action()
        except (OSError, KeyError, CalledProcessError) as impossible:  # after another accident
            self.log.append(f"not possible: {impossible!r}")

    # An apply that asks nobody.

    def apply(self) -> None:
        """Apply the plan if nothing is refused, and compare what is live before and after."""
        before = self.live()
        root, ids = self.directory / "dpsync.yaml", self.directory / "dpsync.ids.yaml"
        env = {"CI": "true", "GITHUB_EVENT_NAME": "push"} if self.ci else {}
        overlays = [self.directory / name for name in self.layers.get("overlays", ())]
        layers = {**self.layers, "overlays": overlays}
        try:
            base = load_base(root, None, env, REGISTRY, ids=ids, **layers)
            session = Session(load(root, env, REGISTRY, **layers), REGISTRY, 1, base, load_ids(ids, REGISTRY))
            with self.platform.client() as client:
                planned = session.plan(client, Options())
                self.log.append(f"apply: {[one.code for one in planned.plan.refusals] or 'done'}")
                if planned.plan.can_apply:
                    store = IdsOnDisk(ids, REGISTRY.with_all_kinds) if self.records else None
                    session.apply(client, planned, ids=store)
        except DiagnosticError as refused:
            self.log.append(f"apply: {[one.code for one in refused.findings]}")
        self._check(before, self.live())

    def _check(self, before: Counter[Key], after: Counter[Key]) -> None:
        lost, twins = before - after, {key: count for key, count in after.items() if count > 1}
        undecided = set(lost) - self.removable
        assert not undecided, f"{undecided} was deleted: {self.log}"
        assert not twins, f"{twins} were made twice: {self.log}"

    def live(self) -> Counter[Key]:
        server = self.platform.server
        (acme,) = server.run_in_server(lambda: worlds.dump_world(server.app.store))["organizations"]
        return Counter(
            (place, item["title"])
            for place in PLACES
            for item in acme.get(place, [])
            if "deletedAt" not in item
        )


def _text(entries: list[Key], organization: str = "") -> str:
    """Return a file with one line for each entry."""
    lines = ["organizations:", "  acme:" if entries or organization else "  acme: {}"]
    lines += [f"    {organization}"] if organization else []
    for place in PLACES:
        titles = sorted(title for where, title in entries if where == place)
        lines += [f"    {place}:"] if titles else []
        lines += [f"      {key(title)}: {{ title: {title} }}" for title in titles]
    return "\n".join(lines) + "\n"


def key(title: str) -> str:
    return title.lower().replace(" ", "-")


@pytest.mark.parametrize("seed", range(SEED, SEED + EXAMPLES))
def test_unattended_apply_after_file_accidents_preserves_content(
    platform: Platform, seed: int, tmp_path: Path
) -> None:
    """Otherwise, `apply --yes` deletes a space because a file was renamed."""
    (tmp_path / "project").mkdir()
    accident = Accident(platform, seed, tmp_path / "project")
    if accident.random.random() < 0.5:
        accident.happens(accident.ORDINARY)
        accident.sometimes_commit()
    accident.happens(accident.DAMAGE)
    if accident.random.random() < 0.3:
        accident.sometimes_commit()
        accident.happens(accident.DAMAGE)
    for _ in range(APPLIES):
        accident.apply()
        if accident.random.random() < 0.3:
            accident.sometimes_commit()
