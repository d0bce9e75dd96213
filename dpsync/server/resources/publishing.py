"""Declare the records of a site's redirects, share links, customization (look) and visitor authentication.

Output: a `RecordKind` for each. In a world (the data that the local server starts with):

redirects: [{id, source, destination, captureWildcard, permanent, draft}]
shareLinks: [{id, name, active, token}]
customization: {…}                                          # settings that differ from the defaults
visitorAuth: {backend, fallbackURL, logoutURL, privateKey}
"""

from typing import Any

from .. import responses
from ..handlers.sites.sites import initialize_share_link
from ..models import publishing as models
from ..records.record_kind import ColumnFilter, CrudResource, Dependency, RecordKind
from ..records.world_sections import WorldDumper, WorldLoader, WorldSection, without_keys
from ..sites.navigation import REDIRECT, SECTION, SITE_SPACE, redirect_target
from ..sites.publishing import CUSTOMIZATION, SHARE_LINK, VISITOR_AUTH, derive_secret
from ..store import Json, Record
from . import world_models


def _load_redirects(loader: WorldLoader, site: Record, entries: list[Json]) -> None:
    """Load redirects of a site from a world file (the server's initial data).

    They are loaded after the navigation, because they refer to its nodes. Raise ValueError for two redirects
    with the same source.
    """
    sources: set[str] = set()
    for redirect in loader.each_entry(entries):
        if redirect["source"].casefold() in sources:
            raise ValueError(f"the site {site.id!r} has two redirects for {redirect['source']!r}")
        sources.add(redirect["source"].casefold())
        _load_redirect(loader, site, redirect)


def _load_redirect(loader: WorldLoader, site: Record, entry: Json) -> None:
    """Load a redirect from a world file (the server's initial data).

    Raise ValueError if its destination does not exist.
    """
    doc = {
        "captureWildcard": False,
        "permanent": False,
        "draft": False,
        "createdAt": loader.next_timestamp(),
        "updatedAt": loader.next_timestamp(),
        **without_keys(entry, "id", "source"),
    }
    target_key = _find_redirect_target(loader, site, entry["destination"])
    id = loader.entry_id(REDIRECT, entry)
    loader.add(Record(REDIRECT, id, doc, site.organization, site.id, target_key, ref=entry["source"]))


def _find_redirect_target(loader: WorldLoader, site: Record, destination: Json) -> str:
    """Return the key of the section or site space to which a redirect leads, or "" for an external URL.

    Raise ValueError for an unknown section or site space.
    """
    if destination["kind"] == "external":
        return ""
    section = destination["kind"] == "site-section"
    kind, id = (
        (SECTION, destination["siteSectionId"]) if section else (SITE_SPACE, destination["siteSpaceId"])
    )
    node = loader.get(kind, id)
    if node is None:
        raise ValueError(f"a redirect of the site {site.id!r} leads to the unknown {kind} {id!r}")
    return redirect_target(node)


def _dump_redirects(dumper: WorldDumper, site: Record) -> list[Json] | None:
    """Return the redirects of a site as entries of a world file (the server's initial data).

    None if it has none.
    """
    redirects = dumper.find_by_creation(REDIRECT, scope=site.id)
    return [{"id": redirect.id, "source": redirect.ref, **redirect.doc} for redirect in redirects] or None


def _load_share_links(loader: WorldLoader, site: Record, entries: list[Json]) -> None:
    """Load the share links of a site from a world file (the server's initial data).

    By default, the token is derived from the id.
    """
    for link in loader.each_entry(entries):
        id = loader.entry_id(SHARE_LINK, link)
        doc = {
            "name": id,
            "active": True,
            "createdAt": loader.next_timestamp(),
            **without_keys(link, "id", "token"),
        }
        token = link.get("token") or derive_secret(SHARE_LINK, id)[:24]
        loader.add(Record(SHARE_LINK, id, doc, site.organization, site.id, ref=token))


def _dump_share_links(dumper: WorldDumper, site: Record) -> list[Json] | None:
    """Return the share links of a site as entries of a world file (the server's initial data).

    None if it has none.
    """
    links = dumper.find_by_creation(SHARE_LINK, scope=site.id)
    return [{"id": link.id, "token": link.ref, **link.doc} for link in links] or None


def _settings_section(kind: str, key: str, shape: Any) -> WorldSection:
    """Declare settings that belong to the site with the same id."""

    def load(loader: WorldLoader, site: Record, entry: Json) -> None:
        loader.add(Record(kind, site.id, entry, site.organization, site.id))

    def dump(dumper: WorldDumper, site: Record) -> Json | None:
        record = dumper.store.get(kind, site.id)
        return (record.doc or None) if record else None

    return WorldSection(key, load, dump, ("site",), shape)


def _by_target(node: Record) -> ColumnFilter:
    """Match the redirects to a section or site space."""
    return {"scope": node.scope, "parent": redirect_target(node)}


SHARE_LINKS = RecordKind(
    SHARE_LINK, id_prefix="share", owner="site",
    world_section=WorldSection("shareLinks", _load_share_links, _dump_share_links, ("site",),
                               list[world_models.ShareLink]),
    crud=CrudResource("share link", "/share-links", "shareLinkId", responses.share_link,
                      models.ShareLink, models.ShareLinkCreate, models.ShareLinkUpdate,
                      initialize_share_link),
)  # fmt: skip

RECORD_KINDS = (
    RecordKind(REDIRECT, id_prefix="redirect", owner="site",
               depends_on=(Dependency(SECTION, _by_target), Dependency(SITE_SPACE, _by_target)),
               world_section=WorldSection("redirects", _load_redirects, _dump_redirects, ("site",),
                                          list[world_models.Redirect])),
    SHARE_LINKS,
    RecordKind(CUSTOMIZATION, owner="site", world_section=_settings_section(CUSTOMIZATION, "customization",
                                                                            dict[str, Any])),
    RecordKind(VISITOR_AUTH, owner="site", world_section=_settings_section(VISITOR_AUTH, "visitorAuth",
                                                                           world_models.VisitorAuth)),
)  # fmt: skip
