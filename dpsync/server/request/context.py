"""Define the `Context` of a handler: one checked request, and the state that the handler may use.

A handler gets a Context and returns the body of the response (None: no content) or raises ApiError. If it
creates an object instead of updating it, it sets `was_created`. Its loaders are the only way to an
organization or an object in it: 404 if the caller may not view the object, 403 if the caller lacks a role.
The role applies to the innermost organization, space, collection or site in the path.
"""

from collections.abc import Callable, Hashable, Iterator
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, Protocol

from msgspec import Struct, field

from ..access import organization_access
from ..access.resolution import (
    NO_CONTAINERS,
    RULES,
    AccessRules,
    Containers,
    ProtectedObject,
    protected_object,
)
from ..access.roles import OrganizationAccess, Role, is_at_least
from ..access.visible_spaces import SITE_SPACE, SpaceGroups, load_space_groups
from ..clock import Clock, format_timestamp, parse_timestamp
from ..errors import ApiError, not_found
from ..store import Record, Store
from .state_cache import StateCache

RETENTION = timedelta(days=7)
CHANGE_REQUEST = "change-request"
"""Record kind of change requests. `scope` is the space, `ref` and `position` are the number."""


def is_locked(space: Record) -> bool:
    """Return whether direct edits of the content of a space are refused."""
    return bool(space.doc["editMode"] == "locked")


class RecordHooks(Protocol):
    """The functions that are the same for all kinds of records. See `records.record_kind`."""

    def new_id(self, store: Store, kind: str) -> str:
        """Return the next free id of a kind. Raise KeyError if the local server makes no ids of this kind."""

    def before_removal(self, ctx: "Context", record: Record) -> None:
        """Remove or change the records that depend on a record that will be removed."""

    def before_transfer(self, ctx: "Context", record: Record, organization: str) -> None:
        """Transfer or change the records that depend on a record that will be transferred."""


class Context(Struct, dict=True):
    """One checked request: its caller, parameters, query and body, and the store that it may use."""

    store: Store
    user: str
    clock: Clock
    params: dict[str, str] = field(default_factory=dict)
    query: Any = None
    body: Any = None
    required_role: Role = None
    edits_content: bool = False
    profile: str = "full"
    record_hooks: RecordHooks | None = None
    """None if no ids can be made and no records can be removed or transferred."""
    base_url: str = "https://api.docs.example"
    """The URL at which the caller reached the server, for URLs of images and files."""
    prefers_minimal: bool = False
    was_created: bool = False
    was_removed: bool = False
    """Whether a record was removed. In the profile `published`, the status is then 205 instead of 204."""
    asks_before_removal: bool = False
    """Whether administrators must confirm the removal of a member, as the profile `published` allows."""
    removal_requested: bool = False
    """Whether the removal of a member was only requested, so that the status is 202."""
    _state_cache: StateCache | None = None
    _access_numbers: dict[str, int] = field(default_factory=dict)
    _records: dict[tuple[str, str], Record | None] = field(default_factory=dict)
    _access_by_user: dict[tuple[str, str], OrganizationAccess] = field(default_factory=dict)
    _space_groups: dict[str, SpaceGroups] = field(default_factory=dict)
    _containers: dict[tuple[str, str], Containers] = field(default_factory=dict)

    @property
    def has_additions(self) -> bool:
        """Return whether the server serves more than GitBook's API reference documents.

        Every API version (profile) except `reference` has such additions.
        """
        return self.profile != "reference"

    @property
    def is_published_profile(self) -> bool:
        """Return whether the API version (profile) is `published`: the API that GitBook publishes today."""
        return self.profile == "published"

    @cached_property
    def now(self) -> datetime:
        """Return the time of the request, which does not change during the request."""
        return self.clock()

    @property
    def timestamp(self) -> str:
        """Return the time of the request as the API writes times."""
        return format_timestamp(self.now)

    # --- records ----------------------------------------------------------------------------------

    def load(self, kind: str, id: str) -> Record | None:
        """Return a record or None, reading it from the store at most once per request."""
        key = (kind, id)
        if key not in self._records:
            self._records[key] = self.store.get(kind, id)
        return self._records[key]

    def put(self, record: Record) -> None:
        """Store a record, and clear the caches of this request."""
        self.store.put(record)
        self._clear_caches()

    def remove(self, record: Record) -> None:
        """Remove a record, after removing or changing the records that depend on it."""
        self._record_hooks.before_removal(self, record)
        self.store.remove(record.kind, record.id)
        self.was_removed = True
        self._clear_caches()

    def transfer(self, item: Record, organization: str) -> None:
        """Transfer an item to another organization. Records that do not follow it are removed or changed."""
        self._record_hooks.before_transfer(self, item, organization)
        item.organization = item.scope = organization
        self.put(item)

    @property
    def _record_hooks(self) -> RecordHooks:
        """Return the functions for all kinds of records. Raise LookupError if this context has none."""
        if self.record_hooks is None:
            raise LookupError("this context was made without families")
        return self.record_hooks

    def _clear_caches(self) -> None:
        """Clear the caches of this request, because a write may change records and rights."""
        self._records.clear()
        self._access_by_user.clear()
        self._space_groups.clear()
        self._containers.clear()

    def new_id(self, kind: str) -> str:
        """Return the next free id of a kind."""
        return self._record_hooks.new_id(self.store, kind)

    def use_cache(self, cache: StateCache) -> None:
        """Use the cache that all requests share. Call this only for a request that only reads.

        Responses to a visitor with a share link (the query has `shareKey`) are not cached.
        """
        self._access_by_user = cache.access_by_user
        self._space_groups = cache.space_groups
        if getattr(self.query, "shareKey", None) is None:
            self._state_cache = cache

    def render_cached(
        self,
        render: "Callable[[Context, Record], Any]",
        record: Record,
        depends_on_caller: "Callable[[Context, Record], object]" = lambda _ctx, _record: False,
    ) -> Any:
        """Return the response body for a record, from the cache if the request only reads.

        Callers with equal access share the cached body, which is JSON text (their access has the same number
        in the cache key). If `depends_on_caller` returns true, the body depends on more than the access, and
        each caller has an own cached body.
        """
        if self._state_cache is None:
            return render(self, record)
        access_number = self._access_numbers.get(record.organization)
        if access_number is None:
            access_number = self._state_cache.access_number(self.access_in(record.organization))
            self._access_numbers[record.organization] = access_number
        key: tuple[object, ...] = (render, record.kind, record.id, self.base_url, access_number)
        response = self._state_cache.responses.get(key)
        if response is None:
            if depends_on_caller(self, record):
                key = (render, record.kind, record.id, self.base_url, self.user)
            response = self._state_cache.response_json(key, lambda: render(self, record))
        return response

    def count(self, kind: str, **where: str) -> int:
        """Return the number of records. A request that only reads uses the shared cache."""
        if self._state_cache is None:
            return self.store.count(kind, **where)
        return self._state_cache.cached_count(kind, where, lambda: self.store.count(kind, **where))

    def cached_list(self, key: Hashable, kinds: set[str], build: Callable[[], list[Any]]) -> list[Any]:
        """Return a sorted list of records of these kinds, cached in a request that only reads."""
        return (
            build()
            if self._state_cache is None
            else self._state_cache.cached_list(key, frozenset(kinds), build)
        )

    # --- what the caller is -----------------------------------------------------------------------

    def access_in(self, organization: str, user: str = "") -> OrganizationAccess:
        """Return the access of a user (default: the caller). A disabled member has no rights."""
        key = (organization, user or self.user)
        if key not in self._access_by_user:
            self._access_by_user[key] = organization_access.load_access(
                self.store, *key, with_user_id=self._access_rules.uses_creators
            )
        return self._access_by_user[key]

    def load_all_access(self, organization: str) -> None:
        """Load the access of all members at once, for requests that list many members."""
        loaded = self._state_cache.loaded_organizations if self._state_cache is not None else set()
        if organization in loaded:
            return
        loaded.add(organization)
        access_by_user = organization_access.load_all_access(
            self.store, organization, with_user_id=self._access_rules.uses_creators
        )
        for user, access in access_by_user.items():
            self._access_by_user[organization, user] = access

    def membership_in(self, organization: str) -> tuple[bool, Role]:
        """Return whether the caller is a member, and the role of the caller."""
        access = self.access_in(organization)
        return access.is_member, access.role

    @property
    def _access_rules(self) -> AccessRules:
        """Return the rules by which the API version (profile) resolves roles."""
        return RULES[self.profile]

    def role_on(self, item: Record, user: str = "") -> Role:
        """Return the role of a user (default: the caller) on an organization, space, collection or site."""
        access = self.access_in(item.organization, user)
        if item.kind == "organization" or access.role == "admin":
            return access.role
        if access.role is None and not access.grants:
            return None
        return self._access_rules.resolve(access, protected_object(item), self._containers_of(item))

    def _containers_of(self, item: Record) -> Containers:
        """Return the collections and sites that may set the role on an item, cached per request."""
        key = (item.kind, item.id)
        if key not in self._containers:
            collections, id = [], item.parent
            while (
                id
                and (collection := self._load_in_organization("collection", id, item.organization))
                is not None
            ):
                collections.append(protected_object(collection))
                id = collection.parent
            sites = (
                self._sites_showing(item) if item.kind == "space" and self._access_rules.uses_sites else ()
            )
            self._containers[key] = Containers(tuple(collections), sites)
        return self._containers[key]

    def _sites_showing(self, space: Record) -> tuple[ProtectedObject, ...]:
        """Return the sites that show a space, from the groups of spaces if they are loaded."""
        if space.organization in self._space_groups:
            return self._space_groups[space.organization].sites_showing(space.id)
        ids = sorted({site_space.scope for site_space in self.store.find(SITE_SPACE, ref=space.id)})
        sites = (self._load_in_organization("site", id, space.organization) for id in ids)
        return tuple(protected_object(site) for site in sites if site is not None)

    def _load_in_organization(self, kind: str, id: str, organization: str) -> Record | None:
        """Return a record, or None if it belongs to another organization.

        The collection of a deleted space may have been transferred to another organization.
        """
        record = self.load(kind, id)
        return record if record is not None and record.organization == organization else None

    def can_view(self, item: Record) -> bool:
        """Return whether the caller may view an organization, space, collection or site."""
        if item.kind == "organization":
            return self.access_in(item.id).is_member
        return self.role_on(item) is not None

    def require_access(self, item: Record) -> Record:
        """Return the item. Raise 404 if the caller may not view it, and 403 without the needed role.

        The role is the one that the operation needs.
        """
        if not self.can_view(item):
            raise not_found(item.kind.removeprefix("deleted-"), item.id)
        self.require_role(item, self.required_role)
        return item

    def require_role(self, item: Record, role: Role) -> None:
        """Raise 403 if the caller does not have the role on an item that the caller may view."""
        if not is_at_least(self.role_on(item), role):
            kind = item.kind.removeprefix("deleted-")
            raise ApiError(403, f"this request needs the role {role} on the {kind} {item.id!r}")

    # --- what the path names ----------------------------------------------------------------------

    def find_organization(self, id: str) -> Record:
        """Return an organization. Raise 404 unless the caller is a member."""
        organization = self.load("organization", id)
        if organization is None or not self.can_view(organization):
            raise not_found("organization", id)
        return organization

    def organization_from_path(self) -> Record:
        """Return the organization that the path names. Raise 404 or 403."""
        return self.require_access(self.find_organization(self.params["organizationId"]))

    def site_from_path(self) -> Record:
        """Return the site that the path names. Raise 404 or 403."""
        organization = self.find_organization(self.params["organizationId"])
        site = self.store.get("site", self.params["siteId"])
        if site is None or site.organization != organization.id:
            raise not_found("site", self.params["siteId"])
        return self.require_access(site)

    def find_space(self, id: str, *, deleted: bool = False) -> Record | None:
        """Return a space that the caller may see, or None.

        With `deleted`, the space may have been deleted in the last seven days.
        """
        space = self.load("space", id)
        if space is None and deleted:
            space = self.load("deleted-space", id)
            if space is not None and self.now - parse_timestamp(space.doc["deletedAt"]) > RETENTION:
                space = None
        return space if space is not None and self.can_view(space) else None

    def space_from_path(self, *, deleted: bool = False) -> Record:
        """Return the space that the path names.

        Raise 404, or 403 without the role or for an edit of a locked space.
        """
        id = self.params["spaceId"]
        space = self.find_space(id, deleted=deleted)
        if space is None:
            raise not_found("space", id)
        self.require_access(space)
        if self.edits_content and not self.accepts_change_requests(space):
            raise ApiError(403, f"the space {id!r} is locked: to edit the space, set its editMode to live")
        return space

    def accepts_change_requests(self, space: Record) -> bool:
        """Return whether change requests of a space can be created, changed and merged now."""
        return self._access_rules.change_requests_when_locked or not is_locked(space)

    def find_collection(self, id: str) -> Record | None:
        """Return a collection that the caller may see, or None."""
        collection = self.load("collection", id)
        return collection if collection is not None and self.can_view(collection) else None

    def collection_from_path(self) -> Record:
        """Return the collection that the path names. Raise 404 or 403."""
        id = self.params["collectionId"]
        collection = self.find_collection(id)
        if collection is None:
            raise not_found("collection", id)
        return self.require_access(collection)

    def change_request_from_path(self) -> Record:
        """Return the change request that the path names by id or number.

        The role that the operation needs applies to the space. Raise 404 if it does not exist.
        """
        space, id_or_number = self.space_from_path(), self.params["changeRequestId"]
        request = self.store.get(CHANGE_REQUEST, id_or_number)
        if request is None or request.scope != space.id:
            numbered = self.store.find(CHANGE_REQUEST, scope=space.id, ref=id_or_number)
            if not numbered:
                raise not_found("change request", id_or_number)
            request = numbered[0]
        return request

    # --- what a body names ------------------------------------------------------------------------

    def space_from_body(self, id: str, organization: str, field: str) -> Record:
        """Return the space of this organization that a body names."""
        return self._record_from_body("space", id, organization, field)

    def collection_from_body(self, id: str, organization: str, field: str) -> Record:
        """Return the collection of this organization that a body names."""
        return self._record_from_body("collection", id, organization, field)

    def _record_from_body(self, kind: str, id: str, organization: str, field: str) -> Record:
        """Return a space or collection that a body names in the member `field`. Raise 404."""
        record = self.load(kind, id)
        if record is None or record.organization != organization or not self.can_view(record):
            raise not_found(f"{field}: {kind}", id)
        return record

    # --- the spaces of a member -------------------------------------------------------------------

    def visible_spaces_with_roles(self, organization: str) -> Iterator[tuple[Record, Role]]:
        """Yield the spaces that the caller may view, each with the caller's role, in order of creation."""
        spaces = self.store.find("space", organization=organization)
        for space in self.visible_spaces(organization, sorted(spaces, key=lambda space: space.seq)):
            yield space, self.role_on(space)

    def visible_spaces(self, organization: str, spaces: list[Record]) -> Iterator[Record]:
        """Yield the spaces in `spaces` that the caller may view, without a query for each space."""
        if self._access_rules.uses_sites and self.access_in(organization).role != "admin":
            self._space_groups_of(organization)
        yield from filter(self.can_view, spaces)

    def count_visible_spaces(self, organization: str, user: str) -> int:
        """Return the number of spaces that a user may view."""
        return self._count_spaces_visible_to_all(organization, self.access_in(organization, user))

    def count_common_spaces(self, organization: str, user: str) -> int:
        """Return the number of spaces that both the user and the caller may view."""
        return self._count_spaces_visible_to_all(
            organization, self.access_in(organization, user), self.access_in(organization)
        )

    def count_team_spaces(self, team: Record) -> int:
        """Return the number of spaces that a team gives access to: those that a guest in the team sees."""
        return self._count_spaces_visible_to_all(
            team.organization, organization_access.load_team_access(self.store, team)
        )

    def count_visible_sites(self, organization: str, user: str) -> int:
        """Return the number of sites that a member may view, by a cached partition of the sites.

        All members except guests see the `open_ids`. The other sites are checked one by one, but only those
        on which the member has a direct role, and those that the member created.
        """
        access = self.access_in(organization, user)
        if access.role == "admin":
            return self.count("site", organization=organization)
        sites, open_ids, closed_ids_by_creator = self.cached_list(
            ("sites of", organization), {"site"}, lambda: self._group_sites_by_access(organization)
        )
        visible_ids = set() if access.role is None else open_ids
        special_ids = {id for kind, id, _ in access.grants if kind == "site"}
        special_ids |= closed_ids_by_creator.get(access.user_id, set())
        special_sites = (sites[id] for id in special_ids - visible_ids if id in sites)
        return len(visible_ids) + sum(
            self._access_rules.resolve(access, site, NO_CONTAINERS) is not None for site in special_sites
        )

    def _group_sites_by_access(self, organization: str) -> list[Any]:
        """Return [sites by id, ids of sites that any member sees, ids of the other sites by creator].

        Members who are not guests see the second value without a role on the site itself. The third value
        lacks sites without a known creator.
        """
        anybody = OrganizationAccess(is_member=True, role="read")
        sites = {
            site.id: protected_object(site) for site in self.store.find("site", organization=organization)
        }
        open_ids = {
            id
            for id, site in sites.items()
            if self._access_rules.resolve(anybody, site, NO_CONTAINERS) is not None
        }
        closed_ids_by_creator: dict[str, set[str]] = {}
        for id in sites.keys() - open_ids:
            if sites[id].creator:
                closed_ids_by_creator.setdefault(sites[id].creator, set()).add(id)
        return [sites, open_ids, closed_ids_by_creator]

    def _count_spaces_visible_to_all(self, organization: str, *members: OrganizationAccess) -> int:
        """Return the number of spaces that all of these members may view."""
        if all(access.role == "admin" for access in members):
            return self.count("space", organization=organization)
        if any(access.role is None and not access.grants for access in members):
            return 0
        return self._space_groups_of(organization).count_visible(members)

    def _space_groups_of(self, organization: str) -> SpaceGroups:
        """Return the organization's space groups, for requests that check many spaces."""
        if organization not in self._space_groups:
            self._space_groups[organization] = load_space_groups(self.store, organization, self._access_rules)
        return self._space_groups[organization]
