"""What names a platform where ids are kept: its origin, or the world that a companion on this machine serves.

What is on loopback is nobody's production, and its ids mean nothing as soon as another world is loaded there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from dpsync.model.urls import is_loopback

WORLD_HEADER: Final = "dpsync-world"
"""What a companion names its world in (docs/companion.md)."""
PROFILE_HEADER: Final = "dpsync-profile"
"""The header in which a server names the API edition that it serves (docs/companion.md)."""
_WORLD: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")
_PROFILE: Final = re.compile(r"[A-Za-z0-9._-]{1,32}")
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
NAMES: Final = re.compile(r"https?://[^\s/?#@]+|world-[A-Za-z0-9._-]{1,64}")


def origin(url: str) -> str:
    """Scheme, host and port of an address; without the port where it is that of the scheme.

    Of what is no address it is "".
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    host = parts.hostname or ""
    host = f"[{host}]" if ":" in host else host
    try:
        port = parts.port
    except ValueError:  # the transport refuses it, too
        port = None
    named = f"{parts.scheme}://{host}"
    return named if port in (None, _DEFAULT_PORTS.get(parts.scheme)) else f"{named}:{port}"


def world(url: str, headers: Mapping[str, str]) -> str | None:
    """The name of the world that an answer comes from; None unless it comes from this machine and says so."""
    name = headers.get(WORLD_HEADER, "")
    return f"world-{name}" if is_loopback(url) and _WORLD.fullmatch(name) else None


def profile(status: int, headers: Mapping[str, str]) -> str | None:
    """Return the API edition that an answer names, known or not; None for a redirect.

    dpsync follows no redirect, so a redirect says nothing about the server that it leads to.
    """
    name = headers.get(PROFILE_HEADER, "")
    return name if status // 100 != 3 and _PROFILE.fullmatch(name) else None


def is_name(text: str) -> bool:
    """Whether a text can be what `origin` or `world` gives."""
    return NAMES.fullmatch(text) is not None
