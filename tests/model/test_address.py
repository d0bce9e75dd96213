"""Addresses and patterns: one syntax that no name can break, and patterns that cover what they say."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsync.model.address import Address, Pattern, encode_segment

WORDS = ("teams", "sites", "spaces")
PLAIN = st.text("abcXYZ019.-_@", min_size=1, max_size=6)
ANY = st.text(min_size=1, max_size=8)
SEGMENTS = st.lists(PLAIN, min_size=1, max_size=5).map(tuple)


@pytest.mark.parametrize(
    ("key", "encoded"),
    [
        ("docs", "docs"),
        ("ada@acme.example", "ada@acme.example"),
        ("old/path", "old%2Fpath"),
        ("100%", "100%25"),
        ("a#b", "a%23b"),
        ("*", "%2A"),
        ("[x]", "%5Bx%5D"),
        ("{x}", "%7Bx%7D"),
        ("a\nb\x7f", "a%0Ab%7F"),
        ("a\u202eb\u200b", "a%E2%80%AEb%E2%80%8B"),
        ("Ärger ~ 日本", "Ärger ~ 日本"),
    ],
)
def test_reserved_characters_in_address_are_encoded(key: str, encoded: str) -> None:
    assert encode_segment(key) == encoded
    assert str(Address.root("acme").child(key)) == f"acme/{encoded}"


@pytest.mark.parametrize(
    ("address", "text"),
    [
        (Address.root("acme").child("teams", "writers"), "acme/teams/writers"),
        (Address.root("acme").child("teams").unmanaged_child("Sales"), "acme/teams/[Sales]"),
        (Address.root("acme").child("teams").unmanaged_child("Sales", "t1"), "acme/teams/[Sales~t1]"),
        (Address.root("acme").child("teams").unmanaged_child("R/D [x]"), "acme/teams/[R%2FD %5Bx%5D]"),
        (Address.root("a/b"), "a%2Fb"),
        (Address.root("acme").child("redirects", "/start"), "acme/redirects//start"),
        (Address.root("acme").child("redirects", "/old//a"), "acme/redirects//old//a"),
        (Address.root("acme").child("redirects", "/"), "acme/redirects//"),
        (Address.root("acme").child("redirects", "/a/*#b"), "acme/redirects//a/%2A%23b"),
        (Address.root("acme").child("redirects").unmanaged_child("/old/a"), "acme/redirects/[/old/a]"),
        (Address.root("acme").child("redirects").unmanaged_child("/a", "b/c"), "acme/redirects/[/a~b/c]"),
        (Address.root("acme").child("/a", "/b"), "acme/%2Fa//b"),
    ],
)
def test_address_text_survives_parsing(address: Address, text: str) -> None:
    assert str(address) == text
    assert Address.parse(text) == address


def test_address_exposes_organization_place_and_last_segment() -> None:
    address = Address.parse("acme/sites/docs/redirects/[x]")
    assert (str(address.organization), address.organization_key) == ("acme", "acme")
    assert address.segments_in_organization == ("sites", "docs", "redirects", "[x]")
    assert (str(address.list_address), address.last_segment) == ("acme/sites/docs/redirects", "[x]")
    assert Pattern.parse("*/sites/*", WORDS).last_segment == "*"


def test_address_ancestors_start_with_itself() -> None:
    around = Address.parse("acme/teams/writers").self_and_ancestors()
    assert [str(one) for one in around] == ["acme/teams/writers", "acme/teams", "acme"]


@pytest.mark.parametrize(
    ("printed", "encoded"),
    [
        ("acme/sites/docs/redirects//old/start", "acme/sites/docs/redirects/%2Fold%2Fstart"),
        ("acme/sites/docs/redirects/[/old/start]", "acme/sites/docs/redirects/[%2Fold%2Fstart]"),
    ],
)
def test_differently_encoded_slashes_give_equal_address(printed: str, encoded: str) -> None:
    """Policies and scripts have addresses in the encoded form."""
    assert Address.parse(printed) == Address.parse(encoded)
    assert str(Address.parse(encoded)) == printed
    assert Pattern.parse(printed, WORDS).matches(Address.parse(encoded))
    assert Pattern.parse(encoded, WORDS).matches(Address.parse(printed))


@pytest.mark.parametrize("text", ["acme/teams/", "/acme/teams", "acme/teams#", ""])
def test_pattern_with_an_empty_segment_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"names separated|name of a field"):
        Pattern.parse(text, WORDS)


@given(st.lists(ANY, min_size=1, max_size=5))
def test_address_of_any_keys_survives_parsing(keys: list[str]) -> None:
    address = Address.root(keys[0]).child(*keys[1:])
    assert Address.parse(str(address)) == address
    assert len(address.segments) == len(keys)


@given(ANY, ANY)
def test_different_keys_have_different_encodings(one: str, other: str) -> None:
    assert (encode_segment(one) == encode_segment(other)) == (one == other)


@given(ANY, ANY, st.none() | ANY)
def test_unmanaged_address_never_equals_entry_address(key: str, title: str, id: str | None) -> None:
    around = Address.root("acme").child("teams")
    unmanaged = around.unmanaged_child(title, id)
    assert unmanaged != around.child(key)
    assert Address.parse(str(unmanaged)) == unmanaged
    assert re.fullmatch(r"\[[^\[\]#*]*\]", unmanaged.segments[-1])


@given(st.tuples(ANY, st.none() | ANY), st.tuples(ANY, st.none() | ANY))
def test_unmanaged_addresses_are_unique(one: tuple[str, str | None], other: tuple[str, str | None]) -> None:
    around = Address.root("acme").child("teams")
    assert (around.unmanaged_child(*one) == around.unmanaged_child(*other)) == (one == other)
    assert around.unmanaged_child("Sales~t1") != around.unmanaged_child("Sales", "t1")


@given(SEGMENTS, SEGMENTS)
def test_address_containment_compares_whole_segments(outer: tuple[str, ...], inner: tuple[str, ...]) -> None:
    assert Address(outer + inner).is_at_or_below(Address(outer))
    assert Address(outer).is_at_or_below(Address(outer))
    assert not Address(outer).is_at_or_below(Address(outer + inner))
    assert not Address.parse("acme/teams-old").is_at_or_below(Address.parse("acme/teams"))


# Patterns.


@pytest.mark.parametrize(
    ("pattern", "matched", "missed"),
    [
        ("acme/teams", ["acme/teams"], ["acme/teams/writers", "globex/teams", "acme/team"]),
        ("acme/teams/*", ["acme/teams/a", "acme/teams/[Sales]"], ["acme/teams", "acme/teams/a/members"]),
        ("teams/*", ["acme/teams/a", "globex/teams/b"], ["acme/sites/a", "teams/a"]),
        ("teams/*/members", ["acme/teams/a/members"], ["acme/teams/members", "acme/members"]),
        ("*/members", ["acme/members"], ["acme/teams/a/members"]),
        ("**/members", ["acme/members", "acme/teams/a/members", "members"], ["acme/members/ada"]),
        ("acme/**", ["acme", "acme/teams", "acme/sites/a/structure/b"], ["globex"]),
        ("acme/**/a", ["acme/a", "acme/x/y/a"], ["acme", "acme/a/b"]),
        ("**", ["acme", "acme/a/b"], []),
        ("teams/**/*", ["acme/teams/a", "acme/teams/a/b"], ["acme/teams"]),
        ("acme/teams/%2A", ["acme/teams/%2A"], ["acme/teams/a"]),
    ],
)  # fmt: skip
def test_pattern_matches_expected_addresses(pattern: str, matched: list[str], missed: list[str]) -> None:
    parsed = Pattern.parse(pattern, WORDS)
    assert [text for text in matched + missed if parsed.matches(Address.parse(text))] == matched


@pytest.mark.parametrize(
    ("pattern", "covered", "free"),
    [
        ("sites/*", ["acme/sites/docs", "acme/sites/docs/structure/en"], ["acme/sites", "acme/teams/a"]),
        ("acme/teams", ["acme/teams", "acme/teams/a"], ["acme", "acme/teamsters"]),
        ("sites/*/structure", ["acme/sites/docs/structure/a/b"], ["acme/sites/docs"]),
    ],
)
def test_pattern_includes_descendants_of_expected_addresses(
    pattern: str, covered: list[str], free: list[str]
) -> None:
    parsed = Pattern.parse(pattern, WORDS)
    assert [text for text in covered + free if parsed.matches_or_contains(Address.parse(text))] == covered


@pytest.mark.parametrize("text", ["spaces/*#emoji", "acme/spaces/en#emoji", "**#emoji"])
def test_pattern_may_contain_a_field(text: str) -> None:
    parsed = Pattern.parse(text, WORDS)
    assert parsed.field == "emoji"
    assert parsed.text == text
    assert parsed.matches(Address.parse("acme/spaces/en"))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "/",
        "acme/",
        "/acme",
        "#title",
        "acme/teams#",
        "acme/te*",
        "a*b",
        "acme/***",
        "*x/a",
    ],
)
def test_invalid_pattern_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"segment|field|slashes"):
        Pattern.parse(text, WORDS)


@given(SEGMENTS)
def test_address_as_pattern_matches_only_itself(segments: tuple[str, ...]) -> None:
    address = Address(segments)
    pattern = Pattern.parse(str(address), ())
    assert pattern.matches(address)
    assert not pattern.matches(Address((*segments, "x")))
    assert pattern.matches_or_contains(Address((*segments, "x")))


@given(SEGMENTS, st.data())
def test_star_in_pattern_matches_exactly_one_segment(segments: tuple[str, ...], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(segments) - 1))
    pattern = Pattern.parse("/".join((*segments[:at], "*", *segments[at + 1 :])), ())
    assert pattern.matches(Address(segments))
    assert pattern.matches(Address((*segments[:at], "other", *segments[at + 1 :])))
    assert not pattern.matches(Address((*segments[:at], *segments[at + 1 :])))


@given(
    st.lists(st.sampled_from(["a", "b", "*", "**"]), min_size=1, max_size=5),
    st.lists(st.sampled_from("ab"), max_size=6),
)
def test_pattern_matching_equals_regular_expression(parts: list[str], segments: list[str]) -> None:
    """`*` is one segment and `**` any number of them, none included."""
    words = {"*": "[ab]/", "**": "([ab]/)*"}
    expression = "".join(words.get(part, f"{part}/") for part in parts)
    wanted = bool(re.fullmatch(expression, "".join(f"{segment}/" for segment in segments)))
    assert Pattern.parse("/".join(parts), ()).matches(Address(tuple(segments))) is wanted
