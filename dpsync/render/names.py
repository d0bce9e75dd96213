"""Name kinds, fields and objects in sentences, sort names naturally, and escape foreign text.

- `visible` is the one escape for terminals: every text from YAML, the platform or the environment passes
  through it. A character that could move the cursor, color, hide, reorder or forge text becomes an escape.
- `Names` makes short names, such as `section webhooks "Webhooks" in developers`, and addresses where a short
  name is ambiguous.
- `natural_key` sorts `gen-2` before `gen-10`. The order is for readers only: a plan keeps its own order, from
  which its digest is computed.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache
from typing import Any, Final, TypeVar
from urllib.parse import unquote

from dpsync.kinds.kind import Kind, SingleEntry
from dpsync.kinds.registry import build_registry
from dpsync.kinds.types import OneOf, Page, Type
from dpsync.model.address import Address
from dpsync.model.drift import Drift
from dpsync.model.plan import Plan
from dpsync.model.values import DATA_MARKER, ID_MARKER, REF_MARKER, reference_text
from dpsync.render.visible import visible

_NUMBER: Final = re.compile(r"([0-9]+)")
_NAVIGATION_SEGMENT: Final = "structure"
"""The key of navigations in addresses. Their entries have an order of their own."""

Item = TypeVar("Item")
NaturalKey = tuple[tuple[str, int, str], ...]


def natural_key(name: str) -> NaturalKey:
    """Return the key by which a name is sorted. Two names have the same key only if they are equal."""
    texts, numbers = _NUMBER.split(name)[::2], _NUMBER.findall(name)
    # A number is compared by its digits: int() refuses very long ones.
    digits = [number.lstrip("0") for number in numbers]
    parts = [(text, len(digit), digit) for text, digit in zip(texts, [*digits, ""], strict=True)]
    return (*parts, (name, 0, ""))


def natural_address_key(address: Address) -> tuple[NaturalKey, ...]:
    """Return the key by which an address is sorted, segment by segment."""
    return tuple(map(natural_key, address.segments))


def in_natural_order(
    items: Collection[Item], address: Callable[[Item], Address], last: Callable[[Item], bool]
) -> tuple[Item, ...]:
    """Return items in the natural order of their addresses; those for which `last` holds come last.

    Siblings with an order of their own keep it: entries of a navigation, and entries that are not sorted by
    name. Items that come last are sorted by name everywhere, since deleted entries have no order any more.
    """
    addresses = [address(item) for item in items if not last(item)]
    numbers, sorted_lists = _order_of_appearance(addresses)

    def key(item: Item) -> tuple[bool, list[tuple[int, NaturalKey]]]:
        is_last = last(item)
        ancestors = list(address(item).self_and_ancestors())[::-1]
        return is_last, [
            (
                0 if is_last or ancestor.list_address in sorted_lists else numbers[ancestor],
                natural_key(ancestor.last_segment),
            )
            for ancestor in ancestors
        ]

    return tuple(sorted(items, key=key))


def _order_of_appearance(addresses: Iterable[Address]) -> tuple[dict[Address, int], set[Address]]:
    """Return the number of each address and of all above it, and the places that are sorted by name."""
    numbers: dict[Address, int] = {}
    keys_by_list: dict[Address, list[str]] = defaultdict(list)
    for address in addresses:
        for ancestor in list(address.self_and_ancestors())[::-1]:
            if ancestor not in numbers:
                numbers[ancestor] = len(numbers)
                keys_by_list[ancestor.list_address].append(ancestor.last_segment)
    sorted_lists = {
        list_address
        for list_address, keys in keys_by_list.items()
        if keys == sorted(keys) and _NAVIGATION_SEGMENT not in list_address.segments
    }
    return numbers, sorted_lists


_PERMISSIONS_SEGMENT: Final = "permissions"
_NEEDS_NO_QUOTES: Final = re.compile(r"[A-Za-z0-9/][^\s{}\[\],\"'#]*")


class Names:
    """Short names for the objects of one plan or drift."""

    def __init__(
        self,
        addresses: Iterable[str],
        several_organizations: bool = False,
        pages: Mapping[str, Mapping[str, str]] | None = None,
    ) -> None:
        """Take all known addresses, whether there are several organizations, and page paths by site space."""
        self._has_several_organizations = several_organizations
        self._pages = pages or {}
        parsed = {Address.parse(address.partition("#")[0]) for address in addresses}
        self._title_counts = Counter(
            (*_last_segments(address), _shown_parent_key(address)) for address in parsed
        )
        self._key_counts = Counter(map(_last_segments, parsed))

    def title(self, kind: str, address: str, label: str = "", group: str | None = None) -> str:
        """Return kind, key, title and parent of an object. `label` is its title, `inside` its group."""
        key, parent = self._key_and_parent(kind, address, group)
        is_redundant = not label or visible(label) == key or f"[{visible(label)}]" == key
        title = "" if is_redundant else f'"{visible(label)}"'
        return " ".join(filter(None, (kind_noun(kind), key, title, parent)))

    def key(self, kind: str, address: str, group: str | None = None) -> str:
        """Return the key of an object and what it is in, or its address."""
        return " ".join(filter(None, self._key_and_parent(kind, address, group)))

    def _key_and_parent(self, kind: str, address: str, group: str | None) -> tuple[str, str]:
        parsed = Address.parse(address)
        if (
            self._has_several_organizations
            or self._title_counts[(*_last_segments(parsed), _shown_parent_key(parsed))] > 1
        ):
            return visible(address), ""
        declaration = _kinds().get(kind)
        if declaration is not None and isinstance(declaration.shape, SingleEntry):
            has_parent = len(parsed.segments) > 2
            return "", f"in {_shown_key(parsed.list_address.last_segment)}" if has_parent else ""
        parent = group.rpartition("/")[2] if group else _shown_parent_key(parsed)
        return _shown_key(parsed.last_segment), f"in {_shown_key(parent)}" if parent else ""

    def reference(self, address: str) -> str:
        """Return the key of an object that a value refers to, or its address if several have this key."""
        parsed = Address.parse(address)
        return (
            visible(address)
            if self._has_several_organizations or self._key_counts[_last_segments(parsed)] > 1
            else _shown_key(parsed.last_segment)
        )

    def with_keys(self, value: Any) -> Any:
        """Return a value with keys in place of addresses."""
        match value:
            case dict() if set(value) == {REF_MARKER} and isinstance(value[REF_MARKER], str):
                return {REF_MARKER: self.reference(value[REF_MARKER])}
            case dict() if DATA_MARKER not in value:
                return {name: self.with_keys(member) for name, member in value.items()}
            case list():
                return [self.with_keys(member) for member in value]
        return value

    def as_in_files(self, kind: str, field: str, value: Any) -> Any:
        """Return the value of a field as people write it: with keys, and in the short form of its type."""
        declaration = _kinds().get(kind)
        fields = declaration.fields if declaration is not None else ()
        field_declaration = next((known for known in fields if known.name == field), None)
        if field_declaration is not None and isinstance(value, dict):
            value = self._with_paths(field_declaration.type, value)
            parts = {name: self._key_path(part) for name, part in value.items()}
            shortest = (
                field_declaration.type.shortest_form(parts)
                if all(map(_is_key_or_id, parts.values()))
                else parts
            )
            if shortest != parts:
                return {key: _unquoted(part) for key, part in shortest.items()}
        return self.with_keys(value)

    def _with_paths(self, type_: Type, value: dict[str, Any]) -> dict[str, Any]:
        """Return a value with page paths in place of page ids, as far as they are known."""
        form = type_.forms.get(str(value.get(type_.tag))) if isinstance(type_, OneOf) else None
        result = dict(value)
        for name, part in form.parts.items() if form is not None else ():
            if isinstance(part, Page) and name in value:
                paths = self._pages.get(reference_text(value.get(part.site_space_part)), {})
                result[name] = paths.get(str(value[name]), value[name])
        return result

    def _key_path(self, part: Any) -> Any:
        """Return the keys by which a file refers to an object: `guides/en` for a site space in a section."""
        if not (isinstance(part, dict) and set(part) == {REF_MARKER} and isinstance(part[REF_MARKER], str)):
            return part
        segments = Address.parse(part[REF_MARKER]).segments
        if _NAVIGATION_SEGMENT not in segments:
            return self.reference(part[REF_MARKER])
        return "/".join(map(_shown_key, segments[segments.index(_NAVIGATION_SEGMENT) + 1 :]))


def names_of(plan: Plan | Drift) -> Names:
    """Return the names of everything that a plan or a drift knows."""
    if isinstance(plan, Plan):
        removed = (change.removed.address for change in plan.changes if change.removed is not None)
        addresses = {*plan.origins, *plan.bindings, *(change.address for change in plan.changes), *removed}
    else:
        addresses = {*plan.origins, *(drifted.address for drifted in plan.found)}
    return Names(addresses, len(plan.organizations) > 1, plan.pages)


def kind_name(noun: str) -> str:
    """Return the name of the kind with this noun; empty if no kind has it."""
    return next((name for name, kind in _kinds().items() if noun in (kind.noun, kind.list_noun)), "")


def kind_noun(kind: str) -> str:
    """Return the noun for a kind, as the documentation has it."""
    declaration = _kinds().get(kind)
    return (
        visible(kind.replace("_", " ")) if declaration is None else declaration.list_noun or declaration.noun
    )


def delete_noun(kind: str) -> str:
    """Return the noun by which deleted objects of a kind are counted."""
    declaration = _kinds().get(kind)
    return (
        declaration.delete_noun
        if declaration is not None and declaration.delete_noun
        else kind_noun(kind or "object")
    )


def delete_effect(kind: str) -> str:
    """Return what a delete of an object of a kind means for people; empty if the noun says it."""
    declaration = _kinds().get(kind)
    return declaration.delete_effect if declaration is not None else ""


def secret_url_location(kind: str) -> str:
    """Return where a person copies the secret URL of a new object; empty if the kind has no such URL."""
    declaration = _kinds().get(kind)
    return declaration.copy_url_in if declaration is not None else ""


@cache
def _kinds() -> Mapping[str, Kind]:
    return build_registry().declared


def _is_key_or_id(part: Any) -> bool:
    return isinstance(part, str) or (isinstance(part, dict) and set(part) == {ID_MARKER})


def _unquoted(part: Any) -> Any:
    """Return a text so that it is shown without quotation marks, if it needs none.

    A text in the marker of a reference has no quotation marks.
    """
    return {REF_MARKER: part} if isinstance(part, str) and _NEEDS_NO_QUOTES.fullmatch(part) else part


def _last_segments(address: Address) -> tuple[str, ...]:
    """Return the depth and the last two segments, which are equal if two short names could be equal."""
    return str(len(address.segments)), *address.segments[-2:]


def _shown_parent_key(address: Address) -> str:
    """Return the key of the parent that belongs in a short name; "" if the name needs none."""
    *ancestors, _ = address.segments
    if len(ancestors) < 3 or ancestors[-1] == _NAVIGATION_SEGMENT:
        return ""
    if _NAVIGATION_SEGMENT in ancestors:
        return ancestors[-1]
    return ancestors[-3] if ancestors[-2] == _PERMISSIONS_SEGMENT else ancestors[-2]


def _shown_key(segment: str) -> str:
    """Return a key as people write it, unless it would not be one word then."""
    plain = visible(unquote(segment))
    return (
        plain
        if segment.startswith("[") or not any(character in plain for character in " \"'")
        else visible(segment)
    )
