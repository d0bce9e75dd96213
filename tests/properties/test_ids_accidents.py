"""The ids file has two swapped lines, or is missing, and somebody edits an entry of a random organization.

Either dpsync matches each entry with content to its former object, or dpsync asks. Kinds without content are
not checked: a site space may match another object if its key and path change together.
"""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any, Literal

import pytest
from msgspec.structs import replace

from dpsync.api import Options, Session, load, load_base
from dpsync.live.reading_state import recorded_lines
from dpsync.model.address import Address
from dpsync.model.diagnostic import DiagnosticError
from dpsync.model.ids import NO_IDS, IdsFile
from tests.identity.past import git
from tests.soak import seeds

from .configurations import Written, document, world
from .mutations import Managed
from .organizations import Draw, live_organization, repair
from .platform import REGISTRY, Platform

PLACES = ("teams", "collections", "spaces", "sites")
Accident = Literal["lines swapped", "file missing"]


class UnsuitableExampleError(Exception):
    """The random organization is not suitable: without pins, its files do not match the live objects."""


class Example:
    """A committed configuration that matches the platform, and the right object id of each entry."""

    def __init__(self, platform: Platform, seed: str, directory: Path) -> None:
        self.platform, self.draw, self.directory = platform, Draw(Random(seed)), directory
        live = live_organization(self.draw, "acme", self.draw.number(2, 4))
        self.live = world([live])["organizations"][0]
        platform.server.reset(world([live]))
        wanted = live.copy()
        repair(self.draw, wanted)
        written = Written(self.draw, live, wanted, Managed(), self.draw.chance(0.5)).configuration()
        self.files = document({"acme": written}, self.draw.pick([("**",), ()]))
        for place in PLACES:
            for entry in written.get(place, {}).values():
                _remove_pins(entry)
        self.write()
        with platform.client() as client:
            planned = self.session(NO_IDS, based=False).plan(client, Options())
            if planned.plan.changes or planned.plan.refusals:
                raise UnsuitableExampleError
            self.lines = recorded_lines(
                REGISTRY, self.session(NO_IDS, based=False).readable, planned.snapshot
            )
            self.truth = dict(planned.plan.bindings)
            self.platform_name, self.organization = client.platform, planned.plan.organizations[0].id
        git(directory, "init", "-q")
        self.commit()

    def write(self) -> None:
        (self.directory / "dpsync.yaml").write_text(json.dumps(self.files, indent=1), encoding="utf-8")

    def commit(self) -> None:
        git(self.directory, "add", "--all")
        git(self.directory, "commit", "-q", "--allow-empty", "-m", "files")

    def session(self, ids: IdsFile, based: bool = True) -> Session:
        root = self.directory / "dpsync.yaml"
        desired = load(root, {}, REGISTRY)
        return Session(
            desired, REGISTRY, 4, *([load_base(root, None, {}, REGISTRY)] if based else []), ids=ids
        )

    def swap_lines(self) -> tuple[IdsFile, list[Address]]:
        """Return an ids file with swapped lines of two siblings of one kind, and the two entries."""
        kinds = load(self.directory / "dpsync.yaml", {}, REGISTRY).entries
        groups: dict[tuple[str, Address], list[Address]] = {}
        for address in sorted(self.lines):
            groups.setdefault((kinds[address].kind, address.list_address), []).append(address)
        several = [group for group in groups.values() if len(group) > 1]
        if not several:
            raise UnsuitableExampleError
        one, other = self.draw.some(self.draw.pick(several), least=2)[:2]
        lines = {**self.lines, one: replace(self.lines[other], address=one)}
        lines[other] = replace(self.lines[one], address=other)
        return IdsFile({self.platform_name: {self.organization: lines}}), [one, other]

    def edit(self, address: Address) -> None:
        """Change the title or path of an entry, its key, both, or nothing."""
        edit, key = self.draw.pick(["nothing", "title", "key", "both"]), address.last_segment
        if edit in ("title", "both"):
            entry = _find_entry(self.files["organizations"]["acme"], address)
            entry["title" if "title" in entry else "path"] = "renamed-thing"
        if edit in ("key", "both"):
            self.files = json.loads(json.dumps(self.files).replace(f'"{key}"', f'"{key}-renamed"'))
            self.truth = {_with_renamed_key(at, key): id for at, id in self.truth.items()}
        self.write()

    def holds_something(self, kind: str, id: str) -> bool:
        """Return whether an object is a site or space, contains something, or is named by another object."""
        if kind not in ("team", "collection"):
            return True
        (found,) = (item for item in self.live[f"{kind}s"] if item["id"] == id)
        contents = any(value for value in found.values() if isinstance(value, (dict, list)))
        return contents or json.dumps(self.live).count(json.dumps(id)) > 1


def _remove_pins(entry: Any) -> None:
    entry.pop("id", None)
    entry.pop("new", None)
    for node in (*entry.get("structure", ()), *(entry.get("children", ()) if "type" in entry else ())):
        _remove_pins(node)


def _find_entry(organization: Any, address: Address) -> Any:
    _, place, key, *rest = address.segments
    entry = organization[place][key]
    for key in rest[1:]:
        nodes = entry.get("structure") or entry.get("children") or []
        entry = _find_node(nodes, key)
    return entry


def _find_node(nodes: list[Any], key: str) -> Any:
    """Return the node with this key, also from inside groups: addresses do not contain group keys."""
    for node in nodes:
        if node["key"] == key:
            return node
        if node["type"] == "section-group" and (found := _find_node(node["children"], key)):
            return found
    return None


def _with_renamed_key(address: str, key: str) -> str:
    segments = Address.parse(address).segments
    return str(Address(tuple(f"{one}-renamed" if one == key else one for one in segments)))


def _make_example(
    platform: Platform, directory: Path, accident: Accident, seed: int
) -> tuple[Example, IdsFile]:
    """Return the first suitable example of a seed after an edit, and the ids file after the accident."""
    for number in range(100):
        place = directory / str(number)
        place.mkdir()
        try:
            made = Example(platform, f"{seed}-{number}", place)
            ids, entries = made.swap_lines() if accident == "lines swapped" else (NO_IDS, sorted(made.lines))
            if entries:
                made.edit(made.draw.pick(entries))
                return made, ids
        except (UnsuitableExampleError, DiagnosticError):
            continue
    raise AssertionError


@pytest.mark.parametrize("committed", [False, True], ids=["uncommitted", "committed"])
@pytest.mark.parametrize("accident", ["lines swapped", "file missing"])
@pytest.mark.parametrize("seed", seeds(8, 120))
def test_plan_after_ids_file_accident_binds_correct_objects(
    platform: Platform, tmp_path: Path, accident: Accident, committed: bool, seed: int
) -> None:
    """Otherwise, dpsync writes values to the object of another entry, or creates a second object.

    An empty team or collection may be created again if its key and title change together.
    """
    made, ids = _make_example(platform, tmp_path, accident, seed)
    if committed:
        made.commit()
    try:
        with platform.client() as client:
            plan = made.session(ids).plan(client, Options()).plan
    except DiagnosticError:
        return  # dpsync asks
    if plan.refusals:
        return
    entries_now = made.session(ids).desired.entries
    kinds = {at: entries_now[Address.parse(at)].kind for at in made.truth}
    content = {at for at, kind in kinds.items() if REGISTRY[kind].has_content}
    wrong = {at: id for at, id in plan.bindings.items() if at in content and id != made.truth[at]}
    assert wrong == {}
    creates = [one.address for one in plan.changes if one.action == "create" and one.address in content]
    assert [at for at in creates if made.holds_something(kinds[at], made.truth[at])] == []
