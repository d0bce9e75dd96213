"""Git Sync."""

from ..handlers.sites import git_sync
from ..models import git_sync as mg
from .rows import SITE, SP, TODAY, delete, get, patch, post

_ALL = "/git/installations"
_ONE = _ALL + "/{installationId}"

OPERATIONS = [
    get("listSiteGitSyncInstallations", SITE + "/spaces/git/installations", git_sync.list_installations,
        mg.GitInstallations,
        note="Lists the Git Sync installation of the site first, and then the installations of the "
             "spaces in the site.", **TODAY),
    get("getSpaceGitInfo", SP + "/git/info", git_sync.get_state, mg.GitState,
        note="The response always says that no synchronization is running.", **TODAY),
    post("installGitSyncProviderOnTarget", _ALL, git_sync.install, mg.GitInstallation, mg.InstallGitSync,
         status=201, errors=(404, 409),
         note="Installs Git Sync, but copies no content. The caller needs the role `admin` on the site or "
              "space. Returns 409 if the site or space already has an installation.",
         **TODAY),
    get("getGitSyncInstallationById", _ONE, git_sync.get_installation, mg.GitInstallation,
        note="The caller must be able to view the site or space. Never returns a token.", **TODAY),
    patch("updateGitSyncInstallationById", _ONE, git_sync.configure, mg.GitInstallation, mg.ConfigureGitSync,
          note="If the body names a repository, activates the installation, without contacting the "
               "repository.",
          **TODAY),
    delete("uninstallGitSyncInstallation", _ONE, git_sync.uninstall, status=205,
           note="With the installation of a site, also uninstalls the installations of the spaces in the "
                "site. Returns 404 if no installation exists.", **TODAY),
]  # fmt: skip
