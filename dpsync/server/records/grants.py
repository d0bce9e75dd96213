"""Roles that users and teams have on a space, collection or site: storing, changing and deleting them.

There is at most one grant for each pair of object and user or team. It is deleted with the object, when the
object is transferred to another organization, when the user leaves the organization, or with the team. A
deleted space keeps its grants until it is erased.
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
    """Return the grants on an object to users or to teams, in order of creation."""
    found = ctx.store.find(GRANT, scope=item.id, parent=item.kind.removeprefix("deleted-"))
    return [grant for grant in found if grant.doc["to"] == to]


def given_to(ctx: Context, item: Record, to: str, ref: str) -> Record | None:
    return ctx.store.get(GRANT, _id(item.kind, item.id, to, ref))


def give(ctx: Context, item: Record, to: str, ref: str, role: Role) -> None:
    """Give a user or a team a role on an object, in place of the existing role."""
    grant = given_to(ctx, item, to, ref) or grant_of(item, to, ref, role)
    grant.doc["role"] = role
    ctx.put(grant)


def copy(ctx: Context, item: Record, other: Record) -> None:
    for to in ("user", "team"):
        for grant in given_on(ctx, item, to):
            give(ctx, other, to, grant.ref, grant.doc["role"])
