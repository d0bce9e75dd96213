"""Whether a change of a field makes something more visible or more powerful, as its declaration says."""

from __future__ import annotations

from typing import Any, Literal

from dpsync.kinds.base import Field, Lifted
from dpsync.model.values import Value, leaves


def raises(field: Field, before: Value, after: Value) -> bool:
    """Whether something becomes more visible or more powerful when a field of it changes like this."""
    how = field.exposes
    if how is None or after == before:
        return False
    if how == "changed" or how == "moved":
        return True
    if how == "added":
        return bool(added(before, after))
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
