"""Sites, sections and places that lack a declared path, or whose names are exchanged beside others."""

from __future__ import annotations

from typing import Any

import pytest

from .past import Project
from .test_exchange import docs, nodes, structure

SECTION = "{{ type: section, key: rules, title: Rules, children: [{children}] }}"


def place(key: str, space: str, path: str = "") -> str:
    return f"{{ type: space, key: {key}, space: {space}{f', path: {path}' if path else ''} }}"


def rules(*children: str) -> str:
    return structure(SECTION.format(children=", ".join(children)))


def world(*spaces: str, more: tuple[dict[str, Any], ...] = ()) -> dict[str, Any]:
    """Return a site with a section "Rules" that shows these spaces, and more nodes."""
    children = [{"type": "space", "id": f"at-{space}", "space": space, "path": space} for space in spaces]
    section = {"type": "section", "id": "sec", "title": "Rules", "path": "rules", "children": children}
    site = {"id": "site", "title": "Docs", "basename": "docs", "structure": [section, *more]}
    return {"spaces": docs("One", "Two", "Three"), "sites": [site]}


OTHER = {
    "type": "section", "id": "other", "title": "Other", "path": "other",
    "children": [{"type": "space", "id": "at-other", "space": "s3", "path": "third"}],
}  # fmt: skip


def test_sites_with_swapped_titles_keep_basename(project: Project) -> None:
    live = [{"id": name, "title": name.title(), "basename": name} for name in ("docs", "help")]
    text = "sites: {{ docs: {{ title: {}, basename: docs }}, help: {{ title: {}, basename: help }} }}"
    project.holds(sites=live).commit(text.format("Docs", "Help")).write(text.format("Help", "Docs"))
    assert project.converges().writes == 2
    assert project.live("sites") == {"docs": "Help", "help": "Docs"}
    assert project.plan().empty


def test_swapped_paths_beside_new_site_space_converge(project: Project) -> None:
    two = [("a", "s1", "one"), ("b", "s2", "two")]
    project.holds(**world("s1")).commit(rules(*(place(*item) for item in two))).converges()
    before = {change.id for change in project.plan().changes}
    assert before == set()
    ids = project.plan().bindings

    project.write(rules(place("new", "s2"), place("a", "s1", "two"), place("b", "s2", "one"))).converges()

    after = project.plan().bindings
    section = "acme/sites/docs/structure/rules"
    assert {key: after[f"{section}/{key}"] for key in "ab"} == {key: ids[f"{section}/{key}"] for key in "ab"}
    assert after[f"{section}/new"] not in ids.values()


@pytest.mark.parametrize("committed", [True, False])
@pytest.mark.parametrize(
    ("shown", "children"),
    [
        pytest.param(("s2",), (place("a", "s1"), place("b", "s2")), id="its first place was removed"),
        pytest.param(
            ("s1", "s2"), (place("c", "s3"), place("a", "s1"), place("b", "s2")), id="its first place is new"
        ),
    ],
)
def test_section_without_path_is_not_duplicated(
    project: Project, shown: tuple[str, ...], children: tuple[str, ...], committed: bool
) -> None:
    text = rules(*children)
    project.holds(**world(*shown))
    (project.commit if committed else project.write)(text)
    project.converges()
    assert {id: title for id, (title, _) in nodes(project).items()} == {"sec": "Rules"}


def test_git_base_matches_section_with_changed_title(project: Project) -> None:
    project.holds(**world("s2")).commit(rules(place("a", "s1"), place("b", "s2")))
    text = rules(place("a", "s1"), place("b", "s2")).replace("title: Rules", "title: Laws")
    project.write(text).converges()
    assert nodes(project) == {"sec": ("Laws", "rules")}


def test_new_site_space_is_not_called_moved(project: Project) -> None:
    """What is shown in an unmanaged section has nothing to do with it, and the base knows of no move."""
    text = rules(place("c", "s3", "c"), place("a", "s1"))
    project.holds(**world("s1", more=(OTHER,)))
    assert not [note for note in project.write(text).plan().notes if "creates a new object" in note.text]
    project.commit(rules(place("a", "s1"))).write(text)
    assert not [note for note in project.plan().notes if "creates a new object" in note.text]


def test_moved_site_space_is_noted_as_recreated(project: Project) -> None:
    """Otherwise, what stays is told to go."""

    def sections(rules: str, other: str) -> str:
        nodes = ("key: rules, title: Rules", rules), ("key: other, title: Other, path: other", other)
        return structure(*(f"{{ type: section, {about}, children: [{inside}] }}" for about, inside in nodes))

    first, moved = place("a", "s1"), place("x", "s3", "third")
    project.holds(**world("s1", more=(OTHER,))).commit(sections(first, moved))
    text = sections(f"{first}, {moved}", place("y", "s2", "y"))
    (note,) = [note for note in project.write(text).plan().notes if "creates a new object" in note.text]
    assert note.address == "acme/sites/docs/structure/rules/x"
    assert note.text.startswith(
        "GitBook cannot change the section of this object. dpsync therefore creates a new object, and "
    )
    assert "/other/[third] stays" in note.text
