"""Make the response body for a change request.

Input: the `Context` of a request, and a stored record. Output: JSON as the API describes it.
"""

from ..request.context import Context
from ..spaces import revisions
from ..store import Json, Record
from .comments import count_open_comments
from .people import user
from .shared import APP_URL, api_url

_OPTIONAL_FIELDS = ("description", "revisionMergedAncestor", "revisionMerged", "conversationsIssuesCluster")


def change_request(ctx: Context, record: Record) -> Json:
    """Return the response body for a change request.

    `comments` counts the open comments; `outdated` says whether the space has newer content.
    """
    doc = record.doc
    space = ctx.load("space", record.scope) or ctx.load("deleted-space", record.scope)
    return {
        "object": "change-request",
        "id": record.id,
        "number": record.position,
        "status": doc["status"],
        "subject": doc["subject"],
        "createdBy": user(ctx, doc["createdBy"]),
        "createdAt": doc["createdAt"],
        "updatedAt": doc["updatedAt"],
        "space": record.scope,
        "revision": doc["revision"],
        "revisionInitial": doc["revisionInitial"],
        **{name: doc[name] for name in _OPTIONAL_FIELDS if doc.get(name)},
        "comments": count_open_comments(ctx.store, record.scope, record.id),
        "outdated": space is not None and revisions.is_outdated(space, doc),
        "urls": {
            "app": f"{APP_URL}/s/{record.scope}/~/changes/{record.position}",
            "location": api_url(ctx, f"/spaces/{record.scope}/change-requests/{record.id}"),
        },
    }
