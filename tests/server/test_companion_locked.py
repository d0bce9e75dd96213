"""A space whose `editMode` is `locked`.

With `full` and `reference` neither the content nor a change request can be edited. With `published` the space
accepts change requests (the vendor's documentation as of May 2026, page "Roles", and the descriptions of
`permissions` in the OpenAPI document of 0.202.0).
"""

from typing import Any

import pytest
from cases import BODIES, IDS, OTHER_IDS
from change_request_calls import GUIDES, OPEN
from companion_calls import Api
from platform_of_roles import give

from dpsync.server.operations import OPERATIONS

EDITS = [
    "createChangeRequest",
    "updateChangeRequestById",
    "mergeChangeRequest",
    "updateChangeRequest",
    "updateChangeRequestContent",
    "requestReviewersForChangeRequest",
    "applyTemplateToSpace",
]
ROWS = {row.id: row for row in OPERATIONS}
BODY: dict[str, Any] = {**BODIES, "requestReviewersForChangeRequest": {"users": ["lin"], "subject": "S"}}


@pytest.mark.parametrize("name", EDITS)
def test_locked_space_refuses_edits_even_by_admins(api: Api, name: str) -> None:
    row = ROWS[name]
    path = row.path.format(**{**IDS, **OTHER_IDS.get(name, {})})
    api.patch(GUIDES, {"editMode": "locked"})
    before = api.state()
    message = api.refused(403, row.method, path, BODY.get(name))
    assert message == "the space 'guides' is locked: to edit the space, set its editMode to live"
    assert api.state() == before
    api.patch(GUIDES, {"editMode": "live"})
    assert api.call(row.method, path, BODY.get(name)).is_success


def test_locked_space_refuses_template_in_change_request(api: Api) -> None:
    api.patch(GUIDES, {"editMode": "locked"})
    into = {"id": "handbook", "changeRequestId": "better-welcome"}
    api.refused(403, "POST", f"{GUIDES}/content/template", into)


def test_locked_space_permissions_exclude_edit_and_merge(api: Api) -> None:
    def may() -> tuple[bool, bool]:
        shown = api.get(GUIDES)["permissions"]
        return shown["edit"], shown["merge"]

    assert may() == (True, True)
    before = api.get(GUIDES)["permissions"]
    locked = api.patch(GUIDES, {"editMode": "locked"})["permissions"]
    assert may() == (False, False)
    assert locked == {**before, "edit": False, "merge": False}


def test_locked_space_allows_reading_comments_and_settings(api: Api) -> None:
    """Reading, discussing, reviewing, and its own settings."""
    api.patch(GUIDES, {"editMode": "locked"})
    api.get(f"{GUIDES}/content")
    api.post(f"{GUIDES}/comments", {"body": {"markdown": "Why locked?"}})
    api.make(f"{OPEN}/reviews", {"status": "approved"})
    assert api.patch(GUIDES, {"title": "Closed"})["title"] == "Closed"
    api.post(f"{GUIDES}/move", {"parent": None})
    api.make(f"{GUIDES}/duplicate")
    api.delete(GUIDES)
    assert api.post(f"{GUIDES}/restore")["editMode"] == "locked"


# --- today's edition ------------------------------------------------------------------------------


@pytest.fixture
def locked(published: Api) -> Api:
    """Lock a space that has an editor and a reviewer."""
    give(published, GUIDES, "edit", users=["eve"])
    give(published, GUIDES, "review", users=["rui"])
    published.patch(GUIDES, {"editMode": "locked"})
    return published


PROPOSALS = [name for name in EDITS if name != "applyTemplateToSpace"]


@pytest.mark.parametrize("name", PROPOSALS)
def test_published_api_version_locked_space_accepts_change_requests(locked: Api, name: str) -> None:
    row = ROWS[name]
    path = row.path.format(**{**IDS, **OTHER_IDS.get(name, {})})
    caller = locked.as_("rui-token" if name == "mergeChangeRequest" else "eve-token")
    assert caller.call(row.method, path, BODY.get(name)).is_success


def test_published_api_version_locked_space_refuses_direct_edits(locked: Api) -> None:
    before, path = locked.get(f"{GUIDES}/content"), f"{GUIDES}/content/template"
    message = locked.refused(403, "POST", path, {"id": "handbook"})
    assert message == ("the space 'guides' is locked: use a change request, or set its editMode to live")
    assert locked.get(f"{GUIDES}/content") == before
    into = {"id": "handbook", "changeRequestId": "better-welcome"}
    locked.as_("eve-token").ok("POST", path, into, 201)


def test_published_editor_cannot_merge_into_locked_space(locked: Api) -> None:
    editor, reviewer = locked.as_("eve-token"), locked.as_("rui-token")
    made = f"{GUIDES}/change-requests/{editor.make(f'{GUIDES}/change-requests')['id']}"
    editor.ok("POST", f"{made}/content", BODY["updateChangeRequestContent"])
    editor.refused(403, "POST", f"{made}/merge")
    assert reviewer.post(f"{made}/merge")["result"] == "merge"


@pytest.mark.parametrize("token", ["eve-token", "rui-token", "ada-token"])
def test_published_api_version_locked_space_keeps_permission_flags(locked: Api, token: str) -> None:
    """The flags `edit` and `merge` describe change requests, which a locked space accepts."""
    during = locked.as_(token).get(GUIDES)["permissions"]
    locked.patch(GUIDES, {"editMode": "live"})
    assert locked.as_(token).get(GUIDES)["permissions"] == during
