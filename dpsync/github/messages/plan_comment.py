"""What a comment says, and whether it is written: pure. Marker first, then what happened, then the plan."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, Literal

from msgspec import Struct
from pydantic import BaseModel

from dpsync.github.messages.digests import shown_by
from dpsync.github.messages.marker import (
    PlanMarker,
    RestMarker,
    State,
    base64url,
    first_line,
    marker_values,
    name_of,
    read_marker,
    without_marker,
)
from dpsync.github.requests.api import GitHubText, Review
from dpsync.github.runner.place import WorkflowRun, branch_key, plan_key
from dpsync.model.plan import DIGITS
from dpsync.model.text import NOWHERE, short_commit, some
from dpsync.render.documents import ApplyDocument, PlanDocument
from dpsync.render.markdown import COMMENT, code, prose, render_markdown, units
from dpsync.render.report_words import done, ending
from dpsync.render.view import View, clip

_CONTENT: Final = "<!-- dpsync:content -->\n"
"""Between what happened and the plan. It stands before all foreign text, so the first one is ours."""
_UNKNOWN: Final = "a plan that this comment no longer shows"
_NAMED: Final = 5
"""People or labels that are named in one line."""


class FoundComment(Struct, frozen=True):
    """A comment of ours with its marker."""

    text: GitHubText
    marker: PlanMarker


class Decision(Struct, frozen=True):
    """What to do: `leave` an existing comment (or none) as it is, `edit` it, or make a `new` one."""

    what: Literal["leave", "edit", "new"]
    found: FoundComment | None = None
    why: str = ""


def comments_named(comments: Iterable[GitHubText], name: str) -> list[FoundComment]:
    """The comments with a marker of this name, the oldest first, whoever has written them."""
    found = []
    for text in comments:
        marker = read_marker(text.body, PlanMarker)
        if marker is not None and marker.name == name:
            found.append(FoundComment(text, marker))
    return found


def of_key(found: Iterable[FoundComment], key: str) -> list[FoundComment]:
    """Those of one platform and its organizations, or of what was not known; all where `key` is not known."""
    return [one for one in found if not key or one.marker.key in (key, "")]


def rewritable(found: Iterable[FoundComment]) -> FoundComment | None:
    """The comment that the next plan goes into: the oldest one that is not frozen."""
    return next((one for one in found if one.marker.state == "plan"), None)


def decide(found: FoundComment | None, age: tuple[int, int], body: str, worth_it: bool) -> Decision:
    """What becomes of the comment. `worth_it`: whether there is anything to tell where nothing stands yet."""
    if found is None:
        return Decision("new") if worth_it else Decision("leave")
    if found.marker.age > age:
        return Decision("leave", found, f"a later run ({found.marker.run}) has already written the comment")
    if found.text.body == body:
        return Decision("leave", found)
    return Decision("edit", found)


def remembered(found: FoundComment | None, approvals: Iterable[Review]) -> dict[str, str]:
    """Who has approved which plan, by names in base64url; "" where no comment says which one that was.

    An approval that came after the comment was last written was for the plan in it; an earlier one is what
    was remembered of it then. Both times are GitHub's. One that is not remembered came before the first plan,
    or the comment that it was for is not there any more.
    """
    known: dict[str, str] = {}
    for review in approvals:
        name = base64url(review.author.encode())
        if found is not None and review.at > found.text.updated:
            known[name] = found.marker.digest
        else:
            known[name] = found.marker.approved.get(name, "") if found is not None else ""
    return dict(sorted(known.items())[:50])


def changed_since(approved: Mapping[str, str], digest: str) -> str:
    """That the plan is another one than was approved, by whom; empty where it is not."""
    others = [(name_of(name), other) for name, other in approved.items() if other != digest]
    if not others:
        return ""
    parts = [
        f"{code(clip(name, 50))} approved {code(other[:DIGITS]) if other else _UNKNOWN}"
        for name, other in others
    ]
    return f"> [!WARNING]\n> **The plan changed after** {some(parts, _NAMED)}. Review the plan again."


def plan_marker(
    name: str,
    place: WorkflowRun,
    document: BaseModel,
    state: State = "plan",
    approved: Mapping[str, str] | None = None,
) -> PlanMarker:
    """The marker of a comment that tells a plan, or why there is none. `name` is what was asked for."""
    plan = document.plan if isinstance(document, PlanDocument) else None
    return PlanMarker(
        key=plan_key(name, plan) if plan is not None else "",
        name=name,
        branch=branch_key(place.into),
        run=place.run,
        attempt=place.attempt,
        sha=place.sha,
        digest=plan.digest if plan is not None else "",
        displayed=next(iter(marker_values(shown_by(plan))), None) if plan is not None else None,
        state=state,
        approved=dict(approved or {}),
    )


def heading(name: Iterable[str]) -> str:
    """Which of several configurations it is; empty for the only one."""
    labels = [code(clip(label, 100)) for label in name]
    return f"dpsync plan · {' · '.join(labels[:_NAMED])}" if labels else ""


def plan_body(
    marker: PlanMarker, view: View, place: WorkflowRun, lines: Iterable[str] = (), limit: int = COMMENT
) -> str:
    """A whole comment of at most `limit` UTF-16 units. `lines` are ours and stand before the plan."""
    head = _head(marker, lines)
    foot = f"\n\n{written_by(place)}"
    return f"{head}{render_markdown(view, limit - units(head) - units(foot))}{foot}"


def written_by(place: WorkflowRun) -> str:
    commit = f"commit {code(short_commit(place.sha))}, " if place.sha else ""
    return f"<sub>{commit}[run {place.run}]({place.url})</sub>"


def rest_body(marker: PlanMarker, part: int, displayed: str) -> str:
    """A further comment, with what the marker of the first one has no room for."""
    more = RestMarker(
        key=marker.key,
        run=marker.run,
        attempt=marker.attempt,
        sha=marker.sha,
        digest=marker.digest,
        part=part,
        displayed=displayed,
    )
    return (
        f"{first_line(more)}The plan {code(marker.digest[:DIGITS])} is too large for one comment. This "
        "comment contains a part of the list of changes in an invisible form. If an apply stops halfway, "
        "dpsync needs this comment to continue the apply."
    )


def with_status(found: FoundComment, state: State, line: str, applied: str = "") -> str:
    """The same comment with what became of its plan, in place of what was said of that before."""
    marker = found.marker.model_copy(update={"state": state, "applied": applied})
    before, separator, content = found.text.body.partition(_CONTENT)
    if not separator:
        content = without_marker(before)
    return f"{_head(marker, [line])}{content}"


def _head(marker: PlanMarker, lines: Iterable[str]) -> str:
    parts = [line for line in lines if line]
    return first_line(marker) + "".join(f"{line}\n\n" for line in parts) + _CONTENT


def status(document: ApplyDocument, place: WorkflowRun) -> str:
    """How an apply ended, for the comment of its plan."""
    run = f"[run {place.run}]({place.url})"
    if document.report is None:
        return f"> [!TIP]\n> **GitBook already matched the files, so dpsync changed nothing** ({run})."
    kind = "TIP" if document.converged else "WARNING"
    result = prose(done(document.plan.plan, document.report))
    ended = NOWHERE.complete(ending(document.plan.plan, document.report))
    return f"> [!{kind}]\n> **{result}** {prose(ended)} ({run})"


def worth_telling(document: object) -> bool:
    """Whether a comment is made for it where there is none: a plan with something in it, or findings."""
    if not isinstance(document, PlanDocument):
        return True
    plan = document.plan
    return not plan.empty or bool(plan.blocked or plan.refusals or plan.trouble)
