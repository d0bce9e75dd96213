"""Why a difference is there: the one vocabulary for what plans and drift say of it, in data and in words.

Three values are compared: what the git base said, what the files say here, and what is live. A cause is for
people: nothing that is done, or refused, depends on one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal

Cause = Literal[
    "edited here",
    "changed outside",
    "both",
    "same edit twice",
    "not applied yet",
    "reverted",
    "origin unknown",
]
"""edited here: live is what the base said, or the base said nothing of it. changed outside: the files are as
the base. both: all three differ. same edit twice: live is already what the files say and the base did not, so
nothing differs. not applied yet: the files are as the base, and live is what a commit before it said.
reverted: `dpsync revert` undoes the change of an apply. origin unknown: there is no base, or it cannot be
compared.
"""

Group = Literal["this change", "there already", "origin unknown"]
"""What the files change since the base; what would differ without them, too; what nobody can tell."""

What = Literal["field", "made", "removed", "place"]
"""What a cause is told of: a field, an entry that is not live, something live that no entry is, a place."""

TITLES: Final[dict[Group, str]] = {
    "this change": "What this change does",
    "there already": "Drift that was there already",
    "origin unknown": "Origin unknown",
}

_GROUPS: Final[dict[Cause, Group]] = {
    "edited here": "this change",
    "both": "this change",
    "same edit twice": "this change",
    "reverted": "this change",
    "changed outside": "there already",
    "not applied yet": "there already",
    "origin unknown": "origin unknown",
}
_WORDS: Final[dict[tuple[What, Cause], str]] = {
    ("made", "edited here"): "added here",
    ("made", "changed outside"): "deleted outside",
    ("removed", "edited here"): "removed here",
    ("removed", "changed outside"): "made outside",
    ("place", "edited here"): "moved here",
    ("place", "changed outside"): "moved outside",
}


def group(cause: Cause | None) -> Group:
    """Where a difference is told. What has no cause of its own follows from what this change does."""
    return _GROUPS[cause] if cause is not None else "this change"


def cause_text(cause: Cause, what: What) -> str:
    """The cause in words: of something made, removed or moved in words of its own."""
    return _WORDS.get((what, cause), cause)


def common_cause(causes: Iterable[Cause]) -> Cause | None:
    """The cause of several differences at once, None of none."""
    found = set(causes)
    if len(found) <= 1:
        return next(iter(found), None)
    if "origin unknown" in found:
        return "origin unknown"
    return "changed outside" if found == {"changed outside", "not applied yet"} else "both"
