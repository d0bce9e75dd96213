"""Customization, redirects and visitor access."""

from ..families.publishing import SHARE_LINKS
from ..handlers.sites import customization, redirects, sites
from ..models import customization as mc
from ..models import publishing as mp
from .rows import ADDED, SITE, Rows, delete, get, listing, patch, post, put

LOOKS = SITE + "/customization"
PLACE_LOOKS = SITE + "/site-spaces/{siteSpaceId}/customization"
REDIRECTS = SITE + "/redirects"
REDIRECT = REDIRECTS + "/{siteRedirectId}"
AUTH = SITE + "/publishing/auth"

_LINKS = Rows(SHARE_LINKS)

OPERATIONS = [
    get("getSiteCustomizationById", LOOKS, customization.get_customization, mc.SiteCustomization, **ADDED,
        note="Returns the default value for each setting that was never set."),
    put("updateSiteCustomizationById", LOOKS, customization.put_customization, mc.SiteCustomization,
        mc.SiteCustomizationUpdate, **ADDED,
        needs="edit",
        note="Replaces the whole customization. Omitted settings get their defaults."),
    get("getSiteSpaceCustomizationById", PLACE_LOOKS, customization.get_overrides, mc.SiteSpaceCustomization,
        **ADDED, note="Returns only the settings that differ from the site's customization."),
    patch("overrideSiteSpaceCustomizationById", PLACE_LOOKS, customization.update_overrides,
          mc.SiteSpaceCustomization, mc.SiteSpaceCustomizationUpdate, **ADDED,
          needs="edit",
          note="Replaces each setting in the body. Null restores the value of the site."),
    delete("deleteSiteSpaceCustomizationById", PLACE_LOOKS, customization.delete_overrides, **ADDED,
           needs="edit"),
    listing("listSiteRedirects", REDIRECTS, redirects.list_redirects, mp.Redirect, mp.RedirectsQuery, **ADDED,
            note="With `search`, lists only redirects whose source contains this text, in upper or lower "
            "case. Sorts the redirects by `orderBy`, in ascending order."),
    put("bulkUpsertSiteRedirects", REDIRECTS, redirects.put_redirects, mp.ItemResults, mp.RedirectItems,
        **ADDED,
        needs="edit",
        note="Accepts 1 to 500 redirects. If one redirect fails, the other redirects still succeed."),
    post("createSiteRedirect", REDIRECTS, redirects.create_redirect, mp.Redirect, mp.RedirectCreate,
         status=201, errors=(409,), **ADDED,
         needs="edit",
         note="Returns 409 if another redirect has the same source, without regard to upper and lower "
              "case. Returns 404 if the destination does not exist."),
    patch("updateSiteRedirectById", REDIRECT, redirects.update_redirect, mp.Redirect, mp.RedirectUpdate,
          errors=(409,), **ADDED, needs="edit",
          note="Accepts the current destination of the redirect even if the page was deleted."),
    delete("deleteSiteRedirectById", REDIRECT, redirects.delete_redirect, **ADDED,
           needs="edit"),
    get("getSiteRedirectBySource", SITE + "/redirect", redirects.get_target, mp.RedirectTarget,
        mp.RedirectQuery, **ADDED,
        note="Returns the redirect whose source is equal to the parameter `source`. If there is none, "
             "returns the redirect with the longest matching source that ends with `*`."),
    get("getSitePublishingAuthById", AUTH, sites.get_auth, mp.VisitorAuth, needs="admin", **ADDED,
        note="Also returns settings if nobody has set up visitor access for the site. The private key is an "
             "example and protects nothing."),
    patch("updateSitePublishingAuthById", AUTH, sites.update_auth, mp.VisitorAuth,
          mp.VisitorAuthUpdate, **ADDED, note="Deletes each URL that is null in the body. Keeps the "
                                              "private key."),
    post("regenerateSitePublishingAuthById", AUTH + "/regenerate", sites.regenerate_auth,
         mp.VisitorAuth, **ADDED, note="Changes only the private key."),
    _LINKS.list(
        "listSiteShareLinks", needs="admin", **ADDED,
        note="Returns the secret of each share link as the last part of `urls.published`."),
    _LINKS.create(
        "createSiteShareLink", **ADDED,
        note="Creates an active share link. Several share links can have the same name."),
    _LINKS.update(
        "updateSiteShareLinkById", **ADDED,
        note="Keeps the secret if you deactivate a share link and activate the share link again."),
    _LINKS.delete("deleteSiteShareLinkById", **ADDED),
]  # fmt: skip
