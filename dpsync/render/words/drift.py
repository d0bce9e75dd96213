"""The words in which every output tells drift."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from dpsync.model.change import What
from dpsync.model.drift import Drift, Drifted, LastEvent
from dpsync.model.plan import DeleteCount
from dpsync.model.text import counted
from dpsync.render.words.plan import why
from dpsync.render.words.visible import visible

SIGNS = {"different": "~", "missing": "-", "undeclared": "+"}
_WHAT: dict[str, What] = {"missing": "made", "undeclared": "removed", "different": "place"}


def verdict(drift: Drift) -> Iterator[str]:
    """Yield the sentences of the last line: how many objects differ, and how many open access."""
    if drift.drifted:
        yield f"Drift: {counted(len(drift.found), 'object')}."
        opening = sum(max(item.opens, sum(field.opens for field in item.fields)) for item in drift.found)
        if opening:
            yield f"{counted(opening, 'change')} open{'s' if opening == 1 else ''} access."
    else:
        yield "No drift in the objects that dpsync could read." if drift.unread else "No drift."
    if drift.blocked:
        yield f"{len(drift.blocked)} blocked."
    if drift.unread:
        yield f"Not checked: {counted(len(drift.unread), 'object')} that this token cannot read."


def cascade_count(item: Drifted) -> str:
    """What goes with the delete of something undeclared; empty where nothing does."""
    return DeleteCount(1, item.along).more


def changed_by(event: LastEvent, cause: str, now: datetime | None) -> str:
    """Return who changed an object last and when, with why it differs in front."""
    return f"{cause or 'last changed'} by {visible(event.actor)}, {_ago(event.at, now)}"


def _ago(at: str, now: datetime | None) -> str:
    """Return a time as people say it; without `now` as the platform says it."""
    try:
        moment = datetime.fromisoformat(at.replace("Z", "+00:00"))
    except ValueError:
        return visible(at)
    if now is None:
        return visible(at)
    seconds = (now - (moment if moment.tzinfo else moment.replace(tzinfo=UTC))).total_seconds()
    if seconds < 60:
        return "just now" if seconds > -60 else visible(at)
    for size, noun in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            return f"{counted(int(seconds // size), noun)} ago"
    return visible(at)


def cause(item: Drifted) -> str:
    """Return the label of a whole object or its position; "" without a label."""
    return why(item.cause, _WHAT[item.what])
