"""Body templates: what stands for a value, what spreads one, and what is left out."""

from __future__ import annotations

from typing import Any

import pytest

from dpsync.planner.steps.requests import _given, render

VALUES = {"fields": {"a": 1, "b": None}, "id": "x", "value": None, "child.space": "s"}


@pytest.mark.parametrize(
    ("template", "body"),
    [
        (None, None),
        ("$fields", {"a": 1, "b": None}),
        ({"...": "$fields", "empty": True}, {"a": 1, "b": None, "empty": True}),
        ({"...": "$fields", "a": 2}, {"a": 2, "b": None}),
        ({"to": {"id": "$id", "all": ["$id", "literal"]}}, {"to": {"id": "x", "all": ["x", "literal"]}}),
        ({"spaceId": "$child.space"}, {"spaceId": "s"}),
        ({"parent": "$value"}, {"parent": None}),
        ({"parent": "$role", "id": "$id"}, {"id": "x"}),
        ({"...": "$nothing", "n": 0}, {"n": 0}),
    ],
)
def test_a_template_is_filled(template: Any, body: Any) -> None:
    assert render(template, VALUES) == body


@pytest.mark.parametrize(
    ("gives", "given"),
    [
        ("id", (None, "id")),
        ("user.id", (None, "user.id")),
        ("$id", ("x", None)),
        ("$id/parts/{part.id}", (None, "x/parts/{part.id}")),
    ],
)
def test_the_id_of_what_is_made_is_known_before_or_has_a_place_in_the_answer(gives: str, given: Any) -> None:
    assert _given(gives, VALUES) == given
