"""httpx without its command line, which imports rich and pygments wherever they are: a third of its start.

Whoever has imported httpx before keeps what is there.
"""

from __future__ import annotations

import sys

_COMMAND_LINE = "httpx._main"
_whole = "httpx" in sys.modules
if not _whole:
    sys.modules[_COMMAND_LINE] = None  # type: ignore[assignment]  # so importing it fails, which httpx allows for
try:
    import httpx
finally:
    if not _whole:
        del sys.modules[_COMMAND_LINE]

__all__ = ["httpx"]
