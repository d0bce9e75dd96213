"""A world while its answers are taken, those of short paths before those below them."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from dpsync.client.recording import RecordedAnswer

Json = dict[str, Any]
COMPUTED = ("object", "urls", "permissions")
"""What the companion works out by itself for every answer."""
ELSEWHERE = "elsewhere"
"""An organization of nobody here: it has published what is installed and was not read."""


class OrganizationDraft:
    """What was read of one organization."""

    def __init__(self, id: str) -> None:
        self.id = id
        self.fields: Json = {}
        self.members: dict[str, Json] = {}
        self.members_read = False
        self.parts: dict[str, Any] = {}
        self.teams: dict[str, Json] = {}
        self.collections: dict[str, Json] = {}
        self.spaces: dict[str, Json] = {}
        self.sites: dict[str, Json] = {}
        self.installations: dict[str, Json] = {}


class _Record(Struct, frozen=True):
    """What a world gives to the companion as it keeps it."""

    kind: str
    id: str
    doc: Json
    organization: str
    scope: str
    parent: str
    ref: str


class WorldDraft:
    """Everything that was taken so far, by organization where it is in one."""

    def __init__(self) -> None:
        self.organizations: dict[str, OrganizationDraft] = {}
        self.users: dict[str, Json] = {}
        self.caller: str | None = None
        self.assumed: list[str] = []
        self.unknown: list[RecordedAnswer] = []
        self.orders: dict[str, list[str]] = {}
        """By collection the ids of its spaces in their order."""
        self.pages: dict[str, list[Json]] = {}
        """The page tree of each space, by space id, without page texts."""
        self.lists: dict[tuple[str, str], dict[str, list[Json]]] = defaultdict(dict)
        """By site the lists of its navigation, where it is read by lists."""
        self.grants: list[tuple[str, str, str, list[Json]]] = []
        self.placed: list[tuple[str, str, list[Json]]] = []
        self.looks: dict[str, Json] = {}
        """By site space."""
        self.published: dict[str, Json] = {}
        self.versions: dict[tuple[str, str], Json] = {}
        """By organization and slug what is kept of the last version of a specification."""
        self.records: list[Json] = []
        self.styleguides: list[tuple[str, str]] = []
        """The style guides that sites name: by organization the ids of their spaces."""

    def organization(self, id: str) -> OrganizationDraft:
        """What was read of an organization, nothing at first."""
        return self.organizations.setdefault(id, OrganizationDraft(id))

    def user(self, given: Json) -> str:
        """Note somebody; their id."""
        id = str(given["id"])
        self.users.setdefault(id, {}).update(without(given, "id", *COMPUTED))
        return id

    def belongs(self, owner: OrganizationDraft, user: str) -> None:
        """Somebody who has a role in an organization is a member, whether its members were read or not."""
        if user not in owner.members:
            owner.members[user] = {"user": user}
            self.assumed.append(f"the role of {self.called(user)} in the organization {owner.id}")

    def called(self, user: str) -> str:
        """The email of somebody, or the id."""
        return str(self.users.get(user, {}).get("email") or user)

    def space(self, organization: str, id: str) -> None:
        """A space that something names, whether the spaces were read or not."""
        if id not in self.organization(organization).spaces:
            self.organization(organization).spaces[id] = {"id": id}
            self.assumed.append(f"the space {id}")

    def site(self, organization: str, id: str) -> Json:
        """What was read of a site, its id at first."""
        return self.organization(organization).sites.setdefault(id, {"id": id})

    def record(
        self, kind: str, id: str, doc: Json, organization: str, scope: str, parent: str = "", ref: str = ""
    ) -> None:
        """Add something as the companion keeps it, where what a world has for it would set work going."""
        self.records.append(asdict(_Record(kind, id, doc, organization, scope, parent, ref)))


def without(given: Json, *left_out: str) -> Json:
    """An answer without these members."""
    return {name: value for name, value in given.items() if name not in left_out}


def only(given: Json, *kept: str) -> Json:
    """These members of an answer, as far as it has them."""
    return {name: given[name] for name in kept if name in given}
