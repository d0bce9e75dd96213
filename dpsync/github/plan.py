"""The command plan: dpsync plan, and its result in the comment of the pull request."""

from __future__ import annotations

from pydantic import BaseModel

from dpsync.github.comments import Comments
from dpsync.github.plan_comment import (
    Found,
    changed_since,
    heading,
    plan_body,
    plan_marker,
    remembered,
    rewritable,
    worth_telling,
)
from dpsync.github.run import ActionRun, Ran
from dpsync.render.views import view


def plan(run: ActionRun) -> Ran:
    """Save the plan, and tell it in the pull request."""
    ran = run.dpsync("plan", "--out", str(run.plan_file.resolve()))
    if run.plan_file.exists():
        run.result.outputs["plan-file"] = str(run.plan_file)
    if ran.document is not None and run.inputs.comment != "never":
        _tell(run, ran.document)
    return ran


def _tell(run: ActionRun, document: BaseModel) -> None:
    if run.github is None or run.place.number is None:
        return
    with run.asking("The comment was not written"):
        _write(run, Comments(run.github, run.place.number, run.inputs.key), document)


def _write(run: ActionRun, comments: Comments, document: BaseModel) -> None:
    """Bring the comment up to date, and drop what earlier runs have left beside it."""
    found = comments.found()
    before = rewritable(found)
    approved = _approved(run, comments, before)
    marker = plan_marker(run.inputs.key, run.place, document, approved=approved)
    content = view(document)
    lines = [heading(run.inputs.name), changed_since(approved, marker.digest)]

    def body(size: int) -> str:
        return plan_body(marker, content, run.place, lines, size)

    worth_it = run.inputs.comment == "always" or worth_telling(document)
    decision, text = comments.write(before, marker, body, worth_it)
    if decision.why:
        run.log.notice(f"The comment was left as it is: {decision.why}.")
    if text is not None:
        run.result.outputs["comment-url"] = text.url
        comments.drop_others(found, text, marker.age)


def _approved(run: ActionRun, comments: Comments, before: Found | None) -> dict[str, str]:
    """Who has approved which plan of this comment, as a marker has it."""
    if before is not None:
        with run.asking("Who has approved this could not be read", quietly=True):
            return remembered(before, comments.github.approvals(comments.number))
    return {}
