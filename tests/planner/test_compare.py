"""What counts as a difference between a value that is wanted and one that is live."""

from __future__ import annotations

import pytest

from dpsync.kinds.kind import Field
from dpsync.kinds.types import Enum, List, Text
from dpsync.model.values import Value
from dpsync.planner.compare import equals_live

LEVEL = Field("level", Enum(("guest", "read", "admin")), value_when_absent="guest")
NAME = Field("name", Text(0, 9), null_effect="clear")


@pytest.mark.parametrize(
    ("field", "wanted", "live", "equal"),
    [
        (LEVEL, "read", "read", True),
        (LEVEL, "read", "admin", False),
        # What is cleared is as it should be where nothing is live, or what stands for nothing.
        (LEVEL, None, None, True),
        (LEVEL, None, "guest", True),
        (LEVEL, None, "read", False),
        (NAME, None, None, True),
        (NAME, None, "a", False),
        (NAME, None, "", False),
        # What is wanted is not there.
        (LEVEL, "read", None, False),
        (NAME, "", None, False),
    ],
)
def test_null_is_equal_only_to_absent_value(field: Field, wanted: Value, live: Value, equal: bool) -> None:
    assert equals_live(field, wanted, live) == equal


@pytest.mark.parametrize(("as_set", "equal"), [(True, True), (False, False)])
def test_list_comparison_ignores_order_only_for_sets(as_set: bool, equal: bool) -> None:
    assert equals_live(Field("names", List(Text(), is_set=as_set)), ["b", "a"], ["a", "b"]) == equal
