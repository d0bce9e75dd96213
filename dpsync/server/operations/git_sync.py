"""Today's edition: Git Sync, by which the platform keeps sites and spaces in step with repositories."""

from ..handlers.sites import git_sync
from ..models import git_sync as mg
from .rows import SITE, SP, TODAY, delete, get, patch, post

_ALL = "/git/installations"
_ONE = _ALL + "/{installationId}"

OPERATIONS = [
    get("listSiteGitSyncInstallations", SITE + "/spaces/git/installations", git_sync.list_installations,
        mg.GitInstallations,
        decided="That of the site comes first, then those of its spaces that the caller may see.", **TODAY),
    get("getSpaceGitInfo", SP + "/git/info", git_sync.get_state, mg.GitState,
        decided="As in the space itself: nothing is ever at work.", **TODAY),
    post("installGitSyncProviderOnTarget", _ALL, git_sync.install, mg.GitInstallation, mg.InstallGitSync,
         status=201, errors=(404, 409),
         decided="Needs an admin of the target. A second installation is 409. It is "
         "`unauthenticated`, and nothing is synced.", **TODAY),
    get("getGitSyncInstallationById", _ONE, git_sync.get_installation, mg.GitInstallation,
        decided="Who may view what it is installed on. A token is never answered.", **TODAY),
    patch("updateGitSyncInstallationById", _ONE, git_sync.configure, mg.GitInstallation, mg.ConfigureGitSync,
          decided="It is active once it names a repository. No repository is asked, so none lacks the "
          "navigation file.", **TODAY),
    delete("uninstallGitSyncInstallation", _ONE, git_sync.uninstall, status=205,
           decided="404 where there is none. The installations below it go along.", **TODAY),
]  # fmt: skip
