"""What the reader accepts, what it refuses and where it points."""

from __future__ import annotations

import json
import re

import pytest
import yaml
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from dpsync.config import codes, yaml_reader
from dpsync.config.yaml_reader import FileLimits, read
from dpsync.model.nodes import Mapping, Node, Scalar, Sequence, node_value
from tests.soak import examples


def accepted(text: str | bytes) -> object:
    node, diagnostics = read(text, "f.yaml")
    assert diagnostics == []
    assert node is not None
    return node_value(node)


def refused(text: str | bytes, limits: FileLimits = yaml_reader.DEFAULT_LIMITS) -> list[tuple[str, int, int]]:
    _, diagnostics = read(text, "f.yaml", limits)
    return [(d.code, d.span.line, d.span.column) for d in diagnostics if d.span]


@pytest.fixture(params=["c", "pure"])
def both_parsers(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "pure":
        monkeypatch.setattr(yaml_reader, "_PARSER", yaml.SafeLoader)
    return str(request.param)


@pytest.mark.parametrize(
    ("text", "code", "line", "column"),
    [
        ("a: 1\nb: [1, 2\n", codes.SYNTAX, 2, 4),
        ("a: {b: 1\n", codes.SYNTAX, 1, 4),
        ("a:\n\t- b\n", codes.SYNTAX, 2, 1),
        ("a: 1\ntitle\nb: 2\n", codes.SYNTAX, 2, 1),
        ("title: Foo: bar\n", codes.SYNTAX, 1, 11),
        ('a: "x\n', codes.SYNTAX, 1, 4),
        ("a: [1, 'x\n", codes.SYNTAX, 1, 8),
        ("a: [1, {b:\n", codes.SYNTAX, 1, 8),
        ("a: @x\n", codes.SYNTAX, 1, 4),
        ("a: ]\n", codes.SYNTAX, 1, 4),
        ("%\n---\na: 1\n", codes.SYNTAX, 1, 2),
        ("a: [${X}]\n", codes.SYNTAX, 1, 6),
        ("a:\n  - b\n c: d\n", codes.SYNTAX, 3, 2),
        ('a: "\\q"\n', codes.SYNTAX, 1, 5),
        ("a: b\n\x00", codes.CHARACTER, 2, 1),
        ("a: \x1b[31m", codes.CHARACTER, 1, 4),
        ("a: \u2028b", codes.CHARACTER, 1, 4),
        ("a: \ud800", codes.CHARACTER, 1, 4),
        ('"\\e[31m": a', codes.CHARACTER, 1, 1),
        ('a: "\\0"', codes.CHARACTER, 1, 4),
        (b"a: b\nc: \xff\n", codes.ENCODING, 2, 4),
        ("a: b".encode("utf-16"), codes.ENCODING, 1, 1),
        ("a: 1\nb: 2\na: 3\n", codes.DUPLICATE_KEY, 3, 1),
        ("1: a\n'1': b\n", codes.DUPLICATE_KEY, 2, 1),
        ("? [a]\n: b\n", codes.KEY, 1, 3),
        ("? {a: b}\n: b\n", codes.KEY, 1, 3),
        ("a: &x b\n*x : c\n", codes.KEY, 2, 1),
        ("a: &x {b: 1}\nc: {<<: *x}\n", codes.MERGE_KEY, 2, 5),
        ("a: !foo b\n", codes.TAG, 1, 4),
        ("a: !!str b\n", codes.TAG, 1, 4),
        ("a: ! b\n", codes.TAG, 1, 4),
        ("a: !!map {}\n", codes.TAG, 1, 4),
        ("%TAG !a! x\n---\na: 1\n", codes.TAG, 1, 1),
        ("%YAML 1.1\n---\na: 1\n", codes.YAML_VERSION, 1, 1),
        ("a: .inf\n", codes.NUMBER, 1, 4),
        ("a: -.INF\n", codes.NUMBER, 1, 4),
        ("a: .nan\n", codes.NUMBER, 1, 4),
        ("a: 1e999\n", codes.NUMBER, 1, 4),
        ("a: " + "1" * 65, codes.NUMBER, 1, 4),
        ("a: 0x" + "f" * 2_000_000, codes.TEXT_SIZE, 1, 4),
        ("a: *x\n", codes.ALIAS, 1, 4),
        ("a: &x [*x]\n", codes.ALIAS, 1, 8),
        ("a: 1\n---\nb: 2\n", codes.DOCUMENTS, 2, 1),
    ],
)
def test_invalid_yaml_is_refused_at_its_position(
    both_parsers: str, text: str | bytes, code: str, line: int, column: int
) -> None:
    [(found, *place)] = refused(text)
    assert found == code
    # Within a syntax error the pure parser stops a character earlier or later.
    if both_parsers == "c" or code != codes.SYNTAX:
        assert place == [line, column]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a:\n  manual { url: x }\n", '2:3 a ":" is missing after "manual"'),
        ("a:\n  manual { url: x, slug: y }\n", '2:3 a ":" is missing after "manual"'),
        ("a:\n  manual {\n    # how\n\n    url: x\n  }\n", '2:3 a ":" is missing after "manual"'),
        ("a:\n  - manual {\n      url: x\n    }\n", '2:5 a ":" is missing after "manual"'),
        ("a: { manual { url: x } }\n", '1:6 a ":" is missing after "manual"'),
        ("a: { b: c, manual [x] }\n", '1:12 a ":" is missing after "manual"'),
        ("a:\n  b\n  c: d\n", '2:3 a ":" is missing after "b"'),
        ("a:\n  - b\n    c: d\n", '2:5 a ":" is missing after "b"'),
        ("a:\n  b\n    c: d\n", '3:6 a ":" is not allowed here'),
        ("a: 1\nb:2\nc: 3\n", '2:1 a space is missing after the ":"'),
        # The quote that was to begin a text ends another one.
        ("a: 'x\nb: ['y']\n", "1:4 the closing quote of this text is missing"),
        ('a: "x\nb: "y"\n', "1:4 the closing quote of this text is missing"),
        ('a: { b: "x,\n  c: "y" }\n', "1:9 the closing quote of this text is missing"),
        ("a: 'x\nb: y\n", "1:4 the closing quote of this text is missing"),
        # What is not closed is told where it begins, not where the parser gave up.
        ("a:\n  b: [c, d\n  e: f\n", '2:6 this list is not closed: "]" is missing'),
        ("a: { b: { c: d }\ne: f\n", '1:4 this mapping is not closed: "}" is missing'),
        ("a: [b\nc: [d]\n", '1:4 this list is not closed: "]" is missing'),
        ("a: [\n  b\n  c: d: e\n]\n", '3:4 a "," or "]" is missing before this text'),
        ("a: { b: c }}\n", '1:12 this "}" has no opening bracket'),
        ("a: ]\n", '1:4 this "]" has no opening bracket'),
        ("a: { b: c ]\n", '1:11 this bracket does not close the mapping: "}" is expected'),
        ("a:\n\tb: c\n", "2:1 the line is indented with a tab"),
        ("a:\n  b: c\n\td: e\n", "3:1 the line is indented with a tab"),
    ],
)
def test_unfinished_yaml_is_reported_with_cause_and_position(text: str, said: str) -> None:
    _, diagnostics = read(text, "f.yaml")
    found = [f"{one.span.line}:{one.span.column} {one.message}" for one in diagnostics if one.span]
    assert found == [said]
    assert {one.code for one in diagnostics} == {codes.SYNTAX}


@pytest.mark.parametrize("text", ["a {b}: 1", "a [x]: 1", "'a { b': 1", "a: w {", "/x/{y}: 1", "a: 'x\n  y'"])
def test_bracket_inside_yaml_text_is_accepted(text: str) -> None:
    assert accepted(text)


@pytest.mark.usefixtures("both_parsers")
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: b", {"a": "b"}),
        ("\ufeffa: b", {"a": "b"}),
        ("a:", {"a": None}),
        ("{a, b: }", {"a": None, "b": None}),
        ("1: a\ntrue: b\nnull: c\n~: d\n1.5: e", {"1": "a", "true": "b", "null": "c", "~": "d", "1.5": "e"}),
        ("'<<': a", {"<<": "a"}),
        ("? a\n: b", {"a": "b"}),
        ("a: &x [1, 2]\nb: *x", {"a": [1, 2], "b": [1, 2]}),
        ("&k 1: a\nb: *k", {"1": "a", "b": 1}),
        ("a: &x 1\nb: &x 2\nc: *x", {"a": 1, "b": 2, "c": 2}),
        ("%YAML 1.2\n---\na: 1\n...\n", {"a": 1}),
        ("a: |\n  x\n  y\nb: >-\n  x\n  y\n", {"a": "x\ny\n", "b": "x y"}),
        ('a: "\\u2028\\t\\n"', {"a": "\u2028\t\n"}),
        ("a: '1'\nb: \"true\"\nc: ''", {"a": "1", "b": "true", "c": ""}),
        ("a: 1\r\nb: 2\rc: 3", {"a": 1, "b": 2, "c": 3}),
        ("a: ${X:-b}", {"a": "${X:-b}"}),
    ],
)
def test_valid_yaml_is_read_as_expected_value(text: str, value: object) -> None:
    assert accepted(text) == value


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment\n", "\ufeff"])
def test_empty_yaml_file_returns_none_without_error(text: str) -> None:
    assert read(text, "f.yaml") == (None, [])


def test_yaml_reader_collects_all_recoverable_errors() -> None:
    text = "a: !x 1\na: 2\nb: .nan\n<<: {}\nc: *no\nd: &e [*e]\nok: 1\n"
    node, diagnostics = read(text, "f.yaml")
    assert [d.code for d in diagnostics] == [
        codes.TAG,
        codes.DUPLICATE_KEY,
        codes.NUMBER,
        codes.MERGE_KEY,
        codes.ALIAS,
        codes.ALIAS,
    ]
    assert isinstance(node, Mapping)
    assert node.keys() == ["a", "b", "c", "d", "ok"]


def test_duplicate_yaml_key_keeps_first_and_shows_both() -> None:
    node, [diagnostic] = read("a: 1\nb:\n  c: 1\n  c: [2]\n", "f.yaml")
    assert str(diagnostic.span) == "f.yaml:4:3"
    assert [(label, str(span)) for label, span in diagnostic.related] == [("the first one", "f.yaml:3:3")]
    assert node is not None
    assert node_value(node) == {"a": 1, "b": {"c": 1}}


def test_tab_indentation_error_has_a_hint() -> None:
    _, [diagnostic] = read("a:\n  b: 1\n\tc: 2\n", "f.yaml")
    assert (diagnostic.message, diagnostic.hint) == ("the line is indented with a tab", "indent with spaces")


@pytest.mark.parametrize(
    ("text", "limits", "code"),
    [
        ("a: b", FileLimits(bytes=3), codes.FILE_SIZE),
        ("a: é", FileLimits(bytes=4), codes.FILE_SIZE),
        ("[[[]]]", FileLimits(depth=2), codes.DEPTH),
        ("[1, 2, 3]", FileLimits(nodes=3), codes.NODES),
        ("a: &x [1]\nb: [*x, *x]", FileLimits(nodes=7), codes.NODES),
        ("a: &x [[1]]\nb: [[*x]]", FileLimits(depth=4), codes.DEPTH),
        ("abcd: b", FileLimits(scalar=3), codes.TEXT_SIZE),
        ("a: &x 1\nb: [*x, *x]", FileLimits(aliases=1), codes.ALIASES),
    ],
)
def test_exceeded_yaml_limit_stops_reading(text: str, limits: FileLimits, code: str) -> None:
    node, [diagnostic] = read(text, "f.yaml", limits)
    assert node is None
    assert diagnostic.code == code
    assert diagnostic.span is not None


def test_yaml_file_exactly_at_limit_is_accepted() -> None:
    exact = FileLimits(bytes=12, depth=2, nodes=4, scalar=2, aliases=1)
    assert refused("[[&x ab],*x]", exact) == []


BOMB = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 10)
)


@pytest.mark.usefixtures("both_parsers")
@pytest.mark.parametrize(
    "text",
    [
        "[" * 1_000_000,
        "{" * 1_000_000,
        "- " * 500_000,
        "? " * 500_000,
        "{a: " * 200_000,
        "[" * 50_000 + "]" * 50_000,
        BOMB,
        "%TAG !a! x\n" * 500_000,
    ],
    ids=["brackets", "braces", "dashes", "questions", "mappings", "lists", "bomb", "directives"],
)
def test_hostile_yaml_is_refused_with_one_finding(text: str) -> None:
    assert len(refused(text)) == 1


def test_yaml_alias_returns_anchored_node() -> None:
    node, _ = read("a: &x {b: 1}\nc: *x\n", "f.yaml")
    assert isinstance(node, Mapping)
    assert node.get("a") is node.get("c")


def test_yaml_mapping_finds_keys_with_positions() -> None:
    node, _ = read("a: 1\nb: null\n", "f.yaml")
    assert isinstance(node, Mapping)
    key = node.key("b")
    assert key is not None
    assert str(key.span) == "f.yaml:2:1"
    assert ("b" in node, "c" in node, node.get("c"), node.key("c")) == (True, False, None, None)
    assert isinstance(node.get("b"), Scalar)


def test_yaml_block_span_excludes_trailing_comment() -> None:
    node, _ = read("a:\n  b: 1\n\n# comment\nc: 2\n", "f.yaml")
    assert isinstance(node, Mapping)
    inner = node.get("a")
    assert inner is not None
    assert (inner.span.end_line, inner.span.end_column) == (2, 7)


words = st.text(st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="\ufeff\ufffe\uffff"))
numbers = st.integers(-(10**18), 10**18) | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | numbers | words,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=4),
    max_leaves=20,
)


@given(values)
def test_yaml_reader_reads_json_unchanged(value: object) -> None:
    text = json.dumps(value, ensure_ascii=False)
    for character in "\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    # The parser looks for the colon of a quoted key only this far.
    if max(map(len, text.split('"'))) < 1000:
        assert accepted(text) == value


NO_NUMBER_TO_PYYAML = re.compile(r"(?<![\w.+-])[-+]?[0-9]+[eE][-+]?[0-9]+(?![\w.])")
"""A text to YAML 1.1, which PyYAML writes, and a number to YAML 1.2, which is read here."""


@example({"a[b": {"0{": None}, "c {d": [{"e [f": "g"}]}, False)
@example({"0{": "}", "b{c": "}]"}, False)
@example({"0[": "] }"}, True)
@given(values, st.booleans())
def test_yaml_reader_reads_pyyaml_output_unchanged(value: object, flow: bool) -> None:
    text = yaml.safe_dump(value, default_flow_style=flow, allow_unicode=False, sort_keys=False)
    assume(not NO_NUMBER_TO_PYYAML.search(text))
    assert accepted(text.removesuffix("...\n")) == value


def scalars(node: Node) -> list[Scalar]:
    if isinstance(node, Scalar):
        return [node]
    if isinstance(node, Sequence):
        return [scalar for item in node for scalar in scalars(item)]
    return [scalar for key, value in node for scalar in (key, *scalars(value))]


@given(values)
def test_yaml_scalar_span_matches_source_text(value: object) -> None:
    text = json.dumps(value, indent=2)
    node, diagnostics = read(text, "f.yaml")
    lines = text.split("\n")
    if "\\ud" in text or diagnostics:
        return
    assert node is not None
    for scalar in scalars(node):
        span = scalar.span
        assert span.line == span.end_line
        written = lines[span.line - 1][span.column - 1 : span.end_column - 1]
        assert str(json.loads(written)) == str(scalar.value)


@settings(max_examples=examples(50, soak=3000))
@given(st.text(st.sampled_from("ab:-?[]{},&*!|>'\"%@`#<$ \n\t\\1.~\u00e9\ufeff\u2028\x00")) | st.binary())
def test_yaml_reader_never_raises_on_random_text(text: str | bytes) -> None:
    node, diagnostics = read(text, "f.yaml")
    lines = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    count = lines.replace("\r\n", "\n").replace("\r", "\n").count("\n") + 1
    assert node is None or node_value(node) is not NotImplemented
    for diagnostic in diagnostics:
        assert diagnostic.span is not None
        assert 1 <= diagnostic.span.line <= count + 1
        assert diagnostic.span.column >= 1


def test_repeated_yaml_text_is_stored_once() -> None:
    node, _ = read("a: { title: long enough }\nb: { title: long enough }\n", "f.yaml")
    assert isinstance(node, Mapping)
    (first, one), (second, other) = (
        next(iter(item)) for _, item in node.entries if isinstance(item, Mapping)
    )
    assert first.text is second.text
    assert isinstance(one, Scalar)
    assert isinstance(other, Scalar)
    assert one.text is other.text


def test_source_spans_share_line_number_objects() -> None:
    node, _ = read("\n" * 1000 + "a: b", "f.yaml")
    assert node is not None
    assert node.span.line is node.span.end_line


@pytest.mark.parametrize(
    ("text", "place"),
    [
        pytest.param("a: { light: #ff6600, dark: x }\nb: 1\n", "f.yaml:1:13", id="in a mapping on one line"),
        pytest.param("a: [x, #fff]\nb: 1\n", "f.yaml:1:8", id="in a list on one line"),
        pytest.param("a:\n  light: #ff6600\n  dark: x\n", "f.yaml:2:10", id="on a line of its own"),
        pytest.param("a:\n  light: #ff660080\n", "f.yaml:2:10", id="with transparency"),
    ],
)
def test_unquoted_hex_color_read_as_comment_is_reported(text: str, place: str) -> None:
    """Otherwise the reader looks for a bracket that is there, or clears the value."""
    finding = read(text, "f.yaml")[1][0]
    assert (finding.code, str(finding.span)) == ("DP135", place)


@pytest.mark.parametrize(
    "text",
    ["a: # fff\n", "a: #todo\n", "a: '#fff'\n", "a: x #ff6600\n", "a: #1234567\n"],
    ids=["a comment", "a word", "in quotes", "behind a value", "seven digits"],
)
def test_yaml_comment_not_resembling_color_is_ignored(text: str) -> None:
    assert read(text, "f.yaml")[1] == []


EMAIL = "use the person's e-mail address as the key, without { } and without a dash: ada@acme.example: ROLE"


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("members:\n  - { id: eve }: member\n", EMAIL),
        ("teams:\n  w:\n    members: { { id: eve }: member }\n", EMAIL),
        ("teams:\n  - { id: w }: { title: W }\n", "write the key as text, without { } or [ ]"),
    ],
    ids=["member in a list", "team member", "team"],
)
def test_mapping_as_yaml_key_error_gets_matching_hint(text: str, hint: str) -> None:
    """A person who knows only the id of a member tries the form of other references."""
    _, diagnostics = read(text, "f.yaml")
    assert [(one.code, one.hint) for one in diagnostics] == [(codes.KEY, hint)]
