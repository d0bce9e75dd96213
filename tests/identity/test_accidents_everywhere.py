"""Random accidents in a whole organization: collections, the spaces in them, and the sites that show them.

What test_accidents.py does to spaces is done to everything that holds content, together: things are deleted
and made again by hand, moved between collections, committed or not, in clones without a past, and the
process dies while it applies. Nobody looks. What is not asked about must be right, also what a site shows.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest

from dpsync.client.errors import RejectedError
from dpsync.model.plan import Plan
from dpsync.server import world as worlds
from tests.soak import seeds

from .past import Project, git

TITLES = ["Guides", "Handbook", "News", "Release 1", "Release 2", "API", "Changelog"]
MADE_AT = {
    "collections": "/orgs/acme/collections",
    "spaces": "/orgs/acme/spaces",
    "sites": "/orgs/acme/sites",
}
ITSELF = {"collections": "/collections/{}", "spaces": "/spaces/{}", "sites": "/orgs/acme/sites/{}"}
FAMILY = {"collection": "collections", "space": "spaces", "site": "sites"}
KEYS = {"collections": "c", "spaces": "p", "sites": "w"}
SEEDS = seeds(4, 400)
STEPS = 14
POLICY = (
    "{ prune: [collections, spaces, sites, sites/*/structure], limits: { deletes: 99, percent: 100 }MORE }"
)


@dataclass
class Entry:
    """What stands in the file, and what only its writer knows: which object it is of right."""

    title: str
    object: str | None = None
    """None for one that is to be made."""
    inside: str | None = None
    """The key of its collection."""
    shows: list[str] = field(default_factory=list)
    """The keys of the spaces that a site shows."""
    answer: str = ""


@dataclass
class History:
    project: Project
    random: Random
    commits: bool
    entries: dict[str, dict[str, Entry]] = field(default_factory=lambda: {family: {} for family in MADE_AT})
    removed: set[str] = field(default_factory=set)
    """Objects that may go: their entries were taken out on purpose, or a number was confirmed."""
    log: list[str] = field(default_factory=list)
    applied: int = 0

    def begin(self) -> None:
        self.project.content_may_go = False
        for number in range(2):
            self.entries["collections"][f"c{number}"] = Entry(TITLES[number])
        for number in range(4):
            self.entries["spaces"][f"p{number}"] = Entry(TITLES[number], inside=f"c{number % 2}")
        for number in range(2):
            shows = [f"p{number}", f"p{number + 2}"]
            self.entries["sites"][f"w{number}"] = Entry(TITLES[number], shows=shows)
        self.write()
        if self.commits:
            self.commit()
        self.apply()

    def step(self) -> None:
        by_hand = [self.rename, self.exchange_by_hand, self.copy, self.make, self.delete, self.make_again]
        by_hand += [self.move_by_hand, self.rename, self.copy]
        in_file = [self.retitle, self.exchange, self.new_key, self.new_key_and_title, self.add, self.remove]
        in_file += [self.move, self.show_another]
        run = [self.apply, self.apply, self.die] + ([self.commit, self.forget_past] if self.commits else [])
        action = self.random.choice([self.random.choice(kind) for kind in (by_hand, in_file, run)])
        action()
        self.write()

    # By hand.

    def rename(self) -> None:
        family, id = self._live()
        self._send(
            "PATCH", ITSELF[family].format(id), {"title": self._say(f"rename {id}", self._any_title())}
        )

    def exchange_by_hand(self) -> None:
        family = self._family()
        live = self.live()[family]
        if len(live) > 1:
            one, other = self.random.sample(sorted(live), 2)
            self._say(f"exchange {one} {other} by hand")
            self._send("PATCH", ITSELF[family].format(one), {"title": live[other]})
            self._send("PATCH", ITSELF[family].format(other), {"title": live[one]})

    def copy(self) -> None:
        """Rename an object and create a copy with its old title."""
        family, id = self._live()
        title = self.live()[family][id]
        self._say(f"copy {id}")
        self._send("PATCH", ITSELF[family].format(id), {"title": f"{title[:20]} (old)"})
        self._send("POST", MADE_AT[family], {"title": title})

    def make(self) -> None:
        self._send("POST", MADE_AT[self._family()], {"title": self._say("make", self._any_title())})

    def delete(self) -> None:
        family, id = self._live()
        self._say(f"delete {id}")
        self._send("DELETE", ITSELF[family].format(id), None)

    def make_again(self) -> None:
        family, id = self._live()
        title = self.live()[family][id]
        self._say(f"make {id} again")
        self._send("DELETE", ITSELF[family].format(id), None)
        self._send("POST", MADE_AT[family], {"title": title})

    def move_by_hand(self) -> None:
        live = self.live()
        id = self.random.choice(sorted(live["spaces"]) or [""])
        if id:
            target = self.random.choice([None, *sorted(live["collections"])])
            self._say(f"move {id} to {target}")
            with suppress(RejectedError):  # it is there already
                self._send("POST", f"/spaces/{id}/move", {"parent": target})

    # In the file.

    def retitle(self) -> None:
        family, key = self._entry()
        self.entries[family][key].title = self._say(f"retitle {key}", self._free_title(family))

    def exchange(self) -> None:
        """Not of two whose keys are new as well: then each is what bears its name, whoever reads it."""
        family = self._family()
        entries = self.entries[family]
        lines = {str(address) for address in self.project.ids or {}}
        if len(entries) > 1:
            one, other = self.random.sample(sorted(entries), 2)
            if not {f"acme/{family}/{key}" for key in (one, other)} & lines:
                return
            self._say(f"exchange {one} {other}")
            entries[one].title, entries[other].title = entries[other].title, entries[one].title

    def new_key(self) -> tuple[str, str]:
        family, old = self._entry()
        new = f"{old[0]}{len(self.log) + 10}"
        self._say(f"key {old} to {new}")
        self.entries[family] = {
            new if key == old else key: entry for key, entry in self.entries[family].items()
        }
        self.entries[family][new].answer = ""
        self._refer(old, new)
        return family, new

    def new_key_and_title(self) -> None:
        family, key = self.new_key()
        self.entries[family][key].title = self._say(f"retitle {key}", self._free_title(family))

    def add(self) -> None:
        family = self._family()
        entry = Entry(self._free_title(family))
        if family == "spaces":
            entry.inside = self.random.choice([None, *sorted(self.entries["collections"])])
        if family == "sites":
            entry.shows = sorted(self.entries["spaces"])[:1]
        key = f"{KEYS[family]}{len(self.log) + 100}"
        self.entries[family][key] = entry
        self._say(f"add {key} {entry.title}")

    def remove(self) -> None:
        family, key = self._entry()
        if len(self.entries[family]) > 1:
            self._say(f"remove {key}")
            entry = self.entries[family].pop(key)
            self.removed |= {entry.object} - {None}
            self._refer(key, None)

    def move(self) -> None:
        key = self.random.choice(sorted(self.entries["spaces"]))
        self._say(f"move {key}")
        self.entries["spaces"][key].inside = self.random.choice([None, *sorted(self.entries["collections"])])

    def show_another(self) -> None:
        site = self.entries["sites"][self.random.choice(sorted(self.entries["sites"]))]
        key = self.random.choice(sorted(self.entries["spaces"]))
        if key not in site.shows and site.shows:
            self._say(f"show {key} for {site.shows[0]}")
            site.shows[0] = key

    def _refer(self, old: str, new: str | None) -> None:
        """Whatever names an entry names it by its new key, or not at all."""
        for space in self.entries["spaces"].values():
            space.inside = new if space.inside == old else space.inside
        for site in self.entries["sites"].values():
            site.shows = [name for key in site.shows if (name := new if key == old else key) is not None]

    # Runs.

    def commit(self) -> None:
        self._say("commit")
        self.project.commit(self.text(), self.policy())

    def forget_past(self) -> None:
        """As a job in a clone of one commit."""
        self.project.env["CI"] = "true"
        self._say("shallow")
        head = git(self.project.directory, "rev-parse", "HEAD")
        (self.project.directory / ".git" / "shallow").write_text(f"{head}\n", encoding="utf-8")

    def die(self) -> None:
        """Kill the process at a random write and run the apply again."""
        self._say("die")
        self._run(dies=self.random.randrange(6))
        self.apply()

    def apply(self) -> None:
        """As a job at night does: what is asked is answered the next morning, by somebody who knows."""
        self._say("apply")
        self._run()

    def _run(self, dies: int | None = None) -> None:
        self.write()
        for _ in range(4):
            before = self.state()
            plan = self.project.plan_if_clear()
            if plan is not None and plan.can_apply:
                self.check(plan)
                if dies is not None:
                    self.project.dies(dies, self.random.choice(("before", "after")))
                else:
                    self.project.apply()
                self.settle(recorded=dies is None)
                if dies is None and not plan.blocked:
                    self.shown_right()
                return
            assert self.state() == before, "something was written though it was asked"
            self.answer()

    # What must hold.

    def check(self, plan: Plan) -> None:
        """Nothing that this plan does, unasked, is wrong."""
        live = self.live()
        for change in plan.changes:
            family = FAMILY.get(change.kind)
            if family is None:
                continue
            key = change.address.rpartition("/")[2]
            if change.action == "delete":
                assert change.id in self.removed, f"{change.address} ({change.id}) would be lost: {self}"
                continue
            entry = self.entries[family][key]
            if change.action == "create":
                again = entry.object is None or self.is_new_after_loss(family, key, live)
                assert again, f"{key} is {entry.object} and would be doubled: {self}"
            elif entry.object in live[family]:
                assert change.id == entry.object, f"{key} is {entry.object}, not {change.id}: {self}"

    def is_new_after_loss(self, family: str, key: str, live: dict[str, dict[str, str]]) -> bool:
        """Whether the entry's object was deleted by hand, and the entry has a key without an id.

        Nothing live could be the object, so that a question would have one answer only: create it.
        """
        lines = {str(address) for address in self.project.ids or {}}
        return self.entries[family][key].object not in live[family] and f"acme/{family}/{key}" not in lines

    def answer(self) -> None:
        """Every entry says which one it is."""
        live = self.live()
        for family, entries in self.entries.items():
            for key, entry in entries.items():
                if entry.object is None:
                    entry.answer = "new: true"
                elif entry.object in live[family]:
                    entry.answer = f"id: {entry.object}"
                else:  # it was deleted by hand, and is to be made anew
                    entry.object, entry.answer = None, "new: true"
                    lines = self.project.ids or {}
                    self.project.ids = {
                        one: line for one, line in lines.items() if str(one) != f"acme/{family}/{key}"
                    }
        kept = {entry.object for entries in self.entries.values() for entry in entries.values()}
        self.removed |= {id for objects in live.values() for id in objects} - kept
        self.project.write(self.text(), self.policy())

    def settle(self, recorded: bool) -> None:
        """Record the objects that were created as the intended objects of their entries."""
        self.applied += 1
        live = self.live()
        if recorded:
            self.project.record()
        lines = {str(address): line.id for address, line in (self.project.ids or {}).items()}
        for family, entries in self.entries.items():
            for key, entry in entries.items():
                if entry.object not in live[family]:
                    entry.object = lines.get(f"acme/{family}/{key}", entry.object)
                entry.answer = ""
        # An object that became that of an entry is not named in the policy any more.
        self.removed -= {str(entry.object) for entries in self.entries.values() for entry in entries.values()}

    def shown_right(self) -> None:
        state = self.state()
        sites = {site["id"]: site for site in state["sites"]}
        spaces = {space["id"]: space for space in state["spaces"]}
        for key, entry in self.entries["spaces"].items():
            space = spaces[str(entry.object)]
            inside = self.entries["collections"][entry.inside].object if entry.inside else None
            assert space["title"] == entry.title, f"{key}: {self}"
            assert entry.inside is None or space.get("parent") == inside, f"{key}: {self}"
        for key, entry in self.entries["sites"].items():
            wanted = [self.entries["spaces"][name].object for name in entry.shows]
            shown = [node["space"] for node in sites[str(entry.object)].get("structure", [])]
            assert sites[str(entry.object)]["title"] == entry.title, f"{key}: {self}"
            assert not wanted or shown == wanted, f"{key} shows {shown}, not {wanted}: {self}"

    # The files and the platform.

    def text(self) -> str:
        lines = []
        for family, entries in self.entries.items():
            lines.append(f"{family}:")
            for key, entry in entries.items():
                facts = [f'title: "{entry.title}"']
                facts += [f"collection: {entry.inside}"] if entry.inside else []
                nodes = [
                    f"{{ type: space, key: {name}, space: {name}, path: {name} }}" for name in entry.shows
                ]
                facts += [f"structure: [{', '.join(nodes)}]"] if nodes else []
                facts += [entry.answer] if entry.answer else []
                lines.append(f"  {key}: {{ {', '.join(facts)} }}")
        return "\n".join(lines)

    def policy(self) -> str:
        named = (
            f"'{family}/[{title}~{id}]'"
            for family, objects in self.live().items()
            for id, title in objects.items()
            if id in self.removed
        )
        return POLICY.replace("MORE", f", removed: [{', '.join(named)}]")

    def write(self) -> None:
        self.project.write(self.text(), self.policy())

    def state(self) -> dict[str, Any]:
        state = self.project.server.run_in_server(lambda: worlds.dump_world(self.project.server.app.store))
        (acme,) = state["organizations"]
        return dict(acme)

    def live(self) -> dict[str, dict[str, str]]:
        """By family and id, what is live is called."""
        state = self.state()
        return {
            family: {item["id"]: item["title"] for item in state.get(family, []) if "deletedAt" not in item}
            for family in MADE_AT
        }

    def _say(self, what: str, title: str = "") -> str:
        self.log.append(f"{what} {title}".strip())
        return title

    def _family(self) -> str:
        return self.random.choice(["spaces", "spaces", "collections", "sites"])

    def _entry(self) -> tuple[str, str]:
        family = self._family()
        return family, self.random.choice(sorted(self.entries[family]))

    def _live(self) -> tuple[str, str]:
        live = self.live()
        family = self._family()
        family = family if live[family] else next(name for name in live if live[name])
        return family, self.random.choice(sorted(live[family]))

    def _any_title(self) -> str:
        return self.random.choice(TITLES)

    def _free_title(self, family: str) -> str:
        live = self.live()[family]
        # As in test_accidents.py, no entry gets the title of the object of an entry with a new key and title.
        taken = {entry.title for entry in self.entries[family].values()}
        taken |= {live.get(entry.object or "", "") for entry in self.entries[family].values()}
        free = [title for title in TITLES if title not in taken]
        return self.random.choice(free) if free else f"Title {len(self.log)}"

    def _send(self, method: str, path: str, body: dict[str, Any] | None) -> None:
        with self.project.client() as client:
            client.send(method, path, body, repeatable=False)

    def __str__(self) -> str:
        return f"{self.log}\nlive {self.live()}\nentries {self.entries}"


@pytest.mark.parametrize("seed", SEEDS)
def test_file_accidents_across_organization_delete_no_content(project: Project, seed: int) -> None:
    history = History(project.holds(), Random(seed), commits=seed % 2 == 0)
    project.ids = {}
    history.begin()
    assert history.applied
    for _ in range(STEPS):
        history.step()
    history.apply()
