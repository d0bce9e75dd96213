"""Find the proxy and the trusted certificates that environment variables choose, to name them in messages.

httpx itself chooses and uses them. The user and password in a proxy's URL are left out.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

IGNORED_VARIABLES: Final = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS")
"""Variables in which other programs look for trusted certificates, and which dpsync ignores."""
_CERTIFICATE_VARIABLES: Final = ("SSL_CERT_FILE", "SSL_CERT_DIR")


class Setting(Struct, frozen=True):
    """An environment variable and its value, without the secret parts."""

    variable: str
    value: str

    def __str__(self) -> str:
        return f"{self.variable} ({self.value})"


class Route(Struct, frozen=True):
    """The proxy and the file or directory of trusted certificates; None for no proxy or the usual trust."""

    proxy: Setting | None = None
    certificates: Setting | None = None
    ignored_variables: tuple[str, ...] = ()
    """Variables of `IGNORED_VARIABLES` that are set, although dpsync ignores them."""


def find_route(url: str, proxied: bool, env: Mapping[str, str] = os.environ) -> Route:
    """Return the proxy and certificates for a URL, from the environment variables `env`.

    `proxied` is whether httpx uses a proxy for this URL. Variables for certificates that other programs use
    and dpsync ignores are listed, for a hint.
    """
    scheme = url.partition(":")[0]
    certificates = certificate_setting(env) if scheme == "https" else None
    ignored_variables = (
        ()
        if certificates or scheme != "https"
        else tuple(name for name in IGNORED_VARIABLES if env.get(name))
    )
    return Route(proxy_of(scheme, env) if proxied else None, certificates, ignored_variables)


def certificate_setting(env: Mapping[str, str] = os.environ) -> Setting | None:
    """Return the first set environment variable that names trusted certificates; None if none is set."""
    return next((Setting(name, env[name]) for name in _CERTIFICATE_VARIABLES if env.get(name)), None)


def has_system_certificates(system: str, paths: ssl.DefaultVerifyPaths) -> bool:
    """Return whether the system has its own certificates: Windows and macOS always, others in files.

    Small containers often have none.
    """
    if system in ("win32", "darwin"):
        return True
    if paths.cafile is not None and Path(paths.cafile).is_file():
        return True
    return paths.capath is not None and Path(paths.capath).is_dir() and any(Path(paths.capath).iterdir())


def proxy_of(scheme: str, env: Mapping[str, str] = os.environ) -> Setting:
    """Return the environment variable that names the proxy for a scheme.

    Lower-case names take precedence over upper-case names. On Windows and macOS, the system settings may name
    it.
    """
    for name in (f"{scheme}_proxy", "all_proxy"):
        for variable in (name, name.upper()):
            if env.get(variable):
                return Setting(variable, _url_without_credentials(env[variable]))
    return Setting("the proxy of this machine", "its settings")


def _url_without_credentials(text: str) -> str:
    """Return the URL of a proxy without user and password."""
    try:
        url = urlsplit(text if "://" in text else f"http://{text}")
        return f"{url.scheme}://{url.hostname or ''}" + (f":{url.port}" if url.port else "")
    except ValueError:
        return "an invalid URL"
