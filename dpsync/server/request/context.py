"""The context of a handler: one checked request, and the state that the handler may use.

A handler is a plain function that gets a Context and returns the body of the answer (None: no content) or
raises ApiError. A handler that creates an object instead of updating it sets `created`.

The loaders in this module are the only way to an organization or an object in it. They answer 404 for an
object that the caller may not view, and 403 if the caller may view it but lacks a role. The role applies to
the innermost organization, space, collection or site in the path. For removal and transfer see
`records.family`; for state that outlives a request see `cache`.
"""

from collections.abc import Callable, Hashable, Iterator
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, Protocol

from msgspec import Struct, field

from ..access import standings
from ..access.resolution import NOWHERE, RULES, Content, Rules, Surroundings, content_of
from ..access.roles import Role, Standing, reaches
from ..access.visible_spaces import SITE_SPACE, SpaceGroups, space_groups
from ..clock import Clock, moment, stamp
from ..errors import ApiError, missing
from ..store import Record, Store
from .cache import StateCache

RETENTION = timedelta(days=7)
CHANGE_REQUEST = "change-request"
"""`scope` is its space, `ref` its number there, `position` the same as a number."""


def is_locked(space: Record) -> bool:
    """Return whether direct edits of the content of a space are refused."""
    return bool(space.doc["editMode"] == "locked")


class Lifecycles(Protocol):
    """The functions that are the same for all kinds of records. See `records.family`."""

    def new_id(self, store: Store, kind: str) -> str:
        """Return the next free id of a kind. Raise KeyError if the companion makes no ids of this kind."""

    def before_removal(self, ctx: "Context", record: Record) -> None:
        """Remove or change the records that depend on a record that will be removed."""

    def before_transfer(self, ctx: "Context", record: Record, organization: str) -> None:
        """Transfer or change the records that depend on a record that will be transferred."""


class Context(Struct, dict=True):
    store: Store
    user: str
    clock: Clock
    params: dict[str, str] = field(default_factory=dict)
    query: Any = None
    body: Any = None
    needs: Role = None
    edits: bool = False
    profile: str = "full"
    families: Lifecycles | None = None
    """None: no ids can be made, nothing removed and nothing transferred."""
    origin: str = "https://api.docs.example"
    """Where the caller reached the service: what is served beside the API has its URL there."""
    minimal: bool = False
    created: bool = False
    removed: bool = False
    """Whether something was removed: today's edition answers 205 then, and 204 where nothing was there."""
    asks_before_removal: bool = False
    """Whether administrators are asked before a member is removed, as today's edition may do."""
    requested: bool = False
    """Whether they were asked: then the answer is 202, and nothing is done."""
    _state_cache: StateCache | None = None
    _role_numbers: dict[str, int] = field(default_factory=dict)
    _cache: dict[tuple[str, str], Record | None] = field(default_factory=dict)
    _standings: dict[tuple[str, str], Standing] = field(default_factory=dict)
    _space_groups: dict[str, SpaceGroups] = field(default_factory=dict)
    _surroundings: dict[tuple[str, str], Surroundings] = field(default_factory=dict)

    @property
    def full(self) -> bool:
        """Return whether additions to the reference are served: in every profile except `reference`."""
        return self.profile != "reference"

    @property
    def published(self) -> bool:
        """Return whether the profile is `published`, the edition that the vendor publishes today."""
        return self.profile == "published"

    @cached_property
    def now(self) -> datetime:
        """Return the time of the request, which does not change during the request."""
        return self.clock()

    @property
    def stamp(self) -> str:
        return stamp(self.now)

    # --- records ----------------------------------------------------------------------------------

    def load(self, kind: str, id: str) -> Record | None:
        """Return a record or None, reading it from the store at most once per request."""
        key = (kind, id)
        if key not in self._cache:
            self._cache[key] = self.store.get(kind, id)
        return self._cache[key]

    def put(self, record: Record) -> None:
        self.store.put(record)
        self._forget()

    def remove(self, record: Record) -> None:
        """Remove a record, after removing or changing the records that depend on it."""
        self._lifecycles.before_removal(self, record)
        self.store.remove(record.kind, record.id)
        self.removed = True
        self._forget()

    def transfer(self, item: Record, organization: str) -> None:
        """Transfer an item to another organization. Records that do not follow it are removed or changed."""
        self._lifecycles.before_transfer(self, item, organization)
        item.organization = item.scope = organization
        self.put(item)

    @property
    def _lifecycles(self) -> Lifecycles:
        if self.families is None:
            raise LookupError("this context was made without families")
        return self.families

    def _forget(self) -> None:
        """Clear the caches of this request, because a write may change records and rights."""
        self._cache.clear()
        self._standings.clear()
        self._space_groups.clear()
        self._surroundings.clear()

    def new_id(self, kind: str) -> str:
        return self._lifecycles.new_id(self.store, kind)

    def use_cache(self, cache: StateCache) -> None:
        """Use the shared cache. Call this only for a request that only reads.

        Answers for a holder of a share link are not cached.
        """
        self._standings = cache.standings
        self._space_groups = cache.space_groups
        if getattr(self.query, "shareKey", None) is None:
            self._state_cache = cache

    def show(
        self,
        render: "Callable[[Context, Record], Any]",
        record: Record,
        personal: "Callable[[Context, Record], object]" = lambda ctx, record: False,
    ) -> Any:
        """Return the answer for a record. A request that only reads caches it as JSON, once per role.

        `personal` returns whether the answer depends on the caller and not only on the role. Such an answer
        is cached once per caller.
        """
        if self._state_cache is None:
            return render(self, record)
        role = self._role_numbers.get(record.organization)
        if role is None:
            role = self._state_cache.number(self.standing(record.organization))
            self._role_numbers[record.organization] = role
        key: tuple[object, ...] = (render, record.kind, record.id, self.origin, role)
        found = self._state_cache.texts.get(key)
        if found is None:
            if personal(self, record):
                key = (render, record.kind, record.id, self.origin, self.user)
            found = self._state_cache.text(key, lambda: render(self, record))
        return found

    def count(self, kind: str, **where: str) -> int:
        """Return the number of records. A request that only reads uses the shared cache."""
        if self._state_cache is None:
            return self.store.count(kind, **where)
        return self._state_cache.count(kind, where, lambda: self.store.count(kind, **where))

    def ordered(self, key: Hashable, of: set[str], make: Callable[[], list[Any]]) -> list[Any]:
        """Return a sorted list of records of the kinds `of`, cached in a request that only reads."""
        return make() if self._state_cache is None else self._state_cache.ordered(key, frozenset(of), make)

    # --- what the caller is -----------------------------------------------------------------------

    def standing(self, organization: str, user: str = "") -> Standing:
        """Return the standing of a user (default: the caller). A disabled member has no rights."""
        key = (organization, user or self.user)
        if key not in self._standings:
            self._standings[key] = standings.stand(self.store, *key, with_user_id=self._rules.creators)
        return self._standings[key]

    def stand_all(self, organization: str) -> None:
        """Load the standings of all members at once, for requests that list many members."""
        stood = self._state_cache.stood if self._state_cache is not None else set()
        if organization in stood:
            return
        stood.add(organization)
        found = standings.stand_all(self.store, organization, with_user_id=self._rules.creators)
        for user, standing in found.items():
            self._standings[organization, user] = standing

    def role_in(self, organization: str) -> tuple[bool, Role]:
        """Return whether the caller is a member, and the role of the caller."""
        standing = self.standing(organization)
        return standing.member, standing.role

    @property
    def _rules(self) -> Rules:
        return RULES[self.profile]

    def level(self, item: Record, user: str = "") -> Role:
        """Return the role of a user (default: the caller) on an organization, space, collection or site."""
        standing = self.standing(item.organization, user)
        if item.kind == "organization" or standing.role == "admin":
            return standing.role
        if standing.role is None and not standing.grants:
            return None
        return self._rules.resolve(standing, content_of(item), self._surroundings_of(item))

    def _surroundings_of(self, item: Record) -> Surroundings:
        """Return the collections and sites that may set the role on an item, cached per request."""
        key = (item.kind, item.id)
        if key not in self._surroundings:
            collections, at = [], item.parent
            while at and (found := self._own("collection", at, item.organization)) is not None:
                collections.append(content_of(found))
                at = found.parent
            sites = self._sites_showing(item) if item.kind == "space" and self._rules.sites else ()
            self._surroundings[key] = Surroundings(tuple(collections), sites)
        return self._surroundings[key]

    def _sites_showing(self, space: Record) -> tuple[Content, ...]:
        if space.organization in self._space_groups:
            return self._space_groups[space.organization].sites_of(space.id)
        ids = sorted({place.scope for place in self.store.find(SITE_SPACE, ref=space.id)})
        found = (self._own("site", id, space.organization) for id in ids)
        return tuple(content_of(site) for site in found if site is not None)

    def _own(self, kind: str, id: str, organization: str) -> Record | None:
        """Return a record, or None if it belongs to another organization.

        The collection of a deleted space may have been transferred to another organization.
        """
        found = self.load(kind, id)
        return found if found is not None and found.organization == organization else None

    def sees(self, item: Record) -> bool:
        if item.kind == "organization":
            return self.standing(item.id).member
        return self.level(item) is not None

    def permit(self, item: Record) -> Record:
        """Return the item. Raise 404 if the caller may not view it, and 403 without the needed role.

        The role is the one that the operation needs.
        """
        if not self.sees(item):
            raise missing(item.kind.removeprefix("deleted-"), item.id)
        self.demand(item, self.needs)
        return item

    def demand(self, item: Record, role: Role) -> None:
        """Raise 403 if the caller does not have the role on an item that the caller may view."""
        if not reaches(self.level(item), role):
            kind = item.kind.removeprefix("deleted-")
            raise ApiError(403, f"this request needs the role {role} on the {kind} {item.id!r}")

    # --- what the path names ----------------------------------------------------------------------

    def find_organization(self, id: str) -> Record:
        """Return an organization. Raise 404 unless the caller is a member."""
        found = self.load("organization", id)
        if found is None or not self.sees(found):
            raise missing("organization", id)
        return found

    def organization(self) -> Record:
        return self.permit(self.find_organization(self.params["organizationId"]))

    def site(self) -> Record:
        organization = self.find_organization(self.params["organizationId"])
        site = self.store.get("site", self.params["siteId"])
        if site is None or site.organization != organization.id:
            raise missing("site", self.params["siteId"])
        return self.permit(site)

    def find_space(self, id: str, *, deleted: bool = False) -> Record | None:
        """Return a space that the caller may see, or None.

        With `deleted`, the space may have been deleted in the last seven days.
        """
        space = self.load("space", id)
        if space is None and deleted:
            space = self.load("deleted-space", id)
            if space is not None and self.now - moment(space.doc["deletedAt"]) > RETENTION:
                space = None
        return space if space is not None and self.sees(space) else None

    def space(self, *, deleted: bool = False) -> Record:
        id = self.params["spaceId"]
        space = self.find_space(id, deleted=deleted)
        if space is None:
            raise missing("space", id)
        self.permit(space)
        if self.edits and not self.accepts_change_requests(space):
            raise ApiError(403, f"the space {id!r} is locked: to edit the space, set its editMode to live")
        return space

    def accepts_change_requests(self, space: Record) -> bool:
        """Return whether change requests of a space can be created, changed and merged now."""
        return self._rules.change_requests_when_locked or not is_locked(space)

    def find_collection(self, id: str) -> Record | None:
        found = self.load("collection", id)
        return found if found is not None and self.sees(found) else None

    def collection(self) -> Record:
        id = self.params["collectionId"]
        found = self.find_collection(id)
        if found is None:
            raise missing("collection", id)
        return self.permit(found)

    def change_request(self) -> Record:
        """Return the change request that the path names by id or number.

        The role that the operation needs applies to the space.
        """
        space, named = self.space(), self.params["changeRequestId"]
        found = self.store.get(CHANGE_REQUEST, named)
        if found is None or found.scope != space.id:
            numbered = self.store.find(CHANGE_REQUEST, scope=space.id, ref=named)
            if not numbered:
                raise missing("change request", named)
            found = numbered[0]
        return found

    # --- what a body names ------------------------------------------------------------------------

    def named_space(self, id: str, organization: str, field: str) -> Record:
        """Return the space of this organization that a body names."""
        return self._named("space", id, organization, field)

    def named_collection(self, id: str, organization: str, field: str) -> Record:
        return self._named("collection", id, organization, field)

    def _named(self, kind: str, id: str, organization: str, field: str) -> Record:
        found = self.load(kind, id)
        if found is None or found.organization != organization or not self.sees(found):
            raise missing(f"{field}: {kind}", id)
        return found

    # --- the spaces of a member -------------------------------------------------------------------

    def spaces_of(self, organization: str) -> Iterator[tuple[Record, Role]]:
        """Yield the spaces that the caller may view, each with the caller's role, in order of creation."""
        found = self.store.find("space", organization=organization)
        for space in self.visible_spaces(organization, sorted(found, key=lambda space: space.seq)):
            yield space, self.level(space)

    def visible_spaces(self, organization: str, found: list[Record]) -> Iterator[Record]:
        """Yield the spaces in `found` that the caller may view, without a query for each space."""
        if self._rules.sites and self.standing(organization).role != "admin":
            self._groups_of(organization)
        yield from filter(self.sees, found)

    def count_spaces_of(self, organization: str, user: str) -> int:
        return self._count_spaces(organization, self.standing(organization, user))

    def count_spaces_of_both(self, organization: str, user: str) -> int:
        """Return the number of spaces that both the user and the caller may view."""
        return self._count_spaces(
            organization, self.standing(organization, user), self.standing(organization)
        )

    def count_spaces_of_team(self, team: Record) -> int:
        """Return the number of spaces that a guest with the team's roles would see."""
        return self._count_spaces(team.organization, standings.stand_as_team(self.store, team))

    def count_sites_of(self, organization: str, user: str) -> int:
        """Return the number of sites that a member may view.

        All members who are not guests see the same sites without a role of their own; the cache has these
        sites.
        """
        standing = self.standing(organization, user)
        if standing.role == "admin":
            return self.count("site", organization=organization)
        sites, opened, closed = self.ordered(
            ("sites of", organization), {"site"}, lambda: self._sites_by_openness(organization)
        )
        seen = set() if standing.role is None else opened
        special = {id for kind, id, _ in standing.grants if kind == "site"} | closed.get(standing.user, set())
        found = (sites[id] for id in special - seen if id in sites)
        return len(seen) + sum(self._rules.resolve(standing, site, NOWHERE) is not None for site in found)

    def _sites_by_openness(self, organization: str) -> list[Any]:
        """Return the sites by id, the ids visible without a direct role, and the other ids by creator.

        The second value is the same for all members who are not guests. The third value lacks sites without a
        known creator.
        """
        anybody = Standing(member=True, role="read")
        sites = {site.id: content_of(site) for site in self.store.find("site", organization=organization)}
        opened = {id for id, site in sites.items() if self._rules.resolve(anybody, site, NOWHERE) is not None}
        closed: dict[str, set[str]] = {}
        for id in sites.keys() - opened:
            if sites[id].creator:
                closed.setdefault(sites[id].creator, set()).add(id)
        return [sites, opened, closed]

    def _count_spaces(self, organization: str, *standings: Standing) -> int:
        if all(standing.role == "admin" for standing in standings):
            return self.count("space", organization=organization)
        if any(standing.role is None and not standing.grants for standing in standings):
            return 0
        return self._groups_of(organization).visible(standings)

    def _groups_of(self, organization: str) -> SpaceGroups:
        """Return the organization's space groups, for requests that check many spaces."""
        if organization not in self._space_groups:
            self._space_groups[organization] = space_groups(self.store, organization, self._rules)
        return self._space_groups[organization]
