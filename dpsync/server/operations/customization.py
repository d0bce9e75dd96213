"""Define the API operations on the customization of a site: method, path, models and handler of each.

Topics: the look of a site and its site spaces, redirects, visitor authentication and share links.
Output: `OPERATIONS`, one row for each operation, which `operations/__init__.py` collects.
`TITLE` is the heading of these operations in docs/api.md.
"""

from ..handlers.sites import customization, redirects, sites
from ..models import customization as mc
from ..models import publishing as mp
from ..resources.publishing import SHARE_LINKS
from .builders import FULL_ONLY, SITE, CrudOperations, delete, get, listing, patch, post, put

TITLE = "Customization, redirects and visitor access"

CUSTOMIZATION = SITE + "/customization"
SITE_SPACE_CUSTOMIZATION = SITE + "/site-spaces/{siteSpaceId}/customization"
REDIRECTS = SITE + "/redirects"
REDIRECT = REDIRECTS + "/{siteRedirectId}"
AUTH = SITE + "/publishing/auth"

_LINKS = CrudOperations(SHARE_LINKS)

OPERATIONS = [
    get("getSiteCustomizationById", CUSTOMIZATION, customization.get_customization, mc.SiteCustomization,
        **FULL_ONLY,
        note="Returns the default value for each setting that was never set."),
    put("updateSiteCustomizationById", CUSTOMIZATION, customization.put_customization, mc.SiteCustomization,
        mc.SiteCustomizationUpdate, **FULL_ONLY,
        required_role="edit",
        note="Replaces the whole customization. Omitted settings get their defaults."),
    get("getSiteSpaceCustomizationById", SITE_SPACE_CUSTOMIZATION, customization.get_overrides,
        mc.SiteSpaceCustomization,
        **FULL_ONLY, note="Returns only the settings that differ from the site's customization."),
    patch("overrideSiteSpaceCustomizationById", SITE_SPACE_CUSTOMIZATION, customization.update_overrides,
          mc.SiteSpaceCustomization, mc.SiteSpaceCustomizationUpdate, **FULL_ONLY,
          required_role="edit",
          note="Replaces each setting in the body. Null restores the value of the site."),
    delete("deleteSiteSpaceCustomizationById", SITE_SPACE_CUSTOMIZATION, customization.delete_overrides,
           **FULL_ONLY,
           required_role="edit"),
    listing("listSiteRedirects", REDIRECTS, redirects.list_redirects, mp.Redirect, mp.RedirectsQuery,
            **FULL_ONLY,
            note="With `search`, lists only redirects whose source contains this text, in upper or lower "
                 "case. Sorts the redirects by `orderBy`, in ascending order."),
    put("bulkUpsertSiteRedirects", REDIRECTS, redirects.put_redirects, mp.ItemResults, mp.RedirectItems,
        **FULL_ONLY,
        required_role="edit",
        note="Accepts 1 to 500 redirects. If one redirect fails, the other redirects still succeed."),
    post("createSiteRedirect", REDIRECTS, redirects.create_redirect, mp.Redirect, mp.RedirectCreate,
         status=201, error_statuses=(409,), **FULL_ONLY,
         required_role="edit",
         note="Returns 409 if another redirect has the same source, without regard to upper and lower "
              "case. Returns 404 if the destination does not exist."),
    patch("updateSiteRedirectById", REDIRECT, redirects.update_redirect, mp.Redirect, mp.RedirectUpdate,
          error_statuses=(409,), **FULL_ONLY, required_role="edit",
          note="Accepts the current destination of the redirect even if the page was deleted."),
    delete("deleteSiteRedirectById", REDIRECT, redirects.delete_redirect, **FULL_ONLY,
           required_role="edit"),
    get("getSiteRedirectBySource", SITE + "/redirect", redirects.get_redirect_target, mp.RedirectTarget,
        mp.RedirectQuery, **FULL_ONLY,
        note="Returns the redirect whose source is equal to the parameter `source`. If there is none, "
             "returns the redirect with the longest matching source that ends with `*`."),
    get("getSitePublishingAuthById", AUTH, sites.get_auth, mp.VisitorAuth, required_role="admin", **FULL_ONLY,
        note="Also returns settings if nobody has set up visitor access for the site. The private key is an "
             "example and protects nothing."),
    patch("updateSitePublishingAuthById", AUTH, sites.update_auth, mp.VisitorAuth,
          mp.VisitorAuthUpdate, **FULL_ONLY, note="Deletes each URL that is null in the body. Keeps the "
                                                  "private key."),
    post("regenerateSitePublishingAuthById", AUTH + "/regenerate", sites.regenerate_auth,
         mp.VisitorAuth, **FULL_ONLY, note="Changes only the private key."),
    _LINKS.list(
        "listSiteShareLinks", required_role="admin", **FULL_ONLY,
        note="Returns the secret of each share link as the last part of `urls.published`."),
    _LINKS.create(
        "createSiteShareLink", **FULL_ONLY,
        note="Creates an active share link. Several share links can have the same name."),
    _LINKS.update(
        "updateSiteShareLinkById", **FULL_ONLY,
        note="Keeps the secret if you deactivate a share link and activate the share link again."),
    _LINKS.delete("deleteSiteShareLinkById", **FULL_ONLY),
]  # fmt: skip
