"""`previously:` says what an entry was called before: its present name is then a change, not a new thing."""

from __future__ import annotations

import pytest

from dpsync.model.diagnostic import DiagnosticError
from dpsync.render.json_conversion import plan_document
from dpsync.render.paint import Paint
from dpsync.render.view_text import render_plan

from .past import Project
from .test_git_base import did, docs, matched, teams


def test_previously_matches_renamed_team(project: Project) -> None:
    """Otherwise, whoever has an object is held to have another choice, and what is certain is asked about."""
    project.holds(teams=teams("Writers")).write("teams: { a: { title: Authors, previously: Writers } }")
    plan = project.plan()
    assert did(plan) == {"acme/teams/a": "update"}
    assert matched(plan) == {"acme/teams/a": "previously"}
    project.converges()
    assert project.live("teams") == {"t1": "Authors"}


def test_first_previously_name_that_is_live_is_matched(project: Project) -> None:
    project.holds(teams=teams("Scribes")).write(
        "teams: { a: { title: Authors, previously: [Writers, Scribes] } }"
    )
    project.converges()
    assert project.live("teams") == {"t1": "Authors"}


def test_unneeded_previously_line_is_noted(project: Project) -> None:
    """Otherwise, a line that has served is never told."""
    project.holds(teams=teams("Authors")).write("teams: { a: { title: Authors, previously: Writers } }")
    plan = project.plan()
    assert plan.empty
    assert [(note.address, note.text) for note in plan.notes] == [
        (
            "acme/teams/a#previously",
            "the object has been renamed: remove this line",
        )
    ]


def test_unneeded_previously_note_is_printed_only_when_verbose(project: Project) -> None:
    """Otherwise, every plan prints a line that nobody has to act on."""
    project.holds(teams=teams("Authors")).write("teams: { a: { title: Authors, previously: Writers } }")
    plan = project.plan()
    printed = [render_plan(plan, Paint(False), verbose) for verbose in (0, 1)]
    assert ["acme/teams/a#previously" in text for text in printed] == [False, True]
    assert [note.address for note in plan_document(plan).plan.notes] == ["acme/teams/a#previously"]


def test_previously_is_ambiguous_beside_current_name(project: Project) -> None:
    project.holds(teams=teams("Writers", "Authors")).write(
        "teams: { a: { title: Authors, previously: Writers } }"
    )
    with pytest.raises(DiagnosticError, match=r'"t1".*"t2"') as ended:
        project.plan()
    (found,) = ended.value.diagnostics
    assert found.code == "DP305"
    assert found.span is not None
    assert found.span.line == 6


def test_previously_overrides_git_base(project: Project) -> None:
    project.holds(teams=teams("Writers", "Scribes")).commit("teams: { a: { title: Writers } }")
    project.write("teams: { a: { title: Authors, previously: Scribes } }").converges()
    assert project.live("teams") == {"t1": "Writers", "t2": "Authors"}


def test_new_entry_can_take_former_name(project: Project) -> None:
    project.holds(teams=teams("Writers"))
    project.write("teams: { a: { title: Authors, previously: Writers }, b: { title: Writers } }").converges()
    assert project.live("teams")["t1"] == "Authors"
    assert project.plan().empty


def test_swap_by_previously_without_base_is_ambiguous(project: Project) -> None:
    project.holds(teams=teams("A", "B"))
    project.write("teams: { a: { title: B, previously: A }, b: { title: A, previously: B } }")
    with pytest.raises(DiagnosticError) as ended:
        project.plan()
    assert {item.code for item in ended.value.diagnostics} == {"DP305"}


def test_swap_by_previously_is_applied_once(project: Project) -> None:
    project.holds(teams=teams("A", "B")).commit("teams: { a: { title: A }, b: { title: B } }").record()
    text = "teams: { a: { title: B, previously: A }, b: { title: A, previously: B } }"
    project.write(text).converges()
    assert project.live("teams") == {"t1": "B", "t2": "A"}
    project.commit(text)
    assert project.plan().empty


def test_previously_keeps_id_of_renamed_space(project: Project) -> None:
    project.holds(spaces=docs("Guide")).write("spaces: { g: { title: Handbook, previously: Guide } }")
    project.converges()
    assert project.live("spaces") == {"s1": "Handbook"}


# The text may be a key or an address.


@pytest.mark.parametrize("text", ["writers", "acme/teams/writers", "teams/writers"])
def test_previously_former_key_matches_ids_line(project: Project, text: str) -> None:
    """Otherwise, an entry with a new key and a new title is created beside its own object."""
    project.holds(teams=teams("Writers")).write("teams: { writers: { title: Writers } }").record()
    project.write(f"teams: {{ authors: {{ title: Authors, previously: {text} }} }}")
    assert matched(project.plan()) == {"acme/teams/authors": "previously"}
    project.converges()
    assert project.live("teams") == {"t1": "Authors"}


@pytest.mark.parametrize("text", ["writers", "acme/teams/writers"])
def test_previously_former_key_matches_name_from_git(project: Project, text: str) -> None:
    project.holds(teams=teams("Writers")).commit("teams: { writers: { title: Writers } }")
    project.write(f"teams: {{ authors: {{ title: Authors, previously: {text} }} }}")
    assert matched(project.plan()) == {"acme/teams/authors": "previously"}


def test_previously_former_key_matches_after_commit(project: Project) -> None:
    project.holds(teams=teams("Writers")).commit("teams: { writers: { title: Writers } }")
    project.commit("teams: { authors: { title: Authors, previously: writers } }")
    assert matched(project.plan()) == {"acme/teams/authors": "previously"}


def test_previously_former_key_wins_over_new_equal_title(project: Project) -> None:
    project.holds(teams=teams("Writers")).write("teams: { writers: { title: Writers } }").record()
    body = "teams: { authors: { title: Authors, previously: writers }, new: { title: Writers } }"
    project.write(body).converges()
    assert project.live("teams")["t1"] == "Authors"


def test_previously_text_being_key_and_title_is_ambiguous(project: Project) -> None:
    """Otherwise, one of two objects is renamed on a guess."""
    project.holds(teams=teams("Writers", "writers")).write("teams: { writers: { id: t1, title: Writers } }")
    project.record().write("teams: { authors: { title: Authors, previously: writers } }")
    with pytest.raises(DiagnosticError, match=r'"t2".*"t1"') as ended:
        project.plan()
    assert [item.code for item in ended.value.diagnostics] == ["DP305"]


def test_previously_contradicting_own_ids_line_is_ambiguous(project: Project) -> None:
    both = "teams: { a: { title: Authors }, writers: { title: Writers } }"
    project.holds(teams=teams("Authors", "Writers")).write(both).record()
    project.write("teams: { a: { title: Scribes, previously: writers } }")
    with pytest.raises(DiagnosticError) as ended:
        project.plan()
    assert [item.code for item in ended.value.diagnostics] == ["DP313"]


def test_previously_former_key_matches_section(project: Project) -> None:
    section = {"type": "section", "id": "x", "title": "API", "path": "api"}
    shown = {"type": "space", "id": "y", "space": "s1", "path": "guide"}
    site = {
        "id": "docs",
        "title": "Docs",
        "basename": "docs",
        "structure": [{**section, "children": [shown]}],
    }
    project.holds(spaces=docs("Guide"), sites=[site])
    body = """
        spaces: { g: { title: Guide } }
        sites:
          docs:
            title: Docs
            basename: docs
            structure:
              - { type: section, SECTION, children: [{ type: space, key: g, space: g, path: guide }] }
    """
    project.write(body.replace("SECTION", "key: api, title: API, path: api")).record()
    project.write(body.replace("SECTION", "key: dev, title: Developers, path: dev, previously: api"))
    assert matched(project.plan()) == {"acme/sites/docs/structure/dev": "previously"}


# A line that names nothing.


@pytest.mark.parametrize(
    ("previously", "suggestion"),
    [
        pytest.param("Writrs", "Writers", id="live title"),
        pytest.param("{ title: Writrs }", "Writers", id="live title in a mapping"),
        pytest.param("scribe", "scribes", id="key with a line"),
        pytest.param("acme/teams/scribe", "acme/teams/scribes", id="address with a line"),
    ],
)
def test_previously_without_match_suggests_nearest_name(
    project: Project, previously: str, suggestion: str
) -> None:
    """Otherwise, a typing error creates the object a second time."""
    project.holds(teams=teams("Writers", "Old")).write("teams: { scribes: { title: Old } }").record()
    project.write(f"teams: {{ authors: {{ title: Authors, previously: {previously} }} }}")
    with pytest.raises(DiagnosticError) as ended:
        project.plan()
    (found,) = ended.value.diagnostics
    assert (found.code, found.address) == ("DP246", "acme/teams/authors")
    assert found.span is not None
    assert found.span.line == 6
    assert found.hint == f'did you mean "{suggestion}"? Otherwise, if the team is new, remove previously'


def test_previously_without_similar_name_suggests_removing_line(project: Project) -> None:
    project.holds(teams=teams("Writers")).write("teams: { a: { title: Authors, previously: Editors } }")
    with pytest.raises(DiagnosticError) as ended:
        project.plan()
    assert [item.hint for item in ended.value.diagnostics] == ["if the team is new, remove previously"]


def test_previously_with_declared_key_fails(project: Project) -> None:
    project.holds(teams=teams("Writers")).write("teams: { writers: { title: Writers } }").record()
    project.write("teams: { writers: { title: Writers }, authors: { title: Authors, previously: writers } }")
    with pytest.raises(DiagnosticError) as ended:
        project.plan()
    assert [item.code for item in ended.value.diagnostics] == ["DP246"]


@pytest.mark.parametrize("previously", ["Writers", "writers"])
def test_previously_from_git_recreates_missing_object(project: Project, previously: str) -> None:
    """The object was deleted outside."""
    project.holds(teams=teams("Others")).commit("teams: { writers: { title: Writers } }")
    project.write(f"teams: {{ authors: {{ title: Authors, previously: {previously} }} }}")
    assert did(project.plan()) == {"acme/teams/authors": "create"}
