"""Find what `policy: watch` (undeclared fields to report as drift) can name, and parse its values.

It can name fields that give access, and values such as `#visibility=private`.
A pattern with a value needs a field with a fixed list of words, so that a pattern never contains a secret or
free text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from dpsync.kinds.kind import Field, Kind, SingleEntry, TreeNode
from dpsync.kinds.registry import Registry
from dpsync.kinds.types import INVALID, Enum, Flag, List, Type
from dpsync.kinds.types.base import Invalid
from dpsync.model.values import Value

ACCESS_WORD: Final = "access"
"""The word in `policy: watch` that stands for `access_patterns`."""
_NULL_WORD = "null"
_BOOLEANS = {"true": True, "false": False}


def allowed_words(type_: Type) -> tuple[str, ...] | None:
    """Return the words that a value of a type may contain, such as "true" and "false".

    None if the type has no fixed list of words, so that patterns cannot name its values.
    """
    match type_:
        case Flag():
            return tuple(_BOOLEANS)
        case Enum(words=words):
            return words
        case List(item_type=Enum(words=words)):
            return words
    return None


def format_value(field: Field, value: Value) -> str | None:
    """Return a field's value on GitBook as the text in a `watch` pattern (`a,b`), or None.

    No pattern can contain values of other types than flags and words, or words that dpsync does not know.
    """
    if allowed_words(field.type) is None:
        return None
    if value is None:
        return _NULL_WORD
    if isinstance(value, bool):
        return str(value).lower()
    items = value if isinstance(value, list | tuple) else [value]
    is_set = isinstance(field.type, List) and field.type.is_set
    text = ",".join(sorted(map(str, items)) if is_set else map(str, items))
    return None if parse_value(field, text) is INVALID else text


def parse_value(field: Field, text: str) -> Value | Invalid:
    """Return the value for the text in a pattern, or INVALID if the field cannot have the value."""
    words = allowed_words(field.type) or ()
    if text == _NULL_WORD:
        return None
    items = [part.strip() for part in text.split(",")] if text else []
    if isinstance(field.type, List):
        return items if set(items) <= set(words) else INVALID
    if text not in words:
        return INVALID
    return _BOOLEANS.get(text, text) if isinstance(field.type, Flag) else text


def access_patterns(registry: Registry) -> tuple[str, ...]:
    """Return the patterns that `watch: access` stands for: every list and field that gives access."""
    return (*access_places(registry), *access_fields(registry))


def access_places(registry: Registry, excluded: Iterable[tuple[str, str]] = ()) -> tuple[str, ...]:
    """Return patterns for the lists in which one more object gives somebody access.

    `excluded` has lists to leave out, each as the list's key and the kind of the parent.
    """
    excluded_lists = set(excluded)
    patterns = [
        f"{prefix}{kind.key.replace('.', '/')}"
        for kind in registry.in_dependency_order
        for name in (kind.parents if kind.creation_widens_access else ())
        if (kind.key, name) not in excluded_lists and not isinstance(registry[name].shape, TreeNode)
        for prefix in _pattern_prefixes(registry, registry[name])
    ]
    return _sorted(patterns)


def access_fields(registry: Registry) -> tuple[str, ...]:
    """Return patterns, as `*/sites/*#visibility`, for the fields that give access and may be omitted."""
    patterns = [
        f"{prefix.removesuffix('/') or '*'}#{field.name}"
        for kind in registry.in_dependency_order
        for field in kind.fields
        if is_access_default(kind, field)
        for prefix in _pattern_prefixes(registry, kind)
    ]
    return _sorted(patterns)


def is_access_default(kind: Kind, field: Field) -> bool:
    """Return whether an entry may leave out the default value of this field because a pattern watches it."""
    is_always_written = field.required or field.name == kind.shorthand_field
    return (
        field.can_widen_access
        and field.is_watchable
        and not is_always_written
        and not isinstance(kind.shape, TreeNode)
    )


def _sorted(patterns: Iterable[str]) -> tuple[str, ...]:
    """Return the patterns without duplicates, those with fewer segments first."""
    return tuple(sorted(dict.fromkeys(patterns), key=lambda pattern: (pattern.count("/"), pattern)))


def _pattern_prefixes(registry: Registry, kind: Kind) -> Iterator[str]:
    """Yield the prefixes of patterns for fields and lists in any object of a kind, such as `*/sites/*/`.

    There is one for each chain of parent kinds. A pattern may omit the organization, so it has no prefix.
    """
    if kind.parent is None:
        yield ""
        return
    for name in kind.parents:
        for parent_prefix in _pattern_prefixes(registry, registry[name]) if name in registry else ():
            prefix = f"{parent_prefix}{kind.key.replace('.', '/')}/"
            yield prefix if isinstance(kind.shape, SingleEntry) else f"{prefix}*/"
