"""What visitors get of a site: its published profile, share links, the access of visitors, drafts."""

from typing import Any

import httpx
import pytest
from companion_calls import Api
from covers import covers

GLOBEX = "/orgs/globex/sites"
SAFETY = f"{GLOBEX}/globex-safety"
PARTNERS = f"{GLOBEX}/globex-partners"
STAFF = f"{GLOBEX}/globex-staff"
DOCS = "/orgs/acme/sites/docs"
KEY = "globex-partners-2026"


def published(api: Api, site: str, **query: Any) -> Any:
    return api.get(f"{site}/published", **query)


@covers("getPublishedContentSite", 200)
def test_published_site_contains_navigation_and_customization(api: Api) -> None:
    shown = published(api, DOCS)
    assert shown["object"] == "published-content-site"
    assert shown["site"] == api.get(DOCS)
    assert shown["structure"] == api.get(f"{DOCS}/structure")
    assert shown["customizations"]["site"] == api.get(f"{DOCS}/customization")
    places = {place["id"] for place in api.items(f"{DOCS}/site-spaces")}
    assert shown["customizations"]["siteSpaces"].keys() == places
    assert shown["scripts"] == []


@covers("getPublishedContentSite", 200)
def test_published_site_without_sections_includes_hidden_site_spaces(api: Api) -> None:
    structure = published(api, "/orgs/acme/sites/help")["structure"]
    assert structure["type"] == "siteSpaces"
    assert [(place["id"], place["hidden"]) for place in structure["structure"]] == [
        ("help-support", False),
        ("help-archive", True),
    ]


@covers("getPublishedContentSite", 404)
@covers("publishSite", 200)
@covers("unpublishSite", 200)
def test_unpublished_site_returns_404(api: Api) -> None:
    handbook = "/orgs/acme/sites/internal-handbook"
    api.refused(404, "GET", f"{handbook}/published")
    api.post(f"{handbook}/publish")
    assert published(api, handbook)["site"]["published"] is True
    api.post(f"{handbook}/unpublish")
    api.refused(404, "GET", f"{handbook}/published")


@covers("getPublishedContentSite", 200)
def test_reference_api_version_shows_published_sections_without_groups(reference: Api) -> None:
    shown = published(reference, DOCS)["structure"]
    assert shown["type"] == "sections"
    assert [node["id"] for node in shown["structure"]] == ["docs-guides", "docs-news", "docs-api"]
    assert shown["structure"][1]["sectionGroup"] == "docs-more"
    assert {node["object"] for node in shown["structure"]} == {"site-section"}


def test_published_site_omits_drafts_and_their_children(api: Api) -> None:
    ids = [node["id"] for node in published(api, SAFETY)["structure"]["structure"]]
    assert ids == ["safety-rules", "safety-more", "safety-jobs"]
    assert [child["id"] for child in group(api)["children"]] == ["safety-hotline"]
    api.patch(f"{SAFETY}/sections/safety-valves", {"draft": False})
    assert [child["id"] for child in group(api)["children"]] == ["safety-valves", "safety-hotline"]
    api.patch(f"{SAFETY}/site-spaces/safety-rules-de", {"draft": True})
    section = published(api, SAFETY)["structure"]["structure"][0]
    assert [place["id"] for place in section["siteSpaces"]] == ["safety-rules-en"]
    api.patch(f"{SAFETY}/section-groups/safety-more", {"draft": True})
    ids = [node["id"] for node in published(api, SAFETY)["structure"]["structure"]]
    assert ids == ["safety-rules", "safety-jobs"]
    assert group(api, "structure")["draft"] is True


def group(api: Api, what: str = "published") -> Any:
    answer = api.get(f"{SAFETY}/{what}")
    return (answer["structure"] if what == "published" else answer)["structure"][1]


def test_published_site_includes_scripts_of_active_integrations(api: Api) -> None:
    def scripts() -> Any:
        return published(api, DOCS)["scripts"]

    policy = "script-src https://count.example"
    scopes = ["site:script:inject", "site:script:cookies"]
    body = {"organization": "acme", "title": "Counter", "scopes": scopes, "contentSecurityPolicy": policy}
    api.post("/integrations/counter", body)
    path = "/integrations/counter/installations"
    installation = f"{path}/{api.make(path, {'organization': 'acme'})['id']}"
    api.patch(installation, {"site_selection": "selected"})
    assert scripts() == []
    endpoint = api.make(f"{installation}/sites", {"siteId": "docs"})["urls"]["publicEndpoint"]
    assert scripts() == [{"script": f"{endpoint}/script", "cookies": True, "contentSecurityPolicy": policy}]
    api.post("/integrations/counter", {**body, "scopes": []})
    assert scripts() == []


# --- share links ----------------------------------------------------------------------------------


@covers("getPublishedContentSite", 200, 404)
def test_share_link_site_requires_key_of_active_link(api: Api) -> None:
    api.refused(404, "GET", f"{PARTNERS}/published")
    api.refused(404, "GET", f"{PARTNERS}/published", params={"shareKey": "guessed"})
    api.refused(404, "GET", f"{PARTNERS}/published", params={"shareKey": "globex-fair-2025"})
    shown = published(api, PARTNERS, shareKey=KEY)
    home = f"https://globex.docs.example/partners/{KEY}/"
    assert shown["site"]["urls"]["published"] == home
    urls = [place["urls"]["published"] for place in shown["structure"]["structure"]]
    assert urls == [home, f"{home}valves/"]


@covers("createSiteShareLink", 201)
@covers("listSiteShareLinks", 200)
@covers("updateSiteShareLinkById", 200)
@covers("deleteSiteShareLinkById", 204)
def test_share_link_key_works_while_link_is_active(api: Api) -> None:
    made = api.make(f"{PARTNERS}/share-links", {"name": "Press"})
    assert api.items(f"{PARTNERS}/share-links")[-1] == made
    key = made["urls"]["published"].rstrip("/").rsplit("/", 1)[1]
    assert published(api, PARTNERS, shareKey=key)["site"]["urls"]["published"] == made["urls"]["published"]
    path = f"{PARTNERS}/share-links/{made['id']}"
    assert api.patch(path, {"active": False}) == {**made, "active": False}
    api.refused(404, "GET", f"{PARTNERS}/published", params={"shareKey": key})
    assert api.patch(path, {"active": True, "name": "Media"})["name"] == "Media"
    published(api, PARTNERS, shareKey=key)
    api.delete(path)
    api.delete(path)
    api.refused(404, "GET", f"{PARTNERS}/published", params={"shareKey": key})
    assert api.ids(f"{PARTNERS}/share-links") == ["partner-link", "fair-link"]


@covers("updateSiteShareLinkById", 404)
@covers("createSiteShareLink", 400)
def test_share_link_needs_name_and_belongs_to_site(api: Api) -> None:
    api.refused(400, "POST", f"{PARTNERS}/share-links", {})
    api.refused(400, "POST", f"{PARTNERS}/share-links", {"name": ""})
    api.refused(404, "PATCH", f"{STAFF}/share-links/partner-link", {"active": False})
    api.delete(f"{STAFF}/share-links/partner-link")
    assert api.ids(f"{PARTNERS}/share-links") == ["partner-link", "fair-link"]
    api.patch(STAFF, {"visibility": "share-link"})
    api.refused(404, "GET", f"{STAFF}/published", params={"shareKey": KEY})


@covers("listSiteSections", 200, 404)
@covers("listSiteSpaces", 200, 404)
def test_share_key_adds_published_urls_to_lists(api: Api) -> None:
    assert all(place["urls"] == {} for place in api.items(f"{PARTNERS}/site-spaces"))
    shared = api.items(f"{PARTNERS}/site-spaces", shareKey=KEY)
    assert [KEY in place["urls"]["published"] for place in shared] == [True, True]
    api.refused(404, "GET", f"{PARTNERS}/site-spaces", params={"shareKey": "guessed"})
    api.patch(SAFETY, {"visibility": "share-link"})
    made = api.make(f"{SAFETY}/share-links", {"name": "Press"})
    assert all(section["urls"] == {} for section in api.items(f"{SAFETY}/sections"))
    key = made["urls"]["published"].rstrip("/").rsplit("/", 1)[1]
    first = api.items(f"{SAFETY}/sections", shareKey=key)[0]
    assert first["urls"]["published"] == made["urls"]["published"]
    api.refused(404, "GET", f"{SAFETY}/sections", params={"shareKey": KEY})


def test_share_key_reveals_published_url_of_space(api: Api) -> None:
    api.patch(STAFF, {"visibility": "share-link"})
    api.delete(SAFETY)
    assert "published" not in api.get("/spaces/valves")["urls"]
    found = api.get("/spaces/valves", shareKey=KEY)
    assert found["visibility"] == "share-link"
    assert found["urls"]["published"] == f"https://globex.docs.example/partners/{KEY}/valves/"


def test_public_site_ignores_share_key(api: Api) -> None:
    assert (
        published(api, DOCS, shareKey="x")["site"]["urls"]["published"] == api.get(DOCS)["urls"]["published"]
    )


# --- authenticated visitors -----------------------------------------------------------------------


@covers("getSitePublishingAuthById", 200)
@covers("updateSitePublishingAuthById", 200, 400)
@covers("regenerateSitePublishingAuthById", 200)
def test_visitor_auth_key_changes_only_by_regeneration(api: Api) -> None:
    auth = f"{STAFF}/publishing/auth"
    before = api.get(auth)
    assert (before["backend"], before["fallbackURL"]) == ("custom", "https://login.globex.example/")
    changed = api.patch(
        auth, {"backend": "integration", "fallbackURL": None, "logoutURL": "https://out.example/"}
    )
    assert changed["privateKey"] == before["privateKey"]
    assert "fallbackURL" not in changed
    renewed = api.post(f"{auth}/regenerate")
    assert renewed["privateKey"] not in (
        before["privateKey"],
        api.get(f"{DOCS}/publishing/auth")["privateKey"],
    )
    assert api.get(auth) == renewed == {**changed, "privateKey": renewed["privateKey"]}
    api.refused(400, "PATCH", auth, {"fallbackURL": None})
    api.refused(400, "PATCH", auth, {"backend": "none"})


def test_world_visitor_auth_key_lasts_until_regenerated(api: Api, builtin_world: Any) -> None:
    acme = builtin_world["organizations"][0]
    given = [{**site, "visitorAuth": {"privateKey": "k" * 40}} for site in acme["sites"]]
    api.server.reset({**builtin_world, "organizations": [{**acme, "sites": given}]})
    auth = f"{DOCS}/publishing/auth"
    assert api.get(auth)["privateKey"] == "k" * 40
    assert api.post(f"{auth}/regenerate")["privateKey"] != "k" * 40


@covers("getSitePublishingAuthById", 403)
@covers("listSiteShareLinks", 403)
def test_share_links_and_auth_keys_require_site_admin(api: Api) -> None:
    lin = api.as_("lin-token")
    lin.refused(403, "GET", f"{DOCS}/publishing/auth")
    lin.refused(403, "GET", f"{DOCS}/share-links")


# --- minimal answers ------------------------------------------------------------------------------

MINIMAL = {"Prefer": "return=minimal"}


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "sections", {"spaceId": "valves"}),
        ("PATCH", "sections/safety-rules", {"title": "Changed"}),
        ("POST", "section-groups", {"title": "New"}),
        ("PATCH", "section-groups/safety-more", {"title": "Changed"}),
        ("POST", "site-spaces", {"spaceId": "manual"}),
        ("PATCH", "site-spaces/safety-rules-en", {"path": "changed"}),
        ("POST", "external-links", {"title": "New", "url": "https://new.example/"}),
        ("PATCH", "external-links/safety-jobs", {"title": "Changed"}),
        ("PATCH", "structure/sort", {"item": {"type": "site-section", "id": "safety-rules"}, "position": {}}),
    ],
)
def test_minimal_preference_on_site_write_returns_204(api: Api, method: str, path: str, body: Any) -> None:
    before = api.get(f"{SAFETY}/structure")
    answer = api.call(method, f"{SAFETY}/{path}", body, headers=MINIMAL)
    assert (answer.status_code, answer.content) == (204, b"")
    assert api.get(f"{SAFETY}/structure") != before


def test_minimal_preference_does_not_change_refusals_or_creates(api: Api, reference: Api) -> None:
    api.refused(404, "PATCH", f"{SAFETY}/sections/none", {}, headers=MINIMAL)
    path = f"{SAFETY}/sections/safety-rules"
    assert reference.ok("PATCH", path, {"title": "Changed"}, headers=MINIMAL)["title"] == "Changed"
    created: httpx.Response = api.call("POST", GLOBEX, {"title": "Other"}, headers=MINIMAL)
    assert created.status_code == 201


def test_openapi_document_declares_minimal_and_raw_responses(api: Api, reference: Api) -> None:
    path = "/orgs/{organizationId}/sites/{siteId}/sections/{siteSectionId}"
    patch = api.get("/openapi.json")["paths"][path]["patch"]
    assert {"200", "204"} <= patch["responses"].keys()
    assert "Prefer" in [parameter["name"] for parameter in patch["parameters"]]
    plain = reference.get("/openapi.json")["paths"][path]["patch"]
    assert "204" not in plain["responses"]
    assert "Prefer" not in [parameter["name"] for parameter in plain["parameters"]]
    raw = "/orgs/{organizationId}/openapi/{specSlug}/versions/latest/content/raw"
    content = api.get("/openapi.json")["paths"][raw]["get"]["responses"]["200"]["content"]
    assert content.keys() == {"application/json", "application/yaml"}
