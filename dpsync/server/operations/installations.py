"""Define the API operations on installations of integrations: method, path, models and handler of each.

Topics: in organizations, spaces and sites.
Output: `OPERATIONS`, one row for each operation, which `operations/__init__.py` collects.
`TITLE` is the heading of these operations in docs/api.md.
"""

from pydantic import BaseModel

from ..handlers.integrations import installations
from ..handlers.integrations.placements import SITE_PLACEMENTS, SPACE_PLACEMENTS, PlacementHandlers
from ..models import integrations as mg
from ..models.base import Body
from ..request.operation import Operation
from .builders import FULL_ONLY, ORG, SITE, SPACE, delete, get, listing, patch, post
from .integrations import INTEGRATION

TITLE = "Installations of integrations"

INSTALLATION = INTEGRATION + "/installations/{installationId}"

_NEEDS_CREATE = {"required_role": "create", **FULL_ONLY}
"""The role that the permission `installIntegration` needs."""


def _placement_operations(
    name: str, path: str, handlers: PlacementHandlers, answer: type[BaseModel], body: type[Body], note: str
) -> list[Operation]:
    """Return the operations on installations of one target. `name` is Space or Site, as in operation ids."""
    collection_path, item_path = f"{INSTALLATION}/{path}s", f"{INSTALLATION}/{path}s/{{{path}Id}}"
    return [
        listing(f"listIntegrationInstallation{name}s", collection_path, handlers.list_of_installation, answer,
                mg.ExtendedListQuery, **FULL_ONLY),
        post(f"installIntegrationOn{name}", collection_path, handlers.install, answer, body,
             query_model=mg.ExtendedQuery, status=201,
             error_statuses=(409,), note=note, **_NEEDS_CREATE),
        get(f"getIntegration{name}Installation", item_path, handlers.get, answer, mg.ExtendedQuery,
            **FULL_ONLY),
        patch(f"updateIntegration{name}Installation", item_path, handlers.update, answer, mg.PlacedUpdate,
              query_model=mg.ExtendedQuery, **_NEEDS_CREATE),
        delete(f"uninstallIntegrationFrom{name}", item_path, handlers.uninstall, **_NEEDS_CREATE),
    ]  # fmt: skip


OPERATIONS = [
    listing("listOrganizationInstallations", ORG + "/installations",
            installations.list_organization_installations,
            mg.InstalledIntegration, mg.InstallationSearchQuery, required_role="read", **FULL_ONLY),
    get("getIntegrationInstallationById", INSTALLATION, installations.get_installation, mg.Installation,
        **FULL_ONLY),
    patch("updateIntegrationInstallation", INSTALLATION, installations.update_installation, mg.Installation,
          mg.InstallationUpdate,
          note="Replaces the configuration. Checks the values of settings that the integration defines.",
          **_NEEDS_CREATE),
    delete("uninstallIntegration", INSTALLATION, installations.uninstall,
           note="Removes the integration from all spaces and sites of the organization.",
           **_NEEDS_CREATE),
    *_placement_operations("Space", "space", SPACE_PLACEMENTS, mg.SpaceInstallation, mg.InstallOnSpace,
                           "If the space already has the installation, returns this installation. "
                           "Returns 409 if the integration does not work in spaces."),
    *_placement_operations("Site", "site", SITE_PLACEMENTS, mg.SiteInstallation, mg.InstallOnSite,
                           "If the site already has the installation, returns this installation. "
                           "Returns 409 if the integration does not work on sites."),
    listing("listSpaceIntegrations", SPACE + "/integrations", SPACE_PLACEMENTS.list_enabled, mg.Integration,
            mg.InstallationSearchQuery,
            note="Lists integrations that are active on the space.",
            **FULL_ONLY),
    listing("listSiteIntegrations", SITE + "/integrations", SITE_PLACEMENTS.list_enabled, mg.Integration,
            mg.InstallationSearchQuery, note="Lists integrations that are active on the site.", **FULL_ONLY),
]  # fmt: skip
