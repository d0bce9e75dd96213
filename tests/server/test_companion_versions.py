"""Versions of OpenAPI specifications: what each processing that succeeded has kept."""

import httpx
from companion_calls import Api
from covers import covers
from pydantic_core import from_json

SPEC = "/orgs/acme/openapi/pets"
YAML = "openapi: 3.1.0\ninfo: {title: Pets, version: '1', x-since: 2024-05-01}\npaths: {}\n"
JSON = '{"openapi":"3.1.0","info":{"title":"Pets","version":"2"},"paths":{}}'


def process(api: Api, text: str) -> None:
    api.clock.pass_by(seconds=1)
    assert api.call("PUT", SPEC, {"source": {"text": text}}).is_success
    api.server.wait_for_jobs()


@covers("listOpenAPISpecVersions", 200)
@covers("getOpenAPISpecVersionById", 200)
@covers("getLatestOpenAPISpecVersion", 200)
def test_successful_openapi_processing_creates_version(api: Api) -> None:
    process(api, YAML)
    process(api, "no document")
    process(api, JSON)
    first, second = api.items(f"{SPEC}/versions", limit=1)
    assert api.get(f"{SPEC}/versions/{first['id']}") == first
    assert api.get(f"{SPEC}/versions/latest") == second
    assert api.get(SPEC)["lastVersion"] == second["id"]
    assert first["createdAt"] < second["createdAt"]


@covers("getLatestOpenAPISpecVersionContentRaw", 200)
@covers("getOpenAPISpecVersionContentRawById", 200)
def test_openapi_version_raw_text_is_unchanged(api: Api) -> None:
    process(api, YAML)
    first = api.get(f"{SPEC}/versions/latest")["id"]
    process(api, JSON)
    assert raw(api, first) == (YAML, "application/yaml")
    assert raw(api, "latest") == (JSON, "application/json")


def raw(api: Api, version: str) -> tuple[str, str]:
    answer: httpx.Response = api.call("GET", f"{SPEC}/versions/{version}/content/raw")
    assert answer.status_code == 200
    return answer.text, answer.headers["content-type"].partition(";")[0]


@covers("getLatestOpenAPISpecVersionContent", 200)
@covers("getOpenAPISpecVersionContentById", 200)
def test_openapi_version_content_is_parsed_document(api: Api) -> None:
    process(api, YAML)
    first = api.get(f"{SPEC}/versions/latest")["id"]
    process(api, JSON)
    (yaml,) = api.get(f"{SPEC}/versions/{first}/content")["filesystem"]
    assert yaml["specification"]["info"] == {"title": "Pets", "version": "1", "x-since": "2024-05-01"}
    (json,) = api.get(f"{SPEC}/versions/latest/content")["filesystem"]
    assert (json["filename"], json["specification"]) == ("openapi.json", from_json(JSON))


@covers("getLatestOpenAPISpecVersionContent", 409)
@covers("getOpenAPISpecVersionContentById", 409)
def test_recursive_openapi_document_is_available_raw_only(api: Api) -> None:
    endless = YAML + "x-all: &all [*all]\n"
    process(api, endless)
    assert "raw" in api.refused(409, "GET", f"{SPEC}/versions/latest/content")
    version = api.get(SPEC)["lastVersion"]
    api.refused(409, "GET", f"{SPEC}/versions/{version}/content")
    assert raw(api, version)[0] == endless


@covers("getLatestOpenAPISpecVersion", 404)
@covers("getOpenAPISpecVersionById", 404)
@covers("getLatestOpenAPISpecVersionContent", 404)
@covers("getOpenAPISpecVersionContentById", 404)
@covers("getLatestOpenAPISpecVersionContentRaw", 404)
@covers("getOpenAPISpecVersionContentRawById", 404)
@covers("listOpenAPISpecVersions", 404)
def test_openapi_version_belongs_to_its_spec(api: Api) -> None:
    api.refused(404, "GET", f"{SPEC}/versions")
    for version in ("latest", "shop-1"):
        for what in ("", "/content", "/content/raw"):
            api.refused(404, "GET", f"{SPEC}/versions/{version}{what}")
    for what in ("", "/content", "/content/raw"):
        api.refused(404, "GET", f"/orgs/acme/openapi/billing/versions/shop-1{what}")
    assert api.ids("/orgs/acme/openapi/shop/versions") == ["shop-1"]


def test_deleting_openapi_spec_deletes_its_versions(api: Api) -> None:
    process(api, YAML)
    version = api.get(SPEC)["lastVersion"]
    api.delete(SPEC)
    process(api, JSON)
    assert version not in api.ids(f"{SPEC}/versions")
