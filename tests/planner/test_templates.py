"""Body templates: what stands for a value, what spreads one, and what is left out."""

from __future__ import annotations

from typing import Any

import pytest

from dpsync.planner.requests import _created_id, fill_body_template

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
def test_request_body_template_is_filled_with_values(template: Any, body: Any) -> None:
    """Otherwise, a word of a template is sent as null.

    Otherwise, fields are sent inside of a field that the platform does not know.
    Otherwise, what has no value is sent as null, and takes away what is there.
    Otherwise, a value of a request is left out.
    Otherwise, a list in a request is sent with the names of values in their place.
    """
    assert fill_body_template(template, VALUES) == body


@pytest.mark.parametrize(
    ("gives", "given"),
    [
        ("id", (None, "id")),
        ("user.id", (None, "user.id")),
        ("$id", ("x", None)),
        ("$id/parts/{part.id}", (None, "x/parts/{part.id}")),
    ],
)
def test_created_id_comes_from_request_or_response(gives: str, given: Any) -> None:
    """Otherwise, the id of a part of a known object is looked up as a member of the answer and is not found.

    Otherwise, an id that is known before the request is looked up in the answer and is not found.

    Otherwise, an id that is known before is looked for in the answer, and is not found.
    """
    assert _created_id(gives, VALUES) == given
