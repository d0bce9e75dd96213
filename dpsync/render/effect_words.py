"""Say how navigations and URLs change.

The navigation of a site before and after, as one tree: + comes, - goes, ~ changes, > moves.

The words in which every output tells which public URLs change, and the redirect that would lead on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby

from msgspec import Struct, field

from dpsync.model.change import NavigationChange, NavigationNode
from dpsync.planner.sibling_order import longest_increasing

_FEW = 3
"""Siblings without a change that are each a line; more of them are counted."""


class NavigationLine(Struct, frozen=True):
    """A node of the merged tree: its sign, how deep it stands, and what is said of it."""

    sign: str
    depth: int
    text: str


def merged(change: NavigationChange) -> list[NavigationLine]:
    """Before and after as one tree, in the order of after; what goes stands where it was.

    What has no change in it is one line, and many of these in a row are counted. Not escaped for any medium.
    """
    return list(_Merging(_flat(change.before), _flat(change.after)).siblings(change.before, change.after, 0))


Known = Mapping[str, tuple[NavigationNode, str]]
"""By address a node and what it is in."""


def _flat(nodes: tuple[NavigationNode, ...], around: str = "") -> dict[str, tuple[NavigationNode, str]]:
    found = {node.address: (node, around) for node in nodes}
    for node in nodes:
        found |= _flat(node.inside, node.address)
    return found


class _Merging(Struct, frozen=True):
    before: Known
    after: Known
    moved: set[str] = field(default_factory=set)

    def siblings(
        self, before: tuple[NavigationNode, ...], after: tuple[NavigationNode, ...], depth: int
    ) -> Iterator[NavigationLine]:
        self._order(before, after)
        there = {node.address for node in after}
        rest = [node for node in before if node.address not in self.after]
        places = [node.address for node in before]
        listed: list[NavigationNode] = []
        for node in after:
            listed.append(node)
        for removed in rest:
            ahead = [address for address in places[: places.index(removed.address)] if address in there]
            at = 1 + max((index for index, node in enumerate(listed) if node.address in ahead), default=-1)
            while at < len(listed) and listed[at].address not in there:
                at += 1
            listed.insert(at, removed)
        for quiet, nodes in groupby(listed, key=self._same):
            some = list(nodes)
            if quiet and len(some) > _FEW:
                yield NavigationLine(" ", depth, f"… {len(some)} without a change")
                continue
            for node in some:
                yield from self._node(node, depth)

    def _order(self, before: tuple[NavigationNode, ...], after: tuple[NavigationNode, ...]) -> None:
        """Note which siblings stand elsewhere among those that stay."""
        place = {node.address: index for index, node in enumerate(before)}
        stay = [node.address for node in after if node.address in place]
        keep = set(longest_increasing([place[address] for address in stay]))
        self.moved.update(address for address in stay if place[address] not in keep)

    def _same(self, node: NavigationNode) -> bool:
        """Whether nothing changes about a node, where it stands, or in it."""
        was, will = self.before.get(node.address), self.after.get(node.address)
        return was == will and node.address not in self.moved

    def _node(self, node: NavigationNode, depth: int) -> Iterator[NavigationLine]:
        was, will = self.before.get(node.address), self.after.get(node.address)
        if was is None or will is None:
            also = f" (also in {', '.join(self._around(one) for one in node.also)})" if node.also else ""
            yield NavigationLine("+" if was is None else "-", depth, _said(node) + also)
        elif self._same(node):
            yield NavigationLine(" ", depth, _said(node))
            return
        else:
            yield self._changed(was, will, depth)
        yield from self.siblings(was[0].inside if was else (), will[0].inside if will else (), depth + 1)

    def _changed(
        self, was: tuple[NavigationNode, str], will: tuple[NavigationNode, str], depth: int
    ) -> NavigationLine:
        old, new = _said(was[0]), _said(will[0])
        sign, words = " ", [new]
        if old != new:
            sign = "~"
            words.append(f"(was {old})")
        if was[1] != will[1]:
            sign = ">"
            words.append("(moved here)")
        elif was[0].address in self.moved:
            sign = ">"
            words.append("(moved)")
        if will[0].also:
            sign = " "
            words.append("(stays here, too)")
        return NavigationLine(sign, depth, " ".join(words))

    def _around(self, address: str) -> str:
        """The title of what a node will be in; of one at the root its own."""
        node, around = self.after[address]
        return self.after[around][0].title if around else node.title


def _said(node: NavigationNode) -> str:
    about = [f"/{node.path}" if node.path and "://" not in node.path else node.path or "", *node.marks]
    behind = ", ".join(word for word in about if word)
    return f"{node.title} [{behind}]" if behind else node.title
