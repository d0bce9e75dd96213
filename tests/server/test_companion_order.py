"""The order of siblings in the navigation of a site: sorting and moving."""

from typing import Any

import pytest
from companion_calls import Api
from covers import covers
from outlines import DOCS, GUIDES, NEWS, item, tree


@covers("sortSiteStructure", 200)
def test_navigation_siblings_are_sorted_by_position(api: Api) -> None:
    group, guides = item("site-section-group", "docs-more"), item("site-section", "docs-guides")
    for position, expected in [
        ({"before": guides}, ["docs-more", "docs-guides"]),
        ({"after": guides}, ["docs-guides", "docs-more"]),
        ({"before": guides}, ["docs-more", "docs-guides"]),
        ({}, ["docs-guides", "docs-more"]),
        ({}, ["docs-guides", "docs-more"]),
    ]:
        sorted_item = api.patch(f"{DOCS}/structure/sort", {"item": group, "position": position})
        assert sorted_item["id"] == "docs-more"
        assert [node["id"] for node in api.get(f"{DOCS}/structure")["structure"]] == expected


@covers("sortSiteStructure", 200)
def test_site_spaces_and_groups_are_sorted(api: Api) -> None:
    changelog, reference = item("site-space", "docs-api-changelog"), item("site-space", "docs-api-reference")
    api.patch(f"{DOCS}/structure/sort", {"item": changelog, "position": {"before": reference}})
    developers, news = item("site-section-group", "docs-developers"), item("site-section", "docs-news")
    api.patch(f"{DOCS}/structure/sort", {"item": developers, "position": {"before": news}})
    sections = [("docs-api", ["docs-api-changelog", "docs-api-reference*"])]
    assert tree(api)[1] == ("docs-more", [("docs-developers", sections), NEWS])


@pytest.mark.parametrize(
    ("status", "sorted_item", "position"),
    [
        (400, item("site-section", "docs-news"), {"after": item("site-section", "docs-guides")}),
        (400, item("site-section", "docs-news"), {"after": item("site-section", "docs-news")}),
        (400, item("site-section", "docs-news"), {"after": item("site-section", "docs-developers")}),
        (400, item("site-section", "docs-news"), {"after": item("site-section", "none")}),
        (400, item("site-section", "docs-news"), {"after": {"type": "page", "id": "x"}}),
        (
            400,
            item("site-section", "docs-news"),
            {
                "before": item("site-section-group", "docs-developers"),
                "after": item("site-section-group", "docs-developers"),
            },
        ),
        (404, item("site-section", "none"), {}),
        (404, item("site-section-group", "docs-news"), {}),
    ],
)
def test_invalid_navigation_sort_is_refused(api: Api, status: int, sorted_item: Any, position: Any) -> None:
    api.refused(status, "PATCH", f"{DOCS}/structure/sort", {"item": sorted_item, "position": position})


@covers("moveSiteSection", 200)
@covers("moveSiteSectionGroup", 200)
@covers("moveSiteSpace", 200)
def test_sections_groups_and_site_spaces_can_be_moved(api: Api) -> None:
    api.patch(f"{DOCS}/sections/docs-news", {"siteSectionGroupId": None})
    guides = {"type": "site-section", "siteSection": "docs-guides"}
    api.post(f"{DOCS}/sections/docs-news/move", {"position": {"before": guides}})
    group = {"position": {"before": item("site-section", "docs-guides")}}
    assert api.post(f"{DOCS}/section-groups/docs-more/move", group)["id"] == "docs-more"
    reference = {"type": "site-space", "siteSpace": "docs-api-reference"}
    api.post(f"{DOCS}/site-spaces/docs-api-changelog/move", {"position": {"before": reference}})
    api.post(f"{DOCS}/sections/docs-news/move", {"position": {}})
    section = ("docs-api", ["docs-api-changelog", "docs-api-reference*"])
    assert tree(api) == [("docs-more", [("docs-developers", [section])]), GUIDES, NEWS]


@covers("moveSiteSection", 409)
@covers("moveSiteSpace", 409)
@covers("moveSiteSectionGroup", 409)
def test_navigation_move_without_change_returns_409(api: Api) -> None:
    for what in ("sections/docs-api", "site-spaces/docs-guides-en", "section-groups/docs-more"):
        api.refused(409, "POST", f"{DOCS}/{what}/move", {"position": {}})
        api.refused(409, "POST", f"{DOCS}/{what}/move")


@covers("moveSiteSection", 400, 404)
@covers("moveSiteSectionGroup", 400, 404)
@covers("moveSiteSpace", 400, 404)
def test_invalid_navigation_move_returns_400_or_404(api: Api) -> None:
    far = {"position": {"before": {"type": "site-section", "siteSection": "docs-guides"}}}
    api.refused(400, "POST", f"{DOCS}/sections/docs-api/move", far)
    api.refused(
        400, "POST", f"{DOCS}/sections/docs-api/move", {"position": {"before": {"type": "site-section"}}}
    )
    api.refused(400, "POST", f"{DOCS}/section-groups/docs-developers/move", far)
    api.refused(400, "POST", f"{DOCS}/site-spaces/docs-api-changelog/move", far)
    api.refused(404, "POST", f"{DOCS}/sections/none/move", far)
    api.refused(404, "POST", f"{DOCS}/section-groups/none/move", far)
    api.refused(404, "POST", f"{DOCS}/site-spaces/none/move", far)
