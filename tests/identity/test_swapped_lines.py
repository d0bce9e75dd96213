"""Lines of the ids file that were swapped are asked about; an exchange of names is not."""

from __future__ import annotations

from typing import Any

import pytest

from dpsync.model.entries.address import Address
from dpsync.model.findings.diagnostic import Diagnostic, DiagnosticError

from .past import Project
from .test_git_base import docs

FILES = "spaces: {{ g: {{ title: {} }}, n: {{ title: {} }} }}"
WITH_EMOJI = 'spaces: {{ g: {{ title: {}, emoji: "1f4d8" }}, n: {{ title: {}, emoji: "1f600" }} }}'
BOTH = [("DP243", "acme/spaces/g"), ("DP243", "acme/spaces/n")]


def live(*titles: str) -> list[dict[str, Any]]:
    emojis = ("1f4d8", "1f600")
    return [{**space, "emoji": emoji} for space, emoji in zip(docs(*titles), emojis, strict=True)]


def swap(project: Project) -> None:
    ids = project.ids or {}
    guides, news = (Address.parse(f"acme/spaces/{key}") for key in "gn")
    ids[guides], ids[news] = ids[news], ids[guides]


def questions(project: Project) -> list[Diagnostic]:
    try:
        project.plan()
    except DiagnosticError as error:
        return list(error.findings)
    return []


def asked(project: Project) -> list[tuple[str, str | None]]:
    return sorted((item.code, item.address) for item in questions(project))


@pytest.fixture
def known(project: Project) -> Project:
    """Two spaces with lines, and their files in a commit."""
    project.holds(spaces=live("Guides", "News"))
    return project.commit(FILES.format("Guides", "News")).record()


@pytest.mark.parametrize("committed", [False, True], ids=["uncommitted", "committed"])
@pytest.mark.parametrize(
    "titles", [("Guides", "News"), ("Handbook", "News")], ids=["unchanged", "title changed"]
)
def test_swapped_lines_are_asked_about(known: Project, titles: tuple[str, str], committed: bool) -> None:
    """Each entry would otherwise write its title to the object of the other entry."""
    swap(known)
    (known.commit if committed else known.write)(FILES.format(*titles))
    assert asked(known) == BOTH


def test_swapped_lines_without_commits_are_told_by_other_fields(project: Project) -> None:
    project.holds(spaces=live("Guides", "News")).write(WITH_EMOJI.format("Guides", "News")).record()
    swap(project)
    assert asked(project) == BOTH
    project.write(WITH_EMOJI.format("Handbook", "News"))
    assert [code for code, _ in asked(project)] == ["DP243", "DP243"]


@pytest.mark.parametrize("committed", [False, True], ids=["uncommitted", "committed"])
@pytest.mark.parametrize("files", [FILES, WITH_EMOJI], ids=["titles", "titles and emoji"])
def test_titles_exchanged_in_files_are_written(project: Project, files: str, committed: bool) -> None:
    project.holds(spaces=live("Guides", "News"))
    project.commit(files.format("Guides", "News")).record()
    (project.commit if committed else project.write)(files.format("News", "Guides")).converges()
    assert project.live("spaces") == {"s1": "News", "s2": "Guides"}


def test_titles_exchanged_by_hand_are_put_back(project: Project) -> None:
    project.holds(spaces=live("Guides", "News"))
    project.commit(WITH_EMOJI.format("Guides", "News")).record()
    project.holds(spaces=live("News", "Guides")).converges()
    assert project.live("spaces") == {"s1": "Guides", "s2": "News"}


def test_question_names_command_that_swaps_lines_back(known: Project) -> None:
    swap(known)
    first, _ = questions(known)
    assert [way.add for way in first.answers] == [
        "id: s2",
        "`dpsync ids --bind acme/spaces/g=s1 --bind acme/spaces/n=s2`",
    ]
    assert "The lines may have been swapped" in first.message
    swap(known)
    assert known.plan().empty


def test_entry_of_earlier_commit_is_asked_about_without_lines(project: Project) -> None:
    """An empty twin would otherwise be created beside the space."""
    project.holds(spaces=live("Guides", "News")).commit(FILES.format("Guides", "News"))
    project.commit(FILES.format("Handbook", "News"))
    plan = project.plan()
    assert [(item.code, [one.id for one in item.candidates]) for item in plan.refusals] == [
        ("unclear", ["s1"])
    ]
