"""The whole way of a configuration over a registry of the test's own: load, read, plan, apply, plan again."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent

from dpsync.api import Options, Planned, Session, load
from dpsync.apply.journal import FileJournal
from dpsync.client.client import ReadClient, WriteClient
from dpsync.client.retry import Clock
from dpsync.kinds.registry import Registry
from dpsync.model.journal import Report
from dpsync.model.plan import Plan
from tests.agreed import agreed


class Impatient(Clock):
    """Never waits."""

    def wait(self, seconds: float, cancelled: object) -> None:
        """At once."""


@dataclass
class Pipeline:
    """One project directory against one platform."""

    url: str
    registry: Registry
    project: Path
    secrets: dict[str, str] = field(default_factory=dict)
    clock: Clock | None = None

    def session(self, text: str) -> Session:
        (self.project / "dpsync.yaml").write_text(dedent(text), encoding="utf-8")
        desired = load(self.project / "dpsync.yaml", {}, self.registry)
        return Session(desired, self.registry)

    def planned(self, text: str, *confirm: str) -> Planned:
        with ReadClient(self.url, "token") as client:
            return agreed(self.session(text), client, Options(confirm=confirm))

    def plan(self, text: str, *confirm: str) -> Plan:
        return self.planned(text, *confirm).plan

    def apply(self, text: str, *confirm: str) -> Report:
        session = self.session(text)
        journal = FileJournal(self.project / ".dpsync" / "journal", "now")
        with WriteClient(self.url, "token", clock=self.clock) as client:
            planned = agreed(session, client, Options(confirm=confirm))
            try:
                return session.apply(client, planned, journal=journal, secrets=self.secrets)
            finally:
                journal.close()

    def journals(self) -> str:
        files = sorted((self.project / ".dpsync" / "journal").glob("*.jsonl"))
        return "".join(file.read_text(encoding="utf-8") for file in files)
