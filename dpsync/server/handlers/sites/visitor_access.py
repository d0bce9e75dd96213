"""Who may visit a site: the settings of authenticated visits, and share links."""

from typing import Any

from ... import answers
from ...request.context import Context
from ...sites.publishing import SHARE_LINK, VISITOR_AUTH, secret
from ...store import Record

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


def begin_share_link(ctx: Context, link: Record) -> None:
    """Active. Names need not differ. Made active again, it has the secret it had."""
    link.doc = {"name": ctx.body.name, "active": True, "createdAt": ctx.stamp}
    link.ref = secret(SHARE_LINK, link.id)[:24]
