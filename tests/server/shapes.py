"""A small language for what an answer must look like, apart from the companion's own models.

A shape is a function from a value and the place where it is to the complaints about it.

    USER = thing("user", {"id": ID, "displayName": TEXT}, {"email": TEXT})

is an object with the discriminator `user`, two members that are always there, one that may be, and no other.
A shape takes null only where it says so with `nullable`.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any

Shape = Callable[[Any, str], Iterator[str]]


def _is(test: Callable[[Any], object], what: str) -> Shape:
    def shape(value: Any, at: str) -> Iterator[str]:
        if not test(value):
            yield f"{at}: {what} expected, not {value!r:.80}"

    return shape


def text(least: int = 0, most: int | None = None, pattern: str = "") -> Shape:
    def fits(value: Any) -> bool:
        return (
            isinstance(value, str)
            and least <= len(value)
            and (most is None or len(value) <= most)
            and (not pattern or re.fullmatch(pattern, value) is not None)
        )

    return _is(fits, f"a text of {least} to {most} characters{f' like {pattern}' if pattern else ''}")


def one_of(*values: str) -> Shape:
    return _is(lambda value: isinstance(value, str) and value in values, f"one of {values}")


def _is_moment(value: Any) -> bool:
    """ISO 8601 with date, time and zone."""
    if not isinstance(value, str) or "T" not in value:
        return False
    try:
        return datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False


ANY: Shape = _is(lambda _value: True, "anything")
TEXT = text()
ID = text(1, pattern=r"[a-zA-Z0-9_-]+")
FLAG = _is(lambda value: isinstance(value, bool), "true or false")
INTEGER = _is(lambda value: type(value) is int, "an integer")
COUNT = _is(lambda value: type(value) is int and value >= 0, "a count")
NUMBER = _is(lambda value: type(value) in (int, float), "a number")
MOMENT = _is(_is_moment, "a date and time")
URL = text(1, 2048, r"[a-z][a-z0-9+.-]*:\S+")
FREE = _is(lambda value: isinstance(value, dict), "an object")


def nullable(shape: Shape) -> Shape:
    def either(value: Any, at: str) -> Iterator[str]:
        if value is not None:
            yield from shape(value, at)

    return either


def many(shape: Shape) -> Shape:
    def items(value: Any, at: str) -> Iterator[str]:
        if not isinstance(value, list):
            yield f"{at}: a list expected, not {value!r:.80}"
            return
        for number, item in enumerate(value):
            yield from shape(item, f"{at}[{number}]")

    return items


def mapped(shape: Shape) -> Shape:
    """Return the shape of an object whose members all have the same shape."""

    def values(value: Any, at: str) -> Iterator[str]:
        if not isinstance(value, dict):
            yield f"{at}: an object expected, not {value!r:.80}"
            return
        for name, item in value.items():
            yield from shape(item, f"{at}.{name}")

    return values


def either(*shapes: Shape) -> Shape:
    """Return a shape that fits if one of these shapes fits."""

    def any_of(value: Any, at: str) -> Iterator[str]:
        complaints = [list(shape(value, at)) for shape in shapes]
        if all(complaints):
            yield from min(complaints, key=len)

    return any_of


def members(needed: Mapping[str, Shape], other: Mapping[str, Shape] | None = None) -> Shape:
    """Return the shape of an object with these members and no others."""
    known = {**needed, **(other or {})}

    def shape(value: Any, at: str) -> Iterator[str]:
        if not isinstance(value, dict):
            yield f"{at}: an object expected, not {value!r:.80}"
            return
        yield from (f"{at}.{name}: missing" for name in needed if name not in value)
        for name, item in value.items():
            if name in known:
                yield from known[name](item, f"{at}.{name}")
            else:
                yield f"{at}.{name}: no such member"

    return shape


def thing(kind: str, needed: Mapping[str, Shape], other: Mapping[str, Shape] | None = None) -> Shape:
    """Return the shape of a resource, whose kind is in `object`."""
    return members({"object": one_of(kind), **needed}, other)


def page(item: Shape, **more: Shape) -> Shape:
    """Return the shape of a page of a list. The count is that of the whole list."""
    envelope = members({"count": COUNT, "items": many(item), **more}, {"next": members({"page": text(1)})})

    def shape(value: Any, at: str) -> Iterator[str]:
        yield from envelope(value, at)
        if isinstance(value, dict) and len(value.get("items", ())) > value.get("count", 0):
            yield f"{at}: more items than the count says"

    return shape


def lazily(find: Callable[[], Shape]) -> Shape:
    """For what holds things of its own kind."""

    def shape(value: Any, at: str) -> Iterator[str]:
        yield from find()(value, at)

    return shape
