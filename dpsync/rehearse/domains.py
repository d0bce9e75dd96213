"""Replace domains and URLs in anonymous copies.

A domain becomes `company-1.example`, a host in it `host-1.company-1.example`, and a URL gets another host
and path. The same text always gets the same replacement. Well-known domains are replaced, too: the service
that somebody uses, and the account name there, can identify the person.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

_LABEL: Final = r"[^\W_](?:[\w-]{0,61}[^\W_])?"
_DOMAIN: Final = rf"(?:{_LABEL}\.)+[^\W\d_](?:[\w-]{{0,61}}[^\W_])"
_BEFORE: Final = r"(?:(?<=%2f)|(?<=%3a)|(?<=%3d)|(?<=%40)|(?<![\w%.-]))"
"""The position before a host: after a letter only if the letter is part of an encoded character."""
EMAIL_PATTERN: Final = r"(?P<name>[\w.!#$&'*+=^`{|}~%-]{1,100})(?:@|%40)(?P<at>[\w-]+(?:\.[\w-]+)+)"
"""An e-mail address."""
URL_PATTERN: Final = r"(?P<scheme>\b[a-z][a-z0-9+.-]{1,20}://)(?P<host>[^\s/?#\"'<>\\]+)(?P<path>[^\s\"'<>]*)"
HOST_PATTERN: Final = rf"{_BEFORE}(?P<bare>{_DOMAIN})(?P<below>(?::\d{{1,5}})?/[^\s\"'<>]*)?(?![\w-])"
_URL: Final = re.compile(URL_PATTERN, re.IGNORECASE)
_ADDRESS: Final = re.compile(EMAIL_PATTERN)
_DOMAIN_AT_START: Final = re.compile(_DOMAIN)
_SECOND_LEVEL_LABELS: Final = frozenset(
    {"ac", "co", "com", "edu", "go", "gov", "mil", "ne", "net", "or", "org"}
)
"""Second labels that companies register names below, in front of a country's (`co.uk`)."""
_LOCAL_HOSTS: Final = frozenset({"localhost", "127.0.0.1", "[::1]"})
_DOMAIN_MEMBERS: Final = frozenset({"emailDomains", "hostname", "customHostname", "domain", "proxy"})
"""Members that begin with a domain, whatever it ends with."""
_FILE_SUFFIXES: Final = frozenset({
    "bat", "c", "cfg", "conf", "cpp", "cs", "css", "csv", "dll", "doc", "docx", "env", "exe", "gif",
    "go", "gz", "h", "htm", "html", "ini", "ipynb", "java", "jpeg", "jpg", "js", "json", "jsx", "kt",
    "lock", "log", "md", "mdx", "mp4", "pdf", "php", "png", "ppt", "pptx", "py", "rb", "rs", "scss",
    "sh", "sql", "svg", "swift", "tar", "toml", "ts", "tsx", "txt", "vue", "webp", "xls", "xlsx", "xml",
    "yaml", "yml", "zip",
})  # fmt: skip
"""File suffixes. A word with such a suffix is a domain only in a URL or an address."""


class Domains:
    """Replaces hosts and URLs, and remembers the replacements, so that the same text gets the same one."""

    def __init__(self, data: Any) -> None:
        self._companies: dict[str, str] = {}
        self._hosts: dict[str, str] = {}
        self._urls: dict[str, str] = {}
        self._known = {_registered_domain(_normalized_host(host)) for host in _hosts(data, "")}

    def replace_host(self, host: str) -> str:
        """Return the replacement of a host without a port: `company-1.example` or `host-1.company-1.example`.

        Hosts of one registered domain get one company. Loopback hosts stay.
        """
        plain = _normalized_host(host)
        if plain in _LOCAL_HOSTS:
            return plain
        if plain not in self._hosts:
            company = self._company(_registered_domain(plain))
            count = sum(known_host.endswith(f".{company}") for known_host in self._hosts.values())
            is_whole = plain == _registered_domain(plain)
            self._hosts[plain] = company if is_whole else f"host-{count + 1}.{company}"
        return self._hosts[plain]

    def _company(self, domain: str) -> str:
        """Return the replacement of a registered domain, such as `company-1.example`."""
        if domain not in self._companies:
            number = len(self._companies) + 1
            while f"company-{number}.example" in self._known | {*self._companies.values()}:
                number += 1
            self._companies[domain] = f"company-{number}.example"
        return self._companies[domain]

    def replace_url(self, scheme: str, host: str, path: str) -> str:
        """Return the replacement of a URL with a numbered path, the same for each occurrence of the URL.

        Punctuation at the end of the URL stays, because it belongs to the sentence around it.
        """
        ending = path[len(path.rstrip(".,;:!?)]}*")) :]
        path = path.removesuffix(ending)
        new_host = self.replace_host(host)
        new_path = path
        if path not in ("", "/"):
            new_path = self._urls.setdefault(scheme + host + path, f"/path-{len(self._urls) + 1}")
        return f"{scheme}{new_host}{new_path}{ending}"

    def replace_bare_host(self, host: str, path: str, is_code: bool = False) -> str | None:
        """Return the replacement of a host and path without a scheme; None if the text is no host.

        A word like `readme.md` (with the suffix of a file name) is a host only if a URL has the same domain.
        With `is_code`, this holds for all words, because code has dots between words.
        """
        plain = _normalized_host(host)
        ending = plain.rpartition(".")[2]
        if _registered_domain(plain) not in self._known and (is_code or ending in _FILE_SUFFIXES):
            return None
        return self.replace_url("", host, path)


def _normalized_host(host: str) -> str:
    """Return a host for comparisons: in lower-case ASCII, without user, port and final dot."""
    bare = re.sub(r":\d*$", "", host.rpartition("@")[2]).casefold().strip(".")
    try:
        return bare.encode("idna").decode()
    except UnicodeError:
        return bare


def _registered_domain(host: str) -> str:
    """Return the domain that a company registered, such as `acme.co.uk` for `docs.acme.co.uk`."""
    labels = host.split(".")
    if host.startswith("[") or labels[-1].isdecimal():
        return host
    has_country_suffix = len(labels) > 2 and len(labels[-1]) == 2 and labels[-2] in _SECOND_LEVEL_LABELS
    return ".".join(labels[-3 if has_country_suffix else -2 :])


def _hosts(data: Any, member: str) -> Iterator[str]:
    """Yield every text in the data that is certainly a host: in a URL, an address, or a member for domains.

    `member` is the name of the member that contains `data`.
    """
    if isinstance(data, dict):
        for name, value in data.items():
            yield from _hosts(str(name), "")
            yield from _hosts(value, str(name))
    elif isinstance(data, list):
        for value in data:
            yield from _hosts(value, member)
    elif isinstance(data, str):
        yield from (match["host"] for match in _URL.finditer(data))
        yield from (match["at"] for match in _ADDRESS.finditer(data))
        if member in _DOMAIN_MEMBERS and (match := _DOMAIN_AT_START.match(data)):
            yield match[0]
