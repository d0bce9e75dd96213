"""Make the response bodies for Git Sync, which keeps a site or a space in step with a git repository.

Input: the `Context` of a request, and a stored record. Output: JSON as the API describes it.
"""

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

    Only the API version `published` returns `gitSync` for a site; the other API versions return `gitSync` of
    a space without ids and status.
    """
    stored = record.doc.get("gitSync")
    if not stored or not (ctx.is_published_profile or record.kind != "site"):
        return {}
    state = repository_state(record)
    members = _PUBLISHED_FIELDS if ctx.is_published_profile else _REFERENCE_FIELDS
    return {"gitSync": {name: state[name] for name in members if state.get(name) is not None}}


def git_state(record: Record) -> Json:
    """Return the response body for the state of Git Sync on a space."""
    state = repository_state(record)
    return {name: state[name] for name in _PUBLISHED_FIELDS if state.get(name) is not None}


def git_installation(ctx: Context, record: Record) -> Json:
    """Return the response body for the Git Sync installation of a site or space, without its token."""
    state = repository_state(record)
    id, provider = state["installationId"], state["installationProvider"]
    target: Json = {"type": record.kind, f"{record.kind}Id": record.id}
    if parent := state.get("parentInstallationId"):
        target |= {"siteId": state.get("siteId")}
    branch = (state.get("providerConfiguration") or {}).get("branch")
    updated = state.get("updatedAt") or record.doc["createdAt"]
    ref = {"object": "git-repository-ref", "id": id, "name": branch, "type": "branch", "updatedAt": updated}
    return {
        "object": "git-sync-installation",
        "id": id,
        "provider": "gitlab" if provider == "gitlab" else "github",
        "providerConfiguration": state.get("providerConfiguration") or {},
        **without_none({name: state.get(name) for name in SETTING_FIELDS}),
        **without_none({"parentInstallationId": parent, "repositoryRef": ref if branch else None}),
        "target": without_none(target),
        "status": state["installationStatus"],
        "createdAt": state.get("createdAt") or record.doc["createdAt"],
        "createdBy": state.get("createdBy") or "platform",
        "updatedAt": updated,
        "urls": {"location": api_url(ctx, f"/git/installations/{id}")},
    }
