"""How a world says content and change requests."""

from typing import Any

import pytest
from companion_calls import Api
from content_calls import GUIDES, OPEN, edited, flat, written

from dpsync.server import world
from dpsync.server.control.world_export import export_state

READS = [
    f"{GUIDES}", f"{GUIDES}/content", f"{GUIDES}/links", f"{GUIDES}/content/files", f"{OPEN}/content",
    "/orgs/acme/change-requests", "/orgs/globex/change-requests", "/spaces/manual/content",
    "/spaces/manual/change-requests/1/content",
]  # fmt: skip


def test_exported_server_data_reloads_with_same_content(api: Api) -> None:
    api.post(f"{GUIDES}/change-requests/3/merge")
    block = {"object": "block", "type": "hint", "data": {"style": "info"}, "nodes": []}
    document = {"object": "document", "data": {}, "nodes": [block]}
    edited(api, {"operation": "update_page", "page": "welcome", "document": document, "cover": {
        "ref": {"kind": "file", "file": "overview-png"}}, "layout": {"width": "wide"}})  # fmt: skip
    before = [api.get(path) for path in READS]
    exported = api.server.run_in_server(lambda: export_state(api.app.store))
    kept = {record["kind"] for record in exported["records"]}
    assert "change-request" not in kept
    api.server.reset(exported)
    assert [api.get(path) for path in READS] == before
    assert api.server.run_in_server(lambda: export_state(api.app.store)) == exported
    again = written(api, "New")
    assert api.get(f"{again}/content")["id"] not in [api.get(f"{OPEN}/content")["id"], before[1]["id"]]


def test_server_data_file_content_fields_have_defaults(api: Api) -> None:
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
def test_server_data_file_with_invalid_content_is_refused(api: Api, space: Any) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        world.load_world(api.app.store, {"organizations": [{"id": "o", "spaces": [{"id": "s", **space}]}]})
