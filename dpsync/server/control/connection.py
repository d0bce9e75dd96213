"""Wrap the connection of a request, so that an injected fault can break it.

Also read from it the host and port that the client has addressed (`target_authority`), which the request
guard checks.
"""

import struct
from asyncio import Transport
from socket import SO_LINGER, SOL_SOCKET

from starlette.types import Receive, Scope
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_EXTENSION = "dpsync.connection"


class BreakableConnection(HttpToolsProtocol):
    """uvicorn's protocol, extended to pass its transport and the whole request target to the application."""

    def on_message_begin(self) -> None:
        """Put the transport into the scope of the request."""
        super().on_message_begin()
        self.scope["extensions"] = {_EXTENSION: {"transport": self.transport}}

    def on_headers_complete(self) -> None:
        """Put the whole request target into the scope of the request."""
        self.scope["extensions"][_EXTENSION]["target"] = self.url
        super().on_headers_complete()


def target_authority(scope: Scope) -> str | None:
    """Return HOST of an absolute request target (`GET http://HOST/path`), which overrides the `Host` header.

    None for a target that is only a path, and if the application is called without a connection, as in a
    rehearsal.
    """
    target: bytes = scope.get("extensions", {}).get(_EXTENSION, {}).get("target", b"")
    scheme, separator, remainder = target.decode("latin-1").partition("://")
    if not separator or "/" in scheme:
        return None
    return remainder.partition("/")[0]


async def reset_connection(scope: Scope, receive: Receive) -> None:
    """Reset the connection: the peer gets an RST, and unsent data is lost."""
    transport = _transport(scope)
    transport.get_extra_info("socket").setsockopt(SOL_SOCKET, SO_LINGER, struct.pack("ii", 1, 0))
    transport.abort()
    await wait_for_disconnect(receive)


async def close_connection(scope: Scope, receive: Receive) -> None:
    """Close the connection after the peer has received the data that was written."""
    _transport(scope).close()
    await wait_for_disconnect(receive)


async def wait_for_disconnect(receive: Receive) -> None:
    """Wait until the connection is lost: uvicorn reports an error if the application returns before."""
    while (await receive())["type"] != "http.disconnect":
        pass


def _transport(scope: Scope) -> Transport:
    """Return the transport of a request."""
    transport: Transport = scope["extensions"][_EXTENSION]["transport"]
    return transport
