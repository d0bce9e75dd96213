"""A project in a real git repository, against a companion: what was committed, what is written now."""

from __future__ import annotations

import os
import subprocess
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent, indent
from typing import Any

from dpsync.api import Options, Planned, Session, load, load_base
from dpsync.client.client import WriteClient
from dpsync.client.transport import Request, Response, Transport
from dpsync.kinds.registry import build_registry as load_registry
from dpsync.live.reading_state import recorded_lines
from dpsync.model.address import Address
from dpsync.model.diagnostic import DiagnosticError
from dpsync.model.ids import NO_IDS, IdsEdits, IdsFile, RecordedLine
from dpsync.model.journal import Report
from dpsync.model.plan import Plan
from dpsync.server import world as worlds
from dpsync.server.process.threaded_server import ThreadedServer
from tests.agreed import agreed
from tests.direct import transport, writing

REGISTRY = load_registry()
AUTHOR = ("-c", "user.name=Ada", "-c", "user.email=ada@acme.example", "-c", "commit.gpgsign=false")


def git(directory: Path, *arguments: str) -> str:
    env = {"PATH": os.environ["PATH"], "HOME": str(directory), "GIT_CONFIG_NOSYSTEM": "1"}
    command = ["git", "-C", str(directory), *AUTHOR, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=env).stdout.strip()


def configuration(body: str, policy: str = "{}") -> str:
    below = indent(dedent(body).strip("\n"), "    ")
    return f"dpsync: 1\npolicy: {policy}\norganizations:\n  acme:\n    id: acme\n{below}\n"


@dataclass
class Project:
    """A checkout and a platform. `base` names a commit; without it the default applies."""

    server: ThreadedServer
    directory: Path
    env: dict[str, str] = field(default_factory=dict)
    base: str | None = None
    ids: dict[Address, RecordedLine] | None = None
    """The lines of the ids file; None where there is none and none is written."""
    content_may_go: bool = True
    """Whether that is agreed to, where it is asked."""

    def holds(self, **organization: Any) -> Project:
        ada = {"id": "ada", "displayName": "ada", "email": "ada@acme.example"}
        acme = {"id": "acme", "title": "Acme", "members": [{"user": "ada", "role": "admin"}], **organization}
        self.server.reset({"users": [ada], "tokens": {"token": "ada"}, "organizations": [acme]})
        return self

    def write(self, body: str, policy: str = "{}") -> Project:
        (self.directory / "dpsync.yaml").write_text(configuration(body, policy), encoding="utf-8")
        return self

    def commit(self, body: str, policy: str = "{}") -> Project:
        if not (self.directory / ".git").exists():
            git(self.directory, "init", "-q", "-b", "main")
        self.write(body, policy)
        git(self.directory, "add", "--all")
        git(self.directory, "commit", "-q", "--allow-empty", "-m", "as it is")
        return self

    def session(self) -> Session:
        root = self.directory / "dpsync.yaml"
        base = load_base(root, self.base, self.env, REGISTRY)
        return Session(load(root, self.env, REGISTRY), REGISTRY, 1, base, self.file())

    def file(self) -> IdsFile:
        """Return the ids file for a platform whose name stays the same when the companion is reset."""
        if not self.ids:
            return NO_IDS
        with self.client() as client:
            client.get("/user")
            return IdsFile({client.platform: {"acme": self.ids}})

    def record(self) -> Project:
        """Write down which object each entry is, as an import or an apply does."""
        session = self.session()
        with self.client() as client:
            lines = recorded_lines(REGISTRY, session.readable, session.plan(client).snapshot)
        self.ids = {**(self.ids or {}), **lines}
        return self

    def plan(self, *confirm: str) -> Plan:
        with self.client() as client:
            return self._planned(self.session(), client, Options(confirm)).plan

    def _planned(self, session: Session, client: WriteClient, options: Options) -> Planned:
        return (agreed if self.content_may_go else Session.plan)(session, client, options)

    def plan_if_clear(self) -> Plan | None:
        """Return a plan, or None if the configuration does not fit the live state."""
        try:
            return self.plan()
        except DiagnosticError:
            return None

    def apply(self, *confirm: str, client: WriteClient | None = None) -> Report:
        session, options = self.session(), Options(confirm)
        with client or self.client() as open_:
            planned = self._planned(session, open_, options)
            assert planned.plan.can_apply, planned.plan.refusals
            return session.apply(open_, planned, ids=self if self.ids is not None else None)

    def edit(self, _platform: str, edits: IdsEdits) -> None:
        """Change lines of the ids file, as an apply does."""
        lines = {address: line for (_, address), line in edits.items()}
        known = {at: line for at, line in (self.ids or {}).items() if at not in lines}
        self.ids = {**known, **{at: line for at, line in lines.items() if line is not None}}

    def converges(self, *confirm: str) -> Report:
        report = self.apply(*confirm)
        assert [item for item in report.outcomes if item.result not in ("done", "already")] == []
        assert report.converged, report.remaining
        return report

    def client(self) -> WriteClient:
        return writing(self.server)

    def dies(self, number: int, when: str) -> bool:
        """Apply, while the process dies at the write with this number; whether there was such a write."""
        dying = _Dies(transport(self.server), number, when)
        with suppress(_Dead):
            self.apply(client=WriteClient(self.server.url, "token", transport=dying))
        return dying.dead

    def live(self, place: str, name: str = "title") -> dict[str, str]:
        """By id, what the things of one place of the organization are called."""
        state = self.server.run_in_server(lambda: worlds.dump_world(self.server.app.store))
        (acme,) = state["organizations"]
        return {item["id"]: item.get(name) for item in acme[place] if "deletedAt" not in item}


class _Dead(BaseException):
    """The process is gone."""


class _Dies:
    """A transport that ends the process at one write, before it is sent or before its answer is read."""

    def __init__(self, inner: Transport, number: int, when: str) -> None:
        self.inner = inner
        self.left = number
        self.when = when
        self.dead = False

    def send(self, request: Request) -> Response:
        if self.dead:
            raise _Dead
        if request.method != "GET":
            self.left -= 1
            if self.left < 0:
                self.dead = True
                if self.when == "after":
                    self.inner.send(request)
                raise _Dead
        return self.inner.send(request)

    def close(self) -> None:
        self.inner.close()

    def stats(self) -> Any:
        return self.inner.stats()
