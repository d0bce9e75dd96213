"""The command plan: dpsync plan, and its result in the comment of the pull request.

A comment that shows a plan and could not be brought up to date fails the job: a stale plan under a green
check misleads. Where there is none, nothing misleads, and it is a notice.
"""

from __future__ import annotations

from pydantic import BaseModel

from dpsync.github.messages.comments import Comments
from dpsync.github.messages.digests import shown_by
from dpsync.github.messages.marker import marker_values
from dpsync.github.messages.plan_comment import (
    FoundComment,
    changed_since,
    heading,
    of_key,
    plan_body,
    plan_marker,
    remembered,
    rewritable,
    worth_telling,
)
from dpsync.github.requests.transport import GitHubError
from dpsync.github.runner.run import ActionRun, Ran
from dpsync.model.diagnostic import Exit
from dpsync.render.documents import PlanDocument
from dpsync.render.views import view


def plan(run: ActionRun) -> Ran:
    """Save the plan, and tell it in the pull request."""
    ran = run.dpsync("plan", "--out", str(run.plan_file.resolve()))
    if run.plan_file.exists():
        run.result.outputs["plan-file"] = str(run.plan_file)
    if ran.document is not None and run.inputs.comment != "never" and not _report(run, ran.document):
        run.result.outputs["failure-reason"] = "comment"
        return Ran(Exit.FAILED if ran.code in (Exit.DONE, Exit.CHANGES) else ran.code, ran.document)
    return ran


def _report(run: ActionRun, document: BaseModel) -> bool:
    """Tell it. False: a comment of ours still shows another plan, or perhaps does."""
    if run.github is None or run.place.number is None:
        return True
    comments = Comments(run.github, run.place.number, run.inputs.key)
    found: list[FoundComment] | None = None
    try:
        found = comments.found()
        _write(run, comments, found, document)
    except GitHubError as error:
        stale = not error.not_allowed if found is None else rewritable(found) is not None
        what = (
            "The comment in the pull request may show an older plan"
            if stale
            else "dpsync could not write the comment"
        )
        run.log.notice(run.trouble(what, error), "error" if stale else "notice")
        return not stale
    return True


def _write(run: ActionRun, comments: Comments, found: list[FoundComment], document: BaseModel) -> None:
    """Bring the comment up to date, and drop what earlier runs have left beside it."""
    if not comments.github.pull_request(comments.number).open:
        run.log.notice("dpsync did not change the comment, because the pull request is merged or closed.")
        return
    marker = plan_marker(run.inputs.key, run.place, document)
    found = of_key(found, marker.key)
    before = _untouched(run, comments, found)
    approved = _approved(run, comments, before)
    key = marker.key or (before.marker.key if before is not None else "")
    marker = marker.model_copy(update={"approved": approved, "key": key})
    content = view(document)
    lines = [heading(run.inputs.name), changed_since(approved, marker.digest)]

    def body(size: int) -> str:
        return plan_body(marker, content, run.place, lines, size)

    worth_it = run.inputs.comment == "always" or worth_telling(document)
    decision, text = comments.write(before, marker, body, worth_it)
    if decision.why:
        run.log.notice(f"dpsync did not change the comment, because {decision.why}.")
    if text is None:
        return
    run.result.outputs["comment-url"] = text.url
    comments.drop_others(found, text, marker.age)
    rest = marker_values(shown_by(document.plan))[1:] if isinstance(document, PlanDocument) else []
    if not decision.why and (rest or (before is not None and before.marker.full)):
        comments.write_rest(marker, rest)


def _untouched(run: ActionRun, comments: Comments, found: list[FoundComment]) -> FoundComment | None:
    """The comment that the plan goes into. One that somebody else has edited makes room for a new one."""
    before = rewritable(found)
    if before is None:
        return None
    now = comments.ours(before)
    if now is None:
        run.log.notice(
            "Somebody else edited the comment. dpsync deletes the comment and writes a new comment.",
            "warning",
        )
        comments.github.delete_comment(before.text.number)
        found.remove(before)
        return _untouched(run, comments, found)
    return now


def _approved(run: ActionRun, comments: Comments, before: FoundComment | None) -> dict[str, str]:
    """Who has approved which plan of this comment, as a marker has it."""
    with run.asking("dpsync could not read who approved the pull request", quietly=True):
        return remembered(before, comments.github.approvals(comments.number))
    return dict(before.marker.approved) if before is not None else {}
