"""Leave out the wrapper nodes that the platform creates around nodes at the root of a tree.

On some sites every space is in a section. If the files declare no section, the platform creates one and names
it after the site. Files without sections describe the content of that section, so dpsync reads the tree
without the section.
"""

from __future__ import annotations

from copy import deepcopy

from msgspec.structs import replace

from dpsync.kinds.kind import Kind
from dpsync.kinds.kind import Node as NodeShape
from dpsync.kinds.registry import Registry
from dpsync.model.snapshot import Identity, LiveObject


def has_automatic_wrapper(registry: Registry, kind: Kind, owner: LiveObject | None) -> bool:
    """Return whether the platform creates a wrapper node around root nodes in the tree of `owner`."""
    return owner is not None and any(
        node.shape.wraps_when
        and all(owner.fields.get(name) == value for name, value in node.shape.wraps_when.items())
        for node in registry.nodes(kind.key)
        if isinstance(node.shape, NodeShape)
    )


def without_wrapper(
    registry: Registry, nodes: tuple[LiveObject, ...], owner: Identity
) -> tuple[LiveObject, ...]:
    """Remove the wrapper node of a tree, and return its children as root nodes.

    `nodes` are in order, parents first. If the root is not exactly one wrapper node, `nodes` is returned.
    """
    first, *inside = nodes or (None,)
    shape = registry[first.kind].shape if first is not None else None
    wraps = isinstance(shape, NodeShape) and shape.wraps_when
    if not wraps or any(node.holder is None for node in inside):
        return nodes
    found = []
    for node in inside:
        nest = registry[node.kind].nest
        fields = {**node.fields, nest.name: deepcopy(nest.absent)} if nest is not None else node.fields
        found.append(replace(node, parent=owner, holder=None, fields=fields))
    return tuple(found)
