"""Python's garbage collector, paused while much is made that stays: it would look through that many times."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """Cycles are not looked for in here. Afterwards it is as it was before, whatever happens."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@contextmanager
def collector_out_of_the_way() -> Iterator[None]:
    """The same for what a whole process makes: afterwards nothing of it is looked through either.

    So the process ends without a last look through everything. For an entry point alone, as it is about every
    object of the process.
    """
    with collector_paused():
        try:
            yield
        finally:
            gc.freeze()


@contextmanager
def collector_running() -> Iterator[None]:
    """Cycles are looked for in here among what is made in here: for what may take long, inside of a pause."""
    paused = not gc.isenabled()
    if paused:
        gc.freeze()
        gc.enable()
    try:
        yield
    finally:
        if paused:
            gc.disable()
