"""Git Sync: the repository that the platform itself keeps a site or a space in step with."""

from ..request.context import Context
from ..store import Json, Record

_BEFORE = ("repoName", "installationProvider", "integration", "url", "updatedAt")
_TODAY = (*_BEFORE, "installationStatus", "installationId", "parentInstallationId")


def git_sync(ctx: Context, record: Record) -> Json:
    """The member `gitSync` of a site or a space that has one, else nothing.

    A site has one in today's edition alone; before that, a space has one without ids and status.
    """
    kept = record.doc.get("gitSync")
    if not kept or not (ctx.published or record.kind != "site"):
        return {}
    said = {
        "installationProvider": "github",
        "installationStatus": "active",
        "installationId": f"git-{record.id}",
        **kept,
    }
    members = _TODAY if ctx.published else _BEFORE
    return {"gitSync": {name: said[name] for name in members if said.get(name) is not None}}
