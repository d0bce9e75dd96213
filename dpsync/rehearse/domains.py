"""The domains and URLs of a world, and what an anonymous copy has in their place.

A domain becomes `company-1.example`, a host below it `host-1.company-1.example`, and a URL another host and
path. The same one becomes the same one everywhere. No domain is spared, however public it is: who uses a
service, and under which name there, says who somebody is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

_LABEL: Final = r"[^\W_](?:[\w-]{0,61}[^\W_])?"
_DOMAIN: Final = rf"(?:{_LABEL}\.)+[^\W\d_](?:[\w-]{{0,61}}[^\W_])"
_BEFORE: Final = r"(?:(?<=%2f)|(?<=%3a)|(?<=%3d)|(?<=%40)|(?<![\w%.-]))"
"""What stands before a host: no letter, unless it is a part of an encoded character."""
ADDRESS: Final = r"(?P<name>[\w.!#$&'*+=^`{|}~%-]{1,100})(?:@|%40)(?P<at>[\w-]+(?:\.[\w-]+)+)"
"""An e-mail address."""
URL: Final = r"(?P<scheme>\b[a-z][a-z0-9+.-]{1,20}://)(?P<host>[^\s/?#\"'<>\\]+)(?P<path>[^\s\"'<>]*)"
HOST: Final = rf"{_BEFORE}(?P<bare>{_DOMAIN})(?P<below>(?::\d{{1,5}})?/[^\s\"'<>]*)?(?![\w-])"
_URL: Final = re.compile(URL, re.IGNORECASE)
_ADDRESS: Final = re.compile(ADDRESS)
_FIRST: Final = re.compile(_DOMAIN)
_SECOND_LEVEL: Final = frozenset({"ac", "co", "com", "edu", "go", "gov", "mil", "ne", "net", "or", "org"})
"""Second labels that companies register names below, in front of a country's (`co.uk`)."""
_HERE: Final = frozenset({"localhost", "127.0.0.1", "[::1]"})
_DOMAINS_ALONE: Final = frozenset({"emailDomains", "hostname", "customHostname", "domain", "proxy"})
"""Members that begin with a domain, whatever it ends with."""
_FILES: Final = frozenset({
    "bat", "c", "cfg", "conf", "cpp", "cs", "css", "csv", "dll", "doc", "docx", "env", "exe", "gif",
    "go", "gz", "h", "htm", "html", "ini", "ipynb", "java", "jpeg", "jpg", "js", "json", "jsx", "kt",
    "lock", "log", "md", "mdx", "mp4", "pdf", "php", "png", "ppt", "pptx", "py", "rb", "rs", "scss",
    "sh", "sql", "svg", "swift", "tar", "toml", "ts", "tsx", "txt", "vue", "webp", "xls", "xlsx", "xml",
    "yaml", "yml", "zip",
})  # fmt: skip
"""How a word with a dot ends that is a file, and no domain unless it stands in a URL or an address."""


class Domains:
    """Call `host()`, `url()` or `bare()` for what stands in the place of one."""

    def __init__(self, data: Any) -> None:
        self._companies: dict[str, str] = {}
        self._hosts: dict[str, str] = {}
        self._urls: dict[str, str] = {}
        self._known = {_registered(_plain(host)) for host in _hosts(data, "")}

    def host(self, host: str) -> str:
        """The host in the place of another one; a port is left out."""
        plain = _plain(host)
        if plain in _HERE:
            return plain
        if plain not in self._hosts:
            company = self._company(_registered(plain))
            below = sum(one.endswith(f".{company}") for one in self._hosts.values())
            is_whole = plain == _registered(plain)
            self._hosts[plain] = company if is_whole else f"host-{below + 1}.{company}"
        return self._hosts[plain]

    def _company(self, domain: str) -> str:
        if domain not in self._companies:
            number = len(self._companies) + 1
            while f"company-{number}.example" in self._known | {*self._companies.values()}:
                number += 1
            self._companies[domain] = f"company-{number}.example"
        return self._companies[domain]

    def url(self, scheme: str, host: str, path: str) -> str:
        """The URL in the place of another one, with another path if it has any."""
        ending = path[len(path.rstrip(".,;:!?)]}*")) :]  # of the sentence that it stands in
        path = path.removesuffix(ending)
        return f"{scheme}{self.host(host)}{self._path(scheme + host + path, path)}{ending}"

    def _path(self, whole: str, path: str) -> str:
        if path in ("", "/"):
            return path
        return self._urls.setdefault(whole, f"/path-{len(self._urls) + 1}")

    def bare(self, host: str, path: str, is_code: bool = False) -> str | None:
        """The same for a host without a scheme; None where it is none. In code only known domains are."""
        plain = _plain(host)
        ending = plain.rpartition(".")[2]
        if _registered(plain) not in self._known and (is_code or ending in _FILES):
            return None
        return self.url("", host, path)


def _plain(host: str) -> str:
    """A host as it is compared: without a user, a port, a dot at its end, and in ASCII."""
    bare = re.sub(r":\d*$", "", host.rpartition("@")[2]).casefold().strip(".")
    try:
        return bare.encode("idna").decode()
    except UnicodeError:
        return bare


def _registered(host: str) -> str:
    """The part of a host that somebody has registered, as far as that can be told."""
    labels = host.split(".")
    if host.startswith("[") or labels[-1].isdecimal():
        return host
    country = len(labels) > 2 and len(labels[-1]) == 2 and labels[-2] in _SECOND_LEVEL
    return ".".join(labels[-3 if country else -2 :])


def _hosts(data: Any, member: str) -> Iterator[str]:
    """Every host in the data that is certainly one."""
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
        if member in _DOMAINS_ALONE and (match := _FIRST.match(data)):
            yield match[0]
