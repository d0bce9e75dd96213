"""Additions to part 4.9: the life of an installation, and where in its organization it is."""

from ..handlers.integrations import installations, placements
from ..models import integrations as mg
from .integrations import NAMED
from .rows import ADDED, ORG, SITE, SP, delete, get, listing, patch, post

INSTALLED = NAMED + "/installations/{installationId}"
SPACES, SITES = INSTALLED + "/spaces", INSTALLED + "/sites"
ON_SPACE, ON_SITE = SPACES + "/{spaceId}", SITES + "/{siteId}"

_CREATES = {"needs": "create", **ADDED}
"""As the flags of an organization, a space and a site have it."""

OPERATIONS = [
    listing("listOrganizationInstallations", ORG + "/installations", installations.list_installed,
            mg.InstalledIntegration, mg.InstallationSearchQuery, needs="read", **ADDED),
    get("getIntegrationInstallationById", INSTALLED, installations.get_installation, mg.Installation,
        **ADDED),
    patch("updateIntegrationInstallation", INSTALLED, installations.update_installation, mg.Installation,
          mg.InstallationUpdate,
          decided="A configuration replaces the one that there is. Declared settings are held against their "
          "type and enumeration, others are kept as they are.", **_CREATES),
    delete("uninstallIntegration", INSTALLED, installations.uninstall,
           decided="Off the spaces and sites of the organization, too; one event tells of all of it.",
           **_CREATES),
    listing("listIntegrationInstallationSpaces", SPACES, placements.list_spaces, mg.SpaceInstallation,
            mg.ExtendedListQuery, **ADDED),
    post("installIntegrationOnSpace", SPACES, placements.install_on_space, mg.SpaceInstallation,
         mg.InstallOnSpace, query=mg.ExtendedQuery, status=201, errors=(409,),
         decided="An integration whose target is something else is 409. Again on the same space it is the "
         "one that is there. It changes no selection.", **_CREATES),
    get("getIntegrationSpaceInstallation", ON_SPACE, placements.get_on_space, mg.SpaceInstallation,
        mg.ExtendedQuery, **ADDED),
    patch("updateIntegrationSpaceInstallation", ON_SPACE, placements.update_on_space, mg.SpaceInstallation,
          mg.PlacedUpdate, query=mg.ExtendedQuery, **_CREATES),
    delete("uninstallIntegrationFromSpace", ON_SPACE, placements.uninstall_from_space, **_CREATES),
    listing("listIntegrationInstallationSites", SITES, placements.list_sites, mg.SiteInstallation,
            mg.ExtendedListQuery, **ADDED),
    post("installIntegrationOnSite", SITES, placements.install_on_site, mg.SiteInstallation,
         mg.InstallOnSite, query=mg.ExtendedQuery, status=201, errors=(409,),
         decided="As on a space.", **_CREATES),
    get("getIntegrationSiteInstallation", ON_SITE, placements.get_on_site, mg.SiteInstallation,
        mg.ExtendedQuery, **ADDED),
    patch("updateIntegrationSiteInstallation", ON_SITE, placements.update_on_site, mg.SiteInstallation,
          mg.PlacedUpdate, query=mg.ExtendedQuery, **_CREATES),
    delete("uninstallIntegrationFromSite", ON_SITE, placements.uninstall_from_site, **_CREATES),
    listing("listSpaceIntegrations", SP + "/integrations", placements.list_of_space, mg.Integration,
            mg.InstallationSearchQuery,
            decided="Those that are active there: in the organization, and on the space or on all of them.",
            **ADDED),
    listing("listSiteIntegrations", SITE + "/integrations", placements.list_of_site, mg.Integration,
            mg.InstallationSearchQuery, decided="Those that are active there, as on a space.", **ADDED),
]  # fmt: skip
