"""Visitor conditions, and the schema of the visitor claims of a site.

A condition is an expression such as `visitor.claims.isBeta`. This module reads only the claim names in a
condition.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from dpsync.kinds.types.free_form import Json
from dpsync.kinds.types.scalars import Text
from dpsync.model.text import did_you_mean

_QUOTED = re.compile(r"""(?<!\[)("[^"\\]*(?:\\.[^"\\]*)*"|'[^'\\]*(?:\\.[^'\\]*)*')""")
_CLAIM = re.compile(r"""\bvisitor\.claims((?:\.[A-Za-z_$][\w$-]*|\[(?:"[^"]*"|'[^']*')\])+)""")
_PART = re.compile(r"""\.([\w$-]+)|\[["']([^"']*)["']\]""")


class Condition(Text, frozen=True):
    """An expression that selects the visitors who can see an object."""


class VisitorSchema(Json, frozen=True):
    """The JSON Schema of the claims that conditions of a site may use."""


def claims(condition: str) -> Iterator[tuple[str, ...]]:
    """Yield the path of each claim in a condition, such as ("unsigned", "plan") for a nested claim."""
    for claim in _CLAIM.finditer(_QUOTED.sub('""', condition)):
        yield tuple(name or quoted for name, quoted in _PART.findall(claim[1]))


def unknown_claim(path: tuple[str, ...], schema: Any) -> tuple[str, str] | None:
    """Return the first part of a claim path that the schema does not define, and a hint; None if all are.

    A name after a text, a number or a list is a property of the value, not a claim.
    """
    at = schema
    for depth, name in enumerate(path):
        known = at.get("properties") if isinstance(at, dict) else None
        if not isinstance(known, dict):
            return None
        if name not in known:
            nearest = did_you_mean(name, known)
            names = ", ".join(sorted(known)) or "no claims"
            hint = f'did you mean "{nearest}"?' if nearest else f"the schema defines: {names}"
            return ".".join(path[: depth + 1]), hint
        at = known[name]
    return None
