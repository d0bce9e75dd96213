"""Numbers with their nouns, lists of names, and short commits."""

from __future__ import annotations

import pytest

from dpsync.model.text import format_count, is_or_are, join_with_and, short_commit, shorten_list


@pytest.mark.parametrize(
    ("number", "noun", "text"),
    [
        (0, "thing", "0 things"),
        (1, "thing", "1 thing"),
        (2, "thing", "2 things"),
        (1, "entry", "1 entry"),
        (3, "entry", "3 entries"),
        (2, "key", "2 keys"),
        (1, "integration on a space", "1 integration on a space"),
        (2, "integration on a space", "2 integrations on a space"),
        (2, "visitor access", "2 visitor accesses"),
        (2, "customization of a site space", "2 customizations of a site space"),
    ],
)
def test_counted_noun_is_pluralized(number: int, noun: str, text: str) -> None:
    assert format_count(number, noun) == text


def test_name_lists_are_shortened_and_counted() -> None:
    assert [shorten_list("abc"[:number]) for number in (1, 2, 3)] == ["a", "a, b", "a, b, c"]
    assert shorten_list("abcd") == "a, b, c and 1 more"
    assert shorten_list("abcd", 2) == "a, b and 2 more"
    assert [join_with_and("abc"[:number]) for number in (1, 2, 3)] == ["a", "a and b", "a, b and c"]


def test_verb_agrees_with_number() -> None:
    assert [is_or_are(number) for number in range(4)] == ["are", "is", "are", "are"]


def test_commit_is_shortened_to_twelve_digits() -> None:
    assert short_commit("0123456789abcdef") == "0123456789ab"
