"""The profile `published`: what the vendor's edition of today has, takes and answers.

Answers are held against the vendor's own document where it was fetched (`make contract`).
"""

from __future__ import annotations

import re
from typing import Any

import pytest
from cases import BODIES
from companion_calls import Api
from test_companion_operations import path_of, prepare
from world_walk import Walk

from dpsync.server.operations import ALL_OPERATIONS, OPERATIONS
from dpsync.server.operations.profiles import REMOVED_IN_PUBLISHED, operations_of_profile
from dpsync.server.request.operation import Operation
from dpsync.server.sites.customization import DEFAULTS
from tests.contract.editions import document, is_here
from tests.contract.openapi import Contract

EDITION = "0.202.0"
NEEDED = f"make contract fetches the vendor's document {EDITION}"
SERVED = operations_of_profile(ALL_OPERATIONS, "published")
LOOKS_OF_A_SPACE = "/orgs/acme/sites/docs/site-spaces/docs-api-changelog/customization"
WITH_MORE: dict[str, Any] = {
    "updateSiteAdaptiveSchema": {
        "jsonSchema": {
            "type": "object",
            "properties": {"a": {"type": "boolean", "description": "A"}},
            "additionalProperties": False,
        },
    },
    "updateSiteCustomizationById": {
        **DEFAULTS,
        "styling": {
            **DEFAULTS["styling"],
            "codeTheme": {name: {"light": "nord", "dark": "red"} for name in ("default", "openapi")},
        },
    },
    "publishIntegration": {
        "title": "New", "description": "", "scopes": [], "script": "export default {}",
        "organization": "acme",
    },
}  # fmt: skip
"""The bodies that have to have more than those of the other profiles."""


@pytest.fixture(scope="module")
def contract() -> Contract:
    if not is_here(EDITION):
        pytest.skip(NEEDED)
    return Contract(document(EDITION))


def body_of(row: Operation) -> Any:
    return WITH_MORE.get(row.id, BODIES.get(row.id))


@pytest.mark.parametrize("row", SERVED, ids=lambda row: str(row.id))
def test_every_operation_of_published_api_version_succeeds(
    published: Api, row: Operation, builtin_world: Any
) -> None:
    prepare(published, builtin_world)
    answer = published.call(row.method, path_of(row), body_of(row))
    expected = {row.status, 205} if row.method == "DELETE" else {row.status}
    assert answer.status_code in expected, answer.text


@pytest.mark.parametrize(
    "row", [row for row in OPERATIONS if row.id in REMOVED_IN_PUBLISHED], ids=lambda row: str(row.id)
)
def test_operations_removed_in_published_api_version_return_404(published: Api, row: Operation) -> None:
    answer = published.call(row.method, path_of(row), BODIES.get(row.id))
    assert answer.status_code in (404, 405), answer.text


def test_removed_operations_match_vendor_openapi(contract: Contract) -> None:
    there = {(method, path) for method, path, _ in contract.operations()}
    assert {
        row.id for row in OPERATIONS if (row.method, _plain(row.path)) not in there
    } == REMOVED_IN_PUBLISHED


def _plain(path: str) -> str:
    return re.sub(r"\{[^{}]+\}", "{}", path)


@pytest.mark.parametrize("token", ["ada-token", "hank-token", "kim-token", "gus-token"])
def test_published_api_version_get_responses_match_vendor_openapi(
    published: Api, contract: Contract, token: str, builtin_world: Any
) -> None:
    prepare(published, builtin_world)
    walk = Walk(published.as_(token), "published")
    wrong = [
        f"GET {path}: {one}"
        for _, path, answer in walk
        for one in contract.answer_errors("GET", path.partition("?")[0], 200, answer)
    ]
    assert wrong == []


@pytest.mark.parametrize("row", [row for row in SERVED if row.method != "GET"], ids=lambda row: str(row.id))
def test_published_api_version_write_responses_match_vendor_openapi(
    published: Api, contract: Contract, row: Operation, builtin_world: Any
) -> None:
    prepare(published, builtin_world)
    path = path_of(row)
    answer = published.call(row.method, path, body_of(row))
    found = answer.json() if answer.content else None
    assert contract.answer_errors(row.method, path, answer.status_code, found) == []


def test_published_api_version_delete_returns_205_then_204(published: Api) -> None:
    published.ok("DELETE", "/orgs/acme/sites/docs", status=205)
    published.ok("DELETE", "/orgs/acme/sites/docs", status=204)


def test_member_removal_awaiting_approval_returns_202(published: Api) -> None:
    published.app.asks_before_removal = True
    try:
        published.ok("DELETE", "/orgs/acme/members/eve", status=202)
    finally:
        published.app.asks_before_removal = False
    assert published.get("/orgs/acme/members/eve")["id"] == "eve"
    published.ok("DELETE", "/orgs/acme/members/eve", status=205)


def test_published_api_version_creates_site_of_type_ultimate(published: Api) -> None:
    assert published.make("/orgs/acme/sites", {"title": "New"})["type"] == "ultimate"


def test_published_api_version_site_omits_agents_context(published: Api) -> None:
    assert "agentsContext" not in published.patch("/orgs/acme/sites/docs", {"agentsContext": "excluded"})


def test_published_site_space_customization_is_merged_with_site(published: Api) -> None:
    looks = published.get("/orgs/acme/sites/docs/customization")
    path = "/orgs/acme/sites/docs/site-spaces/docs-api-changelog/customization"
    changed = published.patch(path, {"styling": {"corners": "straight"}})
    assert changed["styling"] == {**looks["styling"], "corners": "straight"}
    assert published.get(path)["footer"] == looks["footer"]


def test_published_api_version_customization_patch_clears_single_members(published: Api) -> None:
    published.patch(LOOKS_OF_A_SPACE, {"styling": {"corners": "straight", "depth": "flat"}})
    both = published.patch(LOOKS_OF_A_SPACE, {"styling": {"depth": None, "icons": "thin"}})["styling"]
    usual = published.get("/orgs/acme/sites/docs/customization")["styling"]
    assert both == {**usual, "corners": "straight", "icons": "thin"}


def test_published_api_version_ignores_unmasked_customization_query(published: Api) -> None:
    path = "/orgs/acme/sites/docs/customization"
    assert published.get(f"{path}?unmasked=true") == published.get(path)


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PATCH", "/orgs/acme", {"title": "  "}),
        ("PATCH", "/orgs/acme/sites/docs/sections/docs-news", {"localizedTitle": None}),
        ("PATCH", "/orgs/acme/sites/docs/section-groups/docs-more", {"localizedTitle": None}),
        ("PATCH", "/orgs/acme/sites/docs", {"proxy": "intranet/docs"}),
        ("POST", "/orgs/acme/sites/docs/share-links", {"name": "x" * 51}),
        ("POST", "/integrations/new", {"title": "New", "organization": "acme"}),
        ("PUT", "/orgs/acme/sites/docs/customization", DEFAULTS),
        ("PATCH", LOOKS_OF_A_SPACE, {"ai": None, "styling": {"corners": "round"}}),
        ("PATCH", LOOKS_OF_A_SPACE, {"header": {"logo": {"light": "https://acme.example/l.png"}}}),
        ("PATCH", LOOKS_OF_A_SPACE, {"header": {"primaryLink": {"kind": "url"}}}),
        ("PATCH", LOOKS_OF_A_SPACE, {"themes": None}),
        (
            "POST",
            "/orgs/acme/sites/docs/redirects",
            {"source": "/a b", "destination": {"kind": "site-section", "siteSectionId": "docs-news"}},
        ),
    ],
)
def test_published_api_version_refuses_invalid_bodies(
    published: Api, method: str, path: str, body: Any
) -> None:
    published.refused(400, method, path, body)


@pytest.mark.parametrize("body", [{"icon": "https://a.example/i.svg"}, {"emoji": "1f4d6"}])
def test_published_api_version_space_has_icon_or_emoji(published: Api, body: dict[str, str]) -> None:
    published.patch("/spaces/guides", {"emoji": "1f680"})
    published.patch("/spaces/guides", {"icon": "https://b.example/j.svg"})
    space = published.patch("/spaces/guides", body)
    assert (space["emoji"], space["urls"].get("icon")) == (body.get("emoji", ""), body.get("icon"))
    both = {"icon": "https://a.example/i.svg", "emoji": "1f4d6"}
    assert "set emoji or icon, not both" in published.refused(400, "PATCH", "/spaces/guides", both)
    none = published.patch("/spaces/guides", {"emoji": None, "icon": None})
    assert (none["emoji"], "icon" in none["urls"]) == ("", False)
