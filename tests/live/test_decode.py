"""From an answer to values: what is not there is None, and never half of something."""

from __future__ import annotations

from typing import Any

import pytest

from dpsync.kinds.urls import fill_path_template
from dpsync.live.decode import (
    UnexpectedShapeError,
    check_id,
    check_member,
    checked_wire_values,
    decode,
    decode_field,
    decode_nodes,
    decode_tree,
    fill_id_template,
    value_or_none,
)
from tests.planner.lab import REGISTRY

BODY = {"id": "7", "made": {"id": "8", "none": None, "list": [{"id": "9"}]}, "empty": "", "number": 3,
        "dots": "..", "path": "a/b"}  # fmt: skip


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("id", "7"), ("made.id", "8"), ("made.list.0.id", "9"), ("made.none", None), ("gone", None),
        ("made.gone.id", None), ("made.none.id", None), ("id.more", None), ("made.list.1.id", None),
        ("made.list.x", None),
    ],
)  # fmt: skip
def test_json_path_returns_value_or_none(path: str, value: object) -> None:
    """Otherwise, a member that is no object ends in a mistake of dpsync's."""
    assert value_or_none(BODY, path) == value


@pytest.mark.parametrize(
    ("template", "id"),
    [
        ("id", "7"), ("made.id", "8"), ("{id}/{made.id}", "7/8"), ("x-{id}", "x-7"),
        ("gone", None), ("empty", None), ("number", None),
        ("{id}/{gone}", None), ("{id}/{empty}", None), ("{number}/{id}", None),
        ("dots", None), ("{id}/{dots}", None), ("path", None), ("{id}/{path}", None),
    ],
)  # fmt: skip
def test_composite_id_is_none_if_part_is_missing(template: str, id: str | None) -> None:
    """Otherwise, an id of which a part is missing names another thing, or nothing.

    Otherwise, an empty id, or one that is no text, counts as one.
    """
    assert fill_id_template(BODY, template) == id


@pytest.mark.parametrize(
    ("kind", "id", "path"),
    [
        ("team", "t1", "/orgs/acme/teams/t1"),
        ("team", "a/b", "/orgs/acme/teams/a%2Fb"),
        ("installation", "figma/installations/i1", "/integrations/figma/installations/i1"),
        ("installation", "figma/installations/i1/sites", "/integrations/figma%2Finstallations%2Fi1%2Fsites"),
        ("installation", "figma/spaces/i1", "/integrations/figma%2Fspaces%2Fi1"),
    ],
)
def test_extra_id_segments_are_percent_encoded(kind: str, id: str, path: str) -> None:
    """An id in a file may contain any characters."""
    known = REGISTRY.with_all_kinds[kind]
    assert (
        fill_path_template(REGISTRY.with_all_kinds, known, known.url_path, id, (("organization", "acme"),))
        == path
    )


def test_decoded_default_value_is_a_fresh_copy() -> None:
    """Otherwise, a value that is absent twice is one list, and what is put into it is in both."""
    field = next(
        item
        for kind in REGISTRY.in_dependency_order
        for item in kind.fields
        if isinstance(item.value_when_absent, list | dict) and item.response_path is not None
    )
    first: Any = decode_field(field, None)
    assert first == field.value_when_absent
    assert first is not field.value_when_absent


@pytest.mark.parametrize(
    ("kind", "updated", "changed"),
    [
        ("collection", "2026-11-01T00:00:00Z", "2026-11-01T00:00:00Z"),
        ("collection", 7, None),
        ("team", "2026-11-01T00:00:00Z", None),
    ],
)
def test_update_time_is_decoded_for_supporting_kinds(kind: str, updated: object, changed: str | None) -> None:
    body = {"object": kind, "id": "7", "title": "T", "members": 1, "updatedAt": updated}
    found = decode(REGISTRY[kind], body, ("organization", "acme"), "/orgs/acme/x")
    assert (found.id, found.changed_at) == ("7", changed)


def test_id_must_be_a_nonempty_string() -> None:
    """Otherwise, an object gets an empty id, and a write to it goes to its list."""
    assert check_id(BODY, "id") == "7"
    for path, found in [("empty", "an empty text"), ("gone", "missing"), ("number", "a number")]:
        with pytest.raises(UnexpectedShapeError) as wrong:
            check_id(BODY, path)
        assert (wrong.value.shape_error.member, wrong.value.shape_error.expected) == (path, "an id")
        assert found in wrong.value.shape_error.found


@pytest.mark.parametrize("body", [None, [], "text", {}, {"items": {}}, {"items": None}])
def test_decoding_fails_if_list_member_is_missing(body: object) -> None:
    """Otherwise, an answer without the list that it should have ends in a mistake of dpsync's.

    Otherwise, a member of another form counts as an empty list, and all that was there as gone.
    """
    with pytest.raises(UnexpectedShapeError):
        check_member(body, "items", list, "a list")
    assert check_member({"items": []}, "items", list, "a list") == []


@pytest.mark.parametrize("body", [None, [], "text", {}, {"id": ""}, {"id": 7, "title": "T"}])
def test_decoding_object_without_valid_id_fails(body: object) -> None:
    with pytest.raises(UnexpectedShapeError):
        checked_wire_values(REGISTRY["team"], body)


NODES = tuple(REGISTRY[name] for name in ("section_group", "section", "site_space"))
UNKNOWN = {"object": "site-banner", "id": "banner"}
NODE = {"object": "site-section-group", "id": "g", "title": "G", "icon": None, "draft": False}


SITE = ("site", "docs")


def test_tree_decoding_skips_nodes_of_unknown_type() -> None:
    tree = {"structure": [UNKNOWN, {**NODE, "children": []}]}
    for found in (
        decode_tree(NODES, tree, "structure", SITE, "/s"),
        decode_nodes(NODES, [UNKNOWN, NODE], SITE, "/s"),
    ):
        assert [(place[-3:], node.identity) for place, node in found] == [("[1]", ("section_group", "g"))]
