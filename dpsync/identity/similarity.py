"""Measure how similar an entry and a live object are.

How much an entry that nothing was recognised as looks like a live thing that nobody claims.

Likeness only proposes: no object is ever bound by it. Names with different numbers name different things,
however alike the rest is ("Release 1", "Release 2").

Which entry an object could be that was not in the list when the plan was made. Pure.

Asked when somebody else may have made it meanwhile, and when the answer to our own request was lost.
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
"""From here on two names are alike by themselves."""
SUPPORTED: Final = 0.6
"""Enough where what else is declared agrees."""
_UNLIKE: Final = 0.0

_NOT_WORDS: Final = re.compile(r"[\W_]+")
_NUMBERS: Final = re.compile(r"\d+")


def lookalikes(view: NaturalKeys, resource: Entry, live: Iterable[LiveObject]) -> list[LiveObject]:
    """The objects that look like this entry, the most alike first."""
    texts = _texts(view.kind)
    scored = [(_likeness(view, texts, resource, item), item) for item in live]
    return [item for score, item in sorted(scored, key=lambda one: (-one[0], one[1].id)) if score > _UNLIKE]


def narrowed(
    kind: Kind, resources: Iterable[Entry], live: Sequence[LiveObject], most: int
) -> Callable[[Entry], list[LiveObject]]:
    """Which of the live objects each entry is held against: those with the same numbers in a name.

    Where these are more than `most` pairs, only those with a name that folds to the same.
    """
    by_numbers = _Index(kind, live, _numbers)
    if sum(len(by_numbers.like(resource)) for resource in resources) <= most:
        return by_numbers.like
    return _Index(kind, live, folded).like


class _Index:
    """Live objects by something about their names."""

    def __init__(self, kind: Kind, live: Sequence[LiveObject], about: Callable[[str], Hashable]) -> None:
        self._kind, self._live, self._about = kind, live, about
        self._at: dict[Hashable, list[int]] = defaultdict(list)
        for number, item in enumerate(live):
            for key in self._keys(item):
                self._at[key].append(number)

    def like(self, resource: Entry) -> list[LiveObject]:
        """Those with a name that is alike in this, in their order."""
        at = {number for key in self._keys(resource) for number in self._at.get(key, ())}
        return [self._live[number] for number in sorted(at)]

    def _keys(self, item: Entry | LiveObject) -> set[Hashable]:
        values = ((name, item.fields.get(name)) for name in _texts(self._kind))
        return {(name, self._about(value)) for name, value in values if isinstance(value, str)}


def _likeness(view: NaturalKeys, texts: list[str], resource: Entry, item: LiveObject) -> float:
    names = (_names(resource.fields.get(name), item.fields.get(name)) for name in texts)
    score = max(names, default=_UNLIKE)
    if score >= ALIKE:
        return score
    return score if score >= SUPPORTED and _agrees(view, resource, item) else _UNLIKE


def _texts(kind: Kind) -> list[str]:
    return [name for name in kind.identity_fields if not kind.field(name).type.refers]


def _names(one: Value, other: Value) -> float:
    """1 for names that differ in case, spaces and punctuation alone; else the share they have in common."""
    if not isinstance(one, str) or not isinstance(other, str):
        return _UNLIKE
    a, b = folded(one), folded(other)
    if not a or not b or _numbers(one) != _numbers(other):
        return _UNLIKE
    if a == b:
        return 1.0
    if 2 * len(_letters(a) & _letters(b)) / (len(a) + len(b)) < SUPPORTED:
        return _UNLIKE  # in whatever order: comparing takes far longer than counting
    return SequenceMatcher(None, a, b, autojunk=False).ratio()


@lru_cache(1 << 16)
def folded(name: str) -> str:
    """A name without what people overlook in it."""
    return _NOT_WORDS.sub("", unicodedata.normalize("NFKC", name).casefold())


@lru_cache(1 << 12)
def _letters(text: str) -> frozenset[tuple[str, int]]:
    """Each letter, the second of its kind as another one, and so on."""
    return frozenset((letter, which) for letter, times in Counter(text).items() for which in range(times))


@lru_cache(1 << 16)
def _numbers(name: str) -> tuple[str, ...]:
    return tuple(_NUMBERS.findall(folded(name)))


def _agrees(view: NaturalKeys, resource: Entry, item: LiveObject) -> bool:
    """Whether everything else that is declared and readable is as it is live, and there is something."""
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
    """The new objects that this entry could be: those on the first natural key that finds any.

    Of several, those on which the most tie-breakers agree.
    """
    for key in view.kind.identity:
        value = view.wanted(resource, key)
        hits = [item for item in newcomers if value is not None and view.has(item, key, value)]
        if hits:
            best = max(view.tie_breakers(resource, item) for item in hits)
            return [item for item in hits if view.tie_breakers(resource, item) == best]
    return []


def rivals(view: NaturalKeys, found: LiveObject, others: Iterable[Entry]) -> list[Entry]:
    """The other entries that are not made yet and that a new object could be just as well."""
    return [other for other in others if could_be(view, other, [found])]
