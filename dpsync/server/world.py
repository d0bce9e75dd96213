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

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml

from .clock import stamp
from .documents import empty_document, stored_document
from .handlers import joining, openapi, saml, translations
from .jobs import KIND as JOB
from .jobs import job_on
from .navigation import GROUP, PLACE, SECTION
from .navigation import read as read_navigation
from .slugs import unique_slug
from .store import Record, Store

Json = dict[str, Any]

_PLACE = ("id", "parent", "position")
_EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
_PREFIX = {
    GROUP: "group",
    SECTION: "sect",
    PLACE: "place",
    "collection": "col",
    "organization": "org",
    saml.KIND: "saml",
    joining.INVITE: "invite",
    openapi.KIND: "spec",
}


def builtin() -> Json:
    """The world that a fresh database starts with."""
    return _parse((files(__package__) / "world.yaml").read_text(encoding="utf-8"))


def read(path: Path) -> Json:
    return _parse(path.read_text(encoding="utf-8"))


def _parse(text: str) -> Json:
    world = yaml.load(text, Loader=yaml.CSafeLoader)
    if not isinstance(world, dict):
        raise ValueError("a world is a mapping with users, tokens and organizations")
    return world


def load(store: Store, world: Json) -> None:
    """Replaces the whole state by a world, in one transaction. ValueError or KeyError: not a world."""
    loading = _Loading()
    loading.world(world)
    with store.transaction():
        store.clear()
        store.put_all(loading.records)
        store.set_counters({**loading.counters, "seq": len(loading.records)})


def dump(store: Store) -> Json:
    """The state as a world: loading it gives the same answers, but for times of instructions and schemas."""
    users = [{"id": user.id, **user.doc} for user in _created(store, "user")]
    tokens = {token.id: token.ref for token in _created(store, "token")}
    organizations = [_dump_organization(store, found) for found in _created(store, "organization")]
    return {"users": users, "tokens": tokens, "organizations": organizations}


def _created(store: Store, *kinds: str, **where: str) -> list[Record]:
    found = [record for kind in kinds for record in store.find(kind, **where)]
    return sorted(found, key=lambda record: record.seq)


def _dump_organization(store: Store, found: Record) -> Json:
    of = {"organization": found.id}
    made: Json = {"id": found.id, **found.doc}
    made["members"] = [{"user": member.ref, **member.doc} for member in _created(store, "member", **of)]
    made["teams"] = [
        {
            "id": team.id,
            **team.doc,
            "members": [
                {"user": found.ref, **found.doc} for found in _created(store, "membership", scope=team.id)
            ],
        }
        for team in _created(store, "team", **of)
    ]
    made["collections"] = [_dump_placed(item) for item in _created(store, "collection", **of)]
    made["spaces"] = [_dump_placed(item) for item in _created(store, "space", "deleted-space", **of)]
    made["sites"] = [_dump_site(store, site) for site in _created(store, "site", **of)]
    if kept := store.get("agent-instructions", found.id):
        made["agentInstructions"] = kept.doc["instructions"]
    made["samlProviders"] = [
        {"id": found.id, **found.doc, **({"defaultTeam": found.ref} if found.ref else {})}
        for found in _created(store, saml.KIND, **of)
    ]
    made["linkInvites"] = [{"id": found.id, **found.doc} for found in _created(store, joining.INVITE, **of)]
    made["openapi"] = [_dump_spec(store, found) for found in _created(store, openapi.KIND, **of)]
    made["translations"] = [
        _dump_translation(store, found) for found in _created(store, translations.KIND, **of)
    ]
    return made


def _job(store: Store, found: Record) -> Json | None:
    return next((job.doc for job in store.find(JOB, ref=found.id, organization=found.organization)), None)


def _dump_spec(store: Store, found: Record) -> Json:
    """The source is with the work that is still to be done on it."""
    made = {"id": found.id, "slug": found.ref, **found.doc}
    if (job := _job(store, found)) is not None:
        made["source"] = job["source"]
    return made


def _dump_translation(store: Store, found: Record) -> Json:
    made = {"id": found.id, **found.doc}
    if _job(store, found) is not None:
        made["status"] = "running"
    if found.ref:
        made["result"] = found.ref
    return made


def _dump_placed(item: Record) -> Json:
    return {"id": item.id, "parent": item.parent or None, "position": item.position, **item.doc}


def _dump_site(store: Store, site: Record) -> Json:
    nav = read_navigation(store, site)

    def places(section: str) -> list[Json]:
        found = nav.places_in(section)
        return [{"type": "space", "id": place.id, "space": place.ref, **place.doc} for place in found]

    def nodes(parent: str) -> list[Json]:
        found = []
        for node in nav.children(parent):
            group = node.kind == GROUP
            children = nodes(node.id) if group else places(node.id)
            kind = "section-group" if group else "section"
            found.append({"type": kind, "id": node.id, **node.doc, "children": children})
        return found

    made: Json = {"id": site.id, **site.doc, "structure": nodes("") if nav.sectioned else places("")}
    if kept := store.get("adaptive-schema", site.id):
        made["adaptiveSchema"] = kept.doc["jsonSchema"]
    return made


class _Loading:
    """The records of a world, in the making."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.counters: dict[str, int] = {}
        self.taken: set[tuple[str, str]] = set()
        self.titles: dict[str, str] = {}

    def add(self, record: Record) -> Record:
        if (record.kind, record.id) in self.taken:
            raise ValueError(f"two of kind {record.kind} with the id {record.id!r}")
        self.taken.add((record.kind, record.id))
        record.seq = len(self.records) + 1
        self.records.append(record)
        return record

    def id(self, kind: str, given: Json) -> str:
        if given.get("id"):
            return str(given["id"])
        return self.next(kind, _PREFIX.get(kind, kind))

    def next(self, kind: str, prefix: str) -> str:
        self.counters[kind] = self.counters.get(kind, 0) + 1
        return f"{prefix}-{self.counters[kind]}"

    def free(self, kind: str, prefix: str) -> str:
        """An id that none of those loaded so far has."""
        while (id := self.next(kind, prefix)) and (kind, id) in self.taken:
            pass
        return id

    def then(self) -> str:
        """A time of creation: a minute later for each record."""
        return stamp(_EPOCH + timedelta(minutes=len(self.records)))

    def world(self, world: Json) -> None:
        for user in world.get("users") or []:
            self.add(Record("user", self.id("user", user), _but(user, "id")))
        for token, user in (world.get("tokens") or {}).items():
            self.add(Record("token", str(token), {}, ref=user))
        for organization in world.get("organizations") or []:
            self.organization(organization)
        for record in world.get("records") or []:
            self.record(Record(**record))

    def record(self, given: Record) -> None:
        """In place of the one of that id, whose place in orders it takes, or as one more."""
        for index, record in enumerate(self.records):
            if (record.kind, record.id) == (given.kind, given.id):
                given.seq, given.position = record.seq, record.position
                self.records[index] = given
                return
        self.add(given)

    def organization(self, given: Json) -> None:
        id = self.id("organization", given)
        parts = (
            "members", "teams", "collections", "spaces", "sites", "agentInstructions",
            "samlProviders", "linkInvites", "openapi", "translations",
        )  # fmt: skip
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
            "createdAt": self.then(),
            **_but(given, "id", *parts),
        }
        self.add(Record("organization", id, doc, id))
        for member in given.get("members") or []:
            self.member(id, member)
        for team in given.get("teams") or []:
            self.team(id, team)
        self.contents(id, given)
        for site in given.get("sites") or []:
            self.site(id, site)
        if instructions := given.get("agentInstructions"):
            first = next((member["user"] for member in given.get("members") or []), "")
            kept = {
                "instructions": stored_document(instructions),
                "updatedAt": self.then(),
                "updatedBy": first,
            }
            self.add(Record("agent-instructions", id, kept, id, id))
        for provider in given.get("samlProviders") or []:
            doc = {"label": "Untitled", "createdAt": self.then(), **_but(provider, "id", "defaultTeam")}
            team = provider.get("defaultTeam") or ""
            self.add(Record(saml.KIND, self.id(saml.KIND, provider), doc, id, id, ref=team))
        for invite in given.get("linkInvites") or []:
            doc = {"createdAt": self.then(), **_but(invite, "id")}
            target = invite.get("space") or invite.get("collection") or ""
            self.add(Record(joining.INVITE, self.id(joining.INVITE, invite), doc, id, id, ref=target))
        for spec in given.get("openapi") or []:
            self.spec(id, spec)
        for translation in given.get("translations") or []:
            self.translation(id, translation)

    def spec(self, organization: str, given: Json) -> None:
        source = given.get("source") or {"url": given.get("sourceURL")}
        doc = {
            "visibility": "private",
            "createdAt": self.then(),
            "updatedAt": self.then(),
            "processingState": "pending",
            "sourceURL": source.get("url"),
            **_but(given, "id", "slug", "source"),
        }
        id = self.id(openapi.KIND, given)
        spec = self.add(Record(openapi.KIND, id, doc, organization, organization, ref=given["slug"]))
        if last := doc.get("lastVersion"):
            self.add(Record(openapi.VERSION, last, {"createdAt": self.then()}, organization, id))
        if doc["processingState"] != "complete":
            version = self.free(openapi.VERSION, "version")
            self.add(job_on(spec, openapi.PROCESS, source=source, version=version))

    def translation(self, organization: str, given: Json) -> None:
        doc = {
            "status": "pending",
            "instructions": empty_document(),
            "stats": translations.NO_RUNS,
            "createdAt": self.then(),
            "updatedAt": self.then(),
            **_but(given, "id", "result"),
        }
        id, source = self.id(translations.KIND, given), given["source"]["space"]
        for space in filter(None, (source, given.get("result"))):
            if space not in self.titles and ("deleted-space", space) not in self.taken:
                raise ValueError(f"the translation {id!r} names the unknown space {space!r}")
        made = Record(
            translations.KIND, id, doc, organization, organization, source, ref=given.get("result") or ""
        )
        self.add(made)
        if doc["status"] == "running":
            self.add(job_on(made, translations.RUN, space=self.free("space", "space")))

    def member(self, organization: str, given: Json) -> None:
        user = given["user"]
        doc = {"role": None, "disabled": False, "joinedAt": self.then(), "sso": False, **_but(given, "user")}
        if doc["role"] == "guest":
            doc["role"] = None
        self.add(Record("member", f"{organization}:{user}", doc, organization, organization, ref=user))

    def team(self, organization: str, given: Json) -> None:
        id = self.id("team", given)
        doc = {"createdAt": self.then(), **_but(given, "id", "members")}
        self.add(Record("team", id, doc, organization, organization))
        for member in given.get("members") or []:
            user, role = member["user"], member.get("role") or "member"
            self.add(Record("membership", f"{id}:{user}", {"role": role}, organization, id, ref=user))

    def contents(self, organization: str, given: Json) -> None:
        """Collections and spaces: siblings in the order given, collections first."""
        last: dict[str, int] = {}
        for collection in given.get("collections") or []:
            doc = {"title": "Untitled", "defaultLevel": "inherit", **_but(collection, *_PLACE)}
            self.placed("collection", organization, collection, doc, last)
        for space in given.get("spaces") or []:
            doc = {
                "title": "Untitled",
                "editMode": "live",
                "defaultLevel": "inherit",
                "mergeRules": {"type": "inherit"},
                "createdAt": self.then(),
                "updatedAt": self.then(),
                **_but(space, *_PLACE),
            }
            self.placed("deleted-space" if doc.get("deletedAt") else "space", organization, space, doc, last)

    def placed(self, kind: str, organization: str, given: Json, doc: Json, last: dict[str, int]) -> None:
        parent = given.get("parent") or ""
        last[parent] = last.get(parent, 0) + 1
        position = given.get("position") or last[parent]
        id = self.id("space" if kind == "deleted-space" else kind, given)
        if kind == "space":
            self.titles[id] = doc["title"]
        self.add(Record(kind, id, doc, organization, organization, parent, position))

    def site(self, organization: str, given: Json) -> None:
        id = self.id("site", given)
        basenames = {
            record.doc["basename"]
            for record in self.records
            if record.kind == "site" and record.organization == organization
        }
        title = given.get("title") or "Untitled"
        doc = {
            "title": title,
            "type": "basic",
            "visibility": "public",
            "basename": given.get("basename") or unique_slug(title, basenames, "site"),
            "agentsContext": "included",
            "published": False,
            "createdAt": self.then(),
            **_but(given, "id", "structure", "adaptiveSchema"),
        }
        site = self.add(Record("site", id, doc, organization, organization))
        if schema := given.get("adaptiveSchema"):
            kept = {"jsonSchema": schema, "updatedAt": self.then()}
            self.add(Record("adaptive-schema", id, kept, organization, id))
        nodes = given.get("structure") or []
        if nodes and all(node["type"] == "space" for node in nodes):
            self.site_spaces(site, "", nodes)
        else:
            sections: list[Record] = []
            self.nodes(site, "", nodes, sections)
            _one_default(sections)

    def nodes(self, site: Record, parent: str, nodes: Iterable[Json], sections: list[Record]) -> None:
        for position, node in enumerate(nodes, 1):
            if node["type"] == "section-group":
                id = self.id(GROUP, node)
                doc = {"title": "Untitled", **_but(node, "id", "type", "children")}
                self.add(Record(GROUP, id, doc, site.organization, site.id, parent, position))
                self.nodes(site, id, node.get("children") or [], sections)
            elif node["type"] == "section":
                self.section(site, parent, position, node, sections)
            else:
                raise ValueError(f"a node of type {node['type']!r} beside sections and groups")

    def section(self, site: Record, parent: str, position: int, node: Json, sections: list[Record]) -> None:
        id = self.id(SECTION, node)
        title = node.get("title") or "Untitled"
        taken = {section.doc["path"] for section in sections}
        doc = {
            "title": title,
            "path": node.get("path") or unique_slug(title, taken, "section"),
            "default": False,
            **_but(node, "id", "type", "children"),
        }
        sections.append(self.add(Record(SECTION, id, doc, site.organization, site.id, parent, position)))
        self.site_spaces(site, id, node.get("children") or [])

    def site_spaces(self, site: Record, section: str, nodes: Iterable[Json]) -> None:
        made: list[Record] = []
        for position, node in enumerate(nodes, 1):
            space = node["space"]
            if space not in self.titles:
                raise ValueError(f"the site {site.id!r} shows the unknown space {space!r}")
            taken = {place.doc["path"] for place in made}
            doc = {
                "path": node.get("path") or unique_slug(self.titles[space], taken, "space"),
                "default": False,
                "hidden": False,
                **_but(node, "id", "type", "space"),
            }
            id = self.id(PLACE, node)
            made.append(
                self.add(Record(PLACE, id, doc, site.organization, site.id, section, position, space))
            )
        _one_default(made)


def _one_default(nodes: list[Record]) -> None:
    """Where none, or more than one, claims to be the default, the first (claiming) one is."""
    chosen = next((node for node in nodes if node.doc["default"]), nodes[0] if nodes else None)
    for node in nodes:
        node.doc["default"] = node is chosen


def _but(given: Json, *left_out: str) -> Json:
    return {key: value for key, value in given.items() if key not in left_out}
