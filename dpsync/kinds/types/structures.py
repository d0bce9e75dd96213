"""Define the types of values with parts: mappings, choices between several forms, lists and tables."""

from __future__ import annotations

import re
from collections.abc import Callable
from collections.abc import Mapping as MappingType
from functools import cached_property
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from dpsync.kinds.types.base import (
    ABSENT,
    INVALID,
    Invalid,
    ParseContext,
    Schema,
    Type,
    UnexpectedShape,
    merge_mappings,
    report_unknown_word,
    report_wrong_type,
    wrong_type,
)
from dpsync.model.nodes import Mapping, Node, Scalar, Sequence
from dpsync.model.text import format_count, format_limits, join_with_or, json_text
from dpsync.model.urls import has_credentials
from dpsync.model.values import Value, canonical_json


class Object(Type, frozen=True, dict=True):
    """A mapping with named parts. Parts in `required` must be present.

    With `exactly_one`, a value has exactly one part.
    """

    parts: MappingType[str, Type]
    required: tuple[str, ...] = ()
    noun: str = "this value"
    exactly_one: bool = False

    def parse(self, node: Node, ctx: ParseContext) -> Value:
        """Return the values of the parts in a YAML mapping, or INVALID after reporting an error.

        Errors are unknown, missing and invalid parts, and more than one part if only one is allowed.
        """
        if not isinstance(node, Mapping):
            return report_wrong_type(node, "a mapping", ctx)
        value: dict[str, Value] = {}
        misspelt: list[str | None] = []
        for key, item in node.entries:
            part = self.parts.get(str(key.value))
            if part is None:
                misspelt.append(ctx.unknown_key(key, list(self.parts), self.noun))
            else:
                value[str(key.value)] = part.parse(item, ctx)
        for name in self.required:
            if name not in value and name not in misspelt:
                ctx.error("DP206", f'"{name}" is missing in {self.noun}', node.span)
        if misspelt:
            return INVALID
        if self.exactly_one and len(node.entries) != 1:
            return ctx.error(
                "DP206",
                f"{self.noun} must have exactly one of these keys: {', '.join(self.parts)}",
                node.span,
            )
        return INVALID if any(item is INVALID for item in value.values()) else value

    def merge_overlay(self, lower: Node, overlay: Node) -> Node:
        """Merge a mapping of an environment's overlay into the mapping that it changes, part by part.

        With `exactly_one`, a mapping with another part replaces the mapping.
        """
        if not (isinstance(lower, Mapping) and isinstance(overlay, Mapping)):
            return overlay
        if self.exactly_one and lower.keys() != overlay.keys():
            return overlay

        def merge_part(name: str, lower_part: Node, overlay_part: Node) -> Node:
            if name not in self.parts:
                return overlay_part
            return self.parts[name].merge_overlay(lower_part, overlay_part)

        return merge_mappings(lower, overlay, merge_part)

    def schema(self) -> Schema:
        """Return the JSON Schema: a mapping with these parts only."""
        schema: Schema = {
            "type": "object",
            "properties": {name: part.schema() for name, part in self.parts.items()},
            "additionalProperties": False,
        }
        if self.exactly_one:
            schema |= {"minProperties": 1, "maxProperties": 1}
        return schema | ({"required": list(self.required)} if self.required else {})

    def _map_parts(self, value: Any, convert: Callable[[Type, Any], Any]) -> Value:
        """Return a mapping with the declared parts of a value, each converted by its type."""
        if not isinstance(value, dict):
            return value
        return {name: convert(part, value[name]) for name, part in self.parts.items() if name in value}

    def encode(self, value: Value) -> Value:
        """Return the declared parts of a value in the form in which they are sent."""
        return self._map_parts(value, lambda part, item: part.encode(item))

    def shape_error(self, wire: Any) -> UnexpectedShape | None:
        """Return why a value of a response has an unexpected shape, None if `decode` can read it.

        Optional parts may be null or absent. Parts that are not declared are not checked.
        """
        if not isinstance(wire, dict):
            return wrong_type(wire, "an object")
        for name, part in self.parts.items():
            item = wire.get(name)
            if name in wire and (item is not None or name in self.required):
                if wrong := part.shape_error(item):
                    return wrong.nested_in(name)
            elif name in self.required:
                return UnexpectedShape(name, "there", ABSENT)
        return None

    def decode(self, wire: Any) -> Value:
        """Return the declared parts of a response value. Undeclared parts are dropped."""
        return self._map_parts(wire, lambda part, item: part.decode(item))

    def equals(self, wanted: Value, live: Value) -> bool:
        """Return whether the live value already has each part that `wanted` declares.

        Other parts are not managed, except if only one part is allowed. A part that is not live is equal only
        if GitBook never returns it (write-only).
        """
        if not (isinstance(wanted, dict) and isinstance(live, dict)):
            return bool(wanted == live)
        if self.exactly_one and live.keys() - wanted.keys():
            return False
        return all(
            part.equals(wanted[name], live[name])
            if name in live
            else part.write_only_part(wanted[name]) is not None
            for name, part in self.parts.items()
            if name in wanted
        )

    def merge_over_live(self, live: Value, wanted: Value) -> Value:
        """Return the wanted value with the live values of undeclared parts."""
        return {**live, **wanted} if isinstance(live, dict) and isinstance(wanted, dict) else wanted

    def displayable_live(self, live: Value, wanted: Value) -> Value:
        """Return the live values of the parts that are also wanted, or the whole value if there are none."""
        if not (isinstance(live, dict) and isinstance(wanted, dict)):
            return live
        both = (name for name in self.parts if name in live and name in wanted)
        return {name: self.parts[name].displayable_live(live[name], wanted[name]) for name in both} or live

    def write_only_part(self, value: Value) -> Value:
        """Return the parts that the platform never returns, None without such a part."""
        if not isinstance(value, dict):
            return None
        hidden = {
            name: part.write_only_part(value[name]) for name, part in self.parts.items() if name in value
        }
        return {name: part for name, part in hidden.items() if part is not None} or None

    @property
    def may_be_write_only(self) -> bool:
        return any(part.may_be_write_only for part in self.parts.values())

    @cached_property
    def referenced_kinds(self) -> tuple[str, ...]:
        return tuple(kind for part in self.parts.values() for kind in part.referenced_kinds)


def _with_text(node: Scalar, text: str) -> Scalar:
    """Return a scalar at the same position with another text."""
    return replace(node, value=text, text=text)


class ShortForm(Struct, frozen=True):
    """A way to write one form of a `OneOf` without its tag.

    `parts` maps each word of the short form to parts of the long form. A word for two parts takes `KEY/REST`:
    `{page: guides/en/install}` is the page `install` in the site space `guides/en`.
    """

    form: str
    parts: MappingType[str, tuple[str, ...]]


class OneOf(Type, frozen=True, dict=True):
    """A mapping whose `tag` selects its other parts: `{type: rules, rules: […]}`.

    A mapping without the tag is in a short form. dpsync writes the first short form that fits.
    """

    tag: str
    forms: MappingType[str, Object]
    short_forms: tuple[ShortForm, ...] = ()
    noun: str = "this value"

    @cached_property
    def short_words(self) -> tuple[str, ...]:
        """The words of all short forms."""
        return tuple(dict.fromkeys(word for short in self.short_forms for word in short.parts))

    def short_values(self, node: Scalar) -> str:
        """Return the short forms to suggest to a person in place of a text: `{ section: … }`."""
        url = "url" in self.short_words and re.match("https?://", node.text)
        if url and not has_credentials(node.text):
            return f"{{ url: {json_text(node.text)} }}"
        return join_with_or([f"{{ {word}: … }}" for word in self.short_words])

    def _long_node(self, node: Mapping, ctx: ParseContext) -> Mapping | Invalid:
        """Return the long form of a node that is written in a short form.

        Report unknown or exclusive keys.
        """
        unknown = [key for key, _ in node if key.value not in self.short_words]
        if unknown:
            for key in unknown:
                ctx.unknown_key(key, [*self.short_words, self.tag], self.noun)
            return INVALID
        short = next((item for item in self.short_forms if item.parts.keys() == {*node.keys()}), None)
        if short is None:
            message = (
                f"{self.noun} has keys that exclude each other: use only {join_with_or(self.short_words)}"
            )
            return ctx.error("DP201", message, node.entries[-1][0].span, "delete the other keys")
        entries: list[tuple[Scalar, Node]] = []
        for key, value in node:
            names = short.parts[key.text]
            values = [value] if len(names) == 1 else self._split(short, names, value, ctx)
            if isinstance(values, Invalid):
                return values
            entries += [(_with_text(key, name), item) for name, item in zip(names, values, strict=True)]
        first = node.entries[0][0]
        tag = _with_text(first, self.tag), _with_text(first, short.form)
        return Mapping((tag, *entries), node.span)

    def _split(
        self, short: ShortForm, names: tuple[str, ...], node: Node, ctx: ParseContext
    ) -> list[Node] | Invalid:
        """Split the text `KEY/REST` of a short form into the values of two parts.

        The first part is a reference, whose key may contain slashes.
        """
        if not isinstance(node, Scalar) or not isinstance(node.value, str):
            return report_wrong_type(node, "KEY/PATH", ctx)
        parts = self.forms[short.form].parts
        key = ctx.reference_prefix(parts[names[0]].referenced_kinds, node.value)
        rest = node.value[len(key) :].strip("/")
        if not rest:
            hint = "write the key of the space, a slash, and the path of the page"
            return ctx.error("DP202", f'"{node.value}" does not name a page', node.span, hint)
        return [_with_text(node, key), _with_text(node, rest)]

    def _selected_form(self, value: Any) -> Object | None:
        """Return the form that the tag of a value selects, None for an unknown tag."""
        return self.forms.get(value.get(self.tag, "")) if isinstance(value, dict) else None

    def parse(self, node: Node, ctx: ParseContext) -> Value:
        """Return the long form of a YAML value in the short or long form; INVALID after reporting an error.

        The long form names its form in the member `tag`, such as `type: git`. A merged value may have the tag
        of one file and a key of another form from an overlay, which is an error with its own message.
        """
        if self.short_forms and isinstance(node, Mapping) and len(node) and node.get(self.tag) is None:
            long = self._long_node(node, ctx)
            if isinstance(long, Invalid):
                return long
            node = long
        tag = node.get(self.tag) if isinstance(node, Mapping) else None
        if not isinstance(node, Mapping) or tag is None:
            words = join_with_or(self.short_words) or f"{self.tag}: {' | '.join(self.forms)}"
            hint = (
                f"write {self.short_values(node)}" if self.short_forms and isinstance(node, Scalar) else None
            )
            return report_wrong_type(node, f"a mapping with {words}", ctx, hint)
        if not isinstance(tag, Scalar) or tag.value not in self.forms:
            return report_unknown_word(self.forms, tag, ctx)
        form = self.forms[str(tag.value)]
        for key in (key for key, _ in node if key.span.file != tag.span.file):
            others = [word for word, other in self.forms.items() if key.value in other.parts]
            if others and tag.value not in others:  # the overlay and the file below disagree
                message = (
                    f'"{key.value}" is not allowed, because {tag.span} contains "{self.tag}: {tag.value}"'
                )
                return ctx.error("DP201", message, key.span, f"also set {self.tag}: {' or '.join(others)}")
        parts = Mapping(tuple(entry for entry in node.entries if entry[0].value != self.tag), node.span)
        value = form.parse(parts, ctx)
        return value if value is INVALID else {self.tag: tag.value, **value}

    def merge_overlay(self, lower: Node, overlay: Node) -> Node:
        """Merge a value of an environment's overlay into the value that it changes (`lower`).

        If the overlay selects another form (`tag`), members that the new form lacks are dropped. An overlay
        in a short form replaces the value.
        """
        if not (isinstance(lower, Mapping) and isinstance(overlay, Mapping)):
            return overlay
        if self.short_forms and overlay.get(self.tag) is None and {*overlay.keys()} <= {*self.short_words}:
            return overlay
        old, new = lower.get(self.tag), overlay.get(self.tag) or lower.get(self.tag)
        tag = new.text if isinstance(new, Scalar) else ""
        form = self.forms.get(tag)
        if form is None:
            return overlay
        if not isinstance(old, Scalar) or old.text != tag:
            lower = Mapping(lower.with_keys(form.parts).entries, overlay.span)
        return form.merge_overlay(lower, overlay)

    def shortest_form(self, long_form: Any, replaced_node: Node | None = None) -> Any:
        """Return the first short form that fits a value in the long form, or the value itself.

        `replaced_node` is the YAML value that is replaced, if any: if it has the long form, this form stays.
        """
        is_long = isinstance(replaced_node, Mapping) and replaced_node.get(self.tag) is not None
        if is_long or not isinstance(long_form, dict):
            return long_form
        for short in self.short_forms:
            names = [name for parts in short.parts.values() for name in parts]
            if long_form.get(self.tag) != short.form or long_form.keys() != {self.tag, *names}:
                continue
            if all(len(parts) == 1 or isinstance(long_form[parts[0]], str) for parts in short.parts.values()):
                return {
                    word: long_form[parts[0]]
                    if len(parts) == 1
                    else "/".join(long_form[name] for name in parts)
                    for word, parts in short.parts.items()
                }
        return long_form

    def schema(self) -> Schema:
        """Return the JSON Schema: any short form, or any form with its tag."""
        forms = []
        for short in self.short_forms:
            parts = self.forms[short.form].parts
            properties = {
                word: parts[names[0]].schema() if len(names) == 1 else {"type": "string"}
                for word, names in short.parts.items()
            }
            forms.append(
                {
                    "type": "object",
                    "properties": properties,
                    "required": [*properties],
                    "additionalProperties": False,
                }
            )
        for word, form in self.forms.items():
            schema = form.schema()
            schema["properties"] = {self.tag: {"const": word}} | schema["properties"]
            schema["required"] = [self.tag, *schema.get("required", [])]
            forms.append(schema)
        return {"anyOf": forms}

    def encode(self, value: Value) -> Value:
        """Return a value in the form in which it is sent, by the form that its tag selects."""
        form = self._selected_form(value)
        return value if form is None else {self.tag: value[self.tag], **form.encode(value)}

    def shape_error(self, wire: Any) -> UnexpectedShape | None:
        """Return why a response value must not be decoded: no object, no tag, or a wrong part.

        A form that dpsync does not know is allowed.
        """
        if not isinstance(wire, dict):
            return wrong_type(wire, "an object")
        if not isinstance(wire.get(self.tag), str):
            return (
                UnexpectedShape(self.tag, "a text", ABSENT)
                if self.tag not in wire
                else wrong_type(wire[self.tag], "a text").nested_in(self.tag)
            )
        form = self._selected_form(wire)
        return None if form is None else form.shape_error(wire)

    def decode(self, wire: Any) -> Value:
        """Return a response value by the form that its tag selects.

        A value of an unknown form stays unchanged.
        """
        form = self._selected_form(wire)
        return wire if form is None else {self.tag: wire[self.tag], **form.decode(wire)}

    def equals(self, wanted: Value, live: Value) -> bool:
        """Return whether two values have the same tag and equal parts."""
        form = self._selected_form(wanted)
        if form is None or self._selected_form(live) is None or wanted[self.tag] != live[self.tag]:
            return canonical_json(wanted) == canonical_json(live)
        return form.equals(wanted, live)

    def write_only_part(self, value: Value) -> Value:
        """Return the parts that the platform never returns, by the form that the tag selects."""
        form = self._selected_form(value)
        return None if form is None else form.write_only_part(value)

    @cached_property
    def referenced_kinds(self) -> tuple[str, ...]:
        return tuple(kind for form in self.forms.values() for kind in form.referenced_kinds)


class List(Type, frozen=True):
    """A list. With `is_set`, the order has no meaning and each value is unique."""

    item_type: Type
    is_set: bool = False
    max_items: int | None = None

    def parse(self, node: Node, ctx: ParseContext) -> Value:
        """Return the values of the items in a YAML list, or INVALID after reporting an error.

        Errors are invalid items, too many items, and in a set two equal values.
        """
        if not isinstance(node, Sequence):
            return report_wrong_type(node, "a list", ctx)
        if self.max_items is not None and len(node.items) > self.max_items:
            limits = format_limits(0, self.max_items, "item")
            message = f"the list has {format_count(len(node.items), 'item')}, but {limits}"
            return ctx.error("DP203", message, node.span)
        values = [self.item_type.parse(item, ctx) for item in node.items]
        if INVALID in values:
            return INVALID
        seen: list[bytes] = []
        for value, item in zip(values, node.items, strict=True):
            if self.is_set and canonical_json(value) in seen:
                return ctx.error("DP207", "the list already contains this value", item.span)
            seen.append(canonical_json(value))
        return values

    def schema(self) -> Schema:
        """Return the JSON Schema: a list of items of one type."""
        schema: Schema = {"type": "array", "items": self.item_type.schema()}
        if self.max_items is not None:
            schema["maxItems"] = self.max_items
        return schema | ({"uniqueItems": True} if self.is_set else {})

    def encode(self, value: Value) -> Value:
        return [self.item_type.encode(item) for item in value] if isinstance(value, list) else value

    def shape_error(self, wire: Any) -> UnexpectedShape | None:
        """Return why a response value must not be decoded: no list, or the first item of a wrong type."""
        if not isinstance(wire, list):
            return wrong_type(wire, "a list")
        errors = ((index, self.item_type.shape_error(item)) for index, item in enumerate(wire))
        return next((error.nested_in(index) for index, error in errors if error), None)

    def decode(self, wire: Any) -> Value:
        return [self.item_type.decode(item) for item in wire] if isinstance(wire, list) else wire

    def equals(self, wanted: Value, live: Value) -> bool:
        """Return whether two lists have equal items, in any order for a set."""
        if not (isinstance(wanted, list) and isinstance(live, list)) or len(wanted) != len(live):
            return False
        if self.is_set:
            wanted, live = sorted(wanted, key=canonical_json), sorted(live, key=canonical_json)
        return all(self.item_type.equals(a, b) for a, b in zip(wanted, live, strict=True))

    @property
    def referenced_kinds(self) -> tuple[str, ...]:
        return self.item_type.referenced_kinds


class Table(Type, frozen=True):
    """A mapping whose keys have one type and whose values have another."""

    key_type: Type
    value_type: Type
    min_keys: int = 0
    max_keys: int | None = None

    def parse(self, node: Node, ctx: ParseContext) -> Value:
        """Return the keys and values of a YAML mapping, or INVALID after reporting an error.

        Errors are invalid keys or values, and too few or too many keys.
        """
        if not isinstance(node, Mapping):
            return report_wrong_type(node, "a mapping", ctx)
        if len(node.entries) < self.min_keys or (
            self.max_keys is not None and len(node.entries) > self.max_keys
        ):
            limits = format_limits(self.min_keys, self.max_keys, "key")
            message = f"the mapping has {format_count(len(node.entries), 'key')}, but {limits}"
            return ctx.error("DP203", message, node.span)
        parsed = [
            (self.key_type.parse(key, ctx), self.value_type.parse(item, ctx)) for key, item in node.entries
        ]
        return INVALID if any(INVALID in pair for pair in parsed) else dict(parsed)

    def merge_overlay(self, lower: Node, overlay: Node) -> Node:
        """Merge two mappings key by key."""
        if not (isinstance(lower, Mapping) and isinstance(overlay, Mapping)):
            return overlay
        return merge_mappings(lower, overlay, lambda _, old, new: self.value_type.merge_overlay(old, new))

    def schema(self) -> Schema:
        """Return the JSON Schema: a mapping with keys and values of these types."""
        schema: Schema = {
            "type": "object",
            "propertyNames": self.key_type.schema(),
            "additionalProperties": self.value_type.schema(),
        }
        if self.min_keys:
            schema["minProperties"] = self.min_keys
        return schema if self.max_keys is None else schema | {"maxProperties": self.max_keys}

    def encode(self, value: Value) -> Value:
        return {key: self.value_type.encode(item) for key, item in value.items()}

    def decode(self, wire: Any) -> Value:
        if not isinstance(wire, dict):
            return wire
        return {key: self.value_type.decode(item) for key, item in wire.items()}

    def equals(self, wanted: Value, live: Value) -> bool:
        """Return whether two mappings have the same keys and equal values."""
        if not (isinstance(wanted, dict) and isinstance(live, dict)) or wanted.keys() != live.keys():
            return False
        return all(self.value_type.equals(item, live[key]) for key, item in wanted.items())

    def displayable_live(self, live: Value, wanted: Value) -> Value:
        """Return the displayable parts of all live values, also of keys that are not wanted."""
        if not (isinstance(live, dict) and isinstance(wanted, dict)):
            return live
        return {key: self.value_type.displayable_live(item, wanted.get(key)) for key, item in live.items()}

    def shape_error(self, wire: Any) -> UnexpectedShape | None:
        """Return why a response value must not be decoded: no object, or the first value of a wrong type."""
        if not isinstance(wire, dict):
            return wrong_type(wire, "an object")
        errors = ((key, self.value_type.shape_error(item)) for key, item in wire.items())
        return next((error.nested_in(key) for key, error in errors if error), None)

    def write_only_part(self, value: Value) -> Value:
        """Return the values, by key, that the platform never returns; None without such a value."""
        hidden = {key: self.value_type.write_only_part(item) for key, item in value.items()}
        return {key: item for key, item in hidden.items() if item is not None} or None

    @property
    def takes_mapping(self) -> bool:
        return True
