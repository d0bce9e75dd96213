"""Store, change and delete grants: roles that users and teams have on a space, collection or site.

There is at most one grant for each pair of object and user or team. It is deleted with the object, when the
object is transferred to another organization, when the user leaves the organization, or with the team. A
deleted space keeps its grants until it is erased (cannot be restored any more).
"""

from ..access.roles import GRANT, Role
from ..request.context import Context
from ..store import Record

INVITE = "link-invite"
"""Record kind of link invites. `ref` is the space or collection, or "" for the organization."""


def make_grant(target: Record, grantee_kind: str, grantee_id: str, role: Role) -> Record:
    """Return the record of a role of a user or team on a space, collection or site."""
    kind = target.kind.removeprefix("deleted-")
    doc = {"role": role, "to": grantee_kind}
    return Record(
        GRANT,
        _grant_id(kind, target.id, grantee_kind, grantee_id),
        doc,
        target.organization,
        target.id,
        kind,
        ref=grantee_id,
    )


def _grant_id(kind: str, target_id: str, grantee_kind: str, grantee_id: str) -> str:
    """Return the id of a grant, such as `space:docs:user:ada`."""
    return f"{kind}:{target_id}:{grantee_kind}:{grantee_id}"


def grants_on(ctx: Context, target: Record, grantee_kind: str) -> list[Record]:
    """Return the grants on an object to users or to teams, in order of creation."""
    grants = ctx.store.find(GRANT, scope=target.id, parent=target.kind.removeprefix("deleted-"))
    return [grant for grant in grants if grant.doc["to"] == grantee_kind]


def find_grant(ctx: Context, target: Record, grantee_kind: str, grantee_id: str) -> Record | None:
    """Return the grant of a user or team on an object, or None."""
    return ctx.store.get(GRANT, _grant_id(target.kind, target.id, grantee_kind, grantee_id))


def set_role(ctx: Context, target: Record, grantee_kind: str, grantee_id: str, role: Role) -> None:
    """Give a user or a team a role on an object, in place of the existing role."""
    grant = find_grant(ctx, target, grantee_kind, grantee_id) or make_grant(
        target, grantee_kind, grantee_id, role
    )
    grant.doc["role"] = role
    ctx.put(grant)


def copy_grants(ctx: Context, source: Record, target: Record) -> None:
    """Give all users and teams with a role on one object the same role on another object."""
    for grantee_kind in ("user", "team"):
        for grant in grants_on(ctx, source, grantee_kind):
            set_role(ctx, target, grantee_kind, grant.ref, grant.doc["role"])
