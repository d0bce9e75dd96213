"""Convert recorded responses to a world: the data that a local server loads, with the same objects and ids.

`make_world` makes the world of a rehearsal, and `world_file` the file of a saved copy (docs/companion.md). A
world has no secrets: no tokens of share links, keys or scripts. An object that the local server requires and
that was not read (the person of a role) has only its id, and is listed in `assumed`. A saved copy also
replaces free settings of integrations, texts that look like keys, and all secrets that dpsync knows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, Final

from msgspec import Struct, field
from msgspec.structs import replace

from dpsync.client.recording import RecordedAnswer
from dpsync.kinds.shared.integrations import CONNECTOR_PARTS
from dpsync.model.text import format_count
from dpsync.rehearse import response_table, responses
from dpsync.rehearse.anonymize import Anonymizer
from dpsync.rehearse.world_draft import (
    FOREIGN_ORGANIZATION,
    HIDDEN_TEXT,
    Json,
    OrganizationDraft,
    WorldDraft,
    assume_collection,
    assume_objects,
    without_members,
)

_ORDER_STEP = 2**32


class World(Struct):
    """The data that the companion loads, made from recorded responses.

    `assumed` has the objects that the companion requires and no response showed. `unknown` has the responses
    that a world cannot represent.
    """

    data: Json = field(default_factory=dict)
    assumed: list[str] = field(default_factory=list)
    unknown: list[RecordedAnswer] = field(default_factory=list)
    token: str = ""
    space_count: int = 0
    """The number of spaces. No page text is loaded."""
    script_count: int = 0
    """The number of published integrations. No script is loaded."""

    @property
    def space_count_text(self) -> str:
        """Return the number of spaces, as text for messages."""
        return format_count(self.space_count, "space")


def make_world(
    readings: Iterable[RecordedAnswer],
    token: str,
    not_as_administrator: Iterable[str] = (),
    required_paths: Iterable[tuple[str, str]] = (),
) -> World:
    """Convert recorded responses of GitBook to a world: the data that the local server starts with.

    Responses with short paths come first, because an object must exist before the objects in it.

    Args:
        token: the token of an administrator in the world.
        not_as_administrator: ids of people whom the plan changes, and who should not be this administrator.
        required_paths: paths of objects that must exist, each with the id of its organization.
    """
    draft = WorldDraft()
    for reading in sorted(readings, key=lambda answer: (answer.path.count("/"), answer.path, answer.filters)):
        response_table.convert_response(draft, reading)
    for organization, path in required_paths:
        assume_objects(draft, organization, path)
    return _world_of_draft(draft, token, frozenset(not_as_administrator))


def _world_of_draft(draft: WorldDraft, token: str, spared: frozenset[str]) -> World:
    """Return the world (the local server's data) of a draft to which all responses were added.

    First add the parts that needed all responses, such as roles and navigation lists. `spared` has ids of
    people who should not become the administrator whose token the rehearsal uses.
    """
    for site_key, lists in draft.navigation_lists.items():
        responses.join_navigation_lists(draft, lists, *site_key)
    for target, id, subject_list, items in draft.role_grants:
        responses.add_roles(draft, target, id, subject_list, items)
    for level, installation, items in draft.installation_places:
        responses.add_installation_places(draft, level, installation, items)
    responses.add_customizations(draft)
    responses.mark_styleguides(draft)
    responses.add_pages_to_spaces(draft)
    responses.keep_redirects_without_node(draft)
    caller = _administrator(draft, spared)
    data = {
        "users": [{"id": id, **fields} for id, fields in draft.users.items()],
        "tokens": {token: caller},
        "organizations": [
            _organization(draft, organization) for organization in draft.organizations.values()
        ],
        "records": draft.records,
    }
    space_count = sum(len(organization.spaces) for organization in draft.organizations.values())
    return World(data, draft.assumed, draft.unknown, token, space_count, len(draft.published_integrations))


def _administrator(draft: WorldDraft, spared: frozenset[str]) -> str:
    """Choose the administrator whose token the rehearsal uses, and return the person's id.

    This is the owner of the real token, or another administrator of all organizations, or a new person, who
    is added to the draft. People in `spared` (whom the plan changes) are chosen only if there is no other.
    """
    read = [organization for organization in draft.organizations.values() if organization.members_read]
    admins = [
        {user for user, member in organization.members.items()
         if member.get("role") == "admin" and not member.get("disabled")}
        for organization in read
    ]  # fmt: skip
    common_admins = set.intersection(*admins) if admins else set()
    candidates = sorted(common_admins - spared or common_admins)
    caller = draft.caller if draft.caller in candidates or not read else None
    chosen = caller or (candidates[0] if candidates else f"rehearsal-{len(draft.users)}")
    draft.users.setdefault(chosen, {"displayName": "the rehearsal"})
    for organization in draft.organizations.values():
        if organization.id != FOREIGN_ORGANIZATION and (not organization.members_read or not candidates):
            organization.members[chosen] = {
                **organization.members.get(chosen, {"user": chosen}),
                "role": "admin",
            }
    return chosen


def _organization(draft: WorldDraft, organization: OrganizationDraft) -> Json:
    """Return an organization and its objects as the local server loads them, without empty lists.

    Collections get positions before those of the spaces, as the server requires a position for both.
    """
    published = [item for item in draft.published_integrations.values() if item["owner"] == organization.id]
    data = {
        "id": organization.id,
        **organization.fields,
        "members": list(organization.members.values()),
        "teams": list(organization.teams.values()),
        "collections": list(organization.collections.values()),
        "spaces": _ordered_spaces(draft, organization),
        "sites": list(organization.sites.values()),
    }
    for index, collection in enumerate(data["collections"], 1):  # in their order, before the spaces
        collection["position"] = _ORDER_STEP * index
    data["integrations"] = [without_members(item, "owner") for item in published]
    data["installations"] = list(organization.installations.values())
    data |= organization.parts
    return {name: value for name, value in data.items() if value not in ([], {})}


def _ordered_spaces(draft: WorldDraft, organization: OrganizationDraft) -> list[Json]:
    """Return the spaces of an organization, each with a `position` that keeps the order on GitBook.

    Spaces come after all collections. A collection that contains a space but was not read is added.
    """
    positions = {space: index for order in draft.orders.values() for index, space in enumerate(order)}
    spaces = []
    for index, space in enumerate(organization.spaces.values()):
        if space.get("parent"):
            assume_collection(draft, organization.id, space["parent"])
        position = positions.get(space["id"], index)
        spaces.append({**space, "position": _ORDER_STEP * (len(organization.collections) + 1 + position)})
    return spaces


WORLD_FORMAT: Final = "dpsync.world/1"
_NON_SECRET_SETTINGS: Final = frozenset(
    name for name, part in CONNECTOR_PARTS.items() if not getattr(part, "secret", False)
)
"""The declared settings of a connection that are not secret."""
_SECRET_IN_QUERY: Final = re.compile(
    r"([?&;#][^=&#\s]*(?:key|token|secret|sig|auth|password|pwd|credential|code|session)[^=&#\s]*=)[^&#\s\"'<>]+",
    re.IGNORECASE,
)
_CREDENTIALS_IN_URL: Final = re.compile(r"(\b[a-z][a-z0-9+.-]*://)[^/?#\s@\"'<>]+@", re.IGNORECASE)
_SECRET_SHAPES: Final = re.compile(
    r"eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"  # a JSON web token
    r"|\b(?=[\w-]*\d)(?:ghp|gho|ghu|ghs|ghr|glpat|sk|pk|rk|xox[abposr]|gb_api|npm|pat|shpat|hf)[-_][A-Za-z0-9_-]{16,}"
    r"|\bgithub_pat_\w{20,}|\bAKIA[0-9A-Z]{16}\b|\bAIza[\w-]{30,}"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)"
)
_OPAQUE_PATH_SEGMENT: Final = re.compile(r"(?<=/)(?=[^/?#]*\d)(?=[^/?#]*[A-Za-z])[\w.~-]{16,}(?=[/?#]|$)")
"""A segment of a path that may be a key: addresses of MCP servers have such."""


class SavedFrom(Struct, frozen=True):
    """Where a saved copy comes from. `read_at` is in UTC, to the second: `2026-01-31T09:30:00Z`."""

    platform: str
    read_at: str
    profile: str
    not_read: tuple[str, ...] = ()
    """The requested paths that are not in the world: refused, or in a form that a world cannot have."""


def world_file(
    world: World, origin: SavedFrom, mask: Callable[[str], str], *, anonymous: bool = False
) -> Json:
    """Return the content of the file of a saved copy, from which a user can start the local server.

    Secrets are replaced: `mask` replaces the ones that dpsync knows, other ones are recognized by their form.
    With `anonymous`, people, domains and URLs are replaced too.
    """
    caller = next(iter(world.data["tokens"].values()))
    data = {name: value for name, value in world.data.items() if name != "tokens"}
    public_data = without_secrets(data, mask)
    if anonymous:
        anonymizer = Anonymizer(public_data, caller)
        public_data, caller = anonymizer.world(), anonymizer.caller
        origin = replace(origin, platform=anonymizer.platform(origin.platform))
    # The companion accepts only short paths in visible ASCII.
    not_read = {re.sub(r"[^!-~]", "?", mask(path))[:500] for path in origin.not_read}
    origin_data: Json = {
        "platform": origin.platform,
        "readAt": origin.read_at,
        "profile": origin.profile,
        "anonymous": anonymous,
        "caller": caller,
        "notRead": [] if anonymous else sorted(not_read),
    }
    return {"format": WORLD_FORMAT, "origin": origin_data, **public_data}


def without_secrets(data: Any, mask: Callable[[str], str]) -> Any:
    """Return data for the local server with each text replaced that is or looks like a secret."""
    return _SecretRemover(mask).hide_in_value(data, ())


class _SecretRemover(Struct, frozen=True):
    """Replaces secrets in the data of a world: known ones, and texts that look like secrets."""

    mask: Callable[[str], str]

    def hide_in_value(self, data: Any, path: tuple[str, ...]) -> Any:
        """Return a JSON value without secrets, at any depth. `path` has the members that lead to the value.

        In free settings of integrations every text and number is replaced, since each may be a secret.
        """
        if isinstance(data, dict):
            return {
                self.hide_in_text(name, ()): self.hide_in_value(item, (*path, name))
                for name, item in data.items()
            }
        if isinstance(data, list):
            return [self.hide_in_value(item, path) for item in data]
        if _is_undeclared_setting(path):
            if isinstance(data, str):
                return HIDDEN_TEXT if data else ""
            return 0 if isinstance(data, int | float) and not isinstance(data, bool) else data
        return self.hide_in_text(data, path) if isinstance(data, str) else data

    def hide_in_text(self, text: str, path: tuple[str, ...]) -> str:
        """Replace secrets in a text: known secrets, keys, credentials and query values in URLs.

        In URLs of MCP servers (`path` contains "mcpServers"), path segments that may be keys also count.
        """
        hidden = self.mask(text)
        hidden = _SECRET_SHAPES.sub(
            HIDDEN_TEXT,
            _SECRET_IN_QUERY.sub(rf"\1{_HIDDEN_URL_PART}", _CREDENTIALS_IN_URL.sub(r"\1", hidden)),
        )
        return _OPAQUE_PATH_SEGMENT.sub(_HIDDEN_URL_PART, hidden) if "mcpServers" in path else hidden


_HIDDEN_URL_PART: Final = "hidden"


def _is_undeclared_setting(path: Iterable[str]) -> bool:
    """Return whether a JSON path leads into free settings of an integration, which may be secret.

    These are the configuration of an installation, and the settings of a connection that dpsync does not
    declare as non-secret.
    """
    if "setupSettings" in path and "contextConnections" in path:
        return not _NON_SECRET_SETTINGS.intersection(path)
    return "installations" in path and "configuration" in path
