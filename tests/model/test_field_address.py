"""The address of a field: one type that makes its text and takes it apart."""

from __future__ import annotations

import pytest

from dpsync.model.address import Address, FieldAddress

NEWS = Address.parse("acme/sites/docs/structure/news")


def test_a_field_of_an_address_is_named_behind_a_hash() -> None:
    assert str(NEWS.field("title")) == "acme/sites/docs/structure/news#title"


@pytest.mark.parametrize(
    ("text", "field"), [(f"{NEWS}#title", "title"), (str(NEWS), None), (f"{NEWS}#", None)]
)
def test_a_text_is_taken_apart_into_the_entry_and_its_field(text: str, field: str | None) -> None:
    assert FieldAddress.parse(text) == FieldAddress(NEWS, field)


@pytest.mark.parametrize("field", ["title", None])
def test_its_text_is_read_back_as_the_same(field: str | None) -> None:
    assert FieldAddress.parse(str(FieldAddress(NEWS, field))) == FieldAddress(NEWS, field)
