"""Part 4.3: sites."""

from ..handlers import sites
from ..models import sites as ms
from .rows import ADDED, ORG, SITE, delete, get, listing, patch, post, put

OPERATIONS = [
    listing("listSites", ORG + "/sites", sites.list_sites, ms.Site, ms.SitesQuery),
    post("createSite", ORG + "/sites", sites.create_site, ms.Site, ms.SiteCreate, status=201,
         body_required=False, needs="create"),
    get("getSite", SITE, sites.get_site, ms.Site),
    delete("deleteSite", SITE, sites.delete_site),
    patch("updateSite", SITE, sites.update_site, ms.Site, ms.SiteUpdate, errors=(409,)),
    get("getAdaptiveSchema", SITE + "/adaptive-schema", sites.get_schema, ms.AdaptiveSchema),
    put("updateAdaptiveSchema", SITE + "/adaptive-schema", sites.put_schema, ms.AdaptiveSchema,
        ms.AdaptiveSchemaUpdate),
    get("listAdaptiveTemplateConditions", SITE + "/adaptive-schema/template-conditions",
        sites.list_conditions, ms.TemplateConditions),
    post("publishSite", SITE + "/publish", sites.publish_site, ms.Site, **ADDED),
    post("unpublishSite", SITE + "/unpublish", sites.unpublish_site, ms.Site, **ADDED),
]  # fmt: skip
