"""After an apply and its revert the platform is what it was, but for what the revert has named."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

from dpsync.api import Options, Planned, Revert, Session, applied, reverting
from dpsync.apply.journal import FileJournal
from dpsync.apply.past import PastApply, read_journal
from dpsync.client.client import WriteClient
from dpsync.model.plans.plan import Plan
from tests.soak import examples

from . import others
from .faults import Break, Kill, Killed, Lose
from .laws import discard_if, law, said
from .organizations import Draw, Fields
from .platform import Platform, case
from .rehearsals import staged
from .test_convergence import _things
from .test_other_kinds import applied as applied_before

_ROUNDS = 4
"""How often a plan may ask for something more."""


def answers(plan: Plan) -> tuple[str, ...]:
    """All answers that a plan asks for."""
    flags = (way.add for one in plan.refusals for way in one.answers)
    return tuple(found[1] for flag in flags if (found := re.fullmatch('--confirm "(.*)"', flag)))


def agreed(revert: Revert, client: WriteClient) -> Planned:
    options = Options()
    for _ in range(_ROUNDS):
        planned = revert.plan(client, options)
        if not planned.plan.refusals:
            break
        options = Options((*options.confirm, *answers(planned.plan)))
    return planned


def applied_somehow(platform: Platform, session: Session, planned: Planned, draw: Draw) -> PastApply:
    """An apply, mostly disturbed; its journal is all that is left of it."""
    steps = sum(len(change.steps) for change in planned.plan.changes)
    fault, number, when = (
        draw.pick([Lose, Break, Kill]), draw.number(0, 2 * steps), draw.pick(["before", "after"])
    )  # fmt: skip
    journal = FileJournal(platform.directory / "journal", "law")
    with platform.client(lambda inner: fault(inner, number, when)) as client, suppress(Killed):
        session.apply(client, planned, secrets={}, journal=journal)
    journal.close()
    return read_journal(Path(str(journal.path)))


def unnamed(before: Fields, after: Fields, planned: Planned, plan: Plan) -> list[str]:
    """What is not as it was, and not named by the `plan` of the revert either. `planned`: of the apply."""
    said = {item.address.split("#")[0] for item in (*plan.notes, *plan.blocked)}
    was, now = _things(before), _things(after)
    return [
        f"{id}: {was[id][1]} is {now[id][1] if id in now else 'gone'}"
        for id in was
        if "deletedAt" not in was[id][1] and (id not in now or now[id][1] != was[id][1])
        if not _named(id, was[id][0], planned, said)
    ]


def _named(id: str, around: list[str], planned: Planned, said: set[str]) -> bool:
    names = planned.sides.names
    known = {one.id: str(names.address(identity)) for identity, one in planned.snapshot.objects.items()}
    return any(known.get(one, "") in said for one in (id, *around))


def planned_with_answers(platform: Platform, session: Session) -> Planned:
    """The plan with every answer that it asks for."""
    return staged(platform, session).planned


def taken_back(platform: Platform, session: Session, planned: Planned, draw: Draw) -> list[str]:
    """What an apply that was disturbed and its revert, which converges, leave otherwise and do not name."""
    before = platform.state()
    past = applied_somehow(platform, session, planned, draw)

    with platform.client() as client:
        revert = reverting(client, session, applied(past.plan, past.report))
        back = agreed(revert, client)
        discard_if(bool(back.plan.refusals), "a guard refuses it")
        report = revert.session.apply(client, back, secrets={})

    assert report.remaining is not None, said(report)
    assert report.remaining.empty, said(report)
    return unnamed(before, platform.state(), planned, back.plan)


@law(examples(40, 200))
def test_apply_and_revert_leave_the_platform_as_it_was_but_for_what_was_named(
    platform: Platform, draw: Draw
) -> None:
    made = case(draw, size=draw.number(1, 4))
    platform.start(made)
    session = platform.session(made.configuration)
    assert taken_back(platform, session, planned_with_answers(platform, session), draw) == []


@law(examples(20, 100))
def test_so_they_do_with_the_documented_operations_alone(reference: Platform, draw: Draw) -> None:
    made = case(draw, size=draw.number(1, 4))
    reference.start(made)
    session = reference.session(made.configuration)
    assert taken_back(reference, session, planned_with_answers(reference, session), draw) == []


@law(examples(20, 100))
def test_so_they_do_with_the_edition_of_today(today: Platform, draw: Draw) -> None:
    made = case(draw, size=draw.number(1, 4))
    today.start(made)
    session = today.session(made.configuration)
    assert taken_back(today, session, planned_with_answers(today, session), draw) == []


@law(examples(20, 200))
def test_the_revert_of_an_apply_of_every_kind_converges(platform: Platform, draw: Draw) -> None:
    platform.server.reset(others.world())
    applied_before(platform, others.document(others.organization(draw)))
    platform.server.finish(abandoned=True)
    session = platform.session(others.document(others.organization(draw)))
    taken_back(platform, session, planned_with_answers(platform, session), draw)
