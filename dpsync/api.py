"""The public Python API: load, plan, apply. The command line is a thin layer over this module.

desired = load(Path("dpsync.yaml"))
with ReadClient(url, token) as client:
    plan = make_plan(client, desired)
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dpsync.apply.executor import Executor
from dpsync.apply.journal import Journal, NoJournal
from dpsync.apply.run import carry_out
from dpsync.client.client import ReadClient, WriteClient
from dpsync.config.load import load as load_config
from dpsync.kinds.registry import Registry
from dpsync.kinds.registry import load as load_registry
from dpsync.live.evidence import with_evidence
from dpsync.live.reader import read_snapshot
from dpsync.model.desired import Desired
from dpsync.model.diagnostic import Diagnostic, DiagnosticError, Exit
from dpsync.model.journal import Report
from dpsync.model.plan import Plan
from dpsync.model.snapshot import Snapshot
from dpsync.planner.context import Context, Options
from dpsync.planner.plan import make_plan
from dpsync.planner.removal import removal

__all__ = ["Options", "Planned", "Session", "load", "load_registry"]


def load(root: Path, env: Mapping[str, str] | None = None, registry: Registry | None = None) -> Desired:
    """The checked configuration. Raises DiagnosticError (exit 5) with everything that is wrong."""
    desired, diagnostics = load_config(root, registry or load_registry(), os.environ if env is None else env)
    errors = [item for item in diagnostics if item.severity == "error"]
    if errors:
        raise DiagnosticError(errors, Exit.INVALID, desired.texts)
    return desired


@dataclass(frozen=True)
class Planned:
    """A plan and the snapshot that it rests on."""

    plan: Plan
    snapshot: Snapshot


@dataclass(frozen=True)
class Session:
    """A configuration against a platform. `parallelism` bounds the requests in flight."""

    desired: Desired
    registry: Registry
    parallelism: int = 4

    def plan(self, client: ReadClient, options: Options | None = None) -> Planned:
        """Read, compare, plan; when deletes result, what they rest on is read again and more closely.

        Raises ClientError when reading failed, DiagnosticError when the configuration does not fit what is
        live.
        """
        try:
            return self._plan(client, options or Options())
        except DiagnosticError as found:
            raise DiagnosticError(found.diagnostics, found.exit_code, self.desired.texts) from None

    def _plan(self, client: ReadClient, options: Options) -> Planned:
        snapshot = read_snapshot(client, self.registry, self.desired, self.parallelism)
        going = removal(Context(self.registry, self.desired, snapshot, options))
        if going.roots:
            snapshot = with_evidence(client, self.registry, snapshot, going.roots, self.parallelism)
        return Planned(make_plan(Context(self.registry, self.desired, snapshot, options)), snapshot)

    def executor(
        self,
        client: WriteClient,
        planned: Planned,
        journal: Journal | None = None,
        secrets: Mapping[str, str] | None = None,
    ) -> Executor:
        """What carries out a plan: `apply` runs it, `stop()` ends it, from another thread or a signal too."""
        return Executor(
            client,
            self.registry,
            self.desired,
            planned.snapshot,
            planned.plan,
            journal or NoJournal(),
            os.environ if secrets is None else secrets,
            self.parallelism,
        )

    def apply(self, executor: Executor, options: Options | None = None) -> Report:
        """Carry out a plan and prove the result.

        Raises Refused when the platform has changed since the plan was made, DiagnosticError when a secret is
        missing or the plan may not be applied; nothing was written then.
        """
        if not executor.plan.can_apply:
            found = [
                Diagnostic(item.code, item.message, address=item.address) for item in executor.plan.refusals
            ]
            raise DiagnosticError(found, Exit.REFUSED)
        return carry_out(executor, lambda: self.plan(executor.client, options).plan)
