"""That content may go is agreed to here, for tests which are about something else."""

from __future__ import annotations

from msgspec.structs import replace

from dpsync.api import Options, Planned, Session
from dpsync.client.client import ReadClient
from dpsync.model.plan import Plan
from dpsync.planner.answers import answer_in_flag


def answer_about_content(plan: Plan) -> tuple[str, ...]:
    """Return the answers that confirm deleting content, or none if the plan exceeds its limits."""
    limited = any(refusal.code == "limits" for refusal in plan.refusals)
    return () if limited else plan.delete_decision.answers


def answers(plan: Plan, words: str) -> tuple[str, ...]:
    """Return the answers to the plan's questions whose flag contains `words`."""
    flags = (way.add for one in plan.refusals for way in one.answers)
    return tuple(found for flag in flags if words in flag and (found := answer_in_flag(flag)) is not None)


def agreed(session: Session, client: ReadClient, options: Options | None = None) -> Planned:
    """Plan, and plan again with the answers that confirm deleting content if the plan asks for them."""
    options = options or Options()
    planned = session.plan(client, options)
    if more := answer_about_content(planned.plan):
        return session.plan(client, replace(options, confirm=(*options.confirm, *more)))
    return planned
