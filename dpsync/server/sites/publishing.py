"""Who reaches a published site: share links, the access of visitors, and what is a draft.

Secrets are made from the id that they belong to, so that the same requests on the same world give the same
answers. They protect nothing: a companion is for trying things out.
"""

import hashlib

from msgspec.structs import replace

from ..request.context import Context
from ..store import Json, Record, Store
from .navigation import GROUP, PLACE, SECTION, Navigation, read

SHARE_LINK = "share-link"
"""`scope` is its site, `ref` its secret token."""
VISITOR_AUTH = "visitor-auth"
"""Of the site with the same id; `doc` holds what differs from the defaults."""
CUSTOMIZATION = "site-customization"
"""Of the site with the same id."""


def secret(kind: str, id: str, generation: int = 0) -> str:
    return hashlib.sha256(f"{kind}:{id}:{generation}".encode()).hexdigest()


def opens(ctx: Context, site: Record, key: str | None) -> bool:
    """Whether a key is the token of an active share link of the site."""
    found = ctx.store.find(SHARE_LINK, scope=site.id, ref=key) if key else []
    return any(link.doc["active"] for link in found)


def visitor_auth(store: Store, site: Record) -> Json:
    kept = store.get(VISITOR_AUTH, site.id)
    doc = {"backend": "custom", "generation": 0, **(kept.doc if kept else {})}
    generation = doc.pop("generation")
    return {"privateKey": secret(VISITOR_AUTH, site.id, generation), **doc}


def is_draft(ctx: Context, node: Record) -> bool:
    """Whether a section, group or site space is a draft, or in one."""
    at: Record | None = node
    while at is not None:
        if at.doc.get("draft"):
            return True
        at = ctx.load(SECTION if at.kind == PLACE else GROUP, at.parent) if at.parent else None
    return False


def navigation_of(ctx: Context, site: Record) -> Navigation:
    """That of a site as the caller has it. The reference knows no drafts: with its profile they are not
    shown, since they could not be told from what is published.
    """
    nav = read(ctx.store, site)
    if not ctx.full:
        seen = {node.id for node in without_drafts(nav).nodes}
        nav.unseen = frozenset(node.id for node in nav.nodes if node.id not in seen)
    return nav


def without_drafts(nav: Navigation) -> Navigation:
    """What is published of a navigation. What is in a draft is one, too."""
    hidden = {node.id for node in nav.groups if node.doc.get("draft")}
    hidden = set().union(*map(nav.inside, hidden))

    def seen(nodes: list[Record], above: set[str]) -> list[Record]:
        return [node for node in nodes if not node.doc.get("draft") and node.parent not in above]

    sections = seen(nav.sections, hidden)
    hidden_sections = {section.id for section in nav.sections} - {section.id for section in sections}
    return replace(
        nav,
        groups=[group for group in nav.groups if group.id not in hidden],
        sections=sections,
        places=seen(nav.places, hidden_sections),
        links=seen(nav.links, hidden),
    )
