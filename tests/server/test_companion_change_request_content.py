"""What changes a content: the changes of a change request, and templates."""

from typing import Any

import pytest
from change_request_calls import (
    ARCHIVED,
    GUIDES,
    IMAGE,
    LIST,
    MERGED,
    OPEN,
    edit,
    insert,
    make,
    page,
    title,
    titles,
)
from companion_calls import Api
from covers import covers

# --- content --------------------------------------------------------------------------------------


@covers("updateChangeRequestContent", 200)
def test_content_changes_insert_move_and_delete_pages(api: Api) -> None:
    made, before = make(api), api.get(f"{GUIDES}/content")
    answer = edit(
        api,
        made,
        insert("Last", document={"markdown": "# Last\n"}),
        insert("Inside", into="welcome", slug="in-it", emoji="1f44b"),
        insert("Second", position={"after": "welcome"}, type="group"),
        {"operation": "update_page", "page": "search", "title": "Find", "icon": None, "hidden": True},
        {"operation": "update_page", "page": "payments", "into": None, "position": {"before": "search"}},
        {"operation": "delete_page", "page": "status"},
    )
    last, inside, second = (result["page"] for result in answer["results"][:3])
    content = api.get(f"{made}/content")
    assert content["id"] == answer["revision"] == api.get(made)["revision"]
    assert [found["id"] for found in content["pages"]] == [
        "welcome", second, "getting-started", "payments", "search", "shop-api", last,
    ]  # fmt: skip
    assert [found["path"] for found in content["pages"][0]["pages"]] == ["welcome/in-it"]
    found = page(api, "search", made)
    assert (found["title"], found["hidden"], found["slug"], "icon" in found) == (
        "Find",
        True,
        "search",
        False,
    )
    assert api.get(f"{GUIDES}/content") == before
    api.post(f"{made}/merge")
    assert api.get(f"{GUIDES}/content")["pages"][0]["pages"][0]["id"] == inside


def test_inserted_page_gets_heading_title_and_free_slug(api: Api) -> None:
    made = make(api)
    answer = edit(
        api,
        made,
        {"operation": "insert_page", "document": {"markdown": "Hi\n\n# Wel*come*\n"}},
        {"operation": "insert_page"},
    )
    first, second = (page(api, result["page"], made) for result in answer["results"])
    assert (first["title"], first["path"]) == ("Welcome", "welcome-2")
    assert (second["title"], second["markdown"]) == ("Untitled", "")


def test_page_text_can_be_a_document(api: Api) -> None:
    leaf = {"object": "leaf", "text": "Text", "marks": [{"object": "mark", "type": "bold"}]}
    block = {"object": "block", "type": "paragraph", "nodes": [{"object": "text", "leaves": [leaf]}]}
    document = {"object": "document", "data": {}, "nodes": [block]}
    made = make(api)
    edit(api, made, {"operation": "update_page", "page": "welcome", "document": document})
    assert page(api, "welcome", made)["markdown"] == "**Text**\n"
    shown = api.get(f"{made}/content/page/welcome", format="document")["document"]
    assert shown["nodes"][0]["nodes"][0]["leaves"] == [leaf]


def test_inserted_file_resolves_page_links_to_its_name(api: Api) -> None:
    made = make(api)
    answer = edit(
        api,
        made,
        {"operation": "insert_page", "title": "P", "document": {"markdown": "![It](./it.png)"}},
        {
            "operation": "insert_files",
            "files": [{"ref": "it.png", "name": "it.png", "url": "https://files.example/it.png"} | IMAGE],
        },
    )
    inserted, file = answer["results"][0]["page"], answer["results"][1]["files"][0]
    assert page(api, inserted, made)["markdown"] == f"![It](/files/{file})"
    kept = api.get(f"{made}/content/files/{file}")
    assert (kept["downloadURL"], kept["contentType"]) == ("https://files.example/it.png", "image/png")
    links = api.items(f"{made}/content/page/{inserted}/links")
    assert [(link["status"], link["targetReference"]["file"]["id"]) for link in links] == [("ok", file)]


@pytest.mark.parametrize("deleted", [False, True])
def test_revert_page_restores_changed_or_deleted_page(api: Api, deleted: bool) -> None:
    made, before = make(api), page(api, "first-steps")
    change = {"operation": "delete_page", "page": "first-steps"} if deleted else title("first-steps", "X")
    edit(api, made, change)
    edit(api, made, {"operation": "revert_page", "page": "first-steps"})
    after = page(api, "first-steps", made)
    assert {**after, "urls": before["urls"]} == before


def test_revert_page_removes_inserted_page(api: Api) -> None:
    made = make(api)
    new = edit(api, made, insert("New"))["results"][0]["page"]
    edit(api, made, {"operation": "revert_page", "page": new})
    assert titles(api, made) == titles(api)


@covers("updateChangeRequestContent", 400, 404)
@pytest.mark.parametrize(
    ("status", "change"),
    [
        (404, title("none", "X")),
        (404, {"operation": "delete_page", "page": "none"}),
        (404, {"operation": "revert_page", "page": "none"}),
        (404, insert("X", into="none")),
        (400, insert("X", position={"after": "none"})),
        (400, insert("X", position={"after": "welcome", "before": "welcome"})),
        (400, {"operation": "update_page", "page": "getting-started", "into": "payments"}),
        (400, {"operation": "update_page", "page": "welcome", "into": "welcome"}),
        (400, {"operation": "update_page", "page": "welcome", "title": ""}),
        (400, {"operation": "rename_page", "page": "welcome"}),
        (400, {"operation": "insert_files", "files": []}),
    ],
    ids=str,
)
def test_content_changes_are_applied_all_or_none(api: Api, status: int, change: Any) -> None:
    made = make(api)
    before = api.get(made)
    api.refused(status, "POST", f"{made}/content", {"changes": [title("welcome", "First"), change]})
    assert api.get(made) == before
    # Each of the two statuses is seen at least once in every case.
    api.refused(404, "POST", f"{made}/content", {"changes": [title("none", "X")]})
    for changes in ([], [title("welcome", "X")] * 51):
        api.refused(400, "POST", f"{made}/content", {"changes": changes})


@covers("updateChangeRequestContent", 409)
@pytest.mark.parametrize("at", [MERGED, ARCHIVED])
def test_content_of_closed_change_request_cannot_be_changed(api: Api, at: str) -> None:
    api.refused(409, "POST", f"{at}/content", {"changes": [title("welcome", "X")]})


def test_content_editor_becomes_change_request_contributor(api: Api) -> None:
    api.patch(GUIDES, {"defaultLevel": "edit"})
    edit(api.as_("rui-token"), OPEN, title("welcome", "X"))
    assert api.ids(LIST, contributor="rui") == ["better-welcome"]


# --- templates ------------------------------------------------------------------------------------


@covers("applyTemplateToSpace", 201)
def test_template_is_appended_to_space_with_new_ids(api: Api) -> None:
    before = titles(api, "/spaces/handbook")
    api.make("/spaces/handbook/content/template", {"id": "handbook"})
    assert titles(api, "/spaces/handbook") == [*before, *before]
    pages = api.get("/spaces/handbook/content/pages")["pages"]
    assert len({found["id"] for found in pages}) == 6
    assert pages[3]["path"] == "our-values-2"


def test_template_remaps_page_links_and_named_references(api: Api) -> None:
    source = make(api, "/spaces/news/change-requests")
    new = edit(api, source, insert("A"))["results"][0]["page"]
    edit(api, source, insert("B", document={"markdown": f"[a](/pages/{new}) [f](./the-file)"}))
    api.post(f"{source}/merge")
    refs = {"the-file": {"kind": "file", "file": "price-list", "space": "guides"}}
    api.make("/spaces/support/content/template", {"id": "news", "params": {"contentRefs": refs}})
    a, b = api.get("/spaces/support/content/pages")["pages"]
    assert a["id"] != new
    assert b["markdown"] == f"[a](/pages/{a['id']}) [f](/spaces/guides/files/price-list)"
    assert api.items("/spaces/support/links", status="broken") == []


@covers("applyTemplateToSpace", 404, 409)
def test_template_needs_existing_open_change_request(api: Api) -> None:
    at = f"{GUIDES}/content/template"
    api.refused(404, "POST", at, {"id": "none"})
    api.refused(404, "POST", at, {"id": "handbook", "changeRequestId": "none"})
    api.refused(409, "POST", at, {"id": "handbook", "changeRequestId": "first-search"})
    api.make(at, {"id": "handbook", "changeRequestId": "2"})
    assert titles(api, OPEN)[-1] == "Salaries"
    assert "Salaries" not in titles(api)
