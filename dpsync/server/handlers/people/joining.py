"""Handle the API operations with which users join an organization, and the search in an organization.

Users join through their e-mail domain, an invitation, an invite link or SAML.
Input: the `Context` of a checked request. Output: the body of the response, or an `ApiError`.
"""

from ... import responses
from ...access.roles import is_at_least
from ...content.page_search import SearchHit, contains_all, query_words, search_pages
from ...errors import bad_request, conflict, not_found
from ...records.grants import INVITE, set_role
from ...request.context import Context
from ...request.paging import list_page
from ...responses.pages import search_hit, search_score
from ...spaces.content_view import ContentView, view_space
from ...store import Json, Record
from .members import find_member, make_member


def join_organization(ctx: Context) -> None:
    """Make the caller a member with the default role if their email domain belongs to the organization.

    A member stays unchanged. Raise 400 if the caller has no verified email address. Raise 404 if the
    organization does not exist or does not have the domain; the answer does not reveal which.
    """
    user = ctx.load("user", ctx.user)
    email = (user.doc.get("email") or "") if user and user.doc.get("emailVerified", True) else ""
    if "@" not in email:
        raise bad_request("joining needs a verified e-mail address")
    id = ctx.params["organizationId"]
    organization = ctx.load("organization", id)
    is_member, _ = ctx.membership_in(id)
    if is_member:
        return
    domain = email.rpartition("@")[2].casefold()
    accepted_domains = (
        [] if organization is None else [name.casefold() for name in organization.doc["emailDomains"]]
    )
    is_disabled = ctx.load("member", f"{id}:{ctx.user}") is not None
    if organization is None or domain not in accepted_domains or is_disabled:
        raise not_found("organization", id)
    ctx.put(make_member(ctx, organization, ctx.user, organization.doc.get("defaultRole")))


def invite_users(ctx: Context) -> Json:
    """Invite users by email. Each invited user becomes a member at once.

    An unknown email address creates a new user. A user who is a member already stays unchanged. With `sso`,
    an address of a domain that does not belong to the organization fails.
    """
    organization, body = ctx.organization_from_path(), ctx.body
    domains = {domain.casefold() for domain in organization.doc["emailDomains"]}
    users, failed, added = [], [], 0
    for email, role in body.roles_by_email(organization.doc.get("defaultRole")).items():
        if body.sso and email.rpartition("@")[2] not in domains:
            failed.append(email)
            continue
        user = _find_or_create_user(ctx, email)
        users.append(user)
        if find_member(ctx, organization.id, user) is None:
            member = make_member(ctx, organization, user, role)
            member.doc["sso"] = body.sso
            ctx.put(member)
            added += 1
    return {"users": users, "invited": added, "failedSSOEmails": failed}


def _find_or_create_user(ctx: Context, email: str) -> str:
    """Return the id of the user with an email address. Create the user if there is none."""
    users = ctx.store.find("user", ref=email)
    if users:
        return users[0].id
    doc = {"displayName": email.partition("@")[0], "email": email}
    user = Record("user", ctx.new_id("user"), doc, ref=email)
    ctx.put(user)
    return user.id


def search_organization(ctx: Context) -> Json:
    """Find the spaces that the caller may view and that have all words in the title or in one page."""
    organization, words = ctx.organization_from_path(), query_words(ctx.query.query)
    results = []
    for space, _ in ctx.visible_spaces_with_roles(organization.id) if words else ():
        view = view_space(ctx, space)
        hits = search_pages(view.content["pages"], words)
        if hits or contains_all(space.doc["title"], words):
            results.append((view, hits))
    return list_page(ctx, results, lambda result: _space_hit(*result), lambda result: [result[0].space.seq])


def _space_hit(view: ContentView, hits: list[SearchHit]) -> Json:
    """Return a space as a search hit, with the pages of the space that match."""
    space = view.space
    pages = [search_hit(view, hit, rank) for rank, hit in enumerate(hits, 1)]
    answer = {"id": space.id, "title": space.doc["title"], "pages": pages}
    if view.ctx.is_published_profile:
        answer |= {"type": "space", "score": max(map(search_score, hits), default=1.0)}
    return answer


# --- link invites -----------------------------------------------------------------------------------
#
# Admins of the organization manage invites to the organization. Admins of a space or collection manage
# invites to that object. The permission flag is `viewInviteLinks`.


def list_invites(ctx: Context) -> Json:
    """List the invites that the caller may manage.

    The API version `published` lists only invites to the organization.
    """
    organization = ctx.organization_from_path()
    invites = [
        invite
        for invite in ctx.store.find(INVITE, organization=organization.id)
        if (target := _invite_target(ctx, organization, invite))
        and ctx.role_on(target) == "admin"
        and not (ctx.is_published_profile and target is not organization)
    ]
    return list_page(ctx, invites, lambda invite: responses.link_invite(ctx, invite))


def create_invite(ctx: Context) -> Json:
    """Create an invite. Raise 409 if the organization has turned invite links off."""
    organization, fields = ctx.organization_from_path(), ctx.body.sent_fields()
    target = organization
    if "space" in fields:
        target = ctx.space_from_body(fields["space"], organization.id, "body.space")
    elif "collection" in fields:
        target = ctx.collection_from_body(fields["collection"], organization.id, "body.collection")
    ctx.require_role(target, "admin")
    if not organization.doc["inviteLinks"]:
        raise conflict("invite links are turned off in this organization")
    doc = {**fields, "createdAt": ctx.timestamp, "createdBy": ctx.user}
    ref = "" if target is organization else target.id
    invite = Record(INVITE, ctx.new_id(INVITE), doc, organization.id, organization.id, ref=ref)
    ctx.put(invite)
    return responses.link_invite(ctx, invite)


def get_invite(ctx: Context) -> Json:
    """Return the invite that the path names."""
    return responses.link_invite(ctx, _require_managed_invite(ctx))


def update_invite(ctx: Context) -> Json:
    """Change an invite.

    Raise 400 for a role on an invite to a space or collection, and for a level on an invite to the
    organization.
    """
    invite, fields = _require_managed_invite(ctx), ctx.body.sent_fields()
    has, other = ("level", "role") if invite.ref else ("role", "level")
    if other in fields:
        raise bad_request(f"body.{other}: this invite has a {has} and cannot have a {other}")
    invite.doc.update(fields)
    ctx.put(invite)
    return responses.link_invite(ctx, invite)


def delete_invite(ctx: Context) -> None:
    """Delete an invite. If its target does not exist, an admin of the organization may delete it."""
    organization = ctx.organization_from_path()
    invite = _find_invite(ctx, organization)
    target = (_invite_target(ctx, organization, invite) or organization) if invite else None
    if invite is None or target is None:
        return
    if not ctx.can_view(target):
        raise not_found("link invite", invite.id)
    ctx.require_role(target, "admin")
    ctx.remove(invite)


def accept_invite(ctx: Context) -> Json:
    """Give the caller the role or level that the invite offers, unless the caller already has more.

    An invite to a space or collection makes a stranger a guest of the organization. Raise 404 if the invite
    does not exist, if invite links are turned off, or if the caller is a disabled member.
    """
    id, invite_id = ctx.params["organizationId"], ctx.params["inviteId"]
    organization, invite = ctx.load("organization", id), ctx.store.get(INVITE, invite_id)
    member = find_member(ctx, id, ctx.user)
    refused = (
        organization is None or not organization.doc["inviteLinks"] or (member and member.doc["disabled"])
    )
    target = None
    if organization is not None and invite is not None and not refused and invite.organization == id:
        target = _invite_target(ctx, organization, invite)
    if organization is None or invite is None or target is None:
        raise not_found("link invite", invite_id)
    role = None if invite.ref else invite.doc["role"]
    if member is None:
        ctx.put(make_member(ctx, organization, ctx.user, role))
    elif not is_at_least(member.doc["role"], role):
        member.doc["role"] = role
        ctx.put(member)
    if invite.ref and not is_at_least(ctx.role_on(target), invite.doc["level"]):
        set_role(ctx, target, "user", ctx.user, invite.doc["level"])
    return {}


def _require_managed_invite(ctx: Context) -> Record:
    """Return the invite that the path names. Require that the caller is an admin of its target.

    Raise 404 if it does not exist.
    """
    organization = ctx.organization_from_path()
    invite = _find_invite(ctx, organization)
    target = _invite_target(ctx, organization, invite) if invite else None
    if invite is None or target is None or not ctx.can_view(target):
        raise not_found("link invite", ctx.params["inviteId"])
    ctx.require_role(target, "admin")
    return invite


def _find_invite(ctx: Context, organization: Record) -> Record | None:
    """Return the invite that the path names, or None."""
    invite = ctx.store.get(INVITE, ctx.params["inviteId"])
    return invite if invite and invite.organization == organization.id else None


def _invite_target(ctx: Context, organization: Record, invite: Record) -> Record | None:
    """Return the target of an invite, or None. A deleted space is no target until it is restored."""
    if not invite.ref:
        return organization
    target = ctx.load("space" if "space" in invite.doc else "collection", invite.ref)
    return target if target is not None and target.organization == organization.id else None


# --- SAML providers, for admins, and the links that start a login, for members --------------------

SAML_PROVIDER = "saml-provider"
"""Record kind of SAML providers. `ref` is the default team, and is cleared when the team is deleted."""


def initialize_saml_provider(ctx: Context, provider: Record) -> None:
    """Begin a SAML provider. It is pending until entityID, certificate and ssoURL are set."""
    provider.doc = {"label": ctx.body.label, "createdAt": ctx.timestamp}


def apply_saml_body(ctx: Context, provider: Record, fields: Json) -> None:
    """Update a SAML provider. Raise 404 if the default team does not exist."""
    team = fields.pop("defaultTeam", None)
    if team is not None and team != provider.ref:
        team_record = ctx.load("team", team)
        if team_record is None or team_record.organization != provider.organization:
            raise not_found("body.defaultTeam: team", team)
        provider.ref = team
    provider.doc.update(fields)


def list_saml_logins(ctx: Context) -> Json:
    """List the login links of active SAML providers. A pending provider cannot log anyone in."""
    organization = ctx.organization_from_path()
    providers = [
        responses.saml_provider(ctx, provider)
        for provider in ctx.store.find(SAML_PROVIDER, organization=organization.id)
    ]
    return {
        "items": [
            {"id": provider["id"], "label": provider["label"], "startURL": provider["service"]["startURL"]}
            for provider in providers
            if provider["status"] == "active"
        ]
    }
