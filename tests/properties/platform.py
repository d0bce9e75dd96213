"""The companion under test, and the few ways in which the laws drive dpsync against it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dpsync.api import Options, Planned, Session, load
from dpsync.client.client import WriteClient
from dpsync.client.retry import Clock
from dpsync.client.transport import Request, Response, Transport
from dpsync.kinds.registry import Registry
from dpsync.kinds.registry import build_registry as load_registry
from dpsync.model.journal import Report
from dpsync.server import world as worlds
from dpsync.server.process.threaded_server import ThreadedServer
from tests.agreed import agreed
from tests.direct import transport

from .configurations import TOKEN, Written, document, world
from .mutations import PARTS, Managed, wanted_organization
from .organizations import Draw, Fields, Organization, live_organization, repair

REGISTRY = load_registry()


class Impatient(Clock):
    """Never waits: faults are injected, not bad luck."""

    def wait(self, seconds: float, cancelled: object) -> None:
        """At once."""


@dataclass
class Case:
    """A platform and what somebody wants of it."""

    world: Fields
    configuration: Fields
    live: list[Organization] = field(default_factory=list)
    wanted: list[Organization] = field(default_factory=list)


def case(draw: Draw, *, size: int = 3, explicit: bool = False, partly: bool = True) -> Case:
    """`explicit`: everything is managed and every field declared, so that only one end state is right."""
    made = Case({}, {})
    written = {}
    for key in ["acme", "globex"][: 2 if draw.chance(0.1) else 1]:
        live = live_organization(draw, key, size)
        managed = Managed() if explicit or not partly else _managed(draw, live)
        wanted = wanted_organization(draw, live, managed, draw.number(1, 8 * size))
        if explicit:
            repair(draw, wanted, strict=True)
        written[key] = Written(draw, live, wanted, managed, explicit).configuration()
        made.live.append(live)
        made.wanted.append(wanted)
    made.world, made.configuration = world(made.live), document(written)
    return made


def _managed(draw: Draw, live: Organization) -> Managed:
    return Managed(
        {part for part in PARTS if not draw.chance(0.12)},
        {team.key for team in live.teams if draw.chance(0.15)},
        {site.key for site in live.sites if draw.chance(0.15)},
    )


# --- driving dpsync ---------------------------------------------------------------------------------


def suited_to_today(value: Any) -> Any:
    """Return the value as the published edition allows it.

    There, sites have no `agentsContext`, a site space has no social accounts of its own, an integration needs
    more fields, and the path of a redirect has no blank.
    """
    if isinstance(value, list):
        return [suited_to_today(item) for item in value]
    if not isinstance(value, dict):
        return value
    made = {
        name.replace("/c d", "/c-d"): suited_to_today(item)
        for name, item in value.items()
        if name != "agentsContext"
    }
    if made.get("type") == "space" and isinstance(made.get("customization"), dict):
        made["customization"].pop("socialAccounts", None)
    if "script" in made and "title" in made:
        made = {"description": "Answers", "scopes": [], **made}
    return made


@dataclass
class Platform:
    """One companion, reset for every example."""

    server: ThreadedServer
    directory: Path
    registry: Registry = REGISTRY

    def start(self, made: Case) -> None:
        made.world = self.suited(made.world)
        self.server.reset(made.world)

    def suited(self, value: Any) -> Any:
        """Return a world or a configuration without what the edition lacks, and with what it requires."""
        return suited_to_today(value) if self.registry.profile.name == "published" else value

    def session(self, configuration: Fields, parallelism: int = 4) -> Session:
        root = self.directory / "dpsync.yaml"
        root.write_text(json.dumps(self.suited(configuration)), encoding="utf-8")
        return Session(load(root, {}, self.registry), self.registry, parallelism)

    def client(self, around: Callable[[Transport], Transport] = lambda inner: inner) -> WriteClient:
        inner = transport(self.server, TOKEN)
        return WriteClient(self.server.url, TOKEN, transport=around(inner), clock=Impatient())

    def plan(self, session: Session, *confirm: str) -> Planned:
        with self.client() as client:
            return agreed(session, client, Options(confirm=confirm))

    def apply(
        self,
        session: Session,
        planned: Planned | None = None,
        around: Callable[[Transport], Transport] = lambda inner: inner,
    ) -> Report:
        with self.client(around) as client:
            planned = planned or agreed(session, client)
            return session.apply(client, planned, secrets={})

    def writes(self) -> list[tuple[str, str, int]]:
        """Every request that was no GET since the log was last emptied."""

        def take() -> list[tuple[str, str, int]]:
            found = [entry for entry in self.server.app.requests if entry[0] != "GET"]
            self.server.app.requests.clear()
            return found

        return self.server.run_in_server(take)

    def state(self) -> Fields:
        return self.server.run_in_server(lambda: worlds.dump_world(self.server.app.store))


def fulfilled(platform: Platform, made: Case) -> Fields:
    """Load what the case wants as a world, without dpsync, and return the state of the platform."""
    wanted = [org.copy() for org in made.wanted]
    for org in wanted:
        nodes = [node for site in org.sites for node in site.nodes()]
        for thing in (*org.teams, *org.collections, *org.spaces, *org.sites, *nodes):
            thing.id = thing.id or f"new-{org.key}-{thing.key}"
    platform.server.reset(platform.suited(world(wanted)))
    return platform.state()


def adopts(made: Case) -> bool:
    """Whether a new entry has a name that is live: then it is no new one."""
    for live, wanted in zip(made.live, made.wanted, strict=True):
        for name, now, then in (
            ("title", live.collections, wanted.collections),
            ("title", live.spaces, wanted.spaces),
            ("basename", live.sites, wanted.sites),
            ("title", live.sites, wanted.sites),
        ):
            taken = {thing.fields[name] for thing in now}
            if any(thing.id is None and thing.fields[name] in taken for thing in then):
                return True
    return False


class Around:
    """A transport that sees every request before it is sent and every answer before it is read."""

    def __init__(self, inner: Transport) -> None:
        self.inner = inner

    def send(self, request: Request) -> Response:
        return self.inner.send(request)

    def close(self) -> None:
        self.inner.close()

    def stats(self) -> Any:
        return self.inner.stats()
