"""Roles given on a space, collection or site to a user or a team: how they are kept, changed and forgotten.

There is at most one for each pair. It lives as long as both sides: it goes with the object, also to another
organization, and when the user leaves the organization or the team is deleted. A space that can still be
restored keeps its own.
"""

from ..access.roles import GRANT, Role
from ..request.context import Context
from ..store import Record

INVITE = "link-invite"
"""Its `ref` is the id of the space or collection that it leads to, if any."""


def grant_of(item: Record, to: str, ref: str, role: Role) -> Record:
    kind = item.kind.removeprefix("deleted-")
    doc = {"role": role, "to": to}
    return Record(GRANT, _id(kind, item.id, to, ref), doc, item.organization, item.id, kind, ref=ref)


def _id(kind: str, item: str, to: str, ref: str) -> str:
    return f"{kind}:{item}:{to}:{ref}"


def given_on(ctx: Context, item: Record, to: str) -> list[Record]:
    """In the order in which they were given first."""
    found = ctx.store.find(GRANT, scope=item.id, parent=item.kind.removeprefix("deleted-"))
    return [grant for grant in found if grant.doc["to"] == to]


def given_to(ctx: Context, item: Record, to: str, ref: str) -> Record | None:
    return ctx.store.get(GRANT, _id(item.kind, item.id, to, ref))


def give(ctx: Context, item: Record, to: str, ref: str, role: Role) -> None:
    """In place of the role that there is."""
    grant = given_to(ctx, item, to, ref) or grant_of(item, to, ref, role)
    grant.doc["role"] = role
    ctx.put(grant)


def copy(ctx: Context, item: Record, other: Record) -> None:
    for to in ("user", "team"):
        for grant in given_on(ctx, item, to):
            give(ctx, other, to, grant.ref, grant.doc["role"])
