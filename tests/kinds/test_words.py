"""The words that a declaration need not say, what follows from those that it says, and how kinds relate."""

from __future__ import annotations

from typing import Any

import pytest

from dpsync.kinds.declarations.customization import USUAL
from dpsync.kinds.kind import (
    Add,
    ByHand,
    Call,
    Delete,
    Entries,
    Field,
    Kind,
    Lifecycle,
    Lifted,
    ListOrder,
    Lists,
    Node,
    Order,
    Pages,
    Patch,
    PlatformWork,
    Post,
    Put,
    Single,
)
from dpsync.kinds.registry import Registry, load
from dpsync.kinds.types import Flag, Many, Reference, Text
from dpsync.server.sites.customization import DEFAULTS

REGISTRY = load().whole


def kind(name: str = "shelf", parent: Any = None, **words: Any) -> Kind:
    said: dict[str, Any] = {
        "name": name,
        "parent": parent,
        "key": f"{name}s",
        "shape": Entries(),
        "at": "/x/{id}",
        "read": Pages("/x"),
        "fields": (),
    }
    return Kind(**{**said, **words})


SHELF = kind()
FIELD = Field("title", Text())


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("label", ""),
        ("id", "id"),
        ("of_output", False),
        ("own_id", True),
        ("title", "title"),
        ("url", None),
        ("visible_when", {}),
        ("redirects", None),
        ("changed", None),
        ("identity", ()),
        ("tie_breakers", ()),
        ("sole_key", None),
        ("find", None),
        ("create", None),
        ("update", None),
        ("delete", None),
        ("order", None),
        ("shorthand", None),
        ("content", False),
        ("after", ()),
        ("guard", None),
        ("lifecycle", Lifecycle()),
        ("platform", PlatformWork()),
        ("security", False),
        ("lets_in", False),
        ("keeps_out", False),
        ("pages", None),
        ("shown_in", None),
        ("synced", None),
    ],
)
def test_kind_attribute_has_default(word: str, value: Any) -> None:
    assert getattr(SHELF, word) == value


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("on", "both"),
        ("read", "="),
        ("own_read", {}),
        ("write", None),
        ("create_as", None),
        ("via", None),
        ("otherwise", None),
        ("null", "refused"),
        ("absent", None),
        ("nest", False),
        ("one_per", None),
        ("instead_of", None),
        ("unique", None),
        ("after", ()),
        ("exposure", ()),
        ("security", False),
        ("raised", None),
        ("required", False),
        ("in_answers", None),
        ("means", None),
        ("platform_default", None),
        ("watchable", False),
        ("source", "title"),
        ("exposes", None),
        ("names", ()),
        ("declarable", True),
        ("wire", "title"),
        ("answered", "sometimes"),
    ],
)
def test_field_attribute_has_default(word: str, value: Any) -> None:
    assert getattr(FIELD, word) == value


def test_other_declaration_classes_have_defaults() -> None:
    call = Call(method="PATCH", path="/x", repeat="safe")
    assert (call.body, call.gives, call.also_creates, call.answers) == ("$fields", "id", None, None)
    assert (call.whole, call.complete) == (False, False)
    node = Node("page", "page")
    assert (node.children, node.holds, node.alone, node.least) == (None, (), False, 0)
    assert Entries() == Entries(None, None)
    assert Single() == Single(False) != Single(True)
    order = Order(call, None)
    assert (order.apart, order.otherwise) == (False, None)
    assert Lifted() == Lifted((), ())
    assert Lifecycle() == Lifecycle(None, None, None, "gone")
    assert Lists(("/a", "/b")).path == "/a"


@pytest.mark.parametrize(
    ("made", "call"),
    [
        (Post("/x", repeat="safe"), Call(method="POST", path="/x", repeat="safe")),
        (
            Put("/x", {"a": 1}, repeat="look_up", whole=True),
            Call(method="PUT", path="/x", body={"a": 1}, whole=True, repeat="look_up"),
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
def test_field_setting_selects_call_for_value(via: Any, value: Any, call: Call | None) -> None:
    assert Field("x", Text(), via=via).setting(value) == call


@pytest.mark.parametrize(
    ("words", "watchable"),
    [
        ({"platform_default": "a"}, True),
        ({"platform_default": False}, True),
        ({}, False),
        ({"platform_default": "a", "read": None}, False),
        ({"platform_default": "a", "read": "other"}, True),
        ({"platform_default": "a", "on": "neither"}, False),
        ({"platform_default": "a", "nest": True}, False),
    ],
)
def test_field_is_watchable_with_readable_platform_default(words: dict[str, Any], watchable: bool) -> None:
    assert Field("x", Text(), **words).watchable is watchable


@pytest.mark.parametrize(
    ("words", "answered"),
    [
        ({}, "sometimes"),
        ({"required": True}, "always"),
        ({"required": True, "absent": "a"}, "sometimes"),
        ({"required": True, "in_answers": "or null"}, "or null"),
        ({"in_answers": "always"}, "always"),
    ],
)
def test_field_presence_in_responses_is_derived(words: dict[str, Any], answered: str) -> None:
    assert Field("x", Text(), **words).answered == answered


def test_field_names_and_references_are_derived() -> None:
    field = Field(
        "x", Many(Reference.to("team")), read="a.b", write="y", means="space", raised="set", exposure=(1, 2)
    )
    assert (field.source, field.wire, field.exposes) == ("a.b", "y", "set")
    assert field.names == ("team", "space")
    assert Field("x", Text(), read=None).source is None
    assert Field("x", Text(), read="").source == ""
    assert Field("x", Flag(), exposure=(False, True)).exposes == (False, True)
    assert Field("x", Flag(), on="neither").declarable is False


def test_list_order_field_is_declarable_but_never_sent() -> None:
    order = ListOrder("order", of="book", by="shelf", present=None, order=None)
    assert (order.on, order.read, order.declarable) == ("neither", None, True)
    assert order.type == Many(Reference.to("book"), as_set=True)
    assert order.source is None


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
def test_kind_noun_and_article_are_derived(words: dict[str, Any], noun: str, one: str) -> None:
    made = kind(**words)
    assert (made.noun, made.one) == (noun, one)


def test_identity_includes_parent_without_own_id() -> None:
    assert SHELF.identity_of("1", None) == ("shelf", "1")
    assert SHELF.identity_of("1", ("house", "2")) == ("shelf", "1")
    assert kind(own_id=False).identity_of("1", ("house", "2")) == ("shelf", "house/2/1")
    assert kind(own_id=False).identity_of("1", None) == ("shelf", "1")


def test_creation_with_pin_uses_add_call() -> None:
    add = Add(SET, "kind", "given")
    made = kind(create=ANY, lifecycle=Lifecycle(add=add))
    assert made.creating("id", {"kind": "given"}) == SET
    assert made.creating("id", {"kind": "other"}) == ANY
    assert made.creating("id", {}) == ANY
    assert made.creating(None, {"kind": "given"}) == ANY
    assert kind(create=ByHand("do it")).creating("id", {"kind": "given"}) == ByHand("do it")


@pytest.mark.parametrize(
    ("parent", "parents"), [(None, ()), ("house", ("house",)), (("house", "room"), ("house", "room"))]
)
def test_kind_parents_are_listed_as_tuple(parent: Any, parents: tuple[str, ...]) -> None:
    assert kind(parent=parent).parents == parents


HOUSE = kind("house")
BOOK = kind(
    "book",
    ("shelf", "house"),
    shape=Entries(natural="isbn"),
    fields=(
        Field("isbn", Text(form="email"), on="neither"),
        Field("shelf", Reference.to("shelf"), via=SET),
        Field("author", Reference.to("person")),
        Field("lent", Reference.to("person"), via=SET, one_per="house"),
        Field("room", Reference.to("house"), nest=True),
    ),
    identity=(("isbn", "author"),),
)
PERSON = kind("person", "house", lifecycle=Lifecycle(on_delete="lifted"))
LIBRARY = Registry([BOOK, PERSON, kind("shelf", "house"), HOUSE])


def test_registry_orders_kinds_after_parents_and_references() -> None:
    order = [one.name for one in LIBRARY.ordered]
    assert order.index("house") < min(order.index("person"), order.index("shelf"))
    assert order[-1] == "book"
    assert LIBRARY.root.name == "house"
    assert {one.name for one in LIBRARY.children("house")} == {"person", "shelf", "book"}
    assert LIBRARY.children("book") == ()
    assert "book" in LIBRARY
    assert "page" not in LIBRARY


def test_registry_places_group_children_by_key() -> None:
    assert {key: [one.name for one in kinds] for key, kinds in LIBRARY.places("shelf").items()} == {
        "books": ["book"]
    }
    assert LIBRARY.words == {"persons", "shelfs", "books"}


def test_registry_referring_lists_placement_references() -> None:
    assert [(one.name, field.name) for one, field in LIBRARY.referring("shelf")] == [("book", "shelf")]
    assert [(one.name, field.name) for one, field in LIBRARY.referring("house")] == [("book", "room")]
    assert LIBRARY.referring("person") == ()


def test_registry_naming_lists_kinds_with_references() -> None:
    assert [one.name for one in LIBRARY.naming("person")] == ["book"]
    assert LIBRARY.naming("shelf") == ()  # it is only placed there
    assert LIBRARY.naming("house") == ()


def test_reference_keys_are_folded_like_referenced_value() -> None:
    book, shelf = LIBRARY["book"], LIBRARY["shelf"]
    assert (LIBRARY.keyed(book), LIBRARY.keyed(shelf)) == (True, False)
    assert LIBRARY.folded(book, "A@B.example") == "a@b.example"
    assert LIBRARY.folded(shelf, "A@B.example") == "A@B.example"
    member = REGISTRY["team_member"]
    assert REGISTRY.folded(member, "Ada@Acme.example") == "ada@acme.example"


def test_registry_finds_list_orders_by_ordered_kind() -> None:
    assert sorted(REGISTRY.list_orders("collection")) == ["collection", "organization"]
    assert REGISTRY.list_order("space") is not None
    assert REGISTRY.list_order("team") is None
    assert dict(REGISTRY.list_orders("team")) == {}


def test_declared_customization_defaults_equal_companion_defaults() -> None:
    assert USUAL == DEFAULTS
