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
        note="Returns defaults for settings that were never set."),
    put("updateSiteCustomizationById", LOOKS, customization.put_customization, mc.SiteCustomization,
        mc.SiteCustomizationUpdate, **ADDED,
        needs="edit",
        note="Replaces the whole customization. Omitted settings get their defaults."),
    get("getSiteSpaceCustomizationById", PLACE_LOOKS, customization.get_overrides, mc.SiteSpaceCustomization,
        **ADDED, note="Returns only what differs from the site's customization."),
    patch("overrideSiteSpaceCustomizationById", PLACE_LOOKS, customization.update_overrides,
          mc.SiteSpaceCustomization, mc.SiteSpaceCustomizationUpdate, **ADDED,
          needs="edit",
          note="Replaces each given member. Null restores the site's value."),
    delete("deleteSiteSpaceCustomizationById", PLACE_LOOKS, customization.delete_overrides, **ADDED,
           needs="edit"),
    listing("listSiteRedirects", REDIRECTS, redirects.list_redirects, mp.Redirect, mp.RedirectsQuery, **ADDED,
            note="Searches the sources in any case. Sorts in ascending order."),
    put("bulkUpsertSiteRedirects", REDIRECTS, redirects.put_redirects, mp.ItemResults, mp.RedirectItems,
        **ADDED,
        needs="edit",
        note="Handles 1 to 500 items separately. A failed item changes nothing."),
    post("createSiteRedirect", REDIRECTS, redirects.create_redirect, mp.Redirect, mp.RedirectCreate,
         status=201, errors=(409,), **ADDED,
         needs="edit",
         note="Returns 409 if a redirect has the source in any case, and 404 if the destination is missing."),
    patch("updateSiteRedirectById", REDIRECT, redirects.update_redirect, mp.Redirect, mp.RedirectUpdate,
          errors=(409,), **ADDED, needs="edit",
          note="Accepts the redirect's current destination even if the page was deleted."),
    delete("deleteSiteRedirectById", REDIRECT, redirects.delete_redirect, **ADDED,
           needs="edit"),
    get("getSiteRedirectBySource", SITE + "/redirect", redirects.get_target, mp.RedirectTarget,
        mp.RedirectQuery, **ADDED,
        note="Prefers the exact source, then the longest matching source with `*`."),
    get("getSitePublishingAuthById", AUTH, sites.get_auth, mp.VisitorAuth, needs="admin", **ADDED,
        note="Returns settings for every site. The private key protects nothing."),
    patch("updateSitePublishingAuthById", AUTH, sites.update_auth, mp.VisitorAuth,
          mp.VisitorAuthUpdate, **ADDED, note="Deletes URLs that are null, and keeps the key."),
    post("regenerateSitePublishingAuthById", AUTH + "/regenerate", sites.regenerate_auth,
         mp.VisitorAuth, **ADDED, note="Changes only the private key."),
    _LINKS.list(
        "listSiteShareLinks", needs="admin", **ADDED,
        note="Returns each secret as the last part of `urls.published`."),
    _LINKS.create(
        "createSiteShareLink", **ADDED,
        note="Creates an active link. Names can repeat."),
    _LINKS.update(
        "updateSiteShareLinkById", **ADDED,
        note="Keeps the secret when a link is deactivated and activated again."),
    _LINKS.delete("deleteSiteShareLinkById", **ADDED),
]  # fmt: skip
