"""The label of a difference: who changed a value, as far as git knows. For plans and drift.

Labels are for people: nothing that dpsync does or refuses depends on a label.
"""

from __future__ import annotations

from typing import Final, Literal

Cause = Literal["edited here", "changed outside", "both", "reverted"]
"""edited here: the commit compared with has another value than the files. changed outside: the files have the
value that was applied last, and no commit since then has the live value. both: the files changed the value,
and the live value is from outside. reverted: `dpsync revert` undoes the change of an apply.

A difference without a label has None: git does not know who changed the value.
"""

What = Literal["field", "made", "removed", "place"]
"""What has the label: a field, an entry that is not live, a live object without an entry, or a position."""

_WORDS: Final[dict[tuple[What, Cause], str]] = {
    ("made", "edited here"): "added here",
    ("made", "changed outside"): "deleted outside",
    ("removed", "edited here"): "removed here",
    ("removed", "changed outside"): "made outside",
    ("place", "edited here"): "moved here",
    ("place", "changed outside"): "moved outside",
}


def cause_text(cause: Cause, what: What) -> str:
    """Return the label in words, which name the action on a whole object or position."""
    return _WORDS.get((what, cause), cause)
