"""The rehearsal of a command: of `rehearse`, of `plan --rehearse` and of `apply --rehearse`."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import click

from dpsync.cli.connection import Connection
from dpsync.cli.output import Output
from dpsync.model.diagnostic import Exit

if TYPE_CHECKING:
    from dpsync.api import Planned, Session
    from dpsync.client.client import ReadClient
    from dpsync.client.recording import Recording
    from dpsync.model.plan import Plan, Rehearsal


if TYPE_CHECKING:
    from dpsync.api import Planned, Session
    from dpsync.client.client import ReadClient
    from dpsync.client.recording import Recording
    from dpsync.model.plan import Plan

    To = TypeVar("To", bound=Connection | None)
    Client = TypeVar("Client", bound=ReadClient)


_SEEDS = 1_000_000


def _carried_out(
    out: Output, session: Session, planned: Planned, recording: Recording, faults: int, seed: int | None
) -> Rehearsal:
    """Rehearse a plan that may be applied. Raises ClickException without the companion's packages."""
    from secrets import randbelow

    from dpsync.collector import collector_running
    from dpsync.rehearse.faults import Stage
    from dpsync.rehearse.replica import NoCompanion
    from dpsync.rehearse.run import rehearse

    steps = sum(len(change.steps) for change in planned.plan.changes)
    try:
        with out.progress.during("Rehearsing", steps), collector_running():
            return rehearse(
                Stage(session, planned, recording),
                faults=faults,
                seed=randbelow(_SEEDS) if seed is None else seed,
                report=lambda _: out.progress.step(),
            )
    except NoCompanion as missing:
        raise click.ClickException(str(missing)) from None


def started(rehearse: bool) -> Recording | None:
    """What is to be kept of the plan's reading; None where nobody wants a rehearsal."""
    if not rehearse:
        return None
    from dpsync.client.recording import Recording

    return Recording()


def rehearsed(
    out: Output, session: Session, planned: Planned, recording: Recording | None, faults: int = 0,
    seed: int | None = None,
) -> Rehearsal | None:  # fmt: skip
    """The rehearsal of a plan that was just made; None where nobody wants one, or there is nothing to do.

    `faults` more of them are disturbed, by a `seed` that is drawn where none is given.
    """
    if recording is None:
        return None
    recording.end()
    plan = planned.plan
    return (
        None if plan.refusals or plan.empty else _carried_out(out, session, planned, recording, faults, seed)
    )


def show_rehearsal(out: Output, plan: Plan, rehearsal: Rehearsal | None) -> None:
    """Tell it below a plan that was printed."""
    from dpsync.render.view_text import render_rehearsal

    if out.text and rehearsal is not None:
        out.prose(f"\n{render_rehearsal(plan, out.printable(rehearsal), out.paint())}")


def ending(plan: Plan, rehearsal: Rehearsal | None) -> Exit:
    """The exit code: that of an apply which ends like the rehearsal, but 4 where it was not as planned."""
    if plan.refusals:
        return Exit.REFUSED
    if rehearsal is None:
        return Exit.PARTIAL if plan.blocked else Exit.DONE
    if not rehearsal.fit:
        return Exit.REFUSED
    return Exit.DONE if rehearsal.complete else Exit.PARTIAL
