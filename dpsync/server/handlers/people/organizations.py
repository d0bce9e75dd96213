"""Handle the API operations on organizations, on the calling user, and on agent instructions.

Agent instructions are a rich-text Document that an organization gives its AI agents.
Input: the `Context` of a checked request. Output: the body of the response, or an `ApiError`.
"""

import re

from ... import responses
from ...content.documents import empty_document, stored_document
from ...errors import bad_request, conflict, not_found
from ...models.organizations import HOSTNAME_PATTERN
from ...request.changes import changed_fields, is_same_json
from ...request.context import Context
from ...request.paging import list_page
from ...responses.shared import api_url
from ...spaces.merge_rules import check_users
from ...store import Json, Record


def get_caller(ctx: Context) -> Json:
    """Return the user who calls."""
    return responses.user(ctx, ctx.user)


def get_user(ctx: Context) -> Json:
    """Return a user. Raise 404 unless the user is the caller or shares an organization with the caller."""
    id = ctx.params["userId"]
    common = any(ctx.access_in(member.organization).is_member for member in ctx.store.find("member", ref=id))
    if id != ctx.user and not common:
        raise not_found("user", id)
    return responses.user(ctx, id)


def list_organizations(ctx: Context) -> Json:
    """List the organizations of the caller in order of creation."""
    joined_organizations = [
        ctx.load("organization", member.organization) for member in ctx.store.find("member", ref=ctx.user)
    ]
    organizations = sorted(
        (record for record in joined_organizations if record and ctx.can_view(record)),
        key=lambda record: record.seq,
    )
    return list_page(ctx, organizations, lambda record: responses.organization(ctx, record))


def get_organization(ctx: Context) -> Json:
    """Return the organization that the path names."""
    return responses.organization(ctx, ctx.organization_from_path())


def update_organization(ctx: Context) -> Json:
    """Update an organization. Raise 404 for an unknown site or user, and 409 if the hostname is taken."""
    record = ctx.organization_from_path()
    changes = changed_fields(record.doc, ctx.body.sent_fields())
    if (content := changes.get("defaultContent")) is not None:
        site = ctx.store.get("site", content["site"])
        if site is None or site.organization != record.id:
            raise not_found("body.defaultContent.site: site", content["site"])
    if (hostname := changes.get("hostname")) is not None:
        if not re.fullmatch(HOSTNAME_PATTERN, hostname):
            raise bad_request(f"body.hostname: {hostname!r} does not match the pattern {HOSTNAME_PATTERN}")
        for other in ctx.store.find("organization"):
            if other.id != record.id and other.doc.get("hostname") == hostname:
                raise conflict(f"body.hostname: {hostname!r} is taken")
    check_users(ctx, record, changes)
    record.doc.update(changes)
    ctx.put(record)
    return responses.organization(ctx, record)


def get_agent_instructions(ctx: Context) -> Json:
    """Return the agent instructions of an organization."""
    return _instructions_response(ctx, _load_instructions(ctx, ctx.organization_from_path()))


def put_agent_instructions(ctx: Context) -> Json:
    """Replace the agent instructions. Equal instructions do not change the last author."""
    record = ctx.organization_from_path()
    instructions = stored_document(ctx.body.sent_fields()["instructions"])
    current = _load_instructions(ctx, record)
    if not is_same_json(current.doc["instructions"], instructions):
        current.doc = {"instructions": instructions, "updatedAt": ctx.timestamp, "updatedBy": ctx.user}
        ctx.put(current)
    return _instructions_response(ctx, current)


def _load_instructions(ctx: Context, organization: Record) -> Record:
    """Return the record of the agent instructions.

    If nobody has written any, the record is empty, is not stored, and names the first member as its author.
    """
    instructions = ctx.store.get("agent-instructions", organization.id)
    if instructions is None:
        first_member = next(iter(ctx.store.find("member", organization=organization.id)))
        doc = {
            "instructions": empty_document(),
            "updatedAt": organization.doc["createdAt"],
            "updatedBy": first_member.ref,
        }
        instructions = Record("agent-instructions", organization.id, doc, organization.id, organization.id)
    return instructions


def _instructions_response(ctx: Context, record: Record) -> Json:
    """Return the answer for agent instructions."""
    return {
        "object": "agent-instructions",
        "instructions": record.doc["instructions"],
        "updatedAt": record.doc["updatedAt"],
        "updatedBy": record.doc["updatedBy"],
        "urls": {"location": api_url(ctx, f"/orgs/{record.id}/agent-instructions")},
    }
