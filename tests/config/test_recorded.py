"""Recorded values are parsed by the field declarations, like values in a configuration file."""

from __future__ import annotations

import json
from functools import reduce
from pathlib import Path
from typing import Any

import pytest

from dpsync.api import load
from dpsync.config.recorded_values import (
    IncompleteValueError,
    UnsuitableValueError,
    check_secrets,
    parse_recorded,
)
from dpsync.kinds.kind import Field, Kind
from dpsync.kinds.types import Json, List, Object, Reference, Table, Text, Type
from dpsync.kinds.types.texts import Markdown
from dpsync.model.address import Address
from dpsync.model.values import LiveId, Ref, Secret, canonical_json, to_plain
from tests.kinds.bench import config, fields_of
from tests.kinds.samples import NOTHING, PLACES, SAMPLES
from tests.planner.lab import REGISTRY

ENV, REF, ID = {"dpsync:env": "KEY"}, {"dpsync:ref": "acme/teams/a"}, {"dpsync:id": "t1"}
FREE = Json(may_contain_secrets=True)
TEAM = Reference.to("team")
DEEP: list[Any] = reduce(lambda inner, _: [inner], range(70), [])
DOCUMENT = {"object": "document", "data": {}, "nodes": [{"object": "block", "type": "drawing"}]}


@pytest.mark.parametrize(("kind", "field"), fields_of(REGISTRY))
def test_journal_value_parses_to_declared_value(kind: Kind, field: Field, tmp_path: Path) -> None:
    sample, place = SAMPLES[kind.name][field.name], PLACES[kind.name]
    for value in (sample.first, sample.second):
        entry = {**place.needs, **sample.also, field.name: value}
        if value is NOTHING or not field.is_declarable or field.name == kind.key_field:
            continue
        said = config(
            place, value if kind.is_always_shorthand and field.name == kind.shorthand_field else entry
        )
        text = "\n".join(f"    {key}: {json.dumps(item)}" for key, item in said.items())
        root = tmp_path / "dpsync.yaml"
        root.write_text(f"dpsync: 1\norganizations:\n  acme:\n    id: acme\n{text}\n", encoding="utf-8")
        resource = next(
            one
            for one in load(root, {}, REGISTRY).entries.values()
            if one.kind == kind.name and field.name in one.fields
        )
        declared = resource.fields[field.name]
        type_ = field.type_for(resource.fields.get(field.form_selector or ""))
        found = parse_recorded(type_, to_plain(declared))
        assert canonical_json(found) == canonical_json(declared)
        check_secrets(found, declared)


READ: dict[str, tuple[Type, Any, Any]] = {
    "text": (Text(), "a\u0085\u2028\U000e0067 \\ \"b\"\n", "a\u0085\u2028\U000e0067 \\ \"b\"\n"),
    "text like a number": (Text(), "017", "017"),
    "no value": (Text(), None, None),
    "reference": (TEAM, REF, Ref(Address(("acme", "teams", "a")))),
    "id": (TEAM, ID, LiveId("t1")),
    "secret": (Text(secret=True), ENV, Secret("KEY")),
    "secret inside": (FREE, {"a": [ENV]}, {"a": [Secret("KEY")]}),
    "data like a marker": (FREE, {"dpsync:data": ENV}, {"dpsync:env": "KEY"}),
    "small numbers": (FREE, [1, -0.5, 1e300, True, None], [1, -0.5, 1e300, True, None]),
    "part without a value": (List(Object({"a": Text(), "b": Text()})), [{"a": "x", "b": None}], [{"a": "x"}]),
    "document": (Markdown(), DOCUMENT, DOCUMENT),
    "document inside": (Object({"a": Markdown()}), {"a": DOCUMENT}, {"a": DOCUMENT}),
}  # fmt: skip
UNFIT: dict[str, tuple[Type, Any, str]] = {
    "number as text": (Text(), 1, "expected text, found the number 1"),
    "long text": (Text(0, 3), "abcd", "the text has 4 characters, but at most 3 characters are allowed"),
    "secret as text": (Text(), ENV, "expected text, found a mapping"),
    "secret as data": (Json(), ENV, "a secret from KEY is not allowed here"),
    "secret inside data": (Json(), {"a": [ENV]}, "a secret from KEY is not allowed here"),
    "secret of a file": (FREE, {"a": {"env": "KEY"}}, "a secret from KEY is not allowed here"),
    "text as a reference": (TEAM, "a", "a reference to a is not allowed here"),
    "reference as text": (Text(), REF, "a reference to acme/teams/a is not allowed here"),
    "reference as a secret": (Text(secret=True), REF, "the secret itself must not be in the file"),
    "reference without a name": (TEAM, {"dpsync:ref": 5}, '"dpsync:ref" needs a text as its value'),
    "id with a slash": (TEAM, {"dpsync:id": "a/b"}, "the value contains an invalid id"),
    "id upwards": (TEAM, {"dpsync:id": ".."}, "the value contains an invalid id"),
    "id of an address": (TEAM, {"dpsync:id": "{a}"}, "the value contains an invalid id"),
    "file": (FREE, {"file": "a.json"}, "a recorded value cannot refer to a file"),
    "text of a file": (Markdown(), {"file": "a.md"}, "a recorded value cannot refer to a file"),
    "no number": (FREE, [float("nan")], "the value contains a number that is not finite"),
    "long number": (FREE, 10**70, "the number has 71 characters, but at most 64 are allowed"),
    "zero byte": (Text(), "a\x00", "the character U+0000 is not allowed here"),
    "depth": (FREE, DEEP, "lists and mappings are nested deeper than 64 levels"),
    "unknown part": (Object({"a": Text()}), {"b": "x"}, 'unknown key "b" in this value'),
    "wrong key": (
        Table(Text(3), Text()), {"ab": ""},
        "the text has 2 characters, but at least 3 characters are required",
    ),
}  # fmt: skip
INCOMPLETE: dict[str, tuple[Type, Any, str]] = {
    "masked secret": (
        Text(),
        "by [secret]",
        "dpsync did not record the value, because the value contained a secret",
    ),
    "value that is not shown": (
        FREE,
        {"a": "(hidden, because it may be a secret)"},
        "dpsync did not record the value, because the value contained a secret",
    ),
    "missing part": (Object({"a": Text()}, ("a",)), {}, '"a" is missing in this value'),
    "part without a value": (
        Object({"a": Text(), "b": Text()}),
        {"a": "x", "b": None},
        'the field "b" had no value, and the API cannot clear the field',
    ),
}


@pytest.mark.parametrize("case", READ)
def test_valid_journal_value_is_parsed(case: str) -> None:
    type_, recorded, value = READ[case]
    assert parse_recorded(type_, recorded) == value


@pytest.mark.parametrize("case", UNFIT)
def test_invalid_journal_value_is_rejected(case: str) -> None:
    type_, recorded, why = UNFIT[case]
    with pytest.raises(UnsuitableValueError) as unfit:
        parse_recorded(type_, recorded)
    assert str(unfit.value) == why


@pytest.mark.parametrize("case", INCOMPLETE)
def test_journal_value_with_missing_part_is_incomplete(case: str) -> None:
    type_, recorded, why = INCOMPLETE[case]
    with pytest.raises(IncompleteValueError) as incomplete:
        parse_recorded(type_, recorded)
    assert str(incomplete.value) == why


@pytest.mark.parametrize(
    ("value", "today", "right"),
    [
        (Secret("KEY"), Secret("KEY"), True),
        (Secret("KEY"), Secret("OTHER"), False),
        (Secret("KEY"), None, False),
        ({"a": Secret("KEY")}, {"a": Secret("KEY"), "b": 1}, True),
        ({"b": Secret("KEY")}, {"a": Secret("KEY")}, False),
        ([1, Secret("KEY")], [Secret("KEY"), 1], False),
        ("KEY", None, True),
    ],
    ids=["same", "other", "none", "same member", "other member", "other place", "text"],
)
def test_secret_variable_in_journal_must_match_configuration(value: Any, today: Any, right: bool) -> None:
    """Otherwise a secret could be written into a member that everybody can read."""
    if right:
        check_secrets(value, today)
        return
    with pytest.raises(
        UnsuitableValueError, match="your files do not read this value from the environment variable KEY"
    ):
        check_secrets(value, today)
