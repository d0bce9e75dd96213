"""The declared objects with which the platform reports a problem, and those that were not read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dpsync.model.address import Address
from dpsync.model.diagnostic import DiagnosticError
from dpsync.model.text import command, counted
from dpsync.render.documents import Check

if TYPE_CHECKING:
    from dpsync.api import Planned, Session
    from dpsync.cli.arguments.connection import Connection
    from dpsync.cli.terminal.output import Output
    from dpsync.model.change import PlatformTrouble
    from dpsync.model.nodes import Span

_TOPIC = "objects"


def unexamined(why: str) -> Check:
    """Return the note that no object was examined."""
    said = f"dpsync did not check objects for problems in GitBook: {why}"
    return Check(topic=_TOPIC, level="note", said=said)


def objects(out: Output, session: Session, to: Connection, timeout: float) -> Iterator[Check]:
    """Read what a plan reads. Yield a check for each object with a problem, and for each unreadable object.

    A problem on the platform's side is a note: a plan and an apply that did not cause it end with 0, too.
    """
    from dpsync.api import ClientError, Options, ReadClient
    from dpsync.cli.failures import client_diagnostic
    from dpsync.cli.opening import client_of, planned_now

    try:
        with client_of(ReadClient, out, to, timeout) as client:
            planned = planned_now(out, session, client, Options(delete=False))
    except ClientError as error:
        failed = client_diagnostic(error, to)
        said = f"dpsync did not check objects for problems in GitBook: {failed.message}"
        yield Check(topic=_TOPIC, level="problem", said=said, mend=failed.hint)
        return
    except DiagnosticError as error:
        first = error.findings[0]
        source = _place(first.span) if first.span else None
        said = f"dpsync cannot make a plan: {first.message} [{first.code}]"
        yield Check(topic=_TOPIC, level="problem", said=said, source=source, mend=command("plan"))
        return
    unread = list(_unread(session, planned))
    if not planned.plan.trouble:
        others = len(planned.plan.bindings) - len(planned.plan.accepted)
        said = f"GitBook reports no problem with {counted(others, 'object')}"
        yield Check(topic=_TOPIC, level="ok", said=said)
    for item in planned.plan.trouble:
        yield _problem(planned, item)
    for item in planned.plan.accepted:
        said = f"{item.address}: {item.what} (accepted by policy: accept)"
        source = _place(planned.sides.resources[Address.parse(item.address)].span)
        yield Check(topic=_TOPIC, level="ok", said=said, source=source, address=item.address)
    yield from unread


def _problem(planned: Planned, item: PlatformTrouble) -> Check:
    """Return the note on one object, with everything that a person can do about its problem."""
    entry = planned.sides.resources[Address.parse(item.address)]
    work = planned.sides.kind(entry).platform
    assert work.trouble is not None
    accept = f'To accept the problem, add "{item.address}#{work.trouble.field}" to policy: accept'
    again = [f"To try again: {command('apply', '--confirm', f'{act} {item.address}')}" for act in work.acts]
    return Check(
        topic=_TOPIC,
        level="note",
        said=f"{item.address}: {item.what}",
        source=_place(entry.span),
        mend=". ".join([work.trouble.todo, accept, *again]),
        address=item.address,
    )


def _unread(session: Session, planned: Planned) -> Iterator[Check]:
    """Yield a note for each entry that could have a problem, and that this token or server does not read."""
    unserved = planned.sides.desired.unserved
    for address, entry in session.desired.resources.items():
        reports = session.registry.whole[entry.kind].platform.trouble is not None
        if reports and address in unserved and not planned.sides.policy.ignored(address):
            reason = unserved[address]
            yield Check(
                topic=_TOPIC,
                level="note",
                said=f"dpsync did not check {address} for problems in GitBook: {reason.reason}",
                source=_place(entry.span),
                mend=reason.todo or None,
                address=str(address),
            )


def _place(span: Span) -> str:
    return f"{span.file}:{span.line}"
