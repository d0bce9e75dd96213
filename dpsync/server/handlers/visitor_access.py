"""Who may visit a site: the settings of authenticated visits, and share links."""

from typing import Any

from .. import answers
from ..context import Context
from ..errors import missing
from ..paging import created_page
from ..publishing import SHARE_LINK, VISITOR_AUTH, secret
from ..store import Record

Json = dict[str, Any]


def get_auth(ctx: Context) -> Json:
    return answers.visitor_auth(ctx, ctx.site())


def update_auth(ctx: Context) -> Json:
    site = ctx.site()
    kept = _kept_auth(ctx, site)
    kept.doc |= ctx.body.given()
    ctx.put(kept)
    return answers.visitor_auth(ctx, site)


def regenerate_auth(ctx: Context) -> Json:
    """A new private key. What was signed with the one before is worth nothing now."""
    site = ctx.site()
    kept = _kept_auth(ctx, site)
    kept.doc.pop("privateKey", None)
    kept.doc["generation"] = kept.doc.get("generation", 0) + 1
    ctx.put(kept)
    return answers.visitor_auth(ctx, site)


def _kept_auth(ctx: Context, site: Record) -> Record:
    kept = ctx.store.get(VISITOR_AUTH, site.id)
    return kept or Record(VISITOR_AUTH, site.id, {}, site.organization, site.id)


# --- share links ----------------------------------------------------------------------------------


def _link(ctx: Context, site: Record) -> Record | None:
    found = ctx.store.get(SHARE_LINK, ctx.params["shareLinkId"])
    return found if found is not None and found.scope == site.id else None


def list_share_links(ctx: Context) -> Json:
    site, query = ctx.site(), ctx.query
    links, envelope = created_page(ctx.store, SHARE_LINK, limit=query.limit, cursor=query.page, scope=site.id)
    return {**envelope, "items": [answers.share_link(ctx, site, link) for link in links]}


def create_share_link(ctx: Context) -> Json:
    """Active. Names need not differ."""
    site, id = ctx.site(), ctx.new_id(SHARE_LINK)
    doc = {"name": ctx.body.name, "active": True, "createdAt": ctx.stamp}
    token = secret(SHARE_LINK, id)[:24]
    link = Record(SHARE_LINK, id, doc, site.organization, site.id, ref=token)
    ctx.put(link)
    return answers.share_link(ctx, site, link)


def update_share_link(ctx: Context) -> Json:
    """One that is not active opens nothing; made active again, it has the secret it had."""
    site = ctx.site()
    link = _link(ctx, site)
    if link is None:
        raise missing("share link", ctx.params["shareLinkId"])
    link.doc |= ctx.body.given()
    ctx.put(link)
    return answers.share_link(ctx, site, link)


def delete_share_link(ctx: Context) -> None:
    link = _link(ctx, ctx.site())
    if link is not None:
        ctx.remove(link)
