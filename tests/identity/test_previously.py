"""`previously:` says what an entry was called before: its present name is then a change, not a new thing."""

from __future__ import annotations

import pytest

from dpsync.model.findings.diagnostic import DiagnosticError

from .past import Project
from .test_git_base import did, docs, matched, teams


def test_an_entry_is_found_by_its_earlier_name(project: Project) -> None:
    """Otherwise, whoever has an object is held to have another choice, and what is certain is asked about."""
    project.holds(teams=teams("Writers")).write("teams: { a: { title: Authors, previously: Writers } }")
    plan = project.plan()
    assert did(plan) == {"acme/teams/a": "update"}
    assert matched(plan) == {"acme/teams/a": "previously"}
    project.converges()
    assert project.live("teams") == {"t1": "Authors"}


def test_of_several_the_first_that_is_live_is_meant(project: Project) -> None:
    project.holds(teams=teams("Scribes")).write(
        "teams: { a: { title: Authors, previously: [Writers, Scribes] } }"
    )
    project.converges()
    assert project.live("teams") == {"t1": "Authors"}


def test_once_renamed_the_line_can_go(project: Project) -> None:
    """Otherwise, a line that has served is never told."""
    project.holds(teams=teams("Authors")).write("teams: { a: { title: Authors, previously: Writers } }")
    plan = project.plan()
    assert plan.empty
    assert [(note.address, note.text) for note in plan.notes] == [
        ("acme/teams/a#previously", "it has its present name: this line can go")
    ]


def test_both_names_live_is_a_question_that_names_both(project: Project) -> None:
    project.holds(teams=teams("Writers", "Authors")).write(
        "teams: { a: { title: Authors, previously: Writers } }"
    )
    with pytest.raises(DiagnosticError, match=r'"t1".*"t2"') as ended:
        project.plan()
    (found,) = ended.value.diagnostics
    assert found.code == "DP305"
    assert found.span is not None
    assert found.span.line == 6


def test_it_wins_over_the_git_base(project: Project) -> None:
    project.holds(teams=teams("Writers", "Scribes")).commit("teams: { a: { title: Writers } }")
    project.write("teams: { a: { title: Authors, previously: Scribes } }").converges()
    assert project.live("teams") == {"t1": "Writers", "t2": "Authors"}


def test_another_entry_may_take_the_old_name(project: Project) -> None:
    project.holds(teams=teams("Writers"))
    project.write("teams: { a: { title: Authors, previously: Writers }, b: { title: Writers } }").converges()
    assert project.live("teams")["t1"] == "Authors"
    assert project.plan().empty


def test_two_that_exchange_names_without_a_base_are_a_question(project: Project) -> None:
    project.holds(teams=teams("A", "B"))
    project.write("teams: { a: { title: B, previously: A }, b: { title: A, previously: B } }")
    with pytest.raises(DiagnosticError) as ended:
        project.plan()
    assert {item.code for item in ended.value.diagnostics} == {"DP305"}


def test_two_that_exchange_names_do_so_once(project: Project) -> None:
    project.holds(teams=teams("A", "B")).commit("teams: { a: { title: A }, b: { title: B } }").record()
    text = "teams: { a: { title: B, previously: A }, b: { title: A, previously: B } }"
    project.write(text).converges()
    assert project.live("teams") == {"t1": "B", "t2": "A"}
    project.commit(text)
    assert project.plan().empty


def test_a_content_holder_keeps_its_id(project: Project) -> None:
    project.holds(spaces=docs("Guide")).write("spaces: { g: { title: Handbook, previously: Guide } }")
    project.converges()
    assert project.live("spaces") == {"s1": "Handbook"}
