"""What is secret in an answer, and is in no world."""

from __future__ import annotations

import re
from typing import Any

HIDDEN = "hidden in a rehearsal"
"""Stands for what is secret and is read back."""
_KEYS = re.compile("key|token|secret|password|credential", re.IGNORECASE)
"""Members of settings whose texts are secret."""


def without_keys(settings: Any) -> Any:
    """Settings with another text in place of each that is secret, at any depth."""
    if isinstance(settings, list):
        return [without_keys(one) for one in settings]
    if not isinstance(settings, dict):
        return settings
    return {
        name: HIDDEN if _KEYS.search(name) and isinstance(value, str) else without_keys(value)
        for name, value in settings.items()
    }
