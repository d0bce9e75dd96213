"""Whether an answer has the shape that a kind's declaration needs: ids, declared fields, and their types.

Everything is derived from the declaration. What is wrong is found before anything is decoded, so that a wrong
type is never read as text and a missing member never as an empty one. Members and words that nobody declares
are right: a later edition of the platform may have them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from dpsync.kinds.kind import Field, Kind
from dpsync.kinds.types import Object, Text
from dpsync.kinds.types.base import MISSING, Misfit, unlike
from dpsync.model.ids import id_fault

ID = Text()
NOTHING = object()
"""What is at a path where an answer has no member."""
NAMES = re.compile(r"\{([^{}]+)\}")


class Misshapen(ValueError):
    """An answer without the shape that belongs there.

    `place` leads to the item, `id` is what names it, where it has that.
    """

    def __init__(self, misfit: Misfit, place: str = "", id: str | None = None) -> None:
        self.misfit = misfit
        self.place = place
        self.id = id
        super().__init__(misfit)


class Placed:
    """A context: whatever is found misshapen inside is this item at this place, unless it knows its own.

    No generator, since that would cost more for each item than all that is checked inside.
    """

    __slots__ = ("_item", "_place")

    def __init__(self, place: str, item: Any) -> None:
        self._place, self._item = place, item

    def __enter__(self) -> None:
        pass

    def __exit__(self, _type: object, wrong: BaseException | None, _traceback: object) -> None:
        if isinstance(wrong, Misshapen):
            own = self._item.get("id") if isinstance(self._item, dict) else None
            id = wrong.id or (own if isinstance(own, str) and own else None)
            raise Misshapen(wrong.misfit, wrong.place or self._place, id) from None


def walk(body: Any, path: str) -> Any:
    """The value at a dotted path, or NOTHING. Raises Misshapen when a part of the way is no object."""
    if path and "." not in path and isinstance(body, dict):  # nearly every path
        return body.get(path, NOTHING)
    way = path.split(".") if path else []
    for index, part in enumerate(way):
        if body is None and index:
            return NOTHING
        if isinstance(body, list) and part.isdigit() and int(part) < len(body):
            body = body[int(part)]
        elif not isinstance(body, dict):
            raise Misshapen(_under(unlike(body, "an object"), ".".join(way[:index])))
        elif part not in body:
            return NOTHING
        else:
            body = body[part]
    return body


def check(kind: Kind, body: Any, has_id: bool = True) -> dict[str, Any]:
    """The values of an item's fields as they are on the wire; NOTHING for a member that is not there.

    Raises Misshapen for the first thing about the item that does not fit its kind.
    """
    if not isinstance(body, dict):
        raise Misshapen(unlike(body, "an object"))
    try:
        for name in names_of(kind.id) if has_id else ():
            check_id(body, name)
        found = {item.name: _on_wire(item, body) for item in kind.read_fields}
        if kind.lifecycle.restore is not None:
            _optional(ID, walk(body, kind.lifecycle.restore.deleted), kind.lifecycle.restore.deleted)
    except Misshapen as wrong:
        raise Misshapen(wrong.misfit, id=known_id(kind, body)) from None
    return found


def misfits(kind: Kind, body: Any, has_id: bool = True) -> list[Misfit]:
    """Return everything about an item that does not fit its kind, with at most one misfit for each field."""
    if not isinstance(body, dict):
        return [unlike(body, "an object")]
    found: list[Misfit] = []
    for name in names_of(kind.id) if has_id else ():
        try:
            check_id(body, name)
        except Misshapen as wrong:
            found.append(wrong.misfit)
    for item in kind.read_fields:
        try:
            _on_wire(item, body)
        except Misshapen as wrong:
            found.append(wrong.misfit)
    return found


def check_written(kind: Kind, body: Any) -> None:
    """What is laid under a body that replaces everything: an object, with members as they are written."""
    if not isinstance(body, dict):
        raise Misshapen(unlike(body, "an object"))
    for item in kind.fields:
        if item.on in ("update", "both") and item.source is not None:
            _optional(item.type, body.get(item.wire, NOTHING), item.wire)


def check_member(body: Any, name: str, type: type, expected: str) -> Any:
    """The member of an object that must be there. Raises Misshapen."""
    if not isinstance(body, dict):
        raise Misshapen(unlike(body, "an object"))
    if name not in body:
        raise Misshapen(Misfit(name, expected, MISSING))
    if not isinstance(body[name], type):
        raise Misshapen(unlike(body[name], expected).inside(name))
    return body[name]


def check_id(body: Any, path: str) -> str:
    """Return the id at a path. Raises Misshapen if there is no id, or an id that cannot be a path segment."""
    value = walk(body, path)
    fault = id_fault(value) if isinstance(value, str) else unlike(value, "").found
    if fault is None:
        return str(value)
    raise Misshapen(Misfit(path, "an id", MISSING if value is NOTHING else fault))


def check_different(ids: Iterable[tuple[str, Any, str]]) -> None:
    """Raises Misshapen when two items have one id. Each comes as its place, what names it, and its id."""
    seen: dict[Any, str] = {}
    for place, identity, id in ids:
        if identity in seen:
            raise Misshapen(Misfit("id", "a unique id", f"the id of {seen[identity]}"), place, id)
        seen[identity] = place


def known_id(kind: Kind, body: Any) -> str | None:
    """The id of an item that may be misshapen, for messages: None where there is no proper one."""
    try:
        parts = [check_id(body, name) for name in names_of(kind.id)]
    except Misshapen:
        return None
    return "/".join(parts)


def names_of(template: str) -> list[str]:
    """The dotted names in an id's template; a template without braces is one name."""
    return NAMES.findall(template) if "{" in template else [template]


def _on_wire(item: Field, body: Mapping[str, Any]) -> Any:
    """The value of a readable field on the wire, NOTHING for none. Raises Misshapen when it does not fit."""
    if item.member is not None:  # nearly every field: one that is there, or may be left out
        value = body.get(item.member, NOTHING)
        if value is NOTHING and item.answered == "sometimes":
            return NOTHING
        if value is not NOTHING and value is not None:
            if wrong := item.type.misfit(value):
                raise Misshapen(wrong.inside(item.member))
            return value
    source = item.source
    if not isinstance(source, str):
        found = {name: walk(body, path) for name, path in (source or {}).items()}
        parts = item.type.parts if isinstance(item.type, Object) else {}
        for name, path in (source or {}).items():
            if name in parts:
                _optional(parts[name], found[name], path)
        return {name: part for name, part in found.items() if part is not NOTHING and part is not None}
    value = walk(body, source)
    if item.type.refers and (value is NOTHING or value is None) and _is_there(body, source):
        raise Misshapen(Misfit(source, "an id", MISSING if value is NOTHING else "null"))
    if value is NOTHING and item.answered != "sometimes":
        raise Misshapen(Misfit(source, "a value in every response", MISSING))
    if value is None and item.answered == "always" and (wrong := item.type.misfit(None)):
        raise Misshapen(_under(wrong, source))
    _optional(item.type, value, source)
    return value


def _is_there(body: Any, source: str) -> bool:
    """Whether the object is there that a reference is the id of: an object without its id says nothing."""
    around, _, name = source.rpartition(".")
    return bool(around) and name == "id" and isinstance(walk(body, around), dict)


def _optional(type: Any, value: Any, path: str) -> None:
    """What may be left out may be null, too."""
    if value is not NOTHING and value is not None and (wrong := type.misfit(value)):
        raise Misshapen(_under(wrong, path))


def _under(misfit: Misfit, path: str) -> Misfit:
    return misfit.inside(path) if path else misfit
