"""Git Sync."""

from ..handlers.sites import git_sync
from ..models import git_sync as mg
from .rows import SITE, SP, TODAY, delete, get, patch, post

_ALL = "/git/installations"
_ONE = _ALL + "/{installationId}"

OPERATIONS = [
    get("listSiteGitSyncInstallations", SITE + "/spaces/git/installations", git_sync.list_installations,
        mg.GitInstallations,
        note="Lists the site's installation first, then its spaces' installations.", **TODAY),
    get("getSpaceGitInfo", SP + "/git/info", git_sync.get_state, mg.GitState,
        note="Never reports a running synchronization.", **TODAY),
    post("installGitSyncProviderOnTarget", _ALL, git_sync.install, mg.GitInstallation, mg.InstallGitSync,
         status=201, errors=(404, 409),
         note="Needs the role `admin` on the target. Synchronizes nothing. "
         "Returns 409 for a second installation.",
         **TODAY),
    get("getGitSyncInstallationById", _ONE, git_sync.get_installation, mg.GitInstallation,
        note="Needs view access to the target. Never returns a token.", **TODAY),
    patch("updateGitSyncInstallationById", _ONE, git_sync.configure, mg.GitInstallation, mg.ConfigureGitSync,
          note="Activates the installation once a repository is named. Contacts no repository.", **TODAY),
    delete("uninstallGitSyncInstallation", _ONE, git_sync.uninstall, status=205,
           note="Uninstalls child installations too. Returns 404 without an installation.", **TODAY),
]  # fmt: skip
