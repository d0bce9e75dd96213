"""Names are dealt anew at will. With an ids file all stays what it was, by id, interrupted or not.

Without an ids file, git tells who is who, or dpsync asks.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import suppress

from msgspec.structs import replace

from dpsync.api import Session
from dpsync.live.reading_state import recorded_lines
from dpsync.model.desired import Base
from dpsync.model.diagnostic import DiagnosticError
from dpsync.model.ids import NO_IDS
from dpsync.model.plan import Plan
from tests.agreed import agreed

from .configurations import Written, document, world
from .faults import Kill, Killed
from .laws import discard_if, law, plan_of, said
from .mutations import Managed
from .organizations import Draw, Fields, live_organization
from .platform import Case, Platform

Named = list[tuple[Fields, str]]
"""Entries of one place, each with the field that it is recognised by first."""


def places(organization: Fields) -> Iterator[Named]:
    """Every set of entries that can pass their names round. What is pinned keeps its name."""
    for place, name in (
        ("teams", "title"),
        ("collections", "title"),
        ("spaces", "title"),
        ("sites", "basename"),
    ):
        yield [(entry, name) for entry in organization.get(place, {}).values() if "id" not in entry]
    for site in organization.get("sites", {}).values():
        nodes = list(below(site.get("structure", [])))
        for type_, name in (("section", "path"), ("section-group", "title")):
            yield [(node, name) for node in nodes if node["type"] == type_ and "id" not in node]
        for siblings in [site.get("structure", []), *(node.get("children", []) for node in nodes)]:
            yield [(node, "path") for node in siblings if node["type"] == "space" and "id" not in node]


def below(nodes: list[Fields]) -> Iterator[Fields]:
    for node in nodes:
        yield node
        yield from below(node.get("children", []))


def dealt(draw: Draw, configuration: Fields) -> Fields:
    """Return the configuration with some names exchanged and some replaced by new ones."""
    made = copy.deepcopy(configuration)
    for organization in made["organizations"].values():
        for entries in places(organization):
            named = [(entry, name) for entry, name in entries if entry.get(name) is not None]
            some = [named[number] for number in draw.some(range(len(named)))]
            names = draw.shuffled([entry[name] for entry, name in some])
            for (entry, name), given in zip(some, names, strict=True):
                entry[name] = draw.fresh("new") if draw.chance(0.2) else given
    return made


class Renamed:
    """A platform as configured, and a configuration with other names whose base is the first one."""

    def __init__(self, platform: Platform, draw: Draw, size: int, recorded: bool = True) -> None:
        live = live_organization(draw, "acme", size)
        sections = [node for site in live.sites for node in site.nodes("section")]
        discard_if(not all(node.children for node in sections), "a section without spaces cannot be declared")
        written = Written(draw, live, live.copy(), Managed(), explicit=True).configuration()
        before = document({"acme": written})
        self.platform = platform
        self.made = Case(world([live]), before)
        platform.start(self.made)
        first = platform.session(before)
        planned = plan_of(platform, first)
        discard_if(not planned.plan.empty, "not as configured")
        self.ids = planned.plan.bindings
        base = Base("before", "0" * 40, first.desired)
        lines = recorded_lines(first.registry, first.desired, planned.snapshot)
        with platform.client() as client:
            client.get("/orgs")
            file = NO_IDS.with_section(client.platform, planned.plan.organizations[0].id, lines)
        after = platform.session(dealt(draw, before))
        self.session: Session = replace(after, base=base, ids=file if recorded else NO_IDS)

    def plan(self) -> Plan:
        plan = self.platform.plan(self.session).plan
        assert plan.refusals == ()
        return plan

    def apply(self, at: int | None = None, when: str = "after") -> None:
        """Apply, and die at a write."""
        around = (lambda inner: inner) if at is None else (lambda inner: Kill(inner, at, when))
        with self.platform.client(around) as client:
            report = self.session.apply(client, agreed(self.session, client), secrets={})
            assert report.complete, said(report)


@law(40)
def test_random_renames_with_ids_file_plan_only_updates(platform: Platform, draw: Draw) -> None:
    renamed = Renamed(platform, draw, draw.number(1, 5))
    plan = renamed.plan()
    assert {change.action for change in plan.changes} <= {"update"}
    assert plan.bindings == renamed.ids
    report = platform.apply(renamed.session)
    assert report.complete, said(report)
    assert report.remaining is not None
    assert report.remaining.bindings == renamed.ids


@law(40)
def test_random_renames_without_ids_match_or_ask(platform: Platform, draw: Draw) -> None:
    """Otherwise, an entry writes to the object of another one, or content is created a second time."""
    renamed = Renamed(platform, draw, draw.number(1, 5), recorded=False)
    try:
        plan = platform.plan(renamed.session).plan
    except DiagnosticError:
        return
    if plan.refusals:
        return
    entries = renamed.session.desired.entries
    kinds = {str(address): platform.registry[entry.kind] for address, entry in entries.items()}
    content = {address for address, kind in kinds.items() if kind.asks_before_create}
    wrong = {at: id for at, id in plan.bindings.items() if at in content and id != renamed.ids[at]}
    assert wrong == {}
    assert [one.address for one in plan.changes if one.action != "update" and one.address in content] == []


@law(40)
def test_interrupted_renames_are_finished_by_next_apply(platform: Platform, draw: Draw) -> None:
    renamed = Renamed(platform, draw, draw.number(2, 5))
    for _ in range(draw.number(1, 3)):
        with suppress(Killed):
            renamed.apply(draw.number(0, 6), draw.pick(["before", "after"]))
    renamed.apply()
    plan = platform.plan(renamed.session).plan
    assert plan.empty
    assert plan.bindings == renamed.ids
