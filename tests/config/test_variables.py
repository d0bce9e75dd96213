"""Variables: what they become, what is refused, where it is reported."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsync.config import codes
from dpsync.config.variables import MAX_RESULT_CHARS, Substitution
from dpsync.config.yaml_reader import read
from dpsync.model.diagnostic import Diagnostic
from dpsync.model.nodes import Mapping, Node, Scalar, node_value

ENV = {"NAME": "acme", "EMPTY": "", "N": "1", "YES": "true", "BAD": "a\x1bb", "DOLLAR": "${NAME}$$"}


def substitute(node: Node, env: dict[str, str], source: str = "") -> tuple[Node, list[Diagnostic]]:
    substitution = Substitution(env, source)
    return substitution.substitute(node), substitution.diagnostics


def value_of(text: str) -> tuple[Scalar, list[Diagnostic]]:
    source = f"key: {text}\n"
    node, problems = read(source, "f.yaml")
    assert problems == []
    assert isinstance(node, Mapping)
    result, problems = substitute(node, ENV, source)
    assert isinstance(result, Mapping)
    scalar = result.get("key")
    assert isinstance(scalar, Scalar)
    return scalar, problems


@pytest.mark.parametrize(
    ("text", "value", "interpolated"),
    [
        ("${NAME}", "acme", True),
        ("a-${NAME}-${N}", "a-acme-1", True),
        ("${N}", "1", True),
        ("${YES}", "true", True),
        ("${EMPTY}", "", True),
        ("${NAME:-x}", "acme", True),
        ("${NOPE:-x y}", "x y", True),
        ("${EMPTY:-x}", "x", True),
        ("${NOPE:-}", "", True),
        ("${NOPE:-1}", "1", True),
        ("${NOPE:-$$}", "$", True),
        ("${NAME:?why}", "acme", True),
        ("${DOLLAR}", "${NAME}$$", True),
        ("$${NAME}", "${NAME}", False),
        ("$$$${NAME}", "$${NAME}", False),
        ("$$${NAME}", "$acme", True),
        ("5$ or $name", "5$ or $name", False),
        ("17", 17, False),
        ("'${NAME}'", "acme", True),
        ('"${NAME}"', "acme", True),
    ],
)
def test_variable_in_value_is_replaced_by_text(text: str, value: object, interpolated: bool) -> None:
    scalar, problems = value_of(text)
    assert problems == []
    assert (scalar.value, scalar.interpolated) == (value, interpolated)


def test_lone_dollar_name_is_kept_with_warning() -> None:
    scalar, problems = value_of("about $NAME")
    assert scalar.value == "about $NAME"
    assert [(one.code, one.severity) for one in problems] == [("DP134", "warning")]
    assert value_of("about $$NAME")[1] == []


@pytest.mark.parametrize(
    ("text", "code", "line", "column"),
    [
        ("${NOPE}", codes.MISSING_VARIABLE, 1, 6),
        ("$$ a ${NOPE}", codes.MISSING_VARIABLE, 1, 11),
        ("'it''s ${NOPE}'", codes.MISSING_VARIABLE, 1, 13),
        ('"\\t${NOPE}"', codes.MISSING_VARIABLE, 1, 9),
        ("&x ${NOPE}", codes.MISSING_VARIABLE, 1, 9),
        ("|\n  a\n  b ${NOPE}", codes.MISSING_VARIABLE, 3, 5),
        (">-\n  a\n  ${NOPE}", codes.MISSING_VARIABLE, 3, 3),
        ('"\\x24 ${NOPE}"', codes.MISSING_VARIABLE, 1, 6),
        ("${EMPTY:?needed}", codes.MISSING_VARIABLE, 1, 6),
        ("a ${NOPE", codes.MALFORMED_VARIABLE, 1, 8),
        ("${}", codes.MALFORMED_VARIABLE, 1, 6),
        ("${1A}", codes.MALFORMED_VARIABLE, 1, 6),
        ("${A-b}", codes.MALFORMED_VARIABLE, 1, 6),
        ("${A:b}", codes.MALFORMED_VARIABLE, 1, 6),
        ("${ NAME }", codes.MALFORMED_VARIABLE, 1, 6),
        ("${A:-${NAME}}", codes.MALFORMED_VARIABLE, 1, 6),
        ("x ${BAD}", codes.VARIABLE_VALUE, 1, 8),
    ],
)
def test_variable_error_points_at_variable(text: str, code: str, line: int, column: int) -> None:
    scalar, [problem] = value_of(text)
    assert problem.span is not None
    assert (problem.code, problem.span.line, problem.span.column) == (code, line, column)
    assert scalar.interpolated
    assert "\x1b" not in problem.message


def test_required_variable_error_shows_custom_message() -> None:
    _, [problem] = value_of("${NOPE:?set it to the name of the organization}")
    assert problem.message == "the variable NOPE is not set: set it to the name of the organization"


def test_repeated_missing_variable_is_reported_once_per_value() -> None:
    _, problems = value_of("${A} ${B} ${A}")
    assert [problem.message.split()[2] for problem in problems] == ["A", "B"]


@pytest.mark.parametrize(
    ("written", "key"),
    [
        pytest.param("/${NAME}/start", "/acme/start", id="a variable"),
        pytest.param("/${NOPE:-v1}", "/v1", id="a default"),
        pytest.param("/$${NAME}", "/${NAME}", id="an escaped variable"),
        pytest.param("/$${NAME}$$", "/${NAME}$", id="dollar signs beside an escaped variable"),
        pytest.param("/a$$b", "/a$$b", id="dollar signs without a brace"),
        pytest.param("/$NAME", "/$NAME", id="a lone dollar sign"),
    ],
)
def test_variables_in_keys_are_replaced(written: str, key: str) -> None:
    node, _ = read(f"'{written}': 1\n", "f.yaml")
    assert node is not None
    result, problems = substitute(node, ENV)
    assert problems == []
    assert isinstance(result, Mapping)
    assert (result.keys(), node_value(result)) == ([key], {key: 1})


def test_keys_equal_after_substitution_are_refused() -> None:
    """Otherwise one of two redirects with the same source would be lost silently."""
    node, _ = read("/acme: 1\n'/${NAME}': 2\n", "f.yaml")
    assert node is not None
    result, [problem] = substitute(node, ENV)
    assert node_value(result) == {"/acme": 1}
    assert (problem.code, str(problem.span)) == (codes.DUPLICATE_KEY, "f.yaml:2:1")
    assert [str(span) for _, span in problem.related] == ["f.yaml:1:1"]


def test_missing_variable_in_a_key_is_an_error() -> None:
    source = "'/${NOPE}': 1\n"
    node, _ = read(source, "f.yaml")
    assert node is not None
    _, [problem] = substitute(node, ENV, source)
    assert (problem.code, str(problem.span)) == (codes.MISSING_VARIABLE, "f.yaml:1:3")


def test_substitution_returns_same_node_without_variables() -> None:
    node, _ = read("NAME: [a, {b: 1}]\n", "f.yaml")
    assert node is not None
    result, problems = substitute(node, ENV)
    assert result is node
    assert problems == []


def test_variable_error_without_source_points_at_scalar() -> None:
    node, _ = read("a: x ${NOPE}\n", "f.yaml")
    assert node is not None
    _, [problem] = substitute(node, ENV)
    assert str(problem.span) == "f.yaml:1:4"


def test_yaml_alias_is_substituted_and_reported_once() -> None:
    node, _ = read("a: &x ['${NAME}', '${NOPE}']\nb: *x\n", "f.yaml")
    assert node is not None
    result, problems = substitute(node, ENV)
    assert isinstance(result, Mapping)
    assert result.get("a") is result.get("b")
    assert len(problems) == 1


@pytest.mark.parametrize(
    "text", ["${A}" * 200_000, "${NOPE:-" * 100_000, "${A:-b} " * 100_000, "$" * 900_000]
)
def test_hostile_variable_text_has_bounded_result_size(text: str) -> None:
    node, _ = read(f"a: '{text}'\n", "f.yaml")
    assert node is not None
    result, problems = substitute(node, {"A": "x" * 1000}, text)
    assert problems or len(str(node_value(result))) <= MAX_RESULT_CHARS


@pytest.mark.parametrize(("more", "found"), [(0, []), (1, [codes.TEXT_SIZE])])
def test_substituted_text_is_limited_to_million_characters(more: int, found: list[str]) -> None:
    node, _ = read("a: '-${A}'\n", "f.yaml")
    assert node is not None
    _, problems = substitute(node, {"A": "x" * (MAX_RESULT_CHARS - 1 + more)})
    assert [problem.code for problem in problems] == found


def test_total_substituted_text_per_file_is_limited() -> None:
    node, _ = read("[" + "'${A}'," * 30 + "]", "f.yaml")
    assert node is not None
    _, problems = substitute(node, {"A": "x" * 900_000})
    assert {problem.code for problem in problems} == {codes.TEXT_SIZE}


@given(st.text(st.sampled_from("${}NAME:-? \nx"), max_size=30))
def test_substitution_never_raises_on_random_text(text: str) -> None:
    span_source, _ = read("a", "f.yaml")
    assert isinstance(span_source, Scalar)
    scalar = Scalar(text, span_source.span, text, False)
    result, problems = substitute(scalar, ENV, "a")
    assert isinstance(result, Scalar)
    if "$" not in text:
        assert result is scalar
    if not problems and "${" not in text:
        assert result.value == text.replace("$$", "$")


@given(st.text(st.characters(exclude_categories=("Cs", "Cc"))))
def test_doubled_dollar_signs_become_single_dollars(text: str) -> None:
    node, _ = read("a", "f.yaml")
    assert isinstance(node, Scalar)
    doubled = text.replace("$", "$$")
    result, problems = substitute(Scalar(doubled, node.span, doubled, False), {})
    assert isinstance(result, Scalar)
    assert (result.value, problems) == (text, [])
