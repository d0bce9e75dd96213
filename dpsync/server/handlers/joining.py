"""Who comes into an organization, by mail domain or by a link, and what its members find there."""

from typing import Any

from .. import answers
from ..context import Context
from ..errors import bad, conflict, missing
from ..paging import page
from ..store import Record
from .members import new_member

Json = dict[str, Any]
INVITE = "link-invite"


def join_organization(ctx: Context) -> None:
    """The caller becomes a member with the default role when their mail domain is one of the organization's.

    Who is a member stays as they are. 400: the caller has no verified e-mail. 404: no such organization, or
    none that the domain opens; nobody learns which.
    """
    user = ctx.load("user", ctx.user)
    email = (user.doc.get("email") or "") if user and user.doc.get("emailVerified", True) else ""
    if "@" not in email:
        raise bad("joining needs a verified e-mail")
    id = ctx.params["organizationId"]
    organization = ctx.load("organization", id)
    joined, _ = ctx.role_in(id)
    if joined:
        return
    domain = email.rpartition("@")[2].casefold()
    open_to = [] if organization is None else [name.casefold() for name in organization.doc["emailDomains"]]
    disabled = ctx.load("member", f"{id}:{ctx.user}") is not None
    if organization is None or domain not in open_to or disabled:
        raise missing("organization", id)
    ctx.put(new_member(ctx, organization, ctx.user))


def search_organization(ctx: Context) -> Json:
    """The spaces that the caller has access to and whose title has every word of the query, in any case.

    Only titles of spaces are searched: `pages` is empty, as spaces have no content here.
    """
    organization, query = ctx.organization(), ctx.query
    words = query.query.casefold().split()
    found = [
        space
        for space, _ in ctx.spaces_of(organization.id)
        if words and all(word in space.doc["title"].casefold() for word in words)
    ]
    items, envelope = page(found, limit=query.limit, cursor=query.page, key=lambda space: [space.seq])
    shown = [{"id": space.id, "title": space.doc["title"], "pages": []} for space in items]
    return {**envelope, "items": shown}


# --- link invites -----------------------------------------------------------------------------------


def list_invites(ctx: Context) -> Json:
    organization, query = ctx.organization(), ctx.query
    found = [
        invite for invite in ctx.store.find(INVITE, organization=organization.id) if _leads_on(ctx, invite)
    ]
    items, envelope = page(found, limit=query.limit, cursor=query.page, key=lambda invite: [invite.seq])
    return {**envelope, "items": [answers.link_invite(ctx, invite) for invite in items]}


def create_invite(ctx: Context) -> Json:
    """409 while the organization has invite links turned off."""
    organization, given = ctx.organization(), ctx.body.given()
    if not organization.doc["inviteLinks"]:
        raise conflict("invite links are turned off in this organization")
    target = ""
    if "space" in given:
        target = ctx.named_space(given["space"], organization.id, "body.space").id
    elif "collection" in given:
        target = ctx.named_collection(given["collection"], organization.id, "body.collection").id
    doc = {**given, "createdAt": ctx.stamp, "createdBy": ctx.user}
    invite = Record(INVITE, ctx.new_id(INVITE), doc, organization.id, organization.id, ref=target)
    ctx.put(invite)
    return answers.link_invite(ctx, invite)


def get_invite(ctx: Context) -> Json:
    invite = _find(ctx)
    if invite is None or not _leads_on(ctx, invite):
        raise missing("link invite", ctx.params["inviteId"])
    return answers.link_invite(ctx, invite)


def delete_invite(ctx: Context) -> None:
    invite = _find(ctx)
    if invite is not None:
        ctx.remove(invite)


def _find(ctx: Context) -> Record | None:
    organization = ctx.organization()
    invite = ctx.store.get(INVITE, ctx.params["inviteId"])
    return invite if invite and invite.organization == organization.id else None


def _leads_on(ctx: Context, invite: Record) -> bool:
    """Whether what it leads to is there: an invite to a space that was deleted is gone until a restore."""
    kind = next((kind for kind in ("space", "collection") if kind in invite.doc), None)
    target = ctx.load(kind, invite.ref) if kind else None
    return kind is None or (target is not None and target.organization == invite.organization)
