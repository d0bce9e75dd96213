"""Integrations."""

from ..handlers.integrations import installations, integrations, placements
from ..models import integrations as mg
from .rows import ADDED, delete, get, listing, post, put

NAMED = "/integrations/{integrationName}"

_VISIBLE = "Lists all installations for the publisher, and visible installations for others."

OPERATIONS = [
    listing("listIntegrations", "/integrations", integrations.list_integrations, mg.Integration,
            mg.IntegrationsQuery,
            note="Lists public integrations, and integrations of the caller's organizations, by name."),
    get("getIntegrationByName", NAMED, integrations.get_integration, mg.Integration,
        note="Shows a private integration only to its owner's members and to organizations that installed "
        "it."),
    post("publishIntegration", NAMED, integrations.publish, mg.Integration, mg.Publish, errors=(409,),
         note="Replaces the whole integration. Returns 409 if another organization has the name."),
    delete("unpublishIntegration", NAMED, integrations.unpublish,
           note="Deletes the integration's installations and events too."),
    listing("listIntegrationInstallations", NAMED + "/installations", installations.list_installations,
            mg.Installation, mg.ExternalIdQuery,
            note="Lists all installations for the publisher, and visible installations for others."),
    post("installIntegration", NAMED + "/installations", installations.install, mg.Installation, mg.Install,
         status=201, needs="create",
         note="Returns the existing installation if there is one. Returns 403 for another organization's "
         "private integration."),
    listing("listIntegrationEvents", NAMED + "/events", integrations.list_events, mg.Event, needs="admin",
            note="Lists the last 1,000 events for admins of the owner."),
    get("getIntegrationEvent", NAMED + "/events/{eventId}", integrations.get_event, mg.EventDetail,
        needs="admin"),
    listing("listIntegrationSpaceInstallations", NAMED + "/spaces", placements.SPACES.list_of_integration,
            mg.SpaceInstallation, mg.ExtendedExternalIdQuery,
            note=_VISIBLE),
    listing("listIntegrationSiteInstallations", NAMED + "/sites", placements.SITES.list_of_integration,
            mg.SiteInstallation, mg.ExtendedExternalIdQuery,
            note=_VISIBLE),
    put("setIntegrationDevelopmentMode", NAMED + "/dev", integrations.set_development, None, mg.Development,
        status=204,
        note="Sends each event to `tunnelUrl` as a JSON POST, if the host is allowed.", **ADDED),
    delete("disableIntegrationDevelopmentMode", NAMED + "/dev", integrations.end_development, **ADDED),
]  # fmt: skip
