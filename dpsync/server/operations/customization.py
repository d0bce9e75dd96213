"""Additions: the looks of a site, its redirects, and who may visit it."""

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
        decided="Complete: what was never set has its default."),
    put("updateSiteCustomizationById", LOOKS, customization.put_customization, mc.SiteCustomization,
        mc.SiteCustomizationUpdate, **ADDED,
        needs="edit",
        decided="All members but `title`, `localizedTitle` and `announcement` are needed; inside of them, "
        "what is left out has its default. Colours, URLs and switches are checked; choices of "
        "which the values are not known, such as `corners`, may be any word."),
    get("getSiteSpaceCustomizationById", PLACE_LOOKS, customization.get_overrides, mc.SiteSpaceCustomization,
        **ADDED, decided="Only what the site space has in place of its site's: empty at first."),
    patch("overrideSiteSpaceCustomizationById", PLACE_LOOKS, customization.update_overrides,
          mc.SiteSpaceCustomization, mc.SiteSpaceCustomizationUpdate, **ADDED,
          needs="edit",
          decided="A member replaces the one before as a whole, null takes it away. What is left out "
          "inside of a member is that of the site."),
    delete("deleteSiteSpaceCustomizationById", PLACE_LOOKS, customization.delete_overrides, **ADDED,
           needs="edit",
           decided="204 also when there is none, or no such site space."),
    listing("listSiteRedirects", REDIRECTS, redirects.list_redirects, mp.Redirect, mp.RedirectsQuery, **ADDED,
            decided="`search` finds a part of the source in any case. `orderBy` is `createdAt`, "
            "`updatedAt` or `source`, upwards."),
    put("bulkUpsertSiteRedirects", REDIRECTS, redirects.put_redirects, mp.ItemResults, mp.RedirectItems,
        **ADDED,
        needs="edit",
        decided="1 to 500 items, each by itself and in order: a result says created, updated, deleted, "
        "published or error, and an item in error changes nothing. Without an intent it is live. A "
        "null destination deletes; without one, what is there keeps its own. Deleting what is not "
        "there is deleted."),
    post("createSiteRedirect", REDIRECTS, redirects.create_redirect, mp.Redirect, mp.RedirectCreate,
         status=201, errors=(409,), **ADDED,
         needs="edit",
         decided="A source that is redirected already is 409, regardless of case; it is stored as written. "
         "A section, site space or page that is not on this site is 404. A `path` becomes the page "
         "there, on the first site space of that space, and the site space itself when it is empty."),
    patch("updateSiteRedirectById", REDIRECT, redirects.update_redirect, mp.Redirect, mp.RedirectUpdate,
          errors=(409,), **ADDED, needs="edit",
          decided="As on creation. A destination that it has may stay when its page has gone."),
    delete("deleteSiteRedirectById", REDIRECT, redirects.delete_redirect, **ADDED,
           needs="edit",
           decided="A redirect also goes with the section or site space that it leads to; it stays when "
           "its page goes. One that is not there is 204."),
    get("getSiteRedirectBySource", SITE + "/redirect", redirects.get_target, mp.RedirectTarget,
        mp.RedirectQuery, **ADDED,
        decided="The live redirect of this source, regardless of case, else the longest that ends with `*` "
        "and begins like it; with `captureWildcard` the rest of the source is put behind the target. 404 "
        "where none leads anywhere, or the site is not reached."),
    get("getSitePublishingAuthById", AUTH, sites.get_auth, mp.VisitorAuth, needs="admin", **ADDED,
        decided="There for every site, whatever its visibility; the backend is `custom` at first. The "
        "private key is made from the site's id: it stays until a new one is made, and protects "
        "nothing."),
    patch("updateSitePublishingAuthById", AUTH, sites.update_auth, mp.VisitorAuth,
          mp.VisitorAuthUpdate, **ADDED, decided="A URL that is null is taken away. The key stays."),
    post("regenerateSitePublishingAuthById", AUTH + "/regenerate", sites.regenerate_auth,
         mp.VisitorAuth, **ADDED, decided="A new private key; the rest stays."),
    _LINKS.list(
        "listSiteShareLinks", needs="admin", **ADDED,
        decided="Oldest first. The secret is the last part of `urls.published`, and what `shareKey` takes."),
    _LINKS.create(
        "createSiteShareLink", **ADDED,
        decided="Active. Names need not differ. Any site may have some; only a share-link site asks for "
        "them. The secret is made from the link's id."),
    _LINKS.update(
        "updateSiteShareLinkById", **ADDED,
        decided="One that is not active opens nothing; activated again, it has the secret that it had."),
    _LINKS.delete("deleteSiteShareLinkById", **ADDED, decided="One that is not there is 204."),
]  # fmt: skip
