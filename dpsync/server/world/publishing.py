"""What a site has beside its navigation: redirects, its looks, share links, the access of its visitors."""

from ..navigation import OVERRIDES, PLACE, REDIRECT, SECTION
from ..publishing import CUSTOMIZATION, SHARE_LINK, VISITOR_AUTH, secret
from ..store import Record, Store
from .loading import Json, Loading, but, created

KEYS = ("redirects", "customization", "shareLinks", "visitorAuth")


def load(loading: Loading, site: Record, given: Json) -> None:
    """After the navigation: redirects lead into it."""
    redirects = given.get("redirects") or []
    if len({redirect["source"] for redirect in redirects}) < len(redirects):
        raise ValueError(f"the site {site.id!r} redirects a source twice")
    for redirect in redirects:
        _redirect(loading, site, redirect)
    for link in given.get("shareLinks") or []:
        _share_link(loading, site, link)
    for kind, key in ((CUSTOMIZATION, "customization"), (VISITOR_AUTH, "visitorAuth")):
        if settings := given.get(key):
            loading.add(Record(kind, site.id, settings, site.organization, site.id))


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
    if (kind, id) not in loading.taken:
        raise ValueError(f"a redirect of the site {site.id!r} leads to the unknown {kind} {id!r}")
    return f"{kind}:{id}"


def _share_link(loading: Loading, site: Record, given: Json) -> None:
    id = loading.id(SHARE_LINK, given)
    doc = {"name": id, "active": True, "createdAt": loading.then(), **but(given, "id", "token")}
    token = given.get("token") or secret(SHARE_LINK, id)[:24]
    loading.add(Record(SHARE_LINK, id, doc, site.organization, site.id, ref=token))


def load_overrides(loading: Loading, place: Record, given: Json) -> None:
    loading.add(Record(OVERRIDES, place.id, given, place.organization, place.scope))


def overrides(store: Store, site: Record) -> dict[str, Json]:
    """By site space."""
    return {kept.id: kept.doc for kept in store.find(OVERRIDES, scope=site.id)}


def dump(store: Store, site: Record) -> Json:
    redirects = [
        {"id": found.id, "source": found.ref, **found.doc}
        for found in created(store, REDIRECT, scope=site.id)
    ]
    links = [
        {"id": found.id, "token": found.ref, **found.doc}
        for found in created(store, SHARE_LINK, scope=site.id)
    ]
    looks, auth = store.get(CUSTOMIZATION, site.id), store.get(VISITOR_AUTH, site.id)
    found = (redirects, looks and looks.doc, links, auth and auth.doc)
    return {key: value for key, value in zip(KEYS, found, strict=True) if value}
