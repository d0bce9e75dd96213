"""Check each type: its values in files, its JSON Schema, its values in answers, and equality.

The tests are tables of plain values, at every limit.

Two laws hold for all of them. What the schema of a file takes, the reader takes, and the other way round,
where nothing but the form of the value counts. And what was written and encoded is no misfit when it is read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from jsonschema import Draft7Validator

from dpsync.config.yaml_reader import read
from dpsync.kinds.types import (
    INVALID,
    Domain,
    Enum,
    Flag,
    Invalid,
    Json,
    List,
    Object,
    OneOf,
    Reference,
    Table,
    Text,
    Type,
)
from dpsync.kinds.types.base import TextFile
from dpsync.kinds.types.scalars import UNDISCLOSED
from dpsync.kinds.types.texts import Certificate, LongText, Markdown
from dpsync.model.address import Address
from dpsync.model.nodes import Node, Scalar, Span, node_value
from dpsync.model.text import json_text
from dpsync.model.values import LiveId, Ref, Secret, Value


@dataclass
class Found:
    """What a type reports while it reads, and the files there are."""

    files: dict[str, str] = field(default_factory=dict)
    told: list[str] = field(default_factory=list)

    def error(self, code: str, message: str, span: Span, hint: str | None = None) -> Invalid:
        self.told.append(f"{code} {span.line}:{span.column} {message}" + (f"; {hint}" if hint else ""))
        return INVALID

    def warning(self, code: str, message: str, span: Span, hint: str | None = None) -> None:
        self.error(code, message, span, hint)

    def unknown_key(self, key: Scalar, known: list[str], what: str) -> str | None:
        self.error("DP201", f'"{key.value}" is no part of {what}', key.span)
        return next((name for name in known if name.startswith(str(key.value)[:3])), None)

    def reference(self, kinds: tuple[str, ...], key: str, _span: Span) -> Value:
        return Ref(Address((kinds[0], key)))

    def file(self, path: Scalar) -> Node | str | None:
        text = self.files.get(str(path.value))
        return text if text is None or not str(path.value).endswith(".yaml") else read(text, "f")[0]

    def text(self, path: Scalar) -> TextFile | None:
        text = self.files.get(str(path.value))
        return None if text is None else TextFile(str(path.value), text)


def parsed(type: Type, text: str, **files: str) -> tuple[Any, list[str]]:
    node, _ = read(text, "f")
    assert node is not None
    found = Found({name.replace("_", "."): content for name, content in files.items()})
    return type.parse(node, found), found.told


PERSON = Object(
    {"name": Text(1, 3), "admin": Flag(), "team": Reference.to("team")}, ("name",), noun="a person"
)
ICON = Object({"emoji": Text(), "file": Text()}, noun="an icon", exactly_one=True)
RULE = OneOf("rule", {"few": Object({"most": Text(1)}, ("most",)), "none": Object({})})
NAMES = List(Text(1, 3), max_items=2)
SET = List(Text(), is_set=True)
LANGUAGES = Table(Enum(("de", "fr")), Text(1), min_keys=1, max_keys=1)
OPEN = Table(Text(1, 2), Flag())
KEYS = Table(Text(1), Text(secret=True))

TAKEN: list[tuple[Type, str, Any]] = [
    (Text(), '""', ""),
    (Text(2, 4), "ab", "ab"),
    (Text(2, 4), "abcd", "abcd"),
    (Text(2), "abcdefgh", "abcdefgh"),
    (Text(pattern="[a-z]+"), "abc", "abc"),
    (Text(format="email"), "Ada@acme.example", "Ada@acme.example"),
    (Text(format="url"), "http://a", "http://a"),
    (Text(format="url"), "https://a.example/b", "https://a.example/b"),
    (Text(secret=True), "{env: KEY}", Secret("KEY")),
    (Text(is_url_segment=True), "a-b.c_d~e", "a-b.c_d~e"),
    (Flag(), "true", True),
    (Flag(), "false", False),
    (Enum(("a", "b")), "a", "a"),
    (Enum(("a", "b"), null_word="c"), "c", "c"),
    (Reference.to("team", "member"), "writers", Ref(Address(("team", "writers")))),
    (Reference.to("team"), "{id: t1}", LiveId("t1")),
    (PERSON, "{name: Ada}", {"name": "Ada"}),
    (PERSON, "{name: A, admin: true, team: {id: t}}", {"name": "A", "admin": True, "team": LiveId("t")}),
    (ICON, "{emoji: e}", {"emoji": "e"}),
    (ICON, "{file: f}", {"file": "f"}),
    (RULE, "{rule: none}", {"rule": "none"}),
    (RULE, "{most: m, rule: few}", {"rule": "few", "most": "m"}),
    (NAMES, "[]", []),
    (NAMES, "[a, a]", ["a", "a"]),
    (SET, "[b, a, c]", ["b", "a", "c"]),
    (LANGUAGES, "{de: Titel}", {"de": "Titel"}),
    (OPEN, "{}", {}),
    (OPEN, "{a: true, bc: false, d: true}", {"a": True, "bc": False, "d": True}),
    (Json(), "[1, {a: null}]", [1, {"a": None}]),
    (Json(json_schema={"type": "object"}), "{a: 1}", {"a": 1}),
    (Json(json_schema={"type": "array"}), "[1]", [1]),
    (Json(may_contain_secrets=True), "{a: [{env: KEY}, b]}", {"a": [Secret("KEY"), "b"]}),
    (Json(), "{a: {env: KEY}}", {"a": {"env": "KEY"}}),
    (Json(platform_default={"a": 1}), "{b: null, c: {a: null}}", {"b": None, "c": {"a": None}}),
    (Json(required_members=("a.b",)), "{a: null, b: null}", {"a": None, "b": None}),
    (Text(2, 4), "|\n  abc\n", "abc"),
    (Text(), "|+\n  a\n  b\n\n", "a\nb"),
    (Domain(), "ACME.Example", "acme.example"),
    (Domain(), "docs.xn--acme-1.co", "docs.xn--acme-1.co"),
    (LongText(2, 3), "ab", "ab"),
    (LongText(2, 3), "abc", "abc"),
    (LongText(2), "abcd", "abcd"),
    (Markdown(), '"Some *text*"', "Some _text_\n"),
]  # fmt: skip

IN_QUOTES = 'to make it a text, put it in quotes ("…")'
NO_SECRET = (
    "the secret itself must not be in the file; write {env: NAME}, "
    "and put the secret into the environment variable NAME"
)
NO_DOMAIN = 'write only the domain, such as acme.example, without "https://", "*." or "@"'
NO_URL = "is not a URL that starts with http:// or https://; begin it with https://"
ALONE = "write the value alone, without [ ] and without a dash"
LEAVE = "delete the key if dpsync should not manage the value"

REFUSED: list[tuple[Type, str, str]] = [
    (Text(), "1", "DP202 1:1 expected text, found the number 1; " + IN_QUOTES),
    (Text(), "true", "DP202 1:1 expected text, found the boolean true; " + IN_QUOTES),
    (Text(), "[a]", f"DP202 1:1 expected text, found a list; {ALONE}"),
    (Text(), "{a: b}", "DP202 1:1 expected text, found a mapping"),
    (Text(2, 4), "a", "DP203 1:1 the text has 1 character, but 2 to 4 characters are allowed"),
    (Text(2, 4), "abcde", "DP203 1:1 the text has 5 characters, but 2 to 4 characters are allowed"),
    (Text(2), "a", "DP203 1:1 the text has 1 character, but at least 2 characters are required"),
    (Text(0, 1), "ab", "DP203 1:1 the text has 2 characters, but at most 1 character is allowed"),
    (Text(pattern="[a-z]+"), "abC", 'DP204 1:1 "abC" is not of the form [a-z]+'),
    (Text(pattern="[a-z]+", pattern_description="a slug"), "a b", 'DP204 1:1 "a b" is not a slug'),
    (Text(format="email"), "ada", 'DP204 1:1 "ada" is not an e-mail address; write it as ada@acme.example'),
    (Text(format="email"), "ada@", 'DP204 1:1 "ada@" is not an e-mail address; write it as ada@acme.example'),
    (
        Text(format="url"),
        "https://",
        'DP204 1:1 "https://" is not a URL: it has no host; write it as https://acme.example',
    ),
    (
        Text(format="url"),
        "https://a b",
        'DP204 1:1 "https://a b" is not a URL: it contains a space; write %20 for a space',
    ),
    *(
        (Domain(), domain, f'DP204 1:1 "{domain.strip(chr(34))}" is not a domain name; {NO_DOMAIN}')
        for domain in ("https://acme.example", '"*.acme.example"', '"@acme.example"', "a@b.example", "acme")
    ),
    (Text(format="url"), "ftp://a", 'DP204 1:1 "ftp://a" ' + NO_URL),
    (Text(format="url"), "see http://a", 'DP204 1:1 "see http://a" ' + NO_URL),
    (Text(secret=True), "abc", "DP205 1:1 " + NO_SECRET),
    (Text(secret=True), "{env: A, b: c}", "DP205 1:1 " + NO_SECRET),
    (Text(secret=True), "{env: 5}", "DP205 1:1 " + NO_SECRET),
    (Flag(), "yes", 'DP202 1:1 expected true or false, found the text "yes"; write true'),
    (Flag(), "OFF", 'DP202 1:1 expected true or false, found the text "OFF"; write false'),
    (Flag(), "maybe", 'DP202 1:1 expected true or false, found the text "maybe"'),
    (Flag(), "1", "DP202 1:1 expected true or false, found the number 1"),
    (Flag(), "[true]", "DP202 1:1 expected true or false, found a list"),
    (
        Enum(("admin", "reader")),
        "readr",
        'DP202 1:1 expected one of admin, reader, found the text "readr"; did you mean "reader"?',
    ),
    (Enum(("admin", "reader")), "xyz", 'DP202 1:1 expected one of admin, reader, found the text "xyz"'),
    (Enum(("a",), null_word="none"), "null", "DP202 1:1 expected one of a, none, found nothing (null)"),
    (Enum(("a", "b")), "1", "DP202 1:1 expected one of a, b, found the number 1"),
    (
        Reference.to("team", "member"),
        "5",
        "DP202 1:1 expected the key of a team or member, or {id: …}, found the number 5",
    ),
    (Reference.to("team"), "{id: ''}", "DP202 1:6 expected a GitBook id, found an empty text"),
    (Reference.to("team"), "{id: ..}", "DP202 1:6 expected a GitBook id, found only dots"),
    (Reference.to("team"), "{id: 5}", "DP202 1:1 expected the key of a team, or {id: …}, found a mapping"),
    (
        Reference.to("team"),
        "{id: a, more: b}",
        "DP202 1:1 expected the key of a team, or {id: …}, found a mapping",
    ),
    (PERSON, "[a]", "DP202 1:1 expected a mapping, found a list"),
    (PERSON, "{name: A, agent: true}", 'DP201 1:11 "agent" is no part of a person'),
    (PERSON, "{name: Adam}", "DP203 1:8 the text has 4 characters, but 1 to 3 characters are allowed"),
    (ICON, "{}", "DP206 1:1 an icon must have exactly one of these keys: emoji, file"),
    (ICON, "{emoji: e, file: f}", "DP206 1:1 an icon must have exactly one of these keys: emoji, file"),
    (RULE, "few", 'DP202 1:1 expected a mapping with rule: few | none, found the text "few"'),
    (RULE, "{most: m}", "DP202 1:1 expected a mapping with rule: few | none, found a mapping"),
    (RULE, "{rule: nne}", 'DP202 1:8 expected one of few, none, found the text "nne"; did you mean "none"?'),
    (RULE, "{rule: [few]}", "DP202 1:8 expected one of few, none, found a list"),
    (NAMES, "a", 'DP202 1:1 expected a list, found the text "a"; write [a]'),
    (NAMES, "[a, b, c]", "DP203 1:1 the list has 3 items, but at most 2 items are allowed"),
    (NAMES, "[a, abcd]", "DP203 1:5 the text has 4 characters, but 1 to 3 characters are allowed"),
    (SET, "[a, b, a]", "DP207 1:8 the list already contains this value"),
    (LANGUAGES, "[a]", "DP202 1:1 expected a mapping, found a list"),
    (LANGUAGES, "{}", "DP203 1:1 the mapping has 0 keys, but exactly 1 key is required"),
    (LANGUAGES, "{de: a, fr: b}", "DP203 1:1 the mapping has 2 keys, but exactly 1 key is required"),
    (LANGUAGES, "{en: a}", 'DP202 1:2 expected one of de, fr, found the text "en"'),
    (LANGUAGES, "{de: ''}", "DP203 1:6 the text has 0 characters, but at least 1 character is required"),
    (
        Table(Text(), Flag(), min_keys=1),
        "{}",
        "DP203 1:1 the mapping has 0 keys, but at least 1 key is required",
    ),
    (OPEN, "{abc: true}", "DP203 1:2 the text has 3 characters, but 1 to 2 characters are allowed"),
    (Json(json_schema={"type": "object"}), "[1]", "DP202 1:1 expected a mapping, found a list"),
    (Json(json_schema={"type": "array"}), "{a: 1}", "DP202 1:1 expected a list, found a mapping"),
    (Json(find_faults=lambda value: ["it is odd"] if value == 1 else []), "1", "DP208 1:1 it is odd"),
    (
        Json(platform_default={"a": {"b": 1}}),
        "{a: {b: null}}",
        'DP222 1:9 "b" cannot be null; write the default 1, or ' + LEAVE,
    ),
    (
        Json(required_members=("a.b",)),
        "{a: [{b: null}]}",
        'DP222 1:10 "b" cannot be null; write a value, or ' + LEAVE,
    ),
    (LongText(2, 3), "a", "DP203 1:1 the text has 1 character, but 2 to 3 characters are allowed"),
    (LongText(2, 3), "abcd", "DP203 1:1 the text has 4 characters, but 2 to 3 characters are allowed"),
    (LongText(2), "a", "DP203 1:1 the text has 1 character, but at least 2 characters are required"),
    (LongText(), "5", "DP202 1:1 expected text, found the number 5; " + IN_QUOTES),
    (LongText(), "{file: 5}", "DP202 1:8 expected the path of a file, found the number 5"),
    (LongText(), "{file: a, more: b}", "DP202 1:1 expected text, found a mapping"),
]


def named(case: object) -> str:
    return type(case).__name__ if isinstance(case, Type) else ""


@pytest.mark.parametrize(("kind", "text", "value"), TAKEN, ids=named)
def test_type_parses_valid_value(kind: Type, text: str, value: Any) -> None:
    assert parsed(kind, text) == (value, [])


@pytest.mark.parametrize(("kind", "text", "told"), REFUSED, ids=named)
def test_type_rejects_invalid_value_with_message(kind: Type, text: str, told: str) -> None:
    assert parsed(kind, text) == (INVALID, [told])


MISSING_PARTS = [
    (PERSON, "{admin: true}", {"admin": True}, '"name" is missing in a person'),
    (RULE, "{rule: few}", {"rule": "few"}, '"most" is missing in this value'),
]


@pytest.mark.parametrize(("kind", "text", "value", "told"), MISSING_PARTS, ids=named)
def test_missing_required_member_fails_but_others_parse(kind: Type, text: str, value: Any, told: str) -> None:
    assert parsed(kind, text) == (value, [f"DP206 1:1 {told}"])


def test_misspelled_required_member_is_reported_once() -> None:
    assert parsed(PERSON, "{nam: Ada}") == (INVALID, ['DP201 1:2 "nam" is no part of a person'])


SEGMENTS = [
    ("a b", '"a b" is "a%20b" in URLs'),
    ("a/b", '"a/b" is "a%2Fb" in URLs'),
    (".", 'no URL leads to ".", because browsers read "." as the name of another folder'),
    ("..", 'no URL leads to "..", because browsers read ".." as the name of another folder'),
]


@pytest.mark.parametrize(("text", "told"), SEGMENTS)
def test_url_unsafe_segment_is_accepted_with_warning(text: str, told: str) -> None:
    hint = "use only letters, digits and - . _ ~ to keep the URL readable"
    assert parsed(Text(is_url_segment=True), json_text(text)) == (text, [f"DP237 1:1 {told}; {hint}"])


def test_apparent_secret_in_json_gets_warning() -> None:
    value, told = parsed(Json(may_contain_secrets=True), "{list: [{botToken: hunter2}]}")
    assert value == {"list": [{"botToken": "hunter2"}]}
    assert told == [
        'DP236 1:20 "botToken" looks like a secret, and a secret must not be in a file; '
        "write { env: NAME }, and put the secret into the environment variable NAME"
    ]


@pytest.mark.parametrize(
    ("kind", "file", "value"),
    [
        (Json(), "a.yaml", {"b": 1}),
        (LongText(), "a.txt", "text"),
        (Markdown(), "a.txt", "text\n"),
    ],
)
def test_long_value_is_loaded_from_file(kind: Type, file: str, value: Any) -> None:
    assert parsed(kind, f"{{file: {file}}}", a_yaml="b: 1", a_txt="text") == (value, [])


@pytest.mark.parametrize(
    ("kind", "file", "told"),
    [
        (Json(), "a.txt", ["DP208 1:8 a.txt is neither JSON nor YAML"]),
        (
            Json(json_schema={"type": "array"}),
            "a.yaml",
            ["DP208 1:1 a.yaml holds a mapping, expected a list"],
        ),
        (Json(), "gone", []),
        (LongText(), "gone", []),
        (Markdown(), "gone", []),
    ],
)
def test_file_with_wrong_content_is_rejected(kind: Type, file: str, told: list[str]) -> None:
    """One that is not there was told by what reads files."""
    assert parsed(kind, f"{{file: {file}}}", a_yaml="b: 1", a_txt="text") == (INVALID, told)


# What a JSON Schema does not say, or an editor need not know: a pattern, a form, what a reference leads to.
_FORM_ONLY = [
    (kind, text, taken)
    for cases, taken in ((TAKEN, True), (REFUSED, False))
    for kind, text, *_ in cases
    if not (isinstance(kind, Text) and (kind.pattern or kind.format))
    and not (isinstance(kind, Json) and not kind.json_schema)
    and not isinstance(kind, LongText | Reference)
]


@pytest.mark.parametrize(("kind", "text", "taken"), _FORM_ONLY, ids=named)
def test_schema_accepts_same_values_as_parser(kind: Type, text: str, taken: bool) -> None:
    node, _ = read(text, "f")
    assert node is not None
    assert Draft7Validator(kind.schema()).is_valid(node_value(node)) is taken


@pytest.mark.parametrize(
    ("kind", "schema"),
    [
        (Text(), {"type": "string"}),
        (List(Flag()), {"type": "array", "items": {"type": "boolean"}}),
        (SET, {"type": "array", "items": {"type": "string"}, "uniqueItems": True}),
        (
            Object({"a": Flag()}),
            {"type": "object", "properties": {"a": {"type": "boolean"}}, "additionalProperties": False},
        ),
        (
            Table(Text(), Flag()),
            {
                "type": "object",
                "propertyNames": {"type": "string"},
                "additionalProperties": {"type": "boolean"},
            },
        ),
        (Json(), {}),
    ],
    ids=named,
)
def test_schema_omits_unset_limits(kind: Type, schema: dict[str, Any]) -> None:
    assert kind.schema() == schema


@pytest.mark.parametrize(
    ("kind", "value", "takes"),
    [
        (Reference.to("team"), "writers", True),
        (Reference.to("team"), {"id": "t"}, True),
        (Reference.to("team"), {}, False),
        (Reference.to("team"), {"id": "t", "more": 1}, False),
        (Reference.to("team"), {"id": 1}, False),
        (LongText(), "text", True),
        (LongText(), {"file": "a"}, True),
        (LongText(), {}, False),
        (LongText(), {"file": "a", "more": 1}, False),
        (Markdown(), {"file": "a"}, True),
        (Markdown(), {"fil": "a"}, False),
    ],
    ids=named,
)
def test_schema_of_reference_or_file_value_validates(kind: Type, value: Any, takes: bool) -> None:
    assert Draft7Validator(kind.schema()).is_valid(value) is takes


def _holds_ours(value: Any) -> bool:
    """Whether it names an entry, a live thing or a secret: on the wire these stand in another form."""
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return isinstance(value, Ref | LiveId | Secret) or any(map(_holds_ours, items))


@pytest.mark.parametrize(
    ("kind", "value"),
    [(kind, value) for kind, _, value in TAKEN if not _holds_ours(value)],
    ids=named,
)
def test_encoded_value_decodes_to_equal_value(kind: Type, value: Any) -> None:
    wire = kind.encode(value)
    assert kind.shape_error(wire) is None
    assert kind.equals(value, kind.decode(wire))


MISFITS: list[tuple[Type, Any, tuple[str, str, str] | None]] = [
    (Text(), 1, ("", "a text", "a number")),
    (Text(), None, ("", "a text", "null")),
    (Text(3, 3, "x", "url"), "outside of what may be written", None),
    (Flag(), "true", ("", "a boolean", "a text")),
    (Flag(), 1, ("", "a boolean", "a number")),
    (Enum(("a",)), "a new word", None),
    (Enum(("a",)), None, ("", "a text", "null")),
    (Enum(("a",), null_word="b"), None, None),
    (Enum(("a",), null_word="b"), True, ("", "a text", "a boolean")),
    (Reference.to("team"), "t", None),
    (Reference.to("team"), "", ("", "an id", "an empty text")),
    (Reference.to("team"), {"id": "t"}, ("", "an id", "an object")),
    (PERSON, [], ("", "an object", "a list")),
    (PERSON, {"name": "Ada", "more": 1}, None),
    (PERSON, {"name": "Ada", "admin": None}, None),
    (PERSON, {"name": None}, ("name", "a text", "null")),
    (PERSON, {"admin": True}, ("name", "there", "missing")),
    (PERSON, {"name": "Ada", "admin": 1}, ("admin", "a boolean", "a number")),
    (RULE, "few", ("", "an object", "a text")),
    (RULE, {}, ("rule", "a text", "missing")),
    (RULE, {"rule": 1}, ("rule", "a text", "a number")),
    (RULE, {"rule": "new"}, None),
    (RULE, {"rule": "few", "most": 1}, ("most", "a text", "a number")),
    (NAMES, {}, ("", "a list", "an object")),
    (NAMES, ["a", "b", "c"], None),
    (List(PERSON), [{"name": "A"}, {"name": 1}], ("1.name", "a text", "a number")),
    (OPEN, [], ("", "an object", "a list")),
    (OPEN, {"a": True, "b": 1}, ("b", "a boolean", "a number")),
    (Json(), None, None),
    (Json(json_schema={"type": "object"}), [], ("", "an object", "a list")),
    (Json(json_schema={"type": "array"}), {}, ("", "a list", "an object")),
    (Json(json_schema={"type": "array"}), [], None),
    (LongText(), "", None),
    (LongText(), 1, ("", "a text", "a number")),
    (Certificate(), None, ("", "a text", "null")),
    (Markdown(), "text", ("", "a Document", "a text")),
    (Markdown(), {}, ("nodes", "a list", "missing")),
    (Markdown(), {"nodes": {}}, ("nodes", "a list", "an object")),
    (Markdown(), {"nodes": []}, None),
]


@pytest.mark.parametrize(("kind", "wire", "wrong"), MISFITS, ids=named)
def test_shape_error_reports_response_value_of_wrong_type(
    kind: Type, wire: Any, wrong: tuple[str, str, str] | None
) -> None:
    found = kind.shape_error(wire)
    assert (found and (found.member, found.expected, found.found)) == wrong


SAME: list[tuple[Type, Any, Any, bool]] = [
    (Text(), "a", "a", True),
    (Text(), "a", "A", False),
    (Text(), "1", 1, False),
    (Flag(), True, 1, False),
    (Json(), {"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
    (Json(), {"a": 1}, {"a": 1, "b": 2}, False),
    (Json(is_partial=True), {"a": 1}, {"a": 1, "b": 2}, True),
    (Json(is_partial=True), {"a": 1, "b": None}, {"a": 1}, True),
    (Json(is_partial=True), {"a": 1, "b": None}, {"a": 1, "b": 2}, False),
    (Json(is_partial=True), {"a": {"b": 1}}, {"a": {"b": 2}}, False),
    (Json(is_partial=True), [1], [1, 2], False),
    (Json(is_partial=True), [{"a": 1}], [{"a": 1, "b": 2}], True),
    (Json(may_contain_secrets=True), {"a": Secret("A")}, {}, True),
    (Json(may_contain_secrets=True), {"a": Secret("A")}, {"a": "anything"}, True),
    (Json(may_contain_secrets=True), {"a": Secret("A")}, {"a": "x", "b": 1}, False),
    (Json(may_contain_secrets=True), {"a": 1}, {}, False),
    (PERSON, {"name": "A"}, {"name": "A", "admin": True}, True),
    (PERSON, {"name": "A", "admin": True}, {"name": "A"}, False),
    (PERSON, {"name": "A"}, {"name": "B"}, False),
    (PERSON, None, None, True),
    (PERSON, {"name": "A"}, None, False),
    (Object({"key": Text(secret=True)}), {"key": Secret("A")}, {}, True),
    (ICON, {"emoji": "e"}, {"emoji": "e", "file": "f"}, False),
    (RULE, {"rule": "few", "most": "m"}, {"rule": "few", "most": "m"}, True),
    (RULE, {"rule": "few", "most": "m"}, {"rule": "few", "most": "n"}, False),
    (RULE, {"rule": "none"}, {"rule": "few", "most": "m"}, False),
    (RULE, {"rule": "new", "a": 1}, {"rule": "new", "a": 1}, True),
    (RULE, {"rule": "new", "a": 1}, {"rule": "new"}, False),
    (NAMES, ["a", "b"], ["b", "a"], False),
    (SET, ["a", "b"], ["b", "a"], True),
    (SET, ["a"], ["a", "b"], False),
    (SET, ["a"], None, False),
    (OPEN, {"a": True}, {"a": True, "b": True}, False),
    (KEYS, {"A": Secret("A")}, {"A": UNDISCLOSED}, True),
    (KEYS, {"A": Secret("A")}, {"A": UNDISCLOSED, "B": UNDISCLOSED}, False),
    (KEYS, {"A": Secret("A"), "B": Secret("B")}, {"A": UNDISCLOSED}, False),
    (KEYS, {"A": Secret("A")}, None, False),
]


@pytest.mark.parametrize(("kind", "one", "other", "same"), SAME, ids=named)
def test_field_type_equals_compares_declared_with_live_value(
    kind: Type, one: Any, other: Any, same: bool
) -> None:
    assert kind.equals(one, other) is same


@pytest.mark.parametrize(
    ("kind", "value", "wire"),
    [
        (Enum(("a",), null_word="none"), "none", None),
        (Enum(("a",), null_word="none"), "a", "a"),
        (Reference.to("team"), LiveId("t"), LiveId("t")),
        (List(Enum(("a",), null_word="none")), ["a", "none"], ["a", None]),
        (Object({"role": Enum(("a",), null_word="none")}), {"role": "none"}, {"role": None}),
        (
            OneOf("of", {"a": Object({"role": Enum((), null_word="no")})}),
            {"of": "a", "role": "no"},
            {"of": "a", "role": None},
        ),
        (Table(Text(), Enum(("a",), null_word="none")), {"x": "none"}, {"x": None}),
    ],
    ids=named,
)
def test_field_type_encode_returns_api_value(kind: Type, value: Any, wire: Any) -> None:
    assert kind.encode(value) == wire


@pytest.mark.parametrize(
    ("kind", "wire", "value"),
    [
        (Enum(("a",), null_word="none"), None, "none"),
        (Enum(("a",)), None, None),
        (Reference.to("team"), "t", LiveId("t")),
        (Reference.to("team"), None, None),
        (List(Reference.to("team")), ["t", "u"], [LiveId("t"), LiveId("u")]),
        (List(Reference.to("team")), None, None),
        (PERSON, {"name": "A", "team": "t", "more": 1}, {"name": "A", "team": LiveId("t")}),
        (PERSON, None, None),
        (
            OneOf("of", {"a": Object({"team": Reference.to("team")})}),
            {"of": "a", "team": "t"},
            {"of": "a", "team": LiveId("t")},
        ),
        (RULE, {"rule": "new", "x": 1}, {"rule": "new", "x": 1}),
        (Markdown(), None, None),
        (Text(secret=True), "hunter-two", UNDISCLOSED),
        (KEYS, {"A": "hunter-two"}, {"A": UNDISCLOSED}),
        (KEYS, None, None),
    ],
    ids=named,
)
def test_field_type_decode_returns_configuration_value(kind: Type, wire: Any, value: Any) -> None:
    assert kind.decode(wire) == value


def test_encoding_hidden_live_secret_placeholder_fails() -> None:
    """Otherwise, what stands for a live secret is sent in its place, and whoever asks with it is refused."""
    with pytest.raises(ValueError, match="from an environment variable"):
        KEYS.encode({"A": UNDISCLOSED})


KEY = Secret("KEY")


@pytest.mark.parametrize(
    ("kind", "value", "unread"),
    [
        (Text(), "a", None),
        (Text(secret=True), KEY, KEY),
        (LongText(), "a", None),
        (LongText(is_write_only=True), "a", "a"),
        (Json(), {"a": KEY}, None),
        (Json(may_contain_secrets=True), {"a": [1, {"b": KEY}], "c": 2}, {"a": {"1": {"b": KEY}}}),
        (Json(may_contain_secrets=True), {"a": 1}, None),
        (Object({"a": Text(), "key": Text(secret=True)}), {"a": "b", "key": KEY}, {"key": KEY}),
        (Object({"a": Text()}), {"a": "b"}, None),
        (Object({"a": Text()}), None, None),
        (OneOf("of", {"a": Object({"key": Text(secret=True)})}), {"of": "a", "key": KEY}, {"key": KEY}),
        (OneOf("of", {"a": Object({"key": Text(secret=True)})}), {"of": "b", "key": KEY}, None),
        (Table(Text(), Text(secret=True)), {"a": KEY}, {"a": KEY}),
        (Table(Text(), Text()), {"a": "b"}, None),
    ],
    ids=named,
)
def test_write_only_part_returns_unreadable_members(kind: Type, value: Any, unread: Any) -> None:
    assert kind.write_only_part(value) == unread


@pytest.mark.parametrize(
    ("kind", "live", "wanted", "displayed"),
    [
        (PERSON, {"name": "A", "admin": True}, {"name": "B"}, {"name": "A"}),
        (PERSON, {"admin": True}, {"name": "B"}, {"admin": True}),
        (PERSON, None, {"name": "B"}, None),
        (Json(is_partial=True), {"a": 1, "b": 2}, {"a": 3}, {"a": 1}),
        (Json(is_partial=True), {"a": 1, "b": 2}, {"b": None}, {"b": 2}),
        (Json(), {"a": 1, "b": 2}, {"a": 3}, {"a": 1, "b": 2}),
        (KEYS, {"A": UNDISCLOSED, "B": UNDISCLOSED}, {"A": KEY}, {"A": KEY, "B": UNDISCLOSED}),
        (KEYS, {"A": UNDISCLOSED}, None, {"A": UNDISCLOSED}),
    ],
    ids=named,
)
def test_narrow_returns_managed_part_of_live_value(
    kind: Type, live: Any, wanted: Any, displayed: Any
) -> None:
    assert kind.displayable_live(live, wanted) == displayed


@pytest.mark.parametrize(
    ("kind", "refers"),
    [
        (Text(), ()),
        (Reference.to("team", "member"), ("team", "member")),
        (List(Reference.to("team")), ("team",)),
        (PERSON, ("team",)),
        (OneOf("of", {"a": PERSON, "b": Object({"space": Reference.to("space")})}), ("team", "space")),
    ],
    ids=named,
)
def test_field_type_lists_kinds_it_references(kind: Type, refers: tuple[str, ...]) -> None:
    assert kind.referenced_kinds == refers


@pytest.mark.parametrize(
    ("kind", "takes"),
    [(Text(), False), (PERSON, False), (LongText(), False), (OPEN, True), (Json(), True), (Markdown(), True)],
    ids=named,
)
def test_takes_mapping_is_true_only_for_mapping_types(kind: Type, takes: bool) -> None:
    assert kind.takes_mapping is takes


def test_fold_for_key_lowercases_only_email() -> None:
    assert Text(format="email").fold_for_key("Ada@Acme.example") == "ada@acme.example"
    assert Text().fold_for_key("Ada") == "Ada"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"of": "a", "title": "T"}, {"of": "a", "title": "T", "note": "x"}, True),
        ({"of": "a", "title": "T"}, {"of": "a", "title": "U", "note": "x"}, False),
        ({"of": "a", "title": "T"}, {"of": "b", "title": "T"}, False),
        ({"of": "a", "title": "T"}, {"of": "new", "title": "T"}, False),
        ({"of": "new", "x": 1}, {"of": "new", "x": 1}, True),
        ({"of": "new", "x": 1}, {"of": "new", "x": 1, "y": 2}, False),
    ],
)
def test_one_of_ignores_absent_members_of_known_form(
    one: dict[str, object], other: dict[str, object], same: bool
) -> None:
    named = Object({"title": Text(), "note": Text()})
    assert OneOf("of", {"a": named, "b": named}).equals(one, other) is same


def test_email_domains_are_compared_regardless_of_case() -> None:
    """Otherwise every plan shows a change that opens access, and no apply converges."""
    domains = List(Domain(), is_set=True)
    live = domains.decode(["ACME.example", "acme.test"])
    assert domains.equals(["acme.test", "acme.example"], live)
