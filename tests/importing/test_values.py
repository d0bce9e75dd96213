"""A live value as YAML says it, and what no line could say: each is left to a person, with the reason."""

from __future__ import annotations

from typing import Any

import pytest

from dpsync.importing.keys import slugify
from dpsync.importing.values import (
    FileContent,
    UnwritableValueError,
    ValueWriter,
    json_text,
    replace_file_contents,
    secret_variable,
)
from dpsync.kinds.types import Enum, Json, List, Object, OneOf, Reference, Table, Text, Type
from dpsync.kinds.types.texts import Certificate, LongText
from dpsync.model.address import Address
from dpsync.model.values import LiveId, Secret, Value
from tests.certificates import OKTA

WRITING = ValueWriter(lambda _kinds, id: {"t1": "writers"}.get(id), "_".join)
TEAM = Reference.to("team")
FORMS = OneOf("type", {"none": Object({}), "team": Object({"team": TEAM})})


@pytest.mark.parametrize(
    ("type_", "value", "written"),
    [
        (TEAM, LiveId("t1"), "writers"),
        (TEAM, LiveId("t2"), {"id": "t2"}),
        (Object({"a": Text(), "b": Text()}), {"a": "x", "b": None, "more": 1}, {"a": "x"}),
        (FORMS, {"type": "team", "team": LiveId("t1")}, {"type": "team", "team": "writers"}),
        (List(TEAM), [LiveId("t1"), LiveId("t2")], ["writers", {"id": "t2"}]),
        (Table(Enum(("en",)), Text()), {"en": "x"}, {"en": "x"}),
        (Text(secret=True), Secret("TOKEN"), {"env": "TOKEN"}),
        (List(Object({"key": Text(secret=True)})), [{"key": "s"}], [{"key": {"env": "0_key"}}]),
        (LongText(), "one line", "one line"),
        (LongText(), "two\nlines", FileContent(".txt", "two\nlines")),
        (LongText(), "x" * 100, "x" * 100),
        (LongText(), "x" * 101, FileContent(".txt", "x" * 101)),
        (Json(), {"a": [1]}, {"a": [1]}),
        (Json(may_contain_secrets=True), {"token": "x", "size": 1, "on": Secret("ON")},
         {"token": {"env": "token"}, "size": 1, "on": {"env": "ON"}}),
    ],
)  # fmt: skip
def test_live_value_is_written_as_yaml_value(type_: Type, value: Value, written: Any) -> None:
    assert WRITING.yaml_value(type_, value) == written


@pytest.mark.parametrize(
    ("type_", "value", "why"),
    [
        (TEAM, "t1", "the value refers to an object without an id"),
        (FORMS, {"type": "new"}, 'dpsync does not know the type "new"'),
        (FORMS, {}, 'dpsync does not know the type "None"'),
        (Json(), {"file": "x"}, "dpsync would read the value as the name of a file"),
        (
            Json(may_contain_secrets=True),
            {"a": {"env": "x"}},
            'would read the key "env" inside the value as a secret',
        ),
        (Text(1, 3), "long", ""),
    ],
)
def test_live_value_without_yaml_form_is_rejected(type_: Type, value: Value, why: str) -> None:
    with pytest.raises(UnwritableValueError) as wrong:
        WRITING.yaml_value(type_, value)
    assert why in str(wrong.value)


@pytest.mark.parametrize(("length", "in_one"), [(88, True), (89, False)])
def test_short_flat_json_is_written_inline(length: int, in_one: bool) -> None:
    inside = json_text({"a": {"b": "x" * length}}).split("\n")[1:-2]
    one = f'  "a": {{ "b": "{"x" * length}" }}'
    assert inside == ([one] if in_one else ['  "a": {', f'    "b": "{"x" * length}"', "  }"])


def test_bare_certificate_is_written_as_pem() -> None:
    bare = "".join(OKTA.splitlines()[1:-1])
    assert WRITING.yaml_value(Certificate(), bare) == FileContent(".pem", OKTA)


def test_slug_is_limited_to_60_characters() -> None:
    assert slugify("x" * 61) == "x" * 60
    assert slugify("x" * 59 + " y") == "x" * 59


def test_secret_variable_name_contains_its_address() -> None:
    assert secret_variable(Address.parse("acme/sites/docs"), "apiKey", ("my key", "é", "0")) == (
        "ACME_SITES_DOCS_APIKEY_MY_KEY___0"
    )


def test_long_values_are_placed_in_files_by_path() -> None:
    long = FileContent(".txt", "a\nb")
    seen = replace_file_contents({"a": [1, long], "b": {"c": long}}, lambda _, path: "/".join(path))
    assert seen == {"a": [1, "a/1"], "b": {"c": "b/c"}}
