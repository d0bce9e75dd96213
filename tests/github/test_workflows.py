"""The workflows of examples/: run by act, without Docker, against GitHub's stand-in and the companion.

What act does not play (permissions, concurrency groups and limits) the tests beside this one do.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from dpsync.github.runner import INPUT_NAMES
from tests.github.act import CHECKOUT, DPSYNC, TOOLS, Act, act_in, ended
from tests.github.conftest import CONFIG, Workflow
from tests.github.environments import Spy, program_that_is_seen
from tests.github.fake_github import REPOSITORY, Token
from tests.github.tool_cache import action_in
from tests.patience import PATIENCE

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "examples" / "workflows").glob("*.yml"))
ENVIRONMENTS = CONFIG + "environments:\n  staging: {}\n  production: {}\n"


def path(name: str) -> Path:
    return ROOT / "examples" / "workflows" / f"{name}.yml"


# What they look like.


def test_example_workflows_pass_zizmor_audit() -> None:
    command = [TOOLS / "zizmor", "-q", "--offline", "--persona=auditor", ROOT / "action.yml", *FILES]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_example_workflows_pass_actionlint_and_schema() -> None:
    for name, *words in (["actionlint"], ["check-jsonschema", "--builtin-schema", "vendor.github-workflows"]):
        command = [TOOLS / name, *words, *FILES]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_example_workflows_use_valid_inputs_and_minimal_permissions(file: Path) -> None:
    workflow = yaml.safe_load(file.read_text(encoding="utf-8"))
    held = set(workflow[True]) & {"pull_request_target", "workflow_run", "issue_comment"}
    assert held == ({"issue_comment"} if file.stem == "replan" else set())
    assert workflow["permissions"] == {}
    for job in workflow["jobs"].values():
        (action,) = [step["with"] for step in job["steps"] if step["uses"] == DPSYNC]
        writes = "write" if action.get("ids-file", "none") != "none" else "read"
        assert set(job["permissions"].items()) <= {
            ("contents", writes), ("pull-requests", "read" if action["command"] == "drift" else "write"),
            ("issues", "write"),
        }  # fmt: skip
        for step in job["steps"]:
            assert len(step["uses"].partition("@")[2]) == 40
            if step["uses"] == DPSYNC:
                assert set(step["with"]) <= set(INPUT_NAMES)
        group = job.get("concurrency") or workflow["concurrency"]
        assert group["cancel-in-progress"] is (step["with"]["command"] == "plan")
        assert (group.get("queue") == "max") is not group["cancel-in-progress"]
        if action["command"] == "apply":
            (checkout,) = [step["with"] for step in job["steps"] if step["uses"] == CHECKOUT]
            assert checkout["ref"] == "${{ github.ref }}"


def test_replan_workflow_shares_concurrency_group_with_plan() -> None:
    """A group of a whole workflow is entered by every comment, and a stranger's would cancel a plan."""
    plan, replan = (yaml.safe_load(path(name).read_text(encoding="utf-8")) for name in ("plan", "replan"))
    assert "concurrency" not in replan
    group = replan["jobs"]["plan"]["concurrency"]["group"]
    assert group.replace("github.event.issue.number", "N") == plan["concurrency"]["group"].replace(
        "github.event.pull_request.number", "N"
    )


# What they do.


@pytest.fixture
def act(workflow: Workflow, tmp_path: Path) -> Act:
    action = action_in(tmp_path / "action")
    for path in FILES:
        target = workflow.folder / ".github" / "workflows" / path.name
        target.parent.mkdir(parents=True, exist_ok=True)
        text = path.read_text(encoding="utf-8")
        # act's schema is older than this key, which is about runs beside each other: it has only one.
        target.write_text(re.sub(r"\n *queue: max .*", "", text), encoding="utf-8")
    workflow.git("rm", "-q", "dpsync.yaml")
    (workflow.folder / "docs-platform").mkdir()
    workflow.commit(ENVIRONMENTS, "docs-platform/dpsync.yaml")
    return act_in(tmp_path, workflow.folder, workflow.github, workflow.platform.url, action)


def titles(workflow: Workflow) -> set[str]:
    return {team["title"] for team in workflow.ask("GET", "/v1/orgs/acme/teams")["items"]}


def test_manual_apply_confirms_deletes_of_merged_plan(act: Act, workflow: Workflow) -> None:
    """A merge confirms no deletes above the limits. The answer replaces no approval, and no shell runs it."""
    line = "      writers: { title: Technical writers }\n"
    text = ENVIRONMENTS.replace(line, "").replace("      support: { title: Support }\n", "")
    text = text.replace("deletes: 5", "deletes: 0")
    workflow.commit(text, "docs-platform/dpsync.yaml")
    answers = ("delete 3", f'delete 3"; touch {act.home}/run; $(touch {act.home}/run)')

    def by_hand(confirm: str) -> int:
        inputs = {"approval": "", "confirm": confirm}
        running = act.start("apply.yml", "workflow_dispatch", {"inputs": inputs})
        running.communicate(timeout=PATIENCE)
        return running.returncode

    assert by_hand(answers[0]) != 0  # no merged pull request
    act.start("plan.yml", "pull_request", workflow.request()).communicate(timeout=PATIENCE)
    act.github.merge(workflow.git("rev-parse", "HEAD"), 7)
    assert [by_hand(answer) == 0 for answer in ("", answers[1])] == [False, False]
    assert "Technical writers" in titles(workflow)
    assert by_hand(answers[0]) == 0
    assert "Technical writers" not in titles(workflow)
    assert not (act.home / "run").exists()


def test_example_workflows_plan_apply_and_detect_drift(act: Act, workflow: Workflow) -> None:
    # Opened, with two runs at once: one comment is left.
    running = [act.start("plan.yml", "pull_request", workflow.request()) for _ in range(2)]
    printed = [ended(one) for one in running]
    (body,) = act.github.bodies(7)
    assert 'team support "Support"' in body
    # Pushed again.
    workflow.commit(ENVIRONMENTS.replace("title: Support", "title: Help desk"), "docs-platform/dpsync.yaml")
    printed.append(act.run("plan.yml", "pull_request", workflow.request()))
    (body,) = act.github.bodies(7)
    assert "Help desk" in body
    # Merged. What is on loopback has its ids outside of git, unless their file is named.
    act.github.git.push("main", {"README": "x"}, at=workflow.git("rev-parse", "HEAD"))
    act.github.merge(workflow.git("rev-parse", "HEAD"), 7)
    file = workflow.folder / ".github" / "workflows" / "apply.yml"
    shown = file.read_text(encoding="utf-8")
    named = shown.replace("command: apply\n", "command: apply\n          extra-args: --ids=dpsync.ids.yaml\n")
    file.write_text(named, encoding="utf-8")
    printed.append(act.run("apply.yml", "push"))
    assert "Help desk" in titles(workflow)
    (request,) = act.github.git.requests.values()
    lines = act.github.git.text(request["head"]["ref"], "docs-platform/dpsync.ids.yaml")
    assert lines.count("\n    acme/teams/") == 5
    assert (request["base"]["ref"], act.github.git.text("main", "README")) == ("main", "x")
    assert "**Applied: 1 created.** Verified" in act.github.bodies(7)[0]
    # Drift comes and goes.
    workflow.ask("PATCH", "/v1/orgs/acme", {"title": "Acne"})
    printed.append(act.run("drift.yml", "schedule"))
    (issue,) = act.github.issues.values()
    assert (issue["state"], [one["name"] for one in issue["labels"]]) == ("open", ["drift"])
    workflow.ask("PATCH", "/v1/orgs/acme", {"title": "Acme"})
    printed.append(act.run("drift.yml", "schedule"))
    assert issue["state"] == "closed"
    assert "ada-token" not in "".join(printed)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows the environments of processes")
def test_workflow_processes_have_no_token_in_environment(
    act: Act, workflow: Workflow, tmp_path: Path
) -> None:
    """Processes are looked at all the time, and surely while one waits for GitHub, or for git or Python."""
    act.github.tokens["github-secret"] = act.github.tokens["token"]
    spy = Spy(tmp_path, ("ada-token", "github-secret"))
    act.github.before = lambda *_: spy.look()
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("python3", "git"):
        program = shutil.which(name, path=act.path)
        assert program is not None
        program_that_is_seen(programs, name, program, act.github.url)
    act.path = f"{programs}:{act.path}"
    with spy.looking():
        act.run("plan.yml", "pull_request", workflow.request(), words=("-s", "GITHUB_TOKEN=github-secret"))
    assert 'team support "Support"' in act.github.bodies(7)[0]
    for seen in ("composite-dpsync.sh", "action/main.py", "programs/python3.py", "programs/git.py"):
        assert any(seen in command for command in spy.seen), seen
    # act, other than GitHub's runner, gives the shell of a step all inputs as variables.
    for secret, name in (("ada-token", "INPUT_API-TOKEN"), ("github-secret", "INPUT_GITHUB-TOKEN")):
        ((command, held),) = spy.found[secret].items()
        assert "composite-dpsync.sh" in command
        assert held == {name}


def test_fork_without_secrets_is_validated_and_changes_listed(act: Act, workflow: Workflow) -> None:
    act.github.tokens["token"] = Token(writes=frozenset())
    base = {"sha": workflow.git("rev-parse", "HEAD"), "ref": "main"}
    workflow.commit(ENVIRONMENTS.replace("title: Support", "title: Help desk"), "docs-platform/dpsync.yaml")
    payload = workflow.request(repository="eve/docs")
    payload["pull_request"]["base"] |= base
    printed = act.run("plan.yml", "pull_request", payload, token="")
    assert "has no secrets" in printed
    assert "Entries in the files: 1 changed." in printed
    assert act.github.comments == {}


def proposed(workflow: Workflow, files: dict[str, str]) -> tuple[str, str]:
    """Commit a change, and return its head and GitHub's trial merge of the head. main stays as it is."""
    workflow.git("update-ref", "refs/remotes/origin/main", "HEAD")
    workflow.git("checkout", "-q", "-b", "change")
    for name, text in files.items():
        workflow.commit(text, name)
    text = ENVIRONMENTS.replace("title: Support", "title: Help desk")
    head = workflow.commit(text, "docs-platform/dpsync.yaml")
    workflow.git("checkout", "-q", "--detach", "main")
    workflow.git("merge", "-q", "--no-ff", "--no-edit", "change")
    workflow.git("update-ref", "refs/pull/7/merge", "HEAD")
    workflow.git("checkout", "-q", "main")
    return head, workflow.git("rev-parse", "refs/pull/7/merge")


@pytest.fixture
def request_7(act: Act, workflow: Workflow) -> dict[str, Any]:
    """Create a pull request with a change."""
    head, trial = proposed(workflow, {})
    act.github.requests[7] = {
        "state": "open", "head": {"sha": head, "repo": {"full_name": REPOSITORY}}, "base": {"ref": "main"},
        "merge_commit_sha": trial,
    }  # fmt: skip
    return act.github.requests[7]


def said(act: Act, by: str, body: str, issue: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the event of a comment in pull request 7."""
    comment = act.github.comment(7, body, login="lin")
    about = {"number": 7, "state": "open", "pull_request": {"url": "https://github.example"}}
    return {
        "action": "created",
        "issue": about if issue is None else issue,
        "comment": {"id": comment["id"], "body": body, "author_association": by},
    }


def plans(act: Act) -> list[str]:
    return [body for body in act.github.bodies(7) if body.startswith("<!-- dpsync")]


@pytest.mark.usefixtures("request_7")
def test_member_comment_triggers_new_plan(act: Act, workflow: Workflow) -> None:
    for text in ("/dpsync plan", "/dpsync plan\r\nThe platform has changed `$(exit 1)`."):
        act.run("replan.yml", "issue_comment", said(act, "MEMBER", text))
        (body,) = plans(act)
        assert "Help desk" in body
        workflow.ask("PATCH", "/v1/orgs/acme", {"title": "Acne"})
    assert "Acne" in body


@pytest.mark.usefixtures("request_7")
def test_replan_ignores_outsiders_and_other_comments(act: Act) -> None:
    issue = {"number": 7, "state": "open"}
    request = {**issue, "pull_request": {"url": "https://github.example"}}
    for by, text, about in (
        ("CONTRIBUTOR", "/dpsync plan", request),
        ("NONE", "/dpsync plan", request),
        ("MEMBER", "see /dpsync plan", request),
        ("MEMBER", "/dpsync planet", request),
        ("MEMBER", "/dpsync plan", issue),
        ("MEMBER", "/dpsync plan", {**request, "state": "closed"}),
    ):
        act.run("replan.yml", "issue_comment", said(act, by, text, about))
    assert act.github.asked == []


def test_replan_of_fork_pull_request_is_refused(act: Act, request_7: dict[str, Any]) -> None:
    request_7["head"]["repo"] = {"full_name": "eve/docs"}
    running = act.start("replan.yml", "issue_comment", said(act, "OWNER", "/dpsync plan"))
    printed, _ = running.communicate(timeout=PATIENCE)
    assert running.returncode != 0
    assert "the change comes from a fork" in printed
    assert plans(act) == []


BUILT = """\
name: a plan after a build
on:
  EVENT:
jobs:
  plan:
    runs-on: ubuntu-24.04
    steps:
      - uses: CHECKOUT
        with:
          ref: REF
          fetch-depth: 0
          persist-credentials: false
      - run: sh docs-platform/build.sh
      - uses: DPSYNC
        with:
          command: plan
          working-directory: docs-platform
          api-url: ${{ vars.DPSYNC_URL }}
          api-token: ${{ secrets.DPSYNC_TOKEN }}
"""


@pytest.mark.parametrize("build", ["true", "sed -i 's/Help desk/Evil/' docs-platform/dpsync.yaml"],
                         ids=["a build that changes no file", "a build that writes dpsync.yaml"])  # fmt: skip
@pytest.mark.parametrize(
    ("event", "ref"),
    [
        ("pull_request_target", "change"),
        ("pull_request_target", "refs/pull/7/merge"),
        ("workflow_run", "change"),
        ("issue_comment", "refs/pull/7/merge"),
    ],
    ids=["target of the head", "target of the trial merge", "workflow run of the head", "comment"],
)
def test_workflow_refuses_file_changed_by_earlier_build_step(
    event: str, ref: str, build: str, act: Act, workflow: Workflow
) -> None:
    """An earlier step runs code of the change. That code must not decide what is planned with secrets."""
    text = BUILT.replace("EVENT", event).replace("REF", ref).replace("CHECKOUT", CHECKOUT)
    workflow.commit(text.replace("DPSYNC\n", f"{DPSYNC}\n"), ".github/workflows/built.yml")
    head, trial = proposed(workflow, {"docs-platform/build.sh": f"{build}\n"})
    payload: dict[str, Any] = workflow.request(sha=head)
    payload["pull_request"]["base"]["ref"] = "main"
    act.github.requests[7] |= {"base": {"ref": "main"}, "merge_commit_sha": trial}
    if event == "workflow_run":
        payload = {"workflow_run": {"head_sha": head, "head_repository": {"full_name": REPOSITORY}}}
    elif event == "issue_comment":
        payload = said(act, "OWNER", "/dpsync plan")
    asked = len(workflow.platform.app.requests)
    running = act.start("built.yml", event, payload)
    printed, _ = running.communicate(timeout=PATIENCE)
    planned = len(workflow.platform.app.requests) > asked
    assert (running.returncode == 0, planned) == ((build == "true"), (build == "true")), printed
    assert ("dpsync.yaml differs from the checked-out commit" in printed) is (build != "true")


def test_matrix_jobs_have_separate_comments_and_applies(act: Act, workflow: Workflow) -> None:
    legs = [yaml.safe_load(path(name).read_text(encoding="utf-8")) for name in ("matrix", "matrix-apply")]
    (plan,), (apply,) = (one["jobs"].values() for one in legs)
    assert plan["strategy"] == apply["strategy"]
    assert set(plan["strategy"]["matrix"]) == {"organization", "environment"}
    for name in ("acme", "globex"):
        (workflow.folder / "docs-platform" / name).mkdir()
        text = f"dpsync: 1\norganizations: {{ {name}: {{ id: {name}, title: {name} of ours }} }}\n"
        text += "environments: { staging: {}, production: {} }\n"
        workflow.commit(text, f"docs-platform/{name}/dpsync.yaml")
    leg = ("--matrix", "environment:production")  # the others do the same
    act.run("matrix.yml", "pull_request", workflow.request(), words=leg)
    assert sorted(body.split("\n")[1] for body in act.github.bodies(7)) == [
        "dpsync plan · `docs-platform/acme` · `production`",
        "dpsync plan · `docs-platform/globex` · `production`",
    ]
    head, first = workflow.git("rev-parse", "HEAD", "HEAD^").split()
    act.github.merge(head, 7, commits=(first,))
    act.run("matrix-apply.yml", "push", words=leg)
    for name in ("acme", "globex"):
        assert workflow.ask("GET", f"/v1/orgs/{name}")["title"] == f"{name} of ours"
    assert ["Verified" in body for body in act.github.bodies(7)] == [True, True]
