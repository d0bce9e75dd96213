"""The name that an entry's object has for a moment while names are exchanged.

It follows from the entry's address: after an interruption it is known who bears it.
"""

from __future__ import annotations

import hashlib

PREFIX = "dpsync-"
"""What every such name begins with."""


def temporary(name: str) -> str:
    """A value nobody would choose, the same for the same name each time: 39 characters."""
    return f"{PREFIX}{hashlib.sha256(name.encode()).hexdigest()[:32]}"
