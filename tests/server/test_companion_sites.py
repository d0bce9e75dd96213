"""Sites: creation, settings, publication, visitor schema, deletion."""

from typing import Any

import pytest
from companion_calls import Api

SITES = "/orgs/acme/sites"


def test_sites_are_listed_and_filtered(api: Api) -> None:
    assert api.ids(SITES) == ["docs", "help", "internal-handbook"]
    assert api.ids(SITES, space="news") == ["docs"]
    assert api.ids(SITES, space="none") == []
    assert api.ids(SITES, title="DOC") == ["docs"]
    assert api.ids(SITES, published=False) == ["internal-handbook"]
    assert api.ids(SITES, published=True, title="CENT") == ["help"]


def test_a_new_site_is_unpublished_with_the_spaces_named(api: Api) -> None:
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


def test_a_site_needs_no_field_and_refuses_unknown_spaces(api: Api) -> None:
    made = api.make(SITES)
    assert (made["title"], made["type"], made["visibility"]) == ("Untitled", "basic", "public")
    api.refused(404, "POST", SITES, {"title": "Site", "spaces": ["guides", "manual"]})
    assert len(api.ids(SITES)) == 4


def test_a_site_takes_and_clears_its_settings(api: Api) -> None:
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


def test_a_basename_is_taken_in_its_organization_only(api: Api) -> None:
    api.refused(409, "PATCH", f"{SITES}/docs", {"basename": "help"})
    api.patch(f"{SITES}/docs", {"basename": "docs"})
    assert api.get("/orgs/globex/sites/globex-docs")["basename"] == "docs"


def test_publishing_shows_where_a_site_is_and_unpublishing_takes_it_away(api: Api) -> None:
    handbook = f"{SITES}/internal-handbook"
    published = api.post(f"{handbook}/publish")
    assert published["published"] is True
    assert published["urls"]["published"] == "https://acme.docs.example/handbook/"
    places = api.items(f"{handbook}/site-spaces")
    assert places[1]["urls"]["published"] == "https://acme.docs.example/handbook/start/"
    assert "published" not in api.post(f"{handbook}/unpublish")["urls"]
    assert all(place["urls"] == {} for place in api.items(f"{handbook}/site-spaces"))


def test_a_deleted_site_goes_with_its_navigation_and_is_no_default_content(api: Api) -> None:
    assert api.get("/orgs/acme")["defaultContent"] == {"type": "site", "site": "docs"}
    api.delete(f"{SITES}/docs")
    api.delete(f"{SITES}/docs")
    assert api.get("/orgs/acme")["defaultContent"] is None
    api.refused(404, "GET", f"{SITES}/docs")
    api.refused(404, "DELETE", f"{SITES}/docs/sections/docs-news")
    assert api.get("/spaces/guides")["visibility"] == "in-collection"


def test_a_site_is_found_in_its_own_organization_only(api: Api) -> None:
    api.refused(404, "GET", "/orgs/globex/sites/docs")
    api.delete("/orgs/globex/sites/docs")
    assert "docs" in api.ids(SITES)


BOOLEANS = {"type": "object", "properties": {"a": {"type": "boolean"}}, "additionalProperties": False}


def test_a_visitor_schema_is_absent_until_it_is_set(api: Api) -> None:
    path = f"{SITES}/docs/adaptive-schema"
    api.refused(404, "GET", path)
    assert api.get(f"{path}/template-conditions") == {"items": []}
    written = api.put(path, {"jsonSchema": BOOLEANS})
    assert api.get(path) == written
    assert written["jsonSchema"] == BOOLEANS
    assert api.get(f"{path}/template-conditions")["items"] == [
        {"description": "a", "condition": "visitor.claims.a"}
    ]


def test_conditions_follow_from_every_claim(api: Api) -> None:
    path = f"{SITES}/internal-handbook/adaptive-schema"
    conditions = [item["condition"] for item in api.get(f"{path}/template-conditions")["items"]]
    assert conditions == [
        "visitor.claims.isEmployee",
        "visitor.claims.isBetaUser",
        "visitor.claims.unsigned.isReturning",
    ]


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
def test_claims_of_every_known_type_are_accepted(api: Api, claim: Any) -> None:
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {"a": claim},
    }
    path = f"{SITES}/docs/adaptive-schema"
    assert api.put(path, {"jsonSchema": schema})["jsonSchema"] == schema
    assert len(api.get(f"{path}/template-conditions")["items"]) == 1


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "string"},
        {"type": "object", "properties": []},
        {"type": "object", "properties": {"a": {}}},
        {"type": "object", "properties": {"a": True}},
        {"type": "object", "properties": {"a": {"type": "null"}}},
        {"type": "object", "properties": {"a": {"type": ["boolean"]}}},
        {"type": "object", "properties": {"unsigned": {"type": "object", "properties": {"b": 1}}}},
        {"type": "object", "properties": {}, "additionalProperties": True},
    ],
)
def test_what_is_no_visitor_schema_is_refused(api: Api, schema: Any) -> None:
    message = api.refused(400, "PUT", f"{SITES}/docs/adaptive-schema", {"jsonSchema": schema})
    assert message.startswith("body.jsonSchema")
