"""Part 4.9: integrations, what they are sent, and their development mode."""

from ..handlers.integrations import installations, integrations, placements
from ..models import integrations as mg
from .rows import ADDED, delete, get, listing, post, put

NAMED = "/integrations/{integrationName}"

OPERATIONS = [
    listing("listIntegrations", "/integrations", integrations.list_integrations, mg.Integration,
            mg.IntegrationsQuery,
            decided="By name. The public ones, and those of organizations in which the caller may list "
            "them. A target finds the integrations for it and those for all. A domain finds the blocks that "
            "show URLs of it, or of one above it."),
    get("getIntegrationByName", NAMED, integrations.get_integration, mg.Integration,
        decided="A private one is found by members of its owner and of organizations that have it installed. "
        "To who is no member of the owner, that is shown with its title alone."),
    post("publishIntegration", NAMED, integrations.publish, mg.Integration, mg.Publish, errors=(409,),
         decided="No member is required; without an organization it is the owner's, else that of the only "
         "organization that the caller is an admin of, else 400. Private where nothing is said. Each "
         "publishing replaces everything and raises the version by one. A name that another organization has "
         "is 409. The script and the secrets are kept and not given back; images are served beside the API, "
         "as what their content is, at most 1 MiB each."),
    delete("unpublishIntegration", NAMED, integrations.unpublish,
           decided="Its installations and events go with it. One that the caller may not see is as good as "
           "absent: 204."),
    listing("listIntegrationInstallations", NAMED + "/installations", installations.list_installations,
            mg.Installation, mg.ExternalIdQuery,
            decided="User tokens may call it: who publishes the integration sees all, others those of "
            "organizations whose installations they may list."),
    post("installIntegration", NAMED + "/installations", installations.install, mg.Installation, mg.Install,
         status=201, needs="create",
         decided="Again in the same organization it is the installation that is there, unchanged. A private "
         "one is installed by its owner alone: 403. Pending until each required setting has a value or a "
         "default."),
    listing("listIntegrationEvents", NAMED + "/events", integrations.list_events, mg.Event, needs="admin",
            decided="For admins of the owner. The last 1,000 of an integration, in the order in which they "
            "were recorded."),
    get("getIntegrationEvent", NAMED + "/events/{eventId}", integrations.get_event, mg.EventDetail,
        needs="admin"),
    listing("listIntegrationSpaceInstallations", NAMED + "/spaces", placements.SPACES.list_of_integration,
            mg.SpaceInstallation, mg.ExtendedExternalIdQuery,
            decided="Those on spaces that the caller may view; all for who publishes the integration."),
    listing("listIntegrationSiteInstallations", NAMED + "/sites", placements.SITES.list_of_integration,
            mg.SiteInstallation, mg.ExtendedExternalIdQuery,
            decided="Those on sites that the caller may view; all for who publishes the integration."),
    put("setIntegrationDevelopmentMode", NAMED + "/dev", integrations.set_development, None, mg.Development,
        status=204,
        decided="The tunnel is `tunnelUrl` or `url`. While it is set, the payload of each event is POSTed "
        "there as JSON, one after the other; the event is listed when that is done. A 2xx is a success. "
        "Anything else, a redirect too, and no answer within ten seconds, is a failure that the trace tells "
        "of. Only loopback and hosts named with --allow-fetch are contacted.", **ADDED),
    delete("disableIntegrationDevelopmentMode", NAMED + "/dev", integrations.end_development, **ADDED),
]  # fmt: skip
