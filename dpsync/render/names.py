"""Name kinds, fields and objects in sentences, and sort them naturally.

- `Names` makes short names, such as `section webhooks "Webhooks" in developers`, and addresses where a short
  name is ambiguous.
- `in_natural_order` sorts `gen-2` before `gen-10`. The order is for readers only: a plan keeps its own order,
  from which its digest is computed.
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
from dpsync.kinds.types import OneOf, Page
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
    """Return the sort key of a name that puts `gen-2` before `gen-10`.

    Two names have the same key only if they are equal.
    """
    texts, numbers = _NUMBER.split(name)[::2], _NUMBER.findall(name)
    # A number is compared by its digits: int() refuses very long ones.
    digits = [number.lstrip("0") for number in numbers]
    parts = [(text, len(digit), digit) for text, digit in zip(texts, [*digits, ""], strict=True)]
    return (*parts, (name, 0, ""))


def natural_address_key(address: Address) -> tuple[NaturalKey, ...]:
    """Return the sort key of an address: the natural key of each segment."""
    return tuple(map(natural_key, address.segments))


def in_natural_order(
    items: Collection[Item], address: Callable[[Item], Address], last: Callable[[Item], bool]
) -> tuple[Item, ...]:
    """Return items in the natural order of their addresses; those for which `last` holds come last.

    Siblings with an order of their own keep it: entries of a navigation, and entries that are not sorted by
    name. Items that come last are sorted by name everywhere, since deleted entries have no order any more.
    """
    positions: dict[Address, int] = {}  # of addresses and their parents, in the order of their appearance
    keys_by_list: dict[Address, list[str]] = defaultdict(list)
    for item in items:
        if last(item):
            continue
        for ancestor in list(address(item).self_and_ancestors())[::-1]:
            if ancestor not in positions:
                positions[ancestor] = len(positions)
                keys_by_list[ancestor.list_address].append(ancestor.last_segment)
    lists_by_name = {
        list_address
        for list_address, keys in keys_by_list.items()
        if keys == sorted(keys) and _NAVIGATION_SEGMENT not in list_address.segments
    }

    def sort_key(item: Item) -> tuple[bool, list[tuple[int, NaturalKey]]]:
        is_last = last(item)
        segments = []
        for ancestor in list(address(item).self_and_ancestors())[::-1]:
            by_name = is_last or ancestor.list_address in lists_by_name
            segments.append((0 if by_name else positions[ancestor], natural_key(ancestor.last_segment)))
        return is_last, segments

    return tuple(sorted(items, key=sort_key))


_PERMISSIONS_SEGMENT: Final = "permissions"
_NEEDS_NO_QUOTES: Final = re.compile(r"[A-Za-z0-9/][^\s{}\[\],\"'#]*")


class Names:
    """Short names for the objects of one plan or drift, such as `section webhooks "Webhooks" in developers`.

    An object whose short name would be ambiguous has its address as its name.
    """

    def __init__(
        self,
        addresses: Iterable[str],
        several_organizations: bool = False,
        pages: Mapping[str, Mapping[str, str]] | None = None,
    ) -> None:
        """Make names for all addresses that a plan knows.

        Args:
            addresses: All known addresses, because a short name must not fit two of them.
            several_organizations: Whether there are several organizations, so that every name is an address.
            pages: The paths of pages by page id, by the address of the site space.
        """
        self._has_several_organizations = several_organizations
        self._pages = pages or {}
        parsed = {Address.parse(address.partition("#")[0]) for address in addresses}
        self._title_counts = Counter(
            (*_last_segments(address), _shown_parent_key(address)) for address in parsed
        )
        self._key_counts = Counter(map(_last_segments, parsed))

    def title(self, kind: str, address: str, label: str = "", group: str | None = None) -> str:
        """Return kind, key, title and parent of an object: `section webhooks "Webhooks" in developers`.

        `label` is the title of the object, `group` the path of the group that contains it.
        """
        key, parent = self._key_and_parent(kind, address, group)
        is_redundant = not label or visible(label) == key or f"[{visible(label)}]" == key
        title = "" if is_redundant else f'"{visible(label)}"'
        return " ".join(filter(None, (kind_noun(kind), key, title, parent)))

    def key(self, kind: str, address: str, group: str | None = None) -> str:
        """Return the key of an object and its parent, such as `webhooks in developers`, or its address."""
        return " ".join(filter(None, self._key_and_parent(kind, address, group)))

    def _key_and_parent(self, kind: str, address: str, group: str | None) -> tuple[str, str]:
        """Return the key of an object and "in PARENT"; its address and "" if the short name is ambiguous."""
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
        """Return a recorded value in which each reference has the key of its object in place of the address.

        `{"dpsync:ref": "acme/teams/docs"}` is such a reference. Other mappings with a marker are unchanged.
        """
        match value:
            case dict() if set(value) == {REF_MARKER} and isinstance(value[REF_MARKER], str):
                return {REF_MARKER: self.reference(value[REF_MARKER])}
            case dict() if DATA_MARKER not in value:
                return {name: self.with_keys(member) for name, member in value.items()}
            case list():
                return [self.with_keys(member) for member in value]
        return value

    def as_in_files(self, kind: str, field: str, value: Any) -> Any:
        """Return the value of a field as people write it in files.

        References are keys (`guides/en` for a site space in a section), page ids are paths, and the value has
        the short form of its type, if it has one.
        """
        declaration = _kinds().get(kind)
        fields = declaration.fields if declaration is not None else ()
        field_declaration = next((known for known in fields if known.name == field), None)
        if field_declaration is None or not isinstance(value, dict):
            return self.with_keys(value)
        type_ = field_declaration.type
        value = dict(value)
        form = type_.forms.get(str(value.get(type_.tag))) if isinstance(type_, OneOf) else None
        for name, part in form.parts.items() if form is not None else ():
            if isinstance(part, Page) and name in value:
                paths = self._pages.get(reference_text(value.get(part.site_space_part)), {})
                value[name] = paths.get(str(value[name]), value[name])
        parts = {name: self._key_path(part) for name, part in value.items()}
        has_only_keys = all(
            isinstance(part, str) or (isinstance(part, dict) and set(part) == {ID_MARKER})
            for part in parts.values()
        )
        shortest = type_.shortest_form(parts) if has_only_keys else parts
        if shortest == parts:
            return self.with_keys(value)
        # A text in the marker of a reference is shown without quotation marks.
        return {
            key: {REF_MARKER: part} if isinstance(part, str) and _NEEDS_NO_QUOTES.fullmatch(part) else part
            for key, part in shortest.items()
        }

    def _key_path(self, part: Any) -> Any:
        """Return the keys by which a file refers to an object: `guides/en` for a site space in a section.

        A value that is no reference stays the same.
        """
        if not (isinstance(part, dict) and set(part) == {REF_MARKER} and isinstance(part[REF_MARKER], str)):
            return part
        segments = Address.parse(part[REF_MARKER]).segments
        if _NAVIGATION_SEGMENT not in segments:
            return self.reference(part[REF_MARKER])
        return "/".join(map(_shown_key, segments[segments.index(_NAVIGATION_SEGMENT) + 1 :]))


def names_of(plan: Plan | Drift) -> Names:
    """Return short names for all objects that a plan or a drift knows."""
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
    """Return the noun of a kind for users, such as "section group" for `section_group`."""
    declaration = _kinds().get(kind)
    return (
        visible(kind.replace("_", " ")) if declaration is None else declaration.list_noun or declaration.noun
    )


def delete_noun(kind: str) -> str:
    """Return the noun by which deleted objects of a kind are counted, such as "page" in "2 pages".

    An unknown kind returns its own name, and "" returns "object".
    """
    declaration = _kinds().get(kind)
    return (
        declaration.delete_noun
        if declaration is not None and declaration.delete_noun
        else kind_noun(kind or "object")
    )


def delete_effect(kind: str) -> str:
    """Return what deleting an object of a kind means for people; "" if the noun of the kind says it."""
    declaration = _kinds().get(kind)
    return declaration.delete_effect if declaration is not None else ""


def secret_url_location(kind: str) -> str:
    """Return where a person copies the secret URL of a new object; empty if the kind has no such URL."""
    declaration = _kinds().get(kind)
    return declaration.copy_url_in if declaration is not None else ""


@cache
def _kinds() -> Mapping[str, Kind]:
    """Return the declarations of all kinds by name."""
    return build_registry().declared


def _last_segments(address: Address) -> tuple[str, ...]:
    """Return the depth and the last two segments of an address.

    Two objects with equal results could get the same short name.
    """
    return str(len(address.segments)), *address.segments[-2:]


def _shown_parent_key(address: Address) -> str:
    """Return the key of the parent that belongs in the short name of an object; "" if it needs none."""
    *ancestors, _ = address.segments
    if len(ancestors) < 3 or ancestors[-1] == _NAVIGATION_SEGMENT:
        return ""
    if _NAVIGATION_SEGMENT in ancestors:
        return ancestors[-1]
    return ancestors[-3] if ancestors[-2] == _PERMISSIONS_SEGMENT else ancestors[-2]


def _shown_key(segment: str) -> str:
    """Return a key as people write it: decoded, unless the result would have spaces or quotes."""
    plain = visible(unquote(segment))
    return (
        plain
        if segment.startswith("[") or not any(character in plain for character in " \"'")
        else visible(segment)
    )
