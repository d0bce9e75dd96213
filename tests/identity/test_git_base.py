"""A renamed entry is known by the name it has in the git base: a rename, never a second thing."""

from __future__ import annotations

from typing import Any

import pytest

from dpsync.model.address import Address
from dpsync.model.diagnostic import DiagnosticError
from dpsync.model.plan import Plan

from .past import Project


def did(plan: Plan) -> dict[str, str]:
    return {change.address: change.action for change in plan.changes}


def matched(plan: Plan) -> dict[str, str | None]:
    return {change.address: change.matched for change in plan.changes}


def teams(*titles: str) -> list[dict[str, Any]]:
    return [{"id": f"t{number}", "title": title} for number, title in enumerate(titles, 1)]


def docs(*titles: str) -> list[dict[str, Any]]:
    return [{"id": f"s{number}", "title": title} for number, title in enumerate(titles, 1)]


def codes(project: Project) -> set[str]:
    with pytest.raises(DiagnosticError) as ended:
        project.plan()
    return {item.code for item in ended.value.diagnostics}


def test_git_base_matches_object_with_changed_title(project: Project) -> None:
    project.holds(teams=teams("Writers")).commit("teams: { writers: { title: Writers } }")
    plan = project.write("teams: { writers: { title: Authors } }").plan()
    assert did(plan) == {"acme/teams/writers": "update"}
    assert matched(plan) == {"acme/teams/writers": "base"}
    project.converges()
    assert project.live("teams") == {"t1": "Authors"}


def test_completed_rename_leaves_empty_plan(project: Project) -> None:
    project.holds(teams=teams("Writers")).commit("teams: { writers: { title: Writers } }")
    project.write("teams: { writers: { title: Authors } }").converges()
    assert project.plan().empty


def test_new_entry_can_take_former_name(project: Project) -> None:
    project.holds(teams=teams("Writers")).commit("teams: { writers: { title: Writers } }")
    project.write("teams: { a: { title: Writers }, writers: { title: Authors } }")
    assert did(project.plan()) == {"acme/teams/a": "create", "acme/teams/writers": "update"}
    project.converges()
    assert project.live("teams")["t1"] == "Authors"
    assert project.plan().empty


def test_chained_title_renames_converge(project: Project) -> None:
    project.holds(teams=teams("A", "B", "C")).commit(
        "teams: { a: { title: A }, b: { title: B }, c: { title: C } }"
    )
    project.write("teams: { a: { title: B }, b: { title: C }, c: { title: D } }").converges()
    assert project.live("teams") == {"t1": "B", "t2": "C", "t3": "D"}
    assert project.plan().empty


def test_two_live_names_make_rename_ambiguous(project: Project) -> None:
    project.holds(teams=teams("Writers", "Authors")).commit("teams: { writers: { title: Writers } }")
    project.write("teams: { writers: { title: Authors } }")
    with pytest.raises(DiagnosticError) as ended:
        project.plan()
    (found,) = ended.value.diagnostics
    assert found.code == "DP305"
    assert '"t1"' in found.message
    assert '"t2"' in found.message


def test_unchanged_field_shows_rename_is_already_applied(project: Project) -> None:
    spaces = [
        {"id": "s1", "title": "Guide", "emoji": "1f680"},
        {"id": "s2", "title": "Manual", "emoji": "1f4d6"},
    ]
    project.holds(spaces=spaces).commit('spaces: { guide: { title: Guide, emoji: "1f4d6" } }')
    project.write('spaces: { guide: { title: Manual, emoji: "1f4d6" } }')
    assert project.plan().empty


def test_changed_title_without_git_base_creates_object(project: Project) -> None:
    project.holds(teams=teams("Writers")).write("teams: { writers: { title: Authors } }")
    plan = project.plan()
    assert did(plan) == {"acme/teams/writers": "create"}
    assert plan.base is None
    assert plan.base_from == "the files are not in a git repository"


def test_git_base_matches_renamed_site_and_section(project: Project) -> None:
    section = {
        "type": "section", "id": "sec", "title": "Guides", "path": "guides",
        "children": [{"type": "space", "id": "place", "space": "s1", "path": "en"}],
    }  # fmt: skip
    site = {"id": "site1", "title": "Docs", "basename": "docs", "structure": [section]}
    project.holds(spaces=docs("Guide"), sites=[site])
    before = """
        spaces: { guide: { title: Guide } }
        sites:
          docs:
            title: Docs
            basename: docs
            structure:
              - { type: section, key: guides, title: Guides, path: guides, children: [CHILD] }
    """
    child = "{ type: space, key: en, space: guide, path: en }"
    project.commit(before.replace("CHILD", child))
    after = (
        before.replace("title: Docs", "title: Help")
        .replace("basename: docs", "basename: help")
        .replace("title: Guides, path: guides", "title: Handbook, path: handbook")
        .replace("CHILD", child.replace("path: en", "path: english"))
    )
    plan = project.write(after).plan()
    assert set(did(plan).values()) == {"update"}
    assert set(matched(plan).values()) == {"base"}
    project.converges()
    assert project.live("sites", "basename") == {"site1": "help"}
    assert project.plan().empty


# Exchanged names.


def test_swapped_titles_use_one_temporary_name(project: Project) -> None:
    project.holds(teams=teams("A", "B")).commit("teams: { a: { title: A }, b: { title: B } }").record()
    report = project.write("teams: { a: { title: B }, b: { title: A } }").converges()
    assert [item.phase for item in report.outcomes].count("free") == 1
    assert project.live("teams") == {"t1": "B", "t2": "A"}


def test_swapped_titles_stay_swapped_with_emoji(project: Project) -> None:
    spaces = [{"id": "s1", "title": "A", "emoji": "1f4d6"}, {"id": "s2", "title": "B", "emoji": "1f680"}]
    text = 'spaces: { a: { title: A, emoji: "1f4d6" }, b: { title: B, emoji: "1f680" } }'
    project.holds(spaces=spaces).commit(text)
    project.write(text.replace("title: A", "title: X").replace("title: B", "title: A").replace("X", "B"))
    project.converges()
    assert project.live("spaces") == {"s1": "B", "s2": "A"}
    assert project.plan().empty


# In a clone without the ids file: the change is committed, so that the git base has it already.

GROUP = """
    sites:
      docs:
        title: Docs
        structure:
          - { type: section-group, key: more, title: More }
"""
SITE = {
    "id": "site1",
    "title": "Docs",
    "structure": [{"type": "section-group", "id": "g1", "title": "More", "children": []}],
}


@pytest.mark.parametrize(
    ("world", "before", "after", "address"),
    [
        pytest.param({"teams": teams("Writers")}, "teams: { writers: { title: Writers } }",
                     "teams: { writers: { title: Authors } }", "acme/teams/writers", id="team"),
        pytest.param({"spaces": docs("Guide")}, "spaces: { guide: { title: Guide } }",
                     "spaces: { guide: { title: Manual } }", "acme/spaces/guide", id="space"),
        pytest.param({"sites": [SITE]}, GROUP, GROUP.replace("title: More", "title: Others"),
                     "acme/sites/docs/structure/more", id="section group"),
    ],
)  # fmt: skip
def test_title_change_in_earlier_commit_is_rename(
    project: Project, world: dict[str, Any], before: str, after: str, address: str
) -> None:
    """Otherwise, dpsync creates the object a second time, or asks about an entry that was never removed."""
    project.holds(**world).commit(before)
    plan = project.commit(after).plan()
    assert did(plan) == {address: "update"}
    assert matched(plan) == {address: "earlier commit"}
    project.converges()
    assert project.plan().empty


def test_latest_committed_title_that_is_live_matches(project: Project) -> None:
    project.holds(teams=teams("A", "B"))
    for title in ("A", "B", "C", "D"):
        project.commit(f"teams: {{ one: {{ title: {title} }} }}")
    assert project.plan().bindings["acme/teams/one"] == "t2"


@pytest.mark.parametrize(
    "commits",
    [
        pytest.param(["one: { title: A }", "two: { title: X }", "one: { title: B }"], id="entry was removed"),
        pytest.param(["one: { title: A }", "two: { title: A }, one: { title: X }",
                      "one: { title: B }, two: { title: C }"], id="two entries had the title"),
        pytest.param(["one: { title: A }", "one: { title: B, new: true }"], id="entry is new"),
    ],
)  # fmt: skip
def test_unreliable_former_title_is_not_matched(project: Project, commits: list[str]) -> None:
    """Otherwise, an entry takes the object of another entry."""
    project.holds(teams=teams("A"))
    for entries in commits:
        project.commit(f"teams: {{ {entries} }}")
    assert "acme/teams/one" not in project.plan("new 2 acme/teams/*").bindings


def test_ids_file_overrides_former_git_title(project: Project) -> None:
    """Otherwise, a name decides where the ids file could."""
    project.holds(teams=teams("A", "B"))
    project.commit("teams: { one: { title: A }, two: { title: B } }").record()
    del project.ids[Address.parse("acme/teams/one")]  # type: ignore[index, union-attr]
    plan = project.commit("teams: { one: { title: C }, two: { title: B } }").plan()
    assert did(plan) == {"acme/teams/one": "create"}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param("a: { title: A }, b: { title: B }", "a: { title: B }, b: { title: C }", id="chain"),
        pytest.param("b: { title: B }", "b: { title: C }, a: { title: B }", id="new entry with its title"),
    ],
)
def test_former_title_claimed_by_two_entries_is_ambiguous(project: Project, first: str, second: str) -> None:
    """Otherwise, an entry takes the members of another team, and that team is created without them."""
    project.holds(teams=teams("A", "B")).commit(f"teams: {{ {first} }}")
    project.commit(f"teams: {{ {second} }}")
    with pytest.raises(DiagnosticError) as ended:
        project.plan()
    (found,) = ended.value.diagnostics
    assert (found.code, found.address) == ("DP305", "acme/teams/b")
    assert [way.add for way in found.answers] == ["id: t2", "new: true"]
    answered = project.write(f"teams: {{ {second.replace('title: C', 'title: C, id: t2')} }}").plan()
    assert answered.bindings["acme/teams/b"] == "t2"
    assert answered.bindings.get("acme/teams/a") == ("t1" if "A" in first else None)


def test_rename_question_does_not_claim_removed_entry(project: Project) -> None:
    """Otherwise, the question says that an entry was removed which is in the file."""
    project.holds(teams=[{"id": "t1", "title": "A", "members": [{"user": "ada", "role": "owner"}]}])
    for entry in ("one: { title: A }", "two: { title: X }", "one: { title: B }"):
        project.commit(f"teams: {{ {entry} }}")
    [refusal] = project.plan().refusals
    assert refusal.message == ('Is acme/teams/one a new team, or the team "A" (id t1) renamed?')
