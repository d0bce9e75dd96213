"""The words that a declaration need not say, what follows from those that it says, and how kinds relate."""

from __future__ import annotations

from typing import Any

import pytest

from dpsync.kinds.declarations.customization import DEFAULTS
from dpsync.kinds.kind import (
    Call,
    CreateWithId,
    Delete,
    EntryMapping,
    Field,
    Kind,
    Lifecycle,
    ListOrder,
    ListRead,
    ManualStep,
    NodeListsRead,
    Patch,
    PlatformWork,
    Post,
    Put,
    Restriction,
    SiblingOrder,
    SingleEntry,
    TreeNode,
)
from dpsync.kinds.registry import Registry, build_registry
from dpsync.kinds.types import Flag, List, Reference, Text
from dpsync.server.sites.customization import DEFAULTS as COMPANION_DEFAULTS

REGISTRY = build_registry().with_all_kinds


def kind(name: str = "shelf", parent: Any = None, **words: Any) -> Kind:
    said: dict[str, Any] = {
        "name": name,
        "parent": parent,
        "key": f"{name}s",
        "shape": EntryMapping(),
        "url_path": "/x/{id}",
        "read": ListRead("/x"),
        "fields": (),
    }
    return Kind(**{**said, **words})


SHELF = kind()
FIELD = Field("title", Text())


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("label", ""),
        ("id_path", "id"),
        ("is_part_of_output", False),
        ("has_unique_id", True),
        ("title_field", "title"),
        ("url", None),
        ("visible_when", {}),
        ("redirects", None),
        ("changed_at_path", None),
        ("natural_keys", ()),
        ("tie_breakers", ()),
        ("sole_key", None),
        ("search_list", None),
        ("create", None),
        ("update", None),
        ("delete", None),
        ("order", None),
        ("shorthand_field", None),
        ("has_content", False),
        ("steps_after_kinds", ()),
        ("guard", None),
        ("lifecycle", Lifecycle()),
        ("platform_work", PlatformWork()),
        ("creation_widens_access", False),
        ("opens_parent", False),
        ("deletion_widens_access", False),
        ("page_tree_path", None),
        ("owner_list", None),
        ("git_sync", None),
    ],
)
def test_each_kind_attribute_has_expected_default(word: str, value: Any) -> None:
    assert getattr(SHELF, word) == value


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("written_in", "both"),
        ("read_path", "="),
        ("separate_read_paths", {}),
        ("write_name", None),
        ("create_name", None),
        ("own_call", None),
        ("fallback_call", None),
        ("null_effect", "refused"),
        ("value_when_absent", None),
        ("is_parent_reference", False),
        ("exclusive_within", None),
        ("mutually_exclusive_with", None),
        ("unique_within", None),
        ("written_after", ()),
        ("exposure", ()),
        ("can_widen_access", False),
        ("widens_when", None),
        ("required", False),
        ("in_responses", None),
        ("refers_to_kind", None),
        ("platform_default", None),
        ("is_watchable", False),
        ("response_path", "title"),
        ("widening_rule", None),
        ("referenced_kinds", ()),
        ("is_declarable", True),
        ("wire_name", "title"),
        ("response_presence", "sometimes"),
    ],
)
def test_each_field_attribute_has_expected_default(word: str, value: Any) -> None:
    assert getattr(FIELD, word) == value


def test_other_kind_declaration_classes_have_expected_defaults() -> None:
    call = Call(method="PATCH", path="/x", repeat="safe")
    assert (call.body, call.id_source, call.first_child_id_path, call.success_object) == (
        "$fields",
        "id",
        None,
        None,
    )
    assert (call.replaces_object, call.sends_every_field) == (False, False)
    node = TreeNode("page", "page")
    assert (node.children_member, node.child_kinds, node.excludes_other_kinds_at_root, node.min_children) == (
        None,
        (),
        False,
        0,
    )
    assert EntryMapping() == EntryMapping(None, None)
    assert SingleEntry() == SingleEntry(False) != SingleEntry(True)
    order = SiblingOrder(call, None)
    assert (order.orders_kinds_separately, order.fallback) == (False, None)
    assert Restriction() == Restriction((), ())
    assert Lifecycle() == Lifecycle(None, None, None, "gone")
    assert NodeListsRead(("/a", "/b")).path == "/a"


@pytest.mark.parametrize(
    ("made", "call"),
    [
        (Post("/x", repeat="safe"), Call(method="POST", path="/x", repeat="safe")),
        (
            Put("/x", {"a": 1}, repeat="look_up", replaces_object=True),
            Call(method="PUT", path="/x", body={"a": 1}, replaces_object=True, repeat="look_up"),
        ),
        (Patch("/x", repeat="safe"), Call(method="PATCH", path="/x", repeat="safe")),
        (Delete(repeat="safe"), Call(method="DELETE", path="{self}", body=None, repeat="safe")),
    ],
)
def test_call_helpers_set_http_method(made: Call, call: Call) -> None:
    assert made == call


SET, CLEAR, ANY = (Post(f"/{name}", repeat="safe") for name in ("set", "clear", "any"))


@pytest.mark.parametrize(
    ("via", "value", "call"),
    [
        (None, "a", None),
        (SET, "a", SET),
        (SET, None, SET),
        ({True: SET, False: CLEAR}, True, SET),
        ({True: SET, False: CLEAR}, False, CLEAR),
        ({True: SET}, False, None),
        ({None: CLEAR, "*": ANY}, None, CLEAR),
        ({None: CLEAR, "*": ANY}, "x", ANY),
        ({"a": SET, "*": ANY}, "a", SET),
        ({"a": SET, "*": ANY}, ["a"], ANY),
        ({"*": ANY}, None, None),
    ],
)
def test_field_setting_returns_api_call_for_value(via: Any, value: Any, call: Call | None) -> None:
    assert Field("x", Text(), own_call=via).call_for_value(value) == call


@pytest.mark.parametrize(
    ("words", "watchable"),
    [
        ({"platform_default": "a"}, True),
        ({"platform_default": False}, True),
        ({}, False),
        ({"platform_default": "a", "read_path": None}, False),
        ({"platform_default": "a", "read_path": "other"}, True),
        ({"platform_default": "a", "written_in": "neither"}, False),
        ({"platform_default": "a", "is_parent_reference": True}, False),
    ],
)
def test_field_is_watchable_with_readable_platform_default(words: dict[str, Any], watchable: bool) -> None:
    assert Field("x", Text(), **words).is_watchable is watchable


@pytest.mark.parametrize(
    ("words", "answered"),
    [
        ({}, "sometimes"),
        ({"required": True}, "always"),
        ({"required": True, "value_when_absent": "a"}, "sometimes"),
        ({"required": True, "in_responses": "or null"}, "or null"),
        ({"in_responses": "always"}, "always"),
    ],
)
def test_field_presence_in_responses_is_derived_from_declaration(
    words: dict[str, Any], answered: str
) -> None:
    assert Field("x", Text(), **words).response_presence == answered


def test_field_names_and_references_are_derived_from_declaration() -> None:
    field = Field(
        "x",
        List(Reference.to("team")),
        read_path="a.b",
        write_name="y",
        refers_to_kind="space",
        widens_when="set",
        exposure=(1, 2),
    )
    assert (field.response_path, field.wire_name, field.widening_rule) == ("a.b", "y", "set")
    assert field.referenced_kinds == ("team", "space")
    assert Field("x", Text(), read_path=None).response_path is None
    assert Field("x", Text(), read_path="").response_path == ""
    assert Field("x", Flag(), exposure=(False, True)).widening_rule == (False, True)
    assert Field("x", Flag(), written_in="neither").is_declarable is False


def test_list_order_field_is_declarable_but_never_sent() -> None:
    order = ListOrder("order", item_kind="book", place_field="shelf", live_order_read=None, move_order=None)
    assert (order.written_in, order.read_path, order.is_declarable) == ("neither", None, True)
    assert order.type == List(Reference.to("book"), is_set=True)
    assert order.response_path is None


@pytest.mark.parametrize(
    ("words", "noun", "one"),
    [
        ({}, "shelf", "a shelf"),
        ({"name": "open_shelf"}, "open shelf", "an open shelf"),
        ({"label": "API shelf"}, "API shelf", "an API shelf"),
        ({"label": "image"}, "image", "an image"),
        ({"label": "shelf settings"}, "shelf settings", "shelf settings"),
    ],
)
def test_kind_noun_and_article_are_derived_from_name(words: dict[str, Any], noun: str, one: str) -> None:
    made = kind(**words)
    assert (made.noun, made.noun_with_article) == (noun, one)


def test_identity_includes_parent_without_own_id() -> None:
    assert SHELF.identity_of("1", None) == ("shelf", "1")
    assert SHELF.identity_of("1", ("house", "2")) == ("shelf", "1")
    assert kind(has_unique_id=False).identity_of("1", ("house", "2")) == ("shelf", "house/2/1")
    assert kind(has_unique_id=False).identity_of("1", None) == ("shelf", "1")


def test_creating_entry_with_pinned_id_uses_add_call() -> None:
    add = CreateWithId(SET, "kind", "given")
    made = kind(create=ANY, lifecycle=Lifecycle(create_with_id=add))
    assert made.create_call("id", {"kind": "given"}) == SET
    assert made.create_call("id", {"kind": "other"}) == ANY
    assert made.create_call("id", {}) == ANY
    assert made.create_call(None, {"kind": "given"}) == ANY
    assert kind(create=ManualStep("do it")).create_call("id", {"kind": "given"}) == ManualStep("do it")


@pytest.mark.parametrize(
    ("parent", "parents"), [(None, ()), ("house", ("house",)), (("house", "room"), ("house", "room"))]
)
def test_kind_parents_are_listed_as_tuple(parent: Any, parents: tuple[str, ...]) -> None:
    assert kind(parent=parent).parents == parents


HOUSE = kind("house")
BOOK = kind(
    "book",
    ("shelf", "house"),
    shape=EntryMapping(key_field="isbn"),
    fields=(
        Field("isbn", Text(format="email"), written_in="neither"),
        Field("shelf", Reference.to("shelf"), own_call=SET),
        Field("author", Reference.to("person")),
        Field("lent", Reference.to("person"), own_call=SET, exclusive_within="house"),
        Field("room", Reference.to("house"), is_parent_reference=True),
    ),
    natural_keys=(("isbn", "author"),),
)
PERSON = kind("person", "house", lifecycle=Lifecycle(on_delete="lifted"))
LIBRARY = Registry([BOOK, PERSON, kind("shelf", "house"), HOUSE])


def test_registry_orders_kinds_after_parents_and_references() -> None:
    order = [one.name for one in LIBRARY.in_dependency_order]
    assert order.index("house") < min(order.index("person"), order.index("shelf"))
    assert order[-1] == "book"
    assert LIBRARY.root.name == "house"
    assert {one.name for one in LIBRARY.children("house")} == {"person", "shelf", "book"}
    assert LIBRARY.children("book") == ()
    assert "book" in LIBRARY
    assert "page" not in LIBRARY


def test_registry_places_group_children_by_key() -> None:
    assert {
        key: [one.name for one in kinds] for key, kinds in LIBRARY.kinds_by_list_key("shelf").items()
    } == {"books": ["book"]}
    assert LIBRARY.pattern_words == {"persons", "shelfs", "books"}


def test_registry_referring_kinds_include_placement_references() -> None:
    assert [(one.name, field.name) for one, field in LIBRARY.place_fields("shelf")] == [("book", "shelf")]
    assert [(one.name, field.name) for one, field in LIBRARY.place_fields("house")] == [("book", "room")]
    assert LIBRARY.place_fields("person") == ()


def test_registry_lists_kinds_that_refer_to_kind() -> None:
    assert [one.name for one in LIBRARY.kinds_referring_to("person")] == ["book"]
    assert LIBRARY.kinds_referring_to("shelf") == ()  # it is only placed there
    assert LIBRARY.kinds_referring_to("house") == ()


def test_reference_key_is_case_folded_like_referenced_field() -> None:
    book, shelf = LIBRARY["book"], LIBRARY["shelf"]
    assert (LIBRARY.has_data_key(book), LIBRARY.has_data_key(shelf)) == (True, False)
    assert LIBRARY.fold_key(book, "A@B.example") == "a@b.example"
    assert LIBRARY.fold_key(shelf, "A@B.example") == "A@B.example"
    member = REGISTRY["team_member"]
    assert REGISTRY.fold_key(member, "Ada@Acme.example") == "ada@acme.example"


def test_registry_finds_order_field_of_ordered_kind() -> None:
    assert sorted(REGISTRY.list_orders("collection")) == ["collection", "organization"]
    assert REGISTRY.list_order("space") is not None
    assert REGISTRY.list_order("team") is None
    assert dict(REGISTRY.list_orders("team")) == {}


def test_declared_customization_defaults_equal_local_server_defaults() -> None:
    assert DEFAULTS == COMPANION_DEFAULTS
