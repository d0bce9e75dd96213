"""Suggestions for mistyped words."""

from __future__ import annotations

import pytest

from dpsync.model.texts.suggestions import did_you_mean

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
    ],
)
def test_the_closest_word_is_suggested_or_none(word: str, meant: str | None) -> None:
    assert did_you_mean(word, FIELDS) == meant
    assert did_you_mean(word, reversed(FIELDS)) == meant


def test_a_word_is_not_suggested_for_itself() -> None:
    assert did_you_mean("title", ["title"]) is None
