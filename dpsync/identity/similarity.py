"""Measure how similar an entry and a live object are.

`lookalikes` proposes live objects for an unmatched entry; nothing is matched by similarity alone. Names with
different numbers are never similar ("Release 1", "Release 2").

`could_be` and `rivals` decide which entry a new object could be. dpsync calls them if somebody else may have
created the object since the plan, or if the response to its own create request was lost.
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

ALIKE: Final = 0.8
"""The least similarity at which names alone are enough."""
SUPPORTED: Final = 0.6
"""The least similarity if the other declared fields agree."""
_NOT_SIMILAR: Final = 0.0

_NOT_WORDS: Final = re.compile(r"[\W_]+")
_NUMBERS: Final = re.compile(r"\d+")


def lookalikes(view: NaturalKeys, resource: Entry, live: Iterable[LiveObject]) -> list[LiveObject]:
    """Return the live objects that are similar to an entry, the most similar first."""
    texts = _name_fields(view.kind)
    scored = [(_similarity(view, texts, resource, item), item) for item in live]
    return [
        item for score, item in sorted(scored, key=lambda one: (-one[0], one[1].id)) if score > _NOT_SIMILAR
    ]


def comparison_candidates(
    kind: Kind, resources: Iterable[Entry], live: Sequence[LiveObject], most: int
) -> Callable[[Entry], list[LiveObject]]:
    """Return a function that finds the live objects to compare with an entry.

    These are the objects with the same numbers in a name. If that makes more than `most` pairs, they are only
    the objects whose name differs in case, spaces and punctuation alone.
    """
    by_numbers = _Index(kind, live, _numbers)
    if sum(len(by_numbers.with_same_property(resource)) for resource in resources) <= most:
        return by_numbers.with_same_property
    return _Index(kind, live, folded).with_same_property


class _Index:
    """Live objects by a property of their names, for example the numbers in the names."""

    def __init__(self, kind: Kind, live: Sequence[LiveObject], about: Callable[[str], Hashable]) -> None:
        self._kind, self._live, self._property_of = kind, live, about
        self._positions: dict[Hashable, list[int]] = defaultdict(list)
        for number, item in enumerate(live):
            for key in self._keys(item):
                self._positions[key].append(number)

    def with_same_property(self, resource: Entry) -> list[LiveObject]:
        """Return the objects with a name that has the same property, in live order."""
        at = {number for key in self._keys(resource) for number in self._positions.get(key, ())}
        return [self._live[number] for number in sorted(at)]

    def _keys(self, item: Entry | LiveObject) -> set[Hashable]:
        values = ((name, item.fields.get(name)) for name in _name_fields(self._kind))
        return {(name, self._property_of(value)) for name, value in values if isinstance(value, str)}


def _similarity(view: NaturalKeys, texts: list[str], resource: Entry, item: LiveObject) -> float:
    names = (_name_similarity(resource.fields.get(name), item.fields.get(name)) for name in texts)
    score = max(names, default=_NOT_SIMILAR)
    if score >= ALIKE:
        return score
    return score if score >= SUPPORTED and _other_fields_agree(view, resource, item) else _NOT_SIMILAR


def _name_fields(kind: Kind) -> list[str]:
    return [name for name in kind.identity_fields if not kind.field(name).type.refers]


def _name_similarity(one: Value, other: Value) -> float:
    """Return the similarity of two names from 0 to 1; 1 if they differ in case and punctuation alone."""
    if not isinstance(one, str) or not isinstance(other, str):
        return _NOT_SIMILAR
    a, b = folded(one), folded(other)
    if not a or not b or _numbers(one) != _numbers(other):
        return _NOT_SIMILAR
    if a == b:
        return 1.0
    if 2 * len(_letters(a) & _letters(b)) / (len(a) + len(b)) < SUPPORTED:
        return _NOT_SIMILAR  # counting letters is much faster than SequenceMatcher
    return SequenceMatcher(None, a, b, autojunk=False).ratio()


@lru_cache(1 << 16)
def folded(name: str) -> str:
    """Return a name without case, spaces and punctuation."""
    return _NOT_WORDS.sub("", unicodedata.normalize("NFKC", name).casefold())


@lru_cache(1 << 12)
def _letters(text: str) -> frozenset[tuple[str, int]]:
    """Return the letters of a text as a multiset: each with its number among equal letters."""
    return frozenset((letter, which) for letter, times in Counter(text).items() for which in range(times))


@lru_cache(1 << 16)
def _numbers(name: str) -> tuple[str, ...]:
    return tuple(_NUMBERS.findall(folded(name)))


def _other_fields_agree(view: NaturalKeys, resource: Entry, item: LiveObject) -> bool:
    """Return whether all other readable fields agree, and at least one of them is not a default."""
    compared = False
    for name, value in resource.fields.items():
        field = view.kind.field(name)
        if name in view.kind.identity_fields or field.source is None or value is None:
            continue
        if view.form(value) != view.form(item.fields.get(name)):
            return False
        compared |= value != field.absent
    for key in view.kind.identity:
        children = [part for part in ((key,) if isinstance(key, str) else key) if part.startswith("$child.")]
        for part in children:
            wanted = view.wanted(resource, part)
            if wanted is not None and not view.has(item, part, wanted):
                return False
            compared |= wanted is not None
    return compared


def could_be(view: NaturalKeys, resource: Entry, newcomers: Sequence[LiveObject]) -> list[LiveObject]:
    """Return the new objects that an entry could be, by the first natural key that finds any.

    If there are several, the tie-breakers decide; the result has all that are equally good.
    """
    for key in view.kind.identity:
        value = view.wanted(resource, key)
        hits = [item for item in newcomers if value is not None and view.has(item, key, value)]
        if hits:
            best = max(view.tie_breakers(resource, item) for item in hits)
            return [item for item in hits if view.tie_breakers(resource, item) == best]
    return []


def rivals(view: NaturalKeys, found: LiveObject, others: Iterable[Entry]) -> list[Entry]:
    """Return the other entries without an object that a new object could be as well."""
    return [other for other in others if could_be(view, other, [found])]
