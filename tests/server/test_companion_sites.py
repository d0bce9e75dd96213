"""Sites: creation, settings, publication, visitor schema, deletion."""

from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from companion_calls import Api
from covers import covers

SITES = "/orgs/acme/sites"


@covers("listSites", 200)
def test_sites_are_listed_and_filtered(api: Api) -> None:
    assert api.ids(SITES) == ["docs", "help", "internal-handbook"]
    assert api.ids(SITES, space="news") == ["docs"]
    assert api.ids(SITES, space="none") == []
    assert api.ids(SITES, title="DOC") == ["docs"]
    assert api.ids(SITES, published=False) == ["internal-handbook"]
    assert api.ids(SITES, published=True, title="CENT") == ["help"]


@covers("createSite", 201)
@covers("getSiteById", 200)
def test_new_site_is_unpublished_with_given_spaces(api: Api) -> None:
    body = {"type": "premium", "title": "Docs", "visibility": "unlisted", "spaces": ["news", "guides"]}
    made = api.make(SITES, body)
    assert (made["basename"], made["published"], made["siteSpaces"]) == ("docs-2", False, 2)
    assert (made["type"], made["visibility"]) == ("premium", "unlisted")
    assert "published" not in made["urls"]
    shown = api.items(f"{SITES}/{made['id']}/site-spaces")
    assert [(place["space"]["id"], place["default"]) for place in shown] == [
        ("news", True),
        ("guides", False),
    ]
    assert api.get(f"{SITES}/{made['id']}") == made


@covers("createSite", 201, 404)
def test_site_create_needs_no_field_but_known_spaces(api: Api) -> None:
    made = api.make(SITES)
    assert (made["title"], made["type"], made["visibility"]) == ("Untitled", "basic", "public")
    api.refused(404, "POST", SITES, {"title": "Site", "spaces": ["guides", "manual"]})
    assert len(api.ids(SITES)) == 4


@covers("updateSiteById", 200)
def test_site_update_sets_and_clears_settings(api: Api) -> None:
    fields = {
        "title": "Other",
        "visibility": "share-link",
        "basename": "other",
        "agentsContext": "excluded",
        "adaptiveContent": {"enabled": True},
    }
    changed = api.patch(f"{SITES}/docs", {**fields, "proxy": "www.acme.example/docs/v1"})
    assert {key: changed[key] for key in fields} == fields
    assert changed["proxy"]["origin"] == "www.acme.example/docs/v1"
    assert changed["proxy"]["target"].startswith("https://")
    assert "proxy" not in api.patch(f"{SITES}/docs", {"proxy": None})
    assert api.get(f"{SITES}/docs")["title"] == "Other"


@pytest.mark.parametrize("text", ["a b", "a/b?c", "100%", "#", "über", "[x]", "a\\b"])
def test_published_urls_encode_any_basename_and_path(api: Api, text: str) -> None:
    site = api.patch(f"{SITES}/docs", {"basename": text})
    section = api.patch(f"{SITES}/docs/sections/docs-news", {"path": text})
    api.patch(f"{SITES}/docs/sections/docs-api", {"defaultSiteSpace": "docs-api-reference", "path": "api"})
    place = api.patch(f"{SITES}/docs/site-spaces/docs-api-changelog", {"path": text})
    assert (site["basename"], section["path"], place["path"]) == (text, text, text)
    segments = [
        unquote(part)
        for of in (site, section, place)
        for part in urlsplit(of["urls"]["published"]).path.strip("/").split("/")
    ]
    assert segments == [text, text, text, text, "api", text]


@covers("updateSiteById", 200, 409)
def test_site_basename_is_unique_within_organization(api: Api) -> None:
    api.refused(409, "PATCH", f"{SITES}/docs", {"basename": "help"})
    api.patch(f"{SITES}/docs", {"basename": "docs"})
    assert api.get("/orgs/globex/sites/globex-docs")["basename"] == "docs"


@covers("publishSite", 200)
@covers("unpublishSite", 200)
def test_published_urls_exist_while_site_is_published(api: Api) -> None:
    handbook = f"{SITES}/internal-handbook"
    published = api.post(f"{handbook}/publish")
    assert published["published"] is True
    assert published["urls"]["published"] == "https://acme.docs.example/handbook/"
    places = api.items(f"{handbook}/site-spaces")
    assert places[1]["urls"]["published"] == "https://acme.docs.example/handbook/start/"
    assert "published" not in api.post(f"{handbook}/unpublish")["urls"]
    assert all(place["urls"] == {} for place in api.items(f"{handbook}/site-spaces"))


@covers("deleteSiteById", 204)
@covers("getSiteById", 404)
def test_deleted_site_loses_navigation_and_default_content_role(api: Api) -> None:
    assert api.get("/orgs/acme")["defaultContent"] == {"type": "site", "site": "docs"}
    api.delete(f"{SITES}/docs")
    api.delete(f"{SITES}/docs")
    assert api.get("/orgs/acme")["defaultContent"] is None
    api.refused(404, "GET", f"{SITES}/docs")
    api.refused(404, "DELETE", f"{SITES}/docs/sections/docs-news")
    assert api.get("/spaces/guides")["visibility"] == "in-collection"


@covers("getSiteById", 404)
@covers("deleteSiteById", 204)
def test_site_of_other_organization_returns_404(api: Api) -> None:
    api.refused(404, "GET", "/orgs/globex/sites/docs")
    api.delete("/orgs/globex/sites/docs")
    assert "docs" in api.ids(SITES)


BOOLEANS = {"type": "object", "properties": {"a": {"type": "boolean"}}, "additionalProperties": False}


@covers("getSiteAdaptiveSchema", 200, 404)
@covers("updateSiteAdaptiveSchema", 200)
@covers("listSiteAdaptiveTemplateConditions", 200)
def test_visitor_schema_returns_404_until_set(api: Api) -> None:
    path = f"{SITES}/docs/adaptive-schema"
    api.refused(404, "GET", path)
    assert api.get(f"{path}/template-conditions") == {"items": []}
    written = api.put(path, {"jsonSchema": BOOLEANS})
    assert api.get(path) == written
    assert written["jsonSchema"] == BOOLEANS
    assert api.get(f"{path}/template-conditions")["items"] == [
        {"description": "a", "condition": "visitor.claims.a"}
    ]


@covers("listSiteAdaptiveTemplateConditions", 200)
def test_visitor_schema_conditions_cover_every_boolean_claim(api: Api) -> None:
    path = f"{SITES}/internal-handbook/adaptive-schema"
    conditions = [item["condition"] for item in api.get(f"{path}/template-conditions")["items"]]
    assert conditions == [
        "visitor.claims.isEmployee",
        "visitor.claims.isBetaUser",
        "visitor.claims.unsigned.isReturning",
    ]


@covers("updateSiteAdaptiveSchema", 200)
@pytest.mark.parametrize(
    "claim",
    [
        {"type": "string", "description": "d"},
        {"type": "string", "enum": ["a", "b"]},
        {"type": "number"},
        {"type": "array", "items": {"type": "string"}},
        {"type": "object", "properties": {"b": {"type": "boolean"}}},
    ],
)
def test_visitor_schema_accepts_every_claim_type(api: Api, claim: Any) -> None:
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {"a": claim},
        "additionalProperties": False,
    }
    path = f"{SITES}/docs/adaptive-schema"
    assert api.put(path, {"jsonSchema": schema})["jsonSchema"] == schema
    assert len(api.get(f"{path}/template-conditions")["items"]) == 1


@covers("updateSiteAdaptiveSchema", 400)
@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "string"},
        {"properties": {}, "additionalProperties": False},
        {"type": "object", "additionalProperties": False},
        {"type": "object", "properties": {}},
        {**BOOLEANS, "properties": []},
        {**BOOLEANS, "properties": {"a": {}}},
        {**BOOLEANS, "properties": {"a": True}},
        {**BOOLEANS, "properties": {"a": {"type": "null"}}},
        {**BOOLEANS, "properties": {"a": {"type": ["boolean"]}}},
        {**BOOLEANS, "properties": {"unsigned": {"type": "object", "properties": {"b": 1}}}},
        {**BOOLEANS, "additionalProperties": True},
        {**BOOLEANS, "additionalProperties": None},
    ],
)
def test_invalid_visitor_schema_is_refused(api: Api, schema: Any) -> None:
    message = api.refused(400, "PUT", f"{SITES}/docs/adaptive-schema", {"jsonSchema": schema})
    assert message.startswith("body.jsonSchema")


@covers("listSites", 200, 400)
def test_sites_are_filtered_by_type(api: Api) -> None:
    assert api.ids("/orgs/globex/sites", type="ultimate") == ["globex-safety"]
    assert len(api.ids("/orgs/globex/sites", type=["ultimate", "basic"])) == 4
    api.refused(400, "GET", SITES, params={"type": "free"})


@covers("createSite", 400)
@covers("updateSiteById", 400)
def test_invalid_site_fields_are_refused(api: Api) -> None:
    for body in ({"title": "x"}, {"title": "x" * 129}, {"visibility": "private"}):
        api.refused(400, "POST", SITES, body)
        api.refused(400, "PATCH", f"{SITES}/docs", body)
    api.refused(400, "POST", SITES, {"type": "free"})
    for proxy in (
        "acme.example", "acme.example/", "/docs", "acme.example/docs/", "acme.example//docs", "a..b/docs",
        "acme.example/docs?x", "acme.example/docs#x", "acme.example/do cs", "https://acme.example/docs",
        f"acme.example/{'x' * 512}",
    ):  # fmt: skip
        api.refused(400, "PATCH", f"{SITES}/docs", {"proxy": proxy})
    for body in ({"basename": ""}, {"basename": "x" * 101}, {"agentsContext": "some"}):
        api.refused(400, "PATCH", f"{SITES}/docs", body)


@pytest.mark.parametrize("proxy", ["intranet/docs", "acme.example/docs/v1.2", "docs.acme.example/a.b/_c/~d"])
def test_site_proxy_accepts_any_host_and_path(api: Api, proxy: str) -> None:
    assert api.patch(f"{SITES}/docs", {"proxy": proxy})["proxy"]["origin"] == proxy


def test_site_with_proxy_is_published_at_proxy_url(api: Api) -> None:
    changed = api.patch(f"{SITES}/docs", {"proxy": "www.acme.example/docs"})
    assert changed["urls"]["published"] == "https://www.acme.example/docs/"
    assert (
        api.items(f"{SITES}/docs/sections")[1]["urls"]["published"] == "https://www.acme.example/docs/news/"
    )


@pytest.mark.parametrize(
    "fields",
    [
        {"icon": {"icon": {"light": "https://a.example/l", "dark": "https://a.example/d"}}},
        {"icon": {}},
        {"icon": "emoji"},
        {"hostname": "docs.acme.example"},
        {"ads": {"status": "pending", "submittable": True}},
        {"ads": {"status": "in-review", "topic": "webdev"}},
        {"ads": {"status": "rejected", "reason": "too small"}},
        {"ads": {"status": "live", "topic": "crypto", "zoneId": "z1"}},
    ],
)
def test_site_returns_fields_settable_only_in_server_data(api: Api, builtin_world: Any, fields: Any) -> None:
    acme = builtin_world["organizations"][0]
    sites = [{**acme["sites"][0], **fields}, *acme["sites"][1:]]
    api.server.reset({**builtin_world, "organizations": [{**acme, "sites": sites}]})
    shown = api.get(f"{SITES}/docs")
    assert {field: shown[field] for field in fields} == fields


def test_site_default_level_applies_to_members_without_grant(api: Api) -> None:
    docs, kim, lin = f"{SITES}/docs", api.as_("kim-token"), api.as_("lin-token")
    assert api.get(docs)["defaultLevel"] == "inherit"
    assert kim.get(docs)["permissions"]["edit"] is False
    kim.refused(403, "PATCH", docs, {"title": "Kim's"})
    assert api.patch(docs, {"defaultLevel": "admin"})["defaultLevel"] == "admin"
    assert kim.get(docs)["permissions"]["edit"] is True
    assert kim.patch(docs, {"title": "Kim's"})["title"] == "Kim's"
    api.patch(docs, {"defaultLevel": None})
    lin.refused(404, "GET", docs)
    assert "docs" not in lin.ids(SITES)
    assert "docs" in api.ids(SITES)


@covers("deleteSiteById", 204, 403)
def test_site_delete_requires_site_admin(api: Api) -> None:
    site = "/orgs/globex/sites/globex-docs"
    api.as_("homer-token").refused(403, "DELETE", site)
    api.as_("homer-token").refused(403, "DELETE", "/orgs/globex/sites/none")
    api.as_("lenny-token").delete(site)
    api.refused(404, "GET", site)
    api.delete(site)


def test_deleting_site_deletes_all_its_records(api: Api) -> None:
    before = api.server.run_in_server(api.app.store.all_records)
    site = "/orgs/globex/sites/globex-safety"
    assert any(record.scope == "globex-safety" for record in before)
    api.patch(f"{site}/publishing/auth", {"backend": "integration"})
    api.make(f"{site}/share-links", {"name": "Press"})
    api.put(f"{site}/adaptive-schema", {"jsonSchema": BOOLEANS})
    api.delete(site)
    left = api.server.run_in_server(api.app.store.all_records)
    assert [record for record in left if "globex-safety" in (record.id, record.scope)] == []


def test_exported_server_data_reloads_with_same_sites(api: Api) -> None:
    paths = (
        "/orgs/globex/translations-glossary",
        "/orgs/globex/openapi/reactor/versions",
        "/orgs/globex/sites/globex-safety/redirects",
        "/orgs/globex/sites/globex-partners/share-links",
    )
    lists = [api.items(path) for path in paths]
    shown = api.get("/orgs/globex/sites/globex-safety/published")
    structure = api.get("/orgs/globex/sites/globex-safety/structure")
    auth = api.post("/orgs/globex/sites/globex-staff/publishing/auth/regenerate")
    text = api.call("GET", "/orgs/globex/openapi/reactor/versions/latest/content/raw").text
    api.server.reset(api.state())
    assert [api.items(path) for path in paths] == lists
    assert api.get("/orgs/globex/sites/globex-safety/published") == shown
    assert api.get("/orgs/globex/sites/globex-safety/structure") == structure
    assert api.get("/orgs/globex/sites/globex-staff/publishing/auth") == auth
    assert api.call("GET", "/orgs/globex/openapi/reactor/versions/latest/content/raw").text == text


def test_builtin_server_data_publishes_sites_of_every_visibility(api: Api) -> None:
    sites = [*api.items(SITES, published=True), *api.items("/orgs/globex/sites", published=True)]
    assert {site["visibility"] for site in sites} == {"public", "unlisted", "share-link", "visitor-auth"}


@pytest.mark.parametrize("organization", ["acme", "globex"])
def test_member_site_count_matches_sites_member_can_list(
    api: Api, builtin_world: Any, organization: str
) -> None:
    tokens = {user: token for token, user in builtin_world["tokens"].items()}
    sites = f"/orgs/{organization}/sites"
    first = api.ids(sites)[0]
    guest = next(one["id"] for one in api.items(f"/orgs/{organization}/members") if one["role"] is None)
    api.ok("POST", f"{sites}/{first}/permissions", {"users": [guest], "role": "read"}, 204)
    api.patch(f"{sites}/{first}", {"defaultLevel": None})
    told = {one["id"]: one["sites"] for one in api.items(f"/orgs/{organization}/members")}
    seen = {user: api.as_(tokens[user]).call("GET", sites).json() for user in told if user in tokens}
    assert {user: len(found["items"]) if "items" in found else 0 for user, found in seen.items()} == {
        user: told[user] for user in seen
    }
