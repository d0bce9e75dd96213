"""What an item of an answer must be like, by the declaration of its kind alone."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from dpsync.kinds.kind import EntryMapping, Field, Kind, Lifecycle, ListRead, Restore, TreeNode, TreeRead
from dpsync.kinds.kind import Post as Call
from dpsync.kinds.registry import build_registry
from dpsync.kinds.shared.fields import ROLE
from dpsync.kinds.types import Enum, Flag, Json, List, Object, OneOf, Reference, Table, Text, Type
from dpsync.kinds.types.base import UnexpectedShape
from dpsync.kinds.types.texts import Certificate, LongText, Markdown
from dpsync.live.decode import (
    AddErrorPlace,
    UnexpectedShapeError,
    check_written,
    checked_wire_values,
    decode_field,
    decode_list,
    decode_tree,
)

RULES = OneOf("type", {"rules": Object({"rules": List(Text())}, ("rules",)), "none": Object({})})
REGISTRY = build_registry()
DOCUMENT = {"object": "document", "data": {}, "nodes": []}


@pytest.mark.parametrize(
    ("type", "wire"),
    [
        (Text(2, 3, pattern="x"), "longer than may be written"),
        (LongText(), ""),
        (Certificate(), "x"),
        (Flag(), False),
        (Enum(("one",)), "a word that nobody knows"),
        (ROLE, None),
        (Reference.to("team"), "team-1"),
        (Object({"a": Text(), "b": Text()}, ("a",)), {"a": "", "b": None, "more": 1}),
        (RULES, {"type": "rules", "rules": ["x"], "more": {}}),
        (RULES, {"type": "another form", "rules": 7}),
        (List(Text()), ["x"]),
        (Table(Enum(("en",)), Text()), {"xx": "y"}),
        (Json(), 7),
        (Json(json_schema={"type": "object"}), {"a": [None]}),
        (Json(json_schema={"type": "array"}), [{}]),
        (Markdown(), DOCUMENT | {"nodes": ["whatever the platform keeps"]}),
    ],
)
def test_valid_values_match_their_field_type(type: Type, wire: Any) -> None:
    assert type.shape_error(wire) is None


@pytest.mark.parametrize(
    ("type", "wire", "misfit"),
    [
        (Text(), {}, UnexpectedShape("", "a text", "an object")),
        (LongText(), 7, UnexpectedShape("", "a text", "a number")),
        (Flag(), 1, UnexpectedShape("", "a boolean", "a number")),
        (Flag(), "true", UnexpectedShape("", "a boolean", "a text")),
        (Enum(("one",)), None, UnexpectedShape("", "a text", "null")),
        (ROLE, [], UnexpectedShape("", "a text", "a list")),
        (Reference.to("team"), "", UnexpectedShape("", "an id", "an empty text")),
        (Reference.to("team"), "..", UnexpectedShape("", "an id", "only dots")),
        (Reference.to("team"), "a/b", UnexpectedShape("", "an id", 'a text with "/"')),
        (Reference.to("team"), {"id": "team-1"}, UnexpectedShape("", "an id", "an object")),
        (Object({"a": Text()}), [], UnexpectedShape("", "an object", "a list")),
        (Object({"a": Text()}), {"a": 7}, UnexpectedShape("a", "a text", "a number")),
        (Object({"a": Text()}, ("a",)), {}, UnexpectedShape("a", "there", "missing")),
        (Object({"a": Text()}, ("a",)), {"a": None}, UnexpectedShape("a", "a text", "null")),
        (RULES, "rules", UnexpectedShape("", "an object", "a text")),
        (RULES, {}, UnexpectedShape("type", "a text", "missing")),
        (RULES, {"type": {}}, UnexpectedShape("type", "a text", "an object")),
        (RULES, {"type": "rules", "rules": ["x", 7]}, UnexpectedShape("rules.1", "a text", "a number")),
        (List(Text()), {"0": "x"}, UnexpectedShape("", "a list", "an object")),
        (Table(Enum(("en",)), Text()), {"en": True}, UnexpectedShape("en", "a text", "a boolean")),
        (Table(Enum(("en",)), Text()), [], UnexpectedShape("", "an object", "a list")),
        (Json(json_schema={"type": "object"}), [], UnexpectedShape("", "an object", "a list")),
        (Json(json_schema={"type": "array"}), "x", UnexpectedShape("", "a list", "a text")),
        (Markdown(), "text", UnexpectedShape("", "a Document", "a text")),
        (Markdown(), {"object": "document"}, UnexpectedShape("nodes", "a list", "missing")),
        (Markdown(), DOCUMENT | {"nodes": {}}, UnexpectedShape("nodes", "a list", "an object")),
    ],
)
def test_type_mismatch_reports_member_and_found_type(type: Type, wire: Any, misfit: UnexpectedShape) -> None:
    assert type.shape_error(wire) == misfit


ROOM = Kind(
    name="room",
    parent="house",
    key="rooms",
    shape=EntryMapping(),
    url_path="/rooms/{id}",
    read=ListRead("/rooms"),
    id_path="{house.name}/{id}",
    natural_keys=("title",),
    lifecycle=Lifecycle(
        restore=Restore(Call("{self}/restore", None, repeat="look_up"), deleted_path="deletedAt", days=7)
    ),
    fields=(
        Field("title", Text(), required=True),
        Field("colour", Text(), null_effect="clear"),
        Field("door", Flag(), value_when_absent=False),
        Field("role", Text(), required=True, in_responses="or null"),
        Field("owner", Reference.to("person"), read_path="owner.id"),
        Field(
            "source", Object({"url": Text(), "text": Text()}), read_path={"url": "links.url"}, required=True
        ),
        Field("hidden", Text(), read_path=None, required=True),
    ),
)
PROPER = {"house": {"name": "h"}, "id": "r1", "title": "Hall", "role": None}


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"colour": None, "door": None, "owner": None, "links": None, "deletedAt": None, "hidden": 7},
        {"owner": {"id": "p1"}, "links": {"url": "x"}, "deletedAt": "2025-01-01", "new": [{}]},
        {"links": {}},
    ],
)
def test_response_item_may_lack_optional_members(more: dict[str, Any]) -> None:
    checked_wire_values(ROOM, PROPER | more)


@pytest.mark.parametrize(
    ("more", "member"),
    [
        ({"id": 7}, "id"),
        ({"id": ""}, "id"),
        ({"house": {}}, "house.name"),
        ({"house": "h"}, "house"),
        ({"title": None}, "title"),
        ({"title": {"text": "Hall"}}, "title"),
        ({"colour": 7}, "colour"),
        ({"door": "yes"}, "door"),
        ({"owner": "p1"}, "owner"),
        ({"owner": {}}, "owner.id"),
        ({"owner": {"id": None}}, "owner.id"),
        ({"links": []}, "links"),
        ({"links": {"url": []}}, "links.url"),
        ({"deletedAt": {}}, "deletedAt"),
        ({"deletedAt": False}, "deletedAt"),
    ],
)
def test_invalid_response_item_error_names_member(more: dict[str, Any], member: str) -> None:
    with pytest.raises(UnexpectedShapeError) as wrong:
        checked_wire_values(ROOM, PROPER | more)
    assert wrong.value.shape_error.member == member
    assert wrong.value.id in ("h/r1", None)


@pytest.mark.parametrize("missing", ["title", "role", "id", "house"])
def test_missing_required_response_member_fails(missing: str) -> None:
    with pytest.raises(UnexpectedShapeError) as wrong:
        checked_wire_values(ROOM, {name: value for name, value in PROPER.items() if name != missing})
    assert wrong.value.shape_error.found == "missing"


@pytest.mark.parametrize(("owner", "found"), [({}, "missing"), ({"id": None}, "null")])
def test_reference_without_id_reports_missing_or_null(owner: Any, found: str) -> None:
    with pytest.raises(UnexpectedShapeError) as wrong:
        checked_wire_values(ROOM, PROPER | {"owner": owner})
    assert (wrong.value.shape_error.expected, wrong.value.shape_error.found) == ("an id", found)


@pytest.mark.parametrize("body", [[], None, "x", {"title": []}, {"colour": 7}])
def test_body_to_write_back_must_match_its_kind(body: Any) -> None:
    with pytest.raises(UnexpectedShapeError):
        check_written(ROOM, body)


def test_malformed_list_item_is_named_by_position() -> None:
    with pytest.raises(UnexpectedShapeError) as wrong:
        list(decode_list(ROOM, [PROPER, PROPER | {"id": "r2", "title": 7}], None, "/rooms"))
    assert (wrong.value.place, wrong.value.id) == ("items[1]", "h/r2")


@pytest.mark.parametrize(("id", "named"), [("r2", "r2"), ("", None), (7, None), (None, None)])
def test_malformed_item_without_valid_id_shows_position_only(id: Any, named: str | None) -> None:
    with pytest.raises(UnexpectedShapeError) as wrong, AddErrorPlace("items[1]", {"id": id}):
        raise UnexpectedShapeError(UnexpectedShape("title", "a text", "a number"))
    assert (wrong.value.place, wrong.value.id) == ("items[1]", named)


def test_list_items_of_other_kinds_are_skipped() -> None:
    kind = replace(ROOM, foreign_items={"title": ("Cellar",)})
    listed = decode_list(kind, [PROPER | {"title": "Cellar"}, PROPER], None, "/rooms")
    assert [place for place, _, _ in listed] == ["items[1]"]


SHELF = Kind(
    name="shelf",
    parent="room",
    key="things",
    shape=TreeNode("shelf", "a-shelf", children_member="on", child_kinds=("box",)),
    url_path="/shelves/{id}",
    read=TreeRead("/things", root_member="things"),
    natural_keys=("title",),
    fields=(Field("title", Text(), required=True),),
)
BOX = Kind(
    name="box",
    parent="room",
    key="things",
    shape=TreeNode("box", "a-box"),
    url_path="/boxes/{id}",
    read=TreeRead("/things", root_member="things"),
    natural_keys=("title",),
    fields=(
        Field("title", Text(), required=True),
        Field("shelf", Reference.to("shelf"), is_parent_reference=True),
    ),
)
A_BOX = {"object": "a-box", "id": "b", "title": "B"}


def tree(body: Any) -> list[Any]:
    return [node for _, node in decode_tree((SHELF, BOX), body, "things", ("room", "r"), "/things")]


def test_tree_node_parent_is_taken_from_nesting() -> None:
    shelf = {
        "object": "a-shelf",
        "id": "s",
        "title": "S",
        "on": [A_BOX | {"shelf": "another"}, {"object": "new"}],
    }
    found = tree({"things": [shelf, A_BOX | {"id": "c", "shelf": "s"}]})
    inside, alone = (item for item in found if item.kind == "box")
    assert (inside.holder, inside.fields["shelf"].id) == (("shelf", "s"), "s")
    assert (alone.holder, alone.fields["shelf"]) == (None, None)


@pytest.mark.parametrize(
    ("body", "place", "member"),
    [
        ({}, "", "things"),
        ([], "", ""),
        ({"things": None}, "", "things"),
        ({"things": {}}, "", "things"),
        ({"things": ["b"]}, "things[0]", ""),
        ({"things": [{"id": "b", "title": "B"}]}, "things[0]", "object"),
        ({"things": [A_BOX, A_BOX | {"title": None}]}, "things[1]", "title"),
        ({"things": [{"object": "a-shelf", "id": "s", "title": "S"}]}, "things[0]", "on"),
        ({"things": [{"object": "a-shelf", "id": "s", "title": "S", "on": [7]}]}, "things[0].on[0]", ""),
    ],
)
def test_malformed_tree_error_names_place_and_member(body: Any, place: str, member: str) -> None:
    with pytest.raises(UnexpectedShapeError) as wrong:
        tree(body)
    assert (wrong.value.place, wrong.value.shape_error.member) == (place, member)


@pytest.mark.parametrize("kind", sorted(REGISTRY.kinds))
def test_empty_string_decodes_as_absent_for_nonempty_fields(kind: str) -> None:
    texts = [item for item in REGISTRY[kind].fields if isinstance(item.type, Text)]
    blank = [item for item in texts if item.type.min_length > 0 and not item.required]
    assert [decode_field(item, "") for item in blank] == [item.value_when_absent for item in blank]
