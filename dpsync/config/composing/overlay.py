"""Merging an overlay over a configuration: what the overlay says wins, and keeps its own place.

The types of fields say how their values merge, so that an overlay can choose another variant of a value:
members of the variant below are left out. Trees of nodes merge by `key`; every other list is replaced.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from dpsync.kinds.kind import Entries, Kind
from dpsync.kinds.kind import Node as NodeShape
from dpsync.kinds.registry import Registry
from dpsync.kinds.types.parsing import merged, overlaid
from dpsync.model.findings.nodes import Mapping, Node, Scalar, Sequence


class Overlays(Struct, frozen=True):
    """The merging of whole files, by the kinds of a registry."""

    registry: Registry

    def over(self, below: Mapping, above: Mapping) -> Mapping:
        """Return the configuration in `below` with the overlay `above` over it."""
        return merged(below, above, self._top)

    def _top(self, name: str, below: Node, above: Node) -> Node:
        root = self.registry.root
        return self._place((root,), below, above) if name == root.key else overlaid(below, above)

    def _place(self, kinds: tuple[Kind, ...], below: Node, above: Node) -> Node:
        """Merge the entries of one place: a mapping of entries, a tree, or a single entry."""
        if isinstance(kinds[0].shape, NodeShape):
            return self._tree(kinds, below, above)
        if not (isinstance(below, Mapping) and isinstance(above, Mapping)):
            return above
        if isinstance(kinds[0].shape, Entries):
            # An e-mail is written in any case: the key of the overlay takes the case of the one below.
            written = {self.registry.folded(kinds[0], key.text): key.text for key, _ in below}
            entries = []
            for key, node in above:
                text = written.get(self.registry.folded(kinds[0], key.text), key.text)
                entries.append((replace(key, value=text, text=text), node))
            above = Mapping(tuple(entries), above.span)
            return merged(below, above, lambda _, old, new: self._entry(kinds[0], old, new))
        return self._entry(kinds[0], below, above)

    def _entry(self, kind: Kind, below: Node, above: Node) -> Node:
        if not (isinstance(below, Mapping) and isinstance(above, Mapping)):
            return above
        if kind.shorthand and kind.only_short:
            return kind.field(kind.shorthand).type.overlaid(below, above)
        return merged(below, above, lambda name, old, new: self._member(kind, name, old, new))

    def _member(self, kind: Kind, name: str, below: Node, above: Node) -> Node:
        """Merge one key of an entry: a field, or a place of other kinds."""
        if name in kind.written_fields:
            return kind.field(name).type.overlaid(below, above)
        places = self.registry.places(kind.name)
        if name in places:
            return self._place(places[name], below, above)
        inside = {place.removeprefix(f"{name}."): kinds for place, kinds in places.items()}
        if not (isinstance(below, Mapping) and isinstance(above, Mapping)) or inside.keys() <= places.keys():
            return overlaid(below, above)
        return merged(
            below,
            above,
            lambda word, old, new: (
                self._place(inside[word], old, new) if word in inside else overlaid(old, new)
            ),
        )

    def _tree(self, kinds: tuple[Kind, ...], below: Node, above: Node) -> Node:
        """Nodes with the same key merge and stay where they are; new ones come behind."""
        if not (isinstance(below, Sequence) and isinstance(above, Sequence)):
            return above
        nodes = list(below.items)
        positions = {key: n for n, node in reversed([*enumerate(nodes)]) if (key := _text(node, "key"))}
        for node in above.items:
            position = positions.get(_text(node, "key"))
            if position is None:
                nodes.append(node)
            else:
                nodes[position] = self._node(kinds, nodes[position], node)
        return Sequence(tuple(nodes), below.span)

    def _node(self, kinds: tuple[Kind, ...], below: Node, above: Node) -> Node:
        """Merge two nodes with one key. If their types differ, only members that both types have stay."""
        assert isinstance(below, Mapping)
        assert isinstance(above, Mapping)
        types = {kind.shape.type: kind for kind in kinds if isinstance(kind.shape, NodeShape)}
        chosen = _text(above, "type") or _text(below, "type")
        kind = types.get(chosen)
        if kind is None:
            return merged(below, above, lambda _, old, new: overlaid(old, new))
        if chosen != _text(below, "type"):
            known = {"key", *kind.written_fields, *self.registry.places(kind.name)}
            below = Mapping(below.only(known).entries, above.span)
        return merged(
            below,
            above,
            lambda name, old, new: (
                self._tree(kinds, old, new) if name == "children" else self._member(kind, name, old, new)
            ),
        )


def _text(node: Node, name: str) -> str:
    value = node.get(name) if isinstance(node, Mapping) else None
    return value.text if isinstance(value, Scalar) else ""
