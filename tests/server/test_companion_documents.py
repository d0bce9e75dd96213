"""Wherever a Document is taken, what is none is refused, and nothing is changed by it."""

from typing import Any

import pytest
from companion_calls import Api

PARAGRAPH = {"object": "block", "type": "paragraph", "nodes": []}
GOOD = {"object": "document", "data": {"schemaVersion": 1}, "nodes": [PARAGRAPH]}
LEAF = {"object": "leaf", "text": "x", "marks": []}


def holding(**members: Any) -> dict[str, Any]:
    """Return a document with a paragraph that has these members."""
    return {**GOOD, "nodes": [{**PARAGRAPH, **members}]}


NO_DOCUMENTS: list[Any] = [
    {},
    {"object": "document"},
    {"object": "document", "data": {}},
    {"nodes": [PARAGRAPH]},
    {"markdown": "text", "object": "document"},
    {"object": "page", "data": {}, "nodes": []},
    {**GOOD, "nodes": None},
    {**GOOD, "nodes": {}},
    {**GOOD, "nodes": ["text"]},
    {**GOOD, "nodes": [{"object": "text", "leaves": []}]},
    {**GOOD, "nodes": [{"object": "block"}]},
    {**GOOD, "data": []},
    {**GOOD, "data": {"schemaVersion": "1"}},
    {**GOOD, "meta": "token"},
    {**GOOD, "meta": {"token": 1}},
    holding(nodes="text"),
    holding(nodes=[1]),
    holding(nodes=[{}]),
    holding(nodes=[{"object": "document", "nodes": []}]),
    holding(nodes=[{"object": "block", "nodes": []}]),
    holding(nodes=[{"object": "text", "leaves": "x"}]),
    holding(nodes=[{"object": "text", "leaves": [{**LEAF, "text": 1}]}]),
    holding(nodes=[{"object": "text", "leaves": [{**LEAF, "marks": "bold"}]}]),
    holding(data=[]),
    holding(isVoid="no"),
    holding(key=1),
    holding(fragments=[1]),
]
PLACES: dict[str, tuple[str, str, Any]] = {
    "agent instructions": (
        "PUT", "/orgs/acme/agent-instructions", lambda document: {"instructions": document}
    ),
    "a new translation": (
        "POST", "/orgs/acme/translations",
        lambda document: {"source": {"space": "guides"}, "language": "de", "instructions": document},
    ),
    "translation instructions": (
        "PUT", "/orgs/acme/translations/guides-fr", lambda document: {"instructions": document}
    ),
    "the description of a change request": (
        "PATCH", "/spaces/guides/change-requests/better-welcome",
        lambda document: {"description": document},
    ),
    "a request for reviewers": (
        "POST", "/spaces/guides/change-requests/better-welcome/requested-reviewers",
        lambda document: {"users": ["rui"], "description": document},
    ),
    "a comment": ("POST", "/spaces/guides/comments", lambda document: {"body": {"document": document}}),
    "a reply": (
        "POST", "/spaces/support/comments/support-hours/replies",
        lambda document: {"body": {"document": document}},
    ),
    "a review": (
        "POST", "/spaces/guides/change-requests/better-welcome/reviews",
        lambda document: {"status": "approved", "comment": document},
    ),
    "a page": (
        "POST", "/spaces/guides/change-requests/better-welcome/content",
        lambda document: {"changes": [{"operation": "insert_page", "title": "T", "document": document}]},
    ),
}  # fmt: skip


@pytest.mark.parametrize("place", PLACES)
def test_invalid_document_is_refused_at_every_endpoint(api: Api, place: str) -> None:
    method, path, around = PLACES[place]
    before = api.state()
    for given in NO_DOCUMENTS:
        if "markdown" in given and place in ("a review", "a page"):
            continue  # there Markdown may take its place
        api.refused(400, method, path, around(given))
    assert api.state() == before
    assert api.call(method, path, around(GOOD)).is_success


@pytest.mark.parametrize(
    "document",
    [
        {"object": "document", "nodes": []},
        {
            "object": "document",
            "data": {"schemaVersion": 7, "free": [1]},
            "nodes": [],
            "meta": {"token": "t"},
        },
        holding(nodes=[{"object": "text", "key": "k", "leaves": [LEAF]}]),
        holding(nodes=[{"object": "text", "leaves": [{"object": "leaf", "text": "x"}]}]),
        holding(nodes=[{"object": "inline", "type": "link", "isVoid": False, "data": {}, "nodes": []}]),
        holding(type="of the future", data={"align": "center"}, isVoid=False, more=[{"a": None}]),
        holding(fragments=[{"object": "fragment", "type": "caption", "nodes": [PARAGRAPH]}]),
    ],
    ids=str,
)
def test_unknown_document_members_are_kept(api: Api, document: Any) -> None:
    kept = api.put("/orgs/acme/agent-instructions", {"instructions": document})["instructions"]
    assert len(kept["nodes"]) == len(document["nodes"])
    assert kept["object"] == "document"
    assert set(document.get("data", {})) <= set(kept["data"])
