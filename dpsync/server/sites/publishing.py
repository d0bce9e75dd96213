"""Decide what visitors of a published site see: share links, visitor authentication, and drafts.

Secrets are derived from the id of their object, so the same requests on the same data give the same
responses. The secrets protect nothing, because the local server is only for tests.
"""

import hashlib

from msgspec.structs import replace

from ..request.context import Context
from ..store import Json, Record, Store
from .navigation import GROUP, SECTION, SITE_SPACE, Navigation, read_navigation

SHARE_LINK = "share-link"
"""Record kind of share links. `scope` is the site, `ref` the secret token."""
VISITOR_AUTH = "visitor-auth"
"""Record kind of visitor authentication. The id is that of the site; `doc` has the settings that differ
from the defaults.
"""
CUSTOMIZATION = "site-customization"
"""Record kind of the customization of a site. Both have the same id."""


def derive_secret(kind: str, id: str, generation: int = 0) -> str:
    """Return a secret of an object. Another `generation` gives another secret."""
    return hashlib.sha256(f"{kind}:{id}:{generation}".encode()).hexdigest()


def is_valid_share_key(ctx: Context, site: Record, key: str | None) -> bool:
    """Return whether a key is the token of an active share link of the site."""
    links = ctx.store.find(SHARE_LINK, scope=site.id, ref=key) if key else []
    return any(link.doc["active"] for link in links)


def visitor_auth(store: Store, site: Record) -> Json:
    """Return the visitor authentication of a site, with defaults and with the private key."""
    record = store.get(VISITOR_AUTH, site.id)
    doc = {"backend": "custom", "generation": 0, **(record.doc if record else {})}
    generation = doc.pop("generation")
    return {"privateKey": derive_secret(VISITOR_AUTH, site.id, generation), **doc}


def is_draft(ctx: Context, node: Record) -> bool:
    """Return whether a section, group or site space is a draft, or inside a draft."""
    current: Record | None = node
    while current is not None:
        if current.doc.get("draft"):
            return True
        current = (
            ctx.load(SECTION if current.kind == SITE_SPACE else GROUP, current.parent)
            if current.parent
            else None
        )
    return False


def visible_navigation(ctx: Context, site: Record) -> Navigation:
    """Return the navigation of a site as the caller sees it.

    The API version `reference` hides drafts, because its responses have no field that could mark them.
    """
    nav = read_navigation(ctx.store, site)
    if not ctx.has_additions:
        visible_ids = {node.id for node in without_drafts(nav).nodes}
        nav.hidden_ids = frozenset(node.id for node in nav.nodes if node.id not in visible_ids)
    return nav


def without_drafts(nav: Navigation) -> Navigation:
    """Return the navigation as visitors see it, without drafts. A node inside a draft is hidden, too."""
    hidden_groups = {node.id for node in nav.groups if node.doc.get("draft")}
    hidden_groups = set().union(*map(nav.group_ids_below, hidden_groups))

    def without_hidden(nodes: list[Record], hidden_parents: set[str]) -> list[Record]:
        return [node for node in nodes if not node.doc.get("draft") and node.parent not in hidden_parents]

    sections = without_hidden(nav.sections, hidden_groups)
    hidden_sections = {section.id for section in nav.sections} - {section.id for section in sections}
    return replace(
        nav,
        groups=[group for group in nav.groups if group.id not in hidden_groups],
        sections=sections,
        site_spaces=without_hidden(nav.site_spaces, hidden_sections),
        links=without_hidden(nav.links, hidden_groups),
    )
