"""A space whose `editMode` is `locked`: nothing is edited, neither its content nor a change request."""

from typing import Any

import pytest
from cases import BODIES, IDS, OTHER_IDS
from change_request_calls import GUIDES, OPEN
from companion_calls import Api

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
def test_a_locked_space_refuses_every_edit_also_of_its_admins(api: Api, name: str) -> None:
    row = ROWS[name]
    path = row.path.format(**{**IDS, **OTHER_IDS.get(name, {})})
    api.patch(GUIDES, {"editMode": "locked"})
    before = api.state()
    message = api.refused(403, row.method, path, BODY.get(name))
    assert message == "the space 'guides' is locked: set its editMode to live before it is edited"
    assert api.state() == before
    api.patch(GUIDES, {"editMode": "live"})
    assert api.call(row.method, path, BODY.get(name)).is_success


def test_a_template_does_not_get_into_a_change_request_of_a_locked_space(api: Api) -> None:
    api.patch(GUIDES, {"editMode": "locked"})
    into = {"id": "handbook", "changeRequestId": "better-welcome"}
    api.refused(403, "POST", f"{GUIDES}/content/template", into)


def test_the_permissions_of_a_locked_space_say_so(api: Api) -> None:
    def may() -> tuple[bool, bool]:
        shown = api.get(GUIDES)["permissions"]
        return shown["edit"], shown["merge"]

    assert may() == (True, True)
    before = api.get(GUIDES)["permissions"]
    locked = api.patch(GUIDES, {"editMode": "locked"})["permissions"]
    assert may() == (False, False)
    assert locked == {**before, "edit": False, "merge": False}


def test_what_is_no_edit_goes_on_in_a_locked_space(api: Api) -> None:
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
