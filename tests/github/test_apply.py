"""After the merge: what was reviewed is applied, and nothing else."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dpsync.github.plan_comment import PlanMarker, read_marker
from tests.github.conftest import CONFIG, Workflow
from tests.github.fake_github import LONGEST, REPOSITORY

LATER = CONFIG.replace("      support:", "      designers: { title: Designers }\n      support:")

SUPPORT = "      support: { title: Support }\n"


def reviewed(workflow: Workflow) -> str:
    """Merge a pull request with a plan and return the plan's comment."""
    workflow.run("pull_request", workflow.request())
    workflow.github.merge(workflow.git("rev-parse", "HEAD"), 7)
    return workflow.github.bodies(7)[0]


def states(workflow: Workflow) -> list[str]:
    found = [read_marker(body, PlanMarker) for body in workflow.github.bodies(7)]
    return [marker.state for marker in found if marker is not None]


def live(workflow: Workflow) -> set[str]:
    return {team["title"] for team in workflow.ask("GET", "/v1/orgs/acme/teams")["items"]}


def test_apply_of_reviewed_plan_finalizes_its_comment(workflow: Workflow) -> None:
    before = reviewed(workflow)
    ended = workflow.run("push", command="apply")
    assert (ended.code, ended.outputs["outcome"], ended.outputs["create"]) == (0, "applied", "1")
    assert "Support" in live(workflow)
    (body,) = workflow.github.bodies(7)
    assert "**Applied: 1 created.** Verified: a new plan has no changes." in body
    assert before.split("<!-- dpsync:content -->")[1] in body
    assert states(workflow) == ["converged"]
    workflow.commit(LATER)
    workflow.run("pull_request", workflow.request())  # an old job of the pull request is run again
    assert workflow.github.bodies(7) == [body]


def test_apply_reports_no_changes_when_already_applied(workflow: Workflow) -> None:
    reviewed(workflow)
    workflow.ask("PUT", "/v1/orgs/acme/teams", {"title": "Support"})
    ended = workflow.run("push", command="apply")
    assert (ended.code, ended.outputs["outcome"]) == (0, "no-changes")
    assert "GitBook already matched the files, so dpsync changed nothing" in workflow.github.bodies(7)[0]


def test_apply_refuses_plan_differing_from_reviewed_plan(workflow: Workflow) -> None:
    reviewed(workflow)
    workflow.commit(LATER)
    ended = workflow.run("push", command="apply")
    assert (ended.code, ended.outputs["outcome"]) == (4, "refused")
    assert ended.outputs["failure-reason"] == "plan-changed"
    assert not live(workflow) & {"Support", "Designers"}
    assert "acme/teams/designers" in ended.step.of("error")[0].data
    assert "acme/teams/support" not in ended.step.of("error")[0].data
    assert states(workflow) == ["plan", "refused"]
    again = workflow.run("push", command="apply")  # showing it has approved nothing
    assert again.outputs["failure-reason"] == "plan-changed"
    approved = workflow.run("push", command="apply", approval=ended.outputs["digest"])
    assert approved.outputs["outcome"] == "applied"
    assert {"Support", "Designers"} <= live(workflow)


def test_changed_plan_comment_shows_difference_to_reviewed_plan(workflow: Workflow) -> None:
    workflow.commit(LATER)
    reviewed(workflow)
    workflow.ask("PUT", "/v1/orgs/acme/teams", {"title": "Designers"})
    other = LATER.replace("title: Support", "title: Help desk") + "      interns: { title: Interns }\n"
    workflow.commit(other)
    ended = workflow.run("push", command="apply")
    assert ended.outputs["failure-reason"] == "plan-changed"
    told = (
        "- 0 of 2 reviewed changes are unchanged\n"
        "- 1 reviewed change is no longer needed\n"
        "- 1 change was reviewed with other values: `acme/teams/support`\n"
        "- 1 change is new: `acme/teams/interns`\n"
    )
    assert told in workflow.github.bodies(7)[-1]
    assert told in ended.summary
    assert "1 change is new (acme/teams/interns)." in ended.step.of("error")[0].data


def test_apply_accepts_remaining_part_of_reviewed_plan(workflow: Workflow) -> None:
    """Somebody has done a part of it by hand meanwhile."""
    workflow.commit(LATER)
    reviewed(workflow)
    workflow.ask("PUT", "/v1/orgs/acme/teams", {"title": "Designers"})
    ended = workflow.run("push", command="apply")
    assert (ended.outputs["outcome"], ended.outputs["create"]) == ("applied", "1")
    assert {"Support", "Designers"} <= live(workflow)


def unmerged(workflow: Workflow) -> None:
    workflow.run("pull_request", workflow.request())


def forged(workflow: Workflow) -> None:
    body = reviewed(workflow)
    workflow.github.comments.clear()
    workflow.github.comment(7, body, login="eve")


def another_environment(workflow: Workflow) -> None:
    workflow.run("pull_request", workflow.request(), select="acme/teams/support")
    workflow.github.merge(workflow.git("rev-parse", "HEAD"), 7)


def invalid_since(workflow: Workflow) -> None:
    text = (workflow.folder / "dpsync.yaml").read_text()
    reviewed(workflow)
    workflow.commit(CONFIG.replace("teams:\n", "tems:\n"))
    workflow.run("pull_request", workflow.request())
    workflow.github.merge(workflow.commit(text), 7)


def applied_and_undone_by_hand(workflow: Workflow) -> None:
    """Apply a reviewed plan and reset the platform: an approval is valid for one converged apply only."""
    reviewed(workflow)
    workflow.run("push", command="apply")
    workflow.platform.reset()


@pytest.mark.parametrize(
    "past", [unmerged, forged, another_environment, invalid_since, applied_and_undone_by_hand]
)
def test_apply_without_reviewed_plan_is_refused(past: Callable[[Workflow], None], workflow: Workflow) -> None:
    """Otherwise, a plan that was applied and then undone is applied again without a review."""
    past(workflow)
    ended = workflow.run("push", command="apply")
    assert (ended.code, ended.outputs["failure-reason"]) == (4, "not-approved")
    assert "Support" not in live(workflow)


@pytest.mark.parametrize("forged", [0, 400], ids=["no forged comment", "400 forged comments"])
def test_apply_queries_editors_of_own_comments_only(forged: int, workflow: Workflow) -> None:
    """Anyone may comment. Queries for the editors of forged comments would exhaust the rate limit."""
    body = reviewed(workflow)
    for number in range(forged):
        workflow.github.comment(7, body.replace('"run":', '"run":9'), login=f"eve-{number}")
    asked = workflow.github.asked
    asked.clear()

    def limited(_method: str, path: str) -> None:
        if path == "/graphql" and asked.count("POST /graphql") > 10:
            workflow.github.answers = [(403, {"message": "rate limit"}, {"Retry-After": "3600"})]

    workflow.github.before = limited
    ended = workflow.run("push", command="apply")
    assert (ended.code, ended.outputs["outcome"], asked.count("POST /graphql")) == (0, "applied", 2)
    assert "Support" in live(workflow)


def test_apply_reads_a_page_of_maximum_length_comments(workflow: Workflow) -> None:
    """Otherwise, anyone could block every apply with comments that dpsync refuses to read."""
    reviewed(workflow)
    for _ in range(99):
        workflow.github.comment(7, "\u00e9" * LONGEST, login="eve")
    ended = workflow.run("push", command="apply")
    assert (ended.code, ended.outputs["outcome"]) == (0, "applied")


# What may be applied at all.


def an_old_job_is_run_again(workflow: Workflow) -> dict[str, str]:
    reviewed(workflow)
    workflow.commit(CONFIG.replace("      support: { title: Support }\n", ""))
    workflow.git("checkout", "-q", "--detach", "HEAD^")
    return {}


def somebody_has_pushed_meanwhile(workflow: Workflow) -> dict[str, str]:
    reviewed(workflow)
    workflow.github.tips["main"] = "f" * 40
    return {}


def another_branch(workflow: Workflow) -> dict[str, str]:
    reviewed(workflow)
    workflow.git("checkout", "-q", "-b", "mine")
    workflow.pushed()
    return {"ref": "refs/heads/mine"}


def a_branch_that_is_not_named(workflow: Workflow) -> dict[str, str]:
    reviewed(workflow)
    return {"branches": "production\nstaging"}


def a_branch_that_is_gone(workflow: Workflow) -> dict[str, str]:
    reviewed(workflow)
    workflow.github.tips.clear()
    return {}


def a_request_that_is_open(workflow: Workflow) -> dict[str, str]:
    reviewed(workflow)
    return {"ref": "refs/pull/7/merge"}


SUPERSEDED = [
    (an_old_job_is_run_again, "superseded"), (somebody_has_pushed_meanwhile, "superseded"),
    (a_branch_that_is_gone, "superseded"), (another_branch, "branch"), (a_branch_that_is_not_named, "branch"),
    (a_request_that_is_open, "branch"),
]  # fmt: skip


@pytest.mark.parametrize("approval", ["digest", "none", "0" * 32])
@pytest.mark.parametrize(("past", "reason"), SUPERSEDED, ids=[past.__name__ for past, _ in SUPERSEDED])
def test_apply_refuses_superseded_commit_or_disallowed_branch(
    past: Callable[[Workflow], dict[str, str]], reason: str, approval: str, workflow: Workflow
) -> None:
    """Otherwise, a run for any branch is applied.

    Otherwise, an old job that is run again applies what was there before others pushed.
    Otherwise, anything that is checked out is applied.
    """
    more = past(workflow)
    before = workflow.github.bodies(7)
    event = "pull_request" if "pull" in more.get("ref", "") else "workflow_dispatch"
    payload = {"pull_request": {"number": 7, "head": {"ref": "mine", "repo": {"full_name": REPOSITORY}}}}
    ended = workflow.run(event, payload if event == "pull_request" else {}, command="apply",
                         approval=approval, **more)  # fmt: skip
    assert (ended.code, ended.outputs["outcome"], ended.outputs["failure-reason"]) == (
        4, "superseded", reason,
    )  # fmt: skip
    assert "$ dpsync" not in ended.printed
    assert "**Not applied:**" in ended.summary
    assert "Support" not in live(workflow)
    assert workflow.github.bodies(7) == before


def test_apply_accepts_last_commit_of_allowed_branches(workflow: Workflow) -> None:
    workflow.git("checkout", "-q", "-b", "production")
    workflow.pushed()
    more = {"branches": "main\nproduction", "ref": "refs/heads/production", "approval": "none"}
    assert workflow.run("push", command="apply", **more).outputs["outcome"] == "applied"


@pytest.mark.parametrize("approval", ["digest", "none"])
@pytest.mark.parametrize("silent", ["token", "answers"])
def test_apply_is_refused_when_branch_is_unreadable(silent: str, approval: str, workflow: Workflow) -> None:
    reviewed(workflow)
    more = {"github_token": ""} if silent == "token" else {}
    workflow.github.answers = [(502, {}, {})] * 3
    ended = workflow.run("push", command="apply", approval=approval, **more)
    assert (ended.code, ended.outputs["failure-reason"]) == (4, "not-approved")
    assert "Support" not in live(workflow)


def test_apply_notices_push_during_approval_lookup(
    workflow: Workflow,
) -> None:
    """Otherwise, what was pushed while GitHub was asked again is passed over."""
    workflow.github.late = 0
    reviewed(workflow)
    workflow.github.late = 2

    def pushed(_method: str, _path: str) -> None:
        if workflow.github.late <= 0:
            workflow.github.tips["main"] = "f" * 40

    workflow.github.before = pushed
    ended = workflow.run("push", command="apply")
    assert (ended.code, ended.outputs["outcome"]) == (4, "superseded")
    assert "Support" not in live(workflow)


# Several merges.


def test_apply_includes_previous_merge_whose_run_was_dropped(
    workflow: Workflow,
) -> None:
    workflow.git("checkout", "-q", "-b", "first")
    workflow.run("pull_request", workflow.request(7))
    workflow.git("checkout", "-q", "-b", "second")
    workflow.commit(LATER.replace(SUPPORT, ""))
    workflow.run("pull_request", workflow.request(8))
    workflow.git("checkout", "-q", "main")
    heads = [workflow.github.requests[number]["head"]["sha"] for number in (7, 8)]
    workflow.github.merge(workflow.commit(CONFIG + "# first\n"), 7, heads[0])
    workflow.github.merge(workflow.commit(LATER), 8, heads[1])
    ended = workflow.run("push", command="apply")
    assert (ended.code, ended.outputs["outcome"]) == (0, "applied")
    assert {"Support", "Designers"} <= live(workflow)
    markers = [read_marker(workflow.github.bodies(number)[0], PlanMarker) for number in (7, 8)]
    head = workflow.git("rev-parse", "HEAD")
    assert [(one.state, one.applied) for one in markers if one] == [("converged", head)] * 2
    assert workflow.waited == []


def test_apply_labels_changes_since_last_apply(workflow: Workflow) -> None:
    reviewed(workflow)
    workflow.run("push", command="apply")
    workflow.checked_out_again()
    workflow.commit(CONFIG + "# another\n")
    workflow.commit(LATER.replace("title: Sales", "title: Sellers"))
    workflow.ask("PATCH", "/v1/orgs/acme", {"title": "Acne"})
    workflow.run("pull_request", workflow.request(8))
    workflow.github.merge(workflow.git("rev-parse", "HEAD"), 8)
    ended = workflow.run("push", command="apply")
    assert ended.outputs["outcome"] == "applied"
    labels = {
        line.strip() for line in ended.printed.splitlines() if line.endswith(("here)", "outside)", " here"))
    }
    assert labels == {
        'title  "Acne" → "Acme"  (changed outside)',
        'title  "Sales" → "Sellers"  (edited here)',
        "added here",
    }


def test_apply_waits_for_pull_request_before_refusing(workflow: Workflow) -> None:
    ended = workflow.run("push", command="apply")
    assert (ended.code, ended.outputs["failure-reason"]) == (4, "not-approved")
    assert sum(workflow.waited) == 30


def test_refused_apply_names_rejected_comment(workflow: Workflow) -> None:
    reviewed(workflow)
    workflow.github.edit(1, workflow.github.bodies(7)[0], "eve")
    ended = workflow.run("push", command="apply")
    assert ended.outputs["failure-reason"] == "not-approved"
    assert "the plan in pull request 7, because somebody else" in ended.step.of("error")[0].data
    assert "Support" not in live(workflow)


def test_apply_runs_without_review_when_approval_is_none(workflow: Workflow) -> None:
    assert workflow.run("push", command="apply", approval="none").outputs["outcome"] == "applied"
    assert "Support" in live(workflow)


def test_apply_is_refused_when_approvals_are_unreadable(workflow: Workflow) -> None:
    reviewed(workflow)
    workflow.github.answers = [(502, {}, {})] * 3
    ended = workflow.run("push", command="apply")
    assert (ended.code, ended.outputs["failure-reason"]) == (4, "not-approved")
    assert "Support" not in live(workflow)


def test_apply_succeeds_when_comment_update_fails(workflow: Workflow) -> None:
    reviewed(workflow)

    def no_writing(method: str, _path: str) -> None:
        if method == "PATCH":
            workflow.github.answers = [(403, {}, {})]

    workflow.github.before = no_writing
    ended = workflow.run("push", command="apply")
    assert (ended.code, ended.outputs["outcome"]) == (0, "applied")
    assert "dpsync could not write the comment" in ended.step.of("notice")[0].data


def test_error_during_apply_reporting_keeps_exit_code(
    workflow: Workflow, monkeypatch: pytest.MonkeyPatch
) -> None:
    for wrong, level in ((KeyboardInterrupt, "warning"), (AttributeError, "error")):
        with monkeypatch.context() as patch:
            patch.setattr("dpsync.github.action.report_applied", raising(wrong))
            ended = workflow.run("push", command="apply", approval="none")
        assert (ended.code, ended.outputs["exit-code"]) == (0, "0")
        assert ended.step.of(level)[0].data.startswith(
            ("The run was interrupted", "dpsync failed with an internal error")
        )
    assert "Support" in live(workflow)


def raising(wrong: type[BaseException]) -> Callable[..., None]:
    def raise_it(*_: object) -> None:
        raise wrong

    return raise_it


def test_apply_without_secrets_is_refused(workflow: Workflow) -> None:
    """Otherwise, a fork's run applies."""
    payload = workflow.request(repository="eve/docs")
    ended = workflow.run("pull_request", payload, command="apply", api_token="")
    assert (ended.code, ended.outputs["failure-reason"]) == (4, "untrusted")


# What a person must decide before content is deleted.

NO_SUPPORT = CONFIG.replace(SUPPORT, "")
WITHOUT_WRITERS = NO_SUPPORT.replace("      writers: { title: Technical writers }\n", "")


def test_merged_pull_request_confirms_planned_deletes(workflow: Workflow) -> None:
    """Ordinary work: a reviewer reads in the plan that a team with members is deleted."""
    workflow.commit(WITHOUT_WRITERS)
    planned = workflow.run("pull_request", workflow.request())
    assert (planned.code, planned.outputs["outcome"]) == (0, "changes")
    assert "merging the pull request that lists this plan confirms the" in workflow.github.bodies(7)[0]
    workflow.github.merge(workflow.git("rev-parse", "HEAD"), 7)
    ended = workflow.run("push", command="apply")
    assert ended.outputs["outcome"] == "applied"
    assert "Technical writers" not in live(workflow)


def test_apply_without_review_requires_delete_confirmation(workflow: Workflow) -> None:
    """Otherwise, a push to the branch deletes a team with members, and nobody has read the plan."""
    workflow.commit(WITHOUT_WRITERS)
    ended = workflow.run("push", command="apply", approval="none")
    assert (ended.code, ended.outputs["outcome"]) == (4, "refused")
    assert "Technical writers" in live(workflow)
    number = ended.outputs["delete"]
    answered = workflow.run("push", command="apply", approval="none", confirm=f"delete {number}")
    assert answered.outputs["outcome"] == "applied"


def test_merge_does_not_confirm_deletes_above_limits(workflow: Workflow) -> None:
    """Otherwise, a merge of many removed entries deletes half an organization."""
    few = WITHOUT_WRITERS.replace("deletes: 5", "deletes: 0")
    workflow.commit(few)
    planned = workflow.run("pull_request", workflow.request())
    assert (planned.code, planned.outputs["failure-reason"]) == (4, "threshold")
    workflow.commit(few.replace("{ prune", "{ removed: [teams/writers], prune"))
    assert workflow.run("pull_request", workflow.request(), command="plan").code == 0
    workflow.github.merge(workflow.git("rev-parse", "HEAD"), 7)
    assert workflow.run("push", command="apply").outputs["outcome"] == "applied"
    assert "Technical writers" not in live(workflow)


def test_merge_does_not_confirm_deletes_of_unmanaged_objects(workflow: Workflow) -> None:
    """Otherwise, a merge deletes a team that somebody made by hand in a pruned place."""
    workflow.ask("PUT", "/v1/orgs/acme/teams", {"title": "By hand"})
    workflow.commit(NO_SUPPORT)
    planned = workflow.run("pull_request", workflow.request())
    assert planned.code == 4
    assert "neither the ids file nor git has an entry for the object" in workflow.github.bodies(7)[0]
