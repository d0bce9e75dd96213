"""The platform as this token sees it: reached or not, whose token it is, and what it may read and write."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dpsync.client.client import ReadClient
from dpsync.client.errors import ClientError
from dpsync.client.transport import HttpTransport, Token
from dpsync.kinds.editions import profile_at
from dpsync.live.access import HeaderReader, allowed, caller, organization, organization_called
from dpsync.render.documents import Check, KindAccess

if TYPE_CHECKING:
    from dpsync.cli.arguments.connection import Connection
    from dpsync.kinds.registry import Registry
    from dpsync.model.desired import Desired
    from dpsync.model.values import Value

_SKEW = 60
"""Seconds by which clocks may differ."""
_FEW = 0.1
"""Of a rate limit: what is left when it is worth a note."""


class PlatformExamination:
    """One connection to the platform, and everything that is asked on it. It sends GET alone."""

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
        """Return the API edition of GitBook for GitBook's address, else the one that the server names."""
        return profile_at(self.to.url) or self.client.begin("/user")

    def settings(self) -> Iterator[Check]:
        """Address, token, proxy and certificates: never the token itself."""
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
        """What the platform says. What is asked first ends it when nothing answers."""
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
        """An organization that the files name, and what the token may do in it."""
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
    """Whose token it is, where the platform can tell. Raises ClientError."""
    if not registry.profile.has("GET", "/user"):
        said = registry.profile.lacks("showing the user of the token")
        return Check(topic="token", level="note", said=said)
    user = caller(client)
    name = " ".join(str(user[key]) for key in ("displayName", "email") if isinstance(user.get(key), str))
    said = f"the token belongs to {name or 'a user without a name'} (id {user.get('id')})"
    return Check(topic="token", level="ok", said=said, source="GET /user")
