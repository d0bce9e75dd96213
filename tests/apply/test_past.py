"""A journal is read as a whole or refused with the reason; only its last line may be cut off."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dpsync.apply.journal import FileJournal
from dpsync.apply.journal_reader import PastApply, parse_journal
from dpsync.apply.report import END_MISSING
from dpsync.model.diagnostic import DiagnosticError, Exit
from dpsync.model.journal import EVENT_ADAPTER, Closed, Exited, Flags, Started
from dpsync.model.plan import Plan
from tests.apply.test_fold import PLAN, STEPS, ended, intent

START = Started(digest=PLAN.digest, steps=3, plan=PLAN)


@pytest.fixture
def written(tmp_path: Path) -> bytes:
    """Return the journal of an apply that has completed all of its steps."""
    journal = FileJournal(tmp_path, "stamp", flags=Flags(environment="staging"))
    for event in (START, *(part for step in STEPS for part in (intent(step.id), ended(step.id)))):
        journal.write(event)
    journal.write(Closed(remaining=Plan()))
    journal.write(Exited(code=0))
    journal.close()
    return Path(str(journal.path)).read_bytes()


def read(found: bytes) -> PastApply:
    return parse_journal(Path("journal.jsonl"), found)


def whole_lines(found: bytes) -> bytes:
    return found[: found.rindex(b"\n")]


def refused(found: bytes) -> str:
    with pytest.raises(DiagnosticError) as error:
        read(found)
    assert error.value.exit_code is Exit.INVALID
    (finding,) = error.value.findings
    assert finding.code == "DP144"
    return finding.message


def test_complete_journal_restores_plan_and_report(written: bytes) -> None:
    past = read(written)
    assert (past.plan, past.digest, past.exit) == (PLAN, PLAN.digest, Exit.DONE)
    assert (past.report.converged, past.report.count("done")) == (True, 3)
    assert past.flags.environment == "staging"
    assert past.started_at is not None
    assert past.ended_at is not None
    assert past.started_at <= past.ended_at


def test_journal_reader_returns_start_and_end_times(written: bytes) -> None:
    _, start, *_, last, _ = written.split(b"\n")
    past = read(written)
    assert (past.started_at, past.ended_at) == (
        EVENT_ADAPTER.validate_json(start).at,
        EVENT_ADAPTER.validate_json(last).at,
    )


def test_journal_reader_keeps_exit_code_of_signal(written: bytes) -> None:
    assert read(written.replace(b'"code":0', b'"code":130')).exit is Exit.INTERRUPTED


def test_truncated_journal_reports_no_better_results(written: bytes) -> None:
    """A process may be killed while it writes: what is on record then is told, and nothing else.

    Otherwise, that the last line is cut off is told by nobody.
    """
    whole = {outcome.step: outcome.result for outcome in read(written).report.outcomes}
    begin = written.index(b"\n", written.index(b'"start"')) + 1
    ends = {size for size in range(begin, len(written)) if written[size - 1 : size] == b"\n"}
    for size in sorted({*range(begin, len(written) - 1, 7), *ends}):
        past = read(written[:size])
        for outcome in past.report.outcomes:
            assert outcome.result in (whole[outcome.step], "unknown", "not-tried")
        cut = any("is incomplete" in text for text in past.report.trouble)
        assert cut == (written[size - 1 : size] != b"\n")
        if END_MISSING in past.report.trouble:
            assert past.exit is not Exit.DONE
        assert (END_MISSING in past.report.trouble) == (b'"event":"end"' not in whole_lines(written[:size]))


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda text: text[:20], "the first line of the journal is incomplete"),
        (lambda text: text[: text.index(b'"plan"')], "the apply ended before its first step"),
        (lambda text: text.split(b"\n", 1)[0] + b"\n", "the apply ended before its first step"),
        (lambda text: text.split(b"\n", 1)[1], "the first line of the journal is incomplete"),
        (
            lambda text: text.replace(b"journal/1", b"journal/2"),
            ("the format of the journal is dpsync.journal/2, but this version"),
        ),
        (
            lambda text: text.replace(b"journal/1", b"journal/" + b"2" * 99),
            f"the format of the journal is dpsync.journal/{'2' * 25}, but this version",
        ),
        (
            lambda text: text.replace(b'"intent"', b'"extent"', 1),
            "line 3 is damaged, or another version",
        ),
        (
            lambda _text: b'{"event":"start","plan":"abc","steps":3}\n',
            "another version of dpsync wrote the journal",
        ),
        (lambda _text: b'{"event":"\n', "line 1 is damaged"),
        (lambda _text: b'{"event":"journal"}\n', "another version"),
        (lambda _text: b"", "the file is not the journal of an apply"),
        (lambda _text: b"[" * 100_000, "the file is not the journal of an apply"),
    ],
)
def test_damaged_journal_is_refused_with_reason(
    written: bytes, damage: Callable[[bytes], bytes], says: str
) -> None:
    """Otherwise, a line that nobody can read is passed over, and a step that was done is told as not tried.

    Otherwise, the rest of a journal whose beginning is gone is taken for the whole.
    """
    assert says in refused(damage(written))
