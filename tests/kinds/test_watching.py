"""Test the values in `policy: watch` patterns, such as `private` in `openapi/[shop]#visibility=private`."""

from __future__ import annotations

from typing import Any

import pytest

from dpsync.kinds.kind import Field
from dpsync.kinds.types import INVALID, Enum, Flag, List, Text, Type
from dpsync.kinds.watch_patterns import format_value, parse_value

WORD = Enum(("private", "public"))
WORDS = List(WORD, is_set=True)


@pytest.mark.parametrize(
    ("type_", "value", "text"),
    [
        (WORD, "private", "private"),
        (WORD, None, "null"),
        (Flag(), True, "true"),
        (Flag(), False, "false"),
        (WORDS, ["public", "private"], "private,public"),
        (List(WORD), ["public", "private"], "public,private"),
        (WORDS, [], ""),
        (WORD, "unlisted", None),
        (WORDS, ["", "public"], None),
        (Text(), "private", None),
    ],
    ids=[
        "word",
        "nothing",
        "true",
        "false",
        "set",
        "list",
        "empty set",
        "unknown word",
        "empty word",
        "text",
    ],
)
def test_live_value_is_formatted_as_watched_value(type_: Type, value: Any, text: str | None) -> None:
    field = Field("visibility", type_)
    assert format_value(field, value) == text
    if text is not None:
        assert format_value(field, parse_value(field, text)) == text  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("type_", "text"), [(WORD, "open"), (WORD, ""), (Flag(), "yes"), (WORDS, "public,open")]
)
def test_watch_pattern_with_unknown_value_is_invalid(type_: Type, text: str) -> None:
    assert parse_value(Field("visibility", type_), text) is INVALID
