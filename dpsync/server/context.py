"""What a handler is given: one request, checked, and the state it may touch.

A handler is a plain function of a Context that returns the answer's body (None: no content) or raises
ApiError; one that made what was absent, where it might have updated, says so in `created`. The loaders here
are the only way to an organization or to anything inside one, so that what the caller may not see is not
found, and what the caller may see but not do is refused.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from .access import Role, level_on, reaches
from .clock import moment, stamp
from .errors import ApiError, missing
from .store import Record, Store

RETENTION = timedelta(days=7)

_PREFIXES = {
    "organization": "org",
    "user": "user",
    "team": "team",
    "collection": "col",
    "space": "space",
    "site": "site",
    "section-group": "group",
    "section": "sect",
    "site-space": "place",
    "saml-provider": "saml",
    "link-invite": "invite",
    "openapi-spec": "spec",
    "openapi-version": "version",
    "translation": "translation",
}


def new_id(store: Store, kind: str) -> str:
    """The next free id of a kind: the same requests on the same world give the same ids."""
    while True:
        id = f"{_PREFIXES[kind]}-{store.next(kind)}"
        if store.get(kind, id) is None and (kind != "space" or store.get("deleted-space", id) is None):
            return id


@dataclass
class Context:
    store: Store
    user: str
    now: datetime
    params: dict[str, str] = field(default_factory=dict)
    query: Any = None
    body: Any = None
    needs: Role = None
    full: bool = True
    created: bool = False
    _cache: dict[tuple[str, str], Record | None] = field(default_factory=dict)
    _counted: dict[tuple[str, Role], int] = field(default_factory=dict)

    @property
    def stamp(self) -> str:
        return stamp(self.now)

    # --- records ----------------------------------------------------------------------------------

    def load(self, kind: str, id: str) -> Record | None:
        """One record, read once per request."""
        key = (kind, id)
        if key not in self._cache:
            self._cache[key] = self.store.get(kind, id)
        return self._cache[key]

    def put(self, record: Record) -> None:
        self.store.put(record)
        self._cache.clear()
        self._counted.clear()

    def remove(self, record: Record) -> None:
        self.store.remove(record.kind, record.id)
        self._cache.clear()
        self._counted.clear()

    def new_id(self, kind: str) -> str:
        return new_id(self.store, kind)

    # --- what the caller may reach ----------------------------------------------------------------

    def role_in(self, organization: str) -> tuple[bool, Role]:
        """Whether the caller is a member, and with which role."""
        member = self.load("member", f"{organization}:{self.user}")
        if member is None or member.doc.get("disabled"):
            return False, None
        return True, member.doc["role"]

    def enter(self, organization: str) -> Record:
        """The organization, for a caller who is a member and has the role that the operation needs."""
        found = self.load("organization", organization)
        member, role = self.role_in(organization)
        if found is None or not member:
            raise missing("organization", organization)
        if not reaches(role, self.needs):
            raise ApiError(403, f"this needs the role {self.needs} in the organization")
        return found

    def organization(self) -> Record:
        return self.enter(self.params["organizationId"])

    def site(self) -> Record:
        organization = self.organization()
        site = self.store.get("site", self.params["siteId"])
        if site is None or site.organization != organization.id:
            raise missing("site", self.params["siteId"])
        return site

    def find_space(self, id: str, *, deleted: bool = False) -> Record | None:
        """A space that the caller may see; with `deleted` also one deleted less than seven days ago."""
        space = self.load("space", id)
        if space is None and deleted:
            space = self.load("deleted-space", id)
            if space is not None and self.now - moment(space.doc["deletedAt"]) > RETENTION:
                space = None
        return space if space is not None and self.role_in(space.organization)[0] else None

    def space(self, *, deleted: bool = False) -> Record:
        id = self.params["spaceId"]
        space = self.find_space(id, deleted=deleted)
        if space is None:
            raise missing("space", id)
        self.enter(space.organization)
        return space

    def find_collection(self, id: str) -> Record | None:
        found = self.load("collection", id)
        return found if found is not None and self.role_in(found.organization)[0] else None

    def collection(self) -> Record:
        id = self.params["collectionId"]
        found = self.find_collection(id)
        if found is None:
            raise missing("collection", id)
        self.enter(found.organization)
        return found

    def named_space(self, id: str, organization: str, field: str) -> Record:
        """A space that a body names, in this organization."""
        space = self.load("space", id)
        if space is None or space.organization != organization:
            raise missing(f"{field}: space", id)
        return space

    def named_collection(self, id: str, organization: str, field: str) -> Record:
        found = self.load("collection", id)
        if found is None or found.organization != organization:
            raise missing(f"{field}: collection", id)
        return found

    def spaces_of(self, organization: str, role: Role) -> Iterator[tuple[Record, Role]]:
        """The spaces that a member with this role has access to and the level there, in order of creation."""
        for space in sorted(self.store.find("space", organization=organization), key=lambda space: space.seq):
            level = level_on(role, space, lambda id: self.load("collection", id))
            if level is not None:
                yield space, level

    def count_spaces_of(self, organization: str, role: Role) -> int:
        if role is None:
            return 0
        if role == "admin":
            return self.store.count("space", organization=organization)
        key = (organization, role)
        if key not in self._counted:
            self._counted[key] = sum(1 for _ in self.spaces_of(organization, role))
        return self._counted[key]
