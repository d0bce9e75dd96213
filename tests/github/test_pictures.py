"""The pictures of what GitHub shows: a pull request from its plan to its apply, and drift; and of the report.

Every text comes from a run of the action against GitHub's stand-in and the companion. A picture names the
texts that it shows, so one that is old is noticed without a browser; UPDATE_SCREENSHOTS makes them again.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from dpsync.cli.main import run as run_command
from tests.github.conftest import Workflow
from tests.github.page import comment, page, title
from tests.github.picture import put, shows

PICTURES = Path(__file__).parents[2] / "docs"
BEFORE = (Path(__file__).parent / "pictures" / "before.yaml").read_text(encoding="utf-8")
AGENTS = """\
Answer in the reader's language.

- Quote the page that an answer comes from.
- Say so when nothing is written about it.
"""
NEW_RULE = AGENTS + "- Never guess the name of a setting.\n"
SALES, LIN, NEWS = (
    "      sales: { title: Sales }\n",
    "          lin@acme.example: member\n",
    "title: News\n    ",
)
EDITS = (
    ("prune: [teams] }", "prune: [teams], removed: [teams/legacy] }"),
    ("      legacy: { title: Legacy }\n", ""),
    (SALES, f"{SALES}      support: {{ title: Support, new: true }}\n"),
    (LIN, f"{LIN}          eve@acme.example: member\n"),
    ("visibility: unlisted", "visibility: public"),
    (NEWS, NEWS.replace("News", "What is new")),
    ("path: news", "path: new"),
)
"""What the pull request does."""
WIDTH = 860
TOP = 350
"""Of the comment whose plan was applied: below is the plan again."""


@pytest.fixture
def texts(workflow: Workflow, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Return the texts of all pictures.

    They are the comment of the plan, the same comment after the apply, the summary of that job, the issue
    about drift, and the HTML report of the plan.
    """
    for name in ("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"):
        monkeypatch.setenv(name, "2026-01-01T00:00:00Z")
    workflow.git("checkout", "-q", "--orphan", "story")  # so that every commit has the same name in each run
    (workflow.folder / "agents.md").write_text(AGENTS, encoding="utf-8")
    workflow.commit(BEFORE)
    workflow.git("branch", "-M", "main")
    base = workflow.pushed()
    workflow.git("update-ref", "refs/remotes/origin/main", base)
    assert workflow.run("push", command="apply", approval="none").outputs["outcome"] == "applied"
    text = BEFORE
    for old, new in EDITS:
        assert text.count(old) == 1
        text = text.replace(old, new)
    (workflow.folder / "agents.md").write_text(NEW_RULE, encoding="utf-8")
    sha = workflow.commit(text)
    with monkeypatch.context() as on_the_branch:
        on_the_branch.setenv("GITHUB_BASE_REF", "main")
        workflow.run("pull_request", workflow.request(sha=sha))
        on_the_branch.setenv("DPSYNC_URL", workflow.platform.url)
        on_the_branch.setenv("DPSYNC_TOKEN", "ada-token")
        assert run_command(["plan", "--format", "html"]) == 0
        report = workflow.printed()
    planned = workflow.github.bodies(7)[0]
    workflow.github.merge(sha, 7)
    applied = workflow.run("push", {"before": base}, command="apply")
    assert applied.outputs["outcome"] == "applied"
    (site,) = [
        one for one in workflow.ask("GET", "/v1/orgs/acme/sites")["items"] if one["title"] == "Acme Docs"
    ]
    workflow.ask("PATCH", f"/v1/orgs/acme/sites/{site['id']}", {"title": "Acme Docs (beta)"})
    workflow.ask("PUT", "/v1/orgs/acme/teams", {"title": "Interns"})
    workflow.run("schedule", command="drift")
    (issue,) = workflow.github.issues.values()
    found = {
        "comment": planned, "applied": workflow.github.bodies(7)[0],
        "summary": applied.summary, "drift": issue["body"], "report": report,
    }  # fmt: skip
    return {name: settled(text) for name, text in found.items()}


def settled(text: str) -> str:
    """Without what is another one in each run: a port, a directory, a time."""
    for pattern, instead in (
        (r"http://127[0-9.:]+", "https://api.docs.example.com"),
        (r"/\S+/repository/", "/home/runner/work/docs/"),
        (r"\d{8}T\d{6}Z", "20260101T000000Z"),
        (r"[0-9-]{10} [0-9:]{5} UTC", "2026-01-01 06:00 UTC"),
        (r"<!--.*?-->\n", ""),  # nobody sees it
    ):
        text = re.sub(pattern, instead, text)
    return text


def test_docs_screenshots_match_current_output(
    texts: dict[str, str], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    shown = {
        "comment": (title("Open", "The site becomes public"), comment(texts["comment"])),
        "applied": (title("Merged", "The site becomes public"), comment(texts["applied"])),
        "summary": (comment(texts["summary"], "apply", "summary"),),
        "drift": (title("Open", "Drift"), comment(texts["drift"], said="opened this")),
    }
    pages = {PICTURES / f"github-{name}.png": page(*parts) for name, parts in shown.items()}
    reports = {scheme: PICTURES / f"report-{scheme}.png" for scheme in ("light", "dark")}
    if os.environ.get("UPDATE_SCREENSHOTS"):
        browser = request.getfixturevalue("browser")
        for path, html in pages.items():
            with browser.new_page(viewport={"width": WIDTH, "height": TOP}) as opened:
                opened.set_content(html)
                put(path, opened.screenshot(full_page="applied" not in path.name), html)
        (tmp_path / "report.html").write_text(texts["report"], encoding="utf-8")
        for scheme, path in reports.items():
            with browser.new_page(viewport={"width": 1200, "height": 900}, color_scheme=scheme) as opened:
                opened.goto((tmp_path / "report.html").as_uri())  # its script is allowed by its hash
                put(path, opened.screenshot(), texts["report"])
    pages |= dict.fromkeys(reports.values(), texts["report"])
    old = [path.name for path, html in pages.items() if not shows(path, html)]
    assert not old, "run this test with UPDATE_SCREENSHOTS=1, and look at the pictures"
