"""Which entry an object could be that was not in the list when the plan was made. Pure.

Asked when somebody else may have made it meanwhile, and when the answer to our own request was lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dpsync.identity.natural_keys import NaturalKeys
from dpsync.model.desired import Entry
from dpsync.model.snapshot import LiveObject


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
