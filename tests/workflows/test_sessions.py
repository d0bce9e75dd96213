"""What a session refuses before anything is sent, and what it asks: a platform of plain values."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from msgspec.structs import replace

from dpsync.apply.ids_on_disk import ResolvedIds
from dpsync.apply.saved_plan import Expected, NotApprovedError, StaleStateError
from dpsync.client.client import ReadClient, WriteClient
from dpsync.client.observer import NullObserver
from dpsync.kinds.registry import build_registry as load_registry
from dpsync.model.address import Address
from dpsync.model.change import Change
from dpsync.model.diagnostic import Diagnostic, DiagnosticError, Exit, Findings
from dpsync.model.ids import IdsComparison, IdsFile, LineDifference, RecordedLine
from dpsync.model.plan import Plan
from dpsync.model.question import Candidate, Refusal
from dpsync.workflows.compose import compose
from dpsync.workflows.ids import IdsAsked, IdsEditError, check_settled, edited_ids
from dpsync.workflows.session import CandidatePages, Planned, Session
from tests.planner.lab import REGISTRY
from tests.planner.stages import Case, Things

HERE = "https://here.example"


class Platform:
    """Answers with the pages of spaces; notes what it is asked, and whatever it is sent."""

    def __init__(self, **pages: int) -> None:
        self.pages, self.asked, self.sent = pages, list[str](), list[object]()
        self.url = self.platform = HERE
        self.observer, self.requests = NullObserver(), 0

    def get(self, path: str) -> Any:
        self.asked.append(path)
        self.requests += 1
        return {"pages": [{}] * self.pages.get([*path.split("/"), ""][2], 0)}

    def send(self, *request: object, **_: object) -> Any:
        self.sent.append(request)
        raise AssertionError("nothing may be sent")

    def stats(self) -> Any:
        return SimpleNamespace(by_method={})


CASE = Case({"team": {"a": {"title": "B"}}}, {"team": {"a": {"title": "A"}}})
TITLE = Refusal(code="taken", address="acme/teams/a", message="it is so", way_out="do otherwise")


def planned(plan: Plan | None = None) -> tuple[Session, Planned]:
    sides = CASE.sides()
    session = Session(sides.desired, REGISTRY)
    change = Change(address="acme/teams/a", kind="team", action="update", id="team-a")
    return session, Planned(plan or Plan(changes=(change,)), sides)


# What is applied.


@pytest.mark.parametrize(
    ("plan", "expected", "error"),
    [
        (Plan(refusals=(TITLE,)), Expected(), DiagnosticError),
        (None, Expected(plan=Plan()), StaleStateError),
        (None, Expected(approved="0" * 64), NotApprovedError),
    ],
)
def test_apply_refuses_rejected_or_different_plan(
    plan: Plan | None, expected: Expected, error: type[Exception]
) -> None:
    """Otherwise, what a guard has refused is applied, by whoever calls the API.

    Otherwise, another plan than was agreed to is applied.
    """
    session, made = planned(plan)
    platform = Platform()
    with pytest.raises(error):
        session.apply(cast(WriteClient, platform), made, expected)
    assert platform.asked == platform.sent == []


def test_refused_apply_error_contains_code_and_hint() -> None:
    session, made = planned(Plan(refusals=(TITLE,)))
    with pytest.raises(DiagnosticError) as refused:
        session.apply(cast(WriteClient, Platform()), made)
    (found,) = refused.value.findings
    assert (refused.value.exit_code, found.code, found.hint) == (Exit.REFUSED, "taken", "do otherwise")


def test_compose_of_invalid_files_is_refused(tmp_path: Path) -> None:
    root = tmp_path / "dpsync.yaml"
    root.write_text("dpsync: 1\ninclude: [missing.yaml]\n")
    with pytest.raises(DiagnosticError) as refused:
        compose(root, {})
    assert refused.value.exit_code is Exit.INVALID
    assert [one.span.file for one in refused.value.findings if one.span] == ["dpsync.yaml"]


# What is at stake.

SPACES: Things = {"space": {"a": {"title": "A"}}}
ONE, TWO = (Candidate(address="acme/spaces/[x]", id=id, title=id) for id in ("one", "two"))


def candidate_pages(platform: Platform) -> CandidatePages:
    return CandidatePages(cast(ReadClient, platform), REGISTRY, 1, Case(SPACES).sides().desired)


def question(address: str, *candidates: Candidate) -> Refusal:
    return TITLE.model_copy(update={"address": address, "candidates": candidates})


def test_question_shows_page_count_of_each_candidate() -> None:
    platform = Platform(one=3)
    plan = candidate_pages(platform).plan(Plan(refusals=(question("acme/spaces/a", ONE, TWO),)))
    assert [one.pages for one in plan.refusals[0].candidates] == [3, 0]
    assert plan.requests == 2
    findings = Findings([Diagnostic("DP305", "which?", address="acme/spaces/a", candidates=(ONE,))])
    (found,) = candidate_pages(platform).findings(findings)
    assert [one.pages for one in found.candidates] == [3]


def test_pages_are_not_counted_without_candidates() -> None:
    """Otherwise, each plan with a refusal counts as one in which somebody is asked."""
    platform = Platform()
    plan = Plan(refusals=(question("acme/spaces/a"),))
    assert candidate_pages(platform).plan(plan) is plan
    findings = Findings([Diagnostic("DP305", "so", address="acme/spaces/a")])
    assert candidate_pages(platform).findings(findings) is findings
    assert platform.asked == []


def test_pages_are_counted_only_for_entry_candidates() -> None:
    """Otherwise, what is at stake is counted of things that are no candidates of an entry."""
    platform = Platform()
    plan = candidate_pages(platform).plan(
        Plan(refusals=(question("limits", ONE), question("acme/spaces/a", TWO)))
    )
    assert [one.pages for item in plan.refusals for one in item.candidates] == [None, 0]
    assert platform.asked == ["/spaces/two/content/pages"]
    (found,) = candidate_pages(platform).findings(
        Findings([Diagnostic("DP301", "which?", candidates=(ONE,))])
    )
    assert [one.pages for one in found.candidates] == [None]
    assert platform.asked == ["/spaces/two/content/pages"]


# Lines of the ids file, by hand.

A, B = Address.parse("acme/teams/a"), Address.parse("acme/teams/b")


def edited(lines: dict[str, str], **asked: Any) -> dict[str, str | None]:
    found = {Address.parse(at): RecordedLine(Address.parse(at), id) for at, id in lines.items()}
    desired = Case({"team": {"a": {"title": "A"}}}).sides().desired
    session = Session(desired, REGISTRY, ids=IdsFile({HERE: {"acme": found}}))
    edits = edited_ids(session, cast(ReadClient, Platform()), IdsAsked(**asked))
    return {str(at): line.id if line else None for (_, at), line in edits.items()}


def test_ids_move_refuses_address_with_existing_line() -> None:
    """Otherwise, the line of another entry is written over, and its object is nobody's."""
    assert edited({"acme/teams/b": "1"}, moved=((str(B), str(A)),)) == {str(B): None, str(A): "1"}
    with pytest.raises(IdsEditError, match="the ids file already has a line"):
        edited({"acme/teams/a": "2", "acme/teams/b": "1"}, moved=((str(B), str(A)),))


@pytest.mark.parametrize("text", ["acme/teams/a", "acme/teams/a=", "acme/teams/a=x y", "acme/teams/c=x"])
def test_ids_bind_refuses_invalid_binding(text: str) -> None:
    """Otherwise, an id that no line can hold makes the whole file unreadable.

    Otherwise, a line is written for an entry that there is not, and its object is nobody's.
    """
    with pytest.raises(IdsEditError):
        edited({"acme/teams/b": "1"}, bound=(text,))


def test_ids_forget_refuses_entry_without_line() -> None:
    assert edited({"acme/teams/b": "1"}, forgotten=(str(B),)) == {str(B): None}
    for text in ("acme/members/ada", "acme"):
        with pytest.raises(IdsEditError):
            edited({"acme/teams/b": "1"}, forgotten=(text,))


@pytest.mark.parametrize(("profile", "asked"), [("full", ["/user"]), ("reference", [])])
def test_ids_edit_requests_user_only_if_supported(profile: str, asked: list[str]) -> None:
    platform = Platform()
    platform.url = "http://127.0.0.1:9"
    desired = replace(Case({}).sides().desired, profile=profile)
    session = Session(desired, load_registry(profile))
    edited_ids(session, cast(ReadClient, platform), IdsAsked())
    assert platform.asked == asked


# A merge in it.


def remark(address: Address, found: bool) -> LineDifference:
    line = RecordedLine(address, "1")
    return LineDifference("acme", address, "wrong", line, line if found else None)


OTHERWISE, A_SPACE = Address.parse("formerly/teams/a"), Address.parse("acme/spaces/a")
"""The same entry where the organization had another key, and another entry of that name."""


@pytest.mark.parametrize(
    ("remarks", "decided"),
    [
        ([remark(A, True)], True), ([remark(OTHERWISE, True)], True), ([remark(A, False)], False),
        ([remark(B, True)], False), ([remark(A_SPACE, True)], False), ([], False),
    ],
)  # fmt: skip
def test_ids_conflict_is_settled_only_by_live_objects(remarks: list[LineDifference], decided: bool) -> None:
    """Otherwise, lines about which two sides of a merge differ are written as one of them has it, by chance.

    Otherwise, lines about which two sides of a merge differ are written as one of them has it, by chance,
    also without a word.
    """
    merged = ResolvedIds(IdsFile(), frozenset({(HERE, "acme", A)}))
    compared = IdsComparison(HERE, tuple(remarks), 0)
    if decided:
        check_settled(merged, compared, "ids.yaml")
    else:
        with pytest.raises(DiagnosticError, match="dpsync cannot tell which id is right"):
            check_settled(merged, compared, "ids.yaml")


@pytest.mark.parametrize(("checked", "planned_for"), [("full", "published"), ("published", "full")])
def test_session_refuses_files_loaded_for_other_api_version(checked: str, planned_for: str) -> None:
    """Otherwise, a plan has fields that the platform lacks, because the files fit another profile."""
    desired = replace(CASE.sides().desired, profile=checked)
    assert Session(desired, load_registry(checked)).desired is desired
    with pytest.raises(DiagnosticError) as refused:
        Session(desired, load_registry(planned_for))
    (found,) = refused.value.diagnostics
    assert (found.code, refused.value.exit_code) == ("DP146", Exit.USAGE)
    assert found.message == (
        f"the configuration was loaded for the API version {checked}, "
        f"but the registry is for the API version {planned_for}"
    )
    assert found.hint is not None
    assert f'load_registry("{checked}")' in found.hint
