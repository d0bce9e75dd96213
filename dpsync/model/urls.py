"""Check server URLs, hide credentials in URLs, and recognize loopback addresses.

No library raises an error for a URL that `url_problem` accepts. A platform on a loopback address is never
in production, and has another port each time.
"""

from __future__ import annotations

import re
from ipaddress import AddressValueError, IPv6Address, ip_address
from typing import Final
from urllib.parse import urlsplit

GITBOOK_API_URL: Final = "https://api.gitbook.com"
"""The address of GitBook's API, which is the default address."""
DOCS_URL: Final = "https://github.com/dpsync/dpsync/blob/main/docs"
"""The address of the documentation, which messages and schemas link to."""
MAX_URL_LENGTH: Final = 2_000
"""Characters of an address."""
_CREDENTIALS: Final = re.compile(r"""(?<=://)[^\s/?#"'<>]+(?=@)""")
"""A user, or a user and a password, in a URL."""
_PASSWORD: Final = re.compile(
    r"""(:(?:\\?/){2}[^\s/?#"<>@:]*:)[^\s/?#"<>]+(?=@)|(https?:(?:\\?/){2})(?!\*+@)[^\s/?#"<>:]+(?=@)""", re.I
)
"""The password in a URL, or the user in an HTTP URL without password; the groups match the preceding text."""
_VISIBLE: Final = re.compile(r"[\x21-\x7e]*")
_LABEL: Final = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?", re.IGNORECASE)
_PORT: Final = re.compile(r"[0-9]{1,5}")
_HOST: Final = re.compile(r"[A-Za-z0-9.-]+(?::[0-9]+)?")
_PATH: Final = re.compile(r"(?:/[A-Za-z0-9._~-]*)*")
_URL_RULE = "must begin with http:// or https:// and a host name, such as https://api.acme.example"


def has_credentials(url: str) -> bool:
    """Return whether a URL contains a user or a password."""
    return _CREDENTIALS.search(url) is not None


def hide_credentials(text: str) -> str:
    """Return a text of the same length in which each URL has asterisks for its user and password."""
    return _CREDENTIALS.sub(lambda match: "*" * len(match[0]), text)


def mask_passwords(text: str, mark: str) -> str:
    """Return the text with the password in each URL replaced by `mark`.

    In an HTTP URL without a password, the user is replaced, because such a user may be a token. URLs that
    `hide_credentials` has already masked with asterisks stay unchanged.
    """
    if "@" not in text:
        return text
    return _PASSWORD.sub(lambda match: f"{match[1] or match[2]}{mark}", text)


def url_problem(url: str) -> str | None:
    """Return why a text cannot be the URL of a platform, as the end of a sentence ("must …"); else None."""
    if len(url) > MAX_URL_LENGTH:
        return f"must have at most {MAX_URL_LENGTH:,} characters"
    if not _VISIBLE.fullmatch(url):
        return "must not contain a space, a line break or a character outside ASCII"
    try:
        parts = urlsplit(url)
    except ValueError:
        return "is not a valid URL"
    if parts.scheme not in ("http", "https") or not parts.netloc:
        return _URL_RULE
    if "@" in parts.netloc:
        return "must not contain a user or password"
    if "?" in url or "#" in url:
        return "must not contain ? or #"
    host, port = _host_and_port(parts.netloc)
    if not _is_host(host):
        return _URL_RULE
    if port is not None and not (_PORT.fullmatch(port) and 1 <= int(port) <= 65_535):
        return "must have a port from 1 to 65535"
    return None


def is_preview_link(url: str) -> bool:
    """Return whether outputs may print a URL as a link to the preview of a site.

    Such a URL has no user, password, query or fragment, and no character that Markdown or HTML could
    interpret.
    """
    if url_problem(url) is not None:
        return False
    parts = urlsplit(url)
    return _HOST.fullmatch(parts.netloc) is not None and _PATH.fullmatch(parts.path) is not None


def path_segments(url: str) -> list[str]:
    """Return the segments of the URL's path without the empty ones."""
    return [segment for segment in urlsplit(url).path.split("/") if segment]


def _host_and_port(netloc: str) -> tuple[str, str | None]:
    """Split a network location into the host (an IPv6 address with its brackets) and the port, if any."""
    host, bracket, after_bracket = netloc.rpartition("]")
    if bracket:
        return host + bracket, after_bracket.removeprefix(":") if after_bracket else None
    host, colon, port = netloc.partition(":")
    return host, port if colon else None


def _is_host(host: str) -> bool:
    """Return whether a text is a valid host: an IPv6 address in brackets, an IPv4 address, or a name."""
    if host.startswith("["):
        try:
            return host.endswith("]") and IPv6Address(host[1:-1]).scope_id is None
        except AddressValueError:
            return False
    labels = host.removesuffix(".").split(".")
    if len(host) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        return False
    if labels[-1].isdigit():
        return len(labels) == 4 and all(label.isdigit() and int(label) < 256 for label in labels)
    return all(_is_international(label) for label in labels if label.lower().startswith("xn--"))


def _is_international(label: str) -> bool:
    """Return whether a label of a host name that begins with `xn--` can be decoded."""
    try:
        label.lower().removeprefix("xn--").encode("ascii").decode("punycode")
    except UnicodeError:
        return False
    return True


COMPANION_TOKENS: Final = frozenset(
    f"{name}-token"
    for name in (
        "ada", "grace", "lin", "rui", "eve", "cam", "kim", "gus", "oli", "hank", "homer", "lenny", "carl",
    )
)  # fmt: skip
"""The documented tokens of the companion's built-in world (docs/companion.md): they are no secrets."""


def is_loopback(url: str) -> bool:
    """Return whether a URL is on this machine: `localhost`, 127.0.0.0/8, ::1, or the unspecified address."""
    try:
        host = (urlsplit(url).hostname or "").rstrip(".")
    except ValueError:
        return False
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ip_address(host)
    except ValueError:
        return False
    ipv4_or_address = getattr(address, "ipv4_mapped", None) or address
    return bool(ipv4_or_address.is_loopback or ipv4_or_address.is_unspecified)
