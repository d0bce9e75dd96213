"""How the laws are run: how many examples, what is no example at all, and what a failure shows."""

from __future__ import annotations

import os
from collections.abc import Callable
from random import Random
from typing import Any

from hypothesis import HealthCheck, Phase, assume, currently_in_test_context, event, example, given, settings
from hypothesis import strategies as st

from dpsync.api import Planned, Session
from dpsync.model.address import Address
from dpsync.model.diagnostic import DiagnosticError
from dpsync.model.journal import SUCCESSFUL, Report
from tests.agreed import answers
from tests.soak import SOAK

from .organizations import Draw
from .platform import Platform

SLICE = 11
"""A normal run tries one of so many organizations."""
SHRINK = os.environ.get("DPSYNC_SHRINK") == "1"
AMBIGUOUS = {"DP301", "DP302", "DP303"}
"""What the design refuses on purpose; the generator pins most of it away. DP301: another entry has taken
the site below which something is pinned."""
TAKEN_OVER = {"create-only", "restructure", "taken"}
"""What follows when an unpinned entry is recognised as something else than the generator meant."""


def law(examples: int) -> Callable[[Any], Any]:
    """Return a decorator that runs a test of `(platform, draw)` over many organizations.

    A normal run has one of `SLICE` of the examples, the same ones each time; a soak has all of them, and
    others that are drawn each time.
    """

    def decorate(test: Any) -> Any:
        chosen = settings(
            max_examples=examples * 20,
            database=None,
            deadline=None,
            print_blob=True,
            # Shrinking takes minutes: ask for it where a failure is too large to be understood.
            phases=[Phase.explicit, *[Phase.generate] * (SOAK or SHRINK), *[Phase.shrink] * SHRINK],
            suppress_health_check=list(HealthCheck),
        )
        law = chosen(given(draw=st.randoms(use_true_random=False).map(Draw))(test))
        for seed in range(0, examples, 1 if SOAK else SLICE):
            law = example(draw=Draw(Random(seed)))(law)
        return law

    return decorate


def plan_of(platform: Platform, session: Session) -> Planned:
    """Plan with the answers that the plan asks for; discard an ambiguous generated configuration."""
    try:
        planned = platform.plan(session)
        # What a platform without drafts, or one that nobody can ask whose token it is, leaves to a person.
        asked = [*answers(planned.plan, "expose for a moment"), *answers(planned.plan, "not my own")]
        planned = platform.plan(session, *asked) if asked else planned
    except DiagnosticError as error:
        codes = {item.code for item in error.diagnostics}
        if not codes <= AMBIGUOUS:
            raise
        discard_if(True, "ambiguous")
        raise
    meant_as_recognised(session, planned)
    assert planned.plan.refusals == ()
    _note(f"steps: {_magnitude(sum(len(change.steps) for change in planned.plan.changes))}")
    return planned


def meant_as_recognised(session: Session, planned: Planned) -> None:
    """Discard a plan that is refused because an entry matched another object than the intended one.

    This happens if a new entry has the name of a live object, so that its nodes could be any of the object's
    nodes, or if two entries that have only their names have exchanged all their content.
    """
    refusals, entries = planned.plan.refusals, session.desired.entries
    adopted = any(entry.new and address in planned.snapshot.matches for address, entry in entries.items())
    expected = TAKEN_OVER | ({"unclear"} if adopted else set())
    # Where nobody can ask whose token it is, dpsync asks the person about admins.
    expected |= set() if session.registry.profile.has_operation("GET", "/user") else {"own-user"}
    others = [item for item in refusals if item.code not in expected]
    named = all(
        item.code == "exchanged" and entries[Address.parse(item.address)].pin is None for item in others
    )
    discard_if(bool(refusals) and named, "recognised as something else")


def discard_if(condition: bool, why: str) -> None:
    if condition:
        _note(f"discarded: {why}")
        assume(False)


def _note(what: str) -> None:
    if currently_in_test_context():
        event(what)


def _magnitude(number: int) -> str:
    return next((f"under {limit}" for limit in (1, 10, 30, 100) if number < limit), "100 and more")


def said(report: Report) -> str:
    """Why a report is not complete, for the message of an assertion."""
    bad = [outcome for outcome in report.outcomes if outcome.result not in SUCCESSFUL]
    left = report.remaining.changes if report.remaining else ()
    lines = [f"{outcome.step}: {outcome.result} {outcome.error}" for outcome in bad]
    lines += [
        f"left: {change.action} {change.address} {change.differences} {change.moved}" for change in left
    ]
    return "\n".join([*lines, *report.trouble])
