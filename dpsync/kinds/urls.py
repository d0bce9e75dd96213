"""Fills the path templates of a kind: ancestors' ids, the parent's URL, the object's own id."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from urllib.parse import quote

from dpsync.kinds.kind import Kind
from dpsync.kinds.registry import Registry

Chain = Sequence[tuple[str, str]]
"""Kind and id of the parent, its parent, and so on up to the organization."""

_NAME = re.compile(r"\{(\w+)\}")
_UNMADE = re.compile(r"\{[^{}]+\}")


def expand(
    registry: Registry,
    kind: Kind,
    template: str,
    id: str | None,
    chain: Chain,
    more: Mapping[str, str] | None = None,
) -> str:
    """The path with every name filled in. An id of the form `{address}` stands for one not known yet."""

    def fill(match: re.Match[str]) -> str:
        name = match[1]
        if name == "self":
            return expand(registry, kind, kind.at, id, chain)
        if name == "parent":
            (parent, parent_id), *above = chain
            return expand(registry, registry[parent], registry[parent].at, parent_id, above)
        # After the words of every kind: a collection has a field of its own that is called parent.
        if more and name in more:
            return segment(more[name])
        if name in ("id", kind.name) and id is not None:
            return segment(id, kind)
        return segment(next(other for around, other in chain if around == name), registry[name])

    return _NAME.sub(fill, template)


def segment(id: str, kind: Kind | None = None) -> str:
    """An id as one segment of a path, or as several where its kind says that it has several parts."""
    if _UNMADE.fullmatch(id):
        return id
    has_parts = kind is not None and "{" in kind.id and _has_parts(id, kind.id)
    return quote(id, safe="@/" if has_parts else "@")


def _has_parts(id: str, template: str) -> bool:
    """Return whether an id matches a template like `{integration.name}/installations/{installation.id}`."""
    given, wanted = id.split("/"), template.split("/")
    return len(given) == len(wanted) and all(
        "{" in name or part == name for part, name in zip(given, wanted, strict=True)
    )


def split_query(path: str) -> tuple[str, dict[str, str] | None]:
    """A template may end in one query: `/sites?space=ID`."""
    path, _, query = path.partition("?")
    return path, dict(part.split("=", 1) for part in query.split("&")) if query else None
