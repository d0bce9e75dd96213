"""How many things deletes take away: one number leads wherever that is told, the rest explains it."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from dpsync.model.plans.change import Change
from dpsync.model.texts.words import counted


class DeleteCount(Struct, frozen=True):
    """`own` things have a delete of their own, `cascaded` others go with one of these."""

    own: int
    cascaded: int

    @property
    def number(self) -> int:
        """The number that leads everywhere, and that `--confirm "delete N"` wants."""
        return self.own + self.cascaded

    @property
    def more(self) -> str:
        """Of one delete, what goes with it: `deleting this object also deletes 2 other objects`, or ""."""
        others = counted(self.cascaded, "other object")
        return f"deleting this object also deletes {others}" if self.cascaded else ""


def count_deletes(changes: Iterable[Change]) -> DeleteCount:
    """What the deletes among these changes take away."""
    deletes = [change for change in changes if change.action == "delete"]
    return DeleteCount(len(deletes), sum(effect.counts for change in deletes for effect in change.effects))
