"""Git Sync of today's edition: installations on sites and spaces, by which the platform syncs them."""

from typing import Any

from companion_calls import Api
from covers import covers

ALL = "/git/installations"
DOCS = "/orgs/acme/sites/docs"
OF_DOCS = {"provider": "github", "target": {"type": "site", "siteId": "docs"}}
BRANCH = {"provider": "github", "providerConfiguration": {"repositoryId": 7, "branch": "refs/heads/main"}}


def of_space(**target: str) -> dict[str, Any]:
    return {"provider": "gitlab", "target": {"type": "space", "spaceId": "guides", **target}}


@covers("installGitSyncProviderOnTarget", 201, 409)
@covers("getGitSyncInstallationById", 200)
@covers("updateGitSyncInstallationById", 200)
def test_git_sync_is_active_once_repository_is_set(published: Api) -> None:
    made = published.post(ALL, OF_DOCS, 201)
    one = f"{ALL}/{made['id']}"
    assert (made["status"], made["target"]) == ("unauthenticated", {"type": "site", "siteId": "docs"})
    assert published.get(DOCS)["gitSync"]["installationId"] == made["id"]
    assert "already has a Git Sync installation" in published.refused(409, "POST", ALL, OF_DOCS)
    done = published.patch(one, {**BRANCH, "projectDirectory": "docs"})
    assert (done["status"], done["projectDirectory"]) == ("active", "docs")
    assert done["repositoryRef"]["name"] == "refs/heads/main"
    assert published.get(one) == done
    assert published.get(DOCS)["gitSync"]["installationStatus"] == "active"


@covers("listSiteGitSyncInstallations", 200)
@covers("uninstallGitSyncInstallation", 205, 404)
@covers("getSpaceGitInfo", 200, 404)
def test_deleting_site_git_sync_deletes_its_space_installations(published: Api) -> None:
    site = published.post(ALL, OF_DOCS, 201)
    space = published.post(ALL, of_space(siteId="docs"), 201)
    assert space["parentInstallationId"] == site["id"]
    listed = published.get(f"{DOCS}/spaces/git/installations")["items"]
    assert [one["id"] for one in listed] == [site["id"], space["id"]]
    info = published.get("/spaces/guides/git/info")
    assert (info["installationId"], info["parentInstallationId"]) == (space["id"], site["id"])
    published.ok("DELETE", f"{ALL}/{site['id']}", status=205)
    assert published.get(f"{DOCS}/spaces/git/installations")["items"] == []
    published.refused(404, "DELETE", f"{ALL}/{site['id']}")
    published.refused(404, "GET", "/spaces/guides/git/info")


@covers("updateGitSyncInstallationById", 400)
def test_git_sync_token_is_never_returned(published: Api) -> None:
    one = f"{ALL}/{published.post(ALL, of_space(), 201)['id']}"
    answer = published.patch(
        one,
        {"provider": "gitlab", "providerConfiguration": {"projectId": 3, "accessToken": "glpat-secret"}},
    )
    assert "glpat-secret" not in str((answer, published.get(one), published.get("/spaces/guides")))
    assert "cannot change" in published.refused(400, "PATCH", one, BRANCH)
    directories = {"childInstallationProjectDirectories": {"nobody": "x"}}
    given = {"provider": "gitlab", "providerConfiguration": {}, **directories}
    assert "is not a child installation" in published.refused(400, "PATCH", one, given)


@covers("updateGitSyncInstallationById", 200)
def test_site_git_sync_sets_project_directories_of_spaces(published: Api) -> None:
    site, space = published.post(ALL, OF_DOCS, 201), published.post(ALL, of_space(siteId="docs"), 201)
    directories = {"childInstallationProjectDirectories": {space["id"]: "guides"}}
    published.patch(f"{ALL}/{site['id']}", {**BRANCH, **directories})
    assert published.get(f"{ALL}/{space['id']}")["projectDirectory"] == "guides"


@covers("installGitSyncProviderOnTarget", 404, 403)
@covers("getGitSyncInstallationById", 404)
def test_git_sync_requires_existing_target_and_admin(published: Api) -> None:
    missing = {"provider": "github", "target": {"type": "site", "siteId": "nobody"}}
    published.refused(404, "POST", ALL, missing)
    alone = {"provider": "github", "target": {"type": "space", "spaceId": "guides", "siteId": "docs"}}
    published.refused(404, "POST", ALL, alone)
    published.refused(404, "GET", f"{ALL}/git-docs")
    published.as_("hank-token").refused(404, "POST", ALL, of_space())
    published.as_("kim-token").refused(403, "POST", ALL, of_space())


@covers("installGitSyncProviderOnTarget", 201)
def test_git_sync_installation_is_recorded_as_audit_event(published: Api) -> None:
    made = published.post(ALL, OF_DOCS, 201)
    event = published.get("/orgs/acme/audit-events", limit=1)["items"][0]
    assert (event["action"], event["target"]["id"]) == ("installGitSyncProviderOnTarget", made["id"])
