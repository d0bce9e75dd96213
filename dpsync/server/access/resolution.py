"""Resolve the role of a member on a space, collection or site: one function for each edition.

    resolve(who, content, around) -> role

`who` is the member (`roles.Standing`), `content` the space, collection or site, `around` the collections
that contain it and the sites that show it. The result is a role; None means that the member does not see
the content. The functions are pure: `visible_spaces` and `request.context` collect their input.

Sources: for `strongest_role` part 5 of the reference, which names roles but not how they combine. For
`role_by_precedence` the vendor's documentation as of May 2026, pages "Permissions and inheritance" and
"Roles" (collaborate/member-management).
"""

from collections.abc import Callable, Mapping

from msgspec import Struct

from ..store import Record
from .roles import Role, Standing, strongest

INHERIT = "inherit"


class Content(Struct, frozen=True):
    """What access to a space, collection or site depends on.

    `level` is its `defaultLevel`: a role, None ("No access") or `inherit`. `creator` is the id of the user
    who created it, "" where nobody knows.
    """

    kind: str
    id: str
    level: Role = INHERIT
    creator: str = ""


class Surroundings(Struct, frozen=True):
    """The collections that contain a space or collection, the innermost first, and the sites that show a
    space, each once.
    """

    collections: tuple[Content, ...] = ()
    sites: tuple[Content, ...] = ()


NOWHERE = Surroundings()
Resolve = Callable[[Standing, Content, Surroundings], Role]


def strongest_role(who: Standing, content: Content, around: Surroundings) -> Role:
    """Return the strongest role of all that reach the content.

    These are the roles given on it and on the collections around it, and, unless the member is a guest, the
    nearest level that is not `inherit`, else the role in the organization. Sites and creators do not count.
    """
    if not who.member or who.role == "admin":
        return who.role
    path = (content, *around.collections)
    roles = [who.given(place.kind, place.id) for place in path]
    if who.role is not None:
        roles.append(next((place.level for place in path if place.level != INHERIT), who.role))
    return strongest(roles)


def role_by_precedence(who: Standing, content: Content, around: Surroundings) -> Role:
    """Return the role that is set nearest to the content.

    The content itself comes first, then the sites that show it, then each collection from the innermost,
    then the organization. The first of these steps that sets a role decides. Where a step has several roles
    (a member's and a team's, or those of several sites), the documentation is silent: the strongest counts.
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
    """Return the role that one place sets for a member, or () where the member inherits.

    A role given to the member or a team of theirs comes before the level of the place. "No access" does not
    hide content from its creator, nor what is in a collection or on a site from the creator of that. A guest
    gets no level, but a space or collection with a level of its own inherits nothing for guests either.
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
    """How an edition resolves roles, what its function reads, and what a locked space takes.

    `sites`: whether it reads the sites that show a space. `creators`: whether it reads who created what.
    `locked_proposals`: whether a locked space takes change requests, and refuses direct edits alone.
    """

    resolve: Resolve
    sites: bool = False
    creators: bool = False
    locked_proposals: bool = False


_STRONGEST = Rules(strongest_role)
RULES: Mapping[str, Rules] = {
    "reference": _STRONGEST,
    "full": _STRONGEST,
    "published": Rules(role_by_precedence, sites=True, creators=True, locked_proposals=True),
}
"""The rules of each profile."""


def content_of(record: Record) -> Content:
    """Return what access depends on, from the record of a space (deleted or not), collection or site."""
    kind = record.kind.removeprefix("deleted-")
    level = record.doc.get("defaultLevel", INHERIT)
    return Content(kind, record.id, level, record.doc.get("createdBy") or "")
