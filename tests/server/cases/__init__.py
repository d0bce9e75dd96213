"""One good call of every operation, on the built-in world with a space and a collection that no site shows.

Each module of this package has, where it needs them, `IDS` (what a path parameter is), `OTHER_IDS` (where an
operation needs another), `BODIES` and `QUERIES`; the same names here are all of them together.
"""

import importlib
import pkgutil
from typing import Any

IDS: dict[str, str] = {}
OTHER_IDS: dict[str, dict[str, str]] = {}
BODIES: dict[str, Any] = {}
QUERIES: dict[str, str] = {}

for _found in pkgutil.iter_modules(__path__):
    _module = importlib.import_module(f"{__name__}.{_found.name}")
    IDS |= getattr(_module, "IDS", {})
    OTHER_IDS |= getattr(_module, "OTHER_IDS", {})
    BODIES |= getattr(_module, "BODIES", {})
    QUERIES |= getattr(_module, "QUERIES", {})
