"""Rehearse a plan for `rehearse`, `plan --rehearse` and `apply --rehearse`, and show the result.

A rehearsal applies the plan to a copy of the live organization in a local server.
"""

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

    ConnectionT = TypeVar("ConnectionT", bound=Connection | None)
    ClientT = TypeVar("ClientT", bound=ReadClient)


_SEED_COUNT = 1_000_000


def start_recording(rehearse: bool) -> Recording | None:
    """Return a recording for the responses that a rehearsal needs; None without a rehearsal."""
    if not rehearse:
        return None
    from dpsync.client.recording import Recording

    return Recording()


def rehearse_plan(
    out: Output, session: Session, planned: Planned, recording: Recording | None, faults: int = 0,
    seed: int | None = None,
) -> Rehearsal | None:  # fmt: skip
    """Rehearse a plan on a copy of the live organization.

    Return None without a recording (no rehearsal was requested), or if there is nothing to apply.

    Args:
        recording: The responses of the platform during the plan, from which the copy is made.
        faults: The number of further rehearsals with simulated failures of requests.
        seed: The seed of these failures; None for a random seed.

    Raises:
        ClickException: The packages of the local server are not installed.
    """
    if recording is None:
        return None
    recording.stop()
    if planned.plan.refusals or planned.plan.empty:
        return None
    from secrets import randbelow

    from dpsync.collector import collector_running
    from dpsync.rehearse.faults import RehearsalSetup
    from dpsync.rehearse.replica import NoCompanionError
    from dpsync.rehearse.run import rehearse

    steps = sum(len(change.steps) for change in planned.plan.changes)
    try:
        with out.progress.show_during("Rehearsing", steps), collector_running():
            return rehearse(
                RehearsalSetup(session, planned, recording),
                faults=faults,
                seed=randbelow(_SEED_COUNT) if seed is None else seed,
                report=lambda _: out.progress.step(),
            )
    except NoCompanionError as error:
        raise click.ClickException(str(error)) from None


def show_rehearsal(out: Output, plan: Plan, rehearsal: Rehearsal | None) -> None:
    """Print the result of a rehearsal after its plan, if there was one and the output is text."""
    from dpsync.render.view_text import render_rehearsal

    if out.is_text and rehearsal is not None:
        out.print_prose(f"\n{render_rehearsal(plan, out.printable(rehearsal), out.paint())}")


def rehearsal_exit_code(plan: Plan, rehearsal: Rehearsal | None) -> Exit:
    """Return the exit code of an apply that ends like the rehearsal; 4 if the rehearsal failed."""
    if plan.refusals:
        return Exit.REFUSED
    if rehearsal is None:
        return Exit.PARTIAL if plan.blocked else Exit.DONE
    if not rehearsal.went_as_planned:
        return Exit.REFUSED
    return Exit.DONE if rehearsal.complete else Exit.PARTIAL
