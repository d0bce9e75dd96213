"""The report of an apply and the one that is made from its journal are the same, however it has ended."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from dpsync.api import Planned, Session
from dpsync.apply.journal import FileJournal
from dpsync.apply.journal_reader import PastApply, read_journal
from dpsync.client.transport import Transport
from dpsync.model.journal import Report
from dpsync.model.text import json_text
from dpsync.render.paint import Paint
from dpsync.render.view_text import render_report

from .faults import Break, Counting, Kill, Killed, Lose, When
from .laws import law, plan_of
from .organizations import Draw
from .platform import Platform, case


class Ran(Struct):
    """What an apply has reported (None: it was killed), its journal, and how many writes it has sent."""

    report: Report | None
    past: PastApply
    writes: int


def applied(
    platform: Platform, session: Session, planned: Planned, fault: type[Lose] | type[Break] | type[Kill],
    number: int, when: When,
) -> Ran:  # fmt: skip
    journal = FileJournal(platform.directory / "journal", "law")
    sent: list[Counting] = []

    def around(inner: Transport) -> Transport:
        sent.append(Counting(inner))
        return fault(sent[0], number, when)

    report = None
    with platform.client(around) as client:
        try:
            report = session.apply(client, planned, secrets={}, journal=journal)
        except Killed:
            pass
        finally:
            journal.close()
    return Ran(report, read_journal(Path(str(journal.path))), sent[0].writes)


@law(60)
def test_journal_alone_reproduces_report(platform: Platform, draw: Draw) -> None:
    made = case(draw, size=draw.number(1, 4))
    session = platform.session(made.configuration, draw.pick([4, 1]))
    platform.start(made)
    planned = plan_of(platform, session)
    steps = [step for change in planned.plan.changes for step in change.steps]
    fault, number = draw.pick([Lose, Break, Kill]), draw.number(0, len(steps))

    ran = applied(platform, session, planned, fault, number, draw.pick(["before", "after"]))

    told = ran.past.report
    assert (ran.past.digest, ran.past.plan.digest) == (planned.plan.digest, planned.plan.digest)
    assert [outcome.step for outcome in told.outcomes] == [step.id for step in steps]
    if ran.report is not None:
        assert json_text(told) == json_text(ran.report)
        ended = [render_report(planned.plan, one, Paint(False), 1) for one in (told, ran.report)]
        assert ended[0] == ended[1]
    else:
        assert ran.writes <= sum(outcome.sent for outcome in told.outcomes)
        assert not told.converged
        assert told.trouble
