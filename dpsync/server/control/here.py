"""Who asks: somebody on this machine, or a page, a proxy or a program that must not.

A web page may send requests to this machine, and a name may be made to lead here (DNS rebinding). Neither
gets anything of the control plane, nor of a world that names people of a real organization.
"""

from urllib.parse import urlsplit

from pydantic_core import to_json
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from ..errors import ApiError
from ..jobs.sources import OUTGOING, address

_PASSED_ON = ("forwarded", "via", "x-real-ip")
"""With one of these headers the peer is only a proxy."""


def from_this_machine(request: Request) -> bool:
    """From this machine, and neither by a page of another site, nor by a name that was made to lead here, nor
    by a companion that was told to call somebody.

    A browser says in `Sec-Fetch-Site` whose page asks, also where it sends no `Origin` (images, forms that
    get, links). Another port of this machine is another site. Of a header given twice, each must be right.
    """
    headers = request.headers
    hosts = headers.getlist("host")
    peer = request.client.host if request.client else ""
    return (
        is_loopback(peer)
        and len(hosts) == 1
        and is_loopback(_name(hosts[0]))
        and set(headers.getlist("origin")) <= {f"{request.scope['scheme']}://{hosts[0]}"}
        and {site.strip().lower() for site in headers.getlist("sec-fetch-site")} <= {"none", "same-origin"}
        and not any(name in _PASSED_ON or name.startswith("x-forwarded-") for name in headers)
        and OUTGOING not in headers
    )


class OnlyHere:
    """An ASGI application that answers to this machine alone; everybody else gets 403 and nothing more."""

    def __init__(self, inner: ASGIApp) -> None:
        self._inner = inner

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not from_this_machine(Request(scope)):
            refusal = ApiError(403, "this world was read from a platform: only this machine may read it")
            response = Response(to_json(refusal.body()), refusal.status, media_type="application/json")
            await response(scope, receive, send)
            return
        await self._inner(scope, receive, send)


def _name(host: str) -> str:
    """A `Host` without its port; "" for what is none."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def is_loopback(host: str) -> bool:
    """Whether a name or an address is of this machine alone."""
    if host == "localhost":
        return True
    try:
        return address(host).is_loopback
    except ValueError:
        return False
