"""A simulated month: each label that dpsync prints is compared with what really happened.

Two people work in clones of one repository. They edit, commit, amend, merge, rebase and push. They apply to
two environments: the whole configuration or a part, from committed or edited files, from current or old
commits. Others change the platform by hand. The simulation knows who wrote each live value.
"""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml

from dpsync.server.process.threaded_server import ThreadedServer
from tests.by_hand import by_hand
from tests.machine.checkout import ROOT, Checkout
from tests.machine.checkout import document as printed
from tests.soak import seeds

from .platform import Platform

STEPS = 40
ENVIRONMENTS = {"production": "acme", "staging": "globex"}
"""The organization of each environment."""
PEOPLE = ("bo", "cy")
EMOJIS = ("1f600", "1f4d8", "1f680", "1f4a1", None)
ROLES = ("owner", "member", None)
EMOJI_KEYS = tuple(f"acme/spaces/{key}#emoji" for key in ("s0", "s1", "s2"))
MEMBER_KEYS = tuple(f"acme/teams/t{number}/members/{one}@acme.example" for number in (0, 1) for one in PEOPLE)
KEYS = EMOJI_KEYS + MEMBER_KEYS

Values = dict[str, str | None]
"""The value of each key; None if it is not declared, or not live."""


def _organization(id: str) -> dict[str, Any]:
    return {
        "id": id, "title": id.title(), "members": [{"user": "ada", "role": "admin"}]
        + [{"user": one, "role": "read"} for one in PEOPLE],
        "spaces": [{"id": f"{id}-s{number}", "title": f"S{number}"} for number in range(3)],
        "teams": [
            {"id": f"{id}-t{number}", "title": f"T{number}", "members": [{"user": "ada", "role": "owner"}]}
            for number in range(2)
        ],
    }  # fmt: skip


WORLD = {
    "users": [{"id": one, "displayName": one, "email": f"{one}@acme.example"} for one in ("ada", *PEOPLE)],
    "tokens": {"token": "ada"},
    "organizations": [_organization(id) for id in ENVIRONMENTS.values()],
}


def configuration(values: Values) -> str:
    spaces: dict[str, Any] = {f"s{number}": {"title": f"S{number}"} for number in range(3)}
    teams: dict[str, Any] = {
        f"t{number}": {"title": f"T{number}", "members": {"ada@acme.example": {"role": "owner"}}}
        for number in range(2)
    }
    for key, value in values.items():
        _, kind, name, *rest = key.partition("#")[0].split("/")
        if value is not None and kind == "spaces":
            spaces[name]["emoji"] = value
        elif value is not None:
            teams[name]["members"][rest[1]] = {"role": value}
    below = {name: {"organizations": {"acme": {"id": id}}} for name, id in ENVIRONMENTS.items()}
    return yaml.dump({
        "dpsync": 1, "policy": {"prune": ["teams/*/members"], "limits": {"deletes": 99, "percent": 100}},
        "environments": below, "organizations": {"acme": {"spaces": spaces, "teams": teams}},
    }, Dumper=yaml.CSafeDumper)  # fmt: skip


def declared(text: str) -> Values:
    """Return the value of each key in the text of a configuration."""
    acme = yaml.load(text, Loader=yaml.CSafeLoader)["organizations"]["acme"]
    found: Values = {key: acme["spaces"][key[12:14]].get("emoji") for key in EMOJI_KEYS}
    for key in MEMBER_KEYS:
        _, _, team, _, name = key.split("/")
        found[key] = acme["teams"][team]["members"].get(name, {}).get("role")
    return found


class Clone:
    """The clone of a person, with what is known about the person's last apply to each environment."""

    def __init__(self, checkout: Checkout) -> None:
        self.checkout = checkout
        self.applies: dict[str, tuple[str, int] | None] = {}
        """By environment: the commit, and how many writes there were; None if labels cannot follow."""

    @property
    def values(self) -> Values:
        return declared((self.checkout.directory / ROOT).read_text("utf-8"))

    @property
    def clean(self) -> bool:
        return not self.checkout.git("status", "--porcelain")

    @property
    def head(self) -> str:
        return self.checkout.git("rev-parse", "HEAD")

    def at(self, commit: str) -> Values:
        return declared(self.checkout.git("show", f"{commit}:{ROOT}"))


class Month:
    """The platform, the clones, and who wrote each live value."""

    def __init__(self, server: ThreadedServer, seed: int, directory: Path) -> None:
        self.server, self.random, self.directory = server, Random(seed), directory
        server.reset(WORLD)
        self.env = {
            "PATH": os.environ["PATH"], "HOME": str(directory), "XDG_STATE_HOME": str(directory / "state"),
            "DPSYNC_URL": server.url, "DPSYNC_TOKEN": "token", "NO_COLOR": "1",
        }  # fmt: skip
        first = Checkout(directory / "first", self.env)
        first.directory.mkdir()
        first.git("init", "-q", "-b", "main")
        (first.directory / ".gitignore").write_text(".dpsync/\n")
        values = dict.fromkeys(KEYS, ROLES[1]) | dict.fromkeys(EMOJI_KEYS, EMOJIS[0])
        (first.directory / ROOT).write_text(configuration(values))
        first.commit()
        first.git("clone", "-q", "--bare", str(first.directory), str(directory / "origin.git"))
        self.clones = [Clone(self.cloned(name)) for name in ("ada", "bo")]
        self.live = {name: self.read(name) for name in ENVIRONMENTS}
        self.writes: list[tuple[str, str, str | None]] = []
        """Environment, key and applied commit of each write; no commit for one from outside of git."""
        self.labels: Counter[str] = Counter()
        self.log: list[str] = []

    def cloned(self, name: str, *flags: str) -> Checkout:
        made = Checkout(self.directory / name, self.env)
        origin = f"file://{self.directory / 'origin.git'}"
        Checkout(self.directory, self.env).git("clone", "-q", *flags, origin, str(made.directory))
        return made

    # The platform.

    def read(self, environment: str) -> Values:
        id = ENVIRONMENTS[environment]
        found: Values = dict.fromkeys(KEYS)
        for key in EMOJI_KEYS:
            space = by_hand(self.server, "GET", f"/spaces/{id}-{key[12:14]}", token="token")
            found[key] = space.get("emoji")
        for number in range(2):
            listed = by_hand(self.server, "GET", f"/orgs/{id}/teams/{id}-t{number}/members", token="token")
            for item in listed["items"]:
                email = item["organization"]["user"]["email"]
                if (key := f"acme/teams/t{number}/members/{email}") in KEYS:
                    found[key] = item["team"]["role"]
        return found

    def note_writes(self, environment: str, commit: str | None) -> None:
        """Compare the platform with what it was: `commit` has written what differs."""
        now = self.read(environment)
        for key in KEYS:
            if now[key] != self.live[environment][key]:
                self.writes.append((environment, key, commit))
        self.live[environment] = now

    def change_by_hand(self) -> None:
        environment, key = self.random.choice(sorted(ENVIRONMENTS)), self.random.choice(KEYS)
        id = ENVIRONMENTS[environment]
        if key in EMOJI_KEYS:
            emoji = self.random.choice(EMOJIS[:-1])
            by_hand(self.server, "PATCH", f"/spaces/{id}-{key[12:14]}", {"emoji": emoji}, "token")
        else:
            _, _, team, _, email = key.split("/")
            path = f"/orgs/{id}/teams/{id}-{team}/members/{email.partition('@')[0]}"
            role = self.random.choice([one for one in ROLES if one != self.live[environment][key]])
            if role is None:
                by_hand(self.server, "DELETE", path, None, "token")
            else:
                by_hand(self.server, "PUT", path, {"role": role}, "token")
        self.note_writes(environment, None)
        self.log.append(f"by hand: {environment} {key} is {self.live[environment][key]}")

    # A person.

    def edit(self, clone: Clone) -> None:
        values = clone.values
        for key in self.random.sample(KEYS, self.random.randint(1, 3)):
            values[key] = self.random.choice(EMOJIS if key in EMOJI_KEYS else ROLES)
        (clone.checkout.directory / ROOT).write_text(configuration(values))

    def commit(self, clone: Clone) -> None:
        if clone.clean:
            self.edit(clone)
        clone.checkout.git("commit", "-q", "-a", "--allow-empty", "-m", "edit")

    def discard(self, clone: Clone) -> None:
        clone.checkout.git("checkout", "-q", "--", ".")

    def amend(self, clone: Clone) -> None:
        self.edit(clone)
        clone.checkout.git("commit", "-q", "-a", "--amend", "--allow-empty", "-m", "amended")

    def merge(self, clone: Clone) -> None:
        """Merge a branch whose commits have other values than the merge."""
        git = clone.checkout.git
        self.discard(clone)
        git("switch", "-q", "-C", "topic")
        self.commit(clone)
        git("checkout", "-q", "main", "--", ROOT)
        git("commit", "-q", "-a", "--allow-empty", "-m", "take back")
        git("switch", "-q", "main")
        git("merge", "-q", "--no-ff", "-m", "merge", "topic")

    def pull(self, clone: Clone) -> None:
        git = clone.checkout.git
        self.discard(clone)
        git("fetch", "-q", "origin")
        if self.random.random() < 0.5:
            git("rebase", "-q", "-X", "theirs", "origin/main", check=False)
            git("rebase", "--abort", check=False)
        else:
            git("reset", "-q", "--hard", "origin/main")

    def push(self, clone: Clone) -> None:
        clone.checkout.git("push", "-q", *(["-f"] if self.random.random() < 0.1 else []), "origin", "main",
                           check=False)  # fmt: skip

    def apply(self, clone: Clone) -> None:
        environment = self.random.choice(["production", "production", "staging"])
        parts = ["--no-delete"], ["--select", "acme/spaces/s0"], ["--select", "acme/teams/*"]
        flags = self.random.choice(parts) if self.random.random() < 0.25 else []
        clean, head = clone.clean, clone.head
        ran = clone.checkout.dpsync("apply", "--env", environment, "--yes", "--format", "json", *flags)
        assert ran.code in (0, 4), str(ran)
        self.note_writes(environment, head if clean else None)
        if ran.code == 4:
            self.log.append(f"refused: {[one['code'] for one in printed(ran)['plan']['plan']['refusals']]}")
            return
        if not flags and clean:
            clone.applies[environment] = head, len(self.writes)
        elif printed(ran)["report"] is not None:
            clone.applies[environment] = None
        self.log.append(
            f"{clone.checkout.directory.name}: apply {environment} {flags} {head[:7]} clean={clean}"
        )

    # Labels.

    def look(self, clone: Clone, checkout: Checkout | None = None) -> None:
        """Compare the labels that a command prints with the truth; `checkout` has a copy of the notes."""
        at = Clone(checkout) if checkout is not None else clone
        environment = self.random.choice(["production", "production", "staging"])
        command = self.random.choice(["plan", "drift", "drift"])
        base = self.random.choice([None, None, None, "HEAD", "HEAD~1"])
        flags = [] if base is None or checkout is not None else ["--base", base]
        ran = at.checkout.dpsync(command, "--env", environment, "--format", "json", *flags)
        if ran.code == 5 and flags == ["--base", "HEAD~1"]:
            return  # the first commit has no parent
        assert ran.code in (0, 2, 4), str(ran)
        for key, whole, label in self.printed(printed(ran)[command], command):
            truth = self.truth(clone, at, environment, key, whole, flags[1] if flags else None)
            self.labels[label or ("no label, as nothing is known" if not truth else "no label")] += 1
            said = "\n".join([*self.log, str(ran), f"{key}: {label}, but {truth}"])
            assert label is None or label in truth, said

    def printed(self, found: Any, command: str) -> Iterator[tuple[str, bool, str | None]]:
        """Yield key, whether the whole object is created or deleted, and label of each difference."""
        for item in found["changes" if command == "plan" else "found"]:
            address = item["address"].replace("[", "").replace("]", "")
            parts = item.get("differences", ()) if command == "plan" else item["fields"]
            if address in KEYS and (item.get("action") != "update" and item.get("what") != "different"):
                yield address, True, item["cause"]
                continue
            for part in parts:
                key = address if address in KEYS else f"{address}#{part['field']}"
                assert key in KEYS, key
                yield key, False, part["cause"]

    def truth(
        self, clone: Clone, at: Clone, environment: str, key: str, whole: bool, base: str | None
    ) -> set[str]:
        """Return the labels that are true; none if a label cannot follow from git."""

        def value(values: Values) -> str | bool | None:
            return values[key] is not None if whole else values[key]

        here, known = value(at.values), clone.applies.get(environment)
        since = self.since(clone, known[0], at.head) if known is not None else set()
        compared = at.checkout.git("rev-parse", base) if base is not None else None
        if compared is None and known is not None and since:
            compared = known[0]
        edited = compared is not None and value(clone.at(compared)) != here
        outside = known is not None and bool(since) and self.from_outside(environment, key, known[1], since)
        if edited:
            return {"both", "edited here"} if outside else {"edited here"}
        unchanged = known is not None and bool(since) and value(clone.at(known[0])) == here
        return {"changed outside"} if outside and unchanged else set()

    def since(self, clone: Clone, applied: str, head: str) -> set[str]:
        """Return the applied commit and the commits since then; nothing if `head` does not have it."""
        git = clone.checkout.git
        for name in ("ada", "bo", "origin.git"):  # so that this clone has all commits
            refs = f"+refs/heads/*:refs/all/{name}/*"
            git("fetch", "-q", str(self.directory / name), refs, check=False)
        if git("merge-base", applied, head, check=False) != applied:
            return set()
        return {applied, *git("rev-list", f"{applied}..{head}").split()}

    def from_outside(self, environment: str, key: str, writes: int, since: set[str]) -> bool:
        """Return whether the last of the later writes of a value was none of these commits."""
        commits = [
            commit for where, what, commit in self.writes[writes:] if (where, what) == (environment, key)
        ]
        return bool(commits) and commits[-1] not in since

    def look_in_shallow_clone(self, clone: Clone) -> None:
        """Look in a shallow clone of what was pushed, with the notes of another clone."""
        depth = str(self.random.randint(1, 6))
        name = f"shallow-{len(self.log)}-{sum(self.labels.values())}"
        shutil.rmtree(self.directory / name, ignore_errors=True)
        checkout = self.cloned(name, "--depth", depth)
        notes = clone.checkout.directory / ".dpsync"
        if notes.exists():
            shutil.copytree(notes, checkout.directory / ".dpsync")
        self.look(clone, checkout)
        shutil.rmtree(checkout.directory)

    def run(self) -> None:
        often = [self.commit, self.apply, self.look]
        seldom = [self.edit, self.discard, self.amend, self.merge, self.pull, self.push]
        self.apply(self.clones[0])
        for _ in range(STEPS):
            clone = self.clones[self.random.random() < 0.3]
            chance = self.random.random()
            if chance < 0.25:
                self.change_by_hand()
                if self.random.random() < 0.5:
                    self.look(clone)
            elif chance < 0.35:
                self.look_in_shallow_clone(clone)
            else:
                self.act(clone, self.random.choice(often if chance < 0.8 else seldom))

    def act(self, clone: Clone, action: Callable[[Clone], None]) -> None:
        if action not in (self.look, self.apply):
            self.log.append(f"{clone.checkout.directory.name}: {action.__name__}")
        action(clone)


@pytest.mark.parametrize("seed", seeds(3, 60))
def test_drift_labels_match_simulated_history(platform: Platform, seed: int, tmp_path: Path) -> None:
    """Otherwise, somebody is blamed for the change of somebody else."""
    month = Month(platform.server, seed, tmp_path)
    month.run()
    print(json.dumps(month.labels))
