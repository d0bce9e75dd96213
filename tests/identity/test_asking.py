"""Questions about who is who carry what the entry could be, and the answers, as data."""

from __future__ import annotations

import pytest

from dpsync.model.diagnostic import DiagnosticError

from .past import Project
from .test_git_base import docs, teams
from .test_recorded import GUIDES, recorded

IT_IS = "it is that one"


def several(project: Project) -> None:
    project.holds(teams=teams("Sales", "Sales")).write("teams: { s: { title: Sales } }")


def earlier_and_present(project: Project) -> None:
    project.holds(teams=teams("Sales", "Selling"))
    project.write("teams: { s: { title: Selling, previously: Sales } }")


def a_copy(project: Project) -> None:
    project.holds(spaces=docs("Guides", "News")).write(GUIDES).record()
    project.holds(spaces=docs("Guides (old)", "News", "Guides"))


def an_earlier_name(project: Project) -> None:
    project.holds(spaces=docs("Guides", "News")).write(GUIDES).record()
    project.holds(spaces=docs("Guides", "News", "Manual"))
    project.write(GUIDES.replace("title: Guides", "title: Guides, previously: Manual"))


def one_object_twice(project: Project) -> None:
    project.holds(spaces=docs("Guides", "News")).write(GUIDES)
    recorded(project, spaces_g="s1", spaces_n="s1")


@pytest.mark.parametrize(
    ("make", "code", "could_be", "answers"),
    [
        (several, "DP302", {"t1": "Sales", "t2": "Sales"}, [("id: t1", IT_IS), ("id: t2", IT_IS)]),
        (earlier_and_present, "DP305", {"t1": "Sales", "t2": "Selling"},
         [("id: t1", IT_IS), ("id: t2", IT_IS)]),
        (a_copy, "DP312", {"s1": "Guides (old)", "s3": "Guides"},
         [("id: s1", IT_IS),
          ("dpsync ids --bind acme/spaces/g=s3", "it is that one, and its line is wrong")]),
        (an_earlier_name, "DP313", {"s1": "Guides", "s3": "Manual"},
         [("id: s1", IT_IS),
          ("dpsync ids --bind acme/spaces/g=s3", "it is that one, and its line is wrong")]),
        (one_object_twice, "DP311", {"s1": "Guides"},
         [("dpsync ids --forget acme/spaces/g", "it is another one")]),
    ],
)  # fmt: skip
def test_a_question_carries_its_candidates_and_answers(
    project: Project, make: object, code: str, could_be: dict[str, str], answers: list[tuple[str, str]]
) -> None:
    assert callable(make)
    make(project)
    with pytest.raises(DiagnosticError) as error:
        project.plan()
    found = error.value.findings[0]
    assert found.code == code
    assert {one.id: one.title for one in found.candidates} == could_be
    assert [(one.add, one.means) for one in found.answers] == answers
    assert {one.address for one in found.answers} == {found.address}
