"""Findings are bounded: fifty of a code, the rest is counted, and nothing is told twice."""

from __future__ import annotations

from msgspec.structs import replace

from dpsync.model.diagnostic import (
    MAX_FINDINGS_PER_CODE,
    RELATED_LABEL,
    Diagnostic,
    DiagnosticError,
    Exit,
    Findings,
)
from dpsync.model.nodes import Span


def at(line: int, code: str = "DP201", severity: str = "error") -> Diagnostic:
    return Diagnostic(code, "wrong", Span("a.yaml", line, 1, line, 2), severity=severity)


def test_findings_keep_fifty_per_code_and_count_rest() -> None:
    found = Findings(at(line) for line in range(1, 80))
    found.append(at(1, "DP202"))
    assert (len(found), found.omitted_counts) == (MAX_FINDINGS_PER_CODE + 1, {"DP201": 29})
    assert (found.is_full("DP201"), found.is_full("DP202")) == (True, False)
    assert found[0] == at(1)


def test_merged_findings_add_up_omitted_counts() -> None:
    one, other = Findings(at(line) for line in range(60)), Findings(at(line) for line in range(100, 170))
    one += other
    assert (len(one), one.omitted_counts["DP201"]) == (50, 10 + 50 + 20)
    assert DiagnosticError(one, Exit.INVALID).findings.omitted_counts == one.omitted_counts


def test_duplicate_finding_is_kept_once() -> None:
    found = Findings([at(1), at(1)])
    found += [at(1)]
    assert (found, found.omitted_counts) == ([at(1)], {})


def test_finding_at_position_of_reported_error_is_dropped() -> None:
    told = at(2, "DP131")
    found = Findings([told], reported_spans={told.span})
    found += [at(2), at(3)]
    assert found == [told, at(3)]


def test_findings_errors_exclude_warnings_but_count_omitted_errors() -> None:
    found = Findings([at(1, "DP140", "warning"), *(at(line) for line in range(51))])
    assert len(found.errors) == 50
    assert found.errors.omitted_counts == {"DP201": 1}


def shown(line: int, cause: str | None = "c", code: str = "DP201") -> Diagnostic:
    return Diagnostic(code, "wrong", Span("a.yaml", line, 1, line, 2), cause=cause)


def places(one: Diagnostic) -> list[int]:
    return [span.line for label, span in one.related if label == RELATED_LABEL]


def test_findings_with_same_message_are_grouped() -> None:
    (few,) = Findings(shown(line) for line in range(1, 6))
    assert (places(few), few.unlisted_related_count) == ([2, 3, 4, 5], 0)
    (many,) = Findings(shown(line) for line in range(1, 9))
    assert (places(many), many.unlisted_related_count) == ([2, 3, 4, 5], 3)
    assert many.span == Span("a.yaml", 1, 1, 1, 2)


def test_findings_with_different_cause_or_code_stay_separate() -> None:
    found = Findings([shown(1), shown(2, "d"), shown(3, "c", "DP202"), shown(4, None), shown(5, None)])
    assert [places(one) for one in found] == [[], [], [], [], []]


def test_merged_groups_count_each_place_once() -> None:
    one, other = (
        Findings([shown(1), shown(2)]),
        Findings([shown(3), shown(4), shown(5), shown(6), shown(7), shown(8)]),
    )
    one += other
    (all_of_them,) = one
    assert (places(all_of_them), all_of_them.unlisted_related_count) == ([2, 3, 4, 5], 3)


def test_grouping_findings_keeps_related_notes() -> None:
    noted = replace(shown(1), related=(("the first one", Span("a.yaml", 9, 1, 9, 2)),))
    both = noted.with_related(shown(2)).with_related(replace(noted, span=None))
    assert [label for label, _ in both.related] == ["the first one", RELATED_LABEL]
    assert both.unlisted_related_count == 0


def test_exit_codes_have_fixed_values() -> None:
    assert {one.name: one.value for one in Exit} == {
        "DONE": 0,
        "FAILED": 1,
        "CHANGES": 2,
        "PARTIAL": 3,
        "REFUSED": 4,
        "INVALID": 5,
        "USAGE": 64,
        "INTERRUPTED": 130,
        "TERMINATED": 143,
    }


def test_diagnostic_error_contains_findings_code_and_texts() -> None:
    ended = DiagnosticError([shown(1), shown(2, None)], Exit.INVALID, {"a.yaml": "text"})
    assert (str(ended), ended.exit_code, ended.texts) == ("wrong; wrong", 5, {"a.yaml": "text"})
    assert ended.diagnostics == (shown(1), shown(2, None))
    assert DiagnosticError([], Exit.FAILED).texts == {}


def test_findings_are_split_into_errors_and_warnings() -> None:
    found = Findings([at(1, "DP140", "warning"), at(2), at(3, "DP141", "warning")])
    assert [one.code for one in found.warnings] == ["DP140", "DP141"]
    assert [one.code for one in found.errors] == ["DP201"]


def test_file_start_span_is_empty_at_first_character() -> None:
    start = Span.start_of("a.yaml")
    assert str(start) == "a.yaml:1:1"
    assert (start.end_line, start.end_column) == (start.line, start.column), "it covers nothing"
