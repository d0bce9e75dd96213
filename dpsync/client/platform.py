"""Name a platform (GitBook or a local server) in the ids file.

The name is the origin of the URL, or the name of the data (world) that a local server has loaded. A platform
on loopback is never in production, and its ids mean nothing after another world is loaded there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from dpsync.model.urls import is_loopback

WORLD_HEADER: Final = "dpsync-world"
"""The header in which a companion names its world (docs/companion.md)."""
PROFILE_HEADER: Final = "dpsync-profile"
"""The header in which a server names the API version (profile) that it serves (docs/companion.md)."""
_WORLD: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")
_PROFILE: Final = re.compile(r"[A-Za-z0-9._-]{1,32}")
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
PLATFORM_NAME: Final = re.compile(r"https?://[^\s/?#@]+|world-[A-Za-z0-9._-]{1,64}")


def origin(url: str) -> str:
    """Return the scheme, host and port of a URL, without the scheme's default port; "" for an invalid URL."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    host = parts.hostname or ""
    host = f"[{host}]" if ":" in host else host
    try:
        port = parts.port
    except ValueError:  # an invalid port, which the transport refuses too
        port = None
    origin_text = f"{parts.scheme}://{host}"
    return origin_text if port in (None, _DEFAULT_PORTS.get(parts.scheme)) else f"{origin_text}:{port}"


def world_name(url: str, headers: Mapping[str, str]) -> str | None:
    """Return the name of a local test server's data set (world) from a response.

    None unless the URL is on this machine: no other server may choose how the ids file names it.
    """
    name = headers.get(WORLD_HEADER, "")
    return f"world-{name}" if is_loopback(url) and _WORLD.fullmatch(name) else None


def profile_of_response(status: int, headers: Mapping[str, str]) -> str | None:
    """Return the API version that a response names, known or not; None for a redirect.

    dpsync follows no redirect, so a redirect says nothing about the server that it leads to.
    """
    name = headers.get(PROFILE_HEADER, "")
    return name if status // 100 != 3 and _PROFILE.fullmatch(name) else None


def is_platform_name(text: str) -> bool:
    """Return whether a text can name a platform in the ids file: an origin, or the name of a world."""
    return PLATFORM_NAME.fullmatch(text) is not None
