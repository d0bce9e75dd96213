"""Who is who within one parent: pins, the first natural key with tie-breakers, contradictions, later keys."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from dpsync.identity.candidates import History, is_in_base
from dpsync.identity.match import MatchResult, NaturalKeys, match
from dpsync.identity.questions import candidate_objects, pin_answer, pin_text
from dpsync.kinds.kind import EntryMapping, Field, Kind, ListRead
from dpsync.kinds.types import Reference, Text
from dpsync.model.address import Address
from dpsync.model.desired import Entry
from dpsync.model.nodes import Span
from dpsync.model.snapshot import LiveObject
from dpsync.model.values import LiveId, Ref

SPAN = Span("dpsync.yaml", 1, 1, 1, 2)
PLACE = Address.parse("acme/things")
FIELDS = (
    *(Field(name, Text()) for name in ("title", "path", "language")),
    Field("email", Text(format="email")),
    Field("box", Reference.to("box")),
)
BOXES = {Address.parse("acme/boxes/a"): "A", Address.parse("acme/boxes/b"): "B"}


def kind(
    *identity: str | tuple[str, ...], tie_breakers: tuple[str, ...] = (), sole_key: str | None = None
) -> Kind:
    return Kind(
        "thing", "org", "things", EntryMapping(), "/{id}", ListRead("/things"), FIELDS,
        natural_keys=identity, tie_breakers=tie_breakers, sole_key=sole_key,
    )  # fmt: skip


def wanted(key: str, **fields: Any) -> Entry:
    pin, new = fields.pop("pin", None), fields.pop("new", False)
    spans = dict.fromkeys(fields, SPAN)
    address = PLACE.child(key)
    return Entry("thing", address, key, Address.root("acme"), None, fields, SPAN, spans, pin, new=new)


def live(id: str, **fields: Any) -> LiveObject:
    return LiveObject("thing", id, ("org", "acme"), None, fields, "/things")


def box(name: str) -> Ref:
    return Ref(Address.parse(f"acme/boxes/{name}"))


def asked(of: Kind, entries: list[Entry], objects: list[LiveObject]) -> MatchResult:
    return match(NaturalKeys(of, BOXES.get), entries, objects)


def found(of: Kind, entries: list[Entry], objects: list[LiveObject]) -> dict[str, str]:
    """By local key the id, where nothing was unclear."""
    answer = asked(of, entries, objects)
    assert answer.diagnostics == []
    return {address.segments[-1]: item.id for address, item in answer.matches.items()}


def unclear(of: Kind, entries: list[Entry], objects: list[LiveObject]) -> list[tuple[str, str]]:
    """Code and local key of what was unclear."""
    return sorted(
        (item.code, str(item.address).rpartition("/")[2]) for item in asked(of, entries, objects).diagnostics
    )


TITLE = kind("title")
BY_BOX = kind("title", tie_breakers=("box", "language"))
BY_PATH = kind("path", "title")
BY_PAIR = kind("path", ("title", "language"))
BY_SOLE = kind("path", ("title", "language"), sole_key="title")


@pytest.mark.parametrize(
    ("of", "entries", "objects", "matches"),
    [
        pytest.param(TITLE, [wanted("a", title="A")], [live("1", title="A")], {"a": "1"}, id="the first key"),
        pytest.param(TITLE, [wanted("a", title="A")], [live("1", title="a")], {}, id="titles are exact"),
        pytest.param(TITLE, [wanted("a", title="A")], [], {}, id="nothing is live"),
        pytest.param(
            TITLE,
            [wanted("a", title="A", pin="2")],
            [live("1", title="A"), live("2", title="B")],
            {"a": "2"},
            id="a pin wins over a key",
        ),
        pytest.param(
            TITLE,
            [wanted("a", title="B", pin="1"), wanted("b", title="A", pin="2")],
            [live("1", title="A"), live("2", title="B")],
            {"a": "1", "b": "2"},
            id="pins exchange titles",
        ),
        pytest.param(
            TITLE,
            [wanted("a", title="B"), wanted("b", title="A")],
            [live("1", title="A"), live("2", title="B")],
            {"a": "2", "b": "1"},
            id="without another key exchanged titles are followed",
        ),
        pytest.param(
            TITLE,
            [wanted("a", title="A"), wanted("b", title="A", pin="1")],
            [live("1", title="A")],
            {"b": "1"},
            id="what is pinned is not matched again",
        ),
        pytest.param(
            kind("email"),
            [wanted("a", email="ada@acme.example")],
            [live("1", email="Ada@ACME.example")],
            {"a": "1"},
            id="e-mails fold",
        ),
        pytest.param(
            kind("box"),
            [wanted("a", box=box("a"))],
            [live("1", box=LiveId("B")), live("2", box=LiveId("A"))],
            {"a": "2"},
            id="a reference is the id it is bound to",
        ),
        pytest.param(
            kind("box"),
            [wanted("a", box=box("new"))],
            [live("1", box=LiveId("B"))],
            {},
            id="a reference to what is not live matches nothing",
        ),
        pytest.param(
            kind(("title", "language")),
            [wanted("a", title="A", language="en")],
            [live("1", title="A", language="fr"), live("2", title="A", language="en")],
            {"a": "2"},
            id="all parts of a key",
        ),
        pytest.param(
            BY_BOX,
            [wanted("a", title="T", box=box("a"))],
            [live("1", title="T", box=LiveId("B")), live("2", title="T", box=LiveId("A"))],
            {"a": "2"},
            id="the collection breaks a tie",
        ),
        pytest.param(
            BY_BOX,
            [wanted("a", title="T", box=box("a"))],
            [live("1", title="T", box=LiveId("B"))],
            {"a": "1"},
            id="another collection is a move, no other object",
        ),
        pytest.param(
            BY_BOX,
            [wanted("a", title="T", language="fr", box=box("b"))],
            [
                live("1", title="T", language="fr", box=None),
                live("2", title="T", language="en", box=LiveId("B")),
            ],
            {"a": "2"},
            id="the collection weighs more than the language",
        ),
        pytest.param(
            BY_BOX,
            [wanted("a", title="T", language="fr")],
            [live("1", title="T", language="en"), live("2", title="T", language="fr")],
            {"a": "2"},
            id="the language breaks a tie",
        ),
        pytest.param(
            BY_BOX,
            [wanted("a", title="T", box=box("a")), wanted("b", title="T", box=box("b"))],
            [live("1", title="T", box=LiveId("B")), live("2", title="T", box=LiveId("A"))],
            {"a": "2", "b": "1"},
            id="each takes its own",
        ),
        pytest.param(
            BY_BOX,
            [wanted("a", title="T", box=box("a")), wanted("b", title="T", box=None)],
            [live("1", title="T", box=LiveId("A")), live("2", title="T", box=LiveId("B"))],
            {"a": "1", "b": "2"},
            id="what is certain makes the rest certain",
        ),
        pytest.param(
            BY_BOX,
            [wanted("a", title="T", box=box("a")), wanted("b", title="T", box=box("b"))],
            [live("1", title="T", box=LiveId("A"))],
            {"a": "1"},
            id="the nearer one takes the only one",
        ),
        pytest.param(
            BY_PATH,
            [wanted("a", path="p", title="T")],
            [live("1", path="q", title="T")],
            {"a": "1"},
            id="a later key finds what does not carry the first one yet",
        ),
        pytest.param(
            BY_PATH,
            [wanted("a", path="p", title="T")],
            [live("2", path="q", title="T"), live("1", path="r", title="T")],
            {"a": "2"},
            id="a later key takes the first in live order",
        ),
        pytest.param(
            BY_PATH,
            [wanted("a", title="T"), wanted("b", title="T")],
            [live("1", path="q", title="T"), live("2", path="r", title="T")],
            {"a": "1", "b": "2"},
            id="equal entries take equal objects in turn",
        ),
        pytest.param(
            BY_PATH,
            [wanted("a", path="p", title="T"), wanted("b", path="q", title="T")],
            [live("1", path="q", title="T")],
            {"b": "1"},
            id="what a first key claimed is no longer free",
        ),
        pytest.param(
            BY_PATH,
            [wanted("a", path="p", title="Renamed")],
            [live("1", path="p", title="T")],
            {"a": "1"},
            id="a title may change under its path",
        ),
        pytest.param(
            BY_PATH,
            [wanted("a", path="p", title="B"), wanted("b", path="q", title="C")],
            [live("1", path="p", title="A"), live("2", path="q", title="B")],
            {"a": "1", "b": "2"},
            id="a chain of titles is followed by paths",
        ),
        pytest.param(
            BY_PAIR,
            [wanted("a", path="x", title="T", language="en")],
            [live("1", path="p", title="T", language="fr"), live("2", path="q", title="T", language="en")],
            {"a": "2"},
            id="a later key of two parts",
        ),
        pytest.param(
            kind(), [wanted("a", title="A")], [live("1", title="A")], {}, id="a kind without keys needs pins"
        ),
        pytest.param(
            BY_PATH,
            [wanted("a", path="p", title="A")],
            [live("1", path="p", title="B"), live("2", path="q", title="A"), live("3", path="r", title="A")],
            {"a": "1"},
            id="a later key that names several contradicts nothing",
        ),
        pytest.param(
            BY_SOLE,
            [wanted("a", title="T", language="en")],
            [live("1", path="p", title="T", language="fr")],
            {"a": "1"},
            id="the sole key finds the only one",
        ),
        pytest.param(
            BY_SOLE,
            [wanted("a", title="T", language="en")],
            [live("1", title="T", language="fr"), live("2", title="T", language="de")],
            {},
            id="the sole key does not choose between objects",
        ),
        pytest.param(
            BY_SOLE,
            [wanted("a", title="T", language="en"), wanted("b", title="T", language="de")],
            [live("1", title="T", language="fr")],
            {},
            id="the sole key does not choose between entries",
        ),
        pytest.param(
            BY_SOLE,
            [wanted("a", title="T", language="en"), wanted("b", path="p", title="U")],
            [live("1", title="T", language="fr"), live("2", path="p", title="T", language="de")],
            {"a": "1", "b": "2"},
            id="what other keys claimed is no choice",
        ),
        pytest.param(
            BY_SOLE,
            [wanted("a", title="T", language="en", new=True)],
            [live("1", title="T", language="fr")],
            {},
            id="what is said to be new is not found by the sole key",
        ),
        pytest.param(
            BY_SOLE,
            [wanted("a", title="T", language="en", new=True), wanted("b", title="U", language="en")],
            [live("1", title="T", language="fr"), live("2", title="U", language="fr")],
            {"b": "2"},
            id="and what comes behind it is",
        ),
        pytest.param(
            BY_SOLE,
            [wanted("a", path="p", title="T", language="en")],
            [live("1", path="p", title="U", language="en"), live("2", path="q", title="T", language="fr")],
            {"a": "1"},
            id="the sole key contradicts nothing",
        ),
    ],
)
def test_entries_match_expected_live_objects(
    of: Kind, entries: list[Entry], objects: list[LiveObject], matches: dict[str, str]
) -> None:
    """Otherwise, what was certain is proposed again, and what that makes certain is never found.

    Otherwise, what is said to be new is taken for what is there.
    Otherwise, an object of another entry counts as a choice, so that the only section of its title is made a
    second time.
    Otherwise, of two sections of one title one is chosen.
    Otherwise, a path that something has, and a title that several have, count as a contradiction.
    Otherwise, a chain of renames is asked about.
    Otherwise, somebody with capitals in an e-mail address is not found, and is invited again.
    """
    assert found(of, entries, objects) == matches


@pytest.mark.parametrize(
    ("of", "entries", "objects", "findings"),
    [
        pytest.param(
            TITLE,
            [wanted("a", title="A", pin="9")],
            [live("1", title="A")],
            [("DP301", "a")],
            id="a pin that is not live is never a create",
        ),
        pytest.param(
            TITLE,
            [wanted("a", title="A")],
            [live("1", title="A"), live("2", title="A")],
            [("DP302", "a")],
            id="two live objects",
        ),
        pytest.param(
            BY_BOX,
            [wanted("a", title="T")],
            [live("1", title="T", box=LiveId("A")), live("2", title="T", box=LiveId("B"))],
            [("DP302", "a")],
            id="a tie-breaker that is not declared breaks nothing",
        ),
        pytest.param(
            BY_BOX,
            [wanted("a", title="T", box=box("a")), wanted("b", title="T", box=box("a"))],
            [live("1", title="T", box=LiveId("A"))],
            [("DP302", "a"), ("DP302", "b")],
            id="two entries and one object",
        ),
        pytest.param(
            BY_PATH,
            [wanted("a", path="q", title="A"), wanted("b", path="p", title="B")],
            [live("1", path="p", title="A"), live("2", path="q", title="B")],
            [("DP303", "a"), ("DP303", "b")],
            id="two exchange their paths",
        ),
        pytest.param(
            BY_PATH,
            [wanted("a", path="p", title="A")],
            [live("1", path="p", title="B"), live("2", path="q", title="A")],
            [("DP303", "a")],
            id="two keys name two objects and nobody else wants the other",
        ),
        pytest.param(
            BY_PATH,
            [
                wanted("a", path="q", title="A"),
                wanted("b", path="r", title="B"),
                wanted("c", path="p", title="C"),
            ],
            [live("1", path="p", title="A"), live("2", path="q", title="B"), live("3", path="r", title="C")],
            [("DP303", "a"), ("DP303", "b"), ("DP303", "c")],
            id="three in a ring",
        ),
    ],
)
def test_ambiguous_match_is_reported(
    of: Kind, entries: list[Entry], objects: list[LiveObject], findings: list[tuple[str, str]]
) -> None:
    """Otherwise, of two entries with equal claims one gets the object by chance.

    Otherwise, of two live things the first of the list is taken.
    Otherwise, two that have exchanged their paths become each other.
    """
    assert unclear(of, entries, objects) == findings


def test_ambiguous_match_message_lists_ids_and_suggests_pin() -> None:
    """Otherwise, where one project is all there is, it is told to bind a line instead of writing a pin.

    Otherwise, where the files are of one platform a line is advised in the place of a pin.
    """
    (two,) = asked(TITLE, [wanted("a", title="A")], [live("1", title="A"), live("2", title="A")]).diagnostics
    assert ('"1"' in two.message, '"2"' in two.message, two.span) == (True, True, SPAN)
    assert "id: 1" in str(two.hint)
    exchanged = asked(
        BY_PATH,
        [wanted("a", path="q", title="A"), wanted("b", path="p", title="B")],
        [live("1", path="p", title="A"), live("2", path="q", title="B")],
    ).diagnostics
    for item in exchanged:
        assert '"1"' in item.message
        assert '"2"' in item.message
        assert "id:" in str(item.hint)
    said = 'the object "2" has the path of this entry, but the object "1" has the title of this entry'
    assert exchanged[0].message == said


def test_ambiguous_composite_key_is_reported_at_first_field() -> None:
    entry = wanted("a", title="T", language="en")
    places = {"title": Span("dpsync.yaml", 2, 1, 2, 2), "language": Span("dpsync.yaml", 3, 1, 3, 2)}
    two = [live(id, path=id, title="T", language="en") for id in "12"]
    (question,) = asked(kind(("title", "language")), [replace(entry, spans=places)], two).diagnostics
    assert (question.code, question.span) == ("DP302", places["title"])


def test_ambiguous_match_message_mentions_competing_entry() -> None:
    """Otherwise, where two live things could be meant nobody is asked, and a third one is made."""
    entries = [wanted("a", title="T", box=box("a")), wanted("b", title="T", box=box("a"))]
    for item in asked(BY_BOX, entries, [live("1", title="T", box=LiveId("A"))]).diagnostics:
        assert (
            item.message == 'another entry has the same title, but only one live object has this title: "1"'
        )
    there = [live("1", title="A"), live("2", title="A")]
    (two,) = asked(TITLE, [wanted("a", title="A")], there).diagnostics
    assert two.message == '2 live things have this title: "1" and "2"'


def test_pinned_ids_resolve_contradicting_natural_keys() -> None:
    entries = [wanted("a", path="q", title="A", pin="1"), wanted("b", path="p", title="B", pin="2")]
    assert found(BY_PATH, entries, [live("1", path="p", title="A"), live("2", path="q", title="B")]) == {
        "a": "1",
        "b": "2",
    }


def test_entry_matched_by_first_key_ignores_later_keys() -> None:
    """Else the object of the second key would be the entry's, and that of the first nobody's.

    Otherwise, an entry that is found by one key is another object by the next one.
    """
    of = kind("path", "title", "language")
    entry = wanted("t", title="T", language="en")
    found = asked(of, [entry], [live("1", title="T"), live("2", language="en")])
    assert {match.id for match in found.matches.values()} == {"1"}


def test_match_records_its_reason() -> None:
    entries = [wanted("a", path="p"), wanted("b", path="x", title="T", language="en"), wanted("c", pin="3")]
    objects = [live("1", path="p"), live("2", path="q", title="T", language="en"), live("3")]
    matches = asked(BY_PAIR, entries, objects).matches
    assert {address.segments[-1]: (item.by, item.detail) for address, item in matches.items()} == {
        "a": ("key", ""),
        "b": ("later key", "title and language"),
        "c": ("pin", ""),
    }


def test_sole_key_match_is_recorded_as_later_key() -> None:
    answer = asked(BY_SOLE, [wanted("a", title="T", language="en")], [live("1", title="T", language="fr")])
    assert [(item.by, item.detail) for item in answer.matches.values()] == [("later key", "title")]


ENTRIES = st.lists(
    st.builds(dict, path=st.sampled_from("pqrs"), title=st.sampled_from("ABC")),
    max_size=4,
    unique_by=lambda item: item["path"],
)


@given(ENTRIES, ENTRIES, st.randoms(use_true_random=False))
def test_each_object_matches_one_entry_in_any_order(
    one: list[dict[str, str]], other: list[dict[str, str]], random: Any
) -> None:
    """Otherwise, one object becomes two entries."""
    entries = [wanted(f"k{index}", **fields) for index, fields in enumerate(one)]
    objects = [live(str(index), **fields) for index, fields in enumerate(other)]
    answer = asked(BY_PATH, entries, objects)
    ids = [item.id for item in answer.matches.values()]
    assert len(set(ids)) == len(ids)
    unclear_ones = {item.address for item in answer.diagnostics}
    assert not unclear_ones & {str(address) for address in answer.matches}
    random.shuffle(entries)
    again = asked(BY_PATH, entries, objects)
    assert again.matches == answer.matches
    assert {item.address for item in again.diagnostics} == unclear_ones


@given(ENTRIES)
def test_entries_match_all_objects_with_equal_fields(one: list[dict[str, str]]) -> None:
    entries = [wanted(f"k{index}", **fields) for index, fields in enumerate(one)]
    objects = [live(f"k{index}", **fields) for index, fields in enumerate(one)]
    assert found(BY_PATH, entries, objects) == {item.key: item.key for item in entries}


@pytest.mark.parametrize(
    ("base", "object_", "certain"),
    [
        (wanted("a", path="p", title="T"), live("1", path="p", title="T"), True),
        (wanted("a", title="T"), live("1", path="p", title="T"), True),
        (wanted("a", path="p", title="T"), live("1", path="p", title="Other"), False),
        (wanted("a", path="q", title="T"), live("1", path="p", title="T"), False),
        (wanted("b", path="p", title="T"), live("1", path="p", title="T"), False),
    ],
)
def test_is_in_base_requires_all_keys_of_base(base: Entry, object_: LiveObject, certain: bool) -> None:
    """Then another value of a later key is a new one for it, and no contradiction.

    Otherwise, what gives no name is taken for what has none either.
    """
    now = wanted("a", path="p", title="New")
    past = History({base.address: base})
    assert is_in_base(NaturalKeys(BY_PATH, BOXES.get), past, now, object_) == certain


NAMED = [live("1", path="p", title="T"), live("2", path="q", title="A")]
"""By its path the entry a is the first of them, by its title the second one."""


@pytest.mark.parametrize(
    ("base", "codes"),
    [
        ([wanted("a", path="p", title="T")], []),
        ([wanted("a", path="p", title="B")], ["DP303"]),
        ([wanted("a", pin="1")], ["DP303"]),  # it says nothing
        ([], ["DP303"]),
    ],
    ids=["it was the first one", "it was neither", "it said nothing", "it was not there"],
)
def test_git_base_resolves_contradicting_natural_keys(base: list[Entry], codes: list[str]) -> None:
    """Otherwise, an entry that was renamed is asked about, since something else has its new name.

    Otherwise, of two objects that an entry's keys name one is taken by chance.
    Otherwise, a base that says nothing of an entry makes it certain which object it is.
    """
    past = History({item.address: item for item in base})
    entries = [wanted("0", path="0", title="Zero"), wanted("a", path="p", title="A")]  # the first is nothing
    answer = match(NaturalKeys(BY_PATH, BOXES.get), entries, NAMED, past)
    assert [item.code for item in answer.diagnostics] == codes
    assert [one.id for one in answer.matches.values()] == ([] if codes else ["1"])


def test_entry_outside_title_swap_is_not_reported_ambiguous() -> None:
    """By their titles b and c exchange what their paths say; a has the title of b, and is no part of it."""
    both = kind("path", "title")
    entries = [
        wanted("a", path="1", title="Two"),
        wanted("b", path="2", title="Three"),
        wanted("c", path="3", title="Two"),
    ]
    objects = [live("1", path="1", title="One"), live("2", path="2", title="Two")]
    objects.append(live("3", path="3", title="Three"))
    matching = asked(both, entries, objects)
    assert sorted(str(item.address) for item in matching.diagnostics) == ["acme/things/b", "acme/things/c"]


def test_candidate_without_title_is_shown_by_id() -> None:
    """Otherwise, what has an empty title is named by nothing in a question.

    Otherwise, a question about what only an id is known of ends in an error of the program.
    Otherwise, what is named by another thing has no title in a question, and the run ends in an error.
    """
    there = {"1": live("1", title="T"), "2": live("2", title=""), "3": live("3"), "4": None}
    there["5"] = live("5", title=LiveId("t"))
    assert [one.title for one in candidate_objects(kind("title"), wanted("a"), there)] == [
        "T",
        "2",
        "3",
        "4",
        "5",
    ]


def test_candidate_includes_last_change_date() -> None:
    """Otherwise, a question does not say when each of them was changed."""
    there = {"1": replace(live("1"), changed_at="2026-01-31"), "2": live("2")}
    assert [one.changed for one in candidate_objects(kind(), wanted("a"), there)] == ["2026-01-31", None]


def test_pin_suggestion_for_several_environments_mentions_overlay() -> None:
    """Otherwise, a pin of one platform is advised in files of several, where it is an error on the others."""
    assert "overlay" in pin_text("1", uses_ids_file=True)
    assert "overlay" in pin_answer(wanted("a"), "1", uses_ids_file=True).means


def test_kinds_outside_ids_file_use_pins_in_environments() -> None:
    """Otherwise, a line is advised for what never has one, and the command refuses."""
    by_title = kind("title")
    assert NaturalKeys(by_title, BOXES.get, has_environments=True).uses_ids_file
    assert not NaturalKeys(
        replace(by_title, shape=EntryMapping("title")), BOXES.get, has_environments=True
    ).uses_ids_file


@pytest.mark.parametrize("fields", [{}, {"title": "T"}], ids=["nothing", "one text"])
def test_missing_language_text_gives_no_natural_key(fields: dict[str, Any]) -> None:
    """Otherwise, what has no text in several languages ends the run in an error of the program."""
    assert NaturalKeys(kind("title.en"), BOXES.get).declared_value(wanted("a", **fields), "title.en") is None


def test_references_to_different_missing_objects_differ() -> None:
    """Otherwise, what names different things that are not live yet counts as alike."""
    keys = NaturalKeys(kind("box"), lambda _: None)
    assert keys.comparable(box("a")) != keys.comparable(box("b"))
