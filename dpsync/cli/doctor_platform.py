"""Check the server, the token and the declared objects for `dpsync doctor`.

`PlatformExamination` checks the connection, the token and its access, and sends only GET requests. `objects`
checks for problems that the platform reports. `checks` and `report` describe the comparison of `doctor
--contact`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dpsync import __version__
from dpsync.client.client import ReadClient
from dpsync.client.errors import ClientError
from dpsync.client.transport import HttpTransport, Token
from dpsync.kinds.editions import PROFILES, profile_at
from dpsync.kinds.types.base import MISSING
from dpsync.live.access import HeaderReader, allowed, caller, organization, organization_called
from dpsync.live.contact import Contact, Difference
from dpsync.model.address import Address
from dpsync.model.diagnostic import DiagnosticError
from dpsync.model.text import command, counted, json_text
from dpsync.render.documents import Check, KindAccess

if TYPE_CHECKING:
    from dpsync.api import Planned, Session
    from dpsync.cli.connection import Connection
    from dpsync.cli.output import Output
    from dpsync.kinds.registry import Registry
    from dpsync.model.change import PlatformTrouble
    from dpsync.model.desired import Desired
    from dpsync.model.nodes import Span
    from dpsync.model.values import Value


_CONTACT = "contact"
FORMAT = "dpsync.contact-report/1"


def checks(found: Contact, profile: str, requests: int) -> Iterator[Check]:
    """Yield the checks of a comparison: what was compared, differences, gaps, requests of a first plan."""
    operations = counted(len(found.answers), "API operation")
    asked = f"dpsync checked {operations} with {counted(requests, 'GET request')}"
    differences = found.differences
    if differences:
        mend = "to get help, write a report with --report FILE, and attach the report to an issue"
        differing = counted(len(differences), "difference")
        said = f"{asked}, and found {differing} between the responses and the API version {profile}"
        yield Check(topic=_CONTACT, level="problem", said=said, mend=mend)
    else:
        said = f"{asked}. Every response fits the API version {profile}"
        yield Check(topic=_CONTACT, level="ok", said=said)
    for one in differences:
        yield Check(topic=_CONTACT, level="problem", said=_difference_text(one))
    if found.refused:
        said = f"this token cannot read objects of these types: {', '.join(found.refused)}"
        yield Check(topic=_CONTACT, level="note", said=said, mend="dpsync skips these objects in plans")
    if found.untried:
        said = f"the organization has no objects of these types: {', '.join(found.untried)}"
        yield Check(topic=_CONTACT, level="ok", said=said)
    said = f"dpsync import and the first dpsync plan will send about {counted(found.requests, 'request')}"
    yield Check(topic="first plan", level="ok", said=said)


def report(found: Contact, profile: str, served: str | None) -> bytes:
    """Return the report as JSON: statuses, member names and JSON types, but no values of the platform."""
    return (
        json_text(
            {
                "format": FORMAT,
                "dpsync": __version__,
                "profile": profile,
                "served": served if served in PROFILES or served is None else "another",
                "refused": list(found.refused),
                "not_compared": list(found.untried),
                "operations": [
                    {
                        "operation": f"GET {answer.operation}",
                        "status": answer.status,
                        "kinds": list(answer.kinds),
                        "members": {name: list(types) for name, types in answer.members.items()},
                        "more_members": list(answer.more),
                        "differences": [
                            {"member": one.member, "expected": one.expected, "found": one.found}
                            for one in answer.differences
                        ],
                    }
                    for answer in found.answers
                ],
            },
            indent=1,
        )
        + "\n"
    ).encode()


def _difference_text(difference: Difference) -> str:
    member = f"{difference.member}: " if difference.member else ""
    actual = "nothing" if difference.found == MISSING else difference.found
    return f"GET {difference.operation}: {member}expected {difference.expected}, found {actual}"


_OBJECTS = "objects"


def unexamined(why: str) -> Check:
    """Return the note that no object was examined."""
    said = f"dpsync did not check objects for problems in GitBook: {why}"
    return Check(topic=_OBJECTS, level="note", said=said)


def objects(out: Output, session: Session, to: Connection, timeout: float) -> Iterator[Check]:
    """Plan, and yield a check for each object with a problem, and for each unreadable object.

    A problem on the platform's side is a note: a plan, or an apply that did not cause it, ends with 0, too.
    """
    from dpsync.api import ClientError, Options, ReadClient
    from dpsync.cli.failures import client_diagnostic
    from dpsync.cli.session import client_of, planned_now

    try:
        with client_of(ReadClient, out, to, timeout) as client:
            planned = planned_now(out, session, client, Options(delete=False))
    except ClientError as error:
        failed = client_diagnostic(error, to)
        said = f"dpsync did not check objects for problems in GitBook: {failed.message}"
        yield Check(topic=_OBJECTS, level="problem", said=said, mend=failed.hint)
        return
    except DiagnosticError as error:
        first = error.findings[0]
        source = _location(first.span) if first.span else None
        said = f"dpsync cannot make a plan: {first.message} [{first.code}]"
        yield Check(topic=_OBJECTS, level="problem", said=said, source=source, mend=command("plan"))
        return
    unread = list(_unread(session, planned))
    if not planned.plan.trouble:
        others = len(planned.plan.bindings) - len(planned.plan.accepted)
        said = f"GitBook reports no problem with {counted(others, 'object')}"
        yield Check(topic=_OBJECTS, level="ok", said=said)
    for item in planned.plan.trouble:
        yield _problem(planned, item)
    for item in planned.plan.accepted:
        said = f"{item.address}: {item.what} (accepted by policy: accept)"
        source = _location(planned.sides.resources[Address.parse(item.address)].span)
        yield Check(topic=_OBJECTS, level="ok", said=said, source=source, address=item.address)
    yield from unread


def _problem(planned: Planned, item: PlatformTrouble) -> Check:
    """Return the note about an object, with everything that a person can do about its problem."""
    entry = planned.sides.resources[Address.parse(item.address)]
    work = planned.sides.kind(entry).platform
    assert work.trouble is not None
    accept = f'To accept the problem, add "{item.address}#{work.trouble.field}" to policy: accept'
    again = [f"To try again: {command('apply', '--confirm', f'{act} {item.address}')}" for act in work.acts]
    return Check(
        topic=_OBJECTS,
        level="note",
        said=f"{item.address}: {item.what}",
        source=_location(entry.span),
        mend=". ".join([work.trouble.todo, accept, *again]),
        address=item.address,
    )


def _unread(session: Session, planned: Planned) -> Iterator[Check]:
    """Yield a note for each entry that could have a problem but is not readable for this token or server."""
    unserved = planned.sides.desired.unserved
    for address, entry in session.desired.resources.items():
        reports = session.registry.whole[entry.kind].platform.trouble is not None
        if reports and address in unserved and not planned.sides.policy.ignored(address):
            reason = unserved[address]
            yield Check(
                topic=_OBJECTS,
                level="note",
                said=f"dpsync did not check {address} for problems in GitBook: {reason.reason}",
                source=_location(entry.span),
                mend=reason.todo or None,
                address=str(address),
            )


def _location(span: Span) -> str:
    return f"{span.file}:{span.line}"


_SKEW = 60
"""The largest difference of clocks in seconds."""
_FEW = 0.1
"""The part of a rate limit that is left when a note is given."""


class PlatformExamination:
    """A connection to the platform, and all checks on it. It sends only GET requests."""

    def __init__(self, to: Connection, timeout: float) -> None:
        self.to = to
        self._inner = HttpTransport(to.url, Token(to.token), timeout=timeout)
        self._headers = HeaderReader(self._inner)
        self.client = ReadClient(to.url, to.token, timeout=timeout, transport=self._headers)
        self.access: list[KindAccess] = []

    def close(self) -> None:
        """Close the connection."""
        self.client.close()

    def served(self) -> str | None:
        """Return the API version of the server: known for GitBook's address, else as the server says."""
        return profile_at(self.to.url) or self.client.begin("/user")

    def settings(self) -> Iterator[Check]:
        """Yield the checks of address, token, proxy and certificates, without the token itself."""
        to, way = self.to, self._inner.way
        yield Check(topic="address", level="ok", said=to.url, source=to.url_from)
        yield Check(
            topic="token",
            level="ok",
            said="the token is set (dpsync never shows the token)",
            source=to.token_from,
        )
        if way.proxy:
            yield Check(topic="proxy", level="ok", said=way.proxy.value, source=way.proxy.variable)
        else:
            yield Check(topic="proxy", level="ok", said="none")
        if way.trust:
            yield Check(topic="certificates", level="ok", said=way.trust.value, source=way.trust.variable)
        elif to.url.startswith("https"):
            said = "the certificates of dpsync"
            yield Check(topic="certificates", level="ok", said=said, source="the default")
        for name in way.unread:
            mend = "set SSL_CERT_FILE to the path of the certificate file"
            yield Check(
                topic="certificates",
                level="note",
                said=f"dpsync does not read the environment variable {name}",
                mend=mend,
            )

    def answers(self, desired: Desired | None, registry: Registry) -> Iterator[Check]:
        """Yield the checks of the platform. Stop after the first check if the platform does not answer."""
        from dpsync.cli.failures import client_diagnostic

        try:
            owner = _owner(self.client, registry)
        except ClientError as error:
            failed = client_diagnostic(error, self.to)
            yield Check(topic="platform", level="problem", said=failed.message, mend=failed.hint)
            return
        roots = [one for one in (desired.resources.values() if desired else ()) if one.parent is None]
        key = str(registry.root.identity[0])
        found = [self._organization(registry, root.key, root.pin, root.fields.get(key)) for root in roots]
        yield owner
        yield from self._clock()
        yield from self._limit()
        yield from found

    def _clock(self) -> Iterator[Check]:
        ahead = self._headers.ahead
        if ahead is None:
            yield Check(topic="clock", level="note", said="the responses of GitBook contain no date")
        elif (far := abs(ahead)) > _SKEW:
            order = "ahead of" if ahead == far else "behind"
            said = f"the clock of GitBook is {far:.0f} seconds {order} this machine"
            mend = "correct the clock of this machine, because a wrong clock makes certificates invalid"
            yield Check(topic="clock", level="problem", said=said, mend=mend)
        else:
            yield Check(
                topic="clock",
                level="ok",
                said=f"the clocks of this machine and GitBook differ by less than {_SKEW} seconds",
            )

    def _limit(self) -> Iterator[Check]:
        limit = self._headers.rate_limit()
        if limit is None:
            yield Check(topic="rate limit", level="ok", said="the responses of GitBook contain no rate limit")
            return
        left, most = limit
        few = left < most * _FEW
        mend = "wait a minute, or use a lower value for --parallelism" if few else None
        said = f"{left} of {most} requests of the rate limit are left"
        yield Check(topic="rate limit", level="note" if few else "ok", said=said, mend=mend)

    def _organization(self, registry: Registry, key: str, id: str | None, name: Value) -> Check:
        """Check an organization of the files, and what the token may do in it."""
        from dpsync.cli.failures import client_diagnostic
        from dpsync.client.errors import NotFound

        try:
            live = (
                organization(self.client, registry, id)
                if id is not None
                else organization_called(self.client, registry, str(name))
            )
        except NotFound:
            live = None
        except ClientError as error:
            failed = client_diagnostic(error, self.to)
            return Check(topic=registry.root.noun, level="problem", said=failed.message, mend=failed.hint)
        if live is None:
            mend = "check the id or hostname in your files, the URL of the server, and the user of the token"
            said = f"{key}: the organization {id or name} does not exist, or this token has no access to it"
            return Check(topic=registry.root.noun, level="problem", said=said, mend=mend)
        for one in allowed(self.client, registry, live):
            noun = one.kind.noun
            if one.inside is not None and one.inside.noun not in noun:
                noun = f"{noun} of {one.inside.one}"
            self.access.append(KindAccess(organization=key, kind=noun, read=one.read, write=one.write))
        said = f"{key} is {live.get('title')} ({live.get('id')})"
        return Check(topic=registry.root.noun, level="ok", said=said)


def _owner(client: ReadClient, registry: Registry) -> Check:
    """Check whose token it is, if the platform can say it. Raises ClientError."""
    if not registry.profile.has("GET", "/user"):
        said = registry.profile.lacks("showing the user of the token")
        return Check(topic="token", level="note", said=said)
    user = caller(client)
    name = " ".join(str(user[key]) for key in ("displayName", "email") if isinstance(user.get(key), str))
    said = f"the token belongs to {name or 'a user without a name'} (id {user.get('id')})"
    return Check(topic="token", level="ok", said=said, source="GET /user")
