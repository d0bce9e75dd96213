"""What an item of an answer must be like, by the declaration of its kind alone."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from dpsync.kinds.kind import Entries, Field, Kind, Lifecycle, Node, Pages, Restore, Tree
from dpsync.kinds.kind import Post as Call
from dpsync.kinds.registry import load
from dpsync.kinds.shared.fields import ROLE
from dpsync.kinds.types import Enum, Flag, Json, Many, Object, OneOf, Reference, Table, Text, Type
from dpsync.kinds.types.base import Misfit
from dpsync.kinds.types.texts import Certificate, LongText, Markdown
from dpsync.live.decode import Misshapen, Placed, check, check_written, decode_field, decode_list, decode_tree

RULES = OneOf("type", {"rules": Object({"rules": Many(Text())}, ("rules",)), "none": Object({})})
REGISTRY = load()
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
        (Many(Text()), ["x"]),
        (Table(Enum(("en",)), Text()), {"xx": "y"}),
        (Json(), 7),
        (Json(shape={"type": "object"}), {"a": [None]}),
        (Json(shape={"type": "array"}), [{}]),
        (Markdown(), DOCUMENT | {"nodes": ["whatever the platform keeps"]}),
    ],
)
def test_valid_values_match_their_field_type(type: Type, wire: Any) -> None:
    assert type.misfit(wire) is None


@pytest.mark.parametrize(
    ("type", "wire", "misfit"),
    [
        (Text(), {}, Misfit("", "a text", "an object")),
        (LongText(), 7, Misfit("", "a text", "a number")),
        (Flag(), 1, Misfit("", "a boolean", "a number")),
        (Flag(), "true", Misfit("", "a boolean", "a text")),
        (Enum(("one",)), None, Misfit("", "a text", "null")),
        (ROLE, [], Misfit("", "a text", "a list")),
        (Reference.to("team"), "", Misfit("", "an id", "an empty text")),
        (Reference.to("team"), "..", Misfit("", "an id", "only dots")),
        (Reference.to("team"), "a/b", Misfit("", "an id", 'a text with "/"')),
        (Reference.to("team"), {"id": "team-1"}, Misfit("", "an id", "an object")),
        (Object({"a": Text()}), [], Misfit("", "an object", "a list")),
        (Object({"a": Text()}), {"a": 7}, Misfit("a", "a text", "a number")),
        (Object({"a": Text()}, ("a",)), {}, Misfit("a", "there", "missing")),
        (Object({"a": Text()}, ("a",)), {"a": None}, Misfit("a", "a text", "null")),
        (RULES, "rules", Misfit("", "an object", "a text")),
        (RULES, {}, Misfit("type", "a text", "missing")),
        (RULES, {"type": {}}, Misfit("type", "a text", "an object")),
        (RULES, {"type": "rules", "rules": ["x", 7]}, Misfit("rules.1", "a text", "a number")),
        (Many(Text()), {"0": "x"}, Misfit("", "a list", "an object")),
        (Table(Enum(("en",)), Text()), {"en": True}, Misfit("en", "a text", "a boolean")),
        (Table(Enum(("en",)), Text()), [], Misfit("", "an object", "a list")),
        (Json(shape={"type": "object"}), [], Misfit("", "an object", "a list")),
        (Json(shape={"type": "array"}), "x", Misfit("", "a list", "a text")),
        (Markdown(), "text", Misfit("", "a Document", "a text")),
        (Markdown(), {"object": "document"}, Misfit("nodes", "a list", "missing")),
        (Markdown(), DOCUMENT | {"nodes": {}}, Misfit("nodes", "a list", "an object")),
    ],
)
def test_type_mismatch_reports_member_and_found_type(type: Type, wire: Any, misfit: Misfit) -> None:
    assert type.misfit(wire) == misfit


ROOM = Kind(
    name="room",
    parent="house",
    key="rooms",
    shape=Entries(),
    at="/rooms/{id}",
    read=Pages("/rooms"),
    id="{house.name}/{id}",
    identity=("title",),
    lifecycle=Lifecycle(
        restore=Restore(Call("{self}/restore", None, repeat="look_up"), deleted="deletedAt", days=7)
    ),
    fields=(
        Field("title", Text(), required=True),
        Field("colour", Text(), null="clear"),
        Field("door", Flag(), absent=False),
        Field("role", Text(), required=True, in_answers="or null"),
        Field("owner", Reference.to("person"), read="owner.id"),
        Field("source", Object({"url": Text(), "text": Text()}), read={"url": "links.url"}, required=True),
        Field("hidden", Text(), read=None, required=True),
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
    check(ROOM, PROPER | more)


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
    with pytest.raises(Misshapen) as wrong:
        check(ROOM, PROPER | more)
    assert wrong.value.misfit.member == member
    assert wrong.value.id in ("h/r1", None)


@pytest.mark.parametrize("missing", ["title", "role", "id", "house"])
def test_missing_required_response_member_fails(missing: str) -> None:
    with pytest.raises(Misshapen) as wrong:
        check(ROOM, {name: value for name, value in PROPER.items() if name != missing})
    assert wrong.value.misfit.found == "missing"


@pytest.mark.parametrize(("owner", "found"), [({}, "missing"), ({"id": None}, "null")])
def test_reference_without_id_reports_missing_or_null(owner: Any, found: str) -> None:
    with pytest.raises(Misshapen) as wrong:
        check(ROOM, PROPER | {"owner": owner})
    assert (wrong.value.misfit.expected, wrong.value.misfit.found) == ("an id", found)


@pytest.mark.parametrize("body", [[], None, "x", {"title": []}, {"colour": 7}])
def test_body_to_write_back_must_match_its_kind(body: Any) -> None:
    with pytest.raises(Misshapen):
        check_written(ROOM, body)


def test_malformed_list_item_is_named_by_position() -> None:
    with pytest.raises(Misshapen) as wrong:
        list(decode_list(ROOM, [PROPER, PROPER | {"id": "r2", "title": 7}], None, "/rooms"))
    assert (wrong.value.place, wrong.value.id) == ("items[1]", "h/r2")


@pytest.mark.parametrize(("id", "named"), [("r2", "r2"), ("", None), (7, None), (None, None)])
def test_malformed_item_without_valid_id_shows_position_only(id: Any, named: str | None) -> None:
    with pytest.raises(Misshapen) as wrong, Placed("items[1]", {"id": id}):
        raise Misshapen(Misfit("title", "a text", "a number"))
    assert (wrong.value.place, wrong.value.id) == ("items[1]", named)


def test_list_items_of_other_kinds_are_skipped() -> None:
    kind = replace(ROOM, others={"title": ("Cellar",)})
    listed = decode_list(kind, [PROPER | {"title": "Cellar"}, PROPER], None, "/rooms")
    assert [place for place, _, _ in listed] == ["items[1]"]


SHELF = Kind(
    name="shelf",
    parent="room",
    key="things",
    shape=Node("shelf", "a-shelf", children="on", holds=("box",)),
    at="/shelves/{id}",
    read=Tree("/things", root="things"),
    identity=("title",),
    fields=(Field("title", Text(), required=True),),
)
BOX = Kind(
    name="box",
    parent="room",
    key="things",
    shape=Node("box", "a-box"),
    at="/boxes/{id}",
    read=Tree("/things", root="things"),
    identity=("title",),
    fields=(Field("title", Text(), required=True), Field("shelf", Reference.to("shelf"), nest=True)),
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
    with pytest.raises(Misshapen) as wrong:
        tree(body)
    assert (wrong.value.place, wrong.value.misfit.member) == (place, member)


@pytest.mark.parametrize("kind", sorted(REGISTRY.kinds))
def test_empty_string_decodes_as_absent_for_nonempty_fields(kind: str) -> None:
    texts = [item for item in REGISTRY[kind].fields if isinstance(item.type, Text)]
    blank = [item for item in texts if item.type.least > 0 and not item.required]
    assert [decode_field(item, "") for item in blank] == [item.absent for item in blank]
