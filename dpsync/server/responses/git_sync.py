"""Answers about Git Sync, which keeps a site or a space in step with a git repository."""

from ..request.context import Context
from ..sites.git_sync import repository_state
from ..store import Json, Record
from .shared import api_url, without_none

_REFERENCE_FIELDS = ("repoName", "installationProvider", "integration", "url", "updatedAt")
SETTING_FIELDS = (
    "projectDirectory", "commitMessageTemplate", "previewExternalBranches", "agentInstructions", "priority",
)  # fmt: skip
_PUBLISHED_FIELDS = (*_REFERENCE_FIELDS, "installationStatus", "installationId", "parentInstallationId")


def git_sync(ctx: Context, record: Record) -> Json:
    """Return {"gitSync": ...} for a site or space with Git Sync, else {}.

    Only the `published` edition returns `gitSync` for a site; the other editions return `gitSync` of a space
    without ids and status.
    """
    kept = record.doc.get("gitSync")
    if not kept or not (ctx.is_published_profile or record.kind != "site"):
        return {}
    said = repository_state(record)
    members = _PUBLISHED_FIELDS if ctx.is_published_profile else _REFERENCE_FIELDS
    return {"gitSync": {name: said[name] for name in members if said.get(name) is not None}}


def git_state(record: Record) -> Json:
    said = repository_state(record)
    return {name: said[name] for name in _PUBLISHED_FIELDS if said.get(name) is not None}


def git_installation(ctx: Context, record: Record) -> Json:
    """Return the Git Sync installation of a site or space. The answer never contains the access token."""
    said = repository_state(record)
    id, provider = said["installationId"], said["installationProvider"]
    target: Json = {"type": record.kind, f"{record.kind}Id": record.id}
    if parent := said.get("parentInstallationId"):
        target |= {"siteId": said.get("siteId")}
    branch = (said.get("providerConfiguration") or {}).get("branch")
    updated = said.get("updatedAt") or record.doc["createdAt"]
    ref = {"object": "git-repository-ref", "id": id, "name": branch, "type": "branch", "updatedAt": updated}
    return {
        "object": "git-sync-installation",
        "id": id,
        "provider": "gitlab" if provider == "gitlab" else "github",
        "providerConfiguration": said.get("providerConfiguration") or {},
        **without_none({name: said.get(name) for name in SETTING_FIELDS}),
        **without_none({"parentInstallationId": parent, "repositoryRef": ref if branch else None}),
        "target": without_none(target),
        "status": said["installationStatus"],
        "createdAt": said.get("createdAt") or record.doc["createdAt"],
        "createdBy": said.get("createdBy") or "platform",
        "updatedAt": updated,
        "urls": {"location": api_url(ctx, f"/git/installations/{id}")},
    }
