"""Change requests, and the content of spaces and of change requests: on the guides, which have both."""

from typing import Any

from dpsync.server.operations import change_requests, pages

_GUIDES = {"spaceId": "guides"}

IDS = {
    "changeRequestId": "better-welcome",
    "pageId": "payments",
    "fileId": "price-list",
    "reviewId": "review-1",
}
OTHER_IDS = {
    row.id: _GUIDES for row in (*change_requests.OPERATIONS, *pages.OPERATIONS) if "spaceId" in row.parameters
}
QUERIES = {"searchSpaceContent": "query=fees", "getChangeRequestPDF": "page=payments&only=true"}
BODIES: dict[str, Any] = {
    "createChangeRequest": {"subject": "New"},
    "updateChangeRequestById": {"subject": "Changed"},
    "applyTemplateToSpace": {"id": "handbook"},
    "submitChangeRequestReview": {"status": "approved"},
    "requestReviewersForChangeRequest": {"users": ["lin"]},
    "updateChangeRequestContent": {
        "changes": [{"operation": "update_page", "page": "payments", "title": "Changed"}]
    },
}
