"""What the action finds in a working copy and writes for the runner, without a run."""

from __future__ import annotations

import io
import os
from pathlib import Path

import click
import pytest

from dpsync.cli.exit_codes import exit_on_errors
from dpsync.cli.foreign_flags import check_foreign_flags
from dpsync.cli.github_action import (
    _history,
    _ids_file,
    _project_prefix,
    _working_copy,
    with_base_branch,
    write_summary,
)
from dpsync.cli.output import changed_files, make_output
from dpsync.github.plan_comment import is_worth_comment
from dpsync.github.runner import History, Inputs, Log
from dpsync.model.change import Blocked
from dpsync.model.diagnostic import Diagnostic, Exit
from dpsync.model.plan import Plan
from dpsync.render.json_conversion import findings_document, plan_document


def test_action_outside_git_repository_has_no_history(tmp_path: Path) -> None:
    inputs = Inputs(directory=str(tmp_path))
    assert _working_copy(inputs).read_head() is None
    assert _history(inputs) == History()
    assert changed_files(tmp_path) == frozenset()
    assert (_project_prefix(inputs), _ids_file(inputs)) == ("", None)


@pytest.mark.parametrize(("arguments", "named"), [
    ((), "dpsync.ids.yaml"), (("--quiet",), "dpsync.ids.yaml"), (("--ids", "a.yaml"), "a.yaml"),
    (("--ids=a.yaml",), "a.yaml"), (("--ids",), "dpsync.ids.yaml"),
    (("--ids", "a.yaml", "--ids=b.yaml"), "b.yaml"),
])  # fmt: skip
def test_action_ids_file_comes_from_flag_or_default(
    arguments: tuple[str, ...], named: str, tmp_path: Path
) -> None:
    (tmp_path / "dpsync.yaml").write_text("dpsync: 1\n")
    found = _ids_file(Inputs(directory=str(tmp_path), arguments=arguments))
    assert found is not None
    assert found.name == named


def test_for_branch_sets_github_base_ref_temporarily(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_BASE_REF", "main")
    with with_base_branch("next"):
        assert os.environ["GITHUB_BASE_REF"] == "next"
    with with_base_branch(""):
        assert os.environ["GITHUB_BASE_REF"] == "main"
    monkeypatch.delenv("GITHUB_BASE_REF")
    with with_base_branch("next"):
        pass
    assert "GITHUB_BASE_REF" not in os.environ


def test_unwritable_step_summary_prints_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = io.StringIO()
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    write_summary(Log(told), "x")
    assert told.getvalue() == ""
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path))
    write_summary(Log(told), "x")
    assert told.getvalue().startswith(f"::warning title=dpsync::dpsync cannot write {tmp_path}: ")


def test_comment_is_posted_for_findings_or_nonempty_plan() -> None:
    assert is_worth_comment(findings_document([Diagnostic("DP201", "so")], Exit.INVALID))
    assert is_worth_comment(plan_document(Plan(blocked=(Blocked(address="acme/b", reason="so"),))))
    assert not is_worth_comment(plan_document(Plan()))


def test_foreign_flag_after_double_dash_is_allowed() -> None:
    check_foreign_flags(["plan", "--", "-out=x"])
    with pytest.raises(click.UsageError, match="There is no flag -out"):
        check_foreign_flags(["plan", "-out=x", "--"])


def test_internal_error_exits_1_and_raises_with_debug(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("DPSYNC_DEBUG", raising=False)
    with pytest.raises(click.exceptions.Exit) as ended, exit_on_errors(make_output("text", "never")):
        raise ZeroDivisionError
    assert ended.value.exit_code == Exit.FAILED
    assert "dpsync has an internal error (ZeroDivisionError)" in capsys.readouterr().err
    monkeypatch.setenv("DPSYNC_DEBUG", "1")
    with pytest.raises(ZeroDivisionError), exit_on_errors(make_output("text", "never")):
        raise ZeroDivisionError
