"""The core schema of YAML 1.2, as a table."""

from __future__ import annotations

import pytest

from dpsync.config.yaml_reader import NUMBER_LENGTH, NumberError, parse_scalar

TEXTS = """
no yes on off y N nULL tRUE 12:30:45 1:2 2020-01-01 1_000 0b1 -0x1 0O7 1.2.3 1e e3 . .. - + = ${X} \u0661
inf -inf nan .Nan +.nan
"""


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *((word, None) for word in ("", "~", "null", "Null", "NULL")),
        *((word, True) for word in ("true", "True", "TRUE")),
        *((word, False) for word in ("false", "False", "FALSE")),
        ("0", 0),
        ("-1", -1),
        ("+12", 12),
        ("017", 17),
        ("0o17", 15),
        ("0x1F", 31),
        ("1.5", 1.5),
        ("-.5", -0.5),
        ("1.", 1.0),
        ("1e3", 1000.0),
        ("6E-2", 0.06),
    ],
)
def test_yaml_core_schema_word_has_its_type(text: str, value: object) -> None:
    resolved = parse_scalar(text)
    assert resolved == value
    assert type(resolved) is type(value)


@pytest.mark.parametrize("text", TEXTS.split())
def test_other_yaml_scalar_is_text(text: str) -> None:
    assert parse_scalar(text) == text


@pytest.mark.parametrize("text", [".inf", "-.Inf", "+.INF", ".nan", ".NaN", "1e400", "-1e400"])
def test_infinite_or_nan_number_is_refused(text: str) -> None:
    with pytest.raises(NumberError):
        parse_scalar(text)


def test_overlong_number_is_refused_before_conversion() -> None:
    assert parse_scalar("1" * NUMBER_LENGTH) == int("1" * NUMBER_LENGTH)
    for long in ("1" * 100_000, "0x" + "f" * 2_000_000, "0." + "1" * 100):
        with pytest.raises(NumberError, match="at most 64 are allowed"):
            parse_scalar(long)
