"""Contact other services: fetch OpenAPI documents and send events.

The local server contacts only loopback and the hosts that the operator has named, also at every redirect, and
never through a proxy, so that nobody can reach a private network through it. It never contacts itself, under
any name: it checks the address of each connection. Every request has the header `COMPANION_HEADER`, so that
no control plane accepts it as a request of a person.

httpx is imported on first use: most local servers never need it, and all of them must start fast.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from functools import cached_property
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import TYPE_CHECKING, Any

from msgspec import Struct

if TYPE_CHECKING:
    import ssl

    import httpx

MAX_SOURCE_BYTES = 10 * 1024 * 1024
COMPANION_HEADER = "dpsync-companion"
"""The header in every request that a local server sends to another service."""
_MAX_REDIRECTS = 5
_CONNECTED_EVENT = "connection.connect_tcp.complete"


class FetchError(Exception):
    """A source or a tunnel could not be reached. `code` is FETCH_TIMEOUT or FETCH_ERROR, as in the API."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class OutsideServices(Struct, dict=True):
    """The services that may be contacted.

    `allowed_hosts` are host names besides loopback, with any port. `timeout_seconds` is the limit for a
    fetch. `own_addresses` are the addresses (host and port) on which this service listens. Without
    `allow_loopback`, this machine must be in `allowed_hosts` like any other host.
    """

    allowed_hosts: Collection[str] = ()
    timeout_seconds: float = 10.0
    own_addresses: Collection[tuple[str, int]] = ()
    allow_loopback: bool = True

    async def fetch(self, url: str) -> str:
        """Return the text at a URL. Raise FetchError."""
        import httpx

        async with self._client("the source cannot be fetched") as client:
            content = await self._fetch(client, httpx.URL(url))
        try:
            return content.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise FetchError("FETCH_ERROR", "the source is not UTF-8 text") from None

    async def post(self, url: str, content: bytes) -> int:
        """Post a JSON document and return the status of the answer. Raise FetchError.

        Redirects are not followed, and the body of the answer is not read.
        """
        import httpx

        async with self._client("the tunnel cannot be reached") as client:
            parsed_url = httpx.URL(url)
            self._check_url(parsed_url)
            headers = {"Content-Type": "application/json"}
            extensions = {"trace": self._check_connection}
            async with client.stream(
                "POST", parsed_url, content=content, headers=headers, extensions=extensions
            ) as answer:
                return answer.status_code

    @cached_property
    def _ssl_context(self) -> ssl.SSLContext:
        """Return one TLS context for all requests, because loading the certificates is slow."""
        import httpx

        return httpx.create_ssl_context(trust_env=False)

    @asynccontextmanager
    async def _client(self, failure: str) -> AsyncIterator[httpx.AsyncClient]:
        """Open an HTTP client with a time limit.

        Its errors become FetchError with `failure` as the message.
        """
        import httpx

        try:
            async with (
                asyncio.timeout(self.timeout_seconds),
                httpx.AsyncClient(
                    trust_env=False,
                    timeout=self.timeout_seconds,
                    verify=self._ssl_context,
                    headers={COMPANION_HEADER: "1"},
                ) as client,
            ):
                yield client
        except (TimeoutError, httpx.TimeoutException):
            raise FetchError(
                "FETCH_TIMEOUT", f"no response within {self.timeout_seconds:g} seconds"
            ) from None
        except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as error:
            raise FetchError("FETCH_ERROR", f"{failure}: {error or type(error).__name__}") from None

    async def _fetch(self, client: httpx.AsyncClient, url: httpx.URL) -> bytes:
        """Return the content at a URL, following redirects and checking each of their URLs.

        Raise FetchError after too many redirects.
        """
        for _ in range(1 + _MAX_REDIRECTS):
            self._check_url(url)
            async with client.stream("GET", url, extensions={"trace": self._check_connection}) as answer:
                if not answer.has_redirect_location:
                    return await _read_content(answer)
                url = url.join(answer.headers["location"])
        raise FetchError("FETCH_ERROR", f"more than {_MAX_REDIRECTS} redirects")

    async def _check_connection(self, event: str, info: Mapping[str, Any]) -> None:
        """Raise FetchError if httpx has connected to the local server itself, before any data is sent.

        httpx calls this for each event of a request (trace extension). Only a new connection is checked.
        """
        if event != _CONNECTED_EVENT:
            return
        stream = info["return_value"]
        peer, local = stream.get_extra_info("server_addr"), stream.get_extra_info("client_addr")
        if any(is_listening_address(listening, peer[:2], local[0]) for listening in self.own_addresses):
            await stream.aclose()
            raise FetchError(
                "FETCH_ERROR", f"{peer[0]}:{peer[1]} is the local server, which never contacts itself"
            )

    def _check_url(self, url: httpx.URL) -> None:
        """Raise FetchError unless the scheme is HTTP or HTTPS and the host may be contacted.

        These are the hosts that `--allow-fetch` names and, unless the server's initial data come from a file,
        loopback hosts.
        """
        if url.scheme not in ("http", "https"):
            raise FetchError(
                "FETCH_ERROR", f"{url.scheme or 'no scheme'} is not supported: use http or https"
            )
        is_allowed = url.host.casefold() in {name.casefold() for name in self.allowed_hosts}
        if not is_allowed and not (self.allow_loopback and _is_loopback(url.host)):
            raise FetchError(
                "FETCH_ERROR",
                f"the local server may not contact {url.host}. To allow the host, "
                f"start dpsync serve with --allow-fetch {url.host}",
            )


def is_listening_address(listening: tuple[str, int], peer: tuple[str, int], local: str) -> bool:
    """Return whether a connection from the address `local` to `peer` reached the socket `listening`.

    A socket that listens on every address can be reached at each of them. In that case, the connection comes
    from the address to which it goes, or stays on loopback.
    """
    host, target = parse_ip_address(listening[0]), parse_ip_address(peer[0])
    if listening[1] != peer[1]:
        return False
    return host == target or (
        host.is_unspecified and (target.is_loopback or target == parse_ip_address(local))
    )


def parse_ip_address(host: str) -> IPv4Address | IPv6Address:
    """Return an IP address; an IPv4 address in IPv6 notation becomes IPv4. Raise ValueError for a name."""
    address = ip_address(host)
    return getattr(address, "ipv4_mapped", None) or address


def _is_loopback(host: str) -> bool:
    """Return whether a host in a URL is this machine."""
    try:
        return parse_ip_address(host).is_loopback
    except ValueError:
        return host.casefold() == "localhost"


async def _read_content(answer: httpx.Response) -> bytes:
    """Return the body of an answer. Raise FetchError for a status other than 200, or for too many bytes."""
    if answer.status_code != 200:
        raise FetchError("FETCH_ERROR", f"the source returned the status {answer.status_code}")
    chunks, size = [], 0
    async for chunk in answer.aiter_bytes():
        size += len(chunk)
        if size > MAX_SOURCE_BYTES:
            raise FetchError("FETCH_ERROR", f"the source is longer than {MAX_SOURCE_BYTES} bytes")
        chunks.append(chunk)
    return b"".join(chunks)
