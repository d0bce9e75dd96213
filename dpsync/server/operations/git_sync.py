"""Define the API operations on Git Sync: method, path, models and handler of each.

Topics: the installation that keeps a site or a space in step with a git repository.
Output: `OPERATIONS`, one row for each operation, which `operations/__init__.py` collects.
`TITLE` is the heading of these operations in docs/api.md.
"""

from ..handlers.sites import git_sync
from ..models import git_sync as mg
from .builders import PUBLISHED_ONLY, SITE, SPACE, delete, get, patch, post

TITLE = "Git Sync"

_COLLECTION_PATH = "/git/installations"
_ITEM_PATH = _COLLECTION_PATH + "/{installationId}"

OPERATIONS = [
    get("listSiteGitSyncInstallations", SITE + "/spaces/git/installations", git_sync.list_installations,
        mg.GitInstallations,
        note="Lists the Git Sync installation of the site first, and then the installations of the "
             "spaces in the site.", **PUBLISHED_ONLY),
    get("getSpaceGitInfo", SPACE + "/git/info", git_sync.get_state, mg.GitState,
        note="The response always says that no synchronization is running.", **PUBLISHED_ONLY),
    post("installGitSyncProviderOnTarget", _COLLECTION_PATH, git_sync.install, mg.GitInstallation,
         mg.InstallGitSync,
         status=201, error_statuses=(404, 409),
         note="Installs Git Sync, but copies no content. The caller needs the role `admin` on the site or "
              "space. Returns 409 if the site or space already has an installation.",
         **PUBLISHED_ONLY),
    get("getGitSyncInstallationById", _ITEM_PATH, git_sync.get_installation, mg.GitInstallation,
        note="The caller must be able to view the site or space. Never returns a token.", **PUBLISHED_ONLY),
    patch("updateGitSyncInstallationById", _ITEM_PATH, git_sync.configure, mg.GitInstallation,
          mg.ConfigureGitSync,
          note="If the body names a repository, activates the installation, without contacting the "
               "repository.",
          **PUBLISHED_ONLY),
    delete("uninstallGitSyncInstallation", _ITEM_PATH, git_sync.uninstall, status=205,
           note="With the installation of a site, also uninstalls the installations of the spaces in the "
                "site. Returns 404 if no installation exists.", **PUBLISHED_ONLY),
]  # fmt: skip
