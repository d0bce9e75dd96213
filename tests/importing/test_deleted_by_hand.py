"""What the files declare and is not live any more is drift, whoever could make it again.

The built-in world has something of every kind. It is imported, and things of it are deleted by hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from random import Random

import httpx
import pytest
from msgspec.structs import replace

from dpsync.api import IdsFile, Session, import_
from dpsync.importing.files import CachingClient
from dpsync.kinds.kind import Call
from dpsync.kinds.registry import build_registry
from dpsync.kinds.urls import fill_path_template
from dpsync.model.address import Address
from dpsync.model.drift import Drift
from dpsync.model.ids import LinesByAddress
from dpsync.planner.drift import find_drift
from dpsync.planner.sides import Sides
from dpsync.server.http.app import build_companion
from dpsync.server.process.threaded_server import ThreadedServer
from dpsync.server.store import open_store
from tests.by_hand import by_hand
from tests.direct import reading
from tests.soak import examples

REGISTRY = build_registry()
OWN = {"acme/members/ada@acme.example", "globex/members/ada@acme.example"}
"""Of the user whose token it is: without them nothing can be read."""


@dataclass(frozen=True)
class World:
    """The built-in world as it was imported, with the lines of its ids file."""

    server: ThreadedServer
    session: Session
    ids: dict[str, LinesByAddress]
    paths: dict[Address, str]
    """Of every entry that a request of its own deletes: where that is sent."""

    def planned(self) -> tuple[Sides, Drift]:
        """Plan and return the sides of the plan and the drift."""
        with reading(self.server, "ada-token") as client:
            client.get("/user")  # the first answer names the world
            session = replace(self.session, ids=IdsFile({client.platform: self.ids}))
            planned = session.plan(client)
        return planned.sides, find_drift(planned.sides, planned.plan)


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with ThreadedServer(build_companion(open_store(":memory:"))) as server:
        server.reset()
        with CachingClient(server.url, "ada-token") as client:
            made = import_(client, REGISTRY).made
            desired, _ = made.load(REGISTRY)
            session = Session(desired, REGISTRY)
            sides = Sides(REGISTRY, session.desired, session.plan(client).snapshot)
        yield World(server, session, dict(made.ids), dict(_paths(sides)))


def _paths(sides: Sides) -> Iterator[tuple[Address, str]]:
    for address, entry in sides.desired.entries.items():
        kind, live = REGISTRY[entry.kind], sides.live(address)
        deletes = isinstance(kind.delete, Call) and kind.delete.method == "DELETE"
        if deletes and live is not None and str(address) not in OWN:
            assert isinstance(kind.delete, Call)
            yield (
                address,
                fill_path_template(
                    REGISTRY, kind, kind.delete.path, live.id, sides.hierarchy.ancestor_ids(entry)
                ),
            )


def test_drift_reports_deleted_objects_and_their_cascade(world: World) -> None:
    random, wrong = Random(13), []
    for _ in range(examples(1, 50)):
        for deleted in _rounds(world, random):
            world.server.reset()
            for address in deleted:
                _delete(world, address)
            sides, drift = world.planned()
            missing = {item.address for item in drift.found if item.what == "missing"}
            gone = {str(address) for address in sides.desired.entries if sides.live(address) is None}
            if missing != gone or not missing >= set(map(str, deleted)):
                wrong.append((deleted, missing ^ gone))
    assert wrong == []


def _rounds(world: World, random: Random) -> list[list[Address]]:
    """One thing of every kind, a few at once."""
    by_kind: dict[str, list[Address]] = {}
    for address in sorted(world.paths):
        by_kind.setdefault(world.session.desired.entries[address].kind, []).append(address)
    assert by_kind.keys() >= {
        "site",
        "space",
        "collection",
        "member",
        "team",
        "site_space",
        "saml",
        "redirect",
    }
    chosen = [random.choice(found) for found in by_kind.values()]
    random.shuffle(chosen)
    return [chosen[at : at + 3] for at in range(0, len(chosen), 3)]


def _delete(world: World, address: Address) -> None:
    """By hand, unless it went along with something else."""
    with suppress(httpx.HTTPStatusError):
        by_hand(world.server, "DELETE", world.paths[address])
