"""How much an entry that nothing was recognised as looks like a live thing that nobody claims.

Likeness only proposes: no object is ever bound by it. Names with different numbers name different things,
however alike the rest is ("Release 1", "Release 2").
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from difflib import SequenceMatcher
from typing import Final

from dpsync.identity.view import View
from dpsync.kinds.base import Kind
from dpsync.model.desired import Resource
from dpsync.model.snapshot import LiveObject
from dpsync.model.values import Value

ALIKE: Final = 0.8
"""From here on two names are alike by themselves."""
SUPPORTED: Final = 0.6
"""Enough where what else is declared agrees."""

_NOT_WORDS: Final = re.compile(r"[\W_]+")
_NUMBERS: Final = re.compile(r"\d+")


def lookalikes(view: View, resource: Resource, live: Iterable[LiveObject]) -> list[LiveObject]:
    """The objects that look like this entry, the most alike first."""
    scored = [(_likeness(view, resource, item), item) for item in live]
    return [item for score, item in sorted(scored, key=lambda one: (-one[0], one[1].id)) if score > 0]


def _likeness(view: View, resource: Resource, item: LiveObject) -> float:
    texts = _texts(view.kind)
    score = max((_names(resource.fields.get(name), item.fields.get(name)) for name in texts), default=0)
    if score >= ALIKE:
        return score
    return score if score >= SUPPORTED and _agrees(view, resource, item) else 0.0


def _texts(kind: Kind) -> list[str]:
    return [name for name in kind.identity_fields if not kind.field(name).type.refers]


def _names(one: Value, other: Value) -> float:
    """1 for names that differ in case, spaces and punctuation alone; else the share they have in common."""
    if not isinstance(one, str) or not isinstance(other, str):
        return 0.0
    a, b = folded(one), folded(other)
    if not a or not b or _NUMBERS.findall(a) != _NUMBERS.findall(b):
        return 0.0
    if a == b:
        return 1.0
    matcher = SequenceMatcher(None, a, b, autojunk=False)
    return matcher.ratio() if matcher.quick_ratio() >= SUPPORTED else 0.0


def folded(name: str) -> str:
    """A name without what people overlook in it."""
    return _NOT_WORDS.sub("", unicodedata.normalize("NFKC", name).casefold())


def _agrees(view: View, resource: Resource, item: LiveObject) -> bool:
    """Whether everything else that is declared and readable is as it is live, and there is something."""
    compared = 0
    for name, value in resource.fields.items():
        field = view.kind.field(name)
        if name in view.kind.identity_fields or field.source is None or value is None:
            continue
        if view.form(value) != view.form(item.fields.get(name)):
            return False
        compared += value != field.absent
    for key in view.kind.identity:
        children = [part for part in ((key,) if isinstance(key, str) else key) if part.startswith("$child.")]
        for part in children:
            wanted = view.wanted(resource, part)
            if wanted is not None and not view.has(item, part, wanted):
                return False
            compared += wanted is not None
    return compared > 0
