"""Spaces of one title, such as the versions of several products: the path that shows each one tells."""

from __future__ import annotations

from typing import Any

import pytest

from dpsync.model.findings.diagnostic import DiagnosticError

from .past import Project

VERSIONS = ("v2", "v1")


def spaces() -> list[dict[str, Any]]:
    return [{"id": f"{of}-{title}", "title": title} for of in ("api", "app") for title in VERSIONS]


def section(of: str) -> dict[str, Any]:
    children = [
        {"type": "space", "id": f"at-{of}-{path}", "space": f"{of}-{path}", "path": path} for path in VERSIONS
    ]
    return {"type": "section", "id": of, "title": of.title(), "path": of, "children": children}


def world() -> dict[str, Any]:
    site = {"id": "site", "title": "Docs", "structure": [section("api"), section("app")]}
    return {"spaces": spaces(), "sites": [site]}


def declared(*sections: str, paths: tuple[str, str] = VERSIONS, titles: tuple[str, str] = VERSIONS) -> str:
    """The entries of the spaces that some sections show, and the site with these sections."""
    entries, nodes = [], []
    for of in sections:
        entries += [f"{of}{n}: {{ title: {title} }}" for n, title in enumerate(titles)]
        inside = ", ".join(
            f"{{ type: space, key: p{n}, space: {of}{n}, path: {p} }}" for n, p in enumerate(paths)
        )
        nodes.append(f"{{ type: section, key: {of}, title: {of.title()}, path: {of}, children: [{inside}] }}")
    site = f"sites: {{ docs: {{ title: Docs, structure: [{', '.join(nodes)}] }} }}"
    return f"spaces: {{ {', '.join(entries)} }}\n{site}\n"


BOUND = {f"acme/spaces/{of}{n}": f"{of}-{path}" for of in ("api", "app") for n, path in enumerate(VERSIONS)}


@pytest.mark.parametrize("committed", [True, False], ids=["committed", "new"])
def test_spaces_of_one_title_are_recognized_by_path(project: Project, committed: bool) -> None:
    project.holds(**world())
    (project.commit if committed else project.write)(declared("api", "app"))
    plan = project.plan_if_clear()
    assert plan is not None, "dpsync asks who is who"
    assert {key: id for key, id in plan.bindings.items() if key in BOUND} == BOUND
    assert plan.empty


def test_one_of_two_sections_is_enough_for_its_spaces(project: Project) -> None:
    plan = project.holds(**world()).write(declared("app")).plan_if_clear()
    assert plan is not None, "dpsync asks who is who"
    assert plan.bindings["acme/spaces/app0"] == "app-v2"


def test_spaces_at_the_root_are_recognized_by_path(project: Project) -> None:
    children = [
        {"type": "space", "id": f"at-{path}", "space": f"api-{path}", "path": path} for path in VERSIONS
    ]
    live = [{"id": "site", "title": "Docs", "structure": children}]
    places = ", ".join(
        f"{{ type: space, key: {path}, space: {path}, path: {path} }}" for path in reversed(VERSIONS)
    )
    text = f"sites: {{ docs: {{ title: Docs, structure: [{places}] }} }}\n"
    same = [{"id": f"api-{path}", "title": "Guide"} for path in VERSIONS]
    entries = "spaces: { v1: { title: Guide }, v2: { title: Guide } }\n"
    plan = project.holds(spaces=same, sites=live).write(entries + text).plan_if_clear()
    assert plan is not None, "dpsync asks who is who"
    assert {key: plan.bindings[f"acme/spaces/{key}"] for key in VERSIONS} == {"v1": "api-v1", "v2": "api-v2"}


def test_new_spaces_of_one_title_are_created_once(project: Project) -> None:
    project.holds().write(declared("api", "app"))
    assert project.plan_if_clear() is not None, "dpsync asks who is who"
    project.converges()
    assert sorted(project.live("spaces").values()) == ["v1", "v1", "v2", "v2"]
    assert project.plan().empty


def test_renamed_versions_are_recognized_by_path(project: Project) -> None:
    project.holds(**world()).commit(declared("api", "app"))
    project.write(declared("api", "app", titles=("Version 2", "v1")))
    plan = project.plan_if_clear()
    assert plan is not None, "dpsync asks who is who"
    changed = {change.id for change in plan.changes}
    assert changed == {"api-v2", "app-v2"}


def test_question_names_where_each_space_is_shown(project: Project) -> None:
    again = {"type": "space", "id": "again", "space": "app-v2", "path": "app"}
    other = {"id": "other", "title": "Other", "structure": [again]}
    live = world()
    live["sites"].append(other)
    project.holds(**live).write(declared("api", paths=("next", "last")))
    with pytest.raises(DiagnosticError) as asked:
        project.plan()
    (first, _) = asked.value.findings
    assert {one.id: one.shown_in for one in first.candidates} == {
        "api-v2": ("acme/sites/docs (api/v2)",),
        "app-v2": ("acme/sites/docs (app/v2)", '"Other"'),
    }


def test_lost_creation_of_a_shared_title_is_asked_about(project: Project) -> None:
    """Which of the two entries was created, nobody can tell before a site shows the space."""
    project.holds().write(declared("api", "app"))
    assert project.dies(1, "after")
    with pytest.raises(DiagnosticError) as asked:
        project.plan()
    assert {one.code for one in asked.value.findings} == {"DP302"}
    (created,) = (id for id, title in project.live("spaces").items() if title == "v2")
    text = declared("api", "app").replace("api0: { title: v2", f"api0: {{ id: {created}, title: v2")
    project.write(text).converges()
    assert sorted(project.live("spaces").values()) == ["v1", "v1", "v2", "v2"]
