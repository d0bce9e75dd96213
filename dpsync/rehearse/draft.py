"""Collect the objects of a world (the companion's data) while responses are converted.

`WorldDraft` has everything that was read. `assume` adds the objects that the steps of a plan name and that no
response showed. `without_keys` replaces secrets in settings. Responses for short paths are converted before
those for the paths below.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any
from urllib.parse import unquote

from msgspec import Struct
from msgspec.structs import asdict

from dpsync.client.recording import RecordedAnswer

HIDDEN = "hidden in a rehearsal"
"""Stands for what is secret and is read back."""
_KEYS = re.compile("key|token|secret|password|credential", re.IGNORECASE)
"""Members of settings whose texts are secret."""


def without_keys(settings: Any) -> Any:
    """Return settings with each secret replaced by another text, at any depth."""
    if isinstance(settings, list):
        return [without_keys(one) for one in settings]
    if not isinstance(settings, dict):
        return settings
    return {
        name: HIDDEN if _KEYS.search(name) and isinstance(value, str) else without_keys(value)
        for name, value in settings.items()
    }


Json = dict[str, Any]
COMPUTED = ("object", "urls", "permissions")
"""The members that the companion computes for every response."""
ELSEWHERE = "elsewhere"
"""An organization of nobody here: it has published what is installed and was not read."""


class OrganizationDraft:
    """The objects that were read of one organization."""

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
    """An object in the form in which the companion stores it."""

    kind: str
    id: str
    doc: Json
    organization: str
    scope: str
    parent: str
    ref: str


class WorldDraft:
    """Everything that was read so far, most of it by organization."""

    def __init__(self) -> None:
        self.organizations: dict[str, OrganizationDraft] = {}
        self.users: dict[str, Json] = {}
        self.caller: str | None = None
        self.assumed: list[str] = []
        self.unknown: list[RecordedAnswer] = []
        self.orders: dict[str, list[str]] = {}
        """The ids of the spaces in order, by collection."""
        self.pages: dict[str, list[Json]] = {}
        """The page tree of each space, by space id, without page texts."""
        self.lists: dict[tuple[str, str], dict[str, list[Json]]] = defaultdict(dict)
        """The lists of the navigation, by organization and site, if the navigation is read by lists."""
        self.grants: list[tuple[str, str, str, list[Json]]] = []
        self.placed: list[tuple[str, str, list[Json]]] = []
        self.looks: dict[str, Json] = {}
        """The customizations, by site space."""
        self.published: dict[str, Json] = {}
        self.versions: dict[tuple[str, str], Json] = {}
        """The latest version of each specification, by organization and slug."""
        self.records: list[Json] = []
        self.styleguides: list[tuple[str, str]] = []
        """The organization id and space id of each style guide that a site uses."""

    def organization(self, id: str) -> OrganizationDraft:
        """Return the draft of an organization, which is empty at first."""
        return self.organizations.setdefault(id, OrganizationDraft(id))

    def user(self, person: Json) -> str:
        """Add a person, and return the id."""
        id = str(person["id"])
        self.users.setdefault(id, {}).update(without(person, "id", *COMPUTED))
        return id

    def belongs(self, owner: OrganizationDraft, user: str) -> None:
        """Add a person with a role in an organization to its members, even if the members were not read."""
        if user not in owner.members:
            owner.members[user] = {"user": user}
            self.assumed.append(f"the role of {self.called(user)} in the organization {owner.id}")

    def called(self, user: str) -> str:
        """Return the email of a person, or the id without an email."""
        return str(self.users.get(user, {}).get("email") or user)

    def space(self, organization: str, id: str) -> None:
        """Add a space that another object refers to, if it was not read."""
        if id not in self.organization(organization).spaces:
            self.organization(organization).spaces[id] = {"id": id}
            self.assumed.append(f"the space {id}")

    def site(self, organization: str, id: str) -> Json:
        """Return the data of a site, which has only its id at first."""
        return self.organization(organization).sites.setdefault(id, {"id": id})

    def record(
        self, kind: str, id: str, doc: Json, organization: str, scope: str, parent: str = "", ref: str = ""
    ) -> None:
        """Add an object in the companion's own form if the usual form would start background work."""
        self.records.append(asdict(_Record(kind, id, doc, organization, scope, parent, ref)))


def without(response: Json, *left_out: str) -> Json:
    """Return a response without these members."""
    return {name: value for name, value in response.items() if name not in left_out}


def only(response: Json, *kept: str) -> Json:
    """Return these members of a response, if present."""
    return {name: response[name] for name in kept if name in response}


def assume(draft: WorldDraft, organization: str, path: str) -> None:
    """Add the objects that the path of a step names."""
    for pattern, note in _ASSUMED:
        if (found := pattern.match(path)) is not None:
            note(draft, organization, unquote(found[1]))
            return


def assume_space(draft: WorldDraft, organization: str, id: str) -> None:
    if not any(id in one.spaces for one in draft.organizations.values()):
        draft.space(organization, id)


def assume_collection(draft: WorldDraft, organization: str, id: str) -> None:
    if not any(id in one.collections for one in draft.organizations.values()):
        draft.organization(organization).collections[id] = {"id": id}
        draft.assumed.append(f"the collection {id}")


def assume_team(draft: WorldDraft, organization: str, id: str) -> None:
    if id not in draft.organization(organization).teams:
        draft.organization(organization).teams[id] = {"id": id, "title": id}
        draft.assumed.append(f"the team {id}")


def assume_member(draft: WorldDraft, organization: str, id: str) -> None:
    owner = draft.organization(organization)
    if not owner.members_read:
        draft.belongs(owner, draft.user({"id": id}))


def assume_site(draft: WorldDraft, organization: str, id: str) -> None:
    if id not in draft.organization(organization).sites:
        draft.organization(organization).sites[id] = {"id": id}
        draft.assumed.append(f"the site {id}")


def assume_integration(draft: WorldDraft, organization: str, name: str) -> None:
    """Add a public integration of an unknown organization."""
    if name not in draft.published:
        maker = draft.organization(ELSEWHERE)
        draft.published[name] = {"name": name, "title": name, "visibility": "public", "owner": maker.id}
        draft.assumed.append(f"the integration {name}")


_ASSUMED = (
    (re.compile("/spaces/([^/{]+)"), assume_space),
    (re.compile("/collections/([^/{]+)"), assume_collection),
    (re.compile("/orgs/[^/]+/teams/([^/{]+)"), assume_team),
    (re.compile("/orgs/[^/]+/members/([^/{]+)"), assume_member),
    (re.compile("/orgs/[^/]+/sites/([^/{]+)"), assume_site),
    (re.compile("/integrations/([^/{]+)/installations"), assume_integration),
)
