"""Additions to part 4.9: the life of an installation, and where in its organization it is."""

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
    name: str, path: str, at: Placements, answer: type[BaseModel], body: type[Body], decided: str
) -> list[Operation]:
    """`name`: Space or Site, as operation ids have it."""
    all, one = f"{INSTALLED}/{path}s", f"{INSTALLED}/{path}s/{{{path}Id}}"
    return [
        listing(f"listIntegrationInstallation{name}s", all, at.list_of_installation, answer,
                mg.ExtendedListQuery, **ADDED),
        post(f"installIntegrationOn{name}", all, at.install, answer, body, query=mg.ExtendedQuery, status=201,
             errors=(409,), decided=decided, **_CREATES),
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
          decided="A configuration replaces the one that there is. Declared settings are held against their "
          "type and enumeration, others are kept as they are.", **_CREATES),
    delete("uninstallIntegration", INSTALLED, installations.uninstall,
           decided="Off the spaces and sites of the organization, too; one event tells of all of it.",
           **_CREATES),
    *_placed("Space", "space", SPACES, mg.SpaceInstallation, mg.InstallOnSpace,
             "An integration whose target is something else is 409. Again on the same space it is the one "
             "that is there. It changes no selection."),
    *_placed("Site", "site", SITES, mg.SiteInstallation, mg.InstallOnSite, "As on a space."),
    listing("listSpaceIntegrations", SP + "/integrations", SPACES.list_enabled, mg.Integration,
            mg.InstallationSearchQuery,
            decided="Those that are active there: in the organization, and on the space or on all of them.",
            **ADDED),
    listing("listSiteIntegrations", SITE + "/integrations", SITES.list_enabled, mg.Integration,
            mg.InstallationSearchQuery, decided="Those that are active there, as on a space.", **ADDED),
]  # fmt: skip
