"""Suggestions for mistyped words."""

from __future__ import annotations

import pytest

from dpsync.model.text import did_you_mean

FIELDS = ["title", "parent", "body", "labels", "order", "emailDomains"]


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("titel", "title"),
        ("Title", "title"),
        ("label", "labels"),
        ("emaildomains", "emailDomains"),
        ("email_domains", "emailDomains"),
        ("zzz", None),
        ("", None),
        ("t" * 1000, None),
        ("bo", "body"),
        ("bod", "body"),
        ("boddyyy", "body"),
    ],
)
def test_closest_word_is_suggested(word: str, meant: str | None) -> None:
    assert did_you_mean(word, FIELDS) == meant
    assert did_you_mean(word, reversed(FIELDS)) == meant


def test_suggestion_compares_words_up_to_100_characters() -> None:
    assert did_you_mean("t" * 100, ["t" * 99]) == "t" * 99
    assert did_you_mean("t" * 101, ["t" * 99]) is None


def test_suggestion_excludes_the_word_itself() -> None:
    assert did_you_mean("title", ["title"]) is None
