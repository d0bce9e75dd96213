"""Whom the companion contacts: where OpenAPI documents are fetched from, and events are sent to.

Only loopback and the hosts that the operator has named are ever contacted, at every hop of a redirect and
never through a proxy: a companion is no way into a network.

httpx is imported when somebody is contacted: most companions never do, and all of them are to start fast.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cached_property
from ipaddress import ip_address
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ssl

    import httpx

LARGEST_SOURCE = 10 * 1024 * 1024
_HOPS = 5


class FetchError(Exception):
    """`code` is one of the API's: FETCH_TIMEOUT or FETCH_ERROR."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


@dataclass
class Sources:
    """`allowed`: host names beside loopback, any port. `seconds`: the longest that a fetch may take."""

    allowed: Collection[str] = ()
    seconds: float = 10.0

    async def fetch(self, url: str) -> str:
        """The text at a URL. Raises FetchError."""
        import httpx

        async with self._client("fetched") as client:
            content = await self._fetch(client, httpx.URL(url))
        try:
            return content.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise FetchError("FETCH_ERROR", "what was fetched is not UTF-8") from None

    async def post(self, url: str, content: bytes) -> int:
        """The status that a JSON document is answered with. No redirect is followed, and nothing more of the
        answer is read. Raises FetchError.
        """
        import httpx

        async with self._client("reached") as client:
            at = httpx.URL(url)
            self._check(at)
            headers = {"Content-Type": "application/json"}
            async with client.stream("POST", at, content=content, headers=headers) as answer:
                return answer.status_code

    @cached_property
    def _trust(self) -> ssl.SSLContext:
        """For all requests: reading the certificates takes longer than one."""
        import httpx

        return httpx.create_ssl_context(trust_env=False)

    @asynccontextmanager
    async def _client(self, done: str) -> AsyncIterator[httpx.AsyncClient]:
        import httpx

        try:
            async with (
                asyncio.timeout(self.seconds),
                httpx.AsyncClient(trust_env=False, timeout=self.seconds, verify=self._trust) as client,
            ):
                yield client
        except (TimeoutError, httpx.TimeoutException):
            raise FetchError("FETCH_TIMEOUT", f"no answer within {self.seconds:g} seconds") from None
        except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as error:
            raise FetchError("FETCH_ERROR", f"cannot be {done}: {error or type(error).__name__}") from None

    async def _fetch(self, client: httpx.AsyncClient, at: httpx.URL) -> bytes:
        for _ in range(1 + _HOPS):
            self._check(at)
            async with client.stream("GET", at) as answer:
                if not answer.has_redirect_location:
                    return await _content(answer)
                at = at.join(answer.headers["location"])
        raise FetchError("FETCH_ERROR", f"more than {_HOPS} redirects")

    def _check(self, url: httpx.URL) -> None:
        if url.scheme not in ("http", "https"):
            raise FetchError("FETCH_ERROR", f"{url.scheme or 'no scheme'}: only http and https are contacted")
        if not _loopback(url.host) and url.host.casefold() not in {name.casefold() for name in self.allowed}:
            raise FetchError(
                "FETCH_ERROR",
                f"{url.host} is not contacted: only loopback, and hosts named with --allow-fetch",
            )


def _loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.casefold() == "localhost"


async def _content(answer: httpx.Response) -> bytes:
    if answer.status_code != 200:
        raise FetchError("FETCH_ERROR", f"the source answered {answer.status_code}")
    chunks, size = [], 0
    async for chunk in answer.aiter_bytes():
        size += len(chunk)
        if size > LARGEST_SOURCE:
            raise FetchError("FETCH_ERROR", f"longer than {LARGEST_SOURCE} bytes")
        chunks.append(chunk)
    return b"".join(chunks)
