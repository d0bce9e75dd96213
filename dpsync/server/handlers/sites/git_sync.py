"""Operations on Git Sync installations, which keep a site or a space in step with a git repository.

No repository is contacted: an installation is active as soon as its configuration names a repository.
"""

from ... import answers
from ...errors import bad, conflict, missing
from ...request.context import Context
from ...sites.git_sync import installed, state, synced
from ...sites.navigation import PLACE
from ...store import Json, Record

_REPOSITORY = {"github": "repositoryId", "gitlab": "projectId"}


def list_installations(ctx: Context) -> Json:
    """List the installation of the site, and then of its spaces that the caller may see."""
    site = ctx.site()
    listed = dict.fromkeys(place.ref for place in ctx.store.find(PLACE, scope=site.id))
    spaces = [space for id in listed if id and (space := ctx.find_space(id)) is not None]
    return {
        "items": [answers.git_installation(ctx, one) for one in (site, *spaces) if one.doc.get("gitSync")]
    }


def get_installation(ctx: Context) -> Json:
    return answers.git_installation(ctx, _installed(ctx))


def get_state(ctx: Context) -> Json:
    space = ctx.space()
    if not space.doc.get("gitSync"):
        raise missing("Git Sync of the space", space.id)
    return answers.git_state(space)


def install(ctx: Context) -> Json:
    """Create an installation. It is not authenticated until it is configured."""
    given = ctx.body.given()
    target, site = given["target"], None
    kind, id = target["type"], target[f"{target['type']}Id"]
    found = ctx.load(kind, id)
    if found is None:
        raise missing(kind, id)
    record = ctx.permit(found)
    if record.doc.get("gitSync"):
        raise conflict(f"the {kind} {id!r} already has a Git Sync installation")
    said = {
        "installationProvider": given["provider"],
        "installationStatus": "unauthenticated",
        "createdAt": ctx.stamp,
        "createdBy": ctx.user,
        "updatedAt": ctx.stamp,
    }
    if kind == "space" and "siteId" in target:
        site = ctx.load("site", target["siteId"])
        if site is None or not ctx.sees(site) or not site.doc.get("gitSync"):
            raise missing("Git Sync of the site", target["siteId"])
        said |= {"parentInstallationId": state(site)["installationId"], "siteId": site.id}
    record.doc["gitSync"] = said
    ctx.put(record)
    return answers.git_installation(ctx, record)


def configure(ctx: Context) -> Json:
    """Configure an installation. It is active once it names a repository. The access token is not stored."""
    record, given = _installed(ctx), ctx.body.given()
    said = answers.git_installation(ctx, record)
    if given["provider"] != said["provider"]:
        raise bad(f"body.provider: the provider of the installation is {said['provider']} and cannot change")
    configuration = {**said["providerConfiguration"], **given["providerConfiguration"]}
    configuration.pop("accessToken", None)
    children = {state(one)["installationId"]: one for one in _children(ctx, said["id"])}
    directories = given.get("childInstallationProjectDirectories") or {}
    if unknown := sorted(directories.keys() - children.keys()):
        raise bad(f"body.childInstallationProjectDirectories: {unknown[0]!r} is not a child installation")
    for name, directory in directories.items():
        children[name].doc["gitSync"] |= {"projectDirectory": directory, "updatedAt": ctx.stamp}
        ctx.put(children[name])
    sync = {**record.doc["gitSync"], "providerConfiguration": configuration, "updatedAt": ctx.stamp}
    sync |= {name: given[name] for name in answers.SETTINGS if name in given}
    if (repository := configuration.get(_REPOSITORY[said["provider"]])) is not None:
        sync |= {"installationStatus": "active"}
        sync.setdefault("repoName", f"repository-{repository}")
    record.doc["gitSync"] = sync
    ctx.put(record)
    return answers.git_installation(ctx, record)


def uninstall(ctx: Context) -> None:
    """Delete an installation with its child installations. Synced content stays."""
    record = _installed(ctx)
    for one in [record, *_children(ctx, state(record)["installationId"])]:
        del one.doc["gitSync"]
        ctx.put(one)


def _installed(ctx: Context) -> Record:
    found = installed(ctx, ctx.params["installationId"])
    if found is None:
        raise missing("installation", ctx.params["installationId"])
    return ctx.permit(found)


def _children(ctx: Context, id: str) -> list[Record]:
    return [one for one in synced(ctx) if state(one).get("parentInstallationId") == id]
