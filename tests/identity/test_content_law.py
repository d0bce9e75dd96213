"""Nothing with content goes without an answer that named it, whatever happens to the files and to git.

Entries are removed, files are no longer included, keys and titles change, `prune`, `limits` and `protect`
are widened, lines of the ids file are lost, things are renamed by hand, a clone has one commit alone. And
somebody applies without looking.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

import pytest

from dpsync.model.diagnostic import DiagnosticError
from dpsync.server import world as worlds
from tests.soak import SOAK

from .past import Project, git

PLACES = {"spaces": "/spaces/{}", "teams": "/orgs/acme/teams/{}", "collections": "/collections/{}"}
TITLES = ("Guides", "News", "Archive", "Drafts", "Legacy")
STEPS = 8


@dataclass
class History:
    """A project of two files. `files` are their entries: by place and key the title."""

    project: Project
    random: Random
    files: tuple[dict[tuple[str, str], str], ...] = field(default_factory=lambda: ({}, {}))
    more: str = "parts/more.yaml"
    """Where the second file is; it is included below parts/ only."""
    prune: set[str] = field(default_factory=set)
    limits: int = 5
    log: list[str] = field(default_factory=list)

    def begin(self) -> None:
        titles = list(TITLES[:4])
        things = {place: [{"id": f"{place}-{title}", "title": title} for title in titles] for place in PLACES}
        self.project.content_may_go = False
        self.project.ids = {}
        self.project.holds(**things)
        for place in PLACES:
            for title in titles:
                self.random.choice(self.files)[place, f"k{title}"] = title
        self.save()
        self.commit()
        self.project.record()

    # What happens.

    def step(self) -> None:
        action: Callable[[], object] = self.random.choice(
            [self.remove, self.rename_key, self.rename_title, self.move_file, self.widen, self.by_hand,
             self.lose_lines, self.commit, self.less_history, self.clone, self.apply, self.apply]
        )  # fmt: skip
        self.log.append(action.__name__)
        action()
        self.save()

    def _some(self) -> tuple[dict[tuple[str, str], str], tuple[str, str]]:
        file = self.random.choice([one for one in self.files if one] or [{("spaces", "x"): "X"}])
        return file, self.random.choice(sorted(file))

    def remove(self) -> None:
        file, key = self._some()
        file.pop(key)

    def rename_key(self) -> None:
        file, (place, key) = self._some()
        file[place, f"{key}x"] = file.pop((place, key))

    def rename_title(self) -> None:
        file, key = self._some()
        file[key] = f"{file[key]} {len(self.log)}"

    def move_file(self) -> None:
        (self.project.directory / self.more).unlink(missing_ok=True)
        self.more = self.random.choice(["parts/more.yaml", "parts/deeper/more.yaml", "aside.yaml"])

    def widen(self) -> None:
        self.prune.add(self.random.choice(list(PLACES)))
        self.limits = self.random.choice([5, 99])

    def by_hand(self) -> None:
        place = self.random.choice(list(PLACES))
        id = self.random.choice(sorted(self.live(place)))
        with self.project.client() as client:
            body = {"title": f"By hand {len(self.log)}"}
            client.send("PATCH", PLACES[place].format(id), body, repeatable=False)

    def lose_lines(self) -> None:
        lines = self.project.ids or {}
        self.project.ids = {at: line for at, line in lines.items() if self.random.random() < 0.7}

    def commit(self) -> None:
        git(self.project.directory, "add", "--all")
        git(self.project.directory, "commit", "-q", "--allow-empty", "-m", "as it is")

    def less_history(self) -> None:
        self.project.base = self.random.choice([None, "HEAD", "HEAD"])

    def clone(self) -> None:
        """Go on in a clone of the last commit alone, as a job's, or in one that has the whole history."""
        cut = self.project.directory / ".git" / "shallow"
        if cut.exists():
            cut.unlink()
            self.project.env.pop("CI")
        else:
            cut.write_text(git(self.project.directory, "rev-parse", "HEAD") + "\n", "utf-8")
            self.project.env["CI"] = "true"

    def apply(self) -> None:
        before = {place: set(self.live(place)) for place in PLACES}
        try:
            plan = self.project.plan()
            if plan.can_apply:
                self.project.apply()
        except DiagnosticError:
            pass
        for place, ids in before.items():
            assert ids <= set(self.live(place)), f"{ids - set(self.live(place))} is gone: {self.log}"

    # The files and the platform.

    def save(self) -> None:
        if not (self.project.directory / ".git").exists():
            git(self.project.directory, "init", "-q", "-b", "main")
        (self.project.directory / "parts").mkdir(exist_ok=True)
        (self.project.directory / "parts/kept.yaml").write_text(_part({}), "utf-8")
        (self.project.directory / self.more).parent.mkdir(exist_ok=True, parents=True)
        (self.project.directory / self.more).write_text(_part(self.files[1]), "utf-8")
        limits = f"limits: {{ deletes: {self.limits}, percent: 100 }}"
        policy = f"{{ prune: [{', '.join(sorted(self.prune))}], {limits} }}"
        text = f"dpsync: 1\ninclude: ['parts/*.yaml']\npolicy: {policy}\n{_part(self.files[0], title='Acme')}"
        (self.project.directory / "dpsync.yaml").write_text(text, "utf-8")

    def live(self, place: str) -> list[str]:
        state = self.project.server.run_in_server(lambda: worlds.dump_world(self.project.server.app.store))
        (acme,) = state["organizations"]
        return [item["id"] for item in acme.get(place, []) if "deletedAt" not in item]


def _part(entries: dict[tuple[str, str], str], title: str | None = None) -> str:
    lines = ["organizations:", "  acme:", "    id: acme" if title else "    {}"]
    found: dict[str, list[str]] = {place: [] for place in PLACES if title}
    for (place, key), name in sorted(entries.items()):
        found.setdefault(place, []).append(f"{key}: {{ title: '{name}' }}")
    if found:
        lines[2] = "    id: acme" if title else ""
        lines += [f"    {place}: {{ {', '.join(items)} }}" for place, items in found.items() if items]
    return "\n".join(line for line in lines if line) + "\n"


@pytest.mark.parametrize("seed", range(300 if SOAK else 5))
def test_random_file_accidents_delete_no_unconfirmed_content(project: Project, seed: int) -> None:
    history = History(project, Random(seed))
    history.begin()
    for _ in range(STEPS):
        history.step()
    history.prune, history.limits = set(PLACES), 99
    history.save()
    for _ in ("as it is", "in a clone with more or with less of the past"):
        history.apply()
        history.clone()
