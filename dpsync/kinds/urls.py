"""Fill the URL path templates of a kind, such as `/orgs/{organization}/sites/{id}`, with ids.

Input: a template, the ids of the ancestors, the parent's URL and the object's id. Output: a path.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from urllib.parse import quote

from dpsync.kinds.kind import Kind
from dpsync.kinds.registry import Registry

AncestorIds = Sequence[tuple[str, str]]
"""Kind and id of the parent, its parent, and so on, up to the organization."""

_NAME = re.compile(r"\{(\w+)\}")
_UNKNOWN_ID = re.compile(r"\{[^{}]+\}")


def fill_path_template(
    registry: Registry,
    kind: Kind,
    template: str,
    id: str | None,
    ancestors: AncestorIds,
    field_values: Mapping[str, str] | None = None,
) -> str:
    """Return the URL path for a template, such as `/orgs/o1/sites/s1` for `{parent}/sites/{id}`.

    Args:
        id: The object's id. `{address}` stands for an id that is not known yet.
        ancestors: The parents of the object, from the direct parent up.
        field_values: Values of other names, such as fields.
    """

    def fill(match: re.Match[str]) -> str:
        """Return the text for a name in braces: a path, the id of the object or an ancestor, or a field."""
        name = match[1]
        if name == "self":
            return fill_path_template(registry, kind, kind.url_path, id, ancestors)
        if name == "parent":
            (parent, parent_id), *grandparents = ancestors
            return fill_path_template(
                registry, registry[parent], registry[parent].url_path, parent_id, grandparents
            )
        # Fields come after "parent", because a collection has a field with this name.
        if field_values and name in field_values:
            return id_to_path_segment(field_values[name])
        if name in ("id", kind.name) and id is not None:
            return id_to_path_segment(id, kind)
        return id_to_path_segment(
            next(ancestor_id for kind_name, ancestor_id in ancestors if kind_name == name), registry[name]
        )

    return _NAME.sub(fill, template)


def id_to_path_segment(id: str, kind: Kind | None = None) -> str:
    """Return an id, quoted for a URL path: one segment, or several if ids of the kind have several parts.

    The placeholder in braces of an id that is not known yet stays.
    """
    if _UNKNOWN_ID.fullmatch(id):
        return id
    has_parts = False
    if kind is not None and "{" in kind.id_path:
        # The template of ids is like `{integration.name}/installations/{installation.id}`.
        parts, names = id.split("/"), kind.id_path.split("/")
        has_parts = len(parts) == len(names) and all(
            "{" in name or part == name for part, name in zip(parts, names, strict=True)
        )
    return quote(id, safe="@/" if has_parts else "@")


def split_query(path: str) -> tuple[str, dict[str, str] | None]:
    """Split a path template such as `/sites?space=ID` into path and query parameters.

    The parameters are None without a query.
    """
    path, _, query = path.partition("?")
    return path, dict(part.split("=", 1) for part in query.split("&")) if query else None
