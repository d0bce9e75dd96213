"""Redirects: one per source, to somewhere on the site or elsewhere."""

from typing import Any

import pytest
from companion_calls import Api
from covers import covers

from dpsync.server.spaces.revisions import empty_content

SITE = "/orgs/acme/sites/docs"
REDIRECTS = f"{SITE}/redirects"
SAFETY = "/orgs/globex/sites/globex-safety"
NEWS = {"kind": "site-section", "siteSectionId": "docs-news"}
GUIDE = {"kind": "site-space", "siteSpaceId": "docs-guides-en"}
NOW = "2026-01-01T00:00:00.000Z"
OUT = {"kind": "external", "url": "https://out.example/"}


def make(api: Api, source: str, destination: Any = OUT, **more: Any) -> Any:
    return api.make(REDIRECTS, {"source": source, "destination": destination, **more})


def with_pages(api: Api, world: dict[str, Any]) -> None:
    """Load the built-in world with a page `about/team` in the space `support`, and show it in the docs."""
    team = {"id": "team-page", "title": "Team", "type": "document", "slug": "team", "pages": []}
    about = {"id": "about-page", "title": "About", "type": "document", "slug": "about", "pages": [team]}
    revision = {
        "kind": "revision",
        "id": "rev-support",
        "organization": "acme",
        "scope": "support",
        "doc": {"type": "edits", "createdAt": NOW, "parents": [], **empty_content(), "pages": [about]},
    }
    api.server.reset({**world, "records": [*world.get("records", []), revision]})
    api.make(f"{SITE}/site-spaces", {"spaceId": "support"})


@covers("createSiteRedirect", 201)
@covers("updateSiteRedirectById", 200)
@covers("deleteSiteRedirectById", 204)
def test_redirect_is_created_changed_and_deleted(api: Api) -> None:
    made = make(api, "/old", NEWS)
    assert (made["source"], made["destination"]) == ("/old", NEWS)
    assert (made["captureWildcard"], made["permanent"], made["draft"]) == (False, False, False)
    api.clock.pass_by(hours=1)
    path = f"{REDIRECTS}/{made['id']}"
    changed = api.patch(path, {"source": "/older", "destination": GUIDE, "permanent": True})
    assert (changed["source"], changed["destination"], changed["permanent"]) == ("/older", GUIDE, True)
    assert changed["createdAt"] == made["createdAt"] < changed["updatedAt"]
    assert api.items(REDIRECTS) == [changed]
    api.delete(path)
    api.delete(path)
    assert api.items(REDIRECTS) == []


@covers("createSiteRedirect", 409)
@covers("updateSiteRedirectById", 409, 404)
def test_redirect_source_is_unique_within_site(api: Api) -> None:
    first, second = make(api, "/a"), make(api, "/b")
    api.refused(409, "POST", REDIRECTS, {"source": "/a", "destination": NEWS})
    api.refused(409, "PATCH", f"{REDIRECTS}/{second['id']}", {"source": "/a"})
    api.patch(f"{REDIRECTS}/{first['id']}", {"source": "/a"})
    api.make("/orgs/acme/sites/help/redirects", {"source": "/a", "destination": OUT})
    api.refused(404, "PATCH", f"/orgs/acme/sites/help/redirects/{first['id']}", {"source": "/c"})
    assert [item["source"] for item in api.items(REDIRECTS)] == ["/a", "/b"]


@covers("listSiteRedirects", 200, 400)
def test_redirect_list_is_filtered_and_sorted(api: Api) -> None:
    for source in ("/zoo", "/ape", "/Zebra"):
        make(api, source, draft=source == "/ape")

    def sources(**query: Any) -> list[str]:
        return [item["source"] for item in api.items(REDIRECTS, limit=1, **query)]

    assert sources() == ["/zoo", "/ape", "/Zebra"]
    assert sources(search="Z") == ["/zoo", "/Zebra"]
    assert sources(draft=True) == ["/ape"]
    assert sources(orderBy="source") == ["/Zebra", "/ape", "/zoo"]
    api.clock.pass_by(hours=1)
    api.patch(f"{REDIRECTS}/{api.ids(REDIRECTS, search='zoo')[0]}", {"permanent": True})
    assert sources(orderBy="updatedAt") == ["/ape", "/Zebra", "/zoo"]
    api.refused(400, "GET", REDIRECTS, params={"orderBy": "colour"})


@covers("createSiteRedirect", 404, 400)
@pytest.mark.parametrize(
    ("status", "destination"),
    [
        (404, {"kind": "site-section", "siteSectionId": "handbook-people"}),
        (404, {"kind": "site-space", "siteSpaceId": "help-support"}),
        (404, {"kind": "site-page", "siteSpaceId": "docs-guides-en", "pageId": "none"}),
        (404, {"kind": "path", "spaceId": "handbook", "path": ""}),
        (404, {"kind": "path", "spaceId": "guides", "path": "no/page"}),
        (400, {"kind": "external", "url": "nowhere"}),
        (400, {"kind": "site-section"}),
        (400, {"kind": "elsewhere"}),
        (400, None),
    ],
)
def test_redirect_to_invalid_destination_is_refused(api: Api, status: int, destination: Any) -> None:
    api.refused(404, "POST", REDIRECTS, {"source": "/x", "destination": {**NEWS, "siteSectionId": "none"}})
    api.refused(400, "POST", REDIRECTS, {"source": "", "destination": NEWS})
    api.refused(status, "POST", REDIRECTS, {"source": "/x", "destination": destination})
    assert api.items(REDIRECTS) == []


def test_redirect_path_resolves_to_page_or_site_space(api: Api, builtin_world: Any) -> None:
    with_pages(api, builtin_world)
    place = api.ids(f"{SITE}/site-spaces", default=False)[0]
    made = make(api, "/team", {"kind": "path", "spaceId": "support", "path": "/about/team"})
    assert made["destination"] == {"kind": "site-page", "siteSpaceId": place, "pageId": "team-page"}
    assert make(api, "/team-2", made["destination"])["destination"] == made["destination"]
    home = make(api, "/help", {"kind": "path", "spaceId": "support", "path": "/"})
    assert home["destination"] == {"kind": "site-space", "siteSpaceId": place}


def test_deleting_section_or_space_deletes_its_redirects(api: Api) -> None:
    for source, destination in (("/news", NEWS), ("/guide", GUIDE), ("/out", OUT)):
        make(api, source, destination)
    latest = {"kind": "site-space", "siteSpaceId": "docs-news-latest"}
    make(api, "/latest", latest)
    api.delete(f"{SITE}/sections/docs-news")
    assert [item["source"] for item in api.items(REDIRECTS)] == ["/guide", "/out"]
    api.delete("/spaces/guides")
    assert [item["source"] for item in api.items(REDIRECTS)] == ["/out"]


def test_retargeted_redirect_survives_deletion_of_old_target(api: Api) -> None:
    made = make(api, "/news", NEWS)
    api.patch(f"{REDIRECTS}/{made['id']}", {"destination": OUT})
    api.delete(f"{SITE}/sections/docs-news")
    assert api.ids(REDIRECTS) == [made["id"]]


# --- where visitors are sent ----------------------------------------------------------------------


def sent(api: Api, source: str, site: str = SITE, **query: Any) -> str:
    return str(api.get(f"{site}/redirect", source=source, **query)["target"])


@covers("getSiteRedirectBySource", 200, 404, 400)
def test_redirect_lookup_returns_url_of_live_redirect(api: Api, builtin_world: Any) -> None:
    with_pages(api, builtin_world)
    home = "https://acme.docs.example/docs/"
    make(api, "/news", NEWS)
    make(api, "/guide", GUIDE)
    made = make(api, "/team", {"kind": "path", "spaceId": "support", "path": "about/team"})
    make(api, "/draft", OUT, draft=True)
    assert sent(api, "/news") == f"{home}news/"
    assert sent(api, "/guide") == home
    assert sent(api, "/team") == f"{home}support/about/team"
    assert api.get(f"{SITE}/redirect", source="/team")["redirect"] == made
    for source in ("/draft", "/news/", "/none"):
        api.refused(404, "GET", f"{SITE}/redirect", params={"source": source})
    api.refused(400, "GET", f"{SITE}/redirect")
    api.post(f"{SITE}/unpublish")
    api.refused(404, "GET", f"{SITE}/redirect", params={"source": "/news"})


def test_wildcard_redirect_matches_prefix_and_captures_rest(api: Api) -> None:
    make(api, "/old/*", NEWS)
    make(api, "/old/blog/*", {"kind": "external", "url": "https://blog.example/"}, captureWildcard=True)
    assert sent(api, "/old/anything") == "https://acme.docs.example/docs/news/"
    assert sent(api, "/old/blog/2020/first") == "https://blog.example/2020/first"
    make(api, "/old/blog/2020/first", OUT)
    assert sent(api, "/old/blog/2020/first") == "https://out.example/"


def test_redirect_lookup_on_share_link_site_keeps_key(api: Api) -> None:
    partners, key = "/orgs/globex/sites/globex-partners", "globex-partners-2026"
    valves = {"kind": "site-space", "siteSpaceId": "partners-valves"}
    api.make(f"{partners}/redirects", {"source": "/v", "destination": valves})
    api.refused(404, "GET", f"{partners}/redirect", params={"source": "/v"})
    assert sent(api, "/v", partners, shareKey=key).endswith(f"/{key}/valves/")


# --- many at once ---------------------------------------------------------------------------------


def put(api: Api, *items: Any) -> list[Any]:
    results: list[Any] = api.put(REDIRECTS, {"redirects": list(items)})["results"]
    return results


@covers("bulkUpsertSiteRedirects", 200)
def test_bulk_redirect_update_returns_result_per_item(api: Api) -> None:
    make(api, "/gone")
    make(api, "/there", draft=True)
    results = put(
        api,
        {"source": "/new", "destination": NEWS, "permanent": True},
        {"source": "/wrong", "destination": {**NEWS, "siteSectionId": "none"}},
        {"source": "/gone", "destination": None},
        {"source": "/never", "destination": None},
        {"source": "/there", "intent": "publish"},
        {"source": "/unknown", "intent": "publish"},
        {"source": "/new", "destination": GUIDE, "intent": "draft"},
    )
    assert [(item["source"], item["status"]) for item in results] == [
        ("/new", "created"),
        ("/wrong", "error"),
        ("/gone", "deleted"),
        ("/never", "deleted"),
        ("/there", "published"),
        ("/unknown", "error"),
        ("/new", "updated"),
    ]
    assert results[1]["error"]["code"] == 404
    assert results[5]["error"]["code"] == 400
    there, new = api.items(REDIRECTS)
    assert (there["source"], there["destination"], there["draft"]) == ("/there", OUT, False)
    assert (new["source"], new["destination"], new["draft"], new["permanent"]) == ("/new", GUIDE, True, True)


@covers("bulkUpsertSiteRedirects", 400)
def test_bulk_redirect_update_limits_item_count(api: Api) -> None:
    one = {"source": "/a", "destination": OUT}
    api.refused(400, "PUT", REDIRECTS, {"redirects": []})
    api.refused(400, "PUT", REDIRECTS, {"redirects": [one] * 501})
    api.refused(400, "PUT", REDIRECTS, {"redirects": [one, {"source": "/b", "intent": "later"}]})
    assert api.items(REDIRECTS) == []
    many = [{"source": f"/{number}", "destination": OUT} for number in range(500)]
    assert {item["status"] for item in put(api, *many)} == {"created"}
    assert {item["status"] for item in put(api, *many)} == {"updated"}
    assert len(api.ids(REDIRECTS, limit=1000)) == 500


def test_redirect_write_requires_site_admin(api: Api) -> None:
    kim = api.as_("kim-token")
    assert kim.items(REDIRECTS) == []
    kim.refused(403, "POST", REDIRECTS, {"source": "/a", "destination": OUT})
    assert api.as_("hank-token").ids(f"{SAFETY}/redirects") == ["old-rules", "old-german", "reports"]
