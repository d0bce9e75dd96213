"""A world as a file: what was read of a platform, to be served again, sent along with a bug, or tested with.

It is what a rehearsal loads, without anything secret. Free settings of integrations are in a rehearsal as
they were read; here each text and number of them is another one. So is each value that looks like a key,
wherever it stands, and each secret that dpsync knows. The companion that serves it has tokens of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from dpsync.kinds.shared.integrations import PARTS
from dpsync.rehearse.anonymous import Anonymous
from dpsync.rehearse.answers.draft import Json
from dpsync.rehearse.answers.secrets import HIDDEN
from dpsync.rehearse.world import World

FORMAT: Final = "dpsync.world/1"
_PLAIN: Final = frozenset(name for name, part in PARTS.items() if not getattr(part, "secret", False))
"""What of the settings of a connection is declared, and no secret."""
_IN_QUERY: Final = re.compile(
    r"([?&;#][^=&#\s]*(?:key|token|secret|sig|auth|password|pwd|credential|code|session)[^=&#\s]*=)[^&#\s\"'<>]+",
    re.IGNORECASE,
)
_IN_FRONT: Final = re.compile(r"(\b[a-z][a-z0-9+.-]*://)[^/?#\s@\"'<>]+@", re.IGNORECASE)
_SHAPES: Final = re.compile(
    r"eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"  # a JSON web token
    r"|\b(?=[\w-]*\d)(?:ghp|gho|ghu|ghs|ghr|glpat|sk|pk|rk|xox[abposr]|gb_api|npm|pat|shpat|hf)[-_][A-Za-z0-9_-]{16,}"
    r"|\bgithub_pat_\w{20,}|\bAKIA[0-9A-Z]{16}\b|\bAIza[\w-]{30,}"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)"
)
_OPAQUE: Final = re.compile(r"(?<=/)(?=[^/?#]*\d)(?=[^/?#]*[A-Za-z])[\w.~-]{16,}(?=[/?#]|$)")
"""A segment of a path that may be a key: addresses of MCP servers have such."""


class SavedFrom(Struct, frozen=True):
    """Where a world was read. `read_at` is in UTC, to the second: `2026-01-31T09:30:00Z`."""

    platform: str
    read_at: str
    profile: str
    not_read: tuple[str, ...] = ()
    """The paths that were asked for and are not in the world: refused, or of a form that no world has."""


def world_file(
    world: World, origin: SavedFrom, mask: Callable[[str], str], *, anonymous: bool = False
) -> Json:
    """What is written into the file. `mask` takes the secrets that dpsync knows out of a text."""
    caller = next(iter(world.data["tokens"].values()))
    data = {name: value for name, value in world.data.items() if name != "tokens"}
    plain = without_secrets(data, mask)
    if anonymous:
        people = Anonymous(plain, caller)
        plain, caller = people.world(), people.caller
        origin = replace(origin, platform=people.platform(origin.platform))
    read: Json = {
        "platform": origin.platform,
        "readAt": origin.read_at,
        "profile": origin.profile,
        "anonymous": anonymous,
        "caller": caller,
        "notRead": [] if anonymous else sorted({_printable(mask(path)) for path in origin.not_read}),
    }
    return {"format": FORMAT, "origin": read, **plain}


def without_secrets(data: Any, mask: Callable[[str], str]) -> Any:
    """The same data with another text in place of each that is or may be secret."""
    return _Hiding(mask).value(data, ())


class _Hiding(Struct, frozen=True):
    mask: Callable[[str], str]

    def value(self, given: Any, path: tuple[str, ...]) -> Any:
        """`path`: the members that lead here."""
        if isinstance(given, dict):
            return {self.text(name, ()): self.value(one, (*path, name)) for name, one in given.items()}
        if isinstance(given, list):
            return [self.value(one, path) for one in given]
        if _is_free(path):
            return _replaced(given)
        return self.text(given, path) if isinstance(given, str) else given

    def text(self, given: str, path: tuple[str, ...]) -> str:
        found = self.mask(given)
        found = _SHAPES.sub(HIDDEN, _IN_QUERY.sub(rf"\1{_IN_URL}", _IN_FRONT.sub(r"\1", found)))
        return _OPAQUE.sub(_IN_URL, found) if "mcpServers" in path else found


_IN_URL: Final = "hidden"


def _is_free(path: Iterable[str]) -> bool:
    """Whether it is in the settings of an installation or of a connection, and in none of a declaration."""
    if "setupSettings" in path and "contextConnections" in path:
        return not _PLAIN.intersection(path)
    return "installations" in path and "configuration" in path


def _replaced(given: Any) -> Any:
    """What stands for a value of free-form settings. What can only be yes, no or nothing stays."""
    if isinstance(given, str):
        return HIDDEN if given else ""
    return 0 if isinstance(given, int | float) and not isinstance(given, bool) else given


def _printable(path: str) -> str:
    """A path as the companion takes one: visible ASCII, not too long."""
    return re.sub(r"[^!-~]", "?", path)[:500]
