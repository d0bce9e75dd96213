"""Match spaces with the same title, such as versions of several products, by their paths in the site."""

from __future__ import annotations

from typing import Any

import pytest

from dpsync.model.diagnostic import DiagnosticError

from .past import Project

VERSIONS = ("v2", "v1")


def live_spaces() -> list[dict[str, Any]]:
    return [{"id": f"{of}-{title}", "title": title} for of in ("api", "app") for title in VERSIONS]


def live_section(of: str) -> dict[str, Any]:
    children = [
        {"type": "space", "id": f"at-{of}-{path}", "space": f"{of}-{path}", "path": path} for path in VERSIONS
    ]
    return {"type": "section", "id": of, "title": of.title(), "path": of, "children": children}


def organization_with_versions() -> dict[str, Any]:
    site = {"id": "site", "title": "Docs", "structure": [live_section("api"), live_section("app")]}
    return {"spaces": live_spaces(), "sites": [site]}


def configuration_of(
    *sections: str, paths: tuple[str, str] = VERSIONS, titles: tuple[str, str] = VERSIONS
) -> str:
    """Return YAML with a site that has these sections, and an entry for each space that they show."""
    entries, nodes = [], []
    for of in sections:
        entries += [f"{of}{n}: {{ title: {title} }}" for n, title in enumerate(titles)]
        inside = ", ".join(
            f"{{ type: space, key: p{n}, space: {of}{n}, path: {p} }}" for n, p in enumerate(paths)
        )
        nodes.append(f"{{ type: section, key: {of}, title: {of.title()}, path: {of}, children: [{inside}] }}")
    site = f"sites: {{ docs: {{ title: Docs, structure: [{', '.join(nodes)}] }} }}"
    return f"spaces: {{ {', '.join(entries)} }}\n{site}\n"


EXPECTED_IDS = {
    f"acme/spaces/{of}{n}": f"{of}-{path}" for of in ("api", "app") for n, path in enumerate(VERSIONS)
}


@pytest.mark.parametrize("committed", [True, False], ids=["committed", "uncommitted"])
def test_spaces_with_same_title_are_matched_by_path(project: Project, committed: bool) -> None:
    project.holds(**organization_with_versions())
    (project.commit if committed else project.write)(configuration_of("api", "app"))
    plan = project.plan_if_clear()
    assert plan is not None, "dpsync asks which space an entry is"
    assert {key: id for key, id in plan.bindings.items() if key in EXPECTED_IDS} == EXPECTED_IDS
    assert plan.empty


def test_spaces_in_only_declared_section_match_by_path(project: Project) -> None:
    plan = project.holds(**organization_with_versions()).write(configuration_of("app")).plan_if_clear()
    assert plan is not None, "dpsync asks which space an entry is"
    assert plan.bindings["acme/spaces/app0"] == "app-v2"


def test_spaces_of_site_without_sections_match_by_path(project: Project) -> None:
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
    assert plan is not None, "dpsync asks which space an entry is"
    assert {key: plan.bindings[f"acme/spaces/{key}"] for key in VERSIONS} == {"v1": "api-v1", "v2": "api-v2"}


def test_new_spaces_with_equal_titles_are_created_once(project: Project) -> None:
    project.holds().write(configuration_of("api", "app"))
    assert project.plan_if_clear() is not None, "dpsync asks which space an entry is"
    project.converges()
    assert sorted(project.live("spaces").values()) == ["v1", "v1", "v2", "v2"]
    assert project.plan().empty


def test_renamed_spaces_are_matched_by_site_path(project: Project) -> None:
    project.holds(**organization_with_versions()).commit(configuration_of("api", "app"))
    project.write(configuration_of("api", "app", titles=("Version 2", "v1")))
    plan = project.plan_if_clear()
    assert plan is not None, "dpsync asks which space an entry is"
    changed = {change.id for change in plan.changes}
    assert changed == {"api-v2", "app-v2"}


def test_identity_question_lists_sites_showing_each_candidate_space(project: Project) -> None:
    again = {"type": "space", "id": "again", "space": "app-v2", "path": "app"}
    other = {"id": "other", "title": "Other", "structure": [again]}
    live = organization_with_versions()
    live["sites"].append(other)
    project.holds(**live).write(configuration_of("api", paths=("next", "last")))
    with pytest.raises(DiagnosticError) as asked:
        project.plan()
    (first, _) = asked.value.findings
    assert {one.id: one.shown_in for one in first.candidates} == {
        "api-v2": ("acme/sites/docs (api/v2)",),
        "app-v2": ("acme/sites/docs (app/v2)", '"Other"'),
    }


def test_unrecorded_space_with_shared_title_is_ambiguous(project: Project) -> None:
    """Before a site shows the created space, either entry can be that space."""
    project.holds().write(configuration_of("api", "app"))
    assert project.dies(1, "after")
    with pytest.raises(DiagnosticError) as asked:
        project.plan()
    assert {one.code for one in asked.value.findings} == {"DP302"}
    (created,) = (id for id, title in project.live("spaces").items() if title == "v2")
    text = configuration_of("api", "app").replace("api0: { title: v2", f"api0: {{ id: {created}, title: v2")
    project.write(text).converges()
    assert sorted(project.live("spaces").values()) == ["v1", "v1", "v2", "v2"]
