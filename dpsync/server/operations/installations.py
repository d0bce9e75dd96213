"""Installations of integrations."""

from pydantic import BaseModel

from ..handlers.integrations import installations
from ..handlers.integrations.placements import SITES, SPACES, Placements
from ..models import integrations as mg
from ..models.base import Body
from ..request.operation import Operation
from .integrations import NAMED
from .rows import ADDED, ORG, SITE, SP, delete, get, listing, patch, post

INSTALLED = NAMED + "/installations/{installationId}"

_CREATES = {"needs": "create", **ADDED}
"""As the flags of an organization, a space and a site have it."""


def _placed(
    name: str, path: str, at: Placements, answer: type[BaseModel], body: type[Body], note: str
) -> list[Operation]:
    """Return the operations on installations of one target. `name` is Space or Site, as in operation ids."""
    all, one = f"{INSTALLED}/{path}s", f"{INSTALLED}/{path}s/{{{path}Id}}"
    return [
        listing(f"listIntegrationInstallation{name}s", all, at.list_of_installation, answer,
                mg.ExtendedListQuery, **ADDED),
        post(f"installIntegrationOn{name}", all, at.install, answer, body, query=mg.ExtendedQuery, status=201,
             errors=(409,), note=note, **_CREATES),
        get(f"getIntegration{name}Installation", one, at.get, answer, mg.ExtendedQuery, **ADDED),
        patch(f"updateIntegration{name}Installation", one, at.update, answer, mg.PlacedUpdate,
              query=mg.ExtendedQuery, **_CREATES),
        delete(f"uninstallIntegrationFrom{name}", one, at.uninstall, **_CREATES),
    ]  # fmt: skip


OPERATIONS = [
    listing("listOrganizationInstallations", ORG + "/installations", installations.list_installed,
            mg.InstalledIntegration, mg.InstallationSearchQuery, needs="read", **ADDED),
    get("getIntegrationInstallationById", INSTALLED, installations.get_installation, mg.Installation,
        **ADDED),
    patch("updateIntegrationInstallation", INSTALLED, installations.update_installation, mg.Installation,
          mg.InstallationUpdate,
          note="Replaces the configuration. Checks the values of settings that the integration defines.",
          **_CREATES),
    delete("uninstallIntegration", INSTALLED, installations.uninstall,
           note="Removes the integration from all spaces and sites of the organization.",
           **_CREATES),
    *_placed("Space", "space", SPACES, mg.SpaceInstallation, mg.InstallOnSpace,
             "If the space already has the installation, returns this installation. Returns 409 if the "
             "integration does not work in spaces."),
    *_placed("Site", "site", SITES, mg.SiteInstallation, mg.InstallOnSite,
             "If the site already has the installation, returns this installation. Returns 409 if the "
             "integration does not work on sites."),
    listing("listSpaceIntegrations", SP + "/integrations", SPACES.list_enabled, mg.Integration,
            mg.InstallationSearchQuery,
            note="Lists integrations that are active on the space.",
            **ADDED),
    listing("listSiteIntegrations", SITE + "/integrations", SITES.list_enabled, mg.Integration,
            mg.InstallationSearchQuery, note="Lists integrations that are active on the site.", **ADDED),
]  # fmt: skip
