"""Define mappings that are computed on first use, because most of a large plan is never printed.

Not in `frozen`, so that importing this module does not import pydantic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler
    from pydantic_core import CoreSchema, core_schema


S = TypeVar("S")
V = TypeVar("V")
OMIT_DEFERRED: Final = "deferred mappings left out"
"""The serialization context in which a LazyMapping is written as empty, so that it is not computed."""


class LazyMapping(Mapping[str, V], Generic[V]):
    """A mapping whose items are computed on first use.

    `make` returns pairs of key and source; it is called at the first access. `value` turns a source into the
    value; it is called at each access. Keys are sorted; of equal keys, the last one counts.
    """

    def __init__(self, make: Callable[[], Iterable[tuple[str, S]]], value: Callable[[S], V]) -> None:
        self._make: Callable[[], Iterable[tuple[str, Any]]] = make
        self._value: Callable[[Any], V] = value

    @cached_property
    def _pairs(self) -> dict[str, Any]:
        """Return the key and source of each item, computed once."""
        return dict(self._make())

    def __getitem__(self, key: str) -> V:
        return self._value(self._pairs[key])

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._pairs))

    def __len__(self) -> int:
        return len(self._pairs)

    def map_lazily(self, change: Callable[[dict[str, V]], Mapping[str, V]]) -> LazyMapping[V]:
        """Return a mapping that applies a change to this whole mapping when it is first used."""
        return LazyMapping(lambda: change(dict(self)).items(), lambda value: value)


class LazySerializable:
    """Annotation of a model's mapping that accepts a LazyMapping and serializes it like any mapping."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        from pydantic_core import core_schema

        whole = handler(source)
        return core_schema.no_info_wrap_validator_function(
            lambda value, check: value if isinstance(value, LazyMapping) else check(value),
            whole,
            serialization=core_schema.wrap_serializer_function_ser_schema(
                _serialize, info_arg=True, schema=whole
            ),
        )


def _serialize(value: Any, write: Callable[[Any], Any], info: core_schema.SerializationInfo) -> Any:
    """Serialize a mapping, and a LazyMapping as an empty one if the context leaves it out."""
    if isinstance(value, LazyMapping):
        value = {} if info.context == OMIT_DEFERRED else dict(value)
    return write(value)
