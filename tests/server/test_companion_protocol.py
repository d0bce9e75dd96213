"""What every operation obeys: tokens, paths, methods, bodies, limits, errors, the generated document."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from cases import IDS
from companion_calls import Api

from dpsync.server.http.request_parsing import MAX_BODY_BYTES
from dpsync.server.operations import OPERATIONS
from tests.patience import PATIENCE


@pytest.mark.parametrize("header", [None, "", "Bearer", "Bearer nobody", "Basic ada-token", "ada-token"])
def test_request_without_valid_token_returns_401(api: Api, header: str | None) -> None:
    headers = {} if header is None else {"Authorization": header}
    answer = api.http.get("/v1/orgs", headers=headers)
    assert answer.status_code == 401
    assert answer.json()["error"]["code"] == 401


@pytest.mark.parametrize("path", ["/", "/nothing", "/orgs/", "/orgs/acme/nothing", "/orgs//sites", "/spaces"])
def test_unknown_path_returns_404(api: Api, path: str) -> None:
    api.refused(404, "GET", path)


def test_unsupported_method_returns_405_with_allowed_methods(api: Api) -> None:
    assert "GET" in api.refused(405, "DELETE", "/orgs")
    assert "DELETE, GET, PATCH" in api.refused(405, "PUT", "/spaces/guides")


def test_foreign_organization_returns_404_not_403(api: Api) -> None:
    hank = api.as_("hank-token")
    for path in ["/orgs/acme", "/orgs/acme/sites", "/orgs/acme/sites/docs/structure", "/spaces/guides"]:
        hank.refused(404, "GET", path)
    hank.refused(404, "PATCH", "/collections/product", {"title": "Mine"})
    hank.refused(404, "DELETE", "/spaces/guides")
    assert "guides" in api.ids("/orgs/acme/spaces")


def test_demoted_admin_may_read_but_not_write(api: Api) -> None:
    api.patch("/orgs/acme/members/grace", {"role": "read"})
    grace = api.as_("grace-token")
    assert grace.get("/orgs/acme")["permissions"]["admin"] is False
    grace.refused(403, "PATCH", "/orgs/acme", {"title": "Mine"})
    grace.refused(403, "DELETE", "/spaces/guides")


def _whole(size: int) -> bytes:
    return b'{"title": "' + b"x" * (size - 13) + b'"}'


def test_body_above_ten_mebibytes_returns_413(api: Api) -> None:
    for content in (_whole(MAX_BODY_BYTES + 1), iter([_whole(MAX_BODY_BYTES), b" "])):
        headers = {"Authorization": "Bearer ada-token", "Content-Type": "application/json"}
        with httpx.Client(base_url=api.server.url, timeout=PATIENCE) as http:
            answer = http.patch("/v1/spaces/guides", content=content, headers=headers)
        assert answer.status_code == 413
    assert api.get("/spaces/guides")["title"] == "Guides"


def test_body_of_exactly_ten_mebibytes_is_read(api: Api) -> None:
    headers = {"Content-Type": "application/json"}
    message = api.refused(400, "PATCH", "/spaces/guides", content=_whole(MAX_BODY_BYTES), headers=headers)
    assert message.startswith("body.title")


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", ""])
def test_non_json_content_type_returns_415(api: Api, kind: str) -> None:
    api.refused(415, "PATCH", "/spaces/guides", content=b"{}", headers={"Content-Type": kind})


@pytest.mark.parametrize(
    "content",
    [
        b"{",
        b"",
        b"null",
        b"[]",
        b'"text"',
        b'{"title": NaN}',
        b'{"title": -Infinity}',
        b'{"title": "\\ud800"}',
        b'{"title": "\xff"}',
        b"[" * 100_000,
        b"[" * 100_000 + b"]" * 100_000,
        b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    ],
)
def test_malformed_json_body_returns_400(api: Api, content: bytes) -> None:
    headers = {"Content-Type": "application/json"}
    message = api.refused(400, "PATCH", "/spaces/guides", content=content, headers=headers)
    assert message.startswith("body")


def test_unknown_body_members_are_ignored(api: Api) -> None:
    assert api.patch("/spaces/guides", {"title": "Guide", "colour": "red", "id": "x"})["id"] == "guides"


DOCS = "/orgs/acme/sites/docs"
LIMITS = [
    ("PATCH", "/orgs/acme", "title", ["x", "x" * 256, None, 1]),
    ("PATCH", "/orgs/acme", "hostname", ["ab", "x" * 33]),
    ("PATCH", "/orgs/acme", "logo", ["no url", "https://a.example/" + "x" * 2048]),
    ("PATCH", "/orgs/acme", "defaultRole", ["owner", ""]),
    ("PATCH", "/orgs/acme", "sso", ["true", 1, None]),
    ("PATCH", "/orgs/acme", "mergeRules", [{"type": "some"}, {"type": "rules"}, None]),
    ("POST", "/orgs/acme/sites", "title", ["x", "x" * 129]),
    ("POST", "/orgs/acme/sites", "type", ["huge"]),
    ("POST", "/orgs/acme/sites", "visibility", ["secret"]),
    ("PATCH", DOCS, "title", ["x", "x" * 129, None]),
    ("PATCH", DOCS, "basename", ["", "x" * 101]),
    ("PATCH", DOCS, "proxy", ["docs.example", "https://docs.example/x", "x" * 500 + ".docs.example/path"]),
    ("PATCH", DOCS, "adaptiveContent", [{}, {"enabled": "yes"}, None]),
    ("PATCH", DOCS, "agentsContext", ["some"]),
    (
        "PUT",
        DOCS + "/adaptive-schema",
        "jsonSchema",
        [None, {"type": "array"}, {"type": "object", "properties": 1}],
    ),
    ("POST", DOCS + "/sections", "title", ["x", "x" * 129]),
    ("PATCH", DOCS + "/sections/docs-news", "title", ["x", "x" * 129, None]),
    ("PATCH", DOCS + "/sections/docs-news", "path", ["", "x" * 101, None]),
    ("PATCH", DOCS + "/sections/docs-news", "description", ["x" * 257]),
    ("PATCH", DOCS + "/sections/docs-news", "condition", ["x" * 1025]),
    ("PATCH", DOCS + "/sections/docs-news", "icon", ["x" * 51]),
    ("POST", DOCS + "/section-groups", "title", ["", "x" * 101]),
    ("PATCH", DOCS + "/section-groups/docs-more", "icon", ["x" * 51]),
    ("PATCH", DOCS + "/site-spaces/docs-guides-en", "path", ["", "x" * 101]),
    ("PATCH", DOCS + "/site-spaces/docs-guides-en", "condition", ["x" * 1025]),
    ("PATCH", DOCS + "/site-spaces/docs-guides-en", "hidden", [None, "no"]),
    ("PATCH", "/spaces/guides", "title", ["x" * 51, None]),
    ("PATCH", "/spaces/guides", "emoji", ["x" * 51]),
    ("PATCH", "/spaces/guides", "language", ["xx", None]),
    ("PATCH", "/spaces/guides", "editMode", ["free"]),
    ("PATCH", "/spaces/guides", "defaultLevel", ["owner"]),
    ("POST", "/orgs/acme/spaces", "title", ["x" * 51]),
    ("PATCH", "/collections/product", "title", ["x" * 51]),
    ("PATCH", "/collections/product", "description", ["x" * 101, None]),
    ("PUT", "/orgs/acme/teams", "title", ["", "x" * 65]),
    ("PATCH", "/orgs/acme/teams/writers", "title", ["", "x" * 65]),
    ("PATCH", "/orgs/acme/members/kim", "role", ["owner", "guest"]),
    ("PUT", "/orgs/acme/teams/writers/members/kim", "role", ["admin", None]),
    ("PUT", "/orgs/acme/agent-instructions", "instructions", [None, {"nodes": [{"object": "leaf"}]}]),
]


@pytest.mark.parametrize(
    ("method", "path", "field", "value"), [(m, p, f, v) for m, p, f, values in LIMITS for v in values]
)
def test_error_names_body_field_outside_limits(
    api: Api, method: str, path: str, field: str, value: object
) -> None:
    body = {"spaceId": "guides", field: value} if path.endswith("/sections") else {field: value}
    assert api.refused(400, method, path, body).startswith(f"body.{field}")


@pytest.mark.parametrize("limit", ["1001", "-1", "many", "1.5", ""])
def test_error_names_invalid_limit_parameter(api: Api, limit: str) -> None:
    assert api.refused(400, "GET", "/orgs/acme/spaces", params={"limit": limit}).startswith("query.limit")


@pytest.mark.parametrize(
    "cursor", ["", "x", "bnVsbA", "WzEsMl0", "W1sieCJdLCIiXQ", "W1s5OTk5OTk5OTk5OTk5OTk5OTk5OV0sIiJd", "é"]
)
def test_error_names_invalid_page_cursor(api: Api, cursor: str) -> None:
    assert api.refused(400, "GET", "/orgs/acme/spaces", params={"page": cursor}).startswith("query.page")


def test_encoded_slash_is_part_of_path_id(api: Api) -> None:
    api.refused(404, "GET", "/spaces/guides%2Fcontent")


def test_openapi_document_lists_exactly_served_operations(api: Api, reference: Api) -> None:
    for caller, profile in ((api, "full"), (reference, "reference")):
        paths = caller.http.get("/v1/openapi.json").json()["paths"]
        listed = {(method.upper(), path) for path, methods in paths.items() for method in methods}
        assert listed == {(row.method, row.path) for row in OPERATIONS if row.is_supported_by(profile)}


def test_openapi_document_references_resolve(api: Api) -> None:
    document = api.http.get("/v1/openapi.json").json()
    schemas = document["components"]["schemas"]

    def check(value: object) -> None:
        if isinstance(value, dict):
            if isinstance(value.get("$ref"), str):
                assert value["$ref"].removeprefix("#/components/schemas/") in schemas
            for child in value.values():
                check(child)
        elif isinstance(value, list):
            for child in value:
                check(child)

    check(document)


def test_openapi_operations_have_unique_summary_and_tag(api: Api, reference: Api) -> None:
    for caller in (api, reference):
        document = caller.http.get("/v1/openapi.json").json()
        every = [one for methods in document["paths"].values() for one in methods.values()]
        assert len({one["summary"] for one in every}) == len(every)
        assert {len(one["tags"]) for one in every} == {1}
        named = [tag["name"] for tag in document["tags"]]
        assert sorted(named) == sorted({tag for one in every for tag in one["tags"]})


def test_openapi_schema_titles_are_unique(api: Api) -> None:
    document = api.http.get("/v1/openapi.json").json()

    def titles(value: Any) -> Iterator[str]:
        if isinstance(value, dict):
            if isinstance(value.get("title"), str):
                yield value["title"]
            value = list(value.values())
        if isinstance(value, list):
            for inside in value:
                yield from titles(inside)

    found = list(titles(document["components"]))
    assert [title for title, number in Counter(found).items() if number > 1] == []
    assert len(found) > 300


def test_operation_ids_and_routes_are_unique() -> None:
    assert len({row.id for row in OPERATIONS}) == len(OPERATIONS)
    assert len({(row.method, row.path) for row in OPERATIONS}) == len(OPERATIONS)


ADDITIONS = [(row.method, row.path) for row in OPERATIONS if row.profile == "full"]


@pytest.mark.parametrize(("method", "path"), ADDITIONS)
def test_reference_api_version_returns_501_for_newer_operations(
    reference: Api, method: str, path: str
) -> None:
    assert "does not have the operation" in reference.refused(501, method, path.format(**IDS))


def test_reference_api_version_ignores_newer_fields(reference: Api) -> None:
    section = reference.patch(f"{DOCS}/sections/docs-guides", {"siteSectionGroupId": "docs-more"})
    assert "sectionGroup" not in section
    groups = reference.items(f"{DOCS}/section-groups")
    assert [group["id"] for group in groups] == ["docs-more", "docs-developers"]
    assert [child["object"] for child in groups[0]["children"]] == ["site-section"]
    assert groups[1]["sectionGroup"] == "docs-more"


def test_request_log_contains_method_path_and_status(api: Api) -> None:
    api.get("/orgs")
    api.call("DELETE", "/orgs/acme/teams/none")
    assert list(api.app.requests) == [("GET", "/v1/orgs", 200), ("DELETE", "/v1/orgs/acme/teams/none", 204)]


@pytest.mark.parametrize("served", ["api", "reference", "published"])
def test_every_response_header_names_api_version(served: str, request: pytest.FixtureRequest) -> None:
    """Otherwise dpsync plans for an API edition that the companion does not serve."""
    api: Api = request.getfixturevalue(served)
    answers = [
        api.call("GET", "/orgs/acme"),
        api.call("PATCH", "/spaces/guides", {"title": "Guides"}),
        api.call("GET", "/orgs/nobody"),
        api.call("GET", "/no/such/path"),
        api.as_("wrong").call("GET", "/orgs"),
    ]

    assert [answer.status_code for answer in answers] == [200, 200, 404, 404, 401]
    assert {answer.headers.get("dpsync-profile") for answer in answers} == {api.app.profile}
