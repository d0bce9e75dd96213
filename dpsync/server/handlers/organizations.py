"""Organizations, the caller, and the agent instructions of an organization."""

from typing import Any

from .. import answers
from ..answers.shared import located
from ..clock import stamp
from ..context import Context
from ..documents import empty_document, stored_document
from ..errors import conflict, missing
from ..merge_rules import check_users
from ..paging import page
from ..store import Record

Json = dict[str, Any]


def who(ctx: Context) -> Json:
    return answers.user(ctx, ctx.user)


def get_user(ctx: Context) -> Json:
    id = ctx.params["userId"]
    common = any(ctx.standing(member.organization).member for member in ctx.store.find("member", ref=id))
    if id != ctx.user and not common:
        raise missing("user", id)
    return answers.user(ctx, id)


def list_organizations(ctx: Context) -> Json:
    """In order of creation."""
    joined = [
        ctx.load("organization", member.organization) for member in ctx.store.find("member", ref=ctx.user)
    ]
    found = sorted(
        (record for record in joined if record and ctx.sees(record)), key=lambda record: record.seq
    )
    items, envelope = page(
        found, limit=ctx.query.limit, cursor=ctx.query.page, key=lambda record: [record.seq]
    )
    return {**envelope, "items": [answers.organization(ctx, record) for record in items]}


def get_organization(ctx: Context) -> Json:
    return answers.organization(ctx, ctx.organization())


def update_organization(ctx: Context) -> Json:
    record, given = ctx.organization(), ctx.body.given()
    if (content := given.get("defaultContent")) is not None:
        site = ctx.store.get("site", content["site"])
        if site is None or site.organization != record.id:
            raise missing("body.defaultContent.site: site", content["site"])
    if (hostname := given.get("hostname")) is not None:
        for other in ctx.store.find("organization"):
            if other.id != record.id and other.doc.get("hostname") == hostname:
                raise conflict(f"body.hostname: {hostname!r} is taken")
    check_users(ctx, record.id, given)
    record.doc.update(given)
    ctx.put(record)
    return answers.organization(ctx, record)


def get_agent_instructions(ctx: Context) -> Json:
    record = ctx.organization()
    kept = ctx.store.get("agent-instructions", record.id)
    if kept is None:
        first = next(iter(ctx.store.find("member", organization=record.id)))
        doc = {"instructions": empty_document(), "updatedAt": record.doc["createdAt"], "updatedBy": first.ref}
        kept = Record("agent-instructions", record.id, doc)
    return _instructions(ctx, kept)


def put_agent_instructions(ctx: Context) -> Json:
    record = ctx.organization()
    instructions = stored_document(ctx.body.given()["instructions"])
    doc = {"instructions": instructions, "updatedAt": stamp(ctx.now), "updatedBy": ctx.user}
    kept = ctx.store.get("agent-instructions", record.id)
    kept = kept or Record("agent-instructions", record.id, {}, record.id, record.id)
    kept.doc = doc
    ctx.put(kept)
    return _instructions(ctx, kept)


def _instructions(ctx: Context, record: Record) -> Json:
    return {
        "object": "agent-instructions",
        "instructions": record.doc["instructions"],
        "updatedAt": record.doc["updatedAt"],
        "updatedBy": record.doc["updatedBy"],
        "urls": {"location": located(ctx, f"/orgs/{record.id}/agent-instructions")},
    }
