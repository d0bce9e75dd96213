"""What is on this machine: nobody's production, on another port each time."""

from __future__ import annotations

from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

COMPANION_TOKENS: Final = frozenset(
    f"{name}-token"
    for name in (
        "ada", "grace", "lin", "rui", "eve", "cam", "kim", "gus", "oli", "hank", "homer", "lenny", "carl",
    )
)  # fmt: skip
"""The documented tokens of the companion's built-in world (docs/companion.md): they are no secrets."""


def is_loopback(url: str) -> bool:
    """Whether an address is on this machine."""
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
    mapped = getattr(address, "ipv4_mapped", None) or address
    return bool(mapped.is_loopback or mapped.is_unspecified)
