"""Collect the objects of a world (the data of a local server) while responses of GitBook are converted.

`WorldDraft` has everything that was read. `assume_objects` adds the objects that the steps of a plan name and
that no response showed. `hide_secret_settings` replaces secrets in settings. Responses for short paths are
converted before those for the paths below.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any
from urllib.parse import unquote

from msgspec import Struct
from msgspec.structs import asdict

from dpsync.client.recording import RecordedAnswer

HIDDEN_TEXT = "hidden in a rehearsal"
"""Stands for what is secret and is read back."""
_SECRET_MEMBER = re.compile("key|token|secret|password|credential", re.IGNORECASE)
"""Members of settings whose texts are secret."""


def hide_secret_settings(settings: Any) -> Any:
    """Return settings with each text replaced whose member name suggests a secret, at any depth."""
    if isinstance(settings, list):
        return [hide_secret_settings(item) for item in settings]
    if not isinstance(settings, dict):
        return settings
    return {
        name: HIDDEN_TEXT
        if _SECRET_MEMBER.search(name) and isinstance(value, str)
        else hide_secret_settings(value)
        for name, value in settings.items()
    }


Json = dict[str, Any]
COMPUTED_MEMBERS = ("object", "urls", "permissions")
"""The members that the companion computes for every response."""
FOREIGN_ORGANIZATION = "elsewhere"
"""An organization of nobody here: it has published what is installed and was not read."""


class OrganizationDraft:
    """The objects of one organization that were read so far, by id, in the form of a world."""

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
    """Everything that was read so far, and notes about objects that had to be assumed (`assumed`)."""

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
        self.navigation_lists: dict[tuple[str, str], dict[str, list[Json]]] = defaultdict(dict)
        """The lists of the navigation, by organization and site, if the navigation is read by lists."""
        self.role_grants: list[tuple[str, str, str, list[Json]]] = []
        self.installation_places: list[tuple[str, str, list[Json]]] = []
        self.customizations: dict[str, Json] = {}
        """The customizations, by site space."""
        self.published_integrations: dict[str, Json] = {}
        self.versions: dict[tuple[str, str], Json] = {}
        """The latest version of each specification, by organization and slug."""
        self.records: list[Json] = []
        self.styleguides: list[tuple[str, str]] = []
        """The organization id and space id of each style guide that a site uses."""

    def get_organization(self, id: str) -> OrganizationDraft:
        """Return the draft of an organization, which is created empty."""
        return self.organizations.setdefault(id, OrganizationDraft(id))

    def add_user(self, person: Json) -> str:
        """Add a person, or more fields of a known person, and return the id."""
        id = str(person["id"])
        self.users.setdefault(id, {}).update(without_members(person, "id", *COMPUTED_MEMBERS))
        return id

    def add_member(self, owner: OrganizationDraft, user: str) -> None:
        """Add a person with a role in an organization to its members, even if the members were not read."""
        if user not in owner.members:
            owner.members[user] = {"user": user}
            self.assumed.append(f"the role of {self.email_or_id(user)} in the organization {owner.id}")

    def email_or_id(self, user: str) -> str:
        """Return the e-mail address of a person, or the id without an address."""
        return str(self.users.get(user, {}).get("email") or user)

    def add_space(self, organization: str, id: str) -> None:
        """Add a space to which another object refers, and note it as assumed, if it was not read."""
        if id not in self.get_organization(organization).spaces:
            self.get_organization(organization).spaces[id] = {"id": id}
            self.assumed.append(f"the space {id}")

    def get_site(self, organization: str, id: str) -> Json:
        """Return the data of a site, which is created with only its id."""
        return self.get_organization(organization).sites.setdefault(id, {"id": id})

    def add_record(
        self, kind: str, id: str, doc: Json, organization: str, scope: str, parent: str = "", ref: str = ""
    ) -> None:
        """Add an object as a database record of the local server (companion), which is loaded unchanged.

        Used for objects that cannot be in the usual data, or for which it would start background work.
        """
        self.records.append(asdict(_Record(kind, id, doc, organization, scope, parent, ref)))


def without_members(response: Json, *names: str) -> Json:
    """Return a JSON object without these members."""
    return {name: value for name, value in response.items() if name not in names}


def only_members(response: Json, *names: str) -> Json:
    """Return a JSON object with only these members, as far as they are present."""
    return {name: response[name] for name in names if name in response}


def assume_objects(draft: WorldDraft, organization: str, path: str) -> None:
    """Add the object that the URL path of a step names, if no response showed it.

    So a rehearsal can send the step's request to the local server. `_ASSUME_BY_PATH` has the known paths.
    """
    for pattern, assume in _ASSUME_BY_PATH:
        if (match := pattern.match(path)) is not None:
            assume(draft, organization, unquote(match[1]))
            return


def assume_space(draft: WorldDraft, organization: str, id: str) -> None:
    """Add a space that no organization has, and note it as assumed."""
    if not any(id in other.spaces for other in draft.organizations.values()):
        draft.add_space(organization, id)


def assume_collection(draft: WorldDraft, organization: str, id: str) -> None:
    """Add a collection that no organization has, and note it as assumed."""
    if not any(id in other.collections for other in draft.organizations.values()):
        draft.get_organization(organization).collections[id] = {"id": id}
        draft.assumed.append(f"the collection {id}")


def assume_team(draft: WorldDraft, organization: str, id: str) -> None:
    """Add a team that the organization does not have, and note it as assumed."""
    if id not in draft.get_organization(organization).teams:
        draft.get_organization(organization).teams[id] = {"id": id, "title": id}
        draft.assumed.append(f"the team {id}")


def assume_member(draft: WorldDraft, organization: str, id: str) -> None:
    """Add a member, unless the members of the organization were read completely."""
    owner = draft.get_organization(organization)
    if not owner.members_read:
        draft.add_member(owner, draft.add_user({"id": id}))


def assume_site(draft: WorldDraft, organization: str, id: str) -> None:
    """Add a site that the organization does not have, and note it as assumed."""
    if id not in draft.get_organization(organization).sites:
        draft.get_organization(organization).sites[id] = {"id": id}
        draft.assumed.append(f"the site {id}")


def assume_integration(draft: WorldDraft, organization: str, name: str) -> None:
    """Add an integration that no response showed, and list it as assumed.

    It is public and belongs to an invented organization, so any organization can install it.
    """
    del organization
    if name not in draft.published_integrations:
        publisher = draft.get_organization(FOREIGN_ORGANIZATION)
        draft.published_integrations[name] = {
            "name": name,
            "title": name,
            "visibility": "public",
            "owner": publisher.id,
        }
        draft.assumed.append(f"the integration {name}")


_ASSUME_BY_PATH = (
    (re.compile("/spaces/([^/{]+)"), assume_space),
    (re.compile("/collections/([^/{]+)"), assume_collection),
    (re.compile("/orgs/[^/]+/teams/([^/{]+)"), assume_team),
    (re.compile("/orgs/[^/]+/members/([^/{]+)"), assume_member),
    (re.compile("/orgs/[^/]+/sites/([^/{]+)"), assume_site),
    (re.compile("/integrations/([^/{]+)/installations"), assume_integration),
)
