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
        sites:
          - id, title, basename, type, visibility, published, agentsContext, adaptiveContent, proxy…
            adaptiveSchema: {…}                                         # a visitor schema
            structure:                                                  # only spaces, or sections and groups
              - {type: section-group, id, title, icon, children: […]}
              - type: section
                id, title, path, icon, description, condition, default
                children: [{type: space, id, space, path, condition, hidden, default}]
        agentInstructions: {…}                                          # a Document
        samlProviders: [{id, label, entityID, certificate, ssoURL, defaultTeam, defaultRole}]
        linkInvites: [{id, role, createdBy}]                            # or level and space or collection
        openapi: [{id, slug, source: {url} or {text}, visibility, processingState, lastVersion…}]
        translations: [{id, source: {space, language}, language, instructions, status, result, stats}]
    records: [{kind, id, doc, organization…}]                           # anything else, as the store keeps it

A specification that is not said to be complete is processed after loading, a translation that is said to be
running is run; one that is pending waits until it is run.

Order in lists is order on the platform; at the top and in a collection, collections come before spaces,
unless both are given a `position`.
Paths and basenames that are left out are made as the service makes them, and the first of its kind is the
default where none says so.
"""

from importlib.resources import files
from pathlib import Path

import yaml

from ..store import Record, Store
from . import content, people, settings, sites, work
from .loading import Json, Loading, Part, but, created

__all__ = ["Json", "builtin", "dump", "load", "read"]

_PARTS: tuple[Part, ...] = (
    *people.PARTS,
    *content.PARTS,
    *sites.PARTS,
    *settings.PARTS,
    *work.PARTS,
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


def load(store: Store, world: Json) -> None:
    """Replaces the whole state by a world, in one transaction. ValueError or KeyError: not a world."""
    loading = Loading()
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
        loading.add(Record("user", loading.id("user", user), but(user, "id")))
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
