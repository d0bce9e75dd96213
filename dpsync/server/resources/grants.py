"""Declare the records of grants: the role of one user or team on one collection, space or site.

Output: a `RecordKind`. In a world (the data that the local server starts with), each collection, space and
site has `permissions: {users: {ID: role}, teams: {ID: role}}`.
"""

from collections.abc import Callable

from ..access.roles import GRANT
from ..records.grants import make_grant
from ..records.record_kind import ColumnFilter, Dependency, RecordKind
from ..records.world_sections import WorldDumper, WorldLoader, WorldSection
from ..store import Json, Record
from . import world_models
from .people import by_user

_GRANTEE_KINDS = {"users": "user", "teams": "team"}


def _load(loader: WorldLoader, item: Record, permissions: Json) -> None:
    """Load grants from a world file (the server's initial data).

    Raise ValueError for an unknown team, or a user who is not a member.
    """
    for plural, roles in permissions.items():
        grantee_kind = _GRANTEE_KINDS[plural]
        for ref, role in (roles or {}).items():
            kind, id = ("team", ref) if grantee_kind == "team" else ("member", f"{item.organization}:{ref}")
            if loader.get(kind, id) is None:
                raise ValueError(
                    f"{item.kind} {item.id!r}: the permissions name the unknown {grantee_kind} {ref!r}"
                )
            loader.add(make_grant(item, grantee_kind, ref, None if role == "guest" else role))


def _dump(dumper: WorldDumper, item: Record) -> Json | None:
    """Return the roles on an object as entries of a world file (the server's initial data).

    None if there are none.
    """
    grants = dumper.find_by_creation(GRANT, **_by_object(item))
    permissions = {
        plural: {grant.ref: grant.doc["role"] for grant in grants if grant.doc["to"] == grantee_kind}
        for plural, grantee_kind in _GRANTEE_KINDS.items()
    }
    return {plural: roles for plural, roles in permissions.items() if roles} if grants else None


def _by_object(item: Record) -> ColumnFilter:
    """Match the roles on a space (deleted or not), collection or site."""
    return {"scope": item.id, "parent": item.kind.removeprefix("deleted-")}


def _is_granted_to(grantee_kind: str) -> Callable[[Record, Record], bool]:
    """Return a filter for grants to users or to teams."""
    return lambda grant, _: bool(grant.doc["to"] == grantee_kind)


RECORD_KINDS = (
    RecordKind(GRANT,
               depends_on=(Dependency("member", by_user, is_dependent=_is_granted_to("user")),
                           Dependency("team", is_dependent=_is_granted_to("team")),
                           Dependency("collection", _by_object),
                           Dependency("space", _by_object, until_erased=True),
                           Dependency("site", _by_object)),
               world_section=WorldSection("permissions", _load, _dump,
                                          ("collection", "space", "deleted-space", "site"),
                                          world_models.Permissions)),
)  # fmt: skip
