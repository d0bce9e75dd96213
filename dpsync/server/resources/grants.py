"""Roles on collections, spaces and sites: `permissions: {users: {ID: role}, teams: {ID: role}}` on each."""

from collections.abc import Callable

from ..access.roles import GRANT
from ..records.grants import make_grant
from ..records.record_kind import ColumnFilter, Dependency, RecordKind
from ..records.world_sections import WorldDumper, WorldLoader, WorldSection
from ..store import Json, Record
from . import world_models
from .people import by_user

_GRANTEE_KINDS = {"users": "user", "teams": "team"}


def _load(loader: WorldLoader, item: Record, given: Json) -> None:
    """Load grants. Raise ValueError for a user who is not a member, or for an unknown team."""
    for several, roles in given.items():
        to = _GRANTEE_KINDS[several]
        for ref, role in (roles or {}).items():
            kind, id = ("team", ref) if to == "team" else ("member", f"{item.organization}:{ref}")
            if loader.get(kind, id) is None:
                raise ValueError(f"{item.kind} {item.id!r}: the permissions name the unknown {to} {ref!r}")
            loader.add(make_grant(item, to, ref, None if role == "guest" else role))


def _dump(dumper: WorldDumper, item: Record) -> Json | None:
    found = dumper.find_by_creation(GRANT, **_by_object(item))
    said = {
        several: {grant.ref: grant.doc["role"] for grant in found if grant.doc["to"] == to}
        for several, to in _GRANTEE_KINDS.items()
    }
    return {several: roles for several, roles in said.items() if roles} if found else None


def _by_object(item: Record) -> ColumnFilter:
    return {"scope": item.id, "parent": item.kind.removeprefix("deleted-")}


def _is_granted_to(to: str) -> Callable[[Record, Record], bool]:
    return lambda grant, _: bool(grant.doc["to"] == to)


RECORD_KINDS = (
    RecordKind(GRANT,
               depends_on=(Dependency("member", by_user, is_holder=_is_granted_to("user")),
                           Dependency("team", is_holder=_is_granted_to("team")),
                           Dependency("collection", _by_object),
                           Dependency("space", _by_object, until_erased=True),
                           Dependency("site", _by_object)),
               world_section=WorldSection("permissions", _load, _dump,
                                          ("collection", "space", "deleted-space", "site"),
                                          world_models.Permissions)),
)  # fmt: skip
