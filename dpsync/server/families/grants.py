"""Roles on collections, spaces and sites: `permissions: {users: {ID: role}, teams: {ID: role}}` on each."""

from collections.abc import Callable

from ..access.roles import GRANT
from ..records.family import Columns, Dependency, Family
from ..records.grants import grant_of
from ..records.world_format import Dumping, Loading, WorldSection
from ..store import Json, Record
from . import shapes
from .people import of_user

_TO = {"users": "user", "teams": "team"}


def _load(loading: Loading, item: Record, given: Json) -> None:
    """Load grants. Raise ValueError for a user who is not a member, or for an unknown team."""
    for several, roles in given.items():
        to = _TO[several]
        for ref, role in (roles or {}).items():
            kind, id = ("team", ref) if to == "team" else ("member", f"{item.organization}:{ref}")
            if loading.get(kind, id) is None:
                raise ValueError(f"{item.kind} {item.id!r}: the permissions name the unknown {to} {ref!r}")
            loading.add(grant_of(item, to, ref, None if role == "guest" else role))


def _dump(dumping: Dumping, item: Record) -> Json | None:
    found = dumping.created(GRANT, **_on(item))
    said = {
        several: {grant.ref: grant.doc["role"] for grant in found if grant.doc["to"] == to}
        for several, to in _TO.items()
    }
    return {several: roles for several, roles in said.items() if roles} if found else None


def _on(item: Record) -> Columns:
    return {"scope": item.id, "parent": item.kind.removeprefix("deleted-")}


def _given_to(to: str) -> Callable[[Record, Record], bool]:
    return lambda grant, _: bool(grant.doc["to"] == to)


FAMILIES = (
    Family(GRANT,
           depends_on=(Dependency("member", of_user, only=_given_to("user")),
                  Dependency("team", only=_given_to("team")), Dependency("collection", _on),
                  Dependency("space", _on, kept=True), Dependency("site", _on)),
           world=WorldSection("permissions", _load, _dump, ("collection", "space", "deleted-space", "site"),
                              shapes.Permissions)),
)  # fmt: skip
