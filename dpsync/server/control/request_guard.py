"""Refuse requests with foreign host names, and requests from pages of other sites.

A web page can send requests to this machine, and the owner of its domain can point the domain at this machine
(DNS rebinding). The browser then treats page and local server as one site, and the page can read every
response. The `Host` header still contains the foreign domain, so the local server refuses such host names,
for every path and every token.
"""

from collections.abc import Collection
from functools import lru_cache

from pydantic_core import to_json
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from ..errors import ApiError
from ..http.request_parsing import HOST_PATTERN
from ..jobs.outside_services import COMPANION_HEADER, parse_ip_address
from .connection import target_authority

_PROXY_HEADERS = ("forwarded", "via", "x-real-ip")
"""Headers that a proxy adds. A request with one of them may come from another machine."""
_HOST_CACHE_SIZE = 64
_MAX_HOST_LENGTH_SHOWN = 100


class RequestGuard:
    """ASGI middleware that refuses foreign host names (421) and requests from pages of other sites (403).

    `listens_on` is the address that the server listens on. On loopback, the guard accepts loopback names. On
    any other address, it also accepts IP addresses and names without a dot, such as container names, because
    no website has such a name. `allowed` contains additional names, such as the name of a reverse proxy.

    With `local_only`, only requests from this machine are accepted.
    """

    def __init__(
        self, app: ASGIApp, listens_on: str, allowed: Collection[str] = (), local_only: bool = False
    ) -> None:
        self._app = app
        self._listens_on = listens_on
        self._on_loopback = is_loopback(listens_on)
        self._allowed = {host_name(name) for name in allowed} - {""}
        self._local_only = local_only
        self._is_own_name = lru_cache(_HOST_CACHE_SIZE)(self._accepts_name)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = self._refusal(scope) if scope["type"] == "http" else None
        if refusal is None:
            await self._app(scope, receive, send)
            return
        response = Response(to_json(refusal.body()), refusal.status, media_type="application/json")
        await response(scope, receive, send)

    def _refusal(self, scope: Scope) -> ApiError | None:
        """Return the error with which the guard refuses a request, or None if it accepts the request.

        It refuses pages of other sites in a browser on this machine: unknown host names (DNS rebinding) and
        foreign origins. With `local_only`, it also refuses other machines.
        """
        if self._local_only and not from_this_machine(Request(scope)):
            return ApiError(403, "only programs on this machine can read this copy of an organization")
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        if len(hosts) != 1:
            return ApiError(421, f"This request has {len(hosts) or 'no'} Host headers. Send exactly one.")
        for authority in (hosts[0], target_authority(scope)):
            if authority is not None and not self._is_own_name(authority):
                return self._name_refusal(authority)
        if not _is_from_own_site(headers, scope["scheme"], hosts[0], self._allowed):
            return ApiError(
                403,
                "The local server refuses requests from pages of other sites (Origin, Sec-Fetch-Site). "
                "To open the start page of the local server, type its URL into the browser.",
            )
        return None

    def _accepts_name(self, authority: str) -> bool:
        """Return whether the guard accepts a host name.

        On loopback, only loopback names and the allowed names are accepted. On any other address, also IP
        addresses and names without a dot are accepted.
        """
        name = host_name(authority)
        if is_loopback(name) or name in self._allowed:
            return True
        if self._on_loopback or name == "":
            return False
        try:
            parse_ip_address(name)
        except ValueError:
            return "." not in name
        return True

    def _name_refusal(self, authority: str) -> ApiError:
        """Return the error for a foreign host name, with the names that are accepted."""
        if self._on_loopback:
            accepted = "localhost, *.localhost and loopback addresses"
        else:
            accepted = "IP addresses, localhost and names without a dot"
        return ApiError(
            421,
            f"The local server on {self._listens_on} refuses the host name "
            f"{authority[:_MAX_HOST_LENGTH_SHOWN]!r}, because a web page could read the responses "
            "(DNS rebinding). "
            f"Accepted host names: {accepted}. "
            "To accept another name, start dpsync serve with --allow-host NAME.",
        )


def from_this_machine(request: Request) -> bool:
    """Return whether a request comes directly from a client on this machine.

    Requests from pages of other sites, with foreign host names, through proxies, and from other local servers
    (as webhooks or fetches) do not.
    """
    headers = request.headers
    hosts = headers.getlist("host")
    peer = request.client.host if request.client else ""
    return (
        is_loopback(peer)
        and len(hosts) == 1
        and is_loopback(host_name(hosts[0]))
        and _is_from_own_site(headers, request.scope["scheme"], hosts[0])
        and not any(name in _PROXY_HEADERS or name.startswith("x-forwarded-") for name in headers)
        and COMPANION_HEADER not in headers
    )


def _is_from_own_site(headers: Headers, scheme: str, host: str, allowed: Collection[str] = ()) -> bool:
    """Return whether a request does not come from a page of another site in a browser.

    Browsers send the origin of the page in `Origin`. They also send `Sec-Fetch-Site`, even without `Origin`
    (images, links, forms with GET). Another port of this machine is another site. If a header is repeated,
    each value must be acceptable. Origins whose host is in `allowed` belong to a reverse proxy.
    """
    return all(
        origin == f"{scheme}://{host}" or host_name(origin.partition("://")[2]) in allowed
        for origin in headers.getlist("origin")
    ) and {site.strip().lower() for site in headers.getlist("sec-fetch-site")} <= {"none", "same-origin"}


def host_name(authority: str) -> str:
    """Return the host from a `Host` value, lower case, without port and brackets; "" if malformed."""
    matched = HOST_PATTERN.fullmatch(authority)
    return matched[1].strip("[]").removesuffix(".").lower() if matched else ""


def is_loopback(host: str) -> bool:
    """Return whether a host name or an address can only belong to this machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return parse_ip_address(host).is_loopback
    except ValueError:
        return False
