"""On a server with the documented operations alone: whatever can be done is done, the rest is told before."""

from __future__ import annotations

import re

from dpsync.api import Planned, Session
from dpsync.kinds.profiles import REFERENCE
from dpsync.model.diagnostic import DiagnosticError
from dpsync.model.journal import SUCCESSFUL
from dpsync.server.operations import OPERATIONS

from .laws import AMBIGUOUS, discard_if, law, meant_as_recognised, said
from .organizations import Draw
from .platform import Platform, case

_PATTERNS = [
    (method, re.compile("/v1" + re.escape(path).replace(r"\{\}", "[^/]+")))
    for method, path in REFERENCE.operations or ()
]


def plan_of(platform: Platform, session: Session) -> tuple[Planned, tuple[str, ...]]:
    """Plan; return the plan and its answers about whether a deleted admin is the token's own user."""
    try:
        first = platform.plan(session).plan
    except DiagnosticError as error:
        discard_if({item.code for item in error.diagnostics} <= AMBIGUOUS, "ambiguous")
        raise
    asked = tuple(f"not my own {item.address}" for item in first.refusals if item.code == "own-user")
    planned = platform.plan(session, *asked)
    meant_as_recognised(session, planned)
    assert planned.plan.refusals == ()
    return planned, asked


@law(60)
def test_apply_on_reference_version_converges_except_blocked_changes(reference: Platform, draw: Draw) -> None:
    made = case(draw, size=draw.number(1, 5))
    reference.start(made)
    session = reference.session(made.configuration, parallelism=draw.pick([4, 1, 16]))
    planned, _ = plan_of(reference, session)

    report = reference.apply(session, planned)

    assert [item for item in report.outcomes if item.result not in SUCCESSFUL] == [], said(report)
    assert report.converged, said(report)
    reference.writes()
    again = reference.apply(session)
    assert (again.writes, reference.writes()) == (0, [])


@law(30)
def test_apply_on_reference_version_sends_only_supported_requests(reference: Platform, draw: Draw) -> None:
    made = case(draw, size=draw.number(1, 5))
    reference.start(made)
    session = reference.session(made.configuration)
    planned, _ = plan_of(reference, session)

    reference.apply(session, planned)

    for method, path, status in reference.server.run_in_server(lambda: list(reference.server.app.requests)):
        assert status != 501
        assert any(word == method and pattern.fullmatch(path) for word, pattern in _PATTERNS), (method, path)


def test_reference_api_version_equals_local_server_operations() -> None:
    served = {
        (row.method, re.sub(r"\{\w+\}", "{}", row.path))
        for row in OPERATIONS
        if row.is_supported_by("reference")
    }
    assert served == REFERENCE.operations
    assert len(served) == 145
