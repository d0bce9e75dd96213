"""The plan of now beside what was reviewed, of which only digests are left: pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Final

from msgspec import Struct

from dpsync.github.messages.digests import Shown, address_digest, exposures_shown, shown_of
from dpsync.model.plan import Plan
from dpsync.model.text import are, counted, some
from dpsync.render.markdown import code
from dpsync.render.view import clip

_NAMED: Final = 10


class ReviewComparison(Struct, frozen=True):
    """`same` changes were reviewed as they are; `other` ones were reviewed with another content.

    `dropped` counts those that were reviewed and are not needed any more. `reviewed` is how many there were;
    where that is not known it is None, and all are `new`. `exposed` becomes more visible or more powerful
    than was shown, by changes that were reviewed one by one, for instance. All are addresses.
    """

    reviewed: int | None
    same: int
    dropped: int
    other: tuple[str, ...]
    new: tuple[str, ...]
    exposed: tuple[str, ...] = ()

    @property
    def unreviewed(self) -> bool:
        """Whether something would be done that nobody has reviewed."""
        return bool(self.other or self.new or self.exposed)

    def __str__(self) -> str:
        """In one sentence, without an end."""
        return ", ".join(f"{said}{_in_brackets(addresses)}" for said, addresses in self._said())

    def markdown(self) -> str:
        """As a list."""
        return "\n".join(f"- {said}{_in_code(addresses)}" for said, addresses in self._said())

    def _said(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        if self.reviewed is not None:
            of = counted(self.reviewed, "reviewed change")
            yield f"{self.same} of {of} {are(self.same)} unchanged", ()
        if self.dropped:
            yield f"{counted(self.dropped, 'reviewed change')} {are(self.dropped)} no longer needed", ()
        if self.other:
            were = "was" if len(self.other) == 1 else "were"
            yield f"{counted(len(self.other), 'change')} {were} reviewed with other values", self.other
        if self.new:
            yield f"{counted(len(self.new), 'change')} {are(len(self.new))} new", self.new
        if self.exposed:
            yield "the new plan gives more access than the reviewed plan showed", self.exposed


def compare(reviewed: Collection[Shown] | None, plan: Plan) -> ReviewComparison:
    """What became of what was reviewed; None: nothing was."""
    addresses = tuple(change.address for change in plan.changes)
    if reviewed is None:
        return ReviewComparison(None, 0, 0, (), addresses)
    known = frozenset(reviewed)
    before = {one.address for one in known if not one.exposes}
    others = [change for change in plan.changes if not known.issuperset(shown_of(change, plan))]
    other = tuple(one.address for one in others if address_digest(one.address) in before)
    same = len(addresses) - len(others)
    return ReviewComparison(
        reviewed=len(before),
        same=same,
        dropped=len(before - {address_digest(address) for address in addresses}),
        other=other,
        new=tuple(one.address for one in others if address_digest(one.address) not in before),
        exposed=tuple(dict.fromkeys(at for at, one in exposures_shown(plan) if one not in known)),
    )


def _in_brackets(addresses: tuple[str, ...]) -> str:
    return f" ({_names(addresses, str)})" if addresses else ""


def _in_code(addresses: tuple[str, ...]) -> str:
    return f": {_names(addresses, code)}" if addresses else ""


def _names(addresses: tuple[str, ...], quoted: Callable[[str], str]) -> str:
    return some([quoted(clip(address, 100)) for address in addresses], _NAMED)
