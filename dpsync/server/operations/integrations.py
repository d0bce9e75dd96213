"""Define the API operations on integrations: method, path, models and handler of each.

Topics: publishing integrations, their events, their development mode, and lists of their installations.
Output: `OPERATIONS`, one row for each operation, which `operations/__init__.py` collects.
`TITLE` is the heading of these operations in docs/api.md.
"""

from ..handlers.integrations import installations, integrations, placements
from ..models import integrations as mg
from .builders import FULL_ONLY, delete, get, listing, post, put

TITLE = "Integrations"

INTEGRATION = "/integrations/{integrationName}"

_VISIBLE_NOTE = (
    "Lists the installations that the caller can view. The publisher of the integration can view all "
    "installations."
)

OPERATIONS = [
    listing("listIntegrations", "/integrations", integrations.list_integrations, mg.Integration,
            mg.IntegrationsQuery,
            note="Lists public integrations and integrations of the caller's organizations, sorted by "
                 "name."),
    get("getIntegrationByName", INTEGRATION, integrations.get_integration, mg.Integration,
        note="Returns a private integration only to members of organizations that own or have installed "
             "the integration."),
    post("publishIntegration", INTEGRATION, integrations.publish, mg.Integration, mg.Publish,
         error_statuses=(409,),
         note="Replaces the whole integration. Returns 409 if another organization owns an integration "
              "with the same name."),
    delete("unpublishIntegration", INTEGRATION, integrations.unpublish,
           note="Also deletes the installations and events of the integration."),
    listing("listIntegrationInstallations", INTEGRATION + "/installations", installations.list_installations,
            mg.Installation, mg.ExternalIdQuery,
            note=_VISIBLE_NOTE),
    post("installIntegration", INTEGRATION + "/installations", installations.install, mg.Installation,
         mg.Install,
         status=201, required_role="create",
         note="If the organization already has an installation, returns this installation. Returns 403 for a "
              "private integration of another organization."),
    listing("listIntegrationEvents", INTEGRATION + "/events", integrations.list_events, mg.Event,
            required_role="admin",
            note="Lists the last 1,000 events. The caller must be an admin of the organization that owns "
                 "the integration."),
    get("getIntegrationEvent", INTEGRATION + "/events/{eventId}", integrations.get_event, mg.EventDetail,
        required_role="admin"),
    listing("listIntegrationSpaceInstallations", INTEGRATION + "/spaces",
            placements.SPACE_PLACEMENTS.list_of_integration,
            mg.SpaceInstallation, mg.ExtendedExternalIdQuery,
            note=_VISIBLE_NOTE),
    listing("listIntegrationSiteInstallations", INTEGRATION + "/sites",
            placements.SITE_PLACEMENTS.list_of_integration,
            mg.SiteInstallation, mg.ExtendedExternalIdQuery,
            note=_VISIBLE_NOTE),
    put("setIntegrationDevelopmentMode", INTEGRATION + "/dev", integrations.set_development, None,
        mg.Development,
        status=204,
        note="After this call, the local server sends each event to `tunnelUrl` as a JSON `POST` request, if "
             "`--allow-fetch` allows the host.", **FULL_ONLY),
    delete("disableIntegrationDevelopmentMode", INTEGRATION + "/dev", integrations.disable_development,
           **FULL_ONLY),
]  # fmt: skip
