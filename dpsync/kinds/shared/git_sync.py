"""Git Sync: the platform itself keeps the structure of a site, or the content of a space, as a repository has
it.
"""

from msgspec.structs import replace

from dpsync.kinds.kind import Synced

SPACE_SYNC = Synced(
    at="gitSync",
    repository="repoName",
    provider="installationProvider",
    status="installationStatus",
    together="parentInstallationId",
    installation="installationId",
    # A synced space cannot be edited live.
    fields=("editMode",),
    # The navigation file of a synced site has the titles of its spaces.
    inherited=("title",),
)
# The navigation file in the repository has the title of its site and the tree, and nothing else of the site.
SITE_SYNC = replace(SPACE_SYNC, fields=("title",), inherited=(), tree=True)
