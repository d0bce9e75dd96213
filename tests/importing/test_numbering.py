"""What is imported under a name that something else has already."""

from __future__ import annotations

import pytest

from dpsync.importing.inventory import first_unused_name


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
def test_duplicate_name_gets_first_free_number(taken: list[str], name: str) -> None:
    assert first_unused_name("news", taken.__contains__) == name


def test_duplicate_variable_name_is_numbered_with_underscore() -> None:
    assert first_unused_name("API_KEY", ["API_KEY"].__contains__, "_") == "API_KEY_2"
