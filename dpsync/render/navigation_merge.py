"""Describe how an apply changes the navigation of a site.

`merge_navigation` makes one tree of a navigation before and after (`+` added, `-` removed, `~` changed, `>`
moved).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby

from msgspec import Struct, field

from dpsync.model.change import NavigationChange, NavigationNode
from dpsync.planner.sibling_order import longest_increasing

_MAX_UNCHANGED_SIBLINGS = 3
"""The largest number of unchanged siblings in a row with a line each. More siblings are counted."""


class NavigationLine(Struct, frozen=True):
    """A node of the merged tree: sign, depth (0 for the top level), and text."""

    sign: str
    depth: int
    text: str


def merge_navigation(change: NavigationChange) -> list[NavigationLine]:
    """Return the navigation of a site before and after a change as one tree, in the order after the change.

    A removed node keeps its position. A subtree without changes is one line, and more than three such lines
    in a row become a count. The texts are not escaped for any format.
    """
    return list(
        _NavigationMerge(_by_address(change.before), _by_address(change.after)).sibling_lines(
            change.before, change.after, 0
        )
    )


NodesByAddress = Mapping[str, tuple[NavigationNode, str]]
"""A node and the address of its parent ("" at the root), by the address of the node."""


def _by_address(nodes: tuple[NavigationNode, ...], parent: str = "") -> dict[str, tuple[NavigationNode, str]]:
    """Return all nodes of a tree by address, each with the address of its parent ("" at the root)."""
    nodes_by_address = {node.address: (node, parent) for node in nodes}
    for node in nodes:
        nodes_by_address |= _by_address(node.inside, node.address)
    return nodes_by_address


class _NavigationMerge(Struct, frozen=True):
    """Merge a navigation before and after a change into one tree of lines.

    `before` and `after` hold all nodes by address. `moved` collects the nodes that change their position
    among their siblings.
    """

    before: NodesByAddress
    after: NodesByAddress
    moved: set[str] = field(default_factory=set)

    def sibling_lines(
        self, before: tuple[NavigationNode, ...], after: tuple[NavigationNode, ...], depth: int
    ) -> Iterator[NavigationLine]:
        """Yield the lines of siblings at one depth, each followed by the lines of its children.

        Moves are the fewest that make the new order, as in a plan. A removed node comes behind the nodes
        that preceded it.
        """
        positions_before = {node.address: index for index, node in enumerate(before)}
        remaining = [node.address for node in after if node.address in positions_before]
        in_order = set(longest_increasing([positions_before[address] for address in remaining]))
        self.moved.update(address for address in remaining if positions_before[address] not in in_order)
        removed_nodes = [node for node in before if node.address not in self.after]
        addresses_before = [node.address for node in before]
        addresses_after = {node.address for node in after}
        listed = list(after)
        for removed in removed_nodes:
            predecessors = [
                address
                for address in addresses_before[: addresses_before.index(removed.address)]
                if address in addresses_after
            ]
            position = 1 + max(
                (index for index, node in enumerate(listed) if node.address in predecessors), default=-1
            )
            while position < len(listed) and listed[position].address not in addresses_after:
                position += 1
            listed.insert(position, removed)
        for unchanged, nodes in groupby(listed, key=self._is_unchanged):
            group = list(nodes)
            if unchanged and len(group) > _MAX_UNCHANGED_SIBLINGS:
                yield NavigationLine(" ", depth, f"… {len(group)} without a change")
                continue
            for node in group:
                yield from self._node_lines(node, depth)

    def _is_unchanged(self, node: NavigationNode) -> bool:
        """Return whether a node with everything inside, its parent and its position are unchanged."""
        before, after = self.before.get(node.address), self.after.get(node.address)
        return before == after and node.address not in self.moved

    def _node_lines(self, node: NavigationNode, depth: int) -> Iterator[NavigationLine]:
        """Yield the line of a node (added, removed, changed or unchanged), then the lines of its children."""
        before, after = self.before.get(node.address), self.after.get(node.address)
        if before is None or after is None:
            titles = []
            for address in node.also:  # the other positions of the same object
                other, parent = self.after[address]
                titles.append(self.after[parent][0].title if parent else other.title)
            others = f" (also in {', '.join(titles)})" if titles else ""
            yield NavigationLine("+" if before is None else "-", depth, _node_text(node) + others)
        elif self._is_unchanged(node):
            yield NavigationLine(" ", depth, _node_text(node))
            return
        else:
            yield self._changed_line(before, after, depth)
        yield from self.sibling_lines(
            before[0].inside if before else (), after[0].inside if after else (), depth + 1
        )

    def _changed_line(
        self, before: tuple[NavigationNode, str], after: tuple[NavigationNode, str], depth: int
    ) -> NavigationLine:
        """Return the line of a node whose text or position changes, such as `> News (was Blog) (moved here)`.

        `before` and `after` are the node with the address of its parent.
        """
        (old_node, old_parent), (new_node, new_parent) = before, after
        old_text, new_text = _node_text(old_node), _node_text(new_node)
        sign, words = " ", [new_text]
        if old_text != new_text:
            sign = "~"
            words.append(f"(was {old_text})")
        if old_parent != new_parent:
            sign = ">"
            words.append("(moved here)")
        elif old_node.address in self.moved:
            sign = ">"
            words.append("(moved)")
        if new_node.also:
            sign = " "
            words.append("(stays here, too)")
        return NavigationLine(sign, depth, " ".join(words))


def _node_text(node: NavigationNode) -> str:
    """Return the title of a node with its path and marks in brackets, such as `News [/news, hidden]`."""
    marks = [f"/{node.path}" if node.path and "://" not in node.path else node.path or "", *node.marks]
    details = ", ".join(word for word in marks if word)
    return f"{node.title} [{details}]" if details else node.title
