"""What is imported under a name that something else has already."""

from __future__ import annotations

import pytest

from dpsync.importing.inventory import first_free


@pytest.mark.parametrize(
    ("taken", "name"),
    [
        ([], "news"),
        (["news-2"], "news"),
        (["news"], "news-2"),
        (["news", "news-2", "news-3"], "news-4"),
        (["news", "news-3"], "news-2"),
    ],
)
def test_a_second_one_is_number_two_and_no_number_is_left_out(taken: list[str], name: str) -> None:
    assert first_free("news", taken.__contains__) == name


def test_the_name_of_a_variable_is_joined_as_its_words_are() -> None:
    assert first_free("API_KEY", ["API_KEY"].__contains__, "_") == "API_KEY_2"
