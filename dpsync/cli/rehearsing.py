"""The rehearsal of a command: of `rehearse`, of `plan --rehearse` and of `apply --rehearse`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from dpsync.cli.terminal.output import Output
from dpsync.model.findings.diagnostic import Exit

if TYPE_CHECKING:
    from dpsync.api import Planned, Session
    from dpsync.client.recording import Recording
    from dpsync.model.plans.plan import Plan
    from dpsync.model.plans.rehearsal import Rehearsal


def carried_out(out: Output, session: Session, planned: Planned, recording: Recording) -> Rehearsal:
    """Rehearse a plan that may be applied. Raises ClickException without the companion's packages."""
    from dpsync.collector import collector_running
    from dpsync.rehearse.replica import NoCompanion
    from dpsync.rehearse.run import Stage, rehearse

    steps = sum(len(change.steps) for change in planned.plan.changes)
    try:
        with out.progress.during("Rehearsing", steps), collector_running():
            return rehearse(Stage(session, planned, recording), report=lambda _: out.progress.step())
    except NoCompanion as missing:
        raise click.ClickException(str(missing)) from None


def ending(plan: Plan, rehearsal: Rehearsal | None) -> Exit:
    """The exit code: that of an apply which ends like the rehearsal, but 4 where it was not as planned."""
    if plan.refusals:
        return Exit.REFUSED
    if rehearsal is None:
        return Exit.PARTIAL if plan.blocked else Exit.DONE
    if not rehearsal.fit:
        return Exit.REFUSED
    return Exit.DONE if rehearsal.complete else Exit.PARTIAL
