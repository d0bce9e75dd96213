"""Make the response body for a link invite.

Input: the `Context` of a request, and a stored record. Output: JSON as the API describes it.
"""

from ..request.context import Context
from ..store import Json, Record
from .content import collection, space
from .people import user
from .shared import APP_URL, api_url


def link_invite(ctx: Context, record: Record) -> Json:
    """Return the response body for a link invite.

    The API version `published` names the object `invite` and adds `redundant`, which is always false here.
    Its response contains the whole space or collection.
    """
    object_fields: Json = {"object": "link-invite"}
    if ctx.is_published_profile:
        object_fields = {"object": "invite", "redundant": False}
    doc = dict(record.doc)
    for kind, render in (("space", space), ("collection", collection)) if ctx.is_published_profile else ():
        target = ctx.load(kind, doc[kind]) if kind in doc else None
        if target is not None:
            doc[kind] = render(ctx, target)
    return {
        **object_fields,
        "id": record.id,
        **doc,
        "createdBy": user(ctx, record.doc["createdBy"]),
        "urls": {
            "location": api_url(ctx, f"/orgs/{record.organization}/link-invites/{record.id}"),
            "app": f"{APP_URL}/invite/{record.id}",
        },
    }
