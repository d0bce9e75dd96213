"""Handle the API operations on Git Sync, which keeps a site or a space in step with a git repository.

No repository is contacted: an installation is active as soon as its configuration names a repository.
Input: the `Context` of a checked request. Output: the body of the response, or an `ApiError`.
"""

from ... import responses
from ...errors import bad_request, conflict, not_found
from ...request.context import Context
from ...sites.git_sync import find_installation_target, objects_with_git_sync, repository_state
from ...sites.navigation import SITE_SPACE
from ...store import Json, Record

_REPOSITORY_FIELDS = {"github": "repositoryId", "gitlab": "projectId"}


def list_installations(ctx: Context) -> Json:
    """List the installation of the site, and then of its spaces that the caller may see."""
    site = ctx.site_from_path()
    space_ids = dict.fromkeys(site_space.ref for site_space in ctx.store.find(SITE_SPACE, scope=site.id))
    spaces = [space for id in space_ids if id and (space := ctx.find_space(id)) is not None]
    return {
        "items": [
            responses.git_installation(ctx, record) for record in (site, *spaces) if record.doc.get("gitSync")
        ]
    }


def get_installation(ctx: Context) -> Json:
    """Return the Git Sync installation that the path names."""
    return responses.git_installation(ctx, _require_target(ctx))


def get_state(ctx: Context) -> Json:
    """Return the state of Git Sync on a space. Raise 404 if the space has no installation."""
    space = ctx.space_from_path()
    if not space.doc.get("gitSync"):
        raise not_found("Git Sync of the space", space.id)
    return responses.git_state(space)


def install(ctx: Context) -> Json:
    """Create an installation. It is not authenticated until it is configured.

    Raise 404 for an unknown space or site, and 409 if it already has an installation.
    """
    fields = ctx.body.sent_fields()
    target, site = fields["target"], None
    kind, id = target["type"], target[f"{target['type']}Id"]
    unchecked_record = ctx.load(kind, id)
    if unchecked_record is None:
        raise not_found(kind, id)
    record = ctx.require_access(unchecked_record)
    if record.doc.get("gitSync"):
        raise conflict(f"the {kind} {id!r} already has a Git Sync installation")
    sync = {
        "installationProvider": fields["provider"],
        "installationStatus": "unauthenticated",
        "createdAt": ctx.timestamp,
        "createdBy": ctx.user,
        "updatedAt": ctx.timestamp,
    }
    if kind == "space" and "siteId" in target:
        site = ctx.load("site", target["siteId"])
        if site is None or not ctx.can_view(site) or not site.doc.get("gitSync"):
            raise not_found("Git Sync of the site", target["siteId"])
        sync |= {"parentInstallationId": repository_state(site)["installationId"], "siteId": site.id}
    record.doc["gitSync"] = sync
    ctx.put(record)
    return responses.git_installation(ctx, record)


def configure(ctx: Context) -> Json:
    """Configure an installation. It is active once it names a repository. The access token is not stored."""
    record, fields = _require_target(ctx), ctx.body.sent_fields()
    installation = responses.git_installation(ctx, record)
    if fields["provider"] != installation["provider"]:
        raise bad_request(
            f"body.provider: the provider of the installation is {installation['provider']} and cannot change"
        )
    configuration = {**installation["providerConfiguration"], **fields["providerConfiguration"]}
    configuration.pop("accessToken", None)
    children = {
        repository_state(child)["installationId"]: child
        for child in _child_installations(ctx, installation["id"])
    }
    directories = fields.get("childInstallationProjectDirectories") or {}
    if unknown := sorted(directories.keys() - children.keys()):
        raise bad_request(
            f"body.childInstallationProjectDirectories: {unknown[0]!r} is not a child installation"
        )
    for name, directory in directories.items():
        children[name].doc["gitSync"] |= {"projectDirectory": directory, "updatedAt": ctx.timestamp}
        ctx.put(children[name])
    sync = {**record.doc["gitSync"], "providerConfiguration": configuration, "updatedAt": ctx.timestamp}
    sync |= {name: fields[name] for name in responses.SETTING_FIELDS if name in fields}
    if (repository := configuration.get(_REPOSITORY_FIELDS[installation["provider"]])) is not None:
        sync |= {"installationStatus": "active"}
        sync.setdefault("repoName", f"repository-{repository}")
    record.doc["gitSync"] = sync
    ctx.put(record)
    return responses.git_installation(ctx, record)


def uninstall(ctx: Context) -> None:
    """Delete an installation with its child installations. Synced content stays."""
    record = _require_target(ctx)
    for item in [record, *_child_installations(ctx, repository_state(record)["installationId"])]:
        del item.doc["gitSync"]
        ctx.put(item)


def _require_target(ctx: Context) -> Record:
    """Return the site or space with the installation that the path names. Raise ApiError without access."""
    target = find_installation_target(ctx, ctx.params["installationId"])
    if target is None:
        raise not_found("installation", ctx.params["installationId"])
    return ctx.require_access(target)


def _child_installations(ctx: Context, id: str) -> list[Record]:
    """Return the spaces whose installations belong to the installation of a site."""
    return [
        record
        for record in objects_with_git_sync(ctx)
        if repository_state(record).get("parentInstallationId") == id
    ]
