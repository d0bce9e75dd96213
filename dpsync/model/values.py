"""Define the values of fields that are not plain JSON: references, ids of live objects, secrets; walk values.

In a plan, each of these values is a marker: a JSON object with one reserved key. Data that looks like a
marker, from a file or from GitBook, is wrapped in `{"dpsync:data": …}`, so that dpsync never mistakes data
for a marker.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct
from pydantic_core import to_json

from dpsync.model.address import Address

REF_MARKER, ID_MARKER, ENV_MARKER = "dpsync:ref", "dpsync:id", "dpsync:env"
DATA_MARKER = "dpsync:data"
MARKERS = frozenset({REF_MARKER, ID_MARKER, ENV_MARKER, DATA_MARKER})

Value = Any
"""JSON, with Ref, LiveId and Secret allowed at any depth."""
PLAIN_TYPES = frozenset({str, bool, int, float, type(None)})
"""The types of leaves that are JSON as they are: nothing is to be looked for in them."""


class Ref(Struct, frozen=True):
    """A reference to an entry, or to a live object that is looked up by its natural key."""

    address: Address


class LiveId(Struct, frozen=True):
    """A reference to an object of the platform by its id."""

    id: str


class Secret(Struct, frozen=True):
    """A secret, written as `{env: NAME}`. dpsync resolves it only when a request is sent."""

    variable: str


def map_leaves(value: Value, change: Callable[[Any], Any]) -> Value:
    """Return the value with each leaf (also references, ids and secrets) replaced by `change(leaf)`.

    Keys are sorted, so that no plan depends on their order in the files or on GitBook.
    """
    if isinstance(value, dict):
        return {key: map_leaves(value[key], change) for key in sorted(value)}
    if isinstance(value, list | tuple):
        return [map_leaves(item, change) for item in value]
    return change(value)


def leaves(value: Value) -> Iterator[Any]:
    """Yield every leaf of the value, including references, ids and secrets."""
    if isinstance(value, dict):
        for member in value.values():
            yield from leaves(member)
    elif isinstance(value, list | tuple):
        for member in value:
            yield from leaves(member)
    else:
        yield value


def has_null(value: Value) -> bool:
    """Return whether a value, or a member of it at any depth, is null. Items of lists do not count."""
    return value is None or (isinstance(value, dict) and any(map(has_null, value.values())))


def references(value: Value) -> set[Address]:
    """Return the addresses of all references in a value."""
    if type(value) in PLAIN_TYPES:
        return set()
    if isinstance(value, Ref):
        return {value.address}
    return {leaf.address for leaf in leaves(value) if isinstance(leaf, Ref)}


def live_ids(value: Value) -> set[str]:
    """Return the ids of all live objects in a value."""
    if type(value) in PLAIN_TYPES:
        return set()
    if isinstance(value, LiveId):
        return {value.id}
    return {leaf.id for leaf in leaves(value) if isinstance(leaf, LiveId)}


def reference_text(plain: Any) -> str:
    """Return the address or id in a reference that is written as plain JSON; "" for another value."""
    if isinstance(plain, dict) and len(plain) == 1 and plain.keys() <= {REF_MARKER, ID_MARKER}:
        return str(*plain.values())
    return ""


def to_plain(value: Value) -> Value:
    """Return a value as plain JSON for plans and journals: references, ids and secrets become markers.

    A reference to `acme/teams/docs` becomes `{"dpsync:ref": "acme/teams/docs"}`. Data that looks like a
    marker is wrapped.
    """
    match value:
        case dict():
            plain = {key: to_plain(value[key]) for key in sorted(value)}
            return {DATA_MARKER: plain} if len(plain) == 1 and plain.keys() <= MARKERS else plain
        case list() | tuple():
            return [to_plain(item) for item in value]
        case Ref(address):
            return {REF_MARKER: str(address)}
        case LiveId(id):
            return {ID_MARKER: id}
        case Secret(env):
            return {ENV_MARKER: env}
    return value


def unwrap_data(plain: Value) -> dict[str, Value] | None:
    """Return the data inside `{"dpsync:data": …}`; None for any other value."""
    inner = plain.get(DATA_MARKER) if isinstance(plain, dict) and len(plain) == 1 else None
    return inner if isinstance(inner, dict) else None


def marker_names(value: Value, marker: str) -> set[str]:
    """Return the names in all markers of one type in plain JSON, such as the addresses of all references.

    A marker is an object with only the member `marker`, whose value is the name. Data of users that could
    look like markers are wrapped, and are unwrapped here.
    """
    if (data := unwrap_data(value)) is not None:
        return set().union(*(marker_names(member, marker) for member in data.values()))
    if isinstance(value, dict):
        if set(value) == {marker}:
            return {value[marker]}
        return set().union(*(marker_names(member, marker) for member in value.values()))
    if isinstance(value, list):
        return set().union(*(marker_names(item, marker) for item in value))
    return set()


def fill_markers(value: Value, resolve: Callable[[str, str], Any]) -> Value:
    """Return plain JSON with each marker replaced by `resolve(marker, name)`, and wrapped data unwrapped.

    A marker is an object with one member that stands for a reference, an id or an environment variable.
    """
    if (data := unwrap_data(value)) is not None:
        return {key: fill_markers(member, resolve) for key, member in data.items()}
    if isinstance(value, dict):
        if len(value) == 1:
            (key, name), *_ = value.items()
            if key in (REF_MARKER, ID_MARKER, ENV_MARKER):
                return resolve(key, name)
        return {key: fill_markers(member, resolve) for key, member in value.items()}
    if isinstance(value, list):
        return [fill_markers(item, resolve) for item in value]
    return value


def canonical_json(value: Value) -> bytes:
    """Return the JSON text of a value, with sorted keys, so that equal values have equal texts."""
    if type(value) in PLAIN_TYPES:
        return to_json(value)

    def ordered(part: Any) -> Any:
        """Return plain data with sorted keys."""
        if isinstance(part, dict):
            return {key: ordered(part[key]) for key in sorted(part)}
        if isinstance(part, list):
            return [ordered(item) for item in part]
        return part

    return to_json(ordered(to_plain(value)))


def digest(value: Value) -> str:
    """Return the SHA-256 of the canonical form, in hexadecimal."""
    return hashlib.sha256(canonical_json(value)).hexdigest()
