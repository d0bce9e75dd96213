"""Mistakes in the companion, and in the world that a rehearsal loads into it.

These modules import dpsync inside of functions only: they are loaded before dpsync is (breaking.py).
"""

from __future__ import annotations

from typing import Any


def never_commit(original: Any, self: Any) -> None:
    """Answer before the change is in the file."""


async def call_itself(original: Any, *_: Any) -> None:
    """Allow a connection to the companion itself."""


def keep_private_keys(original: Any, draft: Any, body: Any, organization: str, site: str) -> None:
    """Load the private key of a site into the world of a rehearsal."""
    original(draft, body, organization, site)
    draft.site(organization, site)["visitorAuth"]["privateKey"] = body.get("privateKey")


def any_name_is_local(_original: Any, _host: str) -> str:
    """Accept every name in the Host header."""
    return "127.0.0.1"
