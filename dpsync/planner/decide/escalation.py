"""Whether a change of a field makes something more visible or more powerful, as its declaration says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from dpsync.kinds.kind import Field, Lifted
from dpsync.model.values import Value, leaves
from dpsync.planner.decide.rule_lists import loosened_rules

_URL: Final = re.compile(r"\s*(?:[a-z][a-z0-9+.-]*:)?//", re.IGNORECASE)
"""How a text begins that leads to a host; one without a scheme takes that of its page."""


def raises(field: Field, before: Value, after: Value) -> bool:
    """Whether something becomes more visible or more powerful when a field of it changes like this."""
    how = field.exposes
    if how is None or after == before:
        return False
    if how == "changed":
        return True
    if how == "set":
        return after is not None
    if how == "added":
        return bool(added(before, after))
    if how == "linked":
        return bool(linked(before, after))
    if how == "hosts":
        return bool(hosts(after) - hosts(before))
    if isinstance(how, Lifted):
        return _lifts(how, before, after)
    return _higher(field, how, before, after)


def direction(field: Field, before: Value, after: Value) -> Literal["expose", "withdraw"] | None:
    """Whether people see more by such a change, or less; None where it is neither, or both."""
    how = field.exposure
    before, after = (field.absent if value is None else value for value in (before, after))
    if not how or before == after:
        return None
    if isinstance(how, Lifted):
        more, less = _lifts(how, before, after), _lifts(how, after, before)
        if more == less:
            return None
        return "expose" if more else "withdraw"
    low, high = (how.index(value) if value in how else 0 for value in (before, after))
    return "expose" if high > low else "withdraw"


def added(before: Value, after: Value) -> list[Value]:
    """The items of a list that another one does not have."""
    return [item for item in after or [] if item not in (before or [])]


def linked(before: Value, after: Value) -> list[str]:
    """The URLs in a value that another one does not hold, in order."""
    known = set(_urls(before))
    return [url for url in dict.fromkeys(_urls(after)) if url not in known]


def hosts(value: Value) -> set[str]:
    """The hosts that the URLs in a value name."""
    return {host for url in _urls(value) if (host := host_of(url)) is not None}


def host_of(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:  # a bracket that nothing closes
        return None


def _urls(value: Value) -> Iterator[str]:
    return (leaf for leaf in leaves(value) if isinstance(leaf, str) and _URL.match(leaf))


def opening(how: Lifted, value: Value) -> set[str]:
    """The words in a value by which it opens."""
    said = list(leaves(value))
    return {word for word in how.opens if word in said}


def _higher(field: Field, scale: tuple[Any, ...], before: Value, after: Value) -> bool:
    low, high = (field.absent if value is None else value for value in (before, after))
    if high is None or high == scale[0] or low == scale[-1]:
        return False
    if low is None or low not in scale or high not in scale:
        return True
    return scale.index(high) > scale.index(low)


def _lifts(how: Lifted, before: Value, after: Value) -> bool:
    found = loosened_rules(how, before, after)
    if found is not None:
        return bool(found)
    if before is None or before in how.free:
        return bool(opening(how, after))
    return not _holds(after, before) or bool(opening(how, after) - opening(how, before))


def _holds(value: Value, part: Value) -> bool:
    """Whether everything that binds in one value binds in another one as well."""
    if isinstance(part, dict):
        return isinstance(value, dict) and all(
            name in value and _holds(value[name], inside) for name, inside in part.items()
        )
    if isinstance(part, list):
        return isinstance(value, list) and all(item in value for item in part)
    return bool(value == part)
