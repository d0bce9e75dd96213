"""Previous values, with their references as they are now."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from dpsync.config.declaring.recorded import IncompleteValue
from dpsync.kinds.kind import Field
from dpsync.model.entries.values import Ref, Value, transform

Known: TypeAlias = Callable[[str, tuple[str, ...]], Value]
"""Returns the present reference for an address, if its kind is one of these. Raises CannotComeBack."""


class CannotComeBack(Exception):
    """A value of before that cannot be written again: why."""


def value_of(recorded: Mapping[str, Value | IncompleteValue], field: Field, known: Known) -> Value:
    """Return the recorded value of a field, with references from `known`. Raises CannotComeBack."""
    value = recorded[field.name]
    if isinstance(value, IncompleteValue):
        raise CannotComeBack(str(value))
    kinds = field.type.refers
    return transform(value, lambda leaf: known(str(leaf.address), kinds) if isinstance(leaf, Ref) else leaf)
