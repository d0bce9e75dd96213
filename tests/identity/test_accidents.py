"""Random histories of accidents: things are renamed, copied, deleted and made again by hand and in the files.

Whoever applies never looks. So: what is not asked about must be right. No content object is lost or doubled,
and with an ids file no declared entry is ever taken for another object.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest

from dpsync.model.plan import Plan
from tests.soak import seeds

from .past import Project, git

TITLES = ["Guides", "Handbook", "News", "Release 1", "Release 2", "API", "Changelog"]
SEEDS = seeds(4, 400)
WITHOUT_LINES = seeds(2, 200)
STEPS = 14
PRUNED = "{ prune: [spaces, sites/docs/structure], limits: { deletes: 99, percent: 100 }, removed: [NAMED] }"


@dataclass
class History:
    """A platform, the files, and what only its writer knows: which object each entry is of right."""

    project: Project
    random: Random
    records: bool
    commits: bool
    remembers: bool = True
    """Whether lines or a git base say what was there before."""
    titles: dict[str, str] = field(default_factory=dict)
    """By object, what it is called on the platform."""
    meant: dict[str, str | None] = field(default_factory=dict)
    """By entry, the object that it is; None for one that is to be made."""
    wanted: dict[str, str] = field(default_factory=dict)
    """By entry, its title in the file."""
    answers: dict[str, str] = field(default_factory=dict)
    removed: set[str] = field(default_factory=set)
    """Objects that may go: their entries were taken out of the files on purpose."""
    log: list[str] = field(default_factory=list)

    def begin(self) -> None:
        self.project.content_may_go = False
        for number in range(3):
            title = TITLES[number]
            id = self._send("POST", "/orgs/acme/spaces", {"title": title})["id"]
            self.titles[id], self.meant[f"k{number}"], self.wanted[f"k{number}"] = title, id, title
        self.write()
        if self.commits:
            self.commit()
        self.apply()

    # What people do.

    def step(self) -> None:
        actions = [self.rename_live, self.rename_entry, self.exchange, self.new_key, self.add]
        actions += [self.make_by_hand, self.remove, self.new_key_and_title, self.apply, self.apply]
        actions += [self.commit] if self.commits else []
        actions += [self.copy] if self.records else []
        action = self.random.choice(actions)
        self.log.append(action.__name__)
        action()
        self.write()

    def rename_live(self) -> None:
        """Without lines a name that was anybody's would be taken for that one, by everybody."""
        id = self.random.choice(sorted(self.titles))
        title = self.random.choice(TITLES) if self.records else f"Renamed {len(self.log)}"
        self._send("PATCH", f"/spaces/{id}", {"title": title})
        self.titles[id] = title

    def rename_entry(self) -> None:
        if self.wanted:
            self.wanted[self.random.choice(sorted(self.wanted))] = self._free_title()

    def exchange(self) -> None:
        if len(self.wanted) > 1:
            one, other = self.random.sample(sorted(self.wanted), 2)
            self.wanted[one], self.wanted[other] = self.wanted[other], self.wanted[one]

    def copy(self) -> None:
        """Rename an object and create a copy with its old title."""
        id = self.random.choice(sorted(self.titles))
        title = self.titles[id]
        self._send("PATCH", f"/spaces/{id}", {"title": f"{title} (old)"})
        self.titles[id] = f"{title} (old)"
        self.titles[self._send("POST", "/orgs/acme/spaces", {"title": title})["id"]] = title

    def make_by_hand(self) -> None:
        title = self.random.choice(TITLES)
        self.titles[self._send("POST", "/orgs/acme/spaces", {"title": title})["id"]] = title

    def new_key(self) -> None:
        if self.wanted:
            old, new = self.random.choice(sorted(self.wanted)), f"k{len(self.log) + 10}"
            self.wanted[new], self.meant[new] = self.wanted.pop(old), self.meant.pop(old)
            self.answers.pop(old, None)

    def new_key_and_title(self) -> None:
        if self.wanted:
            self.new_key()
            self.wanted[list(self.wanted)[-1]] = self._free_title()

    def add(self) -> None:
        key = f"k{len(self.log) + 100}"
        self.wanted[key], self.meant[key] = self._free_title(), None

    def remove(self) -> None:
        if len(self.wanted) > 1:
            key = self.random.choice(sorted(self.wanted))
            del self.wanted[key]
            if (id := self.meant.pop(key)) is not None:
                self.removed.add(id)

    def commit(self) -> None:
        self.project.commit(self.text(), self.policy())

    def apply(self) -> None:
        """As a job at night does: what is asked is answered the next morning, by somebody who knows."""
        self.write()
        before = self.live()
        for _ in range(3):
            plan = self.project.plan_if_clear()
            if plan is not None and plan.can_apply:
                self.check(plan)
                self.project.apply()
                self.settle(before)
                return
            assert self.live() == before, "something was written though it was asked"
            self.answer(plan)

    # What must hold.

    def check(self, plan: Plan) -> None:
        """Nothing that this plan does, unasked, is wrong."""
        for change in plan.changes:
            if change.kind != "space":
                continue
            key = change.address.rpartition("/")[2]
            if change.action == "delete":
                assert change.id in self.removed, f"{change.address} ({change.id}) would be lost: {self}"
            elif change.action == "create" and self.remembers:
                assert self.meant[key] is None, f"{key} is {self.meant[key]} and would be doubled: {self}"
            elif self.records or key in self.answers:
                assert change.id == self.meant[key] or self.meant[key] is None, f"{key}: {self}"

    def answer(self, _plan: Plan | None) -> None:
        """Every entry says which one it is."""
        for key, id in self.meant.items():
            self.answers[key] = f"id: {id}" if id is not None else "new: true"
        going = set(self.titles) - {id for id in self.meant.values() if id is not None}
        self.removed |= going  # each of them is named in the policy from now on
        self.write()

    def settle(self, _before: dict[str, str]) -> None:
        """Record the objects that were created as the intended objects of their entries."""
        now = self.live()
        bindings = self.project.plan().bindings
        for key in self.meant:
            if self.meant[key] is None:
                self.meant[key] = bindings.get(f"acme/spaces/{key}")
        self.titles = now
        # A line that still names an object of an entry would say that this object may go.
        self.removed = {id for id in self.removed if id in now and id not in self.meant.values()}
        self.answers.clear()
        if self.remembers and not self.records:
            self.commit()
            self.project.base = git(self.project.directory, "rev-parse", "HEAD")

    # The files and the platform.

    def text(self) -> str:
        entries = [
            f'  {key}: {{ title: "{title}"' + (f", {self.answers[key]}" if key in self.answers else "") + " }"
            for key, title in self.wanted.items()
        ]
        return "spaces:\n" + "\n".join(entries)

    def policy(self) -> str:
        named = (f"'spaces/[{title}~{id}]'" for id, title in self.live().items() if id in self.removed)
        return PRUNED.replace("NAMED", ", ".join(named))

    def write(self) -> None:
        self.project.write(self.text(), self.policy())

    def live(self) -> dict[str, str]:
        return {id: str(title) for id, title in self.project.live("spaces").items()}

    def _free_title(self) -> str:
        """Return a title that no entry has, nor the object of an entry.

        An entry with the title of an object whose own entry got another key and title at once looks like that
        entry under a new key. Nobody can tell, and dpsync does not ask about changed keys.
        """
        taken = {*self.wanted.values(), *(self.titles.get(id or "") for id in self.meant.values())}
        free = [title for title in TITLES if title not in taken]
        return self.random.choice(free) if free else f"Title {len(self.log)}"

    def _send(self, method: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
        with self.project.client() as client:
            answer = client.send(method, path, body, repeatable=False)
            assert isinstance(answer.body, dict)
            return answer.body

    def __str__(self) -> str:
        return f"{self.log}\nlive {self.titles}\nmeant {self.meant}\nfile {self.wanted}"


@pytest.mark.parametrize("seed", SEEDS)
def test_file_accidents_with_ids_file_delete_no_content(project: Project, seed: int) -> None:
    history = History(project.holds(), Random(seed), records=True, commits=seed % 2 == 0)
    project.ids = {}
    history.begin()
    for _ in range(STEPS):
        history.step()
    history.apply()


@pytest.mark.parametrize("seed", WITHOUT_LINES)
def test_file_accidents_with_git_base_delete_no_content(project: Project, seed: int) -> None:
    """What was applied last is the base, as in a pipeline."""
    history = History(project.holds(), Random(seed), records=False, commits=False)
    history.begin()
    for _ in range(STEPS):
        history.step()
    history.apply()


@pytest.mark.parametrize("seed", WITHOUT_LINES)
def test_accidents_without_history_lose_no_content(project: Project, seed: int) -> None:
    """What was there before nobody knows, so something may be made twice; but nothing goes unasked."""
    history = History(project.holds(), Random(seed), records=False, commits=False, remembers=False)
    history.begin()
    for _ in range(STEPS):
        history.step()
    history.apply()
