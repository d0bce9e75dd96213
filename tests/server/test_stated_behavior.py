"""API behavior that the vendor documents outside the OpenAPI document: one test for each statement.

Each docstring names the source page, in the vendor's documentation (gitbook.com/docs, repository
GitbookIO/public-docs) or in the vendor's skills for automated clients (repository GitbookIO/gitbook-skills).
The statements hold for the profile `published`; `full` follows those that its reference does not contradict.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import httpx
import pytest
from companion_calls import Api
from console import served
from processes import until
from test_companion_openapi import GOOD, serving

from dpsync.testing import DocsPlatform
from tests.no_tls import NO_TLS
from tests.patience import PATIENCE

ORG = "/orgs/acme"
SITE = f"{ORG}/sites/docs"
REDIRECTS = f"{SITE}/redirects"
TARGET = "https://new.example/help"
OUT = {"kind": "external", "url": TARGET}


@pytest.fixture(params=["full", "published"])
def edition(request: pytest.FixtureRequest) -> Api:
    """Return the API of each edition, for statements that apply to both."""
    found: Api = request.getfixturevalue({"full": "api"}.get(request.param, request.param))
    return found


# --- redirects ----------------------------------------------------------------------------------------


def redirect(api: Api, source: str, **more: Any) -> Any:
    return api.make(REDIRECTS, {"source": source, "destination": OUT, **more})


def target(api: Api, source: str) -> str | None:
    """Return the redirect target for a path; None if no redirect matches."""
    answer = api.call("GET", f"{SITE}/redirect", params={"source": source})
    return str(answer.json()["target"]) if answer.status_code == 200 else None


def test_redirect_source_is_unique_regardless_of_case(edition: Api) -> None:
    """Published URLs resolve without regard to case: publish/site-redirects, "Creating redirects"."""
    first, second = redirect(edition, "/Install"), redirect(edition, "/setup")
    edition.refused(409, "POST", REDIRECTS, {"source": "/install", "destination": OUT})
    edition.refused(409, "PATCH", f"{REDIRECTS}/{second['id']}", {"source": "/INSTALL"})
    renamed = edition.patch(f"{REDIRECTS}/{first['id']}", {"source": "/install"})
    assert (renamed["id"], renamed["source"]) == (first["id"], "/install")


def test_bulk_upsert_matches_sources_regardless_of_case(edition: Api) -> None:
    """Published URLs resolve without regard to case: publish/site-redirects, "Creating redirects"."""
    made = redirect(edition, "/Install")
    items = [
        {"source": "/install", "destination": {"kind": "external", "url": "https://other.example/"}},
        {"source": "/New", "destination": OUT},
        {"source": "/new", "destination": None},
    ]
    results = edition.put(REDIRECTS, {"redirects": items})["results"]
    assert [result["status"] for result in results] == ["updated", "created", "deleted"]
    (left,) = edition.items(REDIRECTS)
    assert (left["id"], left["destination"]["url"]) == (made["id"], "https://other.example/")


@pytest.mark.parametrize("source", ["/Old/Path", "/old/path", "/OLD/PATH"])
def test_redirect_resolves_regardless_of_case(edition: Api, source: str) -> None:
    """Published URLs resolve without regard to case: publish/site-redirects, "Creating redirects"."""
    redirect(edition, "/Old/Path")
    assert target(edition, source) == TARGET


@pytest.mark.parametrize(
    ("source", "captures", "asked", "expected"),
    [
        pytest.param("/docs/*", True, "/docs/install", f"{TARGET}/install", id="matched text appended"),
        pytest.param("/docs/*", True, "/Docs/Install", f"{TARGET}/Install", id="matched in another case"),
        pytest.param("/docs/*", False, "/docs/install", TARGET, id="fixed destination"),
        pytest.param("/changelog*", False, "/changelog-2025", TARGET, id="prefix of a segment"),
        pytest.param("/docs/*", True, "/guides", None, id="another path"),
    ],
)
def test_wildcard_redirect_matches_path_prefix(
    edition: Api, source: str, captures: bool, asked: str, expected: str | None
) -> None:
    """A source may end in `*`: publish/site-redirects, "Creating redirects"."""
    redirect(edition, source, captureWildcard=captures)
    assert target(edition, asked) == expected


def test_draft_redirect_is_active_once_enabled(edition: Api) -> None:
    """Drafts do nothing until they are enabled: publish/site-redirects, "Enabling draft redirects"."""
    draft = redirect(edition, "/old", draft=True)
    assert target(edition, "/old") is None
    edition.patch(f"{REDIRECTS}/{draft['id']}", {"draft": False})
    assert target(edition, "/old") == TARGET


# --- sites and their navigation -----------------------------------------------------------------------


def test_site_responses_contain_preview_url(published: Api) -> None:
    """A preview shows unpublished content: docs-as-code, previews."""
    made = published.make(f"{ORG}/sites", {"title": "New"})
    for site in (made, published.get(f"{ORG}/sites/{made['id']}"), *published.items(f"{ORG}/sites")):
        assert site["urls"]["preview"].startswith("https://")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("description", "API reference, SDKs, and webhooks."),
        ("localizedTitle", {"fr": "Développeurs"}),
        ("localizedDescription", {"fr": "Référence"}),
    ],
)
def test_section_texts_are_set_only_by_patch(edition: Api, field: str, value: Any) -> None:
    """Creating takes these members and drops them: skills/configure-site, "Add a section to a site"."""
    sections = f"{SITE}/sections"
    made = edition.make(sections, {"spaceId": "support", "title": "Developers", "icon": "code", field: value})
    assert (made["title"], made["icon"]) == ("Developers", "code")
    assert not made.get(field)
    edition.patch(f"{sections}/{made['id']}", {field: value})
    (found,) = (section for section in edition.items(sections) if section["id"] == made["id"])
    assert found[field] == value


def outline(api: Api, site: str) -> list[Any]:
    """Return the root of a navigation: each section with its space ids, or the space id."""
    found = api.get(f"{ORG}/sites/{site}/structure")["structure"]
    return [
        (node["title"], [place["space"]["id"] for place in node["siteSpaces"]])
        if node["object"] == "site-section"
        else node["space"]["id"]
        for node in found
    ]


@pytest.mark.parametrize(
    ("type", "expected"),
    [("site", [("Handbooks", ["guides", "support"])]), ("ultimate", ["guides", "support"])],
)
def test_site_of_type_site_puts_spaces_into_section(published: Api, type: str, expected: list[Any]) -> None:
    """The wrapper is named after the site: skills/configure-site, "The auto-created wrapper section"."""
    site = published.make(f"{ORG}/sites", {"title": "Handbooks", "type": type})
    assert site["type"] == type
    for space in ("guides", "support"):
        published.make(f"{ORG}/sites/{site['id']}/site-spaces", {"spaceId": space})
    assert outline(published, site["id"]) == expected


def test_site_of_type_site_keeps_existing_sections(published: Api) -> None:
    """Sections from the beginning avoid it: skills/configure-site, "The auto-created wrapper section"."""
    site = published.make(f"{ORG}/sites", {"title": "Handbooks", "type": "site"})["id"]
    section = published.make(f"{ORG}/sites/{site}/sections", {"spaceId": "guides", "title": "Guides"})["id"]
    published.make(f"{ORG}/sites/{site}/site-spaces", {"spaceId": "support", "sectionId": section})
    assert outline(published, site) == [("Guides", ["guides", "support"])]


# --- looks --------------------------------------------------------------------------------------------

LOOKS = f"{SITE}/customization"


def test_customization_can_be_written_back_as_whole(published: Api) -> None:
    """The safe pattern is read, modify, write: skills/configure-site, "Update customization"."""
    looks = published.get(LOOKS)
    looks["styling"]["primaryColor"] = {"light": "#0E5BFF", "dark": "#5B8CFF"}
    assert published.put(LOOKS, looks)["styling"]["primaryColor"] == {"light": "#0E5BFF", "dark": "#5B8CFF"}
    assert published.get(LOOKS) == looks


@pytest.mark.parametrize(
    ("path", "wrong"),
    [
        pytest.param(("styling",), None, id="missing member"),
        pytest.param(("styling", "primaryColor", "dark"), None, id="missing nested member"),
        pytest.param(("styling", "primaryColor", "light"), "blue", id="color by name"),
        pytest.param(("styling", "primaryColor", "light"), "#0E5BF", id="color of five digits"),
    ],
)
def test_invalid_or_incomplete_customization_is_refused(
    published: Api, path: tuple[str, ...], wrong: Any
) -> None:
    """400 means a missing nested member or a wrong color: skills/configure-site, "Error handling notes"."""
    looks = published.get(LOOKS)
    *parents, last = path
    held = looks
    for name in parents:
        held = held[name]
    if wrong is None:
        del held[last]
    else:
        held[last] = wrong
    assert ".".join(("body", *path)) in published.refused(400, "PUT", LOOKS, looks)


# --- spaces -------------------------------------------------------------------------------------------


def test_space_title_has_at_most_fifty_characters(edition: Api) -> None:
    """A space's title is limited: skills/configure-site, "Create a space"."""
    spaces = f"{ORG}/spaces"
    assert edition.make(spaces, {"title": "x" * 50})["title"] == "x" * 50
    edition.refused(400, "POST", spaces, {"title": "x" * 51})
    edition.refused(400, "PATCH", "/spaces/guides", {"title": "x" * 51})


def test_published_space_visibility_ignores_its_sites(published: Api) -> None:
    """The site controls who reads it: skills/configure-site, "Create a space"."""
    assert published.get(SITE)["published"]
    space = published.get("/spaces/guides")
    assert (space["parent"], space["visibility"]) == ("product", "in-collection")


# --- OpenAPI specifications ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def controlled() -> Iterator[DocsPlatform]:
    """Yield a companion with the profile `published` and a control plane."""
    with (
        served("published") as running,
        httpx.Client(base_url=f"{running.url}/_dpsync/", timeout=PATIENCE, **NO_TLS) as control,
    ):
        yield DocsPlatform(running.url, control)


def test_openapi_url_is_refetched_after_a_day(controlled: DocsPlatform) -> None:
    """URLs are fetched on request and on a schedule: skills/configure-site, "Two upload strategies"."""
    headers = {"Authorization": f"Bearer {controlled.token}"}
    api = httpx.Client(base_url=f"{controlled.url}/v1", headers=headers, timeout=PATIENCE, **NO_TLS)
    with serving() as source, api:
        spec, body = f"{ORG}/openapi/shop", {"source": {"url": source.shows("/openapi.yaml", GOOD)}}

        def version_after(fetches: int) -> Any:
            def processed() -> bool:
                done = api.get(spec).json()["processingState"] == "complete"
                return done and len(source.asked) == fetches

            until(processed)
            return api.get(spec).json()["lastVersion"]

        api.put(spec, json=body)
        first = version_after(1)
        api.put(spec, json=body)
        by_hand = version_after(2)
        controlled.clock.advance(timedelta(hours=1))
        assert version_after(2) == by_hand
        controlled.clock.advance(timedelta(days=1))
        assert api.get(spec).json()["processingState"] == "pending"
        assert len({first, by_hand, version_after(3)}) == 3


# --- statuses -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "body"),
    [
        pytest.param("/spaces/guides/move", {"parent": "product"}, id="move into its own collection"),
        pytest.param("/collections/product/transfer", {"organization": "acme"}, id="transfer to its own"),
    ],
)
def test_request_without_change_returns_409(published: Api, path: str, body: Any) -> None:
    """409 means that the state would not change: skills/configure-site, "Error handling notes"."""
    published.refused(409, "POST", path, body)


def test_disallowed_collection_transfer_returns_412(published: Api) -> None:
    """412 means that the state does not permit it: skills/configure-site, "Error handling notes"."""
    published.refused(412, "POST", "/collections/product/transfer", {"organization": "globex"})


def test_request_without_needed_role_returns_403(published: Api) -> None:
    """403 means that the token's user may not: skills/configure-site, "Error handling notes"."""
    published.as_("kim-token").refused(403, "PATCH", SITE, {"title": "Mine"})


def test_deleted_space_is_unrestorable_after_seven_days(published: Api) -> None:
    """404 is final after seven days: skills/configure-site, "Error handling notes"."""
    published.ok("DELETE", "/spaces/guides", status=205)
    published.clock.pass_by(days=7)
    published.post("/spaces/guides/restore")
    published.ok("DELETE", "/spaces/guides", status=205)
    published.clock.pass_by(days=7)
    published.clock.pass_by(seconds=1)
    published.refused(404, "POST", "/spaces/guides/restore")
    published.refused(404, "GET", "/spaces/guides")


def test_deleted_site_returns_404_permanently(published: Api) -> None:
    """No request brings a site back: skills/configure-site, "Error handling notes"."""
    published.ok("DELETE", SITE, status=205)
    published.refused(404, "GET", SITE)
    published.clock.pass_by(days=8)
    published.refused(404, "GET", SITE)
