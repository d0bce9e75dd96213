"""Measure how similar an entry and a live object are.

`similar_objects` proposes live objects for an unmatched entry; nothing is matched by similarity alone. Names
with different numbers are never similar ("Release 1", "Release 2").

`new_objects_matching` and `competing_entries` decide which entry a new object could be. dpsync calls them if
somebody else may have created the object since the plan, or if the response to its own create request was
lost.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Final

from dpsync.identity.keys import NaturalKeys
from dpsync.kinds.kind import Kind
from dpsync.model.desired import Entry
from dpsync.model.snapshot import LiveObject
from dpsync.model.values import Value

MIN_NAME_SIMILARITY: Final = 0.8
"""The least similarity at which names alone are enough."""
MIN_SUPPORTED_SIMILARITY: Final = 0.6
"""The least similarity if the other declared fields agree."""
_NOT_SIMILAR: Final = 0.0

_NOT_WORDS: Final = re.compile(r"[\W_]+")
_NUMBERS: Final = re.compile(r"\d+")


def similar_objects(natural_keys: NaturalKeys, entry: Entry, live: Iterable[LiveObject]) -> list[LiveObject]:
    """Return the live objects that are similar to an entry, the most similar first."""
    texts = _name_fields(natural_keys.kind)
    scored = [(_similarity(natural_keys, texts, entry, item), item) for item in live]
    return [
        item for score, item in sorted(scored, key=lambda one: (-one[0], one[1].id)) if score > _NOT_SIMILAR
    ]


def comparison_filter(
    kind: Kind, resources: Iterable[Entry], live: Sequence[LiveObject], max_pairs: int
) -> Callable[[Entry], list[LiveObject]]:
    """Return a function that finds the live objects to compare with an entry.

    These are the objects with the same numbers in a name. If that makes more than `max_pairs` pairs, they
    are only the objects whose name differs in case, spaces and punctuation alone.
    """
    by_numbers = _NamePropertyIndex(kind, live, _numbers)
    if sum(len(by_numbers.with_same_property(resource)) for resource in resources) <= max_pairs:
        return by_numbers.with_same_property
    return _NamePropertyIndex(kind, live, fold_name).with_same_property


class _NamePropertyIndex:
    """Live objects by a property of their names, for example the numbers in the names."""

    def __init__(self, kind: Kind, live: Sequence[LiveObject], about: Callable[[str], Hashable]) -> None:
        self._kind, self._live, self._property_of = kind, live, about
        self._positions: dict[Hashable, list[int]] = defaultdict(list)
        for number, item in enumerate(live):
            for key in self._keys(item):
                self._positions[key].append(number)

    def with_same_property(self, entry: Entry) -> list[LiveObject]:
        """Return the objects with a name that has the same property, in live order."""
        at = {number for key in self._keys(entry) for number in self._positions.get(key, ())}
        return [self._live[number] for number in sorted(at)]

    def _keys(self, item: Entry | LiveObject) -> set[Hashable]:
        values = ((name, item.fields.get(name)) for name in _name_fields(self._kind))
        return {(name, self._property_of(value)) for name, value in values if isinstance(value, str)}


def _similarity(natural_keys: NaturalKeys, texts: list[str], entry: Entry, item: LiveObject) -> float:
    names = (_name_similarity(entry.fields.get(name), item.fields.get(name)) for name in texts)
    score = max(names, default=_NOT_SIMILAR)
    if score >= MIN_NAME_SIMILARITY:
        return score
    return (
        score
        if score >= MIN_SUPPORTED_SIMILARITY and _other_fields_agree(natural_keys, entry, item)
        else _NOT_SIMILAR
    )


def _name_fields(kind: Kind) -> list[str]:
    return [name for name in kind.natural_key_fields if not kind.field(name).type.referenced_kinds]


def _name_similarity(one: Value, other: Value) -> float:
    """Return the similarity of two names from 0 to 1; 1 if they differ in case and punctuation alone."""
    if not isinstance(one, str) or not isinstance(other, str):
        return _NOT_SIMILAR
    a, b = fold_name(one), fold_name(other)
    if not a or not b or _numbers(one) != _numbers(other):
        return _NOT_SIMILAR
    if a == b:
        return 1.0
    if 2 * len(_letters(a) & _letters(b)) / (len(a) + len(b)) < MIN_SUPPORTED_SIMILARITY:
        return _NOT_SIMILAR  # counting letters is much faster than SequenceMatcher
    return SequenceMatcher(None, a, b, autojunk=False).ratio()


@lru_cache(1 << 16)
def fold_name(name: str) -> str:
    """Return a name without case, spaces and punctuation."""
    return _NOT_WORDS.sub("", unicodedata.normalize("NFKC", name).casefold())


@lru_cache(1 << 12)
def _letters(text: str) -> frozenset[tuple[str, int]]:
    """Return the letters of a text as a multiset: each with its number among equal letters."""
    return frozenset((letter, which) for letter, times in Counter(text).items() for which in range(times))


@lru_cache(1 << 16)
def _numbers(name: str) -> tuple[str, ...]:
    return tuple(_NUMBERS.findall(fold_name(name)))


def _other_fields_agree(natural_keys: NaturalKeys, entry: Entry, item: LiveObject) -> bool:
    """Return whether all other readable fields agree, and at least one of them is not a default."""
    compared = False
    for name, value in entry.fields.items():
        field = natural_keys.kind.field(name)
        if name in natural_keys.kind.natural_key_fields or field.response_path is None or value is None:
            continue
        if natural_keys.comparable(value) != natural_keys.comparable(item.fields.get(name)):
            return False
        compared |= value != field.value_when_absent
    for key in natural_keys.kind.natural_keys:
        children = [part for part in ((key,) if isinstance(key, str) else key) if part.startswith("$child.")]
        for part in children:
            wanted = natural_keys.declared_value(entry, part)
            if wanted is not None and not natural_keys.object_has(item, part, wanted):
                return False
            compared |= wanted is not None
    return compared


def new_objects_matching(
    natural_keys: NaturalKeys, entry: Entry, new_objects: Sequence[LiveObject]
) -> list[LiveObject]:
    """Return the new objects that an entry could be, by the first natural key that finds any.

    If there are several, the tie-breakers decide; the result has all that are equally good.
    """
    for key in natural_keys.kind.natural_keys:
        value = natural_keys.declared_value(entry, key)
        hits = [
            item for item in new_objects if value is not None and natural_keys.object_has(item, key, value)
        ]
        if hits:
            best = max(natural_keys.tie_breakers(entry, item) for item in hits)
            return [item for item in hits if natural_keys.tie_breakers(entry, item) == best]
    return []


def competing_entries(
    natural_keys: NaturalKeys, new_object: LiveObject, unmatched_entries: Iterable[Entry]
) -> list[Entry]:
    """Return the other entries without an object that a new object could be as well."""
    return [other for other in unmatched_entries if new_objects_matching(natural_keys, other, [new_object])]
