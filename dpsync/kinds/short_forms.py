"""Convert values of fields between the short form that people write and the full form of the declaration.

For example, `/start: { section: guides }` is short for `/start: { destination: { kind: …, … } }`.
"""

from __future__ import annotations

from collections.abc import Mapping as MappingType
from typing import Any

from msgspec.structs import replace

from dpsync.kinds.kind import Kind
from dpsync.model.nodes import Mapping, Node, Scalar


def shorten_fields(kind: Kind, long_fields: MappingType[str, Any]) -> dict[str, Any]:
    """Return the fields of an entry, as YAML data, in their shortest forms.

    The words of some short forms may be keys of the entry itself (`allows_inline_words`).
    """
    fields = {field.name: field for field in kind.fields}
    shortened: dict[str, Any] = {}
    for name, value in long_fields.items():
        field = fields.get(name)
        short_form = field.type.shortest_form(value) if field is not None else value
        if (
            field is not None
            and field.allows_inline_words
            and isinstance(short_form, dict)
            and short_form != value
        ):
            shortened |= short_form
        else:
            shortened[name] = short_form
    return shortened


def expand_short_forms(kind: Kind, node: Mapping) -> Mapping:
    """Return an entry in which the words of a short form are in the field to which they belong.

    `{ section: guides, draft: true }` becomes `{ destination: { section: guides }, draft: true }`. An entry
    that also has the field itself is returned unchanged.
    """
    words = kind.inline_words
    names = {words[key.text] for key, _ in node if key.text in words} if words else set()
    if not names or any(node.get(name) is not None for name in names):
        return node
    entries: dict[str, tuple[Scalar, Node]] = {}
    for key, value in node:
        name = words.get(key.text)
        if name is None:
            entries[key.text] = key, value
            continue
        first, inner = entries.get(name, (replace(key, value=name, text=name), Mapping((), node.span)))
        assert isinstance(inner, Mapping)
        entries[name] = first, Mapping((*inner.entries, (key, value)), inner.span)
    return Mapping(tuple(entries.values()), node.span)
