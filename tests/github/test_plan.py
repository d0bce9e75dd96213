"""A plan in a pull request: one comment for each key, whatever else happens to it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dpsync.github.plan_comment import PlanMarker, read_marker
from tests.github.conftest import CONFIG, Workflow
from tests.github.fake_github import FakeGitHub, Token

NO_CHANGE = CONFIG.replace("      support: { title: Support }\n", "")
OTHER = CONFIG.replace("title: Support", "title: Help desk")


def test_pull_request_gets_one_plan_comment(workflow: Workflow) -> None:
    ended = workflow.run("pull_request", workflow.request())
    (body,) = workflow.github.bodies(7)
    marker = read_marker(body, PlanMarker)
    assert marker is not None
    assert (marker.run, marker.digest) == (workflow.runs, ended.outputs["digest"])
    assert 'team support "Support"' in body
    assert ended.code == 0
    assert ended.outputs["outcome"] == "changes"
    assert (ended.outputs["create"], ended.outputs["delete"]) == ("1", "0")
    assert ended.outputs["comment-url"].endswith("#issuecomment-1")
    assert json.loads(Path(ended.outputs["plan-file"]).read_text())["digest"] == ended.outputs["digest"]
    assert 'team support "Support"' in ended.summary
    assert "acme/teams/support" in Path(ended.outputs["report-file"]).read_text(encoding="utf-8")


def test_comment_and_report_link_previews_of_changed_sites(workflow: Workflow) -> None:
    """A reviewer who has to look for the site in GitBook approves without looking."""
    workflow.commit(CONFIG + "    sites:\n      docs: { title: Acme Docs 2, basename: docs }\n")
    ended = workflow.run("pull_request", workflow.request())
    url = "https://app.docs.example/preview/sites/docs"
    (body,) = workflow.github.bodies(7)
    assert f"\n\nPreview: [Acme Docs]({url})\n" in body
    assert f"\n\nPreview: [Acme Docs]({url})\n" in ended.summary
    assert url in Path(ended.outputs["report-file"]).read_text(encoding="utf-8")


def test_plan_comment_is_updated_after_each_push(workflow: Workflow) -> None:
    workflow.run("pull_request", workflow.request())
    workflow.commit(OTHER)
    workflow.run("pull_request", workflow.request())
    (body,) = workflow.github.bodies(7)
    assert "Help" in body
    workflow.commit(NO_CHANGE)
    ended = workflow.run("pull_request", workflow.request())
    (body,) = workflow.github.bodies(7)
    assert "No changes." in body
    assert ended.outputs["outcome"] == "no-changes"


@pytest.mark.parametrize(("comment", "text", "number"), [
    ("always", NO_CHANGE, 1), ("changes", NO_CHANGE, 0), ("changes", CONFIG, 1), ("never", CONFIG, 0),
])  # fmt: skip
def test_comment_input_decides_when_plan_is_commented(
    comment: str, text: str, number: int, workflow: Workflow
) -> None:
    workflow.commit(text)
    workflow.run("pull_request", workflow.request(), comment=comment)
    assert len(workflow.github.bodies(7)) == number


def test_older_plan_run_does_not_overwrite_newer_comment(workflow: Workflow) -> None:
    workflow.run("pull_request", workflow.request(), run_id="9")
    before = workflow.github.bodies(7)
    workflow.github.asked.clear()
    workflow.run("pull_request", workflow.request(), run_id="9")
    assert workflow.github.writes == []  # the same text
    workflow.commit(OTHER)
    ended = workflow.run("pull_request", workflow.request(), run_id="8")
    assert workflow.github.bodies(7) == before
    assert "a later run (9)" in ended.step.of("notice")[0].data


def test_concurrent_plan_comments_keep_only_first(workflow: Workflow) -> None:
    """Somebody else's comment with the same key appears after we have looked, and before we write."""
    workflow.run("pull_request", workflow.request(number=8), run_id="5")
    (other,) = workflow.github.bodies(8)
    github = workflow.github

    def meanwhile(method: str, path: str) -> None:
        if method == "POST" and path.endswith("/issues/7/comments") and not github.bodies(7):
            github.comment(7, other)

    github.before = meanwhile
    ended = workflow.run("pull_request", workflow.request(), run_id="6")
    ((number, left),) = [(id_, one) for id_, one in github.comments.items() if one["issue"] == 7]
    assert '"run":6,' in left["body"]  # the first comment, with the text of the later run
    assert ended.outputs["comment-url"].endswith(f"#issuecomment-{number}")


def test_next_plan_deletes_comments_of_killed_run(workflow: Workflow) -> None:
    """It had made one more, and could not delete it.

    Otherwise, the comment of a plan that was applied, which approves, is deleted.
    Otherwise, the comment of a later run is deleted.
    """
    workflow.run("pull_request", workflow.request(), run_id="5")
    (body,) = workflow.github.bodies(7)
    workflow.github.comment(7, body.replace('"run":5,', '"run":6,'))
    workflow.github.comment(7, body.replace('"run":5,', '"run":9,'))  # not older than the next one
    workflow.github.comment(7, body.replace('"state":"plan"', '"state":"refused"'))
    workflow.commit(OTHER)
    ended = workflow.run("pull_request", workflow.request(), run_id="7")
    left = [(one["id"], "Help" in one["body"]) for one in workflow.github.comments.values()]
    assert left == [(1, True), (3, False), (4, False)]
    assert ended.outputs["comment-url"].endswith("#issuecomment-1")


def test_comments_of_others_and_other_selections_stay_unchanged(workflow: Workflow) -> None:
    workflow.run("pull_request", workflow.request())
    (mine,) = workflow.github.bodies(7)
    forged = workflow.github.comment(7, mine, login="eve")
    quoted = workflow.github.comment(7, f"> quoted\n{mine}")
    for _ in range(120):  # more than a page
        workflow.github.comment(7, "a word")
    workflow.run("pull_request", workflow.request(), select="acme/teams/support")
    ended = workflow.run("pull_request", workflow.request())
    assert (forged["body"], quoted["body"]) == (mine, f"> quoted\n{mine}")
    assert len([one for one in workflow.github.bodies(7) if one.startswith("<!-- dpsync")]) == 3
    assert ended.outputs["comment-url"].endswith("#issuecomment-1")


def test_plan_changed_after_approval_shows_warning_until_reapproval(workflow: Workflow) -> None:
    workflow.run("pull_request", workflow.request())
    workflow.github.review("lin")
    workflow.run("pull_request", workflow.request())
    assert "plan changed after" not in workflow.github.bodies(7)[0]
    for title in ("One", "Two"):
        workflow.commit(CONFIG.replace("title: Support", f"title: {title}"))
        workflow.run("pull_request", workflow.request())
        _, *lines = workflow.github.bodies(7)[0].split("\n")
        assert lines[0] == "> [!WARNING]"
        assert lines[1].startswith("> **The plan changed after** `lin` approved")
    workflow.github.review("lin")
    workflow.run("pull_request", workflow.request())
    assert "plan changed after" not in workflow.github.bodies(7)[0]


def test_plan_changed_warning_survives_deleted_comment(
    workflow: Workflow,
) -> None:
    workflow.run("pull_request", workflow.request())
    workflow.github.review("lin")
    workflow.github.comments.clear()
    for title in ("One", "Two"):
        workflow.commit(CONFIG.replace("title: Support", f"title: {title}"))
        workflow.run("pull_request", workflow.request())
        said = workflow.github.bodies(7)[0].split("\n")[2]
        assert said.startswith(
            "> **The plan changed after** `lin` approved a plan that this comment no longer shows"
        )
    workflow.github.review("lin")
    workflow.run("pull_request", workflow.request())
    assert "plan changed after" not in workflow.github.bodies(7)[0]


def test_plan_changed_warning_survives_failed_review_lookup(workflow: Workflow) -> None:
    workflow.run("pull_request", workflow.request())
    workflow.github.review("lin")

    def silent(_method: str, path: str) -> None:
        if path.endswith("/reviews"):
            workflow.github.answers = [(502, {}, {})] * 3

    for title, before in (("One", lambda *_: None), ("Two", silent), ("Three", lambda *_: None)):
        workflow.github.before = before
        workflow.commit(CONFIG.replace("title: Support", f"title: {title}"))
        workflow.run("pull_request", workflow.request())
        assert "> **The plan changed after** `lin`" in workflow.github.bodies(7)[0]


def test_plan_comment_edited_by_others_is_replaced(workflow: Workflow) -> None:
    """Otherwise, a text that somebody else has edited goes on as ours."""
    workflow.run("pull_request", workflow.request())
    workflow.github.review("lin")
    forged = workflow.github.bodies(7)[0].replace(f'"run":{workflow.runs},', '"run":999999,')
    workflow.github.edit(1, forged, "eve")
    ended = workflow.run("pull_request", workflow.request())
    (body,) = workflow.github.bodies(7)
    assert f'"run":{workflow.runs},' in body
    assert "> **The plan changed after** `lin`" in body
    assert "Somebody else edited the comment" in ended.step.of("warning")[0].data


def test_plan_after_merge_leaves_comment_unchanged(workflow: Workflow) -> None:
    workflow.run("pull_request", workflow.request())
    before = workflow.github.bodies(7)
    workflow.commit(OTHER)
    payload = workflow.request()
    workflow.github.merge(workflow.git("rev-parse", "HEAD"), 7)
    ended = workflow.run("pull_request", payload)
    assert (ended.code, ended.outputs["outcome"]) == (0, "changes")
    assert workflow.github.bodies(7) == before
    assert "is merged or closed" in ended.step.of("notice")[0].data


def failing(github: FakeGitHub, verb: str, end: str, times: int) -> None:
    """GitHub fails some requests of this kind."""
    left = [times]

    def before(method: str, path: str) -> None:
        if method == verb and end in path and left[0]:
            left[0] -= 1
            github.answers = [(502, {}, {})]

    github.before = before


@pytest.mark.parametrize(("verb", "end", "times", "code"), [
    ("PATCH", "/comments/1", 2, 0), ("PATCH", "/comments/1", 3, 1), ("GET", "/7/comments", 3, 1),
    ("POST", "/graphql", 3, 1), ("GET", "/pulls/7", 3, 1),
])  # fmt: skip
def test_outdated_plan_comment_fails_the_job(
    verb: str, end: str, times: int, code: int, workflow: Workflow
) -> None:
    workflow.run("pull_request", workflow.request())
    workflow.commit(OTHER)
    failing(workflow.github, verb, end, times)
    ended = workflow.run("pull_request", workflow.request())
    assert (ended.code, ended.outputs["exit-code"]) == (code, str(code))
    assert ended.outputs["failure-reason"] == ("comment" if code else "")
    assert ("Help desk" in workflow.github.bodies(7)[0]) is (code == 0)
    assert ended.outputs["create"] == "1"
    said = [one.data for one in ended.step.of("error")]
    assert [one.startswith("The comment in the pull request may show an older plan") for one in said] == [
        True
    ] * code


def test_failed_first_plan_comment_is_only_a_notice(workflow: Workflow) -> None:
    failing(workflow.github, "POST", "/7/comments", 1)
    ended = workflow.run("pull_request", workflow.request())
    assert (ended.code, workflow.github.comments) == (0, {})
    assert "dpsync could not write the comment" in ended.step.of("notice")[0].data


def test_plan_comment_needs_known_token_owner(
    workflow: Workflow,
) -> None:
    workflow.github.tokens["token"] = Token(graphql=False)
    ended = workflow.run("pull_request", workflow.request())
    assert (ended.code, workflow.github.comments) == (0, {})
    workflow.github.tokens["token"] = Token()
    workflow.run("pull_request", workflow.request())
    before = workflow.github.bodies(7)
    workflow.github.tokens["token"] = Token(graphql=False)
    workflow.commit(OTHER)
    ended = workflow.run("pull_request", workflow.request())
    assert (ended.code, ended.outputs["failure-reason"]) == (1, "comment")
    assert workflow.github.bodies(7) == before


def test_overlong_plan_comment_is_shortened_once(workflow: Workflow) -> None:
    workflow.github.answers = []
    too_long = (422, {"message": "body is too long"}, {})

    def first_is_too_long(method: str, path: str) -> None:
        if method == "POST" and path.endswith("/comments"):
            workflow.github.answers, workflow.github.before = [too_long], lambda *_: None

    workflow.github.before = first_is_too_long
    workflow.run("pull_request", workflow.request())
    assert len(workflow.github.bodies(7)) == 1
    assert len(workflow.github.writes) == 2


@pytest.mark.parametrize("token", [Token(writes=frozenset()), Token("mallory", frozenset(), graphql=False)])
def test_missing_comment_permission_is_only_a_notice(token: Token, workflow: Workflow) -> None:
    workflow.github.tokens["token"] = token
    ended = workflow.run("pull_request", workflow.request())
    assert (ended.code, ended.outputs["outcome"], workflow.github.comments) == (0, "changes", {})
    assert "dpsync could not write the comment" in ended.step.of("notice")[0].data
    assert 'team support "Support"' in ended.summary


def test_pull_request_from_fork_is_validated_offline(workflow: Workflow) -> None:
    """Otherwise, a fork's run asks the platform without a token, and fails."""
    asked = len(workflow.platform.app.requests)
    workflow.github.tokens["token"] = Token(writes=frozenset())
    base = workflow.git("rev-parse", "HEAD")
    workflow.commit(
        OTHER.replace("      legacy: { title: Legacy }\n", "      new: { title: '@a ::error::x' }\n")
    )
    payload = workflow.request(repository="eve/docs")
    payload["pull_request"]["base"] |= {"sha": base, "ref": "main"}
    ended = workflow.run("pull_request", payload, api_token="")
    assert (ended.code, ended.outputs["outcome"]) == (0, "no-changes")
    assert "has no secrets" in ended.step.of("notice")[0].data
    assert "Entries in the files: 1 removed, 1 changed, 1 added." in ended.summary
    assert "dpsync compared only files, and did not connect to GitBook" in ended.summary
    assert "`@a ::error::x`" in ended.summary  # a mention in code is none
    assert "+ acme/teams/new" in "\n".join(ended.step.text)
    assert ended.step.of("error") == []
    assert len(workflow.platform.app.requests) == asked
    workflow.commit("dpsync: 1\norganizations: { acme: { id: acme, tems: {} } }\n")
    ended = workflow.run("pull_request", payload, api_token="")
    assert (ended.code, ended.outputs["outcome"]) == (5, "invalid")
    assert ended.step.of("error")[0].properties["file"] == "dpsync.yaml"


def test_fork_code_with_secrets_is_refused(workflow: Workflow) -> None:
    """Otherwise, somebody else's files meet the repository's secrets."""
    base = workflow.git("rev-parse", "HEAD")
    fork = workflow.commit(OTHER)
    payload = workflow.request(repository="eve/docs", sha=fork)
    ended = workflow.run("pull_request_target", payload, tested=base)
    assert (ended.code, ended.outputs["outcome"], ended.outputs["failure-reason"]) == (
        4,
        "refused",
        "untrusted",
    )
    assert workflow.github.comments == {}
    assert "$ dpsync" not in ended.printed
    workflow.git("checkout", "-q", base)
    assert workflow.run("pull_request_target", payload, tested=base).outputs["outcome"] == "changes"


def test_fork_with_nested_repository_is_refused(workflow: Workflow) -> None:
    base = workflow.git("rev-parse", "HEAD")
    workflow.git("clone", "-q", "--bare", ".", "docs")
    (workflow.folder / "docs" / "config").write_text("[core]\n\tbare = false\n\tworktree = .\n")
    fork = workflow.commit(OTHER, "docs/dpsync.yaml")
    assert workflow.git("-C", "docs", "rev-parse", "HEAD") == base  # so it is one, for git
    payload = workflow.request(repository="eve/docs", sha=fork)
    ended = workflow.run("pull_request_target", payload, tested=base, working_directory="docs")
    assert (ended.code, ended.outputs["failure-reason"]) == (4, "untrusted")
    assert "$ dpsync" not in ended.printed


@pytest.mark.parametrize(
    "inputs",
    [
        {"working_directory": "linked"},
        {"working_directory": "linked/below"},
        {"config": "linked/dpsync.yaml"},
        {"config": "root.yaml"},
    ],
)
def test_action_refuses_symlink_in_configuration_path(
    inputs: dict[str, str], workflow: Workflow, tmp_path: Path
) -> None:
    """Otherwise, a change leads the working directory anywhere by a link."""
    (tmp_path / "elsewhere" / "below").mkdir(parents=True)
    for name in ("elsewhere", "elsewhere/below"):
        (tmp_path / name / "dpsync.yaml").write_text(CONFIG)
    (workflow.folder / "linked").symlink_to(tmp_path / "elsewhere")
    (workflow.folder / "root.yaml").symlink_to(tmp_path / "elsewhere" / "dpsync.yaml")
    ended = workflow.run("pull_request", workflow.request(), **inputs)
    assert (ended.code, ended.outputs["failure-reason"]) == (4, "untrusted")
    assert "is a symbolic link" in ended.step.of("error")[0].data
    assert "$ dpsync" not in ended.printed


def test_invalid_configuration_is_annotated_and_commented(workflow: Workflow) -> None:
    workflow.commit(CONFIG.replace("teams:\n", "tems:\n"))
    ended = workflow.run("pull_request", workflow.request())
    assert (ended.code, ended.outputs["outcome"], ended.outputs["digest"]) == (5, "invalid", "")
    assert "tems" in workflow.github.bodies(7)[0]
    assert ended.step.of("error")[0].properties["line"] == "7"


def test_annotations_prefer_files_changed_in_pull_request(
    workflow: Workflow, monkeypatch: pytest.MonkeyPatch
) -> None:
    (workflow.folder / "docs").mkdir()
    for name in "abcdefghijklm":
        part = f"organizations: {{ acme: {{ teams: {{ {name}: {{ titel: A }} }} }} }}\n"
        (workflow.folder / "docs" / f"{name}.yaml").write_text(part, encoding="utf-8")
    root = "dpsync: 1\ninclude: ['*.yaml']\norganizations: { acme: { id: acme } }\n"
    base = workflow.commit(root, "docs/dpsync.yaml")
    workflow.git("update-ref", "refs/remotes/origin/main", base)
    workflow.commit((workflow.folder / "docs" / "k.yaml").read_text() + "# edited\n", "docs/k.yaml")
    monkeypatch.setenv("GITHUB_BASE_REF", "main")
    ended = workflow.run("pull_request", workflow.request(), working_directory="docs")
    first, *others = [one.properties["file"] for one in ended.step.of("error")]
    assert first == "docs/k.yaml"
    assert len(others) == 8
    assert others == sorted(others)


def test_connection_auth_and_usage_failures_are_distinguished(workflow: Workflow) -> None:
    ended = workflow.run("pull_request", workflow.request(), api_url="http://127.0.0.1:1")
    assert (ended.code, ended.outputs["failure-reason"]) == (1, "network")
    ended = workflow.run("pull_request", workflow.request(), api_token="nobody")
    assert (ended.code, ended.outputs["failure-reason"]) == (1, "auth")
    ended = workflow.run("pull_request", workflow.request(), api_token="")
    assert (ended.code, ended.outputs["failure-reason"]) == (64, "usage")


def test_unknown_action_input_gets_suggestion(workflow: Workflow) -> None:
    ended = workflow.run("push", comand="plan")
    assert (ended.code, ended.outputs["outcome"]) == (64, "failed")
    assert ended.step.of("error")[0].data == 'The action has no input "comand". Did you mean "command"?'


def test_changes_fail_job_only_with_fail_on_changes(workflow: Workflow) -> None:
    assert workflow.run("push", fail_on="changes").code == 2
    workflow.commit(NO_CHANGE)
    assert workflow.run("push", fail_on="changes").code == 0


def test_action_masks_tokens_in_all_output(workflow: Workflow) -> None:
    ended = workflow.run("pull_request", workflow.request())
    assert ended.step.masks == ["ada-token", "token"]
    rest = ended.printed.replace("::add-mask::ada-token\n", "")
    assert "ada-token" not in rest + ended.summary + str(ended.outputs) + workflow.github.bodies(7)[0]


def test_plan_comment_shows_rehearsal_result(workflow: Workflow) -> None:
    ended = workflow.run("pull_request", workflow.request(), rehearse="true")
    (body,) = workflow.github.bodies(7)
    assert ended.code == 0
    assert "Rehearsed 1 of 1 step. Verified: a new plan has no changes." in body
    assert "not checked: token" in body
    assert "Rehearsed 1 of 1 step" in Path(ended.outputs["report-file"]).read_text(encoding="utf-8")
    assert json.loads(Path(ended.outputs["json-file"]).read_text())["rehearsal"]["converged"] is True


def test_plan_is_not_rehearsed_by_default(workflow: Workflow) -> None:
    workflow.run("pull_request", workflow.request())
    (body,) = workflow.github.bodies(7)
    assert "ehears" not in body
