"""Short histories with a known truth: what a plan says of each difference is right, or that nobody can tell.

Files are committed, applied or not, and changed by hand on the platform; then they are edited. What nobody
can know has two labels that are right: what somebody puts back by hand to what an earlier commit said is
"not applied yet".
"""

from __future__ import annotations

from collections import Counter
from copy import deepcopy
from dataclasses import dataclass, field
from random import Random
from typing import Any

from dpsync.planner.plan import make_plan
from tests.soak import examples

from .stages import Case

ADA, LIN = "ada@acme.example", "lin@acme.example"
Thing = tuple[str, str]
Files = dict[Thing, dict[str, Any]]
VALUES: dict[str, tuple[str, list[Any]]] = {
    "space": ("emoji", ["A", "B", "C", None]),
    "team_member": ("role", ["owner", "member"]),
}
"""Of the kinds that change: a field of them, and its values. Those of the second have no line."""
THINGS: list[Thing] = [("space", "s"), ("space", "t"), ("space", "u"), ("team_member", f"a/{ADA}"),
                       ("team_member", f"a/{LIN}")]  # fmt: skip
FOUND = ("space", "v")
"""Somebody may make it by hand, and the files begin with it later."""
OUTSIDE, HERE, YET, UNKNOWN = "changed outside", "edited here", "not applied yet", "origin unknown"


@dataclass
class History:
    """What was committed, what is live, and who has made that so. It begins with an apply."""

    random: Random
    commits: list[Files] = field(default_factory=list)
    live: Files = field(default_factory=dict)
    applied: Files = field(default_factory=dict)
    """The files of the last apply."""
    lines: set[Thing] = field(default_factory=set)
    by_hand: set[Thing] = field(default_factory=set)
    """Whose field somebody has changed on the platform since the last apply."""

    def begin(self) -> None:
        chosen = [thing for thing in THINGS if self.random.random() < 0.7]
        self.commits.append({thing: self._fields(thing[0]) for thing in chosen})
        self.apply()

    def _fields(self, kind: str) -> dict[str, Any]:
        name, values = VALUES[kind]
        named = kind == "team_member" or self.random.random() < 0.7
        return {name: self.random.choice(values)} if named else {}

    def edited(self, files: Files) -> Files:
        """Other files: a field, or a whole entry."""
        files = deepcopy(files)
        for _ in range(self.random.choice([1, 1, 2])):
            thing = self.random.choice([*THINGS, FOUND])
            if thing in files and self.random.random() < 0.3:
                del files[thing]
            else:
                files[thing] = self._fields(thing[0])
        return files

    def apply(self) -> None:
        files = self.commits[-1]
        for thing in [thing for thing in self.live if thing not in files]:
            del self.live[thing]
            self.lines.discard(thing)
        for thing, fields in files.items():
            self.live.setdefault(thing, {}).update(fields)
        self.lines |= {thing for thing in files if thing[0] == "space"} | {("team", "a")}
        self.applied, self.by_hand = deepcopy(files), set()

    def hand(self) -> None:
        if self.live and self.random.random() < 0.8:
            thing = self.random.choice(sorted(self.live))
            name, values = VALUES[thing[0]]
            if self.random.random() < 0.3:
                del self.live[thing]
            elif (value := self.random.choice(values)) != self.live[thing].get(name):
                self.live[thing][name] = value
                self.by_hand.add(thing)
        elif not any(FOUND in then for then in self.commits):
            self.live[FOUND] = {"emoji": "C"}
        else:
            self.live["space", f"hand{len(self.live)}"] = {}

    def case(self, files: Files) -> Case:
        """The plan of these files, with the last commit as its base."""
        *earlier, base = self.commits
        return Case(
            _things(files), _things(self.live), prune=["spaces", "teams/*/members"], base=_things(base),
            earlier=[*(_things(then) for then in reversed(earlier)), {}], lines=sorted(self.lines),
        )  # fmt: skip

    # The truth.

    def right(self, thing: Thing, files: Files) -> set[str]:
        """What may be said of a thing that is on one side only, or whose field differs."""
        base = self.commits[-1]
        if thing not in files:
            if thing in base:
                return {HERE}
            return {YET} if any(thing in then for then in self.commits) else {OUTSIDE}
        if thing not in self.live:
            if thing not in base:
                return {HERE}
            # Where somebody deleted it, and the entry went and came back, both are true.
            right = {OUTSIDE} if thing in self.applied else {YET}
            right |= {OUTSIDE} if thing in self.lines else set()
            added = thing[0] == "team_member" and any(thing not in then for then in self.commits)
            return right | ({UNKNOWN} if added else set())
        return self._of_field(thing, files[thing], base.get(thing, {}))

    def _of_field(self, thing: Thing, here: dict[str, Any], base: dict[str, Any]) -> set[str]:
        name, _ = VALUES[thing[0]]
        now = self.live[thing].get(name)
        if name not in base or base[name] == now:
            return {HERE}
        edited = here[name] != base[name]
        was_said = any(then.get(thing, {}).get(name, "nothing") == now for then in self.commits[:-1])
        was_applied = self.applied.get(thing, {}).get(name, "nothing") == base[name]
        right = {"both" if edited else OUTSIDE} if was_applied or thing in self.by_hand else set()
        if was_said or not was_applied:
            right |= {HERE if edited else YET}
        if edited and not was_applied and not was_said:
            right |= {"both"}  # it is something that no commit said: look at it
        # The field, or the entry where that has no line, was added after one of them: applied, or not?
        added = any(
            name not in then[thing] if thing in then else thing[0] == "team_member"
            for then in self.commits[:-1]
        )
        return right | ({UNKNOWN} if added and not edited else set())


def _things(files: Files) -> dict[str, dict[str, dict[str, Any]]]:
    found: dict[str, dict[str, dict[str, Any]]] = {
        "member": {ADA: {"role": "admin"}, LIN: {"role": "read"}},
        "team": {"a": {"title": "A"}},
        "space": {},
        "team_member": {},
    }
    for (kind, path), fields in files.items():
        found[kind][path] = {**({"title": path} if kind == "space" else {}), **fields}
    return found


def told(history: History, files: Files) -> dict[Thing, str]:
    """The label of each difference, by the thing."""
    found: dict[Thing, str] = {}
    for change in make_plan(history.case(files).sides()).changes:
        kind, key = change.kind, change.address.rpartition("/")[2].strip("[]")
        thing = (kind, key if kind == "space" else f"a/{key}")
        cause = change.cause or (change.differences[0].cause if change.differences else None)
        if cause is not None:
            found[thing] = cause
    return found


def test_a_label_is_right_or_says_that_nobody_can_tell() -> None:
    seen: Counter[str] = Counter()
    for seed in range(examples(300, 20_000)):
        history = History(Random(seed))
        history.begin()
        for _ in range(history.random.randrange(5)):
            match history.random.choice(["commit", "commit", "apply", "hand"]):
                case "commit":
                    history.commits.append(history.edited(history.commits[-1]))
                case "apply":
                    history.apply()
                case _:
                    history.hand()
        last = history.commits[-1]
        files = history.edited(last) if history.random.random() < 0.5 else last
        for thing, label in told(history, files).items():
            right = history.right(thing, files)
            assert label in right, (seed, thing, label, right)
            seen[label] += 1
    assert seen.keys() == {OUTSIDE, HERE, YET, UNKNOWN, "both"}
    assert seen[UNKNOWN] < seen.total() / 6, seen


def test_after_one_commit_that_was_applied_whatever_differs_was_changed_outside() -> None:
    labels: Counter[str] = Counter()
    for seed in range(examples(80, 5_000)):
        history = History(Random(seed))
        history.begin()
        for _ in range(3):
            history.hand()
        labels += Counter(told(history, history.commits[-1]).values())
    assert labels.keys() == {OUTSIDE}
