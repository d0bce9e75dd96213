"""Resolve the role of a member on a space, collection or site: one function for each set of rules.

    resolve(who, content, around) -> role

`who` is the member (`roles.Standing`), `content` the space, collection or site, `around` the collections
that contain the content and the sites that show it. The result is a role; None means that the member does
not see the content. The functions are pure: `visible_spaces` and `request.context` collect the input.

Sources: `strongest_role` follows part 5 of the reference, which lists roles but not how they combine.
`role_by_precedence` follows the vendor's documentation as of May 2026, pages "Permissions and inheritance"
and "Roles" (collaborate/member-management).
"""

from collections.abc import Callable, Mapping

from msgspec import Struct

from ..store import Record
from .roles import Role, Standing, strongest

INHERIT = "inherit"


class Content(Struct, frozen=True):
    """The properties of a space, collection or site that decide access.

    `level` is the `defaultLevel`: a role, None ("No access") or `inherit`. `creator` is the id of the user
    who created the content, or "" if unknown.
    """

    kind: str
    id: str
    level: Role = INHERIT
    creator: str = ""


class Surroundings(Struct, frozen=True):
    """The collections that contain the content, the innermost first, and the sites that show the content.

    Each site is listed once.
    """

    collections: tuple[Content, ...] = ()
    sites: tuple[Content, ...] = ()


NOWHERE = Surroundings()
Resolve = Callable[[Standing, Content, Surroundings], Role]


def strongest_role(who: Standing, content: Content, around: Surroundings) -> Role:
    """Return the strongest role that applies to the content.

    The candidates are the roles given on the content and on the collections that contain it and, unless the
    member is a guest, the nearest level that is not `inherit`, or else the role in the organization. Sites
    and creators do not count.
    """
    if not who.member or who.role == "admin":
        return who.role
    path = (content, *around.collections)
    roles = [who.given(place.kind, place.id) for place in path]
    if who.role is not None:
        roles.append(next((place.level for place in path if place.level != INHERIT), who.role))
    return strongest(roles)


def role_by_precedence(who: Standing, content: Content, around: Surroundings) -> Role:
    """Return the role from the first place, in order of precedence, that sets one.

    The order is: the content, the sites that show it, each collection from the innermost outwards, the
    organization. If one step sets several roles (for a member and a team, or on several sites), the strongest
    counts; the documentation does not cover this case.
    """
    if not who.member or who.role == "admin":
        return who.role
    steps = ((content,), around.sites, *((collection,) for collection in around.collections))
    for step in steps:
        roles = [role for place in step for role in _set_on(place, who, content)]
        if roles:
            return strongest(roles)
    return who.role


def _set_on(place: Content, who: Standing, content: Content) -> tuple[Role, ...]:
    """Return the role that one place sets for a member, or () if the member inherits the role.

    A role given to the member or one of their teams takes precedence over the level of the place. "No access"
    hides nothing from the creator of the content or of the place. A level gives no role to guests, but guests
    inherit nothing through a space or collection that has a level other than `inherit`.
    """
    given = who.given(place.kind, place.id)
    if given is not None:
        return (given,)
    own = who.user != "" and who.user in (content.creator, place.creator)
    if place.level == INHERIT or (place.level is None and own):
        return ()
    if who.role is not None:
        return (place.level,)
    return () if place.kind == "site" else (None,)


class Rules(Struct, frozen=True):
    """The access rules of an edition.

    `resolve` resolves roles. `sites`: whether `resolve` reads the sites that show a space. `creators`:
    whether it reads the creators of content. `change_requests_when_locked`: whether a locked space accepts
    change requests and refuses only direct edits.
    """

    resolve: Resolve
    sites: bool = False
    creators: bool = False
    change_requests_when_locked: bool = False


_STRONGEST = Rules(strongest_role)
RULES: Mapping[str, Rules] = {
    "reference": _STRONGEST,
    "full": _STRONGEST,
    "published": Rules(role_by_precedence, sites=True, creators=True, change_requests_when_locked=True),
}
"""The rules of each profile."""


def content_of(record: Record) -> Content:
    """Return the Content for the record of a space (deleted or not), collection or site."""
    kind = record.kind.removeprefix("deleted-")
    level = record.doc.get("defaultLevel", INHERIT)
    return Content(kind, record.id, level, record.doc.get("createdBy") or "")
