"""After the merge: what was reviewed is applied, and nothing else."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dpsync.github.marker import PlanMarker, read_marker
from tests.github.conftest import CONFIG, Workflow

LATER = CONFIG.replace("      support:", "      designers: { title: Designers }\n      support:")


def reviewed(workflow: Workflow) -> str:
    """A pull request with a plan, merged."""
    workflow.run("pull_request", workflow.request())
    workflow.github.merge(workflow.git("rev-parse", "HEAD"), 7)
    return workflow.github.bodies(7)[0]


def states(workflow: Workflow) -> list[str]:
    found = [read_marker(body, PlanMarker) for body in workflow.github.bodies(7)]
    return [marker.state for marker in found if marker is not None]


def live(workflow: Workflow) -> set[str]:
    return {team["title"] for team in workflow.ask("GET", "/v1/orgs/acme/teams")["items"]}


def test_the_reviewed_plan_is_applied_and_its_comment_frozen(workflow: Workflow) -> None:
    before = reviewed(workflow)
    ended = workflow.run("push", command="apply")
    assert (ended.code, ended.outputs["outcome"], ended.outputs["create"]) == (0, "applied", "1")
    assert "Support" in live(workflow)
    (body,) = workflow.github.bodies(7)
    assert "**Applied: 1 of 1 step done.** Converged: a new plan has no changes." in body
    assert before.split("<!-- dpsync:content -->")[1] in body
    assert states(workflow) == ["applied"]
    workflow.commit(LATER)
    workflow.run("pull_request", workflow.request())
    assert states(workflow) == ["applied", "plan"]
    assert workflow.github.bodies(7)[0] == body


def test_a_second_apply_of_the_same_has_nothing_to_do(workflow: Workflow) -> None:
    reviewed(workflow)
    workflow.ask("PUT", "/v1/orgs/acme/teams", {"title": "Support"})
    ended = workflow.run("push", command="apply")
    assert (ended.code, ended.outputs["outcome"]) == (0, "no-changes")
    assert "Nothing was left to apply" in workflow.github.bodies(7)[0]


def test_another_plan_than_the_reviewed_one_is_refused_and_shown(workflow: Workflow) -> None:
    reviewed(workflow)
    sha = workflow.commit(LATER)
    workflow.github.merge(sha, 7)
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


def test_a_plan_that_changed_is_told_as_its_difference_to_the_reviewed_one(workflow: Workflow) -> None:
    workflow.commit(LATER)
    reviewed(workflow)
    workflow.ask("PUT", "/v1/orgs/acme/teams", {"title": "Designers"})
    other = LATER.replace("title: Support", "title: Help desk") + "      interns: { title: Interns }\n"
    workflow.github.merge(workflow.commit(other), 7)
    ended = workflow.run("push", command="apply")
    assert ended.outputs["failure-reason"] == "plan-changed"
    told = (
        "- 0 of 2 reviewed changes are still the same\n"
        "- 1 is not needed any more\n"
        "- 1 was reviewed with another content: `acme/teams/support`\n"
        "- 1 is new: `acme/teams/interns`\n"
    )
    assert told in workflow.github.bodies(7)[-1]
    assert told in ended.summary
    assert "1 is new (acme/teams/interns);" in ended.step.of("error")[0].data


def test_what_is_left_of_the_reviewed_plan_is_applied(workflow: Workflow) -> None:
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


@pytest.mark.parametrize("past", [unmerged, forged, another_environment, invalid_since])
def test_without_a_reviewed_plan_nothing_is_applied(
    past: Callable[[Workflow], None], workflow: Workflow
) -> None:
    past(workflow)
    ended = workflow.run("push", command="apply")
    assert (ended.code, ended.outputs["failure-reason"]) == (4, "not-approved")
    assert "Support" not in live(workflow)


def test_an_apply_that_needs_no_approval(workflow: Workflow) -> None:
    assert workflow.run("push", command="apply", approval="none").outputs["outcome"] == "applied"
    assert "Support" in live(workflow)


def test_where_github_does_not_say_what_was_approved_nothing_is_applied(workflow: Workflow) -> None:
    reviewed(workflow)
    workflow.github.answers = [(502, {}, {})] * 3
    ended = workflow.run("push", command="apply")
    assert (ended.code, ended.outputs["failure-reason"]) == (4, "not-approved")
    assert "Support" not in live(workflow)


def test_an_apply_that_github_does_not_hear_of_is_applied_all_the_same(workflow: Workflow) -> None:
    reviewed(workflow)

    def no_writing(method: str, path: str) -> None:
        if method == "PATCH":
            workflow.github.answers = [(403, {}, {})]

    workflow.github.before = no_writing
    ended = workflow.run("push", command="apply")
    assert (ended.code, ended.outputs["outcome"]) == (0, "applied")
    assert "The comment was not written" in ended.step.of("notice")[0].data


def test_what_goes_wrong_while_github_is_told_changes_nothing_of_the_apply(
    workflow: Workflow, monkeypatch: pytest.MonkeyPatch
) -> None:
    for wrong, level in ((KeyboardInterrupt, "warning"), (AttributeError, "error")):
        with monkeypatch.context() as patch:
            patch.setattr("dpsync.github.apply.tell_applied", raising(wrong))
            ended = workflow.run("push", command="apply", approval="none")
        assert (ended.code, ended.outputs["exit-code"]) == (0, "0")
        assert ended.step.of(level)[0].data.startswith(("Interrupted", "dpsync made a mistake"))
    assert "Support" in live(workflow)


def raising(wrong: type[BaseException]) -> Callable[..., None]:
    def raise_it(*_: object) -> None:
        raise wrong

    return raise_it


def test_a_run_without_secrets_never_applies(workflow: Workflow) -> None:
    payload = workflow.request(repository="eve/docs")
    ended = workflow.run("pull_request", payload, command="apply", api_token="")
    assert (ended.code, ended.outputs["failure-reason"]) == (4, "untrusted")
