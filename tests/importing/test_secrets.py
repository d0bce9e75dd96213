"""Which texts of a free-form value an import writes as variables: told by their name or by the text."""

from __future__ import annotations

import pytest

from dpsync.importing.values import _may_be_secret


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("sessionCookie", "hello world"),
        ("keyword", "plain words"),
        ("note", "sk_live_4eC39HqLyjWDarjtT1zdp7dc"),
        ("channel", "C024BE91L"),
        ("url", "https://hooks.example/T0001/B0001/XyZ"),
    ],
)
def test_secret_is_detected_by_name_or_value(name: str, value: str) -> None:
    assert _may_be_secret(name, value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("channel", "docs updates"),
        ("greeting", "Hello there!"),
        ("url", "https://status.acme.example/docs"),
        ("owner", "ada@acme.example"),
    ],
)
def test_ordinary_text_is_not_detected_as_secret(name: str, value: str) -> None:
    assert not _may_be_secret(name, value)
