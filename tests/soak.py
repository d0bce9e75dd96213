"""How much is tried: in a normal run the same slice each time, in a soak (`make soak`) the whole."""

from __future__ import annotations

import os
from collections.abc import Sequence
from random import Random
from typing import TypeVar

SOAK = os.environ.get("DPSYNC_SOAK") == "1"
"""For a long time, and other examples each time."""

Case = TypeVar("Case")


def examples(count: int, soak: int) -> int:
    """How many examples of a property are drawn."""
    return soak if SOAK else count


def seeds(count: int, soak: int) -> range:
    """Return the seeds of a random test: `DPSYNC_EXAMPLES` of them from `DPSYNC_SEED` on, if set."""
    first = int(os.environ.get("DPSYNC_SEED", "0"))
    return range(first, first + (int(os.environ.get("DPSYNC_EXAMPLES", "0")) or examples(count, soak)))


def slice_of(cases: Sequence[Case], count: int) -> list[Case]:
    """`count` of the cases of a matrix, the same ones each time and in their order; all of them in a soak."""
    if SOAK or count >= len(cases):
        return list(cases)
    return [cases[index] for index in sorted(Random(0).sample(range(len(cases)), count))]
