"""A new kind is one declaration: nothing else in the product is touched, and the whole pipeline works.

The toy library is declared below with the hard words of the vocabulary; a strict server of its own serves it.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator

from dpsync.config.schema import configuration_schema
from dpsync.kinds.kind import Delete, EntryMapping, Field, Kind, ListRead, Patch, Post, Put, SingleRead
from dpsync.kinds.registry import Registry
from dpsync.kinds.types import Enum, Flag, Reference, Text
from dpsync.model.diagnostic import DiagnosticError

from .pipeline import Pipeline
from .toy_http import Json, Platform, ToyHttpError, exactly, page, pick, route, serving


def toy_kinds() -> list[Kind]:
    library = Kind(
        name="library", parent=None, key="organizations", shape=EntryMapping(), url_path="/libraries/{id}",
        read=SingleRead(), search_list=ListRead("/libraries"), natural_keys=("name",),
        update=Patch("{self}", repeat="safe"),
        fields=(
            Field("name", Text(1, 20), written_in="update"),
            Field("open", Flag(), written_in="update", value_when_absent=False),
        ),
    )  # fmt: skip
    person = Kind(
        name="person", parent="library", key="people", shape=EntryMapping(), url_path="{parent}/people/{id}",
        read=ListRead("{parent}/people"), natural_keys=("name",), title_field="name",
        create=Post("{parent}/people", repeat="look_up"), update=Patch("{self}", repeat="safe"),
        delete=Delete(repeat="safe"), shorthand_field="name",
        fields=(Field("name", Text(1, 20), required=True),),
    )  # fmt: skip
    shelf = Kind(
        name="shelf", parent="library", key="shelves", shape=EntryMapping(),
        url_path="{parent}/shelves/{id}", read=ListRead("{parent}/shelves"),
        natural_keys=(
            "mark", "title",
        ),  # creating takes no mark: an interrupted creation is found by its title
        create=Post("{parent}/shelves", {"...": "$fields", "material": "wood"}, repeat="look_up"),
        update=Patch("{self}", repeat="safe"), delete=Delete(repeat="safe"), has_content=True,
        fields=(
            Field("title", Text(1, 20), required=True),
            Field("mark", Text(1, 20), written_in="update", unique_within="library"),
            Field("note", Text(0, 50), written_in="update", null_effect="empty"),
            Field(
                "lit", Flag(), written_in="update", value_when_absent=False, written_after=("children",),
                own_call={
                    True: Post("{self}/light", {"shelf": "$id"}, repeat="safe"),
                    False: Post("{self}/dark", None, repeat="safe"),
                },
            ),
            Field(
                "front", Flag(), written_in="update", value_when_absent=False, exclusive_within="library",
                own_call=Put("{parent}/front", {"shelf": "$id"}, repeat="safe"),
            ),
        ),
    )  # fmt: skip
    book = Kind(
        name="book", parent="shelf", key="books", shape=EntryMapping(), url_path="{parent}/books/{id}",
        read=ListRead("{parent}/books"), natural_keys=("title",),
        create=Post("{parent}/books", repeat="look_up"), update=Patch("{self}", repeat="safe"),
        delete=Delete(repeat="safe"),
        fields=(
            Field("title", Text(1, 40), required=True),
            Field(
                "sequel", Reference.to("book"), written_in="update", null_effect="clear",
                own_call=Post("{self}/sequel", {"of": "$id", "is": "$value"}, repeat="safe"),
            ),
        ),
    )  # fmt: skip
    keeper = Kind(
        name="keeper", parent="shelf", key="keepers", shape=EntryMapping(key_field="person"),
        url_path="{parent}/keepers/{id}", id_path="person.id", has_unique_id=False, title_field="person",
        read=ListRead("{parent}/keepers"), natural_keys=("person",), shorthand_field="role",
        create=Put("{parent}/keepers/{person}", id_source="$person", repeat="safe"),
        update=Put("{self}", repeat="safe"), delete=Delete(repeat="safe"),
        fields=(
            Field("person", Reference.to("person"), written_in="neither", read_path="person.id"),
            Field(
                "role", Enum(("head", "hand"), null_word="guest"), value_when_absent="guest", required=True
            ),
        ),
    )  # fmt: skip
    return [library, person, shelf, book, keeper]


class Library(Platform):
    """One library. A shelf gets a mark of the platform's choice; the first shelf is the front one."""

    def __init__(self) -> None:
        super().__init__()
        self.library: Json = {"id": "lib", "name": "Old name", "open": False, "visitors": 4711}
        self.front: str | None = None
        self.people: list[Json] = []
        self.shelves: list[Json] = []
        self.books: dict[str, list[Json]] = {}
        self.keepers: dict[str, list[Json]] = {}
        self.lose_the_mark = False

    def one_library(self, id: str) -> None:
        if id != "lib":
            raise ToyHttpError(404, "no such library")

    def shelf(self, library: str, id: str) -> Json:
        self.one_library(library)
        return pick(self.shelves, id)

    @route("GET", "/libraries")
    def libraries(self) -> Json:
        return page([self.library])

    @route("GET", "/libraries/{}")
    def get_library(self, id: str) -> Json:
        self.one_library(id)
        return self.library

    @route("PATCH", "/libraries/{}")
    def patch_library(self, id: str, body: Json) -> Json:
        self.one_library(id)
        exactly(body, may=("name", "open"))
        self.library |= body
        return self.library

    @route("PUT", "/libraries/{}/front")
    def set_front(self, id: str, body: Json) -> None:
        self.one_library(id)
        exactly(body, needs=("shelf",))
        self.front = pick(self.shelves, body["shelf"])["id"]

    @route("GET", "/libraries/{}/people")
    def get_people(self, _id: str) -> Json:
        return page(self.people)

    @route("POST", "/libraries/{}/people")
    def post_person(self, _id: str, body: Json) -> Json:
        exactly(body, needs=("name",))
        self.people.append({"id": self.number("p"), **body})
        return self.people[-1]

    @route("PATCH", "/libraries/{}/people/{}")
    def patch_person(self, _id: str, person: str, body: Json) -> Json:
        exactly(body, needs=("name",))
        pick(self.people, person).update(body)
        return pick(self.people, person)

    @route("DELETE", "/libraries/{}/people/{}")
    def delete_person(self, id: str, person: str, _body: Json) -> None:
        self.people.remove(pick(self.people, person))
        for shelf in self.keepers:
            self.delete_keeper(id, shelf, person, None)

    @route("GET", "/libraries/{}/shelves")
    def get_shelves(self, _id: str) -> Json:
        return page([shelf | {"front": shelf["id"] == self.front} for shelf in self.shelves])

    @route("POST", "/libraries/{}/shelves")
    def post_shelf(self, _id: str, body: Json) -> Json:
        exactly(body, needs=("title", "material"))
        if body["material"] != "wood":
            raise ToyHttpError(422, "only wood")
        new = self.number("s")
        self.shelves.append(
            {"id": new, "title": body["title"], "mark": f"mark-{new}", "note": "", "lit": False}
        )
        self.books[new], self.keepers[new] = [], []
        self.front = self.front or new
        return self.shelves[-1]

    @route("PATCH", "/libraries/{}/shelves/{}")
    def patch_shelf(self, id: str, shelf: str, body: Json) -> Json:
        exactly(body, may=("title", "mark", "note"))
        found = self.shelf(id, shelf)
        if "mark" in body:
            if self.lose_the_mark:
                raise ToyHttpError(403, "not now")
            if any(other["mark"] == body["mark"] and other is not found for other in self.shelves):
                raise ToyHttpError(409, "another shelf has that mark")
        found.update(body)
        return found

    @route("DELETE", "/libraries/{}/shelves/{}")
    def delete_shelf(self, id: str, shelf: str, _body: Json) -> None:
        self.shelves.remove(self.shelf(id, shelf))
        del self.books[shelf], self.keepers[shelf]
        if self.front == shelf:
            self.front = self.shelves[0]["id"] if self.shelves else None

    @route("POST", "/libraries/{}/shelves/{}/light")
    def light(self, id: str, shelf: str, body: Json) -> None:
        exactly(body, needs=("shelf",))
        found = self.shelf(id, shelf)
        if body["shelf"] != shelf:
            raise ToyHttpError(422, "that is another shelf")
        if found["lit"] or not self.books[shelf] or not self.keepers[shelf]:
            raise ToyHttpError(409, "a shelf is lit once, when it has books and somebody to keep it")
        found["lit"] = True

    @route("POST", "/libraries/{}/shelves/{}/dark")
    def dark(self, id: str, shelf: str, body: Json) -> None:
        if body is not None or not self.shelf(id, shelf)["lit"]:
            raise ToyHttpError(409, "it is dark")
        self.shelf(id, shelf)["lit"] = False

    @route("GET", "/libraries/{}/shelves/{}/books")
    def get_books(self, id: str, shelf: str) -> Json:
        return page(self.books[self.shelf(id, shelf)["id"]])

    @route("POST", "/libraries/{}/shelves/{}/books")
    def post_book(self, _id: str, shelf: str, body: Json) -> Json:
        exactly(body, needs=("title",))
        self.books[shelf].append({"id": self.number("b"), "sequel": None, **body})
        return self.books[shelf][-1]

    @route("PATCH", "/libraries/{}/shelves/{}/books/{}")
    def patch_book(self, _id: str, shelf: str, book: str, body: Json) -> Json:
        exactly(body, needs=("title",))
        pick(self.books[shelf], book).update(body)
        return pick(self.books[shelf], book)

    @route("DELETE", "/libraries/{}/shelves/{}/books/{}")
    def delete_book(self, _id: str, shelf: str, book: str, _body: Json) -> None:
        if any(other["sequel"] == book for other in self.books[shelf]):
            raise ToyHttpError(409, "it is the sequel of another one")
        self.books[shelf].remove(pick(self.books[shelf], book))

    @route("POST", "/libraries/{}/shelves/{}/books/{}/sequel")
    def sequel(self, _id: str, shelf: str, book: str, body: Json) -> None:
        exactly(body, needs=("of", "is"))
        if body["of"] != book or (body["is"] is not None and not pick(self.books[shelf], body["is"])):
            raise ToyHttpError(422, "not these books")
        pick(self.books[shelf], book)["sequel"] = body["is"]

    @route("GET", "/libraries/{}/shelves/{}/keepers")
    def get_keepers(self, _id: str, shelf: str) -> Json:
        return page(self.keepers[shelf])

    @route("PUT", "/libraries/{}/shelves/{}/keepers/{}")
    def put_keeper(self, _id: str, shelf: str, person: str, body: Json) -> None:
        exactly(body, needs=("role",))
        known = pick(self.people, person)
        self.keepers[shelf] = [item for item in self.keepers[shelf] if item["person"]["id"] != person]
        self.keepers[shelf].append({"person": {"id": person, "name": known["name"]}, "role": body["role"]})

    @route("DELETE", "/libraries/{}/shelves/{}/keepers/{}")
    def delete_keeper(self, _id: str, shelf: str, person: str, _body: Json) -> None:
        self.keepers[shelf] = [item for item in self.keepers[shelf] if item["person"]["id"] != person]

    def state(self) -> dict[str, Any]:
        """Return the library's state by names instead of ids."""
        names = {person["id"]: person["name"] for person in self.people}
        return {
            shelf["mark"]: {
                "title": shelf["title"],
                "lit": shelf["lit"],
                "front": shelf["id"] == self.front,
                "books": {
                    book["title"]: next(
                        (
                            other["title"]
                            for other in self.books[shelf["id"]]
                            if other["id"] == book["sequel"]
                        ),
                        None,
                    )
                    for book in self.books[shelf["id"]]
                },
                "keepers": {names[item["person"]["id"]]: item["role"] for item in self.keepers[shelf["id"]]},
            }
            for shelf in self.shelves
        }


@pytest.fixture
def library() -> Library:
    return Library()


@pytest.fixture
def toy(library: Library, tmp_path: Path) -> Iterator[Pipeline]:
    with serving(library) as url:
        yield Pipeline(url, Registry(toy_kinds()), tmp_path)


FIRST = """
    dpsync: 1
    organizations:
      town:
        id: lib
        name: Town library
        open: true
        people: { kim: Kim, lee: Lee }
        shelves:
          crime:
            title: Crime
            mark: c
            lit: true
            books: { one: { title: The fall, sequel: two }, two: { title: The rise } }
            keepers: { kim: head, lee: guest }
          maps: { title: Maps, mark: m, front: true, note: fold them, books: { world: { title: World } } }
"""
THEN = """
    dpsync: 1
    policy: { prune: [people, shelves, shelves/*/books], limits: { deletes: 9, percent: 100 } }
    organizations:
      town:
        id: lib
        people: { kim: Kim }
        shelves:
          crime:
            title: Crime
            mark: m
            lit: false
            front: true
            books: { two: { title: The rise, sequel: three }, three: { title: The peace } }
            keepers: { kim: hand }
          maps: { title: Maps, mark: c, note: null, books: {} }
"""


def test_toy_resource_kinds_need_at_most_seventy_lines() -> None:
    lines, _ = inspect.getsourcelines(toy_kinds)
    assert len(lines) <= 70
    assert max(map(len, lines)) <= 111


def test_schema_is_derived_from_kind_declaration() -> None:
    schema = configuration_schema(Registry(toy_kinds()))
    Draft7Validator.check_schema(schema)

    def valid(**shelf: Any) -> bool:
        crime = {
            "title": "Crime",
            "books": {"one": {"title": "One", "sequel": None}},
            "keepers": {"kim": "head"},
        }
        town = {"id": "lib", "people": {"kim": "Kim"}, "shelves": {"crime": crime | shelf}}
        return bool(Draft7Validator(schema).is_valid({"dpsync": 1, "organizations": {"town": town}}))

    assert valid()
    assert valid(lit=True, note=None, keepers={"kim": {"role": "guest"}})
    wrong = (
        {"title": 3},
        {"lit": "yes"},
        {"colour": "red"},
        {"keepers": {"kim": "boss"}},
        {"note": 1},
        {"mark": None},
    )
    assert [fields for fields in wrong if valid(**fields)] == []


def test_toy_kinds_converge_from_empty_platform(toy: Pipeline, library: Library) -> None:
    report = toy.apply(FIRST)
    assert library.refused == []
    assert report.complete, report
    assert library.library == {"id": "lib", "name": "Town library", "open": True, "visitors": 4711}
    assert library.state() == {
        "c": {
            "title": "Crime", "lit": True, "front": False,
            "books": {"The fall": "The rise", "The rise": None}, "keepers": {"Kim": "head", "Lee": None},
        },
        "m": {"title": "Maps", "lit": False, "front": True, "books": {"World": None}, "keepers": {}},
    }  # fmt: skip
    assert toy.plan(FIRST).empty


def test_second_apply_of_toy_kinds_sends_no_writes(toy: Pipeline, library: Library) -> None:
    toy.apply(FIRST)
    before = len(library.log)
    assert toy.apply(FIRST).writes == 0
    assert len(library.log) == before


def test_toy_kinds_converge_when_all_fields_change(toy: Pipeline, library: Library) -> None:
    """The shelves keep their titles and exchange their marks; pins say which is which."""
    toy.apply(FIRST)
    ids = {shelf["title"]: shelf["id"] for shelf in library.shelves}
    text = THEN.replace("crime:", f"crime:\n            id: {ids['Crime']}").replace(
        "maps: {", f"maps: {{ id: {ids['Maps']},"
    )
    along = [effect.address for change in toy.plan(text).changes for effect in change.effects]
    assert along == ["town/shelves/crime/keepers/[Lee]"]
    report = toy.apply(text)
    assert library.refused == []
    assert report.complete, report
    assert library.state() == {
        "m": {
            "title": "Crime", "lit": False, "front": True,
            "books": {"The rise": "The peace", "The peace": None},
            "keepers": {"Kim": "hand"},
        },
        "c": {"title": "Maps", "lit": False, "front": False, "books": {}, "keepers": {}},
    }  # fmt: skip
    assert toy.plan(text).empty


def test_swapped_natural_keys_are_ambiguous_without_pinned_ids(toy: Pipeline, library: Library) -> None:
    toy.apply(FIRST)
    with pytest.raises(DiagnosticError) as found:
        toy.plan(THEN)
    assert {item.code for item in found.value.diagnostics} == {"DP303"}
    assert all(shelf["id"] in str(found.value) for shelf in library.shelves)


def test_interrupted_creation_is_finished_without_duplicates(toy: Pipeline, library: Library) -> None:
    library.lose_the_mark = True
    assert not toy.apply(FIRST).converged
    library.lose_the_mark = False
    report = toy.apply(FIRST)
    assert report.complete, report
    assert [shelf["title"] for shelf in library.shelves] == ["Crime", "Maps"]
    assert sorted(library.state()) == ["c", "m"]


def test_interrupted_creation_is_matched_by_title(toy: Pipeline, library: Library) -> None:
    library.lose_the_mark = True
    toy.apply(FIRST)
    matched = {change.address: (change.matched, change.matched_detail) for change in toy.plan(FIRST).changes}
    assert matched["town/shelves/crime"] == matched["town/shelves/maps"] == ("later key", "title")


def test_boolean_field_change_sends_call_of_its_value(toy: Pipeline, library: Library) -> None:
    toy.apply(FIRST)
    library.log.clear()
    assert toy.apply(FIRST.replace("lit: true", "lit: false")).complete
    assert library.log == [("POST", f"/v1/libraries/lib/shelves/{library.shelves[0]['id']}/dark", None)]


def test_moved_exclusive_flag_is_one_change(toy: Pipeline, library: Library) -> None:
    toy.apply(FIRST)
    text = FIRST.replace("lit: true", "lit: true\n            front: true").replace(
        "front: true, note", "note"
    )
    plan = toy.plan(text)
    assert [(change.address, [item.field for item in change.differences]) for change in plan.changes] == [
        ("town/shelves/crime", ["front"])
    ]
    library.log.clear()
    assert toy.apply(text).complete
    assert [body for _, _, body in library.log] == [{"shelf": library.shelves[0]["id"]}]


@pytest.mark.usefixtures("library")
def test_undeclared_objects_are_kept_unchanged(toy: Pipeline) -> None:
    toy.apply(FIRST)
    only = """
        dpsync: 1
        organizations:
          town: { id: lib, shelves: { crime: { title: Crime, mark: c } } }
    """
    plan = toy.plan(only)
    assert plan.empty
    assert [(kept.place, kept.addresses) for kept in plan.kept] == [
        ("town/shelves", ("town/shelves/[Maps]",))
    ]


def test_unknown_reference_in_mapping_key_gets_suggestion(toy: Pipeline) -> None:
    with pytest.raises(DiagnosticError) as found:
        toy.plan(FIRST.replace("keepers: { kim: head", "keepers: { kin: head"))
    (wrong,) = found.value.diagnostics
    assert (wrong.code, wrong.hint) == ("DP220", 'did you mean "kim"?')


def test_plan_ignores_unknown_response_field(toy: Pipeline) -> None:
    assert "visitors" not in json.dumps(toy.plan(FIRST).model_dump(mode="json"))
