"""A tree of things as it is now, and as it will be: what is told of URLs and navigations is read from it.

What the platform will choose by itself is `UNKNOWN`: nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from dpsync.kinds.kind import Kind
from dpsync.model.address import Address
from dpsync.model.snapshot import Identity


class _Unknown:
    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Final = _Unknown()
"""In the place of a value: nobody can tell before."""


class Branch(Struct, frozen=True):
    """One thing of a tree with its fields, and what is in it, in order."""

    address: Address
    kind: Kind
    fields: Mapping[str, Any]
    inside: tuple[Branch, ...] = ()
    url: str | None = None
    """As the platform says it now; None for what is not live."""
    identity: Identity | None = None
    """What it is live; None for what is not."""

    def walk(self, above: tuple[Branch, ...] = ()) -> Iterator[tuple[Branch, tuple[Branch, ...]]]:
        """Itself and everything below it, each with what it is in, from the outermost inward."""
        yield self, above
        for one in self.inside:
            yield from one.walk((*above, self))


class NavigationTree(Struct, frozen=True):
    """A navigation before and after; None where there is none. `certain` is false where nobody can tell."""

    owner: Address
    before: Branch | None
    after: Branch | None
    read: bool
    """Whether what is in it is known."""
    touched: bool
    """Whether something changes that is in it, or that it shows; else only something around it does."""
    certain: bool

    @property
    def kind(self) -> Kind:
        """The kind of the tree's owner."""
        branch = self.after or self.before
        assert branch is not None
        return branch.kind

    def everything(self) -> Iterator[tuple[Branch, tuple[Branch, ...]]]:
        """Everything that is in it now, then everything that will be, each with what it is in."""
        for branch in (self.before, self.after):
            if branch is not None:
                yield from branch.walk()
