"""Which exit code an end has, by values: 0 says that all is as declared, 1 and 4 that nothing was written."""

from __future__ import annotations

import signal
from typing import Any

import click
import pytest

from dpsync.cli import applying
from dpsync.cli.applying import _apply_exit_code, exit_code_without_apply
from dpsync.cli.connection import Connection, _with_checked_url
from dpsync.cli.github_action import _exit_code
from dpsync.cli.signals import EndedBySignal, SignalRecorder
from dpsync.github.action import stopped_result
from dpsync.github.runner import ActionRun, CommandResult, Inputs
from dpsync.model.change import Blocked, Change, Step
from dpsync.model.diagnostic import Exit
from dpsync.model.journal import Outcome, Report, Result
from dpsync.model.plan import Plan
from dpsync.render.documents import ApplyDocument, FindingsDocument
from dpsync.render.json_conversion import plan_document

STEP = Step(id="s", verb="update", method="PATCH", path="/", repeat="safe")
CHANGE = Change(address="acme/teams/a", kind="team", action="update", id="1", steps=(STEP,))
SOME, BLOCKED = Plan(changes=(CHANGE,)), Plan(blocked=(Blocked(address="acme/teams/b", reason="so"),))


def outcome(result: Result, sent: bool = True) -> Outcome:
    return Outcome(step="s", address="acme/teams/a", verb="update", result=result, sent=sent)


def report(*outcomes: Outcome, **more: Any) -> Report:
    return Report(**{"plan": "d", "outcomes": outcomes, "verified": True, "remaining": Plan()} | more)


# An apply.


@pytest.mark.parametrize(
    ("of", "code"),
    [
        (report(outcome("done")), Exit.DONE),
        (report(outcome("unknown")), Exit.PARTIAL),
        (report(outcome("done"), verified=False), Exit.PARTIAL),
        (report(outcome("done"), remaining=None), Exit.PARTIAL),
        (report(outcome("done"), remaining=SOME), Exit.PARTIAL),
        (report(outcome("done"), remaining=BLOCKED), Exit.PARTIAL),
        (report(outcome("requested")), Exit.PARTIAL),
        (report(outcome("done"), unrecorded="no room"), Exit.PARTIAL),
        (report(outcome("failed"), remaining=SOME), Exit.PARTIAL),
        (report(outcome("stale"), remaining=SOME), Exit.PARTIAL),
        # 1 and 4 say that nothing was written.
        (report(outcome("stale", sent=False), remaining=SOME), Exit.REFUSED),
        (report(outcome("failed", sent=False), remaining=SOME), Exit.FAILED),
        (report(outcome("not-tried", sent=False), remaining=None, trouble=("no room",)), Exit.FAILED),
        (report(outcome("not-tried", sent=False), remaining=SOME), Exit.PARTIAL),
        (report(outcome("done"), outcome("stale", sent=False), remaining=SOME), Exit.PARTIAL),
        (report(outcome("done"), outcome("failed", sent=False), remaining=SOME), Exit.PARTIAL),
    ],
)
def test_apply_exit_code_for_report(of: Report, code: Exit) -> None:
    """Otherwise, what is left to people, or is still on its way, is told as done.

    Otherwise, what was written is told as nothing written.
    Otherwise, that nothing was done, since the platform has moved, is told as half done.
    Otherwise, that nothing could be done is told as half done.
    """
    assert _apply_exit_code(of, []) is code


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, Exit.INTERRUPTED), (signal.SIGTERM, Exit.TERMINATED)]
)
def test_signal_decides_apply_exit_code(number: int, code: Exit) -> None:
    """Otherwise, an apply that a signal has ended is told as one that was done.

    Otherwise, who has ended a run is told wrongly.
    """
    assert _apply_exit_code(report(outcome("done")), [number, signal.SIGINT]) is code


@pytest.mark.parametrize(("plan", "code"), [(SOME, None), (Plan(), Exit.DONE), (BLOCKED, Exit.PARTIAL)])
def test_apply_exits_early_only_without_changes(plan: Plan, code: Exit | None) -> None:
    """Otherwise, what is left to people is told as done."""
    assert exit_code_without_apply(plan) is code


def test_refused_plan_exits_4_even_without_changes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Otherwise, a plan that may not be applied is applied, or told as done."""
    for plan in (SOME, Plan()):
        monkeypatch.setattr(Plan, "can_apply", property(lambda _: False))
        assert exit_code_without_apply(plan) is Exit.REFUSED


# Who has agreed.


def test_apply_is_refused_without_interactive_input(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise, in CI an apply waits for an answer for ever."""
    monkeypatch.setattr(applying, "interactive", lambda *_, **__: False)
    said: list[str] = []

    class Out:
        is_text = True
        print_prose = staticmethod(said.append)

    assert applying.confirm_apply(Out(), SOME, no_input=True) is Exit.REFUSED  # type: ignore[arg-type]
    assert "dpsync cannot ask you here" in said[0]


# The step of a workflow.


@pytest.mark.parametrize(
    ("ran", "fail_on", "code"),
    [
        (CommandResult(Exit.DONE, plan_document(SOME)), "error", Exit.DONE),
        (CommandResult(Exit.DONE, plan_document(SOME)), "changes", Exit.CHANGES),
        (CommandResult(Exit.DONE, plan_document(Plan())), "changes", Exit.DONE),
        (CommandResult(Exit.CHANGES), "error", Exit.DONE),
        (CommandResult(Exit.CHANGES), "changes", Exit.CHANGES),
        (CommandResult(Exit.FAILED), "error", Exit.FAILED),
        (CommandResult(Exit.REFUSED, plan_document(SOME)), "error", Exit.REFUSED),
        (CommandResult(Exit.REFUSED, plan_document(SOME)), "changes", Exit.REFUSED),
        (CommandResult(Exit.PARTIAL), "error", Exit.PARTIAL),
    ],
)
def test_action_fails_on_changes_only_if_configured(ran: CommandResult, fail_on: Any, code: Exit) -> None:
    """Otherwise, a job fails where nothing would change.

    Otherwise, a plan that was refused passes.
    Otherwise, a job fails because of what it was to show.
    """
    assert _exit_code(Inputs(fail_on=fail_on), ran) == code


def run(command: Any, refused: CommandResult | None = None) -> ActionRun:
    made = ActionRun(Inputs(command=command), None, None, None, None, None)  # type: ignore[arg-type]
    made.result.refusal = refused
    return made


APPLIED = CommandResult(Exit.PARTIAL, ApplyDocument(exit=3, converged=False, plan=plan_document(SOME)))
PLANNED = CommandResult(Exit.DONE, plan_document(SOME))
FOUND = CommandResult(Exit.FAILED, FindingsDocument(exit=1))


@pytest.mark.parametrize(
    ("of", "last", "ended"),
    [
        (run("plan"), None, CommandResult(130)),
        (run("plan"), PLANNED, PLANNED),
        (run("drift"), FOUND, FOUND),
        # A plan that an apply has made first is not the end of that apply.
        (run("apply"), PLANNED, CommandResult(130)),
        (run("apply"), FOUND, CommandResult(130)),
        (run("apply"), APPLIED, APPLIED),
        (run("apply", CommandResult(Exit.REFUSED)), PLANNED, CommandResult(Exit.REFUSED)),
    ],
)
def test_stopped_action_run_reports_final_command_or_signal(
    of: ActionRun, last: CommandResult | None, ended: CommandResult
) -> None:
    """Otherwise, an apply that was stopped after its plan is told as a plan that was made.

    Otherwise, what was refused is told as stopped.
    """
    assert stopped_result(of, last, 130) == ended


def test_action_stops_before_next_part_after_signal() -> None:
    """Otherwise, an apply begins after the signal that was to end the run."""
    patience = SignalRecorder()
    patience.raise_if_signaled()
    patience.handle(signal.SIGTERM, None)
    with pytest.raises(EndedBySignal) as ended:
        patience.raise_if_signaled()
    assert ended.value.code is Exit.TERMINATED


@pytest.mark.parametrize(("first", "second", "code"), [
    (signal.SIGINT, signal.SIGTERM, Exit.INTERRUPTED), (signal.SIGTERM, signal.SIGINT, Exit.TERMINATED),
])  # fmt: skip
def test_first_of_two_signals_decides_exit_code(first: int, second: int, code: Exit) -> None:
    patience = SignalRecorder()
    patience.begin_last_part()
    patience.handle(first, None)
    patience.handle(second, None)
    with pytest.raises(EndedBySignal) as ended:
        patience.raise_if_signaled()
    assert ended.value.code is code
    assert _apply_exit_code(Report(plan="d"), [first, second]) is code


def test_second_signal_interrupts_action_until_final_part() -> None:
    """Otherwise, a signal leaves GitHub half told of what was done.

    Otherwise, nothing but killing ends a run that waits.
    """
    patience = SignalRecorder()
    patience.handle(signal.SIGINT, None)
    with pytest.raises(EndedBySignal):
        patience.handle(signal.SIGINT, None)
    patience = SignalRecorder()
    with patience.interruptible(), pytest.raises(EndedBySignal):
        patience.handle(signal.SIGINT, None)
    with pytest.raises(EndedBySignal):
        patience.handle(signal.SIGINT, None)
    patience.begin_last_part()
    patience.handle(signal.SIGINT, None)
    assert len(patience.received) == 3


# Where a token goes.


@pytest.mark.parametrize(
    ("url", "why"),
    [("https://ada:pass@x.example", "user or password"), ("https://x.example/v1", "must not end with /v1")],
)
def test_url_with_password_or_version_is_rejected(url: str, why: str) -> None:
    """Otherwise, a password in an address gets into the log, and the token to whom it names.

    Otherwise, each request goes to an address that there is not.
    """
    with pytest.raises(click.UsageError, match=why) as refused:
        _with_checked_url(Connection(url, "token", "DPSYNC_URL", "DPSYNC_TOKEN"))
    assert "pass@" not in str(refused.value)


def test_url_with_at_sign_in_path_is_accepted() -> None:
    """Otherwise, an address with an @ in its path is refused."""
    found = Connection("https://x.example/@docs", "token", "DPSYNC_URL", "DPSYNC_TOKEN")
    assert _with_checked_url(found) is found
