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
def test_what_a_kind_is_where_its_declaration_says_nothing(word: str, value: Any) -> None:
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
def test_what_a_field_is_where_its_declaration_says_nothing(word: str, value: Any) -> None:
    assert getattr(FIELD, word) == value


def test_the_other_words_say_nothing_by_themselves() -> None:
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
def test_the_methods_of_calls(made: Call, call: Call) -> None:
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
def test_by_which_call_a_value_is_set(via: Any, value: Any, call: Call | None) -> None:
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
def test_which_fields_can_be_watched_without_a_line(words: dict[str, Any], watchable: bool) -> None:
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
def test_whether_every_answer_has_a_field(words: dict[str, Any], answered: str) -> None:
    assert Field("x", Text(), **words).answered == answered


def test_what_a_field_is_called_and_may_name() -> None:
    field = Field(
        "x", Many(Reference.to("team")), read="a.b", write="y", means="space", raised="set", exposure=(1, 2)
    )
    assert (field.source, field.wire, field.exposes) == ("a.b", "y", "set")
    assert field.names == ("team", "space")
    assert Field("x", Text(), read=None).source is None
    assert Field("x", Text(), read="").source == ""
    assert Field("x", Flag(), exposure=(False, True)).exposes == (False, True)
    assert Field("x", Flag(), on="neither").declarable is False


def test_a_list_order_is_declared_and_never_sent() -> None:
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
def test_how_people_call_one(words: dict[str, Any], noun: str, one: str) -> None:
    made = kind(**words)
    assert (made.noun, made.one) == (noun, one)


def test_what_names_one_object_among_all() -> None:
    assert SHELF.identity_of("1", None) == ("shelf", "1")
    assert SHELF.identity_of("1", ("house", "2")) == ("shelf", "1")
    assert kind(own_id=False).identity_of("1", ("house", "2")) == ("shelf", "house/2/1")
    assert kind(own_id=False).identity_of("1", None) == ("shelf", "1")


def test_one_that_is_added_by_its_pin_is_made_by_another_call() -> None:
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
def test_what_one_may_belong_to(parent: Any, parents: tuple[str, ...]) -> None:
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


def test_a_kind_stands_behind_what_it_belongs_to_and_what_its_keys_refer_to() -> None:
    order = [one.name for one in LIBRARY.ordered]
    assert order.index("house") < min(order.index("person"), order.index("shelf"))
    assert order[-1] == "book"
    assert LIBRARY.root.name == "house"
    assert {one.name for one in LIBRARY.children("house")} == {"person", "shelf", "book"}
    assert LIBRARY.children("book") == ()
    assert "book" in LIBRARY
    assert "page" not in LIBRARY


def test_the_places_of_an_entry_are_the_keys_of_what_it_holds() -> None:
    assert {key: [one.name for one in kinds] for key, kinds in LIBRARY.places("shelf").items()} == {
        "books": ["book"]
    }
    assert LIBRARY.words == {"persons", "shelfs", "books"}


def test_what_puts_an_object_into_another_is_nested_or_set_by_a_call_of_its_own() -> None:
    assert [(one.name, field.name) for one, field in LIBRARY.referring("shelf")] == [("book", "shelf")]
    assert [(one.name, field.name) for one, field in LIBRARY.referring("house")] == [("book", "room")]
    assert LIBRARY.referring("person") == ()


def test_which_kinds_name_an_object() -> None:
    assert [one.name for one in LIBRARY.naming("person")] == ["book"]
    assert LIBRARY.naming("shelf") == ()  # it is only placed there
    assert LIBRARY.naming("house") == ()


def test_a_key_that_is_data_folds_like_it() -> None:
    book, shelf = LIBRARY["book"], LIBRARY["shelf"]
    assert (LIBRARY.keyed(book), LIBRARY.keyed(shelf)) == (True, False)
    assert LIBRARY.folded(book, "A@B.example") == "a@b.example"
    assert LIBRARY.folded(shelf, "A@B.example") == "A@B.example"
    member = REGISTRY["team_member"]
    assert REGISTRY.folded(member, "Ada@Acme.example") == "ada@acme.example"


def test_lists_that_order_things_are_found_by_what_they_order() -> None:
    assert sorted(REGISTRY.list_orders("collection")) == ["collection", "organization"]
    assert REGISTRY.list_order("space") is not None
    assert REGISTRY.list_order("team") is None
    assert dict(REGISTRY.list_orders("team")) == {}


def test_the_looks_of_a_new_site_are_those_that_the_platform_gives_it() -> None:
    assert USUAL == DEFAULTS
