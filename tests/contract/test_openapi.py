"""What is wrong with a request and with an answer, by the schemas of a document."""

from __future__ import annotations

from typing import Any

import pytest

from .openapi import Contract

THING = {
    "type": "object",
    "properties": {"id": {"type": "string"}, "note": {"type": "string", "nullable": True}},
    "required": ["id"],
}
BODY = {
    "allOf": [
        {"type": "object", "properties": {"title": {"type": "string", "maxLength": 5}}},
        {"type": "object", "properties": {"inside": {"$ref": "#/components/schemas/Inside"}}},
        {"type": "object", "properties": {"free": {"type": "object"}}},
    ],
}  # fmt: skip
INSIDE = {
    "oneOf": [
        {"type": "object", "properties": {"kind": {"enum": ["a"]}, "a": {"type": "integer"}}},
        {"type": "object", "properties": {"kind": {"type": "string", "enum": ["b"]}}, "required": ["b"]},
    ],
}  # fmt: skip
QUERY = {"name": "page", "in": "query", "schema": {"type": "string"}}


def answers(schema: Any) -> Any:
    return {"description": "", "content": {"application/json": {"schema": schema}}}


def contract(openapi: str = "3.0.3") -> Contract:
    change = {
        "operationId": "changeThing",
        "requestBody": {"required": True, "content": {"application/json": {"schema": BODY}}},
        "responses": {"200": answers({"$ref": "#/components/schemas/Thing"}), "204": {"description": ""}},
    }
    read = {"operationId": "readThings", "parameters": [QUERY], "responses": {"200": answers({})}}
    paths = {"/things/{id}": {"patch": change}, "/things/all": {"get": read}}
    return Contract(
        {"openapi": openapi, "paths": paths, "components": {"schemas": {"Thing": THING, "Inside": INSIDE}}}
    )


def wrong(body: Any) -> list[str]:
    return contract().request_errors("PATCH", "/things/1", [], body)


@pytest.mark.parametrize(
    "body", [{}, {"title": "Short"}, {"inside": {"kind": "a", "a": 1}}, {"free": {"any": {"thing": 1}}}]
)
def test_openapi_check_accepts_valid_request_body(body: Any) -> None:
    assert wrong(body) == []


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({"title": "Too long"}, "title"),
        ({"other": 1}, "(body)"),
        ({"inside": {"kind": "a", "b": 1}}, "inside"),
        (None, "it needs a body"),
    ],
)
def test_openapi_check_rejects_invalid_request_body(body: Any, where: str) -> None:
    assert [one.split(":")[0] for one in wrong(body)] == [where]


def test_openapi_check_rejects_unknown_operation() -> None:
    assert contract().request_errors("GET", "/things/1", [], None) == ["there is no operation GET /things/1"]


def test_openapi_check_rejects_undeclared_query_parameter() -> None:
    found = contract().request_errors("GET", "/things/all", [("page", "2"), ("limit", "5")], None)
    assert found == ["query parameter limit"]


def test_openapi_check_accepts_extra_response_members() -> None:
    assert contract().answer_errors("PATCH", "/things/1", 200, {"id": "1", "more": 1}) == []


def test_openapi_check_honors_nullable_before_3_1() -> None:
    assert contract().answer_errors("PATCH", "/things/1", 200, {"id": "1", "note": None}) == []
    assert contract("3.1.0").answer_errors("PATCH", "/things/1", 200, {"id": "1", "note": None}) != []


@pytest.mark.parametrize(
    ("status", "body", "found"),
    [
        (200, {}, '(body): "id" is a required property'),
        (201, None, "status 201 is not declared, only 200, 204"),
        (204, {}, "it has a body"),
    ],
)
def test_openapi_check_rejects_invalid_response(status: int, body: Any, found: str) -> None:
    assert contract().answer_errors("PATCH", "/things/1", status, body) == [found]
