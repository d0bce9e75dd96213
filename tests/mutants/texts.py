"""Mistakes in texts: secrets, names of people, hidden characters, printed commands.

These modules import dpsync inside of functions only: they are loaded before dpsync is (breaking.py).
"""

from __future__ import annotations

from typing import Any


def send_shell_token(original: Any, chosen: Any) -> Any:
    """Send DPSYNC_TOKEN to the address of an environment that names no token."""
    from msgspec.structs import replace

    return original(replace(chosen, token=chosen.token or "DPSYNC_TOKEN"))


def mask_no_base64(_original: Any, _value: bytes) -> tuple[()]:
    """Mask no secret in base64."""
    return ()


def print_unescaped(_original: Any, text: str) -> str:
    """Print a text without escapes."""
    return text


def save_unanonymized(_original: Any, _self: Any, text: str, _is_code: bool = False) -> str:
    """Save a text of an anonymous world without replacing names."""
    return text


def save_free_settings(_original: Any, _path: Any) -> bool:
    """Save the settings of an installation in a world."""
    return False


def print_no_flags(_original: Any, _self: Any, _words: list[str]) -> list[str]:
    """Print commands without the flags of this run."""
    return []
