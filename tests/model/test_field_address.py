"""The address of a field: one type that makes its text and takes it apart."""

from __future__ import annotations

import pytest

from dpsync.model.address import Address, FieldAddress

NEWS = Address.parse("acme/sites/docs/structure/news")


def test_field_address_is_written_with_hash() -> None:
    assert str(NEWS.field("title")) == "acme/sites/docs/structure/news#title"


@pytest.mark.parametrize(
    ("text", "field"), [(f"{NEWS}#title", "title"), (str(NEWS), None), (f"{NEWS}#", None)]
)
def test_field_address_is_parsed_into_entry_and_field(text: str, field: str | None) -> None:
    assert FieldAddress.parse(text) == FieldAddress(NEWS, field)


@pytest.mark.parametrize("field", ["title", None])
def test_field_address_text_survives_parsing(field: str | None) -> None:
    assert FieldAddress.parse(str(FieldAddress(NEWS, field))) == FieldAddress(NEWS, field)
