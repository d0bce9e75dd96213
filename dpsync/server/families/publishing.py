"""Redirects, share links, customization and visitor access of a site.

redirects: [{id, source, destination, captureWildcard, permanent, draft}]
shareLinks: [{id, name, active, token}]
customization: {…}                                          # settings that differ from the defaults
visitorAuth: {backend, fallbackURL, logoutURL, privateKey}
"""

from typing import Any

from .. import answers
from ..handlers.sites.sites import begin_share_link
from ..models import publishing as models
from ..records.family import Columns, Dependency, Family, OrdinaryResource
from ..records.world_format import Dumping, Loading, WorldSection, but
from ..sites.navigation import PLACE, REDIRECT, SECTION, target
from ..sites.publishing import CUSTOMIZATION, SHARE_LINK, VISITOR_AUTH, secret
from ..store import Json, Record
from . import shapes


def _load_redirects(loading: Loading, site: Record, given: list[Json]) -> None:
    """Load redirects, after the navigation, because redirects refer to its nodes."""
    sources: set[str] = set()
    for redirect in loading.each(given):
        if redirect["source"].casefold() in sources:
            raise ValueError(f"the site {site.id!r} has two redirects for {redirect['source']!r}")
        sources.add(redirect["source"].casefold())
        _redirect(loading, site, redirect)


def _redirect(loading: Loading, site: Record, given: Json) -> None:
    doc = {
        "captureWildcard": False,
        "permanent": False,
        "draft": False,
        "createdAt": loading.then(),
        "updatedAt": loading.then(),
        **but(given, "id", "source"),
    }
    leads_to = _leads_to(loading, site, given["destination"])
    id = loading.id(REDIRECT, given)
    loading.add(Record(REDIRECT, id, doc, site.organization, site.id, leads_to, ref=given["source"]))


def _leads_to(loading: Loading, site: Record, destination: Json) -> str:
    if destination["kind"] == "external":
        return ""
    section = destination["kind"] == "site-section"
    kind, id = (SECTION, destination["siteSectionId"]) if section else (PLACE, destination["siteSpaceId"])
    node = loading.get(kind, id)
    if node is None:
        raise ValueError(f"a redirect of the site {site.id!r} leads to the unknown {kind} {id!r}")
    return target(node)


def _dump_redirects(dumping: Dumping, site: Record) -> list[Json] | None:
    found = dumping.created(REDIRECT, scope=site.id)
    return [{"id": redirect.id, "source": redirect.ref, **redirect.doc} for redirect in found] or None


def _load_share_links(loading: Loading, site: Record, given: list[Json]) -> None:
    for link in loading.each(given):
        id = loading.id(SHARE_LINK, link)
        doc = {"name": id, "active": True, "createdAt": loading.then(), **but(link, "id", "token")}
        token = link.get("token") or secret(SHARE_LINK, id)[:24]
        loading.add(Record(SHARE_LINK, id, doc, site.organization, site.id, ref=token))


def _dump_share_links(dumping: Dumping, site: Record) -> list[Json] | None:
    found = dumping.created(SHARE_LINK, scope=site.id)
    return [{"id": link.id, "token": link.ref, **link.doc} for link in found] or None


def _settings(kind: str, key: str, shape: Any) -> WorldSection:
    """Declare settings that belong to the site with the same id."""

    def load(loading: Loading, site: Record, given: Json) -> None:
        loading.add(Record(kind, site.id, given, site.organization, site.id))

    def dump(dumping: Dumping, site: Record) -> Json | None:
        kept = dumping.store.get(kind, site.id)
        return (kept.doc or None) if kept else None

    return WorldSection(key, load, dump, ("site",), shape)


def _to_node(node: Record) -> Columns:
    return {"scope": node.scope, "parent": target(node)}


SHARE_LINKS = Family(
    SHARE_LINK, prefix="share", owner="site",
    world=WorldSection("shareLinks", _load_share_links, _dump_share_links, ("site",),
                       list[shapes.ShareLink]),
    resource=OrdinaryResource("share link", "/share-links", "shareLinkId", answers.share_link,
                              models.ShareLink, models.ShareLinkCreate, models.ShareLinkUpdate,
                              begin_share_link),
)  # fmt: skip

FAMILIES = (
    Family(REDIRECT, prefix="redirect", owner="site",
           depends_on=(Dependency(SECTION, _to_node), Dependency(PLACE, _to_node)),
           world=WorldSection("redirects", _load_redirects, _dump_redirects, ("site",),
                              list[shapes.Redirect])),
    SHARE_LINKS,
    Family(CUSTOMIZATION, owner="site", world=_settings(CUSTOMIZATION, "customization", dict[str, Any])),
    Family(VISITOR_AUTH, owner="site", world=_settings(VISITOR_AUTH, "visitorAuth", shapes.VisitorAuth)),
)  # fmt: skip
