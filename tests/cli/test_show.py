"""What was saved or printed as JSON is shown again, in any format, without a platform."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from dpsync.apply.saved_plan import save_plan
from dpsync.model.change import Change
from dpsync.model.plan import Plan, Saved
from dpsync.model.text import json_text
from dpsync.render.formats import FORMATS
from dpsync.server.process.threaded_server import ThreadedServer
from tests.cli.conftest import Run
from tests.cli.test_saved import TEXT
from tests.cli.test_show_journal import harmless
from tests.render.hostile import forge

Project = Callable[..., Path]
WRONG = TEXT.replace("title: Acme", "titel: Acme")


@pytest.fixture
def made(run: Run, project: Project, platform: ThreadedServer, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create a project with a saved plan and the JSON output of commands, then unset the platform's URL."""
    directory = project(TEXT)
    at = str(directory)
    assert run("plan", "-C", at, "-o", "plan.json").code == 0
    for command in ("plan", "drift", "apply"):
        ended = run(command, "-C", at, "--format", "json", *(["--yes"] if command == "apply" else []))
        (directory / f"{command}.out").write_text(ended.out)
    project(WRONG)
    (directory / "validate.out").write_text(run("validate", "-C", at, "--format", "json").out)
    platform.app.requests.clear()
    monkeypatch.delenv("DPSYNC_URL")
    return directory


SAID = {
    "plan.json": "1 to create, 1 to change",
    "plan.out": "1 to create, 1 to change",
    "drift.out": "Drift: 2 objects.",
    "apply.out": "Applied: 1 created, 1 changed",
    "validate.out": "1 error",
}


def test_show_prints_saved_output_in_every_format(
    made: Path, run: Run, platform: ThreadedServer, monkeypatch: pytest.MonkeyPatch, project: Project
) -> None:
    at = str(made)
    for file, says in SAID.items():
        for name in FORMATS:
            ended = run("show", file, "-C", at, "--format", name)
            assert (ended.code, ended.err) == (0, ""), name
            assert ended.out.strip() or (name, file) == ("github", "apply.out"), name
            assert name not in ("text", "markdown") or says in ended.out
    assert not platform.app.requests
    platform.reset()
    monkeypatch.setenv("DPSYNC_URL", platform.url)
    project(TEXT)
    for name in FORMATS:
        shown = run("show", "plan.json", "-C", at, "--format", name).out
        assert run("show", "plan.out", "-C", at, "--format", name).out == shown
        assert run("plan", "-C", at, "--format", name).out == shown


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    change = Change(address="acme", kind="organization", action="update", label="Acme Inc")
    save_plan(tmp_path / "plan.json", Plan(changes=(change,)))
    return tmp_path / "plan.json"


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda text: text[: len(text) // 2], "the file is not a complete saved plan"),
        (
            lambda text: text.replace("Acme Inc", "Acme Ltd"),
            "the content of the file does not match its digest",
        ),
        (
            lambda text: text.replace("saved-plan/1", "saved-plan/2"),
            "its format is dpsync.saved-plan/2, but this version of dpsync reads dpsync.saved-plan/1",
        ),
        (
            lambda text: text.replace('"changes"', '"chances"'),
            "Perhaps another version of dpsync wrote the file",
        ),
        (lambda _text: "[" * 100_000, "the file is not a complete saved plan"),
        (
            lambda _text: '{"format_version": "1.2", "terraform_version": "1.9"}',
            "the file is not a complete saved plan",
        ),
        (lambda _text: '{"format": "\\u001b[2J"}', "the file is not a complete saved plan\n"),
        (lambda _text: "\0\xff", "the file is not a complete saved plan"),
        (lambda _text: "", "the file is not a complete saved plan"),
    ],
)
def test_show_rejects_damaged_plan_file(
    saved: Path, run: Run, damage: Callable[[str], str], says: str
) -> None:
    saved.write_text(damage(saved.read_text()), encoding="latin-1")
    ended = run("show", "plan.json", "-C", str(saved.parent))
    assert (ended.code, ended.out) == (5, "")
    assert "error[DP143]" in ended.err
    assert says in ended.err


def test_show_rejects_output_of_other_version(saved: Path, run: Run) -> None:
    saved.write_text('{"format": "dpsync.drift-output/1", "moved": true}')
    assert "the file does not fit the format dpsync.drift-output/1" in run("show", str(saved)).err


def test_show_exits_5_for_missing_file(saved: Path, run: Run) -> None:
    ended = run("show", "gone.json", "-C", str(saved.parent), "--format", "json")
    assert ended.code == 5
    assert json.loads(ended.out)["findings"][0]["code"] == "DP143"


@pytest.mark.parametrize("name", FORMATS)
def test_plan_prints_findings_in_requested_format(run: Run, project: Project, name: str) -> None:
    """Whoever reads the result of a plan in CI sees there why there is none."""
    ended = run("plan", "-C", str(project(WRONG)), "--format", name)
    assert ended.code == 5
    assert "error[DP201]" in ended.err
    assert ("titel" in ended.out) == (name != "text")


@pytest.mark.usefixtures("platform")
def test_apply_markdown_starts_with_result_heading(run: Run, project: Project) -> None:
    at = str(project(TEXT))
    ended = run("apply", "-C", at, "--yes", "--format", "markdown")
    assert ended.out.startswith("### Applied: 1 created, 1 changed. Verified: a new plan has no changes.\n")
    again = run("apply", "-C", at, "--yes", "--format", "markdown")
    assert again.out.startswith("### No changes. acme matches your files.\n")


@pytest.mark.usefixtures("platform")
def test_refused_apply_markdown_names_the_refusal(run: Run, project: Project) -> None:
    at = str(project(TEXT.replace("organizations", "policy: { prune: [teams] }\norganizations", 1)))
    ended = run("apply", "-C", at, "--yes", "--format", "markdown")
    assert ended.code == 4
    assert ended.out.startswith(
        "### Nothing was applied. Plan: 1 to create, 1 to change, 8 to delete (4 teams, 4 memberships). "
        "This plan cannot be applied, for 1 reason.\n"
    )
    assert "- refused: Deleting 4 objects with content" in ended.out


def test_findings_use_paths_relative_to_repository_root(run: Run, project: Project, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    at = str(project(WRONG))
    assert "::error file=project/dpsync.yaml,line=5," in run("validate", "-C", at, "--format", "github").out
    found = json.loads(run("validate", "-C", at, "--format", "sarif").out)["runs"][0]["results"][0]
    physical = found["locations"][0]["physicalLocation"]
    assert physical["artifactLocation"]["uri"] == "project/dpsync.yaml"


@pytest.mark.usefixtures("platform")
def test_plan_masks_token_in_every_format(run: Run, project: Project) -> None:
    """Not even where the platform or a file says it: the token is in a title here."""
    at = str(project(TEXT.replace("Quite another", "has ada-token in it")))
    for name in FORMATS:
        assert "ada-token" not in run("plan", "-C", at, "--format", name).out, name
    assert "has [secret] in it" in run("plan", "-C", at, "--format", "html").out


@pytest.fixture
def forged(made: Path) -> Path:
    """Make every text of a saved plan hostile. The digest matches, because anybody can calculate it."""
    saved = made / "plan.json"
    known = Saved.model_validate_json(saved.read_text(encoding="utf-8"))
    plan = Plan.model_validate_json(forge(json_text(known.plan), Plan.model_validate_json))
    plan = plan.model_copy(update={"profile": known.plan.profile})  # another one is refused before the rest
    saved.write_text(json_text(Saved(digest=plan.digest, plan=plan)), encoding="utf-8")
    return saved


@pytest.mark.parametrize("name", FORMATS)
def test_show_escapes_forged_plan_in_every_format(name: str, forged: Path, run: Run) -> None:
    shown = run("show", str(forged), "--format", name)
    assert shown.code == 0, shown.err
    harmless(shown.out, name)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("apply", "plan.json", "--yes"), 4),
        (("revert", "plan.json", "--yes"), 4),
        (("graph", "--plan", "plan.json", "--format", "dot"), 0),
        (("graph", "--plan", "plan.json", "--format", "mermaid"), 0),
    ],
)
def test_commands_escape_forged_plan(
    words: tuple[str, ...], code: int, forged: Path, run: Run, project: Project, platform: ThreadedServer
) -> None:
    project(TEXT)
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("DPSYNC_URL", platform.url)
        ended = run(*words, "-C", str(forged.parent))
    assert ended.code == code, ended
    assert "internal error" not in ended.err
    harmless(ended.out + ended.err, "text")
