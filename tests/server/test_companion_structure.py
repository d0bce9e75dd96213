"""The navigation of a site: what every write does to sections, groups and site spaces."""

from typing import Any

import pytest
from companion_calls import Api
from covers import covers
from outlines import API, DOCS, GUIDES, HELP, NEWS, item, tree


@covers("getSiteStructure", 200)
def test_site_structure_is_an_ordered_tree(api: Api) -> None:
    assert tree(api) == [GUIDES, ("docs-more", [NEWS, ("docs-developers", [API])])]
    answer = api.get(f"{DOCS}/structure")
    assert answer["type"] == "sections"
    assert [section["id"] for section in answer["structure"][1]["sections"]] == ["docs-news"]
    assert api.get(f"{HELP}/structure")["type"] == "siteSpaces"


@covers("listSiteSections", 200)
@covers("listSiteSectionGroups", 200)
@covers("listSiteSpaces", 200)
def test_section_and_site_space_lists_follow_structure_order(api: Api) -> None:
    assert api.ids(f"{DOCS}/sections") == ["docs-guides", "docs-news", "docs-api"]
    assert api.ids(f"{DOCS}/section-groups") == ["docs-more", "docs-developers"]
    places = ["docs-guides-en", "docs-news-latest", "docs-api-reference", "docs-api-changelog"]
    assert api.ids(f"{DOCS}/site-spaces") == places
    assert api.ids(f"{DOCS}/site-spaces", default=True) == places[:3]
    assert api.ids(f"{DOCS}/site-spaces", default=False) == places[3:]
    assert api.ids(f"{DOCS}/site-spaces", shareKey="x") == places


# --- sections ----------------------------------------------------------------------------------------


@covers("addSectionToSite", 201)
def test_new_section_is_last_with_its_site_space(api: Api) -> None:
    made = api.make(f"{DOCS}/sections", {"spaceId": "handbook", "title": "Guides", "icon": "star"})
    assert (made["path"], made["title"], made["icon"]) == ("guides-2", "Guides", "star")
    assert [place["space"]["id"] for place in made["siteSpaces"]] == ["handbook"]
    assert made["siteSpaces"][0]["default"] is True
    assert made["default"] is False
    assert tree(api)[-1] == (made["id"], [made["siteSpaces"][0]["id"] + "*"])


def test_section_without_title_uses_space_title(api: Api) -> None:
    assert api.make(f"{DOCS}/sections", {"spaceId": "handbook", "title": None})["title"] == "Handbook"


def test_section_without_space_creates_new_space(api: Api) -> None:
    made = api.make(f"{DOCS}/sections", {"spaceId": None, "title": "Fresh"})
    assert made["siteSpaces"][0]["space"]["title"] == "Fresh"
    assert made["siteSpaces"][0]["space"]["id"] in api.ids("/orgs/acme/spaces")


def test_section_can_be_created_in_group(api: Api) -> None:
    made = api.make(f"{DOCS}/sections", {"spaceId": "handbook", "siteSectionGroupId": "docs-more"})
    assert made["sectionGroup"] == "docs-more"


@covers("addSectionToSite", 201)
def test_first_section_moves_flat_site_spaces_into_section(api: Api) -> None:
    made = api.make(f"{HELP}/sections", {"spaceId": "news"})
    first, second = api.get(f"{HELP}/structure")["structure"]
    assert (first["title"], first["default"]) == ("Help center", True)
    assert [place["id"] for place in first["siteSpaces"]] == ["help-support", "help-archive"]
    assert second["id"] == made["id"]
    assert second["default"] is False


def test_first_section_of_empty_site_is_default(api: Api) -> None:
    site = api.make("/orgs/acme/sites", {"title": "New"})
    made = api.make(f"/orgs/acme/sites/{site['id']}/sections", {"spaceId": "news"})
    assert made["default"] is True
    assert len(api.items(f"/orgs/acme/sites/{site['id']}/sections")) == 1


@covers("updateSiteSectionById", 200)
def test_section_update_sets_and_clears_fields(api: Api) -> None:
    path = f"{DOCS}/sections/docs-news"
    fields = {
        "title": "Latest",
        "path": "latest",
        "condition": "visitor.claims.a",
        "icon": "x",
        "description": "d",
    }
    changed = api.patch(path, fields)
    assert {key: changed[key] for key in fields} == fields
    cleared = api.patch(path, {"condition": None, "icon": None, "description": None})
    assert not cleared.keys() & {"condition", "icon", "description"}
    assert cleared["title"] == "Latest"


@covers("updateSiteSectionById", 200, 409)
def test_section_path_is_unique_within_site(api: Api) -> None:
    api.refused(409, "PATCH", f"{DOCS}/sections/docs-guides", {"path": "api"})
    assert api.patch(f"{DOCS}/sections/docs-guides", {"path": "guides"})["path"] == "guides"


@covers("deleteSiteSectionById", 204)
def test_deleting_default_section_promotes_first_remaining_section(api: Api) -> None:
    api.delete(f"{DOCS}/sections/docs-guides")
    api.delete(f"{DOCS}/sections/docs-guides")
    promoted = ("docs-news*", ["docs-news-latest*"])
    assert tree(api) == [("docs-more", [promoted, ("docs-developers", [API])])]
    assert api.get("/spaces/guides")["id"] == "guides"


@covers("updateSiteSectionById", 200)
@pytest.mark.parametrize(
    ("group", "expected"),
    [
        ("docs-developers", [("docs-more", [NEWS, ("docs-developers", [API, GUIDES])])]),
        ("docs-more", [("docs-more", [NEWS, ("docs-developers", [API]), GUIDES])]),
        (None, [GUIDES, ("docs-more", [NEWS, ("docs-developers", [API])])]),
    ],
)
def test_section_moves_to_end_of_group(api: Api, group: str | None, expected: list[Any]) -> None:
    api.patch(f"{DOCS}/sections/docs-guides", {"siteSectionGroupId": group})
    assert tree(api) == expected


def test_section_removed_from_group_moves_to_root_end(api: Api) -> None:
    section = api.patch(f"{DOCS}/sections/docs-api", {"siteSectionGroupId": None})
    assert "sectionGroup" not in section
    assert tree(api) == [GUIDES, ("docs-more", [NEWS, ("docs-developers", [])]), API]


# --- groups ------------------------------------------------------------------------------------------


@covers("addSectionGroupToSite", 201)
def test_new_group_takes_named_sections_in_order(api: Api) -> None:
    body = {"title": "New", "icon": "x", "sections": ["docs-api", "docs-guides"], "parent": "docs-more"}
    made = api.make(f"{DOCS}/section-groups", body)
    assert (made["title"], made["icon"], made["sectionGroup"]) == ("New", "x", "docs-more")
    assert tree(api) == [("docs-more", [NEWS, ("docs-developers", []), (made["id"], [API, GUIDES])])]


def test_first_group_moves_flat_site_spaces_into_section(api: Api) -> None:
    made = api.make(f"{HELP}/section-groups", {"title": "Group"})
    section, group = api.get(f"{HELP}/structure")["structure"]
    assert [place["id"] for place in section["siteSpaces"]] == ["help-support", "help-archive"]
    assert group["id"] == made["id"]


@covers("deleteSiteSectionGroupById", 204)
def test_deleting_group_moves_its_children_up(api: Api) -> None:
    api.patch(f"{DOCS}/sections/docs-guides", {"siteSectionGroupId": "docs-more"})
    api.make(f"{DOCS}/section-groups", {"title": "Last"})
    api.delete(f"{DOCS}/section-groups/docs-more")
    api.delete(f"{DOCS}/section-groups/docs-more")
    assert tree(api)[:3] == [NEWS, ("docs-developers", [API]), GUIDES]


@covers("addSectionToGroup", 201)
@covers("removeSectionFromGroup", 204)
def test_section_is_added_to_and_removed_from_group(api: Api) -> None:
    group = f"{DOCS}/section-groups/docs-more/sections"
    added = api.make(group, {"sectionId": "docs-guides"})
    assert [child["id"] for child in added["children"]] == ["docs-news", "docs-developers", "docs-guides"]
    api.delete(f"{group}/docs-news")
    api.delete(f"{group}/docs-news")
    assert tree(api) == [("docs-more", [("docs-developers", [API]), GUIDES]), NEWS]


@covers("updateSiteSectionGroupById", 200, 400)
def test_group_cannot_move_into_itself(api: Api) -> None:
    api.refused(400, "PATCH", f"{DOCS}/section-groups/docs-more", {"parentSectionGroupId": "docs-developers"})
    api.refused(400, "PATCH", f"{DOCS}/section-groups/docs-more", {"parentSectionGroupId": "docs-more"})
    api.patch(f"{DOCS}/section-groups/docs-developers", {"parentSectionGroupId": None})
    assert tree(api) == [GUIDES, ("docs-more", [NEWS]), ("docs-developers", [API])]
    api.patch(f"{DOCS}/section-groups/docs-developers", {"parentSectionGroupId": "docs-more", "icon": None})
    assert tree(api) == [GUIDES, ("docs-more", [NEWS, ("docs-developers", [API])])]


@covers("addSectionGroupToSite", 201, 400)
def test_too_deeply_nested_groups_are_refused(api: Api) -> None:
    parent, statuses = "docs-more", []
    for _ in range(60):
        answer = api.call("POST", f"{DOCS}/section-groups", {"title": "Deeper", "parent": parent})
        statuses.append(answer.status_code)
        parent = answer.json().get("id", parent)
    assert set(statuses) == {201, 400}
    api.get(f"{DOCS}/structure")


# --- site spaces -------------------------------------------------------------------------------------


@covers("addSpaceToSite", 201)
def test_site_space_goes_to_named_or_default_section(api: Api) -> None:
    assert (
        api.make(f"{DOCS}/site-spaces", {"spaceId": "news", "sectionId": "docs-api"})["section"] == "docs-api"
    )
    assert api.make(f"{DOCS}/site-spaces", {"spaceId": "news"})["section"] == "docs-guides"
    flat = api.make(f"{HELP}/site-spaces", {"spaceId": "support"})
    assert "section" not in flat
    assert (flat["path"], flat["title"], flat["default"]) == ("support-2", "Support", False)


def test_site_space_beside_groups_gets_own_section(api: Api) -> None:
    site = f"/orgs/acme/sites/{api.make('/orgs/acme/sites', {'title': 'New'})['id']}"
    api.make(f"{site}/section-groups", {"title": "Group"})
    made = api.make(f"{site}/site-spaces", {"spaceId": "news"})
    (section,) = api.items(f"{site}/sections")
    assert made["section"] == section["id"]
    assert section["title"] == "New"


@covers("updateSiteSpaceById", 200)
def test_site_space_update_sets_and_clears_fields(api: Api) -> None:
    path = f"{DOCS}/site-spaces/docs-news-latest"
    fields = {"path": "now", "condition": "visitor.claims.a", "spaceId": "archive", "hidden": True}
    changed = api.patch(path, fields)
    assert (changed["path"], changed["hidden"], changed["title"]) == ("now", True, "Archive")
    assert changed["space"]["id"] == "archive"
    assert "condition" not in api.patch(path, {"condition": None})


@covers("updateSiteSpaceById", 200, 409)
def test_site_space_path_is_unique_among_siblings(api: Api) -> None:
    api.refused(409, "PATCH", f"{DOCS}/site-spaces/docs-api-changelog", {"path": "reference"})
    api.patch(f"{DOCS}/site-spaces/docs-api-changelog", {"path": "en"})
    api.refused(409, "PATCH", f"{HELP}/site-spaces/help-archive", {"path": "support"})


@covers("deleteSiteSpaceById", 204)
def test_deleting_default_site_space_promotes_first_remaining(api: Api) -> None:
    api.delete(f"{DOCS}/site-spaces/docs-api-reference")
    api.delete(f"{DOCS}/site-spaces/docs-api-reference")
    assert tree(api)[1][1][1][1] == [("docs-api", ["docs-api-changelog*"])]
    api.delete(f"{HELP}/site-spaces/help-support")
    assert tree(api, HELP) == ["help-archive*"]


# --- defaults ----------------------------------------------------------------------------------------


@covers("updateSiteById", 200, 404)
def test_site_has_a_single_default_section(api: Api) -> None:
    api.patch(DOCS, {"defaultSiteSection": "docs-api"})
    assert [section["id"] for section in api.items(f"{DOCS}/sections") if section["default"]] == ["docs-api"]
    api.refused(404, "PATCH", DOCS, {"defaultSiteSection": "none"})


@covers("updateSiteById", 200, 400)
def test_site_default_space_must_be_in_default_section(api: Api) -> None:
    api.refused(400, "PATCH", DOCS, {"defaultSiteSpace": "docs-api-changelog"})
    api.patch(DOCS, {"defaultSiteSection": "docs-api", "defaultSiteSpace": "docs-api-changelog"})
    section = api.items(f"{DOCS}/sections")[2]
    assert [place["default"] for place in section["siteSpaces"]] == [False, True]
    api.patch(HELP, {"defaultSiteSpace": "help-archive"})
    assert tree(api, HELP) == ["help-support", "help-archive*"]


@covers("updateSiteSectionById", 200, 400, 404)
def test_section_default_site_space_must_be_its_own(api: Api) -> None:
    path = f"{DOCS}/sections/docs-api"
    changed = api.patch(path, {"defaultSiteSpace": "docs-api-changelog"})
    assert [place["default"] for place in changed["siteSpaces"]] == [False, True]
    api.refused(400, "PATCH", path, {"defaultSiteSpace": "docs-news-latest"})
    api.refused(404, "PATCH", path, {"defaultSiteSpace": "none"})


# --- refusals ---------------------------------------------------------------------------------------


@covers("addSectionToSite", 404)
@covers("updateSiteSectionById", 404)
@covers("addSectionGroupToSite", 404)
@covers("updateSiteSectionGroupById", 404)
@covers("addSectionToGroup", 404)
@covers("addSpaceToSite", 404)
@covers("updateSiteSpaceById", 404)
@covers("sortSiteStructure", 404)
def test_unknown_id_leaves_site_structure_unchanged(api: Api) -> None:
    before = api.get(f"{DOCS}/structure")
    for method, path, body in (
        ("POST", "sections", {"spaceId": "none"}),
        ("POST", "sections", {"spaceId": "manual"}),
        ("POST", "sections", {"spaceId": "news", "siteSectionGroupId": "none"}),
        ("PATCH", "sections/none", {}),
        ("PATCH", "sections/docs-news", {"siteSectionGroupId": "none"}),
        ("POST", "section-groups", {"title": "G", "sections": ["none"]}),
        ("POST", "section-groups", {"title": "G", "parent": "none"}),
        ("PATCH", "section-groups/none", {}),
        ("POST", "section-groups/none/sections", {"sectionId": "docs-news"}),
        ("POST", "section-groups/docs-more/sections", {"sectionId": "none"}),
        ("POST", "site-spaces", {"spaceId": "none"}),
        ("POST", "site-spaces", {"spaceId": "news", "sectionId": "none"}),
        ("PATCH", "site-spaces/none", {}),
        ("PATCH", "site-spaces/docs-news-latest", {"spaceId": "none"}),
        ("PATCH", "structure/sort", {"item": item("site-section", "none"), "position": {}}),
    ):
        api.refused(404, method, f"{DOCS}/{path}", body)
        assert api.get(f"{DOCS}/structure") == before


@covers("addSectionToSite", 400)
@covers("updateSiteSectionById", 400)
@covers("addSectionGroupToSite", 400)
@covers("updateSiteSectionGroupById", 400)
@covers("addSectionToGroup", 400)
@covers("addSpaceToSite", 400)
@covers("updateSiteSpaceById", 400)
@covers("sortSiteStructure", 400)
def test_invalid_structure_fields_are_refused(api: Api) -> None:
    for method, path, body in (
        ("POST", "sections", {}),
        ("POST", "sections", {"spaceId": "news", "title": "x"}),
        ("POST", "sections", {"spaceId": "news", "icon": "x" * 51}),
        ("PATCH", "sections/docs-news", {"title": "x" * 129}),
        ("PATCH", "sections/docs-news", {"path": ""}),
        ("PATCH", "sections/docs-news", {"path": "x" * 101}),
        ("PATCH", "sections/docs-news", {"condition": "x" * 1025}),
        ("PATCH", "sections/docs-news", {"description": "x" * 257}),
        ("POST", "section-groups", {"title": ""}),
        ("PATCH", "section-groups/docs-more", {"title": "x" * 101}),
        ("POST", "section-groups/docs-more/sections", {}),
        ("POST", "site-spaces", {}),
        ("PATCH", "site-spaces/docs-news-latest", {"path": ""}),
        ("PATCH", "site-spaces/docs-news-latest", {"condition": "x" * 1025}),
        ("PATCH", "site-spaces/docs-news-latest", {"hidden": None}),
        ("PATCH", "structure/sort", {"item": item("site-section", "docs-news")}),
    ):
        api.refused(400, method, f"{DOCS}/{path}", body)


def test_localized_texts_and_draft_flags_are_stored(api: Api) -> None:
    french = {"localizedTitle": {"fr": "Nouvelles"}, "localizedDescription": {"fr": "d"}, "draft": True}
    section = api.patch(f"{DOCS}/sections/docs-news", french)
    assert {field: section[field] for field in french} == french
    cleared = api.patch(f"{DOCS}/sections/docs-news", {"localizedTitle": None, "draft": False})
    assert ("localizedTitle" in cleared, cleared["draft"]) == (False, False)
    group = api.patch(f"{DOCS}/section-groups/docs-more", {"localizedTitle": {"fr": "Plus"}})
    assert group["localizedTitle"] == {"fr": "Plus"}
    body = {"spaceId": "news", "title": "All the news", "pageId": "page-1", "draft": True}
    place = api.make(f"{DOCS}/site-spaces", body)
    assert (place["title"], place["pageId"], place["draft"]) == ("All the news", "page-1", True)
    assert "pageId" not in api.patch(f"{DOCS}/site-spaces/{place['id']}", {"pageId": None})


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("", {"defaultSiteSection": "docs-api", "defaultSiteSpace": "docs-guides-en"}),
        ("/sections/docs-api", {"defaultSiteSpace": "docs-api-changelog", "siteSectionGroupId": "none"}),
    ],
)
def test_partly_refused_update_leaves_structure_unchanged(api: Api, path: str, body: Any) -> None:
    before = api.get(f"{DOCS}/structure")
    assert api.call("PATCH", DOCS + path, body).is_client_error
    assert api.get(f"{DOCS}/structure") == before


# --- drafts, with the profile of the reference, which has none ----------------------------------------


def with_drafts(world: dict[str, Any]) -> dict[str, Any]:
    """Return the world with drafts of every kind on the site `globex-safety`."""

    def section(id: str, space: str, **more: Any) -> dict[str, Any]:
        place = {"type": "space", "id": f"{id}-place", "space": space}
        return {"type": "section", "id": id, "title": id, "children": [place], **more}

    hidden = {"type": "space", "id": "draft-place", "space": "valves", "draft": True}
    shown = section("shown", "safety")
    shown["children"].append(hidden)
    group = {
        "type": "section-group", "id": "draft-group", "title": "Draft", "draft": True,
        "children": [section("in-draft", "manual")],
    }  # fmt: skip
    half = {
        "type": "section-group", "id": "half", "title": "Half",
        "children": [section("draft-section", "safety-de", draft=True), section("beside", "safety")],
    }  # fmt: skip
    acme, globex = world["organizations"]
    sites = [site for site in globex["sites"] if site["id"] == "globex-safety"]
    site = {**sites[0], "redirects": [], "structure": [shown, group, half]}
    return {**world, "organizations": [acme, {**globex, "sites": [site], "installations": []}]}


SAFETY = "/orgs/globex/sites/globex-safety"


def test_reference_api_version_hides_drafts_in_lists(reference: Api, builtin_world: dict[str, Any]) -> None:
    reference.server.reset(with_drafts(builtin_world))
    api = reference.as_("hank-token")
    sections = api.items(f"{SAFETY}/sections")
    assert [(one["id"], len(one["siteSpaces"])) for one in sections] == [("shown", 1), ("beside", 1)]
    groups = api.items(f"{SAFETY}/section-groups")
    assert [(one["id"], [child["id"] for child in one["children"]]) for one in groups] == [
        ("half", ["beside"])
    ]
    assert api.ids(f"{SAFETY}/site-spaces") == ["shown-place", "beside-place"]
    assert api.get(SAFETY)["siteSpaces"] == 2
    shown = [one["id"] for one in api.get(f"{SAFETY}/published")["structure"]["structure"]]
    assert shown == ["shown", "beside"]
    assert "draft" not in str(api.patch(f"{SAFETY}/sections/shown", {"title": "Renamed"}))


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PATCH", "sections/draft-section", {"title": "X is changed"}),
        ("PATCH", "sections/in-draft", {"title": "X is changed"}),
        ("PATCH", "section-groups/draft-group", {"title": "X"}),
        ("PATCH", "site-spaces/draft-place", {"hidden": True}),
        ("PATCH", "site-spaces/in-draft-place", {"hidden": True}),
        ("POST", "sections/draft-section/move", {"position": {}}),
        ("POST", "section-groups/half/sections", {"sectionId": "draft-section"}),
        ("PATCH", "", {"defaultSiteSection": "draft-section"}),
    ],
)
def test_reference_api_version_returns_404_for_drafts(
    reference: Api, builtin_world: dict[str, Any], method: str, path: str, body: Any
) -> None:
    reference.server.reset(with_drafts(builtin_world))
    api = reference.as_("hank-token")
    api.refused(404, method, f"{SAFETY}/{path}".rstrip("/"), body)
    for draft in ("sections/draft-section", "section-groups/draft-group", "site-spaces/draft-place"):
        before = api.state()
        api.delete(f"{SAFETY}/{draft}")
        assert api.state() == before


def test_path_of_hidden_draft_counts_as_taken(reference: Api, builtin_world: dict[str, Any]) -> None:
    reference.server.reset(with_drafts(builtin_world))
    api = reference.as_("hank-token")
    api.refused(409, "PATCH", f"{SAFETY}/sections/shown", {"path": "draft-section"})


@pytest.mark.parametrize("profile", ["api", "reference"])
def test_space_shown_only_by_drafts_stays_unpublished(
    request: pytest.FixtureRequest, builtin_world: dict[str, Any], profile: str
) -> None:
    """A space that only drafts show is as visible as before."""
    api: Api = request.getfixturevalue(profile)
    api.server.reset(with_drafts(builtin_world))
    api = api.as_("hank-token")
    for space in ("valves", "manual", "safety-de"):
        shown = api.get(f"/spaces/{space}")
        assert shown["visibility"] in ("private", "in-collection")
        assert not {"published", "public"} & shown["urls"].keys()
    assert api.get("/spaces/safety")["visibility"] == "unlisted"


def test_draft_navigation_item_has_no_published_url(api: Api, builtin_world: dict[str, Any]) -> None:
    api.server.reset(with_drafts(builtin_world))
    api = api.as_("hank-token")
    for kind in ("sections", "site-spaces"):
        urls = {one["id"]: one["urls"] for one in api.items(f"{SAFETY}/{kind}")}
        assert all(bool(url) != ("draft" in id) for id, url in urls.items())
