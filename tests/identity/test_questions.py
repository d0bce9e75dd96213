"""Questions about who is who carry what the entry could be, and the answers, as data."""

from __future__ import annotations

import pytest

from dpsync.client.client import ReadClient
from dpsync.live.delete_evidence import MAX_COUNTED_OBJECTS
from dpsync.model.diagnostic import DiagnosticError
from tests.direct import transport

from .past import Project
from .test_git_base import docs, teams
from .test_ids_lines import GUIDES, recorded

PAGE = {"title": "A", "pages": [{"title": "B"}, {"title": "C", "pages": [{"title": "D"}]}]}
IT_IS = "the entry is this object"


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
          ("`dpsync ids --bind acme/spaces/g=s3`", "the entry is this object, and its line in the ids file "
                                                   "is wrong")]),
        (an_earlier_name, "DP313", {"s1": "Guides", "s3": "Manual"},
         [("id: s1", IT_IS),
          ("`dpsync ids --bind acme/spaces/g=s3`", "the entry is this object, and its line in the ids file "
                                                   "is wrong")]),
        (one_object_twice, "DP311", {"s1": "Guides"},
         [("`dpsync ids --forget acme/spaces/n`",
           'acme/spaces/n is another object. The object "s1" and its contents belong to acme/spaces/g'),
          ("`dpsync ids --forget acme/spaces/g`",
           'acme/spaces/g is another object. The object "s1" and its contents belong to acme/spaces/n')]),
    ],
)  # fmt: skip
def test_identity_question_lists_candidates_and_answers(
    project: Project, make: object, code: str, could_be: dict[str, str], answers: list[tuple[str, str]]
) -> None:
    """Otherwise, where the files are of one platform an overlay is advised that nobody has."""
    assert callable(make)
    make(project)
    with pytest.raises(DiagnosticError) as error:
        project.plan()
    found = error.value.findings[0]
    assert found.code == code
    assert {one.id: one.title for one in found.candidates} == could_be
    assert [(one.add, one.means) for one in found.answers] == answers
    assert found.address in {one.address for one in found.answers}


def counting(project: Project) -> tuple[list[str], int | None]:
    """Plan and return the requests for pages, and the page count of the only candidate."""
    with ReadClient(project.server.url, "token", transport=transport(project.server)) as client:
        project.server.app.requests.clear()
        try:
            plan = project.session().plan(client).plan
        except DiagnosticError as error:
            asked = [one for item in error.findings for one in item.candidates]
        else:
            asked = [one for item in plan.refusals for one in item.candidates]
            assert plan.requests == client.requests
    paths = [path for _, path, _ in project.server.app.requests]
    return [path for path in paths if path.endswith("/content/pages")], asked[0].pages if asked else None


def test_identity_question_counts_pages_of_candidate(project: Project) -> None:
    project.holds(spaces=[{"id": "s1", "title": "Guides", "content": {"pages": [PAGE]}}])
    project.write("spaces: { g: { title: Guide } }")
    assert counting(project) == (["/v1/spaces/s1/content/pages"], 4)


def test_duplicate_title_question_counts_candidate_pages(project: Project) -> None:
    a_copy(project)
    paths, pages = counting(project)
    assert paths == ["/v1/spaces/s1/content/pages", "/v1/spaces/s3/content/pages"]
    assert pages is not None


def test_plan_without_questions_counts_no_pages(project: Project) -> None:
    project.holds(spaces=docs("Guides")).write("spaces: { g: { title: Guides } }")
    assert counting(project) == ([], None)


def test_identity_question_limits_page_counting(project: Project) -> None:
    project.holds(spaces=docs(*["Guides"] * (MAX_COUNTED_OBJECTS + 5))).write(
        "spaces: { g: { title: Guides } }"
    )
    paths, _ = counting(project)
    assert len(paths) == MAX_COUNTED_OBJECTS
