"""Which requests a companion answers: those that call it by a name of its own, and come from no other site.

A web page may send requests to this machine, and may have a name of its own lead here (DNS rebinding): to the
browser both are then one site, and the page may read every answer. The name is in `Host`, so the companion
refuses names that are not its own, whatever the path and the token.
"""

from collections.abc import Collection
from functools import lru_cache

from pydantic_core import to_json
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from ..errors import ApiError
from ..http.incoming import HOST
from ..jobs.sources import OUTGOING, address
from .connection import target_authority

_PASSED_ON = ("forwarded", "via", "x-real-ip")
"""With one of these headers the peer is only a proxy."""
_HOSTS_REMEMBERED = 64
_LONGEST_SHOWN = 100


class RequestGuard:
    """An ASGI application that refuses other names (421) and requests that pages of other sites send (403).

    `listens_on` is the address that the service listens on. On loopback it answers to loopback names. On any
    other address it also answers to IP addresses and to names without a dot, such as the name of a container:
    no site of the internet has such a name. `allowed` are further names, which a proxy in front may have.

    With `private` it answers requests from this machine alone.
    """

    def __init__(
        self, inner: ASGIApp, listens_on: str, allowed: Collection[str] = (), private: bool = False
    ) -> None:
        self._inner = inner
        self._listens_on = listens_on
        self._on_loopback = is_loopback(listens_on)
        self._allowed = {host_name(name) for name in allowed} - {""}
        self._private = private
        self._is_own_name = lru_cache(_HOSTS_REMEMBERED)(self._look_up_name)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = self._refusal(scope) if scope["type"] == "http" else None
        if refusal is None:
            await self._inner(scope, receive, send)
            return
        response = Response(to_json(refusal.body()), refusal.status, media_type="application/json")
        await response(scope, receive, send)

    def _refusal(self, scope: Scope) -> ApiError | None:
        if self._private and not from_this_machine(Request(scope)):
            return ApiError(403, "this world was read from a platform: only this machine may read it")
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        if len(hosts) != 1:
            return ApiError(421, f"Send exactly one Host header: this request has {len(hosts) or 'none'}.")
        for authority in (hosts[0], target_authority(scope)):
            if authority is not None and not self._is_own_name(authority):
                return self._other_name(authority)
        if not _from_own_site(headers, scope["scheme"], hosts[0], self._allowed):
            return ApiError(
                403,
                "The companion refuses requests that a page of another site sends (Origin, Sec-Fetch-Site). "
                "To open the companion's own page, type its address into the browser.",
            )
        return None

    def _look_up_name(self, authority: str) -> bool:
        name = host_name(authority)
        if is_loopback(name) or name in self._allowed:
            return True
        return not self._on_loopback and name != "" and ("." not in name or _is_address(name))

    def _other_name(self, authority: str) -> ApiError:
        if self._on_loopback:
            own = "localhost, *.localhost and loopback addresses"
        else:
            own = "IP addresses, localhost and names without a dot"
        return ApiError(
            421,
            f"The companion listens on {self._listens_on} and accepts only these host names: {own}. "
            f"It refuses {authority[:_LONGEST_SHOWN]!r}, because a web page could read its answers "
            "(DNS rebinding). Use an accepted name. "
            "To accept a name of your own, start dpsync serve with --allow-host NAME.",
        )


def from_this_machine(request: Request) -> bool:
    """Return whether somebody on this machine sent a request.

    That is not so of a page of another site, of a name that was made to lead here, of a proxy, and of a
    companion that was told to call somebody.
    """
    headers = request.headers
    hosts = headers.getlist("host")
    peer = request.client.host if request.client else ""
    return (
        is_loopback(peer)
        and len(hosts) == 1
        and is_loopback(host_name(hosts[0]))
        and _from_own_site(headers, request.scope["scheme"], hosts[0])
        and not any(name in _PASSED_ON or name.startswith("x-forwarded-") for name in headers)
        and OUTGOING not in headers
    )


def _from_own_site(headers: Headers, scheme: str, host: str, allowed: Collection[str] = ()) -> bool:
    """Return whether no page of another site caused a request.

    A browser names that page's origin in `Origin`, and in `Sec-Fetch-Site` also where it sends no `Origin`
    (images, links, forms with GET). Another port of this machine is another site. If a header is repeated,
    each value must be right. An origin whose host is `allowed` is that of a proxy in front.
    """
    return all(
        origin == f"{scheme}://{host}" or host_name(origin.partition("://")[2]) in allowed
        for origin in headers.getlist("origin")
    ) and {site.strip().lower() for site in headers.getlist("sec-fetch-site")} <= {"none", "same-origin"}


def host_name(authority: str) -> str:
    """Return the host of a `Host` header without port and brackets, in lower case; "" for a malformed one."""
    matched = HOST.fullmatch(authority)
    return matched[1].strip("[]").removesuffix(".").lower() if matched else ""


def is_loopback(host: str) -> bool:
    """Return whether a name or an address can only be that of this machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return address(host).is_loopback
    except ValueError:
        return False


def _is_address(host: str) -> bool:
    try:
        address(host)
    except ValueError:
        return False
    return True
