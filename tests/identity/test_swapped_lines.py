"""A plan asks about swapped lines of the ids file, but not about exchanged names."""

from __future__ import annotations

from typing import Any

import pytest

from dpsync.model.address import Address
from dpsync.model.diagnostic import Diagnostic, DiagnosticError

from .past import Project
from .test_git_base import docs

FILES = "spaces: {{ g: {{ title: {} }}, n: {{ title: {} }} }}"
WITH_EMOJI = 'spaces: {{ g: {{ title: {}, emoji: "1f4d8" }}, n: {{ title: {}, emoji: "1f600" }} }}'
QUESTION_FOR_EACH = [("DP243", "acme/spaces/g"), ("DP243", "acme/spaces/n")]


def live_spaces(*titles: str) -> list[dict[str, Any]]:
    emojis = ("1f4d8", "1f600")
    return [{**space, "emoji": emoji} for space, emoji in zip(docs(*titles), emojis, strict=True)]


def swap_lines(project: Project) -> None:
    ids = project.ids or {}
    guides, news = (Address.parse(f"acme/spaces/{key}") for key in "gn")
    ids[guides], ids[news] = ids[news], ids[guides]


def plan_questions(project: Project) -> list[Diagnostic]:
    try:
        project.plan()
    except DiagnosticError as error:
        return list(error.findings)
    return []


def question_codes(project: Project) -> list[tuple[str, str | None]]:
    return sorted((item.code, item.address) for item in plan_questions(project))


@pytest.fixture
def recorded_project(project: Project) -> Project:
    """Return a project with two spaces whose entries are committed and have lines in the ids file."""
    project.holds(spaces=live_spaces("Guides", "News"))
    return project.commit(FILES.format("Guides", "News")).record()


@pytest.mark.parametrize("committed", [False, True], ids=["uncommitted", "committed"])
@pytest.mark.parametrize(
    "titles", [("Guides", "News"), ("Handbook", "News")], ids=["unchanged", "title changed"]
)
def test_swapped_ids_lines_are_reported(
    recorded_project: Project, titles: tuple[str, str], committed: bool
) -> None:
    """Otherwise, each entry would write its title to the object of the other entry."""
    swap_lines(recorded_project)
    (recorded_project.commit if committed else recorded_project.write)(FILES.format(*titles))
    assert question_codes(recorded_project) == QUESTION_FOR_EACH


def test_swapped_ids_lines_are_detected_by_other_fields(project: Project) -> None:
    project.holds(spaces=live_spaces("Guides", "News")).write(WITH_EMOJI.format("Guides", "News")).record()
    swap_lines(project)
    assert question_codes(project) == QUESTION_FOR_EACH
    project.write(WITH_EMOJI.format("Handbook", "News"))
    assert [code for code, _ in question_codes(project)] == ["DP243", "DP243"]


@pytest.mark.parametrize("committed", [False, True], ids=["uncommitted", "committed"])
@pytest.mark.parametrize("files", [FILES, WITH_EMOJI], ids=["titles", "titles and emoji"])
def test_titles_swapped_in_files_are_applied(project: Project, files: str, committed: bool) -> None:
    project.holds(spaces=live_spaces("Guides", "News"))
    project.commit(files.format("Guides", "News")).record()
    (project.commit if committed else project.write)(files.format("News", "Guides")).converges()
    assert project.live("spaces") == {"s1": "News", "s2": "Guides"}


def test_titles_swapped_on_platform_are_restored(project: Project) -> None:
    project.holds(spaces=live_spaces("Guides", "News"))
    project.commit(WITH_EMOJI.format("Guides", "News")).record()
    project.holds(spaces=live_spaces("News", "Guides")).converges()
    assert project.live("spaces") == {"s1": "Guides", "s2": "News"}


def test_swapped_ids_lines_suggest_bind_command(recorded_project: Project) -> None:
    swap_lines(recorded_project)
    first, _ = plan_questions(recorded_project)
    assert [way.add for way in first.answers] == [
        "id: s2",
        "`dpsync ids --bind acme/spaces/g=s1 --bind acme/spaces/n=s2`",
    ]
    assert "in the ids file may have been swapped: the line of this entry has the id" in first.message
    swap_lines(recorded_project)
    assert recorded_project.plan().empty
