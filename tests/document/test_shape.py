"""Whatever stands where a Document should be: it is compared, or refused with its place."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsync.document import DocumentError, have_same_meaning, normalize, to_document, to_markdown
from dpsync.document.nodes import DEFAULTS, malformed_nodes

from .test_same import EVERYTHING

Json = dict[str, Any]

WHOLE = to_document(EVERYTHING)
ANYTHING = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=2)),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["type", "text"]), inner),
    max_leaves=3,
)  # fmt: skip


def places(value: Any, *path: Any) -> Iterator[tuple[Any, ...]]:
    """Yield the path of each value inside a JSON value."""
    members = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for name, one in members:
        yield (*path, name)
        yield from places(one, *path, name)


PLACES = list(places(WHOLE))


@given(st.sampled_from(PLACES), ANYTHING)
def test_malformed_document_roundtrips_or_is_rejected(place: tuple[Any, ...], anything: Any) -> None:
    document = deepcopy(WHOLE)
    node: Any = document
    for name in place[:-1]:
        node = node[name]
    node[place[-1]] = anything
    assert have_same_meaning(document, deepcopy(document))
    written = _written(document)
    assert written is None or have_same_meaning(to_document(written), document)


def _written(document: Json) -> str | None:
    try:
        return to_markdown(document)
    except DocumentError as error:
        return None if error.problems else ""


@pytest.mark.parametrize(
    ("node", "path", "kind"),
    [
        (1, "nodes[0]", "int"),
        ({}, "nodes[0]", "dict"),
        ({"object": "block", "type": "paragraph", "nodes": {}}, "nodes[0].nodes", "dict"),
        ({"object": "block", "type": "paragraph", "data": []}, "nodes[0]", "paragraph"),
        ({"object": "inline", "type": "paragraph"}, "nodes[0]", "paragraph"),
        ({"object": "block", "type": "code", "data": {"syntax": 1}}, "nodes[0]", "code"),
        (
            {"object": "block", "type": "paragraph", "nodes": [{"object": "text", "leaves": [{"text": 1}]}]},
            "nodes[0].nodes[0].leaves[0]", "dict",
        ),
    ],
)  # fmt: skip
def test_malformed_node_error_names_path(node: Any, path: str, kind: str) -> None:
    with pytest.raises(DocumentError) as raised:
        to_markdown({"nodes": [node]})
    assert (raised.value.problems[0].path, raised.value.problems[0].type) == (path, kind)


def test_node_nested_over_100_levels_is_reported() -> None:
    def nested(depth: int) -> Json:
        node: Json = {"object": "block", "type": "blockquote", "nodes": []}
        for _ in range(depth):
            node = {**node, "nodes": [node]}
        return {"nodes": [node]}

    assert not any("nodes deep" in one.message for one in malformed_nodes(nested(100), DEFAULTS))
    (found,) = malformed_nodes(nested(101), DEFAULTS)
    assert (found.path, found.message) == (
        ".".join(["nodes[0]"] * 102),
        "is nested more than 100 nodes deep",
    )


def test_documents_of_any_depth_are_compared() -> None:
    node: Json = {"object": "block", "type": "blockquote", "nodes": []}
    for _ in range(200):
        node = {**node, "nodes": [node]}
    assert have_same_meaning({"nodes": [node]}, {"nodes": [node]})
    assert not have_same_meaning({"nodes": [node]}, {"nodes": [node["nodes"][0]]})
    assert normalize({"nodes": [node]})
