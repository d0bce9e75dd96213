"""Part 4.3: sites."""

from ..handlers.sites import sites
from ..models import publishing as mp
from ..models import sites as ms
from .rows import ADDED, ORG, SITE, delete, get, listing, patch, post, put

OPERATIONS = [
    listing("listSites", ORG + "/sites", sites.list_sites, ms.Site, ms.SitesQuery,
            decided="Oldest first, only those that the caller may view. `title` finds a part of it in any "
            "case. `type`, which may be repeated, is an addition."),
    post("createSite", ORG + "/sites", sites.create_site, ms.Site, ms.SiteCreate, status=201,
         body_required=False, needs="create",
         decided="Nothing is needed: the title is `Untitled`, the visibility `public`. The basename is a "
         "slug of the title, unique in the organization. A new site is not published, and agents "
         "may use it. If a space in `spaces` does not exist, the answer is 404 and nothing is created. "
         "Today's edition also accepts the type `site`, which the vendor's skills use."),
    get("getSiteById", SITE, sites.get_site, ms.Site,
        decided="`urls.published` is there when the site is published and somebody reaches it there: for a "
        "share-link site only in answers to a `shareKey`. `features` has what the site uses, with "
        "its own type as plan. `icon`, `hostname` and `ads` come from the world: nothing sets them."),
    delete("deleteSiteById", SITE, sites.delete_site,
           decided="With its navigation, schema, customization, redirects, share links and roles. A site "
           "that is not there is 204 for an admin of the organization. `defaultContent` that names "
           "it becomes null."),
    patch("updateSiteById", SITE, sites.update_site, ms.Site, ms.SiteUpdate, errors=(409,),
          decided="A basename of another site of the organization is 409. `defaultSiteSpace` is looked for "
          "at the root or in the default section, as it is after `defaultSiteSection` of the same "
          "body: elsewhere 400. The target of a proxy is the server's. `defaultLevel` is an "
          "addition."),
    get("getSiteAdaptiveSchema", SITE + "/adaptive-schema", sites.get_schema, ms.AdaptiveSchema,
        decided="404 while none was set."),
    put("updateSiteAdaptiveSchema", SITE + "/adaptive-schema", sites.put_schema, ms.AdaptiveSchema,
        ms.AdaptiveSchemaUpdate,
        needs="create",
        decided="Claims may be boolean, string (also of some values), number, array or object; "
        "descriptions may be left out. `additionalProperties` may only be false."),
    get("listSiteAdaptiveTemplateConditions", SITE + "/adaptive-schema/template-conditions",
        sites.list_conditions, ms.TemplateConditions,
        decided="One condition for each claim of the schema, those in `unsigned` included; none without a "
        "schema."),
    get("getPublishedContentSite", SITE + "/published", sites.get_published, mp.PublishedSite,
        mp.PublishedQuery,
        decided="404 while the site is not published, and for a share-link site without the secret of an "
        "active share link; other sites do not look at `shareKey`, and one for authenticated "
        "visitors is shown to every caller who may view it. Drafts are left out; hidden site "
        "spaces are there, marked as such; conditions are not evaluated. With the profile of the "
        "reference the structure holds every section, and no group. `customizations` has what "
        "holds for the site and for each site space, defaults included. `scripts` has one for each "
        "integration that is active on the site and has the scope `site:script:inject`."),
    post("publishSite", SITE + "/publish", sites.publish_site, ms.Site, **ADDED,
         decided="Never asks for a paid plan. Publishing what is published is done."),
    post("unpublishSite", SITE + "/unpublish", sites.unpublish_site, ms.Site, **ADDED,
         decided="The settings stay."),
]  # fmt: skip
