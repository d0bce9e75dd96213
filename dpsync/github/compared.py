"""The plan of now beside the one that was reviewed, of which only a marker is left: pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from dpsync.github.marker import PlanMarker, address_digest, change_digests
from dpsync.model.change import Change
from dpsync.model.plan import Plan
from dpsync.model.words import counted
from dpsync.render.markdown_text import code
from dpsync.render.view import clip

_NAMED: Final = 10


@dataclass(frozen=True)
class Compared:
    """`same` changes were reviewed as they are; `other` ones were reviewed with another content.

    `dropped` counts those that were reviewed and are not needed any more. `reviewed` is how many there were;
    where that is not known it is None, and all are `new`.
    """

    reviewed: int | None
    same: int
    dropped: int
    other: tuple[Change, ...]
    new: tuple[Change, ...]

    @property
    def unreviewed(self) -> bool:
        """Whether something would be done that nobody has reviewed."""
        return bool(self.other or self.new)

    def __str__(self) -> str:
        """In one sentence, without an end."""
        return "; ".join(f"{said}{_in_brackets(changes)}" for said, changes in self._said())

    def markdown(self) -> str:
        """As a list."""
        return "\n".join(f"- {said}{_in_code(changes)}" for said, changes in self._said())

    def _said(self) -> Iterator[tuple[str, tuple[Change, ...]]]:
        if self.reviewed is not None:
            of = counted(self.reviewed, "reviewed change")
            yield f"{self.same} of {of} {_are(self.same)} still the same", ()
        if self.dropped:
            yield f"{self.dropped} {_are(self.dropped)} not needed any more", ()
        if self.other:
            were = "was" if len(self.other) == 1 else "were"
            yield f"{len(self.other)} {were} reviewed with another content", self.other
        if self.new:
            yield f"{len(self.new)} {_are(len(self.new))} new", self.new


def compare(reviewed: PlanMarker | None, plan: Plan) -> Compared:
    """What became of the changes that were reviewed."""
    now, before = change_digests(plan), reviewed.known if reviewed is not None else None
    others = [change for digest, change in now.items() if before is None or digest not in before]
    if before is None:
        return Compared(None, 0, 0, (), tuple(others))
    left = {address for digest, address in before.items() if digest not in now}
    other = tuple(change for change in others if address_digest(change) in left)
    same = len(now) - len(others)
    return Compared(
        reviewed=len(before),
        same=same,
        dropped=len(before) - same - len(other),
        other=other,
        new=tuple(change for change in others if address_digest(change) not in left),
    )


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _in_brackets(changes: tuple[Change, ...]) -> str:
    return f" ({_names(changes, str)})" if changes else ""


def _in_code(changes: tuple[Change, ...]) -> str:
    return f": {_names(changes, code)}" if changes else ""


def _names(changes: tuple[Change, ...], quoted: Callable[[str], str]) -> str:
    names = ", ".join(quoted(clip(change.address, 100)) for change in changes[:_NAMED])
    return f"{names} and {len(changes) - _NAMED} more" if len(changes) > _NAMED else names
