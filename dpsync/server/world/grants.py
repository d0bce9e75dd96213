"""Roles on collections, spaces and sites: `permissions: {users: {ID: role}, teams: {ID: role}}` on each."""

from ..access import GRANT
from ..grants import grant_of
from ..store import Record, Store
from .loading import Json, Loading, created

KEY = "permissions"
_TO = {"users": "user", "teams": "team"}


def load(loading: Loading, item: Record, given: Json) -> None:
    """ValueError: to somebody who is no member, or to no team, of the organization."""
    for several, roles in (given.get(KEY) or {}).items():
        to = _TO[several]
        for ref, role in (roles or {}).items():
            known = ("team", ref) if to == "team" else ("member", f"{item.organization}:{ref}")
            if known not in loading.taken:
                raise ValueError(f"{item.kind} {item.id!r}: permissions of the unknown {to} {ref!r}")
            loading.add(grant_of(item, to, ref, None if role == "guest" else role))


def dump(store: Store, item: Record) -> Json:
    found = created(store, GRANT, scope=item.id, parent=item.kind.removeprefix("deleted-"))
    said = {
        several: {grant.ref: grant.doc["role"] for grant in found if grant.doc["to"] == to}
        for several, to in _TO.items()
    }
    return {KEY: {several: roles for several, roles in said.items() if roles}} if found else {}
