"""Findings are bounded: fifty of a code, the rest is counted, and nothing is told twice."""

from __future__ import annotations

from dpsync.model.findings.diagnostic import MOST_OF_A_CODE, Diagnostic, DiagnosticError, Exit, Findings
from dpsync.model.findings.span import Span


def at(line: int, code: str = "DP201", severity: str = "error") -> Diagnostic:
    return Diagnostic(code, "wrong", Span("a.yaml", line, 1, line, 2), severity=severity)


def test_of_one_code_there_are_fifty_and_the_others_are_counted() -> None:
    found = Findings(at(line) for line in range(1, 80))
    found.append(at(1, "DP202"))
    assert (len(found), found.left_out) == (MOST_OF_A_CODE + 1, {"DP201": 29})
    assert (found.full("DP201"), found.full("DP202")) == (True, False)
    assert found[0] == at(1)


def test_what_was_left_out_is_not_lost_when_findings_are_put_together() -> None:
    one, other = Findings(at(line) for line in range(60)), Findings(at(line) for line in range(100, 170))
    one += other
    assert (len(one), one.left_out["DP201"]) == (50, 10 + 50 + 20)
    assert DiagnosticError(one, Exit.INVALID).findings.left_out == one.left_out


def test_the_same_finding_is_one() -> None:
    found = Findings([at(1), at(1)])
    found += [at(1)]
    assert (found, found.left_out) == ([at(1)], {})


def test_where_something_was_reported_nothing_else_is() -> None:
    told = at(2, "DP131")
    found = Findings([told], reported={told.span})
    found += [at(2), at(3)]
    assert found == [told, at(3)]


def test_warnings_are_no_errors() -> None:
    found = Findings([at(1, "DP140", "warning"), *(at(line) for line in range(51))])
    assert len(found.errors) == 50
    assert found.errors.left_out == {"DP201": 1}
