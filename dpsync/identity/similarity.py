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
    name_fields = _name_fields(natural_keys.kind)
    scored = [(_similarity(natural_keys, name_fields, entry, candidate), candidate) for candidate in live]
    scored.sort(key=lambda score_and_object: (-score_and_object[0], score_and_object[1].id))
    return [candidate for score, candidate in scored if score > _NOT_SIMILAR]


def comparison_filter(
    kind: Kind, entries: Iterable[Entry], live: Sequence[LiveObject], max_pairs: int
) -> Callable[[Entry], list[LiveObject]]:
    """Return a function that finds the live objects whose names must be compared with those of an entry.

    These are the objects with the same numbers in a name. If that makes more than `max_pairs` pairs, they
    are only the objects whose name differs in case, spaces and punctuation alone.
    """
    by_numbers = _NamePropertyIndex(kind, live, _numbers)
    if sum(len(by_numbers.with_same_property(entry)) for entry in entries) <= max_pairs:
        return by_numbers.with_same_property
    return _NamePropertyIndex(kind, live, fold_name).with_same_property


class _NamePropertyIndex:
    """An index of live objects by a property of their names, for example the numbers in the names."""

    def __init__(
        self, kind: Kind, live: Sequence[LiveObject], property_of: Callable[[str], Hashable]
    ) -> None:
        """Index live objects by `property_of` of each of their names."""
        self._kind, self._live, self._property_of = kind, live, property_of
        self._positions: dict[Hashable, list[int]] = defaultdict(list)
        for position, live_object in enumerate(live):
            for key in self._keys(live_object):
                self._positions[key].append(position)

    def with_same_property(self, entry: Entry) -> list[LiveObject]:
        """Return the objects with a name that has the same property, in live order."""
        positions = {position for key in self._keys(entry) for position in self._positions.get(key, ())}
        return [self._live[position] for position in sorted(positions)]

    def _keys(self, item: Entry | LiveObject) -> set[Hashable]:
        """Return the property of each name of an entry or object, with the name of the field."""
        values = ((field, item.fields.get(field)) for field in _name_fields(self._kind))
        return {(field, self._property_of(value)) for field, value in values if isinstance(value, str)}


def _similarity(natural_keys: NaturalKeys, name_fields: list[str], entry: Entry, live: LiveObject) -> float:
    """Return the similarity of an entry and a live object from 0 to 1.

    The best similarity of a name counts; a moderate one counts only if the other fields agree.
    """
    names = (_name_similarity(entry.fields.get(field), live.fields.get(field)) for field in name_fields)
    score = max(names, default=_NOT_SIMILAR)
    if score >= MIN_NAME_SIMILARITY:
        return score
    return (
        score
        if score >= MIN_SUPPORTED_SIMILARITY and _other_fields_agree(natural_keys, entry, live)
        else _NOT_SIMILAR
    )


def _name_fields(kind: Kind) -> list[str]:
    """Return the fields of the natural keys of a kind that are names, not references."""
    return [name for name in kind.natural_key_fields if not kind.field(name).type.referenced_kinds]


def _name_similarity(first: Value, second: Value) -> float:
    """Return the similarity of two names from 0 to 1; 1 if they differ in case and punctuation alone."""
    if not isinstance(first, str) or not isinstance(second, str):
        return _NOT_SIMILAR
    folded_first, folded_second = fold_name(first), fold_name(second)
    if not folded_first or not folded_second or _numbers(first) != _numbers(second):
        return _NOT_SIMILAR
    if folded_first == folded_second:
        return 1.0
    if (
        2 * len(_letters(folded_first) & _letters(folded_second)) / (len(folded_first) + len(folded_second))
        < MIN_SUPPORTED_SIMILARITY
    ):
        return _NOT_SIMILAR  # counting letters is much faster than SequenceMatcher
    return SequenceMatcher(None, folded_first, folded_second, autojunk=False).ratio()


@lru_cache(1 << 16)
def fold_name(name: str) -> str:
    """Return a name without case, spaces and punctuation."""
    return _NOT_WORDS.sub("", unicodedata.normalize("NFKC", name).casefold())


@lru_cache(1 << 12)
def _letters(text: str) -> frozenset[tuple[str, int]]:
    """Return the letters of a text as a multiset: each with its number among equal letters."""
    return frozenset((letter, number) for letter, count in Counter(text).items() for number in range(count))


@lru_cache(1 << 16)
def _numbers(name: str) -> tuple[str, ...]:
    """Return the numbers in a name, in order."""
    return tuple(_NUMBERS.findall(fold_name(name)))


def _other_fields_agree(natural_keys: NaturalKeys, entry: Entry, live: LiveObject) -> bool:
    """Return whether all other readable fields agree, and at least one of them is not a default.

    Fields that are natural keys are left out, except those of children.
    """
    has_evidence = False
    for name, value in entry.fields.items():
        field = natural_keys.kind.field(name)
        if name in natural_keys.kind.natural_key_fields or field.response_path is None or value is None:
            continue
        if natural_keys.comparable(value) != natural_keys.comparable(live.fields.get(name)):
            return False
        has_evidence |= value != field.value_when_absent
    for key in natural_keys.kind.natural_keys:
        children = [part for part in ((key,) if isinstance(key, str) else key) if part.startswith("$child.")]
        for part in children:
            child_value = natural_keys.declared_value(entry, part)
            if child_value is not None and not natural_keys.object_has(live, part, child_value):
                return False
            has_evidence |= child_value is not None
    return has_evidence


def new_objects_matching(
    natural_keys: NaturalKeys, entry: Entry, new_objects: Sequence[LiveObject]
) -> list[LiveObject]:
    """Return the new objects that an entry could be, by the first natural key that finds any.

    If there are several, the tie-breakers decide; the result has all that are equally good.
    """
    for key in natural_keys.kind.natural_keys:
        value = natural_keys.declared_value(entry, key)
        hits = [
            candidate
            for candidate in new_objects
            if value is not None and natural_keys.object_has(candidate, key, value)
        ]
        if hits:
            best = max(natural_keys.tie_breakers(entry, candidate) for candidate in hits)
            return [candidate for candidate in hits if natural_keys.tie_breakers(entry, candidate) == best]
    return []


def competing_entries(
    natural_keys: NaturalKeys, new_object: LiveObject, unmatched_entries: Iterable[Entry]
) -> list[Entry]:
    """Return the other entries without an object that a new object could be as well."""
    return [other for other in unmatched_entries if new_objects_matching(natural_keys, other, [new_object])]
