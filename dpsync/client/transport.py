"""Send one HTTP request with httpx, and reuse idle connections. This is the only module that uses httpx.

A `Transport` never retries, follows redirects or interprets a response. Failures are `NotSentError` (the
request certainly changed nothing) or `UnknownOutcomeError` (it was sent). No repr and no exception contains
the token. httpx chooses proxies and certificates. httpcore sends the request itself, because httpx's own
layers (redirects, cookies, authentication) took half of the CPU time. httpx is imported without its command
line, whose imports took a third of the start time, unless something has imported httpx before.
"""

from __future__ import annotations

import errno
import re
import socket
import ssl
import sys
import threading
import time
import zlib
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Protocol

import httpcore
from msgspec import Struct

import dpsync
from dpsync import disk
from dpsync.client.deadline import Connections, Deadline, TimedBackend
from dpsync.client.errors import (
    ClientError,
    InvalidClientValueError,
    NotJsonError,
    NotSentError,
    NotSentReason,
    UnknownOutcomeError,
    UnknownReason,
    WriteRefusedError,
)
from dpsync.client.proxy import Route, certificate_setting, find_route, has_system_certificates, proxy_of
from dpsync.model.urls import COMPANION_TOKENS, is_loopback, url_problem

_HTTPX_COMMAND_LINE = "httpx._main"
_was_imported = "httpx" in sys.modules
if not _was_imported:
    sys.modules[_HTTPX_COMMAND_LINE] = None  # type: ignore[assignment]  # so importing it fails, which httpx allows for
try:
    import httpx
finally:
    if not _was_imported:
        del sys.modules[_HTTPX_COMMAND_LINE]

__all__ = ["httpx"]


class IdleConnections:
    """Connections to one server that are kept open between requests. Threads may share them.

    `open_connection` opens a new connection. Taking a connection costs the same for any number of them.
    httpcore's pool compares all pairs of its connections twice for each request, which dominated with 64
    requests in flight.
    """

    def __init__(self, open_connection: Callable[[], httpcore.ConnectionInterface]) -> None:
        self._open_connection = open_connection
        self._idle: deque[httpcore.ConnectionInterface] = deque()
        self._is_closed = False

    @contextmanager
    def connection(self) -> Iterator[httpcore.ConnectionInterface]:
        """Yield a connection for one request: the one that was used last, or a new one."""
        connection = self._take_connection()
        try:
            yield connection
        finally:
            if connection.is_available() and not self._is_closed:
                self._idle.append(connection)
            else:
                connection.close()

    def close(self) -> None:
        """Close the idle connections. A connection in use is closed after its request."""
        self._is_closed = True
        while self._idle:
            self._idle.pop().close()

    def _take_connection(self) -> httpcore.ConnectionInterface:
        """Return the idle connection that was used last and is still usable, or else a new one."""
        while True:
            try:
                connection = self._idle.pop()
            except IndexError:
                return self._open_connection()
            if connection.is_available() and not connection.has_expired():
                return connection
            connection.close()


MAX_BODY_BYTES = 64 * 1024 * 1024
MAX_URL_CHARS = 60_000
"""The maximum length of a URL with its query, in characters. A part may be a cursor of the platform."""
_SHOWN_PATH_CHARS = 200
CONNECT_SECONDS = 5.0
KEEP_ALIVE_SECONDS = (
    2.0  # shorter than servers keep it: if a server closes it during a create, the result is unknown
)
_METHODS_WITH_LENGTH = ("POST", "PUT", "PATCH")
"""A request with one of these methods has a Content-Length even without a body."""
_CONNECTION_ERRORS = (
    httpcore.TimeoutException,
    httpcore.NetworkError,
    httpcore.ProtocolError,
    httpcore.UnsupportedProtocol,
)
_VISIBLE = re.compile(r"[\x21-\x7e]+")

Trace = Callable[[str, str, int | None, float], None]
"""Called after every request that was tried: method, path, status (None: no answer), seconds."""


class Request(Struct, frozen=True):
    """One HTTP request. `path` (relative to `/v1`) and `query` are percent-encoded.

    `body` is JSON text; None for no body.
    """

    method: str
    path: str
    query: str = ""
    body: bytes | None = None


class Response(Struct, frozen=True):
    """One HTTP response. `headers` have lower-case names.

    `has_marked_end` means that the end of the body was marked, so a cut is always noticed.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    has_marked_end: bool = True


class Stats(Struct, frozen=True):
    """The number of requests so far, with any result."""

    total: int
    by_method: Mapping[str, int]


class Transport(Protocol):
    """A connection to one server, which sends single requests."""

    def send(self, request: Request) -> Response:
        """Return the response, with any status.

        Raises NotSentError, UnknownOutcomeError, or NotJsonError for a body that is too long or has an
        unexpected compression.
        """

    def close(self) -> None:
        """Close the connections."""

    def stats(self) -> Stats:
        """Return the number of requests so far."""


class GetOnlyTransport:
    """A transport that refuses everything but GET. Plans use it."""

    def __init__(self, inner: Transport) -> None:
        self.__inner = inner

    def send(self, request: Request) -> Response:
        """Send a GET. Raises WriteRefusedError for any other request."""
        if request.method != "GET" or request.body is not None:
            raise WriteRefusedError(request.method, request.path)
        return self.__inner.send(request)

    def close(self) -> None:
        """Close the connections."""
        self.__inner.close()

    def stats(self) -> Stats:
        """Return the number of requests so far."""
        return self.__inner.stats()


class Token:
    """A secret that appears only in the Authorization header."""

    __slots__ = ("__value",)

    def __init__(self, value: str) -> None:
        if not value:
            raise InvalidClientValueError("token", "is empty")
        if not _VISIBLE.fullmatch(value):
            raise InvalidClientValueError(
                "token", "contains a space, a line break or a character outside ASCII. Copy the token again"
            )
        self.__value = value

    def header(self) -> str:
        """Return the value of the Authorization header."""
        return f"Bearer {self.__value}"

    @property
    def is_documented(self) -> bool:
        """Return whether the companion documents this token, so that it is no secret."""
        return self.__value in COMPANION_TOKENS

    def hide(self, text: str) -> str:
        """Return a text of the server without the token."""
        return text.replace(self.__value, "[token]")

    def __repr__(self) -> str:
        return "Token(hidden)"


class HttpTransport:
    """HTTP/1.1 with keep-alive to one server. Proxies and CA come from the environment, as httpx reads it.

    Threads may share a transport. `timeout` is the wall-clock time of one whole request in seconds.
    `connections` collects the open connections, for a caller that may have to close them.
    """

    def __init__(
        self,
        url: str,
        token: Token,
        *,
        timeout: float = 30.0,
        trace: Trace | None = None,
        connections: Connections | None = None,
    ) -> None:
        self._base_url = _base_url(url)
        if token.is_documented and not is_loopback(self._base_url):
            raise InvalidClientValueError(
                "token",
                "is a public test token of the local GitBook server (dpsync "
                "serve). dpsync does not send this token to "
                f"{self._base_url}. Set DPSYNC_URL to the URL that `dpsync serve` prints. For a "
                "server on another machine, choose a token with `dpsync serve --token`.",
            )
        self._timeout = timeout
        self._trace = trace
        self._deadline = Deadline()
        self._connections = connections or Connections()
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()
        self._http = _open_client(self._base_url, token, timeout)
        address = httpx.URL(self._base_url)
        httpx_transport = self._http._transport_for_url(address)
        assert isinstance(httpx_transport, httpx.HTTPTransport)
        pool = httpx_transport._pool
        assert isinstance(pool, httpcore.ConnectionPool)
        self._route = find_route(self._base_url, httpx_transport is not self._http._transport)
        pool._network_backend = TimedBackend(pool._network_backend, self._deadline, self._connections)
        self._root = httpcore.URL(
            scheme=address.raw_scheme,
            host=address.raw_host,
            port=address.port,
            target=address.raw_path.rstrip(b"/") + b"/v1",
        )
        self._headers = [(b"Host", address.netloc), *self._http.headers.raw]
        self._extensions = {"timeout": self._http.timeout.as_dict()}
        self._idle = IdleConnections(lambda: pool.create_connection(self._root.origin))

    @property
    def route(self) -> Route:
        """Return the proxy and the trusted certificates that lead to the server."""
        return self._route

    def __repr__(self) -> str:
        return f"HttpTransport({self._base_url!r})"

    def close(self) -> None:
        """Close all idle connections."""
        self._idle.close()
        self._http.close()

    def stats(self) -> Stats:
        """Return the number of requests so far, by method."""
        with self._lock:
            return Stats(self._counts.total(), dict(self._counts))

    def send(self, request: Request) -> Response:
        """Send a request once, trace it, and return the response. Raises ClientError without a response."""
        with self._lock:
            self._counts[request.method] += 1
        start_time = time.monotonic()
        outcome = self._exchange(request)
        if self._trace:
            with suppress(Exception):  # a closed terminal must not make a finished write fail
                self._trace(request.method, request.path, outcome.status, time.monotonic() - start_time)
        if isinstance(outcome, ClientError):
            raise outcome  # not in a handler: httpx's error has the headers
        return outcome

    def _exchange(self, request: Request) -> Response | ClientError:
        """Send a request once, and return the response, or the error as a value.

        The error is returned instead of raised, so that its context does not hold httpx's error, which has
        the headers with the token.
        """
        target = request.path + (f"?{request.query}" if request.query else "")
        status: int | None = None
        if len(self._base_url) + len("/v1") + len(target) > MAX_URL_CHARS:
            return NotSentError(request.method, request.path[:_SHOWN_PATH_CHARS], "too long")
        try:
            with (
                self._deadline.limited_to(self._timeout),
                self._idle.connection() as connection,
                closing(connection.handle_request(self._wire_request(request, target))) as response,
            ):
                status = response.status
                return _read_response(request, response)
        except (
            httpcore.ConnectError,
            httpcore.ConnectTimeout,
            httpcore.PoolTimeout,
            httpcore.ProxyError,
        ) as error:
            reason, detail = _not_sent_reason(error)
            return NotSentError(request.method, request.path, reason, detail, self._route)
        except (*_CONNECTION_ERRORS, zlib.error) as error:
            unknown_reason = (
                "interrupted" if self._connections.is_shut_down else _unknown_reason(error, status)
            )
            return UnknownOutcomeError(
                request.method, request.path, unknown_reason, status, seconds=self._timeout, route=self._route
            )

    def _wire_request(self, request: Request, target: str) -> httpcore.Request:
        """Return the request for httpcore: with the whole URL, the token, and the length of the body.

        `target` is the path and query, which follow the path of the server's URL.
        """
        root_url, headers = self._root, self._headers
        if request.body is not None:
            length = str(len(request.body)).encode()
            headers = [*headers, (b"Content-Type", b"application/json"), (b"Content-Length", length)]
        elif request.method in _METHODS_WITH_LENGTH:
            headers = [*headers, (b"Content-Length", b"0")]
        url = httpcore.URL(
            scheme=root_url.scheme,
            host=root_url.host,
            port=root_url.port,
            target=root_url.target + target.encode("ascii"),
        )
        return httpcore.Request(
            request.method, url, headers=headers, content=request.body, extensions=self._extensions
        )


def _base_url(url: str) -> str:
    """Return the server's URL without a trailing slash. Raises InvalidClientValueError."""
    if problem := url_problem(url):
        raise InvalidClientValueError("url", problem)
    try:
        parsed = httpx.URL(url)
        assert parsed.host  # httpx decodes an international host name, which may fail
    except (httpx.InvalidURL, UnicodeError):
        raise InvalidClientValueError("url", "is not a valid URL") from None
    return str(parsed).rstrip("/")


def _open_client(base_url: str, token: Token, timeout: float) -> httpx.Client:
    """Return the httpx client, which chooses proxy and certificates.

    Raises InvalidClientValueError for certificates or a proxy that cannot be used.
    """
    try:
        if base_url.startswith("https:"):
            tls_context = _tls_context()
        else:
            tls_context = ssl.SSLContext(
                ssl.PROTOCOL_TLS_CLIENT
            )  # never used: loading the CA bundle takes 50 ms
        return httpx.Client(
            verify=tls_context,
            timeout=httpx.Timeout(timeout, connect=min(timeout, CONNECT_SECONDS)),
            limits=httpx.Limits(max_connections=None, keepalive_expiry=KEEP_ALIVE_SECONDS),
            headers={
                "Authorization": token.header(),
                "Accept": "application/json",
                "Accept-Encoding": "gzip",
                "User-Agent": f"dpsync/{dpsync.__version__}",
            },
        )
    except OSError as error:
        raise InvalidClientValueError(
            "certificates",
            f"dpsync cannot load the certificates from {certificate_setting()}: "
            f"{_certificate_problem(error)}",
        ) from None
    except (ValueError, ImportError, httpx.InvalidURL):
        proxy = proxy_of(base_url.partition(":")[0])
        raise InvalidClientValueError("proxy", f"{proxy} is not a valid URL of a proxy") from None


def _tls_context() -> ssl.SSLContext:
    """Return the TLS context, with the trusted certificates of the environment, the system, or Mozilla.

    A variable such as SSL_CERT_FILE takes precedence. Raises OSError.
    """
    setting = certificate_setting()
    if setting is not None and setting.variable == "SSL_CERT_DIR" and not Path(setting.value).is_dir():
        raise NotADirectoryError(
            errno.ENOTDIR, "the path is not a directory", setting.value
        )  # OpenSSL would accept the path silently
    if setting is None and has_system_certificates(sys.platform, ssl.get_default_verify_paths()):
        import truststore  # imported late: most tests and the companion speak http

        system_context: ssl.SSLContext = truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        return system_context
    return httpx.create_ssl_context()


def _certificate_problem(error: OSError) -> str:
    """Return why the trusted certificates cannot be read, in simpler words than OpenSSL's."""
    return "the file contains no certificate" if isinstance(error, ssl.SSLError) else disk.error_reason(error)


def _read_response(request: Request, response: httpcore.Response) -> Response | ClientError:
    """Return the whole body, decompressed. Raises zlib.error if the body is broken or cut off.

    Returns NotJsonError for a body of more than 64 MiB or an unexpected compression.
    """
    headers = _headers(response)
    compression = headers.get("content-encoding", "identity").strip().lower()
    if compression not in ("identity", "gzip", "x-gzip"):
        return _not_json(request, response.status, headers, "an unexpected compression")
    decompressor = None if compression == "identity" else zlib.decompressobj(zlib.MAX_WBITS | 16)
    parts: list[bytes] = []
    size = received = 0
    for chunk in response.iter_stream():
        part = decompressor.decompress(chunk, MAX_BODY_BYTES + 1 - size) if decompressor else chunk
        size, received = size + len(part), received + len(chunk)
        if max(size, received) > MAX_BODY_BYTES:
            return _not_json(request, response.status, headers, "more than 64 MiB of data")
        parts.append(part)
    if decompressor and received and not decompressor.eof:
        raise zlib.error("cut off")
    has_marked_end = "content-length" in headers or "transfer-encoding" in headers
    return Response(response.status, headers, b"".join(parts), has_marked_end)


def _headers(response: httpcore.Response) -> dict[str, str]:
    """Return the headers of a response with lower-case names. Values of a repeated header are joined."""
    headers: dict[str, str] = {}
    for raw, value in response.headers:
        name, text = raw.decode("latin-1").lower(), value.decode("latin-1")
        headers[name] = f"{headers[name]}, {text}" if name in headers else text
    return headers


def _not_json(request: Request, status: int, headers: Mapping[str, str], fault: str) -> NotJsonError:
    """Return the error that a response is not from the API. `fault` says why in fixed words."""
    return NotJsonError(request.method, request.path, status, media_type(headers.get("content-type")), fault)


def media_type(header: str | None) -> str | None:
    """Return the type of a Content-Type header in lower case, with a bounded length; None without a type."""
    type_ = re.sub(r"[^a-z0-9!#$&^_.+/-]", "", (header or "").partition(";")[0].lower())
    return type_[:80] or None


def _not_sent_reason(error: Exception) -> tuple[NotSentReason, str]:
    """Return why a request was not sent, and a detail: a proxy's status, or the fault of a certificate."""
    if isinstance(error, httpcore.ProxyError):
        status = re.match(r"\d{3}\b", str(error))
        return "proxy", f"status {status[0]}" if status else ""
    if isinstance(error, httpcore.TimeoutException):
        return "timeout", ""
    cause: BaseException | None = error
    while cause:
        match cause:
            case ConnectionRefusedError():
                return "refused", ""
            case socket.gaierror():
                return "dns", ""
            case ssl.SSLCertVerificationError():
                return "certificate", getattr(cause, "verify_message", "")
            case ssl.SSLError():
                return "tls", ""
        cause = cause.__cause__ or cause.__context__
    return "connect", ""


def _unknown_reason(error: Exception, status: int | None) -> UnknownReason:
    """Return why a sent request has no complete response. `status` is None before a response began."""
    if isinstance(error, httpcore.TimeoutException):
        return "timeout"
    if status is not None:
        return "truncated"
    if isinstance(error, httpcore.RemoteProtocolError):
        return "closed"
    return "reset" if isinstance(error, httpcore.NetworkError) else "failed"
