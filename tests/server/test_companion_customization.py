"""The looks of a site, and what its site spaces have in place of them."""

from typing import Any

import pytest
from companion_calls import Api
from covers import covers

from dpsync.server.sites.customization import DEFAULTS
from dpsync.server.sites.navigation import SITE_SPACE_CUSTOMIZATION

DOCS = "/orgs/acme/sites/docs"
LOOKS = f"{DOCS}/customization"
NEWS = f"{DOCS}/site-spaces/docs-news-latest/customization"
RED = {"light": "#ff0000", "dark": "#aa0000"}


@covers("getSiteCustomizationById", 200)
@covers("updateSiteCustomizationById", 200)
def test_site_customization_put_replaces_all_with_defaults(api: Api) -> None:
    assert api.get(LOOKS) == DEFAULTS
    bare = {member: {} for member in DEFAULTS} | {"socialAccounts": []}
    written = api.put(
        LOOKS, {**bare, "title": "Docs", "styling": {"primaryColor": RED, "corners": "straight"}}
    )
    styling = {**DEFAULTS["styling"], "primaryColor": RED, "corners": "straight"}
    assert written == {**DEFAULTS, "title": "Docs", "styling": styling}
    assert api.get(LOOKS) == written
    assert api.put(LOOKS, bare) == DEFAULTS


@covers("updateSiteCustomizationById", 400)
@pytest.mark.parametrize("member", sorted(DEFAULTS))
def test_site_customization_put_requires_all_members(api: Api, member: str) -> None:
    body = {name: value for name, value in DEFAULTS.items() if name != member}
    assert member in api.refused(400, "PUT", LOOKS, body)
    assert api.get(LOOKS) == DEFAULTS


@pytest.mark.parametrize(
    "wrong",
    [
        {"styling": {"primaryColor": {"light": "red", "dark": "#000000"}}},
        {"styling": {"primaryColor": {"light": "#ff0000"}}},
        {"favicon": {"icon": {"light": "no url"}}},
        {"themes": {"toggeable": "yes"}},
        {"footer": {"groups": [{"title": "No links"}]}},
        {"announcement": {"message": "On or off?"}},
        {"localizedTitle": {"klingon": "qo'"}},
        {"title": None},
    ],
)
def test_invalid_customization_values_are_refused(api: Api, wrong: Any) -> None:
    api.refused(400, "PUT", LOOKS, {**DEFAULTS, **wrong})


@pytest.mark.parametrize(
    ("below", "above", "shown"),
    [
        (
            {"favicon": {"icon": {"light": "https://a.example/i.png"}}},
            {"favicon": {"emoji": "1f600"}},
            {"emoji": "1f600"},
        ),
        ({"favicon": {"emoji": "1f600"}}, {"favicon": {}}, {"emoji": "1f600"}),
    ],
)
def test_site_space_icon_overrides_site_icon(api: Api, below: Any, above: Any, shown: Any) -> None:
    api.put(LOOKS, {**DEFAULTS, **below})
    api.patch(NEWS, above)
    published = api.get(f"{DOCS}/published")["customizations"]
    assert published["siteSpaces"]["docs-news-latest"]["favicon"] == shown
    assert published["site"]["favicon"] == below["favicon"]


def test_site_space_link_overrides_site_link(api: Api) -> None:
    page = {"kind": "page", "page": "search", "space": "guides"}
    url = {"kind": "url", "url": "https://blog.example/"}
    api.put(LOOKS, {**DEFAULTS, "announcement": {"enabled": True, "link": {"title": "T", "to": page}}})
    api.patch(NEWS, {"announcement": {"enabled": True, "link": {"to": url}}})
    shown = api.get(f"{DOCS}/published")["customizations"]["siteSpaces"]["docs-news-latest"]
    assert shown["announcement"]["link"] == {"title": "T", "to": url}


def test_site_customization_is_read_back_unchanged(api: Api) -> None:
    link = {"title": "Blog", "to": {"kind": "url", "url": "https://blog.example/"}}
    more = {
        "localizedTitle": {"fr": "Guide"},
        "header": {
            "preset": "bold",
            "logo": {"light": "https://l.example/l.svg"},
            "links": [{**link, "links": [link]}],
        },
        "footer": {"groups": [{"title": "More", "links": [link]}], "copyright": "Acme"},
        "announcement": {"enabled": True, "message": "New!", "link": link, "style": "info"},
        "ai": {"mode": "assistant", "suggestions": ["What is new?"]},
        "privacyPolicy": {"url": "https://acme.example/privacy"},
        "socialAccounts": [{"platform": "x", "handle": "acme", "display": {"footer": True}}],
    }
    assert api.put(LOOKS, {**DEFAULTS, **more}) == {**DEFAULTS, **more}


@covers("getSiteSpaceCustomizationById", 200)
@covers("overrideSiteSpaceCustomizationById", 200)
@covers("deleteSiteSpaceCustomizationById", 204)
def test_site_space_customization_overrides_site_customization(api: Api) -> None:
    assert api.get(NEWS) == {}
    api.patch(NEWS, {"styling": {"primaryColor": RED}, "themes": {"default": "dark"}})
    changed = api.patch(NEWS, {"themes": None, "title": "News", "feedback": None})
    assert changed == {"styling": {"primaryColor": RED}, "title": "News"}
    assert api.get(NEWS) == changed
    api.put(LOOKS, {**DEFAULTS, "styling": {"corners": "straight"}})
    shown = api.get(f"{DOCS}/published")["customizations"]["siteSpaces"]
    styling = {**DEFAULTS["styling"], "corners": "straight", "primaryColor": RED}
    assert shown["docs-news-latest"] == {**DEFAULTS, "styling": styling, "title": "News"}
    assert shown["docs-guides-en"] == api.get(LOOKS)
    api.delete(NEWS)
    api.delete(NEWS)
    assert api.get(NEWS) == {}


@covers("getSiteSpaceCustomizationById", 404)
@covers("overrideSiteSpaceCustomizationById", 404, 400)
def test_customization_of_foreign_site_space_returns_404(api: Api) -> None:
    other = f"{DOCS}/site-spaces/help-support/customization"
    api.refused(404, "GET", other)
    api.refused(404, "PATCH", other, {"title": "Help"})
    api.refused(400, "PATCH", NEWS, {"title": 1})
    api.patch("/orgs/acme/sites/help/site-spaces/help-support/customization", {"title": "Help"})
    api.delete(other)
    assert api.get("/orgs/acme/sites/help/site-spaces/help-support/customization") == {"title": "Help"}


def test_deleting_site_space_deletes_its_customization(api: Api) -> None:
    api.patch(NEWS, {"title": "News"})
    api.delete(f"{DOCS}/site-spaces/docs-news-latest")
    store = api.app.store
    assert api.server.run_in_server(lambda: store.get(SITE_SPACE_CUSTOMIZATION, "docs-news-latest")) is None


def test_site_lists_its_used_features(api: Api) -> None:
    safety = api.get("/orgs/globex/sites/globex-safety")
    used = {feature["id"]: feature.get("customizations") for feature in safety["features"]}
    assert used == {
        "sites-unlisted-visibility": None,
        "sites-sections": None,
        "sites-redirects": None,
        "sites-basic-customization": ["header-logo"],
    }
    assert {feature["plan"] for feature in safety["features"]} == {"ultimate"}
    help_center = api.get("/orgs/acme/sites/help")
    assert [feature["id"] for feature in help_center["features"]] == ["sites-public-visibility"]
