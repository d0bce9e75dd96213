"""Define the API operations on sites: method, path, models and handler of each.

Topics: sites, their publication, and the schema of visitor claims.
Output: `OPERATIONS`, one row for each operation, which `operations/__init__.py` collects.
`TITLE` is the heading of these operations in docs/api.md.
"""

from ..handlers.sites import sites
from ..models import publishing as mp
from ..models import sites as ms
from .builders import FULL_ONLY, ORG, SITE, delete, get, listing, patch, post, put

TITLE = "Sites"

OPERATIONS = [
    listing("listSites", ORG + "/sites", sites.list_sites, ms.Site, ms.SitesQuery,
            note="Lists the sites that the caller can view, with the oldest site first."),
    post("createSite", ORG + "/sites", sites.create_site, ms.Site, ms.SiteCreate, status=201,
         body_required=False, required_role="create",
         note="Creates a site that is not published and has the visibility `public`. Every field is "
              "optional."),
    get("getSiteById", SITE, sites.get_site, ms.Site,
        note="Returns `urls.published` only for a published site."),
    delete("deleteSiteById", SITE, sites.delete_site,
           note="Deletes the site with its navigation, customization, redirects, share links and roles."),
    patch("updateSiteById", SITE, sites.update_site, ms.Site, ms.SiteUpdate, error_statuses=(409,),
          note="Returns 409 if another site of the organization has the same basename."),
    get("getSiteAdaptiveSchema", SITE + "/adaptive-schema", sites.get_schema, ms.AdaptiveSchema,
        note="Returns 404 until a schema is set."),
    put("updateSiteAdaptiveSchema", SITE + "/adaptive-schema", sites.put_schema, ms.AdaptiveSchema,
        ms.AdaptiveSchemaUpdate,
        required_role="create",
        note="Accepts claims (facts about a visitor) of the types boolean, string, number, array and "
             "object."),
    get("listSiteAdaptiveTemplateConditions", SITE + "/adaptive-schema/template-conditions",
        sites.list_conditions, ms.TemplateConditions,
        note="Returns one condition for each claim of the schema."),
    get("getPublishedContentSite", SITE + "/published", sites.get_published, mp.PublishedSite,
        mp.PublishedQuery,
        note="Returns 404 if the site is not published. If the visibility of the site is `share-link`, "
             "also returns 404 without a valid `shareKey`."),
    post("publishSite", SITE + "/publish", sites.publish_site, ms.Site, **FULL_ONLY,
         note="Works without a paid plan."),
    post("unpublishSite", SITE + "/unpublish", sites.unpublish_site, ms.Site, **FULL_ONLY,
         note="Keeps all settings of the site."),
]  # fmt: skip
