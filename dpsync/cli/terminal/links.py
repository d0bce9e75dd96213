"""Places in files as links (OSC 8), for a terminal that is known to have them: never in a pipe, never in CI.

A link is made of a text that has been made visible already, and leads to a file of the project that is there.
So no text of the platform can become a link to anything else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Final, TextIO

_PLACE: Final = re.compile(
    r"""(?<![^\s(])(?P<file>[^\s:"'`()\x1b]+):(?P<line>[0-9]{1,7})(:[0-9]{1,7})?(?![^\s),;.])"""
)
_STYLE: Final = re.compile(r"(\x1b\[[0-9;]*m)")
_PROGRAMS: Final = frozenset({"iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "Tabby", "rio", "zed"})
_TERMS: Final = ("xterm-kitty", "xterm-ghostty", "alacritty", "foot", "wezterm", "contour")
_VARIABLES: Final = ("WT_SESSION", "KONSOLE_VERSION", "DOMTERM", "KITTY_WINDOW_ID")
_FIRST_VTE: Final = 5000
"""The first release of VTE (GNOME's terminal and many others) whose links do no harm, as it writes them."""


def wants_links(stream: TextIO, env: Mapping[str, str]) -> bool:
    """Whether a stream is a terminal that shows links; FORCE_HYPERLINK says it of one that is not known."""
    if not stream.isatty() or env.get("CI") or env.get("NO_COLOR") or env.get("TERM") == "dumb":
        return False
    if forced := env.get("FORCE_HYPERLINK"):
        return forced != "0"
    term = env.get("TERM", "")
    if term.startswith(("screen", "tmux", "linux")):
        return False
    vte = env.get("VTE_VERSION", "")
    return (
        env.get("TERM_PROGRAM") in _PROGRAMS
        or term.startswith(_TERMS)
        or any(env.get(name) for name in _VARIABLES)
        or (vte.isdecimal() and int(vte) >= _FIRST_VTE)
    )


def with_links(text: str, folder: Path) -> str:
    """A text in which each `file:line` of a file below a folder is a link to that line."""
    parts = _STYLE.split(text)
    parts[::2] = [_PLACE.sub(lambda found: _linked(found, folder), part) for part in parts[::2]]
    return "".join(parts)


def _linked(found: re.Match[str], folder: Path) -> str:
    address = _address(folder, found["file"])
    return f"\x1b]8;;{address}#{found['line']}\x1b\\{found[0]}\x1b]8;;\x1b\\" if address else found[0]


@lru_cache(1024)
def _address(folder: Path, name: str) -> str:
    """The URL of a file of the project; "" for what is none."""
    if Path(name).is_absolute() or ".." in Path(name).parts:
        return ""
    try:
        file = (folder / name).resolve()
        known = file.is_file()
    except (OSError, ValueError):
        return ""
    if not known:
        return ""
    import platform  # the host is said so that a session on another machine opens no file of this one

    return file.as_uri().replace("file://", f"file://{platform.node()}", 1)
