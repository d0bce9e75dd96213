"""Merge an overlay into a configuration: values of the overlay win, and keep their source position.

The type of a field decides how two values merge. If the overlay selects another variant of a value, members
of the previous variant are dropped. Trees of nodes merge by `key`; every other list is replaced.

In this module `below` is the configuration and `above` is the overlay.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from dpsync.kinds.kind import Entries, Kind
from dpsync.kinds.kind import Node as NodeShape
from dpsync.kinds.registry import Registry
from dpsync.kinds.short_forms import with_fields
from dpsync.kinds.types.base import merge_mappings, merge_values
from dpsync.model.nodes import Mapping, Node, Scalar, Sequence


class Overlays(Struct, frozen=True):
    """Merges overlays into configuration files, with the kinds of a registry."""

    registry: Registry

    def merge(self, below: Mapping, above: Mapping) -> Mapping:
        """Return the configuration `below` merged with the overlay `above`."""
        return merge_mappings(below, above, self._merge_top_key)

    def _merge_top_key(self, name: str, below: Node, above: Node) -> Node:
        root = self.registry.root
        return self._merge_place((root,), below, above) if name == root.key else merge_values(below, above)

    def _merge_place(self, kinds: tuple[Kind, ...], below: Node, above: Node) -> Node:
        """Merge the value of one key that contains entries: a mapping, a tree, or a single entry."""
        if isinstance(kinds[0].shape, NodeShape):
            return self._merge_tree(kinds, below, above)
        if not (isinstance(below, Mapping) and isinstance(above, Mapping)):
            return above
        if isinstance(kinds[0].shape, Entries):
            # E-mail keys are case-insensitive: use the spelling in the configuration for overlay keys.
            written = {self.registry.folded(kinds[0], key.text): key.text for key, _ in below}
            entries = []
            for key, node in above:
                text = written.get(self.registry.folded(kinds[0], key.text), key.text)
                entries.append((replace(key, value=text, text=text), node))
            above = Mapping(tuple(entries), above.span)
            return merge_mappings(below, above, lambda _, old, new: self._merge_entry(kinds[0], old, new))
        return self._merge_entry(kinds[0], below, above)

    def _merge_entry(self, kind: Kind, below: Node, above: Node) -> Node:
        if not (isinstance(below, Mapping) and isinstance(above, Mapping)):
            return above
        if kind.shorthand and kind.only_short:
            return kind.field(kind.shorthand).type.merge_overlay(below, above)
        below, above = with_fields(kind, below), with_fields(kind, above)
        return merge_mappings(below, above, lambda name, old, new: self._merge_member(kind, name, old, new))

    def _merge_member(self, kind: Kind, name: str, below: Node, above: Node) -> Node:
        """Merge one key of an entry: a field, or a key that contains other entries."""
        if name in kind.written_fields:
            return kind.field(name).type.merge_overlay(below, above)
        places = self.registry.places(kind.name)
        if name in places:
            return self._merge_place(places[name], below, above)
        inside = {place.removeprefix(f"{name}."): kinds for place, kinds in places.items()}
        if not (isinstance(below, Mapping) and isinstance(above, Mapping)) or inside.keys() <= places.keys():
            return merge_values(below, above)
        return merge_mappings(
            below,
            above,
            lambda word, old, new: (
                self._merge_place(inside[word], old, new) if word in inside else merge_values(old, new)
            ),
        )

    def _merge_tree(self, kinds: tuple[Kind, ...], below: Node, above: Node) -> Node:
        """Merge two trees: nodes with the same key are merged in place; new nodes are appended."""
        if not (isinstance(below, Sequence) and isinstance(above, Sequence)):
            return above
        nodes = list(below.items)
        positions = {key: n for n, node in reversed([*enumerate(nodes)]) if (key := _text(node, "key"))}
        for node in above.items:
            position = positions.get(_text(node, "key"))
            if position is None:
                nodes.append(node)
            else:
                nodes[position] = self._merge_node(kinds, nodes[position], node)
        return Sequence(tuple(nodes), below.span)

    def _merge_node(self, kinds: tuple[Kind, ...], below: Node, above: Node) -> Node:
        """Merge two nodes with the same key. If the types differ, drop members that the new type lacks."""
        assert isinstance(below, Mapping)
        assert isinstance(above, Mapping)
        types = {kind.shape.type: kind for kind in kinds if isinstance(kind.shape, NodeShape)}
        chosen = _text(above, "type") or _text(below, "type")
        kind = types.get(chosen)
        if kind is None:
            return merge_mappings(below, above, lambda _, old, new: merge_values(old, new))
        if chosen != _text(below, "type"):
            known = {"key", *kind.written_fields, *self.registry.places(kind.name)}
            below = Mapping(below.with_keys(known).entries, above.span)
        return merge_mappings(
            below,
            above,
            lambda name, old, new: (
                self._merge_tree(kinds, old, new)
                if name == "children"
                else self._merge_member(kind, name, old, new)
            ),
        )


def _text(node: Node, name: str) -> str:
    value = node.get(name) if isinstance(node, Mapping) else None
    return value.text if isinstance(value, Scalar) else ""
