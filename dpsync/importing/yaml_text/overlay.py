"""A value into another file than that of its line: an overlay, where perhaps nothing of its entry is yet."""

from __future__ import annotations

from collections.abc import Mapping as Mapping_
from typing import Any

from msgspec import Struct

from dpsync.config.compose import WHOLE, WORD
from dpsync.config.yaml_reader import decode
from dpsync.importing.yaml_text.edit import Document, Uneditable, apply_edits
from dpsync.importing.yaml_text.unfold import unfolded
from dpsync.kinds.kind import Node as NodeShape
from dpsync.kinds.kind import Single
from dpsync.kinds.registry import Registry
from dpsync.model.address import Address
from dpsync.model.desired import Entry
from dpsync.model.nodes import Mapping, Node, Scalar, Sequence, plain


class Item(Struct, frozen=True):
    """A step into a list: to the node with this key."""

    key: str


Step = str | Item


def steps_to(registry: Registry, resources: Mapping_[Address, Entry], resource: Entry) -> list[Step]:
    """The way to an entry from the top of a file: keys of mappings, and nodes of lists."""
    kind = registry[resource.kind]
    if resource.parent is None:
        return [kind.key, resource.key]
    words = kind.key.split(".")
    if not isinstance(kind.shape, NodeShape):
        above = steps_to(registry, resources, resources[resource.parent])
        return [*above, *words] if isinstance(kind.shape, Single) else [*above, *words, resource.key]
    if resource.holder is not None:
        return [*steps_to(registry, resources, resources[resource.holder]), "children", Item(resource.key)]
    return [*steps_to(registry, resources, resources[resource.parent]), *words, Item(resource.key)]


def insert(text: str, name: str, steps: list[Step], value: Any) -> str:
    """The text of a file that says this value at the end of these steps. Raises Uneditable."""
    document = Document(text, name)
    at: Node = document.root
    one = at.get(WORD) if isinstance(at, Mapping) else None
    if isinstance(one, Scalar) and steps[:2] == [WHOLE, one.text]:
        steps = steps[2:]
    key: Scalar | None = None
    for done, step in enumerate(steps):
        found = _inside(at, step)
        if found is None:
            return _with(document, key, at, steps[done:], value)
        key, at = found
    return apply_edits(text, document.edits(key, at, value))


def _inside(at: Node, step: Step) -> tuple[Scalar | None, Node] | None:
    if isinstance(step, Item):
        for item in at if isinstance(at, Sequence) else ():
            named = item.get("key") if isinstance(item, Mapping) else None
            if isinstance(named, Scalar) and named.text == step.key:
                return None, item
        return None
    pairs = at.entries if isinstance(at, Mapping) else ()
    return next(((key, node) for key, node in pairs if key.text == step), None)


def _with(document: Document, key: Scalar | None, at: Node, steps: list[Step], value: Any) -> str:
    """The text with what is missing at the end of what is there."""
    first, *rest = steps
    missing = value
    for step in reversed(rest):
        missing = {step: missing} if isinstance(step, str) else [_node(step, missing)]
    if isinstance(first, Item):
        if not isinstance(at, Sequence):
            raise Uneditable("the overlay file has no list for this entry of the navigation")
        nodes: Any = plain(at)
        return apply_edits(document.text, document.edits(key, at, [*nodes, _node(first, missing)]))
    if not isinstance(at, Mapping):
        raise Uneditable(
            "the overlay file has the entry in the short form KEY: VALUE. Write the entry as "
            "KEY: { FIELD: VALUE }, and try again"
        )
    if not at.entries:
        return apply_edits(document.text, document.edits(key, at, {first: missing}))
    sibling, _ = next(iter(at))
    return apply_edits(document.text, [document.after(sibling.span, first, missing)])


def _node(step: Item, inside: Any) -> dict[str, Any]:
    return {"key": step.key, **inside}


def inserted(data: bytes, name: str, values: list[tuple[list[Step], Any]]) -> bytes:
    """The content of a file that says all these values. Raises Uneditable."""
    mark = b"\xef\xbb\xbf" if data.startswith(b"\xef\xbb\xbf") else b""
    before, _ = decode(data, name)
    text = before
    for steps, value in values:
        text = insert(text, name, steps, value)
    return mark + unfolded(before, text).encode()
