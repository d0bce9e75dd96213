"""Plans of the laws, made with a recording, so that they can be rehearsed."""

from __future__ import annotations

from dpsync.api import Options, Session
from dpsync.client.recording import Recording
from dpsync.client.retry import Clock
from dpsync.model.diagnostic import DiagnosticError
from dpsync.rehearse.faults import RehearsalSetup
from tests.agreed import answers

from .laws import AMBIGUOUS, discard_if, meant_as_recognised
from .platform import Platform

WORDS = ("delete ", "expose for a moment")


def staged(platform: Platform, session: Session, _clock: Clock | None = None) -> RehearsalSetup:
    """Plan with every answer that the plan asks for; return the plan and what it was made from."""
    confirm: tuple[str, ...] = ()
    for _ in range(3):  # what was answered may lead to another question
        recording = Recording()
        with platform.client(recording.wrap_transport) as client:
            try:
                planned = session.plan(client, Options(confirm=confirm))
            except DiagnosticError as error:
                discard_if({item.code for item in error.diagnostics} <= AMBIGUOUS, "ambiguous")
                raise
        refusals = planned.plan.refusals
        more = [text for words in WORDS for text in answers(planned.plan, words)]
        more += [f"not my own {item.address}" for item in refusals if item.code == "own-user"]
        if not more:
            break
        confirm += tuple(more)
    meant_as_recognised(session, planned)
    assert planned.plan.refusals == ()
    return RehearsalSetup(session, planned, recording)
