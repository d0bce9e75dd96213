"""What a comment says, and whether it is written: pure. Marker first, then what happened, then the plan."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from pydantic import BaseModel

from dpsync.github.api import Review, Text
from dpsync.github.marker import (
    PlanMarker,
    State,
    base64url,
    first_line,
    listed,
    listed_addresses,
    name_of,
    read_marker,
    without_marker,
)
from dpsync.github.place import Place
from dpsync.model.plan import DIGITS
from dpsync.render.documents import ApplyDocument, PlanDocument
from dpsync.render.markdown import COMMENT, render_markdown, units
from dpsync.render.markdown_text import code, prose
from dpsync.render.report_text import done, ending
from dpsync.render.view import View, clip

SIZES: Final = (COMMENT, COMMENT // 2)
"""UTF-16 units of a comment: of the first try, and of the second where GitHub finds that too long."""
_CONTENT: Final = "<!-- dpsync:content -->\n"
"""Between what happened and the plan. It stands before all foreign text, so the first one is ours."""
_NAMED: Final = 5
"""People or labels that are named in one line."""


@dataclass(frozen=True)
class Found:
    """A comment of ours with its marker."""

    text: Text
    marker: PlanMarker


@dataclass(frozen=True)
class Decision:
    """What to do: `leave` an existing comment (or none) as it is, `edit` it, or make a `new` one."""

    what: Literal["leave", "edit", "new"]
    found: Found | None = None
    why: str = ""


def ours(comments: Iterable[Text], viewer: str, key: str) -> list[Found]:
    """The comments of one key, the oldest first. Whoever else writes a marker has written a text."""
    found = []
    for text in comments:
        marker = read_marker(text.body, PlanMarker) if text.author == viewer else None
        if marker is not None and marker.key == key:
            found.append(Found(text, marker))
    return found


def rewritable(found: Iterable[Found]) -> Found | None:
    """The comment that the next plan goes into: the oldest one that is not frozen."""
    return next((one for one in found if one.marker.state == "plan"), None)


def latest_reviewed(found: Iterable[Found]) -> Found | None:
    """The comment whose plan was reviewed: that of the latest run, whether it was applied since or not."""
    applicable = [one for one in found if one.marker.state != "refused"]
    return max(applicable, key=lambda one: (one.marker.age, one.text.number), default=None)


def decide(found: Found | None, age: tuple[int, int], body: str, worth_it: bool) -> Decision:
    """What becomes of the comment. `worth_it`: whether there is anything to tell where nothing stands yet."""
    if found is None:
        return Decision("new") if worth_it else Decision("leave")
    if found.marker.age > age:
        return Decision("leave", found, f"a later run ({found.marker.run}) has written the comment already")
    if found.text.body == body:
        return Decision("leave", found)
    return Decision("edit", found)


def remembered(found: Found | None, approvals: Iterable[Review]) -> dict[str, str]:
    """Who has approved which plan, by names in base64url.

    An approval that came after the comment was last written was for the plan in it; an earlier one is what
    was remembered of it then. Both times are GitHub's. An approval without a plan to look at is none.
    """
    known: dict[str, str] = {}
    if found is None:
        return known
    for review in approvals:
        name = base64url(review.author.encode())
        if review.at > found.text.updated:
            known[name] = found.marker.digest
        elif name in found.marker.approved:
            known[name] = found.marker.approved[name]
    return dict(sorted(known.items())[:50])


def changed_since(approved: Mapping[str, str], digest: str) -> str:
    """That the plan is another one than was approved, by whom; empty where it is not."""
    others = [(name_of(name), other) for name, other in approved.items() if other != digest]
    if not others:
        return ""
    parts = [
        f"{code(clip(name, 50))} approved {code(other[:DIGITS] or 'none')}" for name, other in others[:_NAMED]
    ]
    more = f" and {len(others) - _NAMED} more" if len(others) > _NAMED else ""
    return f"> [!WARNING]\n> **The plan changed since** {', '.join(parts)}{more}. Look at it again."


def plan_marker(
    key: str,
    place: Place,
    document: BaseModel,
    state: State = "plan",
    approved: Mapping[str, str] | None = None,
) -> PlanMarker:
    """The marker of a comment that tells a plan, or why there is none."""
    plan = document.plan if isinstance(document, PlanDocument) else None
    return PlanMarker(
        key=key,
        run=place.run,
        attempt=place.attempt,
        sha=place.sha,
        digest=plan.digest if plan is not None else "",
        changes=listed(plan) if plan is not None else None,
        addresses=listed_addresses(plan) if plan is not None else None,
        state=state,
        approved=dict(approved or {}),
    )


def heading(name: Iterable[str]) -> str:
    """Which of several configurations it is; empty for the only one."""
    labels = [code(clip(label, 100)) for label in name]
    return f"dpsync plan · {' · '.join(labels[:_NAMED])}" if labels else ""


def plan_body(
    marker: PlanMarker, view: View, place: Place, lines: Iterable[str] = (), limit: int = COMMENT
) -> str:
    """A whole comment of at most `limit` UTF-16 units. `lines` are ours and stand before the plan."""
    head = _head(marker, lines)
    foot = f"\n\n{written_by(place)}"
    return f"{head}{render_markdown(view, limit - units(head) - units(foot))}{foot}"


def written_by(place: Place) -> str:
    commit = f"commit {code(place.sha[:12])}, " if place.sha else ""
    return f"<sub>{commit}[run {place.run}]({place.url})</sub>"


def with_status(found: Found, state: State, line: str) -> str:
    """The same comment with what became of its plan, in place of what was said of that before."""
    marker = found.marker.model_copy(update={"state": state})
    before, separator, content = found.text.body.partition(_CONTENT)
    if not separator:
        content = without_marker(before)
    return f"{_head(marker, [line])}{content}"


def _head(marker: PlanMarker, lines: Iterable[str]) -> str:
    parts = [line for line in lines if line]
    return first_line(marker) + "".join(f"{line}\n\n" for line in parts) + _CONTENT


def status(document: ApplyDocument, place: Place) -> str:
    """How an apply ended, for the comment of its plan."""
    run = f"[run {place.run}]({place.url})"
    if document.report is None:
        return f"> [!TIP]\n> **Nothing was left to apply** in {run}."
    kind = "TIP" if document.converged else "WARNING"
    return f"> [!{kind}]\n> **{prose(done(document.report))}** {prose(ending(document.report))} ({run})"


def worth_telling(document: object) -> bool:
    """Whether a comment is made for it where there is none: a plan with something in it, or findings."""
    if not isinstance(document, PlanDocument):
        return True
    plan = document.plan
    return not plan.empty or bool(plan.blocked or plan.refusals or plan.trouble)
