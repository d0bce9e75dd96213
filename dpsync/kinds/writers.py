"""By which flag an organization says that a token may write the things of a kind: `dpsync doctor` tells it.

An organization in an answer has `permissions`: what the caller may do in it. In a single site, space or
collection somebody may have a role that allows more or less. A plan concludes nothing from a flag.
"""

from __future__ import annotations

from typing import Final

from dpsync.kinds.kind import Kind

_CONTENT: Final = "createContent"
_FLAGS: Final = {
    "organization": "admin",
    "agent_instructions": "admin",
    "member": "admin",
    "saml": "admin",
    "team": "admin",
    "collection": _CONTENT,
    "site": _CONTENT,
    "space": _CONTENT,
    "openapi": "createOpenAPISpec",
    "installation": "installIntegration",
}


def writing_flag(kind: Kind) -> str | None:
    """The member of an organization's `permissions`; None where none of them says it."""
    return _FLAGS.get(kind.name)
