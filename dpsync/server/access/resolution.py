"""Resolve the role of a member on a space, collection or site: one function for each set of rules.

    resolve(access, content, containers) -> role

Input: the member's `access`; the space, collection or site (`content`); the collections that contain it and
the sites that show it (`containers`). Output: a role, or None if the member does not see the content.
`strongest_role` follows part 5 of the reference, `role_by_precedence` GitBook's documentation of May 2026
(pages "Permissions and inheritance" and "Roles"). Which one applies depends on the API version.
"""

from collections.abc import Callable, Mapping

from msgspec import Struct

from ..store import Record
from .roles import OrganizationAccess, Role, max_role

INHERIT = "inherit"


class ProtectedObject(Struct, frozen=True):
    """The properties of a space, collection or site that decide access.

    `level` is the `defaultLevel`: a role, None ("No access") or `inherit`. `creator` is the id of the user
    who created the content, or "" if unknown.
    """

    kind: str
    id: str
    level: Role = INHERIT
    creator: str = ""


class Containers(Struct, frozen=True):
    """The collections that contain the content, the innermost first, and the sites that show the content.

    Each site is listed once.
    """

    collections: tuple[ProtectedObject, ...] = ()
    sites: tuple[ProtectedObject, ...] = ()


NO_CONTAINERS = Containers()
ResolveFunction = Callable[[OrganizationAccess, ProtectedObject, Containers], Role]


def strongest_role(access: OrganizationAccess, content: ProtectedObject, containers: Containers) -> Role:
    """Return the strongest role that applies to the content.

    The candidates are the roles given on the content and on the collections that contain it and, unless the
    member is a guest, the nearest level that is not `inherit`, or else the role in the organization. Sites
    and creators do not count.
    """
    if not access.is_member or access.role == "admin":
        return access.role
    path = (content, *containers.collections)
    roles = [access.direct_role(source.kind, source.id) for source in path]
    if access.role is not None:
        roles.append(next((source.level for source in path if source.level != INHERIT), access.role))
    return max_role(roles)


def role_by_precedence(access: OrganizationAccess, content: ProtectedObject, containers: Containers) -> Role:
    """Return a member's role on a content: the role set on the most specific object that sets one.

    In this order: the content, the sites that show it, each collection from the innermost outwards, the
    organization. If one step sets several roles (for a member and a team, or on several sites), the strongest
    counts; GitBook's documentation does not cover this case.
    """
    if not access.is_member or access.role == "admin":
        return access.role
    steps = ((content,), containers.sites, *((collection,) for collection in containers.collections))
    for step in steps:
        roles = [role for source in step for role in _role_set_on(source, access, content)]
        if roles:
            return max_role(roles)
    return access.role


def _role_set_on(
    source: ProtectedObject, access: OrganizationAccess, content: ProtectedObject
) -> tuple[Role, ...]:
    """Return the role that one source sets for a member, or () if the member inherits the role.

    `source` is the content itself, a collection that contains it, or a site that shows it. A role given to
    the member or one of their teams takes precedence over the level of the source. "No access" hides
    nothing from the creator of the content or of the source. A level gives no role to guests, but guests
    inherit nothing through a space or collection that has a level other than `inherit`.
    """
    direct_role = access.direct_role(source.kind, source.id)
    if direct_role is not None:
        return (direct_role,)
    is_creator = access.user_id != "" and access.user_id in (content.creator, source.creator)
    if source.level == INHERIT or (source.level is None and is_creator):
        return ()
    if access.role is not None:
        return (source.level,)
    return () if source.kind == "site" else (None,)


class AccessRules(Struct, frozen=True):
    """The access rules of a profile.

    `resolve` resolves roles. `uses_sites`: whether `resolve` reads the sites that show a space.
    `uses_creators`: whether it reads the creators of content. `change_requests_when_locked`: whether a locked
    space accepts change requests and refuses only direct edits.
    """

    resolve: ResolveFunction
    uses_sites: bool = False
    uses_creators: bool = False
    change_requests_when_locked: bool = False


_STRONGEST = AccessRules(strongest_role)
RULES: Mapping[str, AccessRules] = {
    "reference": _STRONGEST,
    "full": _STRONGEST,
    "published": AccessRules(
        role_by_precedence, uses_sites=True, uses_creators=True, change_requests_when_locked=True
    ),
}
"""The rules of each profile."""


def protected_object(record: Record) -> ProtectedObject:
    """Return what decides access to a space (deleted or not), collection or site."""
    kind = record.kind.removeprefix("deleted-")
    level = record.doc.get("defaultLevel", INHERIT)
    return ProtectedObject(kind, record.id, level, record.doc.get("createdBy") or "")
