"""The words in which every output tells drift."""

from __future__ import annotations

from collections.abc import Iterator

from dpsync.model.plans.cause import What
from dpsync.model.plans.delete_count import DeleteCount
from dpsync.model.plans.drift import Drift, Drifted, LastEvent
from dpsync.model.texts.words import counted
from dpsync.render.words.plan import why
from dpsync.render.words.visible import visible

SIGNS = {"different": "~", "missing": "-", "undeclared": "+"}
_DECLARED = (("different", "different"), ("missing", "not live"))
_WHAT: dict[str, What] = {"missing": "made", "undeclared": "removed", "different": "place"}


def verdict(drift: Drift) -> str:
    """Whether there is drift, and how much of which sort."""
    if not drift.drifted:
        return "No drift in what was read." if drift.unread else "No drift."
    number = {what: sum(item.what == what for item in drift.found) for what in SIGNS}
    said = [f"{number[what]} {text}" for what, text in _DECLARED if number[what]]
    return f"Drift: {', '.join([*said, *_undeclared(drift)])}."


def _undeclared(drift: Drift) -> Iterator[str]:
    """What is not in the files: first how many things an apply would delete, then what stays."""
    found = [item for item in drift.found if item.what == "undeclared"]
    deleted = [item for item in found if not item.kept]
    stays = len(found) - len(deleted)
    if deleted:
        yield DeleteCount(len(deleted), sum(item.along for item in deleted)).phrase("not in the files")
    if stays:
        yield f"{stays} more that no plan deletes" if deleted else f"{stays} not in the files"


def cascade_count(item: Drifted) -> str:
    """What goes with the delete of something undeclared; empty where nothing does."""
    return DeleteCount(1, item.along).more


def left_alone(drift: Drift) -> str:
    """What was left alone and what was not looked at, counted; empty where all of it was told."""
    more = [
        f"{len(items)} {word}"
        for items, word in ((drift.ignored, "ignored"), (drift.blocked, "blocked"))
        if items
    ]
    rest = [f"{', '.join(more).capitalize()}."] if more else []
    if drift.unread:
        unread = counted(len(drift.unread), "entry")
        rest.append(f"NOT LOOKED AT: {unread} that this token may not read.")
    return " ".join(rest)


def last_event(event: LastEvent) -> str:
    """What was done last to something, by whom and when, in the platform's words."""
    return f"{visible(event.action)} by {visible(event.actor)}, {visible(event.at)}"


def cause(drift: Drift, item: Drifted) -> str:
    """Why something is not as the files say, where that is said of all of it."""
    return why(drift, item.cause, _WHAT[item.what])
