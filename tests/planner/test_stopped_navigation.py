"""A navigation that an apply has changed in part when it was stopped: there is a plan, and the same end.

The platform is a dictionary here. Each step does to it what its request says, any of those first that may be
next, and up to any of them. Then a plan is made of what is there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from graphlib import TopologicalSorter
from random import Random
from typing import Any

import pytest

from dpsync.apply.executor import Schedule
from dpsync.kinds.kind import Kind
from dpsync.model.address import Address
from dpsync.model.values import REF_MARKER, LiveId
from dpsync.planner.plan import make_plan
from dpsync.planner.stepset import PlannedSteps, StepDraft
from tests.soak import examples

from .lab import REGISTRY
from .stages import Case, Things

AT = "acme/sites/docs/structure"
WHEN = "visitor.claims.beta"
Fields = dict[str, Any]
World = dict[str, dict[str, Fields]]
"""Fields by kind and path."""
SITE: Fields = {
    "title": "Docs",
    "basename": "docs",
    "visibility": "public",
    "published": True,
    "adaptiveContent": {"enabled": True},
}
SPACES = {key: {"title": key.upper()} for key in "abc"}
SECTIONS = {f"docs/{key}": {} for key in "xyz"}
NAMES = Case(
    {
        "space": SPACES,
        "site": {"docs": {}},
        "section_group": {"docs/g": {}, "docs/h": {}},
        "section": SECTIONS,
        "site_space": {f"{section}/{key}": {} for section in SECTIONS for key in "pq"},
    }
)
"""Everything that there can be."""


def ref(kind: str, path: str, wanted: bool = True) -> Any:
    return NAMES.ref(kind, path) if wanted else LiveId(id_of(kind, path))


def id_of(kind: str, path: str) -> str:
    return f"{kind}-{path.replace('/', '-')}"


def path_of(address: Address | str) -> str:
    return str(address).removeprefix("acme/sites/").replace("/structure", "").replace("/redirects", "")


class Arrangement:
    """A site with its navigation, as it is wanted or as it is."""

    def __init__(self, random: Random, wanted: bool) -> None:
        self.random, self.wanted = random, wanted
        kinds = ("space", "site", "section_group", "section", "site_space", "external_link", "redirect")
        self.world: World = {kind: {} for kind in kinds}
        self.world["space"] = {key: dict(fields) for key, fields in SPACES.items()}
        self.world["site"] = {"docs": self._site()}
        self.groups = [None, *self._groups()]
        self._sections()
        if self._chance(0.4):
            self._link()
        if self._chance(0.4):
            self._redirect()

    def _chance(self, share: float) -> bool:
        return self.random.random() < share

    def _some(self, keys: str) -> list[str]:
        found = [key for key in keys if self._chance(0.6)] or [self.random.choice(keys)]
        return self.random.sample(found, len(found))

    def _ref(self, kind: str, path: str) -> Any:
        return ref(kind, path, self.wanted)

    def _site(self) -> Fields:
        return {
            **SITE,
            "visibility": self.random.choice(["public", "public", "unlisted"]),
            "published": self._chance(0.85),
            "adaptiveContent": {"enabled": self._chance(0.8)},
        }

    def _shown(self) -> Fields:
        """Draw the fields that hide an object. A live object always has `draft`."""
        draft = {"draft": self._chance(0.3)} if not self.wanted or self._chance(0.3) else {}
        return {**draft, **({"condition": WHEN} if self._chance(0.35) else {})}

    def _groups(self) -> Iterator[Any]:
        keys = self._some("gh") if self._chance(0.5) else []
        for number, key in enumerate(keys):
            inside = number and self._chance(0.5)
            around = self._ref("section_group", f"docs/{keys[0]}") if inside else None
            fields = {"title": f"Group {key}", "group": around, "draft": self._chance(0.4)}
            self.world["section_group"][f"docs/{key}"] = fields
            yield self._ref("section_group", f"docs/{key}")

    def _sections(self) -> None:
        keys = self._some("xyz")
        paths, titles = self.random.sample("abc", 3), self.random.sample(["A1", "B1", "C1"], 3)
        for key, path, title in zip(keys, paths, titles, strict=False):
            group = self.random.choice(self.groups)
            self.world["section"][f"docs/{key}"] = {
                "title": title,
                "path": path,
                "group": group,
                **self._shown(),
            }
            self._places(f"docs/{key}")
        self._default("section", [f"docs/{key}" for key in keys])

    def _places(self, section: str) -> None:
        keys = self._some("pq")
        for key, path in zip(keys, self.random.sample("ab", 2), strict=False):
            hidden = {"hidden": True} if self._chance(0.3) else {}
            space = self._ref("space", self.random.choice("abc"))
            place = {"space": space, "path": path, **hidden, **self._shown()}
            self.world["site_space"][f"{section}/{key}"] = place
        self._default("site_space", [f"{section}/{key}" for key in keys])

    def _default(self, kind: str, paths: list[str]) -> None:
        if not self.wanted or self._chance(0.3):
            self.world[kind][self.random.choice(paths)]["default"] = True

    def _link(self) -> None:
        group = self.random.choice(self.groups)
        link = {"title": "L", "url": "https://a.example", "group": group, **self._shown()}
        self.world["external_link"]["docs/l"] = link

    def _redirect(self) -> None:
        to = self._ref("section", self.random.choice(list(self.world["section"])))
        where = {"kind": "site-section", "siteSectionId": to}
        self.world["redirect"]["docs/r"] = {"destination": where, "draft": self._chance(0.4)}


class Platform:
    """What is live, and what applies make of it."""

    def __init__(self, random: Random, wanted: World, live: World) -> None:
        self.random, self.wanted = random, wanted
        self.live = {kind: {path: dict(its) for path, its in things.items()} for kind, things in live.items()}
        self.case = Case()
        self.deleted: Mapping[Address, tuple[str, str]] = {}

    def plan(self) -> PlannedSteps:
        self.case = Case(self.wanted, self.live, prune=["sites/docs/structure", "sites/docs/redirects"])
        return self.case.lanes()[0]

    def left(self) -> list[str]:
        """Return the ids of the steps that a plan has now, without those that order siblings."""
        return [step.id for step in self.plan().drafts.steps.values() if step.verb != "move"]

    def apply(self, at_most: int) -> None:
        """Carries out so many steps of a new plan."""
        planned = self.plan()
        self.deleted = self.case.decisions().deletions.addresses
        for number, id in enumerate(self._in_some_order(planned)):
            step = planned.drafts.steps[id]
            if number == at_most:
                return
            if step.verb != "move":
                self._send(step)

    def _in_some_order(self, planned: PlannedSteps) -> Iterator[str]:
        """Yield the steps in a random order that an apply could use; fail if steps wait for each other."""
        steps = [step for address in planned.drafts.by_address for step in planned.steps_of(address)]
        TopologicalSorter({step.id: {*step.needs, *step.follows} for step in steps}).prepare()
        schedule, ready = Schedule(steps), list[str]()
        for _ in steps:
            while (id := schedule.take_ready_step()) is not None:
                ready.append(id)
            assert ready, "steps wait for each other, as deletes wait for all others"
            yield (id := ready.pop(self.random.randrange(len(ready))))
            schedule.end_step(id, succeeded=True)

    def _send(self, step: StepDraft) -> None:
        if step.address in self.deleted:
            kind, id = self.deleted[step.address]
            path = next(path for path in self.live[kind] if id_of(kind, path) == id)
        else:
            path = path_of(step.address)
            kind = self._kind(path)
        if step.verb == "delete":
            self._delete(kind, path)
        elif step.verb == "create":
            self._create(REGISTRY[kind], path, step)
        elif step.phase == "default":
            self._default(kind, path)
        else:
            self._update(REGISTRY[kind], path, step)

    def _kind(self, path: str) -> str:
        return next(kind for kind, things in self.wanted.items() if path in things)

    def _delete(self, kind: str, path: str) -> None:
        gone = self.live[kind].pop(path)
        for things in self.live.values():
            for inside in [other for other in things if other.startswith(f"{path}/")]:
                del things[inside]
            for fields in things.values():
                if kind == "section_group" and fields.get("group") == LiveId(id_of(kind, path)):
                    fields["group"] = gone["group"]

    def _create(self, kind: Kind, path: str, step: StepDraft) -> None:
        sent = {item.name: item.create_name or item.wire_name for item in kind.fields}
        made = {name: self._value(step.body[wire]) for name, wire in sent.items() if wire in step.body}
        nest = {
            item.name: None for item in kind.fields if item.is_parent_reference and kind.name != "site_space"
        }
        self.live[kind.name][path] = {"draft": False, **nest, **made}
        if kind.name == "section":  # its first site space is made along with it
            child = path_of(self.case.sides().entries[step.address].children[0])
            place = {"space": self._value(step.body["spaceId"]), "draft": False}
            self.live["site_space"] = {child: place, **self.live["site_space"]}

    def _default(self, kind: str, path: str) -> None:
        for other, fields in self.live[kind].items():
            if other.rpartition("/")[0] == path.rpartition("/")[0]:
                fields["default"] = other == path

    def _update(self, kind: Kind, path: str, step: StepDraft) -> None:
        fields = self.live[kind.name][path]
        for item in kind.fields:
            if isinstance(step.body, Mapping) and item.wire_name in step.body:
                fields[item.name] = self._value(step.body[item.wire_name])
            elif item.name in step.fields:  # a request of its own says it by its path
                fields[item.name] = self.wanted[kind.name][path][item.name]

    def _value(self, value: Any) -> Any:
        if isinstance(value, dict):
            if set(value) == {REF_MARKER}:
                path = path_of(value[REF_MARKER])
                return LiveId(id_of(self._kind(path), path))
            return {name: self._value(item) for name, item in value.items()}
        known = isinstance(value, str) and value.partition("-")[0] in ("space", "section", "section_group")
        return LiveId(value) if known else value

    def seen(self) -> World:
        """Return the live objects without empty fields."""
        return {
            kind: {
                path: {name: value for name, value in its.items() if value not in (None, False)}
                for path, its in sorted(things.items())
            }
            for kind, things in self.live.items()
        }


def sides(random: Random) -> tuple[World, World]:
    """Draw what is wanted and what is live."""
    wanted = Arrangement(random, wanted=True).world
    live = Arrangement(random, wanted=False).world
    if random.random() < 0.4:
        live |= {kind: {} for kind in live if kind not in ("space", "site")}
    for path, fields in wanted["section"].items():
        drafts = [its.get("draft") for at, its in wanted["site_space"].items() if at.startswith(f"{path}/")]
        # Around nothing but drafts, what somebody made a draft looks like what an apply has left.
        if live["section"].get(path, {}).get("draft") and any(drafts):
            fields.setdefault("draft", random.random() < 0.5)
    return wanted, live


@pytest.mark.parametrize("seed", range(examples(60, 4000)))
def test_interrupted_navigation_apply_reaches_same_result(seed: int) -> None:
    random = Random(seed)
    wanted, live = sides(random)
    whole, stopped = (Platform(random, wanted, live) for _ in range(2))
    steps = len(whole.left())
    whole.apply(steps + 100)
    assert whole.left() == []
    for _ in range(4):
        stopped.apply(random.randrange(steps + 1))
    stopped.apply(steps + 100)
    assert stopped.left() == []
    assert stopped.seen() == whole.seen()


# Each of these was a mistake.


def section(wanted: bool = True, **fields: Any) -> Fields:
    return {"title": "Exx", "path": "x", **({} if wanted else {"draft": True}), **fields}


def place(space: str, path: str, wanted: bool = True, **fields: Any) -> Fields:
    return {"space": ref("space", space, wanted), "path": path, **fields}


def steps(wanted: Things, live: Things) -> dict[str, Any]:
    """By id without where the navigation is; there must be a plan."""
    around = {"space": SPACES, "site": {"docs": SITE}}
    made = make_plan(Case({**around, **wanted}, {**around, **live}, prune=["sites/docs/structure"]).sides())
    return {step.id.removeprefix(f"{AT}/"): step for change in made.changes for step in change.steps}


def needs(found: dict[str, Any], step: str, on: str) -> bool:
    return f"{AT}/{on}" in found[step].needs


def test_new_site_space_precedes_showing_section() -> None:
    """The section is shown when all is in it, and what is made comes after the renames of what is there.

    Otherwise, after an apply was stopped its steps wait for each other, and there is no plan.
    """
    places = {"docs/x/p": place("a", "p", hidden=True), "docs/x/q": place("b", "q")}
    first = {"docs/x/p": place("a", "chosen", wanted=False)}
    found = steps(
        {"section": {"docs/x": section()}, "site_space": places},
        {"section": {"docs/x": section(wanted=False)}, "site_space": first},
    )
    assert needs(found, "x expose draft", "x/q create")
    assert not needs(found, "x/p update", "x expose draft")
    assert needs(found, "x/p expose hidden+draft", "x expose draft")


@pytest.mark.parametrize("says", [{}, {"draft": False}], ids=["nothing", "no draft"])
def test_first_site_space_is_shown_after_section(
    says: Fields,
) -> None:
    """Otherwise, steps that show a section and its first site space wait for each other: there is no plan.

    Otherwise, the site space is shown before its section, and after a stop the section looks finished.
    Otherwise, what an apply left as a draft counts as hidden by a person, and is never shown.

    Otherwise, what was made along with a section is shown before it, and after a stop nothing tells that the
    section is not finished.
    Otherwise, what an apply left as a draft counts as hidden by somebody, and is never shown.
    """
    hidden = place("a", "p", wanted=False, draft=True)
    found = steps(
        {
            "section": {"docs/x": section()},
            "site_space": {"docs/x/p": place("a", "p", condition=WHEN, **says)},
        },
        {"section": {"docs/x": section(wanted=False)}, "site_space": {"docs/x/p": hidden}},
    )
    assert set(found) == {"x expose draft", "x/p expose condition+draft"}
    assert needs(found, "x/p expose condition+draft", "x expose draft")


def test_draft_set_by_user_survives_interruption() -> None:
    """An apply has made the second place, and was stopped before it was hidden.

    Otherwise, a section that somebody made a draft is shown, because something came into it when an apply was
    stopped.
    """
    there = {"docs/x/q": place("a", "q", wanted=False), "docs/x/p": place("b", "p", wanted=False)}
    found = steps(
        {"section": {"docs/x": section()}, "site_space": {"docs/x/p": place("b", "p", hidden=True)}},
        {"section": {"docs/x": section(wanted=False)}, "site_space": there},
    )
    assert set(found) == {"x/p withdraw hidden", "x/[q] delete"}


def test_path_is_freed_before_entering_draft_group() -> None:
    """Otherwise, steps wait for each other, and there is no plan."""
    into = ref("section_group", "docs/g")
    found = steps(
        {
            "section_group": {"docs/g": {"title": "G", "draft": True}},
            "section": {"docs/x": {"title": "Exx", "path": "x", "group": into}},
            "site_space": {"docs/x/p": place("a", "taken")},
        },
        {
            "section": {"docs/x": {"title": "Exx", "path": "x", "group": None}},
            "site_space": {"docs/x/q": place("b", "taken", wanted=False)},
        },
    )
    assert not needs(found, "x/[taken] free path", "x place")
    assert needs(found, "x/p create", "x place")


def test_site_space_creation_ignores_group_move() -> None:
    """Both go into something hidden, the section before the group that it was in.

    Otherwise, steps wait for each other, and there is no plan.
    """
    hidden = {"title": "H", "draft": True}
    inner = {"title": "G", "draft": False}
    into = ref("section_group", "docs/h")
    found = steps(
        {
            "section_group": {"docs/h": hidden, "docs/g": {**inner, "group": into}},
            "section": {"docs/x": {"title": "Exx", "path": "x", "group": into}},
            "site_space": {"docs/x/p": place("a", "p")},
        },
        {
            "section_group": {"docs/g": inner},
            "section": {
                "docs/x": {"title": "Exx", "path": "x", "group": ref("section_group", "docs/g", False)}
            },
            "site_space": {"docs/x/q": place("b", "q", wanted=False)},
        },
    )
    assert needs(found, "x/p create", "x place")
    assert not needs(found, "x/p create", "g place")
