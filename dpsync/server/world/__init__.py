"""Worlds: a whole platform as data, to start from.

A world is a mapping (YAML or JSON); every `id` may be left out and is then made:

    users: [{id, displayName, email, emailVerified, photoURL}]          # verified where nothing is said
    tokens: {TOKEN: user id}
    organizations:
      - id, title, hostname, emailDomains, defaultRole, mergeRules…     # fields as the API shows them
        members: [{user, role, joinedAt, lastSeenAt, sso, disabled}]    # role null or absent: a guest
        teams: [{id, title, members: [{user, role}]}]                   # role owner or member
        collections: [{id, title, description, defaultLevel, parent}]   # parent: a collection's id
        spaces: [{id, title, emoji, language, editMode, defaultLevel, mergeRules, parent, deletedAt}]
                                                                        # or deletedDaysAgo, before loading;
                                                                # content, changeRequests: see pages.py
        sites:
          - id, title, basename, type, visibility, published, agentsContext, adaptiveContent, proxy…
            adaptiveSchema: {…}                                         # a visitor schema
            redirects: [{id, source, destination, captureWildcard, permanent, draft}]
            customization: {…}                                          # what differs from the defaults
            shareLinks: [{id, name, active, token}]
            visitorAuth: {backend, fallbackURL, logoutURL, privateKey}
            structure:                                                  # only spaces, or sections and groups
              - {type: section-group, id, title, icon, children: […]}
              - type: section
                id, title, path, icon, description, condition, default
                children: [{type: space, id, space, path, condition, hidden, default, customization}]
              - {type: external-link, id, title, url, icon, description, condition}
        agentInstructions: {…}                                          # a Document
        samlProviders: [{id, label, entityID, certificate, ssoURL, defaultTeam, defaultRole}]
        linkInvites: [{id, role, createdBy}]                            # or level and space or collection
        openapi: [{id, slug, source: {url} or {text}, visibility, processingState, lastVersion…
                   versions: [{id, createdAt, sourceURL, text}]}]
        glossary: [{id, translations: {LANGUAGE: term}}]
        translations: [{id, source: {space, language}, language, instructions, status, result, stats}]
        comments:                                                       # a body is markdown, or {document}
          - id, space, changeRequest, page, node, tableCell, body, postedBy, postedAt, editedAt
            status, resolvedAt, resolvedBy                              # open where nothing is said
            reactions: [{emoji, user, reactedAt}]
            replies: [{id, body, postedBy, postedAt, editedAt, reactions}]
        clusters: [{id, label, topic, muted, createdAt, updatedAt}]
        conversations:                                                  # analysed unless they are processed
          - id, source, subject, impact, createdAt, processedAt, metadata: {url, attributes, createdAt}
            parts: [{role, body}]                                       # or texts, each said by a user
        issues: [{id, title, topic, text, impact, conversation, cluster, createdAt}]
        integrations:                                                   # published by this organization
          - {name, version, title, visibility, target, icon, previewImages, configurations, verified…}
        installations:                                                  # status paused, or none
          - id, integration, configuration, externalIds, space_selection, site_selection, status
            spaces: [{space, configuration, externalIds}]
            sites: [{site, configuration, externalIds}]
    records: [{kind, id, doc, organization…}]                           # anything else, as the store keeps it

Collections, spaces and sites may have `permissions: {users: {ID: role}, teams: {ID: role}}`.

A specification that is not said to be complete is processed after loading, a translation that is said to be
running is run; one that is pending waits until it is run. A conversation without `processedAt` is analysed.

Order in lists is order on the platform; at the top and in a collection, collections come before spaces,
unless both are given a `position`.
Paths and basenames that are left out are made as the service makes them, and the first of its kind is the
default where none says so.
"""

from datetime import datetime
from importlib.resources import files
from pathlib import Path

import yaml

from ..clock import utc_now
from ..store import Record, Store
from . import comments, content, conversations, integrations, people, settings, sites, work
from .loading import Json, Loading, Part, but, created

__all__ = ["Json", "builtin", "dump", "load", "read"]

_PARTS: tuple[Part, ...] = (
    *people.PARTS,
    *content.PARTS,
    *sites.PARTS,
    *settings.PARTS,
    *work.PARTS,
    *integrations.PARTS,
    *comments.PARTS,
    *conversations.PARTS,
)


def builtin() -> Json:
    """The world that a fresh database starts with."""
    return _parse((files(__package__) / "builtin.yaml").read_text(encoding="utf-8"))


def read(path: Path) -> Json:
    return _parse(path.read_text(encoding="utf-8"))


def _parse(text: str) -> Json:
    world = yaml.load(text, Loader=yaml.CSafeLoader)
    if not isinstance(world, dict):
        raise ValueError("a world is a mapping with users, tokens and organizations")
    return world


def complaint(error: Exception) -> str:
    """Why something is no world, from what reading or loading it has raised."""
    match error:
        case KeyError():
            return f"{error.args[0]!r} is missing, or names nothing that is there"
        case ValueError() | yaml.YAMLError():
            return " ".join(str(error).split())
    return "a value is of another type than a world has there"


def load(store: Store, world: Json, now: datetime | None = None) -> None:
    """Replaces the whole state by a world, in one transaction. ValueError or KeyError: not a world.

    `now` is the time on the platform, where it is not the real one.
    """
    loading = Loading(now or utc_now())
    _load(loading, world)
    with store.transaction():
        store.clear()
        store.put_all(loading.records)
        store.set_counters({**loading.counters, "seq": len(loading.records)})


def dump(store: Store) -> Json:
    """The state as a world: loading it gives the same answers, but for times of instructions and schemas."""
    users = [{"id": user.id, **user.doc} for user in created(store, "user")]
    tokens = {token.id: token.ref for token in created(store, "token")}
    organizations = [_dump_organization(store, found) for found in created(store, "organization")]
    return {"users": users, "tokens": tokens, "organizations": organizations}


def _dump_organization(store: Store, found: Record) -> Json:
    parts = {part.key: part.dump(store, found.id) for part in _PARTS}
    return {"id": found.id, **found.doc, **{key: value for key, value in parts.items() if value is not None}}


def _load(loading: Loading, world: Json) -> None:
    for user in world.get("users") or []:
        email = (user.get("email") or "").casefold()
        loading.add(Record("user", loading.id("user", user), but(user, "id"), ref=email))
    for token, user in (world.get("tokens") or {}).items():
        loading.add(Record("token", str(token), {}, ref=user))
    for organization in world.get("organizations") or []:
        _load_organization(loading, organization)
    for record in world.get("records") or []:
        loading.replace(Record(**record))


def _load_organization(loading: Loading, given: Json) -> None:
    id = loading.id("organization", given)
    doc = {
        "title": id,
        "emailDomains": [],
        "type": "business",
        "plan": "pro_2024",
        "inviteLinks": True,
        "mergeRules": {"type": "rules", "rules": []},
        "trial": {"status": "none", "count": 0},
        "defaultRole": None,
        "defaultContent": None,
        "createdAt": loading.then(),
        **but(given, "id", *(part.key for part in _PARTS)),
    }
    loading.add(Record("organization", id, doc, id))
    for part in _PARTS:
        if given.get(part.key):
            part.load(loading, id, given[part.key])
