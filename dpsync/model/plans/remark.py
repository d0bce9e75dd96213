"""What a plan tells that is no change and no question: what it cannot do, leaves alone or does not see."""

from __future__ import annotations

from typing import Literal

from dpsync.model.frozen import Frozen
from dpsync.model.plans.addressed import Addressed


class Blocked(Addressed):
    """Wanted, but not to be done by this tool: the reason, and what a person must do."""

    reason: str
    todo: str = ""
    because: str | None = None
    place: str | None = None
    """Of what cannot be moved: where the files put it among its siblings."""


class Waiting(Frozen):
    """Work that the platform does by itself."""

    address: str
    what: str
    field: str | None = None
    """The declared field whose value the platform is processing."""


class PlatformTrouble(Frozen):
    """An error that the platform reports for a declared object."""

    address: str
    what: str
    field: str | None = None
    """The declared field whose last value the platform could not process."""


class Kept(Frozen):
    """Live things in a declared place that nobody declares and nothing prunes."""

    place: str
    addresses: tuple[str, ...]


class Unwatched(Frozen):
    """What no entry names, so that drift does not see it move: places, and fields of `things` entries."""

    places: int = 0
    fields: int = 0
    things: int = 0


class Note(Addressed):
    """Something worth knowing that changes nothing.

    `address` is what it is about: an address, or a pattern of the policy or an answer as it was written.
    """

    text: str
    severity: Literal["note", "warning"] = "note"
    permanent: bool = False
    """Every plan says it again, and nobody could do anything about it: it is counted for people."""
    detail: bool = False
    """Nobody has to act on it: a terminal prints it only with -v."""
    consequence: bool = False
    """It tells what the changes bring with them: whoever agrees to them agrees to it, too."""
