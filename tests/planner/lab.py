"""Small worlds, and the whole way from YAML to plan and report against them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent, indent
from typing import Any

from dpsync.api import Options, Registry, Session, load
from dpsync.kinds.registry import build_registry as load_registry
from dpsync.model.journal import Report
from dpsync.model.plan import Plan
from dpsync.server import world as worlds
from dpsync.server.process.threaded_server import ThreadedServer
from tests.agreed import agreed
from tests.direct import reading, writing

REGISTRY = load_registry()
PEOPLE = ("ada", "bo", "cy")


def world(**organization: Any) -> dict[str, Any]:
    """One organization: ada is its admin and whose token it is; bo creates, cy reads."""
    members = [
        {"user": name, "role": role} for name, role in zip(PEOPLE, ("admin", "create", "read"), strict=True)
    ]
    return {
        "users": [{"id": name, "displayName": name, "email": f"{name}@acme.example"} for name in PEOPLE],
        "tokens": {"token": "ada"},
        "organizations": [{"id": "acme", "title": "Acme", "members": members, **organization}],
    }


@dataclass
class Lab:
    """One platform and one project."""

    server: ThreadedServer
    project: Path
    registry: Registry = REGISTRY

    def holds(self, **organization: Any) -> Lab:
        self.server.reset(world(**organization))
        return self

    def session(self, body: str, policy: str = "{}") -> Session:
        """`body` is what the organization declares."""
        below = indent(dedent(body).strip("\n"), "    ")
        text = f"dpsync: 1\npolicy: {policy}\norganizations:\n  acme:\n    id: acme\n{below}\n"
        (self.project / "dpsync.yaml").write_text(text, encoding="utf-8")
        return Session(load(self.project / "dpsync.yaml", {}, self.registry), self.registry)

    def plan(self, body: str, policy: str = "{}", *confirm: str, delete: bool = True) -> Plan:
        """Plan with the answers that confirm deleting content."""
        with reading(self.server) as client:
            return agreed(self.session(body, policy), client, Options(confirm, delete)).plan

    def unanswered(self, body: str, policy: str = "{}", *confirm: str) -> Plan:
        with reading(self.server) as client:
            return self.session(body, policy).plan(client, Options(confirm)).plan

    def apply(self, body: str, policy: str = "{}", *confirm: str) -> Report:
        session, options = self.session(body, policy), Options(confirm)
        self.server.app.requests.clear()
        with writing(self.server) as client:
            return session.apply(client, agreed(session, client, options))

    def converges(self, body: str, policy: str = "{}", *confirm: str) -> Report:
        report = self.apply(body, policy, *confirm)
        assert [item for item in report.outcomes if item.result not in ("done", "already")] == []
        assert report.converged, report.remaining
        return report

    def world(self) -> dict[str, Any]:
        """Everything there is, as the companion exports it."""
        return self.server.run_in_server(lambda: worlds.dump_world(self.server.app.store))

    @property
    def writes(self) -> list[str]:
        """The writes since the last apply began, in the order in which they arrived."""
        return [
            f"{method} {path.removeprefix('/v1')}"
            for method, path, _ in self.server.app.requests
            if method != "GET"
        ]


def section(key: str, *spaces: str, **more: Any) -> dict[str, Any]:
    """Return a section of a world; the ids of its site spaces are KEY-SPACE."""
    children = [{"type": "space", "id": f"{key}-{space}", "space": space, "path": space} for space in spaces]
    node = {"type": "section", "id": key, "title": f"Section {key}", "path": key, "children": children}
    return {**node, **more}


def group(key: str, *children: dict[str, Any]) -> dict[str, Any]:
    return {"type": "section-group", "id": key, "title": f"Group {key}", "children": list(children)}


def spaces(*keys: str, **more: Any) -> list[dict[str, Any]]:
    return [{"id": key, "title": f"Space {key}", **more} for key in keys]


def site(*structure: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"id": "docs", "title": "Docs", "basename": "docs", "structure": list(structure), **more}
