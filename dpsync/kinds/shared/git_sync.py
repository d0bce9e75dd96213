"""Git Sync: the platform itself keeps the structure of a site, or the content of a space, as a repository has
it.
"""

from dpsync.kinds.kind import Synced

SPACE_SYNC = Synced(
    at="gitSync",
    repository="repoName",
    provider="installationProvider",
    status="installationStatus",
    together="parentInstallationId",
    # A synced space cannot be edited live.
    fields=("editMode",),
    # The navigation file of a synced site has the titles of its spaces.
    inherited=("title",),
)
SITE_SYNC = Synced(
    at="gitSync",
    repository="repoName",
    provider="installationProvider",
    status="installationStatus",
    together="parentInstallationId",
    # The navigation file in the repository has these, and nothing else of the site.
    fields=("title",),
    tree=True,
)
