"""Git Sync, in today's edition alone: a space that has an installation, and a site that gets one."""

from typing import Any

GIT_SYNC = {"gitSync": {"repoName": "acme/unshown", "installationId": "git-unshown"}}
"""Of a space, by the keys of a world."""
_ON_A_SPACE = {"installationId": "git-unshown"}
OTHER_IDS = {
    "getGitSyncInstallationById": _ON_A_SPACE,
    "updateGitSyncInstallationById": _ON_A_SPACE,
    "uninstallGitSyncInstallation": _ON_A_SPACE,
    "getSpaceGitInfo": {"spaceId": "unshown"},
}
BODIES: dict[str, Any] = {
    "installGitSyncProviderOnTarget": {"provider": "github", "target": {"type": "site", "siteId": "docs"}},
    "updateGitSyncInstallationById": {
        "provider": "github",
        "providerConfiguration": {"repositoryId": 7, "branch": "refs/heads/main"},
        "projectDirectory": "docs",
    },
}
