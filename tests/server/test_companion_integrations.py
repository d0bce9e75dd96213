"""Integrations: published, listed, shown with their images, and unpublished."""

import base64
from typing import Any

import pytest
from companion_calls import Api
from covers import covers

from dpsync.server.integrations.images import MAX_IMAGE_BYTES
from dpsync.server.store import Store

ALL = "/integrations"
PNG = b"\x89PNG\r\n\x1a\n and more"
SVG = b'<?xml version="1.0"?>\n<!-- drawn --><!DOCTYPE svg>\n<svg xmlns="http://www.w3.org/2000/svg"/>'
WHOLE: dict[str, Any] = {
    "runtime": "v2",
    "title": "Weather",
    "description": "Shows the weather",
    "summary": "# Weather\n\nEverywhere.",
    "visibility": "public",
    "target": "space",
    "scopes": ["space:content:read", "space:content:write"],
    "categories": ["content", "gitsync"],
    "blocks": [
        {
            "id": "map",
            "title": "Map",
            "description": "A map",
            "icon": "https://weather.example/map.png",
            "urlUnfurl": ["https://maps.weather.example/**", "https://*.rain.example/now"],
            "markdown": {"codeblock": "map", "body": "content"},
        }
    ],
    "contentSources": [{"id": "reports", "title": "Reports", "configuration": {"componentId": "reports"}}],
    "externalLinks": [{"url": "https://weather.example/", "label": "Home"}],
    "configurations": {
        "account": {
            "properties": {"key": {"title": "Key", "type": "string", "enum": ["a", "b"]}},
            "required": ["key"],
        },
        "site": {"componentId": "site-settings"},
    },
    "contentSecurityPolicy": {"default-src": "'self'"},
}
KEPT_APART = {"organization": "acme", "script": "export default {}", "secrets": {"KEY": "sesame"}}


def names(api: Api, **query: Any) -> list[str]:
    return [integration["name"] for integration in api.items(ALL, **query)]


def publish(api: Api, name: str = "weather", **given: Any) -> Any:
    return api.post(f"{ALL}/{name}", {"organization": "acme", "title": "Weather", **given})


def encoded(content: bytes) -> str:
    return base64.b64encode(content).decode()


# --- publishing ---------------------------------------------------------------------------------------


@covers("publishIntegration", 200)
@covers("getIntegrationByName", 200)
def test_published_integration_is_read_back_unchanged(api: Api) -> None:
    made = api.post(f"{ALL}/weather", {**WHOLE, **KEPT_APART})
    assert made == api.get(f"{ALL}/weather")
    assert {member: made[member] for member in WHOLE if member != "runtime"} == {
        member: value for member, value in WHOLE.items() if member != "runtime"
    }
    assert (made["name"], made["version"], made["verified"]) == ("weather", 1, False)
    assert made["owner"] == api.get("/orgs/acme")
    assert made["permissions"] == {"admin": True}


def test_integration_secrets_and_script_are_never_returned(api: Api) -> None:
    api.post(f"{ALL}/weather", {**WHOLE, **KEPT_APART})
    shown = api.call("GET", f"{ALL}/weather").text + api.call("GET", ALL).text
    assert "sesame" not in shown
    assert "export default" not in shown

    def bundle(store: Store) -> Any:
        kept = store.get("integration-bundle", "weather")
        return kept.doc if kept else None

    kept = api.server.run_in_server(lambda: bundle(api.app.store))
    assert (kept["secrets"], kept["script"]) == ({"KEY": "sesame"}, "export default {}")
    assert kept["runtime"] == "v2"


def test_integration_publish_fields_have_defaults(api: Api) -> None:
    made = api.as_("grace-token").post(f"{ALL}/weather", {})
    assert (made["owner"]["id"], made["title"], made["visibility"], made["target"]) == (
        "acme",
        "Untitled",
        "private",
        "all",
    )
    assert (made["scopes"], made["categories"], made["previewImages"]) == ([], [], [])
    assert "icon" not in made["urls"]


def test_republishing_integration_replaces_all_fields(api: Api) -> None:
    api.post(f"{ALL}/weather", {**WHOLE, **KEPT_APART, "icon": encoded(PNG)})
    again = publish(api, title="Rain")
    assert (again["version"], again["title"], again["scopes"]) == (2, "Rain", [])
    assert not {"description", "summary", "blocks", "configurations"} & again.keys()
    assert "icon" not in again["urls"]
    assert publish(api)["version"] == 3


def test_publishing_organization_is_given_by_id_or_hostname(api: Api) -> None:
    api.patch("/orgs/acme", {"hostname": "anvils"})
    assert publish(api, "one", organization="anvils")["owner"]["id"] == "acme"
    assert publish(api, "two", organization="acme")["owner"]["id"] == "acme"


def test_publishing_organization_defaults_to_owner_or_only_candidate(api: Api) -> None:
    publish(api)
    assert api.post(f"{ALL}/weather", {})["owner"]["id"] == "acme"
    assert "body.organization" in api.refused(400, "POST", f"{ALL}/new", {})
    assert api.as_("hank-token").post(f"{ALL}/new", {})["owner"]["id"] == "globex"


@covers("publishIntegration", 404)
def test_publish_for_unknown_organization_returns_404(api: Api) -> None:
    message = api.refused(404, "POST", f"{ALL}/weather", {"organization": "nowhere"})
    assert message == "body.organization: organization 'nowhere' not found"
    api.as_("hank-token").refused(404, "POST", f"{ALL}/weather", {"organization": "acme"})


@covers("publishIntegration", 403)
def test_integration_publish_requires_organization_admin(api: Api) -> None:
    api.as_("lin-token").refused(403, "POST", f"{ALL}/weather", {"organization": "acme"})
    api.as_("lin-token").refused(403, "POST", f"{ALL}/acme-tools", {})


@covers("publishIntegration", 409)
def test_integration_name_taken_by_other_organization_is_refused(api: Api) -> None:
    assert "taken" in api.refused(409, "POST", f"{ALL}/reactor-status", {"organization": "acme"})
    assert "taken" in api.refused(409, "POST", f"{ALL}/control-room", {"organization": "acme"})
    assert api.get(f"{ALL}/control-room")["owner"]["id"] == "globex"


@covers("publishIntegration", 400)
@pytest.mark.parametrize(
    "given",
    [
        {"title": "x"},
        {"title": "x" * 31},
        {"description": "x" * 101},
        {"summary": "x" * 2049},
        {"visibility": "secret"},
        {"target": "page"},
        {"scopes": ["everything"]},
        {"categories": ["fun"]},
        {"runtime": "v0"},
        {"blocks": [{"id": "map", "title": "M"}]},
        {"blocks": [{"title": "Map"}]},
        {"externalLinks": [{"url": "https://a.example/", "label": "A"}] * 6},
        {"configurations": {"account": {"properties": {"a": {"type": "date"}}}}},
        {"secrets": {f"S{number}": "x" for number in range(21)}},
        {"secrets": {"S": 1}},
        {"icon": "no base64!"},
        {"icon": "YQ"},
        {"previewImages": ["é"]},
        {"previewImages": [encoded(PNG)] * 4},
        {"icon": encoded(b"x" * (MAX_IMAGE_BYTES + 1))},
    ],
    ids=lambda given: str(next(iter(given))),
)
def test_invalid_integration_fields_are_refused(api: Api, given: Any) -> None:
    message = api.refused(400, "POST", f"{ALL}/weather", {"organization": "acme", **given})
    assert message.startswith(f"body.{next(iter(given))}")
    api.refused(404, "GET", f"{ALL}/weather")


@pytest.mark.parametrize("name", ["a b", "a%2Fb", "é", "x" * 101])
def test_integration_name_with_invalid_characters_is_refused(api: Api, name: str) -> None:
    assert "the name" in api.refused(400, "POST", f"{ALL}/{name}", {"organization": "acme"})


# --- images -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "content_type"),
    [
        (PNG, "image/png"),
        (b"\xff\xd8\xff\xe0 jpeg", "image/jpeg"),
        (b"GIF89a gif", "image/gif"),
        (b"RIFF\n\r\n\rWEBPVP8 ", "image/webp"),
        (SVG, "image/svg+xml"),
        (b"\xef\xbb\xbf <svg/>", "image/svg+xml"),
        (b"<!--" * 300_000, "application/octet-stream"),
        (b"<svgish>", "application/octet-stream"),
        (b"something else", "application/octet-stream"),
    ],
    ids=["png", "jpeg", "gif", "webp", "svg", "svg-bom", "comment", "svgish", "unknown"],
)
def test_integration_image_is_served_with_detected_type(api: Api, content: bytes, content_type: str) -> None:
    content = content[:MAX_IMAGE_BYTES]
    made = publish(api, icon=encoded(content), previewImages=[encoded(PNG), encoded(content)])
    assert made["urls"]["icon"].startswith(made["urls"]["assets"] + "/")
    assert len(made["previewImages"]) == 2
    for url in (made["urls"]["icon"], made["previewImages"][1]):
        answer = api.http.get(url)
        assert (answer.status_code, answer.content) == (200, content)
        assert answer.headers["content-type"] == content_type
        assert "sandbox" in answer.headers["content-security-policy"]
    assert api.http.get(made["previewImages"][0]).headers["content-type"] == "image/png"


def test_integration_image_base64_may_contain_line_breaks(api: Api) -> None:
    text = encoded(PNG)
    made = publish(api, icon=f"{text[:8]}\r\n{text[8:]}\n")
    assert api.http.get(made["urls"]["icon"]).content == PNG


def test_replaced_or_unknown_integration_image_returns_404(api: Api) -> None:
    made = publish(api, icon=encoded(PNG))
    publish(api, icon=encoded(SVG))
    assets = made["urls"]["assets"]
    for url in (made["urls"]["icon"], assets, f"{assets}/icon", f"{assets}/a/b", assets + "x/y"):
        assert api.http.get(url).status_code == 404
    assert api.http.post(api.get(f"{ALL}/weather")["urls"]["icon"]).status_code == 404


# --- seen and listed ----------------------------------------------------------------------------------


@covers("listIntegrations", 200)
def test_integrations_are_listed_per_visibility(api: Api) -> None:
    publish(api, "hidden", visibility="unlisted")
    everything = ["acme-tools", "control-room", "hidden", "reactor-status"]
    assert names(api) == names(api, limit=1) == everything
    assert names(api.as_("kim-token")) == ["acme-tools", "hidden", "reactor-status"]
    assert names(api.as_("gus-token")) == names(api.as_("oli-token")) == ["reactor-status"]


@covers("getIntegrationByName", 404)
def test_private_integration_returns_404_for_nonmembers(api: Api) -> None:
    publish(api, "hidden", visibility="unlisted")
    hank = api.as_("hank-token")
    assert hank.get(f"{ALL}/hidden")["visibility"] == "unlisted"
    hank.refused(404, "GET", f"{ALL}/acme-tools")
    hank.refused(404, "GET", f"{ALL}/none")
    assert api.as_("gus-token").get(f"{ALL}/acme-tools")["permissions"] == {"admin": False}


def test_private_integration_stays_visible_where_installed(api: Api) -> None:
    api.as_("hank-token").post(f"{ALL}/reactor-status", {"visibility": "private"})
    assert api.as_("kim-token").get(f"{ALL}/reactor-status")["visibility"] == "private"
    api.as_("oli-token").refused(404, "GET", f"{ALL}/reactor-status")
    assert "reactor-status" not in names(api.as_("kim-token"))


def test_integration_owner_details_are_hidden_from_others(api: Api) -> None:
    owner = api.as_("kim-token").get(f"{ALL}/reactor-status")["owner"]
    assert (owner["id"], owner["title"], owner["emailDomains"]) == ("globex", "Globex", [])
    assert not any(owner["permissions"].values())
    assert api.as_("homer-token").get(f"{ALL}/reactor-status")["owner"]["emailDomains"]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"search": "ROOM"}, ["control-room"]),
        ({"search": "acme tools"}, ["acme-tools"]),
        ({"search": ""}, ["acme-tools", "control-room", "reactor-status", "weather"]),
        ({"category": "analytics"}, ["reactor-status"]),
        ({"category": "marketing"}, []),
        ({"blocks": True}, ["reactor-status", "weather"]),
        ({"blocks": False}, ["acme-tools", "control-room"]),
        ({"contentSources": True}, ["acme-tools", "weather"]),
        ({"contentSources": False}, ["control-room", "reactor-status"]),
        ({"owner": "globex"}, ["control-room", "reactor-status"]),
        ({"owner": "none"}, []),
        ({"scope": "space:content:write"}, ["acme-tools", "weather"]),
        ({"target": "site"}, ["acme-tools", "control-room", "reactor-status"]),
        ({"target": "space"}, ["acme-tools", "reactor-status", "weather"]),
        ({"target": "all"}, ["acme-tools", "reactor-status"]),
        ({"blockDomain": "status.globex.example"}, ["reactor-status"]),
        ({"blockDomain": "EU.status.globex.example"}, ["reactor-status"]),
        ({"blockDomain": "globex.example"}, []),
        ({"blockDomain": "rain.example"}, ["weather"]),
        ({"blocks": True, "owner": "acme", "target": "space"}, ["weather"]),
    ],
    ids=str,
)
def test_integrations_are_filtered_by_query(api: Api, query: dict[str, Any], found: list[str]) -> None:
    api.post(f"{ALL}/weather", {**WHOLE, **KEPT_APART})
    assert names(api, **query) == found
    assert names(api, limit=1, **query) == found


@covers("listIntegrations", 400)
@pytest.mark.parametrize(
    "query",
    [
        {"category": "fun"},
        {"scope": "everything"},
        {"target": "page"},
        {"blocks": "perhaps"},
        {"blockDomain": "a/b"},
        {"blockDomain": "x" * 101},
        {"limit": 1001},
    ],
    ids=str,
)
def test_invalid_integration_filter_is_refused(api: Api, query: dict[str, Any]) -> None:
    assert api.refused(400, "GET", ALL, params=query).startswith(f"query.{next(iter(query))}")


def test_integration_accepts_any_block_url_pattern(api: Api) -> None:
    block = {"id": "any", "title": "Any", "urlUnfurl": ["https://[::", "", "plain.example/x", "/**"]}
    publish(api, blocks=[block])
    assert names(api, blockDomain="plain.example") == ["weather"]
    assert names(api, blockDomain="other.example") == []


# --- unpublishing -------------------------------------------------------------------------------------


@covers("unpublishIntegration", 204)
def test_unpublishing_integration_deletes_its_installations(api: Api) -> None:
    api.delete(f"{ALL}/acme-tools")
    api.delete(f"{ALL}/acme-tools")
    api.refused(404, "GET", f"{ALL}/acme-tools")
    installed = [item["integration"]["name"] for item in api.items("/orgs/acme/installations")]
    assert installed == ["reactor-status"]
    assert publish(api, "acme-tools")["version"] == 1
    for part in ("installations", "events", "spaces", "sites"):
        assert api.items(f"{ALL}/acme-tools/{part}") == []


@covers("unpublishIntegration", 403)
def test_integration_unpublish_requires_owner_admin(api: Api) -> None:
    api.as_("lin-token").refused(403, "DELETE", f"{ALL}/acme-tools")
    api.as_("grace-token").refused(403, "DELETE", f"{ALL}/reactor-status")
    api.as_("hank-token").refused(404, "DELETE", f"{ALL}/acme-tools")
    assert names(api) == ["acme-tools", "control-room", "reactor-status"]
