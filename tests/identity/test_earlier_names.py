"""Earlier names of the entries of one place, from plain values: `previously`, the base, temporary names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from dpsync.identity.candidates import History
from dpsync.identity.keys import NaturalKeys, temporary_name
from dpsync.identity.match import MatchResult, match
from dpsync.identity.similarity import similar_objects
from dpsync.kinds.kind import EntryMapping, Field, Kind, ListRead, Patch
from dpsync.kinds.types import Enum, Reference, Table, Text
from dpsync.model.address import Address
from dpsync.model.desired import Entry
from dpsync.model.nodes import Span
from dpsync.model.snapshot import LiveObject
from dpsync.model.values import LiveId

SPAN, THERE = Span("dpsync.yaml", 1, 1, 1, 2), Span("dpsync.yaml", 7, 1, 7, 2)
PLACE, PARENT = Address.parse("acme/things"), ("org", "acme")
FIELDS = (
    Field("title", Text()),
    Field("path", Text(), written_in="update"),
    Field("box", Reference.to("box")),
    Field("terms", Table(Enum(("en", "de")), Text())),
)


def kind(*identity: str | tuple[str, ...], **more: Any) -> Kind:
    more = {"update": Patch("{self}", repeat="safe"), **more}
    return Kind(
        "thing", "org", "things", EntryMapping(), "/{id}", ListRead("/things"), FIELDS,
        natural_keys=identity, **more,
    )  # fmt: skip


TITLE, BY_PATH = kind("title"), kind("path", "title")
BY_THREE = kind("path", "title", "terms.en")
BY_TERMS, BY_BOX = kind("terms.en", "terms.de"), kind("title", tie_breakers=("box",))


def entry(key: str, was: Sequence[dict[str, Any]] = (), **fields: Any) -> Entry:
    spans = {**dict.fromkeys(fields, SPAN), "previously": THERE}
    root = Address.root("acme")
    return Entry("thing", PLACE.child(key), key, root, None, fields, SPAN, spans, previously=tuple(was))


def live(id: str, **fields: Any) -> LiveObject:
    return LiveObject("thing", id, PARENT, None, fields, "/things")


def matched(
    of: Kind, wanted: list[Entry], there: list[LiveObject], base: Sequence[Entry] = ()
) -> MatchResult:
    return match(
        NaturalKeys(of, lambda _: None), wanted, there, History({item.address: item for item in base})
    )


def ids(found: MatchResult) -> dict[str, tuple[str, str]]:
    assert found.diagnostics == []
    return {address.segments[-1]: (item.id, item.by) for address, item in found.matches.items()}


OLD, ALT = {"en": "Old", "de": "Alt"}, {"de": "Alt"}


@pytest.mark.parametrize(
    ("was", "bearer"), [({"en": "Old"}, "1"), ({"de": "Alt"}, "1"), (OLD, "1"), ({"en": "Other"}, None)]
)
def test_previously_name_in_one_language_matches_object(was: dict[str, str], bearer: str | None) -> None:
    """What is recognised by its term in any language is so under an earlier one.

    Otherwise, what has a key that is one language of its text ends the run in an error of the program.
    Otherwise, a member of a text in several languages counts as the whole.
    Otherwise, what bears one language of an earlier name is not found.
    """
    new = entry("a", [{"terms": was}], terms={"en": "New"})
    found = ids(matched(BY_TERMS, [new], [live("1", terms=OLD), live("2", terms={"en": "Third"})]))
    assert found == ({} if bearer is None else {"a": (bearer, "previously")})


def test_former_name_of_two_objects_prefers_same_parent() -> None:
    """Otherwise, of two with the earlier name, the one elsewhere is as good as the one where the entry is.

    Otherwise, of several with one name the nearest is not preferred.
    """
    there = [live("1", title="Old", box=LiveId("B")), live("2", title="Old", box=LiveId("A"))]
    new = entry("a", [{"title": "Old"}], title="New", box=LiveId("A"))
    assert ids(matched(BY_BOX, [new], there)) == {"a": ("2", "previously")}


def test_former_name_of_two_objects_is_ambiguous() -> None:
    """Otherwise, of several with the earlier name none is asked about."""
    there = [live("1", title="Old"), live("2", title="Old")]
    (asked,) = matched(TITLE, [entry("a", [{"title": "Old"}], title="New")], there).diagnostics
    assert (asked.code, asked.span) == ("DP305", THERE)
    assert '2 live things have the earlier name of this entry: "1" and "2"' in asked.message
    (asked,) = matched(TITLE, [entry("a", title="New")], there, [entry("a", title="Old")]).diagnostics
    assert (asked.code, asked.span) == ("DP305", SPAN)
    assert "the name of this entry in the commit that dpsync compares with" in asked.message


def test_shared_title_is_resolved_by_base() -> None:
    """The entry does not say any more what it went by first."""
    there = [live("2", path="q", title="T"), live("1", path="p", title="T")]
    found = matched(BY_PATH, [entry("a", title="T")], there, [entry("a", path="p", title="T")])
    assert ids(found) == {"a": ("1", "later key")}


@pytest.mark.parametrize(
    ("present", "there", "found"),
    [
        # It is found by the title that it still has, and was not renamed.
        ({"path": "q", "title": "T"}, [live("1", path="r", title="T")], {"a": ("1", "later key")}),
        # Its present path is there: that somebody else bears its old title says nothing.
        ({"path": "q", "title": "U"}, [live("1", path="r", title="T"), live("2", path="q", title="V")],
         {"a": ("2", "key")}),
        ({"path": "q", "title": "U"}, [live("1", path="r", title="T")], {"a": ("1", "base")}),
    ],
)  # fmt: skip
def test_git_base_title_alone_matches_object(
    present: dict[str, str], there: list[LiveObject], found: dict[str, tuple[str, str]]
) -> None:
    """In the base it has the path p, which nothing bears any more, and the title T.

    Otherwise, an entry whose new path is there is taken for something else that bears its old title.
    """
    assert ids(matched(BY_PATH, [entry("a", **present)], there, [entry("a", path="p", title="T")])) == found


def test_former_name_of_two_objects_prefers_current_path() -> None:
    """Its title was taken off it, and another one bears it, too."""
    there = [live("1", path="p", title="T"), live("2", path="q", title="T")]
    found = matched(BY_PATH, [entry("a", [{"title": "T"}], path="p", title="B")], there)
    assert (ids(found), found.diagnostics) == ({"a": ("1", "key")}, [])


def test_entry_without_title_matches_by_previously() -> None:
    found = matched(TITLE, [entry("a", [{"title": "Old"}])], [live("1", title="Old")])
    assert (ids(found), found.diagnostics) == ({"a": ("1", "previously")}, [])


def test_third_natural_key_from_git_base_matches_object() -> None:
    base = entry("a", path="p", title="T", terms={"en": "Old"})
    now = entry("a", path="q", title="T", terms={"en": "New"})
    found = matched(BY_THREE, [now], [live("1", path="r", title="U", terms={"en": "Old"})], [base])
    assert ids(found) == {"a": ("1", "base")}


@pytest.mark.parametrize(("of", "name"), [(TITLE, "title"), (BY_PATH, "path")])
def test_temporary_name_of_interrupted_swap_matches_object(of: Kind, name: str) -> None:
    there = [live("1", **{name: temporary_name(str(PLACE.child("a")))}), live("2", **{name: "B"})]
    found = ids(matched(of, [entry("a", **{name: "A"}), entry("b", **{name: "B"})], there))
    assert found["a"] == ("1", "temporary name")
    assert found["b"][0] == "2"


def test_temporary_swap_name_format_is_stable() -> None:
    assert temporary_name("acme/teams/a") == "dpsync-16e0bae102be093226148fb96c5fdd9f"


def test_composite_natural_key_has_no_temporary_swap_name() -> None:
    of = kind(("title", "path"))
    there = [live("1", title=temporary_name(str(PLACE.child("a"))), path="p")]
    assert ids(matched(of, [entry("a", title="A", path="p")], there)) == {}


def exchange(base: list[dict[str, Any]], there: list[dict[str, Any]]) -> dict[str, str]:
    """Two entries that have passed their paths round, a now on q and b on p, and which object each is."""
    wanted = [entry("a", **{**base[0], "path": "q"}), entry("b", **{**base[1], "path": "p"})]
    earlier = [replace(item, fields=fields) for item, fields in zip(wanted, base, strict=True)]
    objects = [live(str(number), **fields) for number, fields in enumerate(there, 1)]
    return {key: id for key, (id, _) in ids(matched(BY_PATH, wanted, objects, earlier)).items()}


@pytest.mark.parametrize(
    ("first", "second", "found"),
    [
        # What did not change tells whether the paths were exchanged already: a field, or a later key alone.
        ({"box": LiveId("A")}, {"box": LiveId("B")}, {"a": "2", "b": "1"}),
        ({"box": LiveId("B")}, {"box": LiveId("A")}, {"a": "2", "b": "1"}),
        ({"title": "A"}, {"title": "B"}, {"a": "2", "b": "1"}),
    ],
)
def test_other_fields_show_name_swap_is_finished(
    first: dict[str, Any], second: dict[str, Any], found: dict[str, str]
) -> None:
    """Object 1 has the path p, that of a in the base, and what is b's otherwise.

    Otherwise, names that are still to be exchanged are left, and their fields are.
    """
    base = [{"path": "p", **first}, {"path": "q", **second}]
    assert exchange(base, [{"path": "p", **second}, {"path": "q", **first}]) == found
    # And before the exchange they are what they were.
    assert exchange(base, [{"path": "p", **first}, {"path": "q", **second}]) == {"a": "1", "b": "2"}


def test_name_swap_without_distinguishing_fields_is_ambiguous() -> None:
    """Otherwise, names that may be exchanged already are exchanged a second time."""
    wanted = [entry("a", path="q"), entry("b", path="p")]
    earlier = [entry("a", path="p"), entry("b", path="q")]
    found = matched(BY_PATH, wanted, [live("1", path="p"), live("2", path="q")], earlier)
    assert [(item.code, item.hint) for item in found.diagnostics] == [
        ("DP305", 'if dpsync should rename the object "1", add id: 1. Otherwise, add id: 2'),
        ("DP305", 'if dpsync should rename the object "2", add id: 2. Otherwise, add id: 1'),
    ]


def test_obsolete_previously_lines_do_not_swap_objects() -> None:
    """Both names were exchanged before the base, and the lines that say so are still there."""
    one, other = {"box": LiveId("A")}, {"box": LiveId("B")}
    wanted = [
        entry("a", [{"path": "p"}], path="q", **one),
        entry("b", [{"path": "q"}], path="p", **other),
    ]
    there = [live("1", path="p", **one), live("2", path="q", **other)]
    assert {key: id for key, (id, _) in ids(matched(BY_PATH, wanted, there, wanted)).items()} == {
        "a": "2",
        "b": "1",
    }
    before = [entry("a", path="p", **one), entry("b", path="q", **other)]
    assert {key: id for key, (id, _) in ids(matched(BY_PATH, wanted, there, before)).items()} == {
        "a": "1",
        "b": "2",
    }


SHOWS = kind("path", ("title", "$child.box"))


@pytest.mark.parametrize(("first", "found"), [("A", {"a": "1", "b": "2"}), ("B", {"a": "2", "b": "1"})])
def test_section_children_show_name_swap_is_finished(first: str, found: dict[str, str]) -> None:
    """Two sections of one title: a shows box A, b shows box B, and object 1 has the path of a in the base."""
    boxes = {"a": "A", "b": "B", "1": first, "2": "B" if first == "A" else "A"}

    def child(of: Entry) -> Entry:
        box = {"box": LiveId(boxes[of.key])}
        return Entry("shown", of.address.child("x"), "x", of.address, None, box, SPAN, {})

    view = NaturalKeys(SHOWS, lambda _: None, child, lambda item: [live("x", box=LiveId(boxes[item.id]))])
    wanted = [entry("a", path="q", title="T"), entry("b", path="p", title="T")]
    base = [entry("a", path="p", title="T"), entry("b", path="q", title="T")]
    there = [live("1", path="p", title="T"), live("2", path="q", title="T")]
    answer = match(view, wanted, there, History({item.address: item for item in base}, child))
    assert {key: id for key, (id, _) in ids(answer).items()} == found


@pytest.mark.parametrize(("shown", "alike"), [("A", ["1"]), ("B", []), (None, [])])
def test_partly_similar_title_needs_matching_children(shown: str | None, alike: list[str]) -> None:
    """Otherwise, what shows something else is proposed as the same."""
    inside = Entry("shown", PLACE.child("x"), "x", PLACE, None, {"box": LiveId("A")}, SPAN, {})
    children = [] if shown is None else [live("x", box=LiveId(shown))]
    view = NaturalKeys(SHOWS, lambda _: None, lambda _: inside, lambda _: children)
    there = [live("1", title="Product docs")]
    assert [
        item.id for item in similar_objects(view, entry("a", title="Product documentation"), there)
    ] == alike
    assert similar_objects(view, entry("a", title="Something else"), there) == []


# Who has the better claim, and what says more.


def test_previously_overrides_git_base_only_when_newly_added() -> None:
    """Otherwise, what somebody has just written of an earlier name is passed over for the base.

    Otherwise, an earlier name that was taken off the entry ends what the base knows of it.
    Otherwise, an earlier name that has had its time ends what the base knows.
    """
    there, older = [live("1", title="Old")], [{"title": "Older"}]
    written = entry("a", [{"title": "Other"}], title="New")
    assert ids(matched(TITLE, [written], there, [entry("a", title="Old")])) == {}
    known, said_nothing = entry("a", older, title="Old"), entry("a", title="New")
    assert ids(matched(TITLE, [entry("a", older, title="New")], there, [known])) == {"a": ("1", "base")}
    assert ids(matched(TITLE, [said_nothing], there, [known])) == {"a": ("1", "base")}


def test_first_former_name_that_is_live_matches() -> None:
    """Otherwise, of several earlier names only the first counts, and the entry is made a second time."""
    was = [{"title": "Gone"}, {"title": "Old"}, {"title": "Oldest"}]
    there = [live("1", title="Oldest"), live("2", title="Old")]
    assert ids(matched(TITLE, [entry("a", was, title="New")], there)) == {"a": ("2", "previously")}


@pytest.mark.parametrize(("content", "found"), [(False, {}), (True, {"a": ("1", "base")})])
def test_renamed_content_with_unchangeable_name_is_matched(
    content: bool, found: dict[str, tuple[str, str]]
) -> None:
    """Otherwise, somebody who is replaced by another person in a file is taken for them.

    Otherwise, content under another name is made anew, beside what there is.
    """
    fixed = kind("title", update=None, has_content=content)
    there = [live("1", title="Old")]
    assert ids(matched(fixed, [entry("a", title="New")], there, [entry("a", title="Old")])) == found


def test_renamed_entry_keeps_object_despite_new_equal_name() -> None:
    """Otherwise, a new entry takes the object of one that was renamed."""
    wanted = [entry("renamed", [{"title": "Old"}], title="New"), entry("new", title="Old")]
    assert ids(matched(TITLE, wanted, [live("1", title="Old")])) == {"renamed": ("1", "previously")}


def test_unchanged_entry_keeps_object_despite_renamed_entry() -> None:
    wanted = [entry("same", title="Old"), entry("renamed", [{"title": "Old"}], title="New")]
    base = [entry("same", title="Old"), entry("renamed", title="Before")]
    assert ids(matched(TITLE, wanted, [live("1", title="Old")], base)) == {"same": ("1", "key")}


@pytest.mark.parametrize(
    ("box", "found"),
    [
        ("A", []),  # as the one with the present name
        ("B", ["DP305"]),  # as the one with the old name
        ("C", ["DP305"]),  # as neither
    ],
)
def test_current_name_needs_evidence_against_former(box: str, found: list[str]) -> None:
    """Somebody copied it and gave the copy its name, or renamed it and somebody else took the old name.

    Otherwise, where the old name and the new one are both live, nobody is asked.
    Otherwise, where nothing tells a copy from a rename, one is taken.
    Otherwise, what everything speaks for is asked about.
    """
    there = [live("1", title="Old", box=LiveId("B")), live("2", title="New", box=LiveId("A"))]
    wanted = entry("a", [{"title": "Old"}], title="New", box=LiveId(box))
    answer = matched(TITLE, [wanted], there)
    assert [item.code for item in answer.diagnostics] == found
    assert [one.id for one in answer.matches.values()] == ([] if found else ["2"])


@pytest.mark.parametrize(
    ("says", "alike"),
    [
        ({}, []),
        ({"box": LiveId("A")}, ["1"]),
        ({"box": LiveId("B")}, []),
        ({"path": None}, []),
    ],
)
def test_partly_similar_title_is_candidate_with_equal_field(says: dict[str, Any], alike: list[str]) -> None:
    """Otherwise, every name that is half alike stops a create.

    Otherwise, a name that is half alike stops a create though nothing else is said.
    Otherwise, what differs in everything else is proposed as the same.
    """
    view = NaturalKeys(kind("title"), lambda _: None)
    one = entry("a", title="Product documentation", **says)
    there = [live("1", title="Product docs", box=LiveId("A"))]
    assert [item.id for item in similar_objects(view, one, there)] == alike


@pytest.mark.parametrize(
    ("of", "wanted", "there", "like"),
    [
        (BY_PATH, {"title": "Notes"}, {"path": "p", "title": "Notes"}, True),
        (BY_PATH, {"path": "p", "title": "Notes"}, {"title": "Notes"}, True),
        (BY_PATH, {"title": "Notes"}, {"path": "notes"}, False),
        (kind("box"), {"box": LiveId("A")}, {"box": LiveId("B")}, False),
    ],
)
def test_similarity_compares_only_names_both_objects_have(
    of: Kind, wanted: dict[str, Any], there: dict[str, Any], like: bool
) -> None:
    found = similar_objects(NaturalKeys(of, lambda _: None), entry("a", **wanted), [live("1", **there)])
    assert bool(found) == like
