"""Pause Python's garbage collector while dpsync creates many objects that stay.

The collector would scan these objects many times.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """Turn off the search for cycles inside the block, and restore the previous state afterwards."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@contextmanager
def collector_paused_then_frozen() -> Iterator[None]:
    """Turn off the search for cycles, and exempt the objects of the whole process from it afterwards.

    So the process ends without a last scan of all objects. Only an entry point may use this, because it
    affects every object of the process.
    """
    with collector_paused():
        try:
            yield
        finally:
            gc.freeze()


@contextmanager
def collector_running() -> Iterator[None]:
    """Turn the search for cycles on inside a pause, for objects of a long block. Older objects are exempt."""
    paused = not gc.isenabled()
    if paused:
        gc.freeze()
        gc.enable()
    try:
        yield
    finally:
        if paused:
            gc.disable()
