"""Check the server, the token and the declared objects for `dpsync doctor`. Only GET requests are sent.

`PlatformExamination` checks the connection, the token and its access. `check_objects` looks for problems that
GitBook reports about objects. `contact_checks` and `contact_report` describe the result of `doctor
--contact`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dpsync import __version__
from dpsync.client.client import ReadClient
from dpsync.client.errors import ClientError
from dpsync.client.transport import HttpTransport, Token
from dpsync.kinds.profiles import PROFILES, profile_of_url
from dpsync.kinds.types.base import ABSENT
from dpsync.live.access import HeaderReader, access_by_kind, find_organization, organization, token_user
from dpsync.live.contract_check import ContractReport
from dpsync.model.address import Address
from dpsync.model.diagnostic import DiagnosticError
from dpsync.model.text import format_command, format_count, json_text
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


_CONTACT_TOPIC = "contact"
CONTACT_REPORT_FORMAT = "dpsync.contact-report/1"


def contact_checks(comparison: ContractReport, profile: str, requests: int) -> Iterator[Check]:
    """Yield the checks of `doctor --contact`: differences between the responses and what dpsync expects.

    The last check is an estimate of the requests of a first plan. `requests` is the number of requests so
    far.
    """
    operations = format_count(len(comparison.answers), "API operation")
    checked_text = f"dpsync checked {operations} with {format_count(requests, 'GET request')}"
    differences = comparison.differences
    if differences:
        mend = "to get help, write a report with --report FILE, and attach the report to an issue"
        count_text = format_count(len(differences), "difference")
        message = (
            f"{checked_text}, and found {count_text} between the responses and the API version {profile}"
        )
        yield Check(topic=_CONTACT_TOPIC, level="problem", said=message, mend=mend)
    else:
        message = f"{checked_text}. Every response fits the API version {profile}"
        yield Check(topic=_CONTACT_TOPIC, level="ok", said=message)
    for difference in differences:
        member = f"{difference.member}: " if difference.member else ""
        actual = "nothing" if difference.found == ABSENT else difference.found
        message = f"GET {difference.operation}: {member}expected {difference.expected}, found {actual}"
        yield Check(topic=_CONTACT_TOPIC, level="problem", said=message)
    if comparison.forbidden:
        message = f"this token cannot read objects of these types: {', '.join(comparison.forbidden)}"
        yield Check(
            topic=_CONTACT_TOPIC, level="note", said=message, mend="dpsync skips these objects in plans"
        )
    if comparison.not_read:
        message = f"the organization has no objects of these types: {', '.join(comparison.not_read)}"
        yield Check(topic=_CONTACT_TOPIC, level="ok", said=message)
    message = (
        "dpsync import and the first dpsync plan will send about "
        f"{format_count(comparison.estimated_requests, 'request')}"
    )
    yield Check(topic="first plan", level="ok", said=message)


def contact_report(comparison: ContractReport, profile: str, server_profile: str | None) -> bytes:
    """Return the report of `doctor --contact` as JSON, which users attach to an issue.

    The report has statuses, member names and JSON types, but no values of the platform. `server_profile` is
    the API version that the server names.
    """
    return (
        json_text(
            {
                "format": CONTACT_REPORT_FORMAT,
                "dpsync": __version__,
                "profile": profile,
                "served": server_profile
                if server_profile in PROFILES or server_profile is None
                else "another",
                "refused": list(comparison.forbidden),
                "not_compared": list(comparison.not_read),
                "operations": [
                    {
                        "operation": f"GET {answer.operation}",
                        "status": answer.status,
                        "kinds": list(answer.kinds),
                        "members": {name: list(types) for name, types in answer.members.items()},
                        "more_members": list(answer.undeclared_members),
                        "differences": [
                            {
                                "member": difference.member,
                                "expected": difference.expected,
                                "found": difference.found,
                            }
                            for difference in answer.differences
                        ],
                    }
                    for answer in comparison.answers
                ],
            },
            indent=1,
        )
        + "\n"
    ).encode()


_OBJECTS_TOPIC = "objects"


def unexamined_objects_check(why: str) -> Check:
    """Return the note that dpsync did not check the declared objects, with the reason."""
    message = f"dpsync did not check objects for problems in GitBook: {why}"
    return Check(topic=_OBJECTS_TOPIC, level="note", said=message)


def check_objects(out: Output, session: Session, connection: Connection, timeout: float) -> Iterator[Check]:
    """Make a plan, and yield a check for each object that is unreadable or has a problem in GitBook.

    Such a problem is only a note, because it does not change the exit code of a plan or apply.
    """
    from dpsync.api import ClientError, Options, ReadClient
    from dpsync.cli.failures import client_diagnostic
    from dpsync.cli.session import open_client, plan_now

    try:
        with open_client(ReadClient, out, connection, timeout) as client:
            planned = plan_now(out, session, client, Options(delete=False))
    except ClientError as error:
        diagnostic = client_diagnostic(error, connection)
        message = f"dpsync did not check objects for problems in GitBook: {diagnostic.message}"
        yield Check(topic=_OBJECTS_TOPIC, level="problem", said=message, mend=diagnostic.hint)
        return
    except DiagnosticError as error:
        finding = error.findings[0]
        source = _location(finding.span) if finding.span else None
        message = f"dpsync cannot make a plan: {finding.message} [{finding.code}]"
        yield Check(
            topic=_OBJECTS_TOPIC, level="problem", said=message, source=source, mend=format_command("plan")
        )
        return
    unread = list(_unreadable_entry_checks(session, planned))
    if not planned.plan.trouble:
        object_count = len(planned.plan.bindings) - len(planned.plan.accepted)
        message = f"GitBook reports no problem with {format_count(object_count, 'object')}"
        yield Check(topic=_OBJECTS_TOPIC, level="ok", said=message)
    for problem in planned.plan.trouble:
        yield _problem_check(planned, problem)
    for problem in planned.plan.accepted:
        message = f"{problem.address}: {problem.what} (accepted by policy: accept)"
        source = _location(planned.sides.entries[Address.parse(problem.address)].span)
        yield Check(topic=_OBJECTS_TOPIC, level="ok", said=message, source=source, address=problem.address)
    yield from unread


def _problem_check(planned: Planned, problem: PlatformTrouble) -> Check:
    """Return the note about an object with a problem that GitBook reports, such as a failed translation.

    The note says everything that a person can do: fix the problem, accept it by policy, or try again.
    """
    entry = planned.sides.entries[Address.parse(problem.address)]
    work = planned.sides.kind(entry).platform_work
    assert work.trouble is not None
    accept = f'To accept the problem, add "{problem.address}#{work.trouble.field}" to policy: accept'
    retries = [
        f"To try again: {format_command('apply', '--confirm', f'{action} {problem.address}')}"
        for action in work.user_actions
    ]
    return Check(
        topic=_OBJECTS_TOPIC,
        level="note",
        said=f"{problem.address}: {problem.what}",
        source=_location(entry.span),
        mend=". ".join([work.trouble.todo, accept, *retries]),
        address=problem.address,
    )


def _unreadable_entry_checks(session: Session, planned: Planned) -> Iterator[Check]:
    """Yield a note for each object that dpsync cannot read, if GitBook reports problems of its kind.

    The token may not read the object, or the API version of the server has no operation for it.
    """
    unsupported = planned.sides.desired.unsupported
    for address, entry in session.desired.entries.items():
        can_report_problem = session.registry.with_all_kinds[entry.kind].platform_work.trouble is not None
        if can_report_problem and address in unsupported and not planned.sides.policy.is_ignored(address):
            reason = unsupported[address]
            yield Check(
                topic=_OBJECTS_TOPIC,
                level="note",
                said=f"dpsync did not check {address} for problems in GitBook: {reason.reason}",
                source=_location(entry.span),
                mend=reason.todo or None,
                address=str(address),
            )


def _location(span: Span) -> str:
    """Return the location of a span as FILE:LINE."""
    return f"{span.file}:{span.line}"


_MAX_CLOCK_SKEW_SECONDS = 60
"""The largest difference of clocks in seconds."""
_LOW_RATE_LIMIT_SHARE = 0.1
"""The part of a rate limit that is left when a note is given."""


class PlatformExamination:
    """Examine the platform of a connection for `dpsync doctor`, by GET requests only."""

    def __init__(self, connection: Connection, timeout: float) -> None:
        self.connection = connection
        self._inner = HttpTransport(connection.url, Token(connection.token), timeout=timeout)
        self._headers = HeaderReader(self._inner)
        self.client = ReadClient(connection.url, connection.token, timeout=timeout, transport=self._headers)
        self.access: list[KindAccess] = []

    def close(self) -> None:
        """Close the connection."""
        self.client.close()

    def served_profile(self) -> str | None:
        """Return the API version of the server: known for GitBook's address, else the one that it names.

        None if the server names none.
        """
        return profile_of_url(self.connection.url) or self.client.begin("/user")

    def check_settings(self) -> Iterator[Check]:
        """Yield the checks of address, token, proxy and certificates. The token itself is not shown."""
        connection, route = self.connection, self._inner.route
        yield Check(topic="address", level="ok", said=connection.url, source=connection.url_from)
        yield Check(
            topic="token",
            level="ok",
            said="the token is set (dpsync never shows the token)",
            source=connection.token_from,
        )
        if route.proxy:
            yield Check(topic="proxy", level="ok", said=route.proxy.value, source=route.proxy.variable)
        else:
            yield Check(topic="proxy", level="ok", said="none")
        if route.certificates:
            yield Check(
                topic="certificates",
                level="ok",
                said=route.certificates.value,
                source=route.certificates.variable,
            )
        elif connection.url.startswith("https"):
            message = "the certificates of dpsync"
            yield Check(topic="certificates", level="ok", said=message, source="the default")
        for name in route.ignored_variables:
            mend = "set SSL_CERT_FILE to the path of the certificate file"
            yield Check(
                topic="certificates",
                level="note",
                said=f"dpsync does not read the environment variable {name}",
                mend=mend,
            )

    def check_responses(self, desired: Desired | None, registry: Registry) -> Iterator[Check]:
        """Yield the checks of token owner, clock, rate limit and organizations, by requests to the platform.

        If the platform does not answer the first request, yield only this problem.
        """
        from dpsync.cli.failures import client_diagnostic

        try:
            if registry.profile.has_operation("GET", "/user"):
                user = token_user(self.client)
                names = (user[key] for key in ("displayName", "email") if isinstance(user.get(key), str))
                owner = " ".join(map(str, names)) or "a user without a name"
                message = f"the token belongs to {owner} (id {user.get('id')})"
                owner_check = Check(topic="token", level="ok", said=message, source="GET /user")
            else:
                message = registry.profile.missing_operation_text("showing the user of the token")
                owner_check = Check(topic="token", level="note", said=message)
        except ClientError as error:
            diagnostic = client_diagnostic(error, self.connection)
            yield Check(topic="platform", level="problem", said=diagnostic.message, mend=diagnostic.hint)
            return
        roots = [entry for entry in (desired.entries.values() if desired else ()) if entry.parent is None]
        key = str(registry.root.natural_keys[0])
        organization_checks = [
            self._check_organization(registry, root.key, root.pin, root.fields.get(key)) for root in roots
        ]
        yield owner_check
        yield from self._check_clock()
        yield from self._check_rate_limit()
        yield from organization_checks

    def _check_clock(self) -> Iterator[Check]:
        """Yield the check that the clocks of this machine and of the platform differ by at most a minute."""
        offset = self._headers.clock_offset
        if offset is None:
            yield Check(topic="clock", level="note", said="the responses of GitBook contain no date")
        elif (difference := abs(offset)) > _MAX_CLOCK_SKEW_SECONDS:
            order = "ahead of" if offset == difference else "behind"
            message = f"the clock of GitBook is {difference:.0f} seconds {order} this machine"
            mend = "correct the clock of this machine, because a wrong clock makes certificates invalid"
            yield Check(topic="clock", level="problem", said=message, mend=mend)
        else:
            message = (
                "the clocks of this machine and GitBook differ by less than "
                f"{_MAX_CLOCK_SKEW_SECONDS} seconds"
            )
            yield Check(topic="clock", level="ok", said=message)

    def _check_rate_limit(self) -> Iterator[Check]:
        """Yield the check that at least 10 % of the rate limit of the platform are left."""
        limit = self._headers.rate_limit()
        if limit is None:
            yield Check(topic="rate limit", level="ok", said="the responses of GitBook contain no rate limit")
        else:
            remaining, total = limit
            is_low = remaining < total * _LOW_RATE_LIMIT_SHARE
            advice = "wait a minute, or use a lower value for --parallelism" if is_low else None
            message = f"{remaining} of {total} requests of the rate limit are left"
            yield Check(topic="rate limit", level="note" if is_low else "ok", said=message, mend=advice)

    def _check_organization(self, registry: Registry, key: str, id: str | None, name: Value) -> Check:
        """Check whether an organization of the files exists, and record what the token may do in it.

        Args:
            key: The key of the organization in the files.
            id: The id of the organization, if the files have it.
            name: Otherwise, the value by which the organization is found.
        """
        from dpsync.cli.failures import client_diagnostic
        from dpsync.client.errors import NotFoundError

        try:
            live = (
                organization(self.client, registry, id)
                if id is not None
                else find_organization(self.client, registry, str(name))
            )
        except NotFoundError:
            live = None
        except ClientError as error:
            diagnostic = client_diagnostic(error, self.connection)
            return Check(
                topic=registry.root.noun, level="problem", said=diagnostic.message, mend=diagnostic.hint
            )
        if live is None:
            mend = "check the id or hostname in your files, the URL of the server, and the user of the token"
            message = (
                f"{key}: the organization {id or name} does not exist, or this token has no access to it"
            )
            return Check(topic=registry.root.noun, level="problem", said=message, mend=mend)
        for access in access_by_kind(self.client, registry, live):
            noun = access.kind.noun
            if access.parent_kind is not None and access.parent_kind.noun not in noun:
                noun = f"{noun} of {access.parent_kind.noun_with_article}"
            self.access.append(
                KindAccess(organization=key, kind=noun, read=access.can_read, write=access.can_write)
            )
        message = f"{key} is {live.get('title')} ({live.get('id')})"
        return Check(topic=registry.root.noun, level="ok", said=message)
