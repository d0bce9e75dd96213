"""What is read of a content: revisions, pages and files, in which form, and what is found in it."""

from typing import Any

import pytest
from change_request_calls import edit, insert, make, page
from companion_calls import Api
from content_calls import EITHER, GUIDES, OPEN, flat, written
from covers import covers

# --- revisions, pages, files ----------------------------------------------------------------------


@covers("getCurrentRevision", 200)
@covers("getRevisionOfChangeRequestById", 200)
def test_revision_returns_whole_space_content(api: Api) -> None:
    revision = api.get(f"{GUIDES}/content")
    assert (revision["id"], revision["type"], revision["parents"]) == ("rev-guides", "edits", [])
    assert revision["variables"] == {"product": "Acme Shop", "version": "4.2"}
    assert [content["id"] for content in revision["reusableContents"]] == ["help-note"]
    assert revision["git"]["message"] == "Explain the search"
    assert revision["urls"]["published"] == api.get(GUIDES)["urls"]["published"]
    of_change = api.get(f"{OPEN}/content")
    assert of_change["id"] == api.get(OPEN)["revision"] != revision["id"]
    assert (of_change["files"], of_change["variables"]) == (revision["files"], revision["variables"])
    assert "published" not in of_change["urls"]


def test_empty_space_has_empty_revision(api: Api) -> None:
    made = api.make("/orgs/acme/spaces", {"empty": True})
    revision = api.get(f"/spaces/{made['id']}/content")
    assert revision["id"] == made["revision"]
    assert [revision[part] for part in ("pages", "files", "variables")] == [[], [], {}]
    assert api.get(f"/spaces/{made['id']}/content/pages") == {"pages": []}


@covers("listPages", 200)
@covers("listPagesInChangeRequest", 200)
def test_pages_are_returned_as_tree(api: Api) -> None:
    pages = api.get(f"{GUIDES}/content/pages")["pages"]
    assert [(page["id"], page["type"], page["path"]) for page in flat(pages)] == [
        ("welcome", "document", "welcome"),
        ("getting-started", "group", "getting-started"),
        ("first-steps", "document", "getting-started/first-steps"),
        ("payments", "document", "getting-started/payments"),
        ("search", "document", "search"),
        ("status", "link", "status"),
        ("shop-api", "computed", "the-api-of-the-shop"),
    ]
    assert pages == api.get(f"{GUIDES}/content")["pages"]
    assert api.get(f"{OPEN}/content/pages")["pages"][0]["title"] == "Hello"


@covers("getPageById", 200, 404)
@covers("getPageInChangeRequestById", 200, 404)
def test_page_has_text_and_urls(api: Api) -> None:
    page = api.get(f"{GUIDES}/content/page/first-steps")
    assert page["markdown"].startswith("## Install\n\n1. Download the installer.")
    base = api.get(GUIDES)["urls"]["published"]
    assert page["urls"] == {
        "app": "https://app.docs.example/s/guides/getting-started/first-steps",
        "published": f"{base}getting-started/first-steps",
    }
    changed = api.get(f"{OPEN}/content/page/welcome")
    assert changed["markdown"].startswith("Hello.")
    assert changed["urls"] == {"app": "https://app.docs.example/s/guides/~/changes/2/welcome"}
    status = api.get(f"{GUIDES}/content/page/status")
    assert (status["href"], status["target"]["kind"], "markdown" in status) == (
        "https://status.acme.example", "url", False,
    )  # fmt: skip
    for at in (GUIDES, OPEN):
        api.refused(404, "GET", f"{at}/content/page/none")


def test_page_has_published_url_only_on_published_site(api: Api) -> None:
    page = f"{GUIDES}/content/page/welcome"
    assert "published" in api.get(page)["urls"]
    api.post("/orgs/acme/sites/docs/unpublish")
    assert "published" not in api.get(page)["urls"]


@EITHER
def test_content_queries_omit_git_metadata_and_computed_text(api: Api, at: str) -> None:
    page = f"{at}/content/page"
    assert api.get(f"{page}/welcome")["git"]["path"] == "README.md"
    assert "git" not in api.get(f"{page}/welcome", metadata=False)
    assert "git" not in api.get(f"{at}/content", metadata=False)
    assert "git" not in api.get(f"{at}/content/files/overview-png", metadata=False)
    assert ["git" in found for found in api.items(f"{at}/content/files", metadata=False)] == [False, False]
    computed = api.get(f"{page}/shop-api")
    assert (
        computed["markdown"] == "The API of the specification [shop](/openapi/shop), in its version shop-1.\n"
    )
    left_out = api.get(f"{page}/shop-api", computed=False)
    assert left_out == {name: value for name, value in computed.items() if name != "markdown"}
    assert "markdown" not in flat(api.get(f"{at}/content/pages", computed=False)["pages"])[-1]


def test_computed_page_changes_with_its_openapi_spec(api: Api) -> None:
    page = f"{GUIDES}/content/page/shop-api"
    seed = api.get(page)["computedSeed"]
    api.delete("/orgs/acme/openapi/shop")
    after = api.get(page)
    assert after["computedSeed"] != seed
    assert after["markdown"] == "The API of the specification [shop](/openapi/shop), which has no version.\n"


@covers("listFiles", 200)
@covers("listFilesInChangeRequestById", 200)
@covers("getFileById", 200, 404)
@covers("getFileInChangeRequestById", 200, 404)
def test_space_files_are_listed_and_read(api: Api) -> None:
    for at in (GUIDES, OPEN):
        files = api.items(f"{at}/content/files", limit=1)
        assert [file["id"] for file in files] == ["overview-png", "price-list"]
        assert [api.get(f"{at}/content/files/{file['id']}") for file in files] == files
        assert (files[0]["name"], files[0]["size"], files[0]["dimensions"]["width"]) == (
            "overview.png",
            48213,
            1280,
        )
        api.refused(404, "GET", f"{at}/content/files/none")


# --- formats --------------------------------------------------------------------------------------


def texts(node: Any) -> str:
    if isinstance(node, list):
        return "".join(map(texts, node))
    return node.get("text", "") + texts([*node.get("nodes", []), *node.get("leaves", [])])


@EITHER
def test_page_format_is_markdown_or_document(api: Api, at: str) -> None:
    page = f"{at}/content/page/payments"
    plain, document = api.get(page), api.get(page, format="document")
    assert api.get(page, format="markdown") == plain
    assert "markdown" not in document
    nodes = document["document"]["nodes"]
    assert [node["type"] for node in nodes] == ["paragraph", "heading-2", "table"]
    assert texts(nodes[0]) == "Prices are in the price list, fees in the table of fees."
    assert nodes[0]["nodes"][1]["data"]["ref"] == {"kind": "file", "file": "price-list"}
    api.refused(400, "GET", page, params={"format": "html"})
    below = api.get(f"{at}/content/page/getting-started", format="document")["pages"]
    assert [("document" in found, "markdown" in found) for found in below] == [(True, False)] * 2


VARIABLES = """\
<code class="expression">space.vars.product</code> <code class="expression">page.vars.limit</code>
<code class="expression">visitor.claims.plan</code> <code class="expression">space.vars.none</code>
"""


@pytest.mark.parametrize(
    ("evaluated", "expected"),
    [
        ("false", VARIABLES),
        ("true", "Acme Shop 9\n"),
        (
            "deterministic-only",
            'Acme Shop 9\n<code class="expression">visitor.claims.plan</code> '
            '<code class="expression">space.vars.none</code>\n',
        ),
    ],
)
def test_page_variables_are_evaluated_on_request(api: Api, evaluated: str, expected: str) -> None:
    made = written(api, VARIABLES, variables={"limit": "9"})
    shown = api.get(f"{made}/content/page/welcome", evaluated=evaluated)
    assert shown["markdown"].strip() == expected.strip()


def test_page_references_are_resolved_on_request(api: Api) -> None:
    made = written(
        api, '{% include "help-note" %}\n\n[s](/pages/search#x) ![o](/files/overview-png) [g](/pages/no)\n'
    )
    page = f"{made}/content/page/welcome"
    assert '{% include "help-note" %}' in api.get(page)["markdown"]
    included = api.get(page, dereferenced="reusable-contents")["markdown"]
    assert included.startswith(
        "Ask in the [help center](https://help.acme.example) for help.\n\n[s](/pages/search#x)"
    )
    followed = api.get(page, dereferenced="true")["markdown"]
    assert f"[s](https://app.docs.example/s/guides/~/changes/{api.get(made)['number']}/search#x)" in followed
    assert "![o](https://files.docs.example/guides/overview-png/overview.png)" in followed
    assert "[g](/pages/no)" in followed
    api.refused(400, "GET", page, params={"dereferenced": "some"})


# --- search ---------------------------------------------------------------------------------------


@covers("searchSpaceContent", 200)
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("search", ["search", "welcome"]),
        ("SEARCH", ["search", "welcome"]),
        ("installer", ["first-steps"]),
        ("card fee", ["payments"]),
        ("guides about", ["welcome"]),
        ("installer cards", []),
        ("status", ["status"]),
        ("   ", []),
    ],
)
def test_space_search_matches_titles_and_text(api: Api, query: str, expected: list[str]) -> None:
    at = f"{GUIDES}/search"
    assert api.ids(at, query=query, limit=1) == expected
    assert api.get(at, query=query)["count"] == len(expected)


def test_search_hit_shows_matching_section(api: Api) -> None:
    (hit,) = api.items(f"{GUIDES}/search", query="installer")
    assert (hit["path"], hit["ancestors"]) == ("getting-started/first-steps", [{"title": "Getting started"}])
    (section,) = hit["sections"]
    assert (section["id"], section["title"], section["path"]) == (
        "install", "Install", "getting-started/first-steps#install",
    )  # fmt: skip
    assert "Download the installer." in section["body"]
    api.refused(400, "GET", f"{GUIDES}/search")
    api.refused(400, "GET", f"{GUIDES}/search", params={"query": "x" * 513})


@covers("searchOrganizationContent", 200)
def test_organization_search_is_grouped_by_visible_space(api: Api) -> None:
    def found(query: str, token: str = "ada-token") -> Any:
        items = api.as_(token).items("/orgs/acme/search", query=query, limit=1)
        return {space["id"]: [page["id"] for page in space["pages"]] for space in items}

    assert found("guides") == {"guides": ["welcome"], "handbook": ["people"]}
    assert found("handbook") == {"handbook": []}
    assert found("kind") == {"handbook": ["values"]}
    api.patch("/spaces/handbook", {"defaultLevel": None})
    assert found("kind", "lin-token") == {}
    assert found("kind", "ada-token") == {"handbook": ["values"]}


def test_computed_page_shows_dependencies_and_props(api: Api) -> None:
    made = make(api)
    openapi = {
        "type": "builtin:openapi",
        "dependencies": {"spec": {"ref": {"kind": "openapi", "spec": "shop"}}},
    }
    for given, props in (
        (openapi, {"doc": "shop"}),
        ({**openapi, "props": {"doc": "other", "models": True}}, {"doc": "other", "models": True}),
        ({"type": "integration:acme-tools:tickets"}, {}),
    ):
        inserted = edit(api, made, insert("C", type="computed", computed=given))["results"][0]["page"]
        shown = page(api, inserted, made)["computed"]
        assert shown == {"dependencies": {}, **given, "props": props}
