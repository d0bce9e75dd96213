"""Texts are plain: no word that readers cannot look up, few long sentences (tools/readability.py)."""

from __future__ import annotations

import re
from functools import cache

import pytest

from tools.readability import GLOSSARY, Report, Text, glossary, is_known, report, reports

LONG = {"pages": 265, "help": 3, "messages": 2}
"""How many long sentences there are at most. The numbers only ever go down."""


@cache
def found() -> dict[str, Report]:
    return reports()


@pytest.mark.parametrize("texts", LONG)
def test_every_word_is_in_the_dictionary_the_glossary_or_the_terms(texts: str) -> None:
    one = found()[texts]
    assert {word: one.where[word] for word in one.unknown} == {}


@pytest.mark.parametrize("texts", LONG)
def test_there_are_not_more_long_sentences_than_before(texts: str) -> None:
    long = found()[texts].long
    assert len(long) <= LONG[texts], "\n".join(f"{place} ({words}): {text}" for place, words, text in long)


def test_the_glossary_has_thirty_words_at_most_in_their_order() -> None:
    words = re.findall(r"^## (.+)$", GLOSSARY.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(words) <= 30
    assert words == sorted(words, key=str.lower)


def test_a_word_of_the_glossary_is_known() -> None:
    assert "ids file" in glossary()
    assert is_known("ids")


@pytest.mark.parametrize("word", ["recieve", "plausable", "orgnization's"])
def test_a_misspelt_word_is_unknown(word: str) -> None:
    assert list(report([Text("here", f"They {word} it.")]).unknown) == [word]


@pytest.mark.parametrize(
    "text", ["See DPSYNC_URL, docs/plan.md:3 and --yes.", "Costs 12MB of https://a.example/x"]
)
def test_a_name_is_no_word(text: str) -> None:
    assert not report([Text("here", text)]).unknown


def test_a_sentence_of_31_words_is_long_and_one_of_30_is_not() -> None:
    thirty = " ".join(["word"] * 30)
    assert [words for _, words, _ in report([Text("here", f"{thirty}. And {thirty}.")]).long] == [31]


def test_a_point_within_a_name_ends_no_sentence() -> None:
    assert len(Text("here", "Read docs.md or version 3.11. Then go on.").sentences()) == 2
