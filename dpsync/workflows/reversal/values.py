"""The values of before, as a file would say them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dpsync.model.entries.values import ENV, LIVE, LiveId, Secret, Value, fill, leaves
from dpsync.model.texts.mask import HIDDEN


class CannotComeBack(Exception):
    """A value of before that cannot be written again: why."""


def value_of(plain: Any, known: Callable[[str], Value]) -> Value:
    """The value that a plan shows, as a file would say it. Raises CannotComeBack."""

    def of(marker: str, name: str) -> Value:
        if marker == ENV:
            return Secret(name)
        return LiveId(name) if marker == LIVE else known(name)

    value = fill(plain, of)
    if any(isinstance(leaf, str) and HIDDEN in leaf for leaf in leaves(value)):
        raise CannotComeBack("it held a secret, which is in no plan and no journal")
    return value
