"""Pause Python's garbage collector while dpsync creates many objects that are kept.

The collector would scan these objects many times, in vain.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """Turn the garbage collector off inside the block, and restore the previous state afterwards."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@contextmanager
def collector_paused_then_frozen() -> Iterator[None]:
    """Turn the garbage collector off inside the block, and exempt all present objects from it afterwards.

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
    """Turn the garbage collector on inside a pause.

    It is for a long block that creates much garbage. Older objects are exempt from its scans.
    """
    paused = not gc.isenabled()
    if paused:
        gc.freeze()
        gc.enable()
    try:
        yield
    finally:
        if paused:
            gc.disable()
