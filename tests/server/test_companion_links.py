"""External links: nodes of the navigation beside sections and groups."""

from typing import Any

from companion_calls import Api
from covers import covers

DOCS = "/orgs/acme/sites/docs"
HELP = "/orgs/acme/sites/help"
STATUS = {"title": "Status", "url": "https://status.acme.example/"}


def shown(api: Api, site: str = DOCS) -> list[Any]:
    return [node["id"] for node in api.get(f"{site}/structure")["structure"]]


@covers("createSiteExternalLink", 201)
def test_new_external_link_is_last_among_siblings(api: Api) -> None:
    more = {
        "description": "d",
        "icon": "x",
        "condition": "visitor.claims.a",
        "localizedTitle": {"fr": "État"},
    }
    made = api.make(f"{DOCS}/external-links", {**STATUS, **more})
    assert made == {"object": "site-external-link", "id": made["id"], **STATUS, **more, "draft": False}
    assert shown(api) == ["docs-guides", "docs-more", made["id"]]
    inner = api.make(f"{DOCS}/external-links", {**STATUS, "parent": "docs-more"})
    assert inner["sectionGroup"] == "docs-more"
    group = api.get(f"{DOCS}/structure")["structure"][1]
    assert [child["id"] for child in group["children"]] == ["docs-news", "docs-developers", inner["id"]]
    assert [section["id"] for section in group["sections"]] == ["docs-news"]
    assert api.ids(f"{DOCS}/sections") == ["docs-guides", "docs-news", "docs-api"]


@covers("createSiteExternalLink", 201)
def test_first_external_link_moves_site_spaces_into_section(api: Api) -> None:
    made = api.make(f"{HELP}/external-links", STATUS)
    section, link = api.get(f"{HELP}/structure")["structure"]
    assert [place["id"] for place in section["siteSpaces"]] == ["help-support", "help-archive"]
    assert link == made


def test_first_site_space_beside_links_gets_a_section(api: Api) -> None:
    site = f"/orgs/acme/sites/{api.make('/orgs/acme/sites', {'title': 'New'})['id']}"
    link = api.make(f"{site}/external-links", STATUS)
    assert api.get(f"{site}/structure")["type"] == "sections"
    made = api.make(f"{site}/site-spaces", {"spaceId": "news"})
    assert shown(api, site) == [link["id"], made["section"]]


@covers("updateSiteExternalLinkById", 200)
def test_external_link_update_changes_fields_and_group(api: Api) -> None:
    path = f"{DOCS}/external-links/{api.make(f'{DOCS}/external-links', {**STATUS, 'icon': 'x'})['id']}"
    changed = api.patch(path, {"title": "Up?", "url": "https://up.example/", "icon": None})
    assert (changed["title"], changed["url"], "icon" in changed) == ("Up?", "https://up.example/", False)
    assert api.patch(path, {"parent": "docs-developers"})["sectionGroup"] == "docs-developers"
    assert "sectionGroup" not in api.patch(path, {"parent": None})
    assert shown(api)[-1] == changed["id"]


@covers("deleteSiteExternalLinkById", 204)
def test_deleting_group_moves_its_external_links_up(api: Api) -> None:
    inner = api.make(f"{DOCS}/external-links", {**STATUS, "parent": "docs-more"})["id"]
    api.delete(f"{DOCS}/section-groups/docs-more")
    assert shown(api) == ["docs-guides", "docs-news", "docs-developers", inner]
    api.delete(f"{HELP}/external-links/{inner}")
    assert inner in shown(api)
    api.delete(f"{DOCS}/external-links/{inner}")
    api.delete(f"{DOCS}/external-links/{inner}")
    assert inner not in shown(api)


def test_external_link_can_be_sorted_among_siblings(api: Api) -> None:
    link = {"type": "site-external-link", "id": api.make(f"{DOCS}/external-links", STATUS)["id"]}
    guides = {"type": "site-section", "id": "docs-guides"}
    api.patch(f"{DOCS}/structure/sort", {"item": link, "position": {"before": guides}})
    assert shown(api) == [link["id"], "docs-guides", "docs-more"]
    before = {"before": {"type": "site-external-link", "siteExternalLink": link["id"]}}
    api.post(f"{DOCS}/section-groups/docs-more/move", {"position": before})
    assert shown(api) == ["docs-more", link["id"], "docs-guides"]
    api.post(f"{DOCS}/sections/docs-guides/move", {"position": {"before": link}})
    assert shown(api) == ["docs-more", "docs-guides", link["id"]]


@covers("createSiteExternalLink", 400, 404)
@covers("updateSiteExternalLinkById", 404)
def test_invalid_external_link_is_refused(api: Api) -> None:
    path = f"{DOCS}/external-links"
    api.refused(400, "POST", path, {"title": "Status"})
    api.refused(400, "POST", path, {**STATUS, "url": "status"})
    api.refused(404, "POST", path, {**STATUS, "parent": "docs-news"})
    api.refused(404, "PATCH", f"{path}/none", {})
    link = api.make(path, STATUS)["id"]
    api.refused(404, "PATCH", f"{HELP}/external-links/{link}", {"title": "Other"})
    api.refused(404, "PATCH", f"{path}/{link}", {"parent": "none"})


def test_reference_api_version_has_no_external_links(reference: Api) -> None:
    message = reference.refused(501, "POST", f"{DOCS}/external-links", STATUS)
    assert "does not have the operation" in message
    groups = reference.items("/orgs/globex/sites/globex-safety/section-groups")
    assert groups[0]["children"] == []  # a link, and a draft
