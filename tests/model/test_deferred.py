"""A mapping that is made when somebody looks into it is otherwise like any other."""

from __future__ import annotations

from collections.abc import Iterator

from dpsync.model.deferred import OMIT_DEFERRED, LazyMapping
from dpsync.model.nodes import Span
from dpsync.model.plan import Origin, Plan
from dpsync.model.text import json_text

SPANS = {"acme/b": Span("b.yaml", 2, 1, 2, 2), "acme/a": Span("a.yaml", 1, 1, 1, 2)}
ORIGINS = {key: Origin.of(span) for key, span in SPANS.items()}


def deferred() -> LazyMapping[Origin]:
    return LazyMapping(SPANS.items, Origin.of)


def test_deferred_mapping_equals_its_content() -> None:
    assert deferred() == ORIGINS
    assert Plan(origins=deferred()) == Plan(origins=ORIGINS)


def test_deferred_mapping_keys_are_sorted() -> None:
    assert list(deferred()) == ["acme/a", "acme/b"]


def test_deferred_mapping_keeps_last_duplicate_value() -> None:
    assert LazyMapping(lambda: [("a", 1), ("a", 2)], str) == {"a": "2"}


def test_deferred_mapping_creates_only_requested_values() -> None:
    made: list[int] = []
    mapping: LazyMapping[None] = LazyMapping(lambda: [("a", 1), ("b", 2)], made.append)
    assert mapping.get("c") is None
    mapping["b"]
    assert made == [2]


def test_deferred_mapping_loads_its_pairs_once() -> None:
    times: list[int] = []

    def make() -> Iterator[tuple[str, int]]:
        times.append(1)
        yield "a", 1

    mapping: LazyMapping[int] = LazyMapping(make, lambda value: value)
    assert (mapping["a"], mapping["a"], len(mapping)) == (1, 1, 1)
    assert times == [1]


def test_deferred_mapping_survives_json_round_trip() -> None:
    written = json_text(Plan(origins=deferred()))
    assert written == json_text(Plan(origins={key: ORIGINS[key] for key in sorted(ORIGINS)}))
    assert Plan.model_validate_json(written).origins == ORIGINS


def test_deferred_mapping_can_be_omitted_from_json() -> None:
    assert json_text(Plan(origins=deferred()), context=OMIT_DEFERRED) == json_text(Plan())
