"""A plan with every sort of step, ready to be rehearsed: made against a companion, without a socket."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dpsync.api import Options, Session, load
from dpsync.client.client import ReadClient
from dpsync.client.recording import Recording
from dpsync.kinds.registry import Registry
from dpsync.kinds.registry import build_registry as load_registry
from dpsync.rehearse.faults import RehearsalSetup
from dpsync.server.process.threaded_server import ThreadedServer
from tests.direct import transport

Staged = Callable[..., RehearsalSetup]
REGISTRY = load_registry()


def space(key: str, **more: Any) -> dict[str, Any]:
    return {"type": "space", "id": f"p-{key}", "space": key, "path": key, **more}


def part(key: str, *children: dict[str, Any]) -> dict[str, Any]:
    return {"type": "section", "id": f"s-{key}", "title": f"Part {key}", "path": key, "children": [*children]}


WORLD: dict[str, Any] = {
    "users": [{"id": "ada", "email": "ada@acme.example"}, {"id": "lin", "email": "lin@acme.example"}],
    "tokens": {"ada-token": "ada"},
    "organizations": [
        {
            "id": "acme",
            "title": "Acme",
            "members": [{"user": "ada", "role": "admin"}, {"user": "lin", "role": "edit"}],
            "teams": [{"id": "t-old", "title": "Old"}, {"id": "t-ops", "title": "Ops"}],
            "collections": [{"id": "c-old", "title": "Old"}],
            "spaces": [
                {"id": "guides", "title": "Guides", "parent": "c-old"},
                {"id": "news", "title": "News"},
                {"id": "blog", "title": "Blog"},
                {"id": "inside", "title": "Inside"},
            ],
            "sites": [
                {"id": "docs", "title": "Docs", "basename": "docs", "visibility": "public", "published": True,
                 "structure": [
                     part("a", space("news")), part("b", space("blog")), part("c", space("guides")),
                 ]},
                {"id": "staff", "title": "Staff", "basename": "staff", "visibility": "public",
                 "published": True, "structure": [{**space("blog"), "id": "p-staff"}]},
            ],
        }
    ],
}  # fmt: skip


def shown(key: str) -> dict[str, Any]:
    return {"type": "space", "key": key, "space": key, "path": key}


def section(key: str, *children: str) -> dict[str, Any]:
    return {
        "type": "section", "key": key, "title": f"Part {key}", "path": key,
        "children": [shown(child) for child in children],
    }  # fmt: skip


WANTED: dict[str, Any] = {
    "dpsync": 1,
    "policy": {
        "prune": ["teams", "collections", "sites/docs/structure"],
        "limits": {"deletes": 50, "percent": 100},
        "removed": ["teams/[Old]", "collections/[Old]"],
    },
    "organizations": {
        "acme": {
            "id": "acme",
            "teams": {
                "ops": {"title": "Operations", "id": "t-ops", "members": {"lin@acme.example": "owner"}},
                "new": {"title": "New", "new": True, "members": {"ada@acme.example": "member"}},
            },
            "collections": {"all": {"title": "All", "new": True}},
            "spaces": {
                "guides": {"title": "Guides", "collection": "all"},
                "news": {"title": "The news", "id": "news"},
                "blog": {"title": "Blog"},
                "inside": {"title": "Inside"},
                "fresh": {"title": "Fresh", "new": True, "collection": "all"},
            },
            "sites": {
                "docs": {
                    "basename": "docs",
                    "title": "Docs",
                    "structure": [
                        section("c", "guides"), section("a", "news", "fresh"), section("b", "blog"),
                    ],
                },
                # It is withdrawn from the public before the space that is for its staff alone comes into it.
                "staff": {
                    "basename": "staff", "title": "Staff", "visibility": "visitor-auth",
                    "structure": [shown("blog"), shown("inside")],
                },
            },
        }
    },
}  # fmt: skip


def make_staged(server: ThreadedServer, registry: Registry, tmp_path: Path) -> Staged:
    def make(
        wanted: dict[str, Any] = WANTED, world: dict[str, Any] = WORLD, parallelism: int = 1, *confirm: str
    ) -> RehearsalSetup:
        server.reset(world)
        root = tmp_path / "dpsync.yaml"
        root.write_text(json.dumps(wanted), encoding="utf-8")
        session = Session(load(root, {}, registry), registry, parallelism)
        recording = Recording()
        inner = transport(server, "ada-token")
        with ReadClient(server.url, "ada-token", transport=inner, recording=recording) as client:
            planned = session.plan(client, Options(confirm=confirm))
        return RehearsalSetup(session, planned, recording)

    return make


@pytest.fixture
def staged(server: ThreadedServer, tmp_path: Path) -> Staged:
    """Return `staged(configuration, world)`; without arguments, it makes a plan with every sort of step."""
    return make_staged(server, REGISTRY, tmp_path)


@pytest.fixture
def staged_published(published_server: ThreadedServer, tmp_path: Path) -> Staged:
    """Return `staged` on a server with the profile `published`."""
    return make_staged(published_server, load_registry("published"), tmp_path)
