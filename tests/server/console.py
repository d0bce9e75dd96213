"""A companion with its console, for the tests of what it answers and of what a browser makes of it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from msgspec import Struct

from dpsync.server import world as worlds
from dpsync.server.console.app import Console
from dpsync.server.console.plan_runner import PlanProgram
from dpsync.server.control.clock import MovableClock
from dpsync.server.control.gateway import Gateway
from dpsync.server.control.plane import ControlPlane
from dpsync.server.http.app import build_companion
from dpsync.server.process.threaded_server import ThreadedServer
from dpsync.server.store import Store, open_store

READ = {"platform": "https://docs.example.com/<b>", "readAt": "2026-01-01T00:00:00Z"}
BANNER = "A copy of https://docs.example.com/<b> at 2026-01-01T00:00:00Z"
HOSTILE = (
    "<script>alert(1)</script>", '"><img src=x onerror=alert(2)>', "{{ 7 * 7 }}{% raw %}",
    "'</style><iframe src=//evil.example>", "\u202egnp.exe\u2066", "مرحبا بالعالم", "\x1b[31mred\x00", "  ",
    "a" * 200,
)  # fmt: skip
"""Titles that somebody else wrote."""


class Companion(Struct, frozen=True):
    url: str
    server: ThreadedServer
    console: Console

    @property
    def store(self) -> Store:
        return self.server.app.store

    def load(self, world: dict[str, Any]) -> None:
        self.server.run_in_server(lambda: worlds.load_world(self.store, world))


def printing(text: str, code: int = 0, said: str = "") -> PlanProgram:
    """Return a program in place of `dpsync plan`. Its texts may name environment variables as {NAME}."""
    script = (
        "import os, sys; fill = lambda text: text.format_map(os.environ); "
        f"print(fill({text!r})); print(fill({said!r}), file=sys.stderr); sys.exit({code})"
    )
    return PlanProgram("docs", (sys.executable, "-c", script), "dpsync plan -C docs")


@contextmanager
def served(
    profile: str = "full",
    workers: int = 1,
    read: dict[str, Any] | None = None,
    program: PlanProgram | None = None,
) -> Iterator[Companion]:
    start = worlds.PreparedWorld({**worlds.load_builtin_world(), **({"origin": read} if read else {})})
    store = open_store(":memory:")

    def start_over(store: Store) -> None:
        start.load(store)

    start_over(store)
    clock = MovableClock(store)
    app = build_companion(store, profile=profile, clock=clock)
    console = Console(ControlPlane(Gateway(app), clock, start_over, workers), program)
    with ThreadedServer(app, console) as server:
        yield Companion(server.url, server, console)
    store.close()


def hostile_world() -> dict[str, Any]:
    """One organization in which every title is a hostile one."""
    number = range(len(HOSTILE))
    return {
        "users": [{"id": "ada", "displayName": HOSTILE[0], "email": "ada@zoo.example"}],
        "tokens": {"ada-token": "ada"},
        "organizations": [
            {
                "id": "zoo",
                "title": HOSTILE[0],
                "members": [{"user": "ada", "role": "admin"}],
                "teams": [{"id": f"t{n}", "title": HOSTILE[n], "members": [{"user": "ada"}]} for n in number],
                "collections": [{"id": f"c{n}", "title": HOSTILE[n]} for n in number],
                "spaces": [{"id": f"s{n}", "title": HOSTILE[n], "parent": f"c{n}"} for n in number],
                "sites": [
                    {
                        "id": "site",
                        "title": HOSTILE[1],
                        "published": True,
                        "structure": [
                            {"type": "external-link", "title": "x", "url": "javascript:alert(4)"},
                            *(
                                {
                                    "type": "section-group",
                                    "title": HOSTILE[n],
                                    "children": [
                                        {
                                            "type": "section",
                                            "title": HOSTILE[n],
                                            "children": [{"type": "space", "space": f"s{n}"}],
                                        }
                                    ],
                                }
                                for n in number
                            ),
                        ],
                    }
                ],
            }
        ],
    }
