"""What is read of a content: revisions, pages, files, links, searches and PDF."""

import io
from typing import Any

import httpx
import pytest
from companion_calls import Api
from covers import covers
from pypdf import PdfReader

from dpsync.server import world
from dpsync.server.control.worlds import export

GUIDES = "/spaces/guides"
OPEN = f"{GUIDES}/change-requests/2"
EITHER = pytest.mark.parametrize("at", [GUIDES, OPEN], ids=["space", "change request"])


def edited(api: Api, *changes: Any, space: str = "guides") -> str:
    """A new change request with these changes."""
    at = f"/spaces/{space}/change-requests"
    made = f"{at}/{api.make(at)['id']}"
    api.post(f"{made}/content", {"changes": list(changes)})
    return made


def written(api: Api, markdown: str, **more: Any) -> str:
    """A new change request in which the welcome has this text."""
    change = {"operation": "update_page", "page": "welcome", "document": {"markdown": markdown}}
    return edited(api, change | more)


def flat(pages: list[Any]) -> list[Any]:
    return [found for page in pages for found in (page, *flat(page["pages"]))]


# --- revisions, pages, files ----------------------------------------------------------------------


@covers("getCurrentRevision", 200)
@covers("getRevisionOfChangeRequestById", 200)
def test_a_revision_is_the_whole_content(api: Api) -> None:
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


def test_a_space_without_content_has_an_empty_revision(api: Api) -> None:
    made = api.make("/orgs/acme/spaces", {"empty": True})
    revision = api.get(f"/spaces/{made['id']}/content")
    assert revision["id"] == made["revision"]
    assert [revision[part] for part in ("pages", "files", "variables")] == [[], [], {}]
    assert api.get(f"/spaces/{made['id']}/content/pages") == {"pages": []}


@covers("listPages", 200)
@covers("listPagesInChangeRequest", 200)
def test_pages_are_a_tree(api: Api) -> None:
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
def test_a_page_has_its_text_and_its_addresses(api: Api) -> None:
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


def test_only_where_a_site_shows_it_a_page_is_published(api: Api) -> None:
    page = f"{GUIDES}/content/page/welcome"
    assert "published" in api.get(page)["urls"]
    api.post("/orgs/acme/sites/docs/unpublish")
    assert "published" not in api.get(page)["urls"]


@EITHER
def test_the_booleans_leave_out_what_git_knows_and_what_is_computed(api: Api, at: str) -> None:
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


def test_what_is_computed_changes_with_what_it_is_made_of(api: Api) -> None:
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
def test_files_are_listed_and_read(api: Api) -> None:
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
def test_a_text_is_markdown_or_a_document(api: Api, at: str) -> None:
    page = f"{at}/content/page/payments"
    plain, document = api.get(page), api.get(page, format="document")
    assert api.get(page, format="markdown") == plain
    assert "markdown" not in document
    nodes = document["document"]["nodes"]
    assert [node["type"] for node in nodes] == ["paragraph", "heading-2", "table"]
    assert texts(nodes[0]) == "Prices are in the price list, fees in the table of fees."
    assert nodes[0]["nodes"][1]["data"]["ref"] == {"kind": "file", "file": "price-list"}
    api.refused(400, "GET", page, params={"format": "html"})


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
def test_variables_are_put_in_when_asked_for(api: Api, evaluated: str, expected: str) -> None:
    made = written(api, VARIABLES, variables={"limit": "9"})
    shown = api.get(f"{made}/content/page/welcome", evaluated=evaluated)
    assert shown["markdown"].strip() == expected.strip()


def test_references_are_followed_when_asked_for(api: Api) -> None:
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


# --- links ----------------------------------------------------------------------------------------

TARGETS = [
    ("[x](getting-started/first-steps.md)", "ok", "page"),
    ("[x](./getting-started/first-steps)", "ok", "page"),
    ("[x](/search)", "ok", "page"),
    ("[x](/pages/search)", "ok", "page"),
    ("[x](/pages/search#when-it-is-slow)", "ok", "page"),
    ("[x](/pages/search#nowhere)", "broken", "page"),
    ("[x](/pages/none)", "broken", "page"),
    ("[x](none.md)", "broken", "url"),
    ("[x](../../none)", "broken", "url"),
    ("## Here\n\n[x](#here)", "ok", "page"),
    ("[x](#there)", "broken", "page"),
    ("![x](/files/overview-png)", "ok", "file"),
    ("![x](assets/overview.png)", "ok", "file"),
    ("![x](/files/none)", "broken", "file"),
    ("[x](https://elsewhere.example/a)", "ok", "url"),
    ("[x](mailto:ada@acme.example)", "ok", "url"),
    ("[x](https://app.docs.example/s/guides)", "in-app", "url"),
    ("[x](https://app.docs.example.org/)", "ok", "url"),
    ("[x](/spaces/handbook)", "ok", "space"),
    ("[x](/spaces/none)", "broken", "space"),
    ("[x](/spaces/handbook/pages/values)", "ok", "page"),
    ("[x](/spaces/handbook/pages/none)", "broken", "page"),
    ("[x](/collections/api)", "ok", "collection"),
    ("[x](/users/ada)", "ok", "user"),
    ("[x](/users/none)", "broken", "user"),
    ("[x](/openapi/shop)", "ok", "openapi"),
    ("[x](/openapi/none)", "broken", "openapi"),
    ('{% include "help-note" %}', "ok", "reusable-content"),
    ('{% include "none" %}', "broken", "reusable-content"),
]


@pytest.mark.parametrize(
    ("markdown", "status", "kind"), TARGETS, ids=[markdown for markdown, _, _ in TARGETS]
)
def test_a_link_leads_somewhere_or_is_broken(api: Api, markdown: str, status: str, kind: str) -> None:
    at = f"{written(api, markdown)}/content/page/welcome/links"
    answer = api.get(at)
    (link,) = answer["items"]
    assert (link["status"], link["targetReference"]["kind"], link["relation"]) == (status, kind, "reference")
    (location,) = link["locationReferences"]
    assert (location["kind"], location["page"]["id"], location["space"]["id"]) == (
        "page",
        "welcome",
        "guides",
    )
    broken = int(status == "broken")
    assert answer["stats"] == {"total": 1, "broken": {"total": broken, "changeRequest": broken}}


@covers("listPageLinksInSpace", 200, 404)
@covers("listPageLinksInChangeRequest", 200, 404)
@EITHER
def test_links_of_a_page_are_found_by_their_status(api: Api, at: str) -> None:
    at = f"{at}/content/page/payments/links"
    assert [link["status"] for link in api.items(at, limit=1)] == ["ok", "broken"]
    for status in ("ok", "broken", "in-app"):
        answer = api.get(at, status=status)
        assert answer["count"] == len(answer["items"]) == (status != "in-app")
        assert answer["stats"] == {"total": 2, "broken": {"total": 1, "changeRequest": 0}}
    api.refused(400, "GET", at, params={"status": "fine"})
    for place in (GUIDES, OPEN):
        api.get(f"{place}/content/page/payments/links")
        api.refused(404, "GET", f"{place}/content/page/none/links")


@covers("listSpaceLinks", 200)
def test_links_of_a_space_are_told_once_for_each_target(api: Api) -> None:
    answer = api.get(f"{GUIDES}/links")
    targets = [link["targetReference"] for link in answer["items"]]
    assert len(targets) == answer["count"] == answer["stats"]["total"]
    note = next(found for found in targets if found["kind"] == "reusable-content")
    assert note["reusableContent"]["id"] == "help-note"
    (broken,) = api.items(f"{GUIDES}/links", status="broken")
    assert broken["targetReference"] == {"kind": "url", "url": "fees.md"}
    assert [found["page"]["id"] for found in broken["locationReferences"]] == ["payments"]
    (in_app,) = api.items(f"{GUIDES}/links", status="in-app")
    assert in_app["targetReference"]["url"] == "https://app.docs.example/s/guides/settings"
    depends = [link for link in answer["items"] if link["relation"] == "dependsOn"]
    assert [link["targetReference"]["openapi"] for link in depends] == ["shop"]


def test_a_change_request_is_told_of_what_it_breaks_itself(api: Api) -> None:
    made = edited(api, {"operation": "delete_page", "page": "search"})
    stats = api.get(f"{made}/content/page/welcome/links")["stats"]
    assert stats == {"total": 4, "broken": {"total": 1, "changeRequest": 1}}
    api.post(f"{made}/merge")
    assert api.get(f"{GUIDES}/content/page/welcome/links")["stats"]["broken"] == {
        "total": 1,
        "changeRequest": 0,
    }


def test_what_the_caller_may_not_view_is_broken_to_them(api: Api) -> None:
    api.patch("/spaces/api-reference", {"defaultLevel": None})
    at = f"{GUIDES}/content/page/search/links"
    assert [link["status"] for link in api.items(at)] == ["ok", "in-app", "ok"]
    assert [link["status"] for link in api.as_("lin-token").items(at)] == ["broken", "in-app", "ok"]


def located(items: list[Any]) -> list[tuple[str, str]]:
    return [(found["space"]["id"], (found.get("page") or found["reusableContent"])["id"]) for found in items]


@covers("listSpacePageBacklinks", 200, 404)
@covers("listChangeRequestPageBacklinks", 200, 404)
def test_backlinks_are_the_pages_that_lead_to_a_page(api: Api) -> None:
    def backlinks(at: str, page: str) -> list[tuple[str, str]]:
        return located(api.items(f"{at}/content/page/{page}/backlinks", limit=1))

    assert backlinks(GUIDES, "welcome") == [("guides", "search"), ("handbook", "people")]
    assert backlinks(GUIDES, "payments") == [("guides", "first-steps")]
    assert backlinks(OPEN, "payments") == [("guides", "welcome"), ("guides", "first-steps")]
    assert backlinks(OPEN, "search") == []
    for at in (GUIDES, OPEN):
        api.refused(404, "GET", f"{at}/content/page/none/backlinks")


@covers("listSpaceFileBacklinks", 200, 404)
@covers("listChangeRequestFileBacklinks", 200, 404)
def test_backlinks_of_a_file_are_the_pages_that_show_it(api: Api) -> None:
    at = "content/files/overview-png/backlinks"
    (found,) = api.items(f"{GUIDES}/{at}")
    assert (found["page"]["id"], found["versionContext"]["revision"]) == ("welcome", "rev-guides")
    assert api.items(f"{OPEN}/{at}") == []
    for place in (GUIDES, OPEN):
        api.refused(404, "GET", f"{place}/content/files/none/backlinks")


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
def test_a_space_is_searched_for_words_of_titles_and_texts(api: Api, query: str, expected: list[str]) -> None:
    at = f"{GUIDES}/search"
    assert api.ids(at, query=query, limit=1) == expected
    assert api.get(at, query=query)["count"] == len(expected)


def test_a_hit_tells_where_the_words_are(api: Api) -> None:
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
def test_an_organization_is_searched_space_by_space(api: Api) -> None:
    def found(query: str, token: str = "ada-token") -> Any:
        items = api.as_(token).items("/orgs/acme/search", query=query, limit=1)
        return {space["id"]: [page["id"] for page in space["pages"]] for space in items}

    assert found("guides") == {"guides": ["welcome"], "handbook": ["people"]}
    assert found("handbook") == {"handbook": []}
    assert found("kind") == {"handbook": ["values"]}
    api.patch("/spaces/handbook", {"defaultLevel": None})
    assert found("kind", "lin-token") == {}
    assert found("kind", "ada-token") == {"handbook": ["values"]}


# --- PDF ------------------------------------------------------------------------------------------


def pdf(api: Api, at: str = OPEN, **query: Any) -> PdfReader:
    """What is at the address that is answered, without any token."""
    answer = httpx.get(api.get(f"{at}/pdf", **query)["url"], trust_env=False)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/pdf")
    return PdfReader(io.BytesIO(answer.content), strict=True)


def text_in(reader: PdfReader) -> str:
    return " ".join(" ".join(page.extract_text() for page in reader.pages).split())


@covers("getChangeRequestPDF", 200)
def test_a_pdf_has_the_text_of_every_page(api: Api) -> None:
    reader = pdf(api)
    assert reader.metadata is not None
    assert reader.metadata.title == "Guides"
    found = text_in(reader)
    for words in (
        "Hello. Set up payments, then sell.", "acme-shop install --edition small",
        "1. Download the installer.", "• Installed", "| Credit | **2 %** |",
        "Search finds at most 100 things.", "Status",
    ):  # fmt: skip
        assert words in found


@covers("getChangeRequestPDF", 400, 404)
def test_a_pdf_may_be_of_one_page_with_or_without_those_below(api: Api) -> None:
    one = text_in(pdf(api, page="getting-started", only=True))
    assert one == "Getting started"
    below = text_in(pdf(api, page="getting-started"))
    assert "Download the installer." in below
    assert "Hello." not in below
    api.refused(404, "GET", f"{OPEN}/pdf", params={"page": "none"})
    api.refused(400, "GET", f"{OPEN}/pdf", params={"only": "true"})


def test_a_pdf_has_any_characters_and_any_length(api: Api) -> None:
    alphabets = "Grüße, “quoted” – €5; (\\) 日本語, Ελληνικά, кириллица"
    long = "\n\n".join(f"Paragraph {number} " + "goes on and on " * 20 for number in range(60))
    made = written(api, f"{alphabets.replace(chr(92), chr(92) * 2)}\n\n{'x' * 500}\n\n{long}\n")
    reader = pdf(api, made, page="welcome", only=True)
    found = text_in(reader)
    assert alphabets in found
    assert "Paragraph 59 goes on" in found
    assert found.replace(" ", "").count("x") >= 500
    assert len(reader.pages) > 3


def test_an_address_of_a_pdf_cannot_be_made_up(api: Api) -> None:
    url = api.get(f"{OPEN}/pdf")["url"]
    other = api.get(f"{OPEN}/pdf", page="welcome")["url"]
    named, seal = other.rpartition("/")[2].split(".")
    wrong = [
        url[:-1] + ("0" if url[-1] != "0" else "1"),
        f"{url.rpartition('/')[0]}/{named}",
        f"{url}x",
        url[:-65],
    ]
    for address in (*wrong, url.replace(url.rpartition(".")[2], seal)):
        answer = httpx.get(address, trust_env=False)
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, 404)


def test_the_address_of_a_pdf_is_good_while_the_space_is_there(api: Api) -> None:
    url = api.get(f"{OPEN}/pdf")["url"]
    api.post(f"{OPEN}/merge")
    assert httpx.get(url, trust_env=False).status_code == 200
    api.delete(GUIDES)
    assert httpx.get(url, trust_env=False).status_code == 404


# --- worlds ---------------------------------------------------------------------------------------

READS = [
    f"{GUIDES}", f"{GUIDES}/content", f"{GUIDES}/links", f"{GUIDES}/content/files", f"{OPEN}/content",
    "/orgs/acme/change-requests", "/orgs/globex/change-requests", "/spaces/manual/content",
    "/spaces/manual/change-requests/1/content",
]  # fmt: skip


def test_content_survives_an_export_and_an_import(api: Api) -> None:
    api.post(f"{GUIDES}/change-requests/3/merge")
    block = {"object": "block", "type": "hint", "data": {"style": "info"}, "nodes": []}
    document = {"object": "document", "data": {}, "nodes": [block]}
    edited(api, {"operation": "update_page", "page": "welcome", "document": document, "cover": {
        "ref": {"kind": "file", "file": "overview-png"}}, "layout": {"width": "wide"}})  # fmt: skip
    before = [api.get(path) for path in READS]
    exported = api.server.call(lambda: export(api.app.store))
    kept = {record["kind"] for record in exported["records"]}
    assert "change-request" not in kept
    api.server.reset(exported)
    assert [api.get(path) for path in READS] == before
    assert api.server.call(lambda: export(api.app.store)) == exported
    again = written(api, "New")
    assert api.get(f"{again}/content")["id"] not in [api.get(f"{OPEN}/content")["id"], before[1]["id"]]


def test_a_world_says_content_in_few_words(api: Api) -> None:
    content = {
        "pages": [{"title": "A", "pages": [{"title": "B", "markdown": "[a](../a)\n"}]}, {"title": "A"}]
    }
    space = {"id": "s", "content": content, "changeRequests": [{"createdBy": "u", "subject": "S"}]}
    member = {"user": "u", "role": "admin"}
    api.server.reset(
        {
            "users": [{"id": "u", "displayName": "U"}],
            "tokens": {"t": "u"},
            "organizations": [{"id": "o1", "title": "Org", "members": [member], "spaces": [space]}],
        }
    )
    caller = api.as_("t")
    pages = flat(caller.get("/spaces/s/content/pages")["pages"])
    assert [(page["title"], page["path"]) for page in pages] == [("A", "a"), ("B", "a/b"), ("A", "a-2")]
    (link,) = caller.items("/spaces/s/links")
    assert (link["status"], link["targetReference"]["page"]["path"]) == ("ok", "a")
    assert caller.get("/spaces/s/change-requests/1")["status"] == "draft"


@pytest.mark.parametrize(
    "space",
    [
        {"content": {"pages": [{"markdown": "no title"}]}},
        {"content": {"pages": [{"title": "A", "id": "a"}, {"title": "B", "id": "a"}]}},
        {"content": {"pages": "text"}},
        {"changeRequests": [{"subject": "by nobody"}]},
        {"changeRequests": [{"createdBy": "u", "changes": [{"operation": "delete_page", "page": "none"}]}]},
    ],
    ids=str,
)
def test_what_is_no_content_is_no_world(api: Api, space: Any) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        world.load(api.app.store, {"organizations": [{"id": "o", "spaces": [{"id": "s", **space}]}]})
