"""From the answers that a plan was made from to a world of the companion: the same things under the same ids.

A world is what the companion loads (docs/companion.md). Everything in it is from an answer. Where the
companion cannot hold one thing without another that was not read (the person behind a role, the space behind
a translation), that other one is made with nothing but its id, and named among what was `assumed`.

The way of each answer into the world is one row of `_ROWS`, by its path. Nothing secret is loaded: tokens of
share links, keys and scripts are in no row.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import unquote

from msgspec import Struct, field

from dpsync.client.recording import RecordedAnswer
from dpsync.model.texts.words import counted

Json = dict[str, Any]

_COMPUTED = ("object", "urls", "permissions")
"""What the companion works out by itself for every answer."""
_STEP = 2**32
HIDDEN = "hidden in a rehearsal"
"""Stands for what is secret and is read back."""
_KEYS = re.compile("key|token|secret|password|credential", re.IGNORECASE)
"""Members of settings whose texts are secret."""
_ELSEWHERE = "elsewhere"
"""An organization of nobody here: it has published what is installed and was not read."""
_ROLES_BY = {"users": "user", "teams": "team"}


class World(Struct):
    """`data` is what the companion loads.

    `assumed` are the things that it must have and that no answer showed, `unknown` the paths whose answers no
    world can hold.
    """

    data: Json = field(default_factory=dict)
    assumed: list[str] = field(default_factory=list)
    unknown: list[RecordedAnswer] = field(default_factory=list)
    token: str = ""
    spaces: int = 0
    """How many spaces there are: none of their pages is loaded."""
    scripts: int = 0
    """How many published integrations there are: none of their scripts is loaded."""

    @property
    def holders(self) -> str:
        """What holds pages, counted in words."""
        return counted(self.spaces, "space")


def world_of(
    readings: Iterable[RecordedAnswer],
    token: str,
    spared: Iterable[str] = (),
    named: Iterable[tuple[str, str]] = (),
) -> World:
    """The world of the answers. `token` is that of an administrator in it, preferably none of `spared`.

    `named` are the paths of things that must be there, each with the id of its organization.
    """
    builder = _Builder()
    for reading in sorted(readings, key=lambda one: (one.path.count("/"), one.path, one.filters)):
        builder.take(reading)
    for organization, path in named:
        builder.assume(organization, path)
    return builder.world(token, frozenset(spared))


class _Organization:
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


class _Builder:
    """A world while its answers are taken, those of short paths before those below them."""

    def __init__(self) -> None:
        self.organizations: dict[str, _Organization] = {}
        self.users: dict[str, Json] = {}
        self.caller: str | None = None
        self.assumed: list[str] = []
        self.unknown: list[RecordedAnswer] = []
        self.orders: dict[str, list[str]] = {}
        """By collection the ids of its spaces in their order."""
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

    def take(self, reading: RecordedAnswer) -> None:
        """One answer. What was refused or is not there is nothing to load."""
        if reading.status != 200:
            return
        for pattern, filters, row in _ROWS:
            found = pattern.fullmatch(reading.path)
            if found is not None and {name for name, _ in reading.filters} == filters:
                row(self, reading.content, *map(unquote, found.groups()))
                return
        if not _DERIVED.fullmatch(reading.path):
            self.unknown.append(reading)

    def organization(self, id: str) -> _Organization:
        return self.organizations.setdefault(id, _Organization(id))

    def user(self, given: Json) -> str:
        """Note somebody; their id."""
        id = str(given["id"])
        self.users.setdefault(id, {}).update(_without(given, "id", *_COMPUTED))
        return id

    # --- rows: organizations and people -------------------------------------------------------------

    def take_organizations(self, items: list[Json]) -> None:
        for item in items:
            self.take_organization(item, str(item["id"]))

    def take_organization(self, body: Json, id: str) -> None:
        fields = _without(body, "id", *_COMPUTED)
        if logo := (body.get("urls") or {}).get("logo"):
            fields["logo"] = logo
        self.organization(id).fields = fields

    def take_caller(self, body: Json) -> None:
        self.caller = self.user(body)

    def take_members(self, items: list[Json], organization: str) -> None:
        owner = self.organization(organization)
        owner.members_read = True
        for item in items:
            user = self.user(item["user"])
            kept = ("role", "disabled", "joinedAt", "sso", "lastSeenAt")
            owner.members[user] = {"user": user, **{name: item[name] for name in kept if name in item}}

    def take_teams(self, items: list[Json], organization: str) -> None:
        owner = self.organization(organization)
        owner.teams = {item["id"]: _only(item, "id", "title", "createdAt") for item in items}

    def take_team(self, items: list[Json], organization: str, team: str) -> None:
        owner = self.organization(organization)
        people = []
        for item in items:
            user = self.user(item["organization"]["user"])
            people.append({"user": user, "role": (item.get("team") or {}).get("role")})
            self.belongs(owner, user)
        owner.teams.setdefault(team, {"id": team})["members"] = people

    def belongs(self, owner: _Organization, user: str) -> None:
        """Somebody who has a role in an organization is a member, whether its members were read or not."""
        if user not in owner.members:
            owner.members[user] = {"user": user}
            self.assumed.append(f"the role of {self.called(user)} in the organization {owner.id}")

    def called(self, user: str) -> str:
        return str(self.users.get(user, {}).get("email") or user)

    def take_part(self, name: str, content: Any, organization: str) -> None:
        self.organization(organization).parts[name] = content

    def take_saml(self, items: list[Json], organization: str) -> None:
        made = []
        for item in items:
            one = _without(item, "status", "service", "defaultTeam", *_COMPUTED)
            if team := (item.get("defaultTeam") or {}).get("id"):
                one["defaultTeam"] = team
                self.organization(organization).teams.setdefault(
                    team, _only(item["defaultTeam"], "id", "title")
                )
            made.append(one)
        self.take_part("samlProviders", made, organization)

    def take_instructions(self, body: Json, organization: str) -> None:
        self.take_part("agentInstructions", body["instructions"], organization)

    def take_glossary(self, items: list[Json], organization: str) -> None:
        self.take_part("glossary", [_without(item, *_COMPUTED) for item in items], organization)

    # --- rows: what the platform makes ----------------------------------------------------------------

    def take_specifications(self, items: list[Json], organization: str) -> None:
        """As records of the companion: it would go to work on what is said to be pending otherwise."""
        for item in items:
            doc = _without(item, "id", "slug", "lastProcessedErrorCount", *_COMPUTED)
            self.record("openapi-spec", item["id"], doc, organization, organization, ref=item["slug"])
            if last := item.get("lastVersion"):
                made = {"createdAt": item.get("lastProcessedAt") or item["createdAt"]}
                self.record("openapi-version", last, made, organization, item["id"])
                self.versions[organization, item["slug"]] = made

    def take_text(self, text: Any, organization: str, slug: str) -> None:
        """That of the last version of a specification; the list is taken before it."""
        if (version := self.versions.get((organization, slug))) is not None:
            version["text"] = text

    def take_translations(self, items: list[Json], organization: str) -> None:
        for item in items:
            doc = _without(item, "id", "result", *_COMPUTED)
            source, result = item["source"]["space"], (item.get("result") or {}).get("space")
            for space in filter(None, (source, result)):
                self.space(organization, space)
            self.record("translation", item["id"], doc, organization, organization, source, ref=result or "")

    def record(
        self, kind: str, id: str, doc: Json, organization: str, scope: str, parent: str = "", ref: str = ""
    ) -> None:
        """As the companion keeps it, where what a world has for it would set work going."""
        self.records.append(
            {"kind": kind, "id": id, "doc": doc, "organization": organization, "scope": scope,
             "parent": parent, "ref": ref}
        )  # fmt: skip

    # --- rows: spaces and collections -----------------------------------------------------------------

    def take_collections(self, items: list[Json], organization: str) -> None:
        owner = self.organization(organization)
        owner.collections = {item["id"]: _without(item, "organization", *_COMPUTED) for item in items}

    def take_spaces(self, items: list[Json], organization: str) -> None:
        owner = self.organization(organization)
        alone, owner.spaces = owner.spaces, {}
        for item in items:
            self.take_space(item, item["id"], organization)
        owner.spaces = {**owner.spaces, **{id: one for id, one in alone.items() if id not in owner.spaces}}

    def take_space(self, body: Json, id: str, organization: str = "") -> None:
        owner = self.organization(organization or body["organization"])
        owner.spaces[id] = _without(body, *_OF_SPACES, *_COMPUTED)
        if icon := (body.get("urls") or {}).get("icon"):
            owner.spaces[id]["icon"] = icon

    def space(self, organization: str, id: str) -> None:
        """A space that something names, whether the spaces were read or not."""
        if id not in self.organization(organization).spaces:
            self.organization(organization).spaces[id] = {"id": id}
            self.assumed.append(f"the space {id}")

    def assume(self, organization: str, path: str) -> None:
        """Something that a step names, where no answer showed whether it is there."""
        for pattern, row in _ASSUMED:
            if (found := pattern.match(path)) is not None:
                row(self, organization, unquote(found[1]))
                return

    def assume_space(self, organization: str, id: str) -> None:
        if not any(id in one.spaces for one in self.organizations.values()):
            self.space(organization, id)

    def assume_collection(self, organization: str, id: str) -> None:
        if not any(id in one.collections for one in self.organizations.values()):
            self.organization(organization).collections[id] = {"id": id}
            self.assumed.append(f"the collection {id}")

    def assume_team(self, organization: str, id: str) -> None:
        if id not in self.organization(organization).teams:
            self.organization(organization).teams[id] = {"id": id, "title": id}
            self.assumed.append(f"the team {id}")

    def assume_member(self, organization: str, id: str) -> None:
        owner = self.organization(organization)
        if not owner.members_read:
            self.belongs(owner, self.user({"id": id}))

    def assume_site(self, organization: str, id: str) -> None:
        if id not in self.organization(organization).sites:
            self.organization(organization).sites[id] = {"id": id}
            self.assumed.append(f"the site {id}")

    def assume_integration(self, organization: str, name: str) -> None:
        """Published by somebody else, for everybody."""
        if name not in self.published:
            maker = self.organization(_ELSEWHERE)
            self.published[name] = {"name": name, "title": name, "visibility": "public", "owner": maker.id}
            self.assumed.append(f"the integration {name}")

    def take_order(self, items: list[Json], collection: str) -> None:
        self.orders[collection] = [item["id"] for item in items]

    def take_grants(self, items: list[Json], below: str, id: str, to: str) -> None:
        self.grants.append((below.rpartition("/")[2], id, to, items))

    # --- rows: sites ----------------------------------------------------------------------------------

    def take_sites(self, items: list[Json], organization: str) -> None:
        for item in items:
            self.take_site(item, organization, item["id"])

    def take_site(self, body: Json, organization: str, id: str) -> None:
        made = _without(body, *_OF_SITES, *_COMPUTED)
        if origin := (body.get("proxy") or {}).get("origin"):
            made["proxy"] = origin
        if guide := (body.get("styleguide") or {}).get("space"):
            made["styleguide"] = guide
            self.styleguides.append((organization, guide))
        self.site(organization, id).update(made)

    def site(self, organization: str, id: str) -> Json:
        return self.organization(organization).sites.setdefault(id, {"id": id})

    def take_structure(self, body: Json, organization: str, site: str) -> None:
        made = [self.node(node, organization) for node in body["structure"]]
        self.site(organization, site)["structure"] = made

    def take_nodes(self, items: list[Json], organization: str, site: str, which: str) -> None:
        self.lists[organization, site][which] = items

    def node(self, given: Json, organization: str) -> Json:
        kind = _NODES[given["object"]]
        made = {"type": kind, **_without(given, *_OF_NODES, *_COMPUTED)}
        if kind == "space":
            space = given["space"]
            if space["id"] not in self.organization(organization).spaces:
                self.take_space(space, space["id"], organization)
            made["space"] = space["id"]
            if given.get("title") == space.get("title"):
                made.pop("title", None)
        elif kind in _HOLDING:
            below = given.get("children") or given.get("siteSpaces") or ()
            made["children"] = [self.node(child, organization) for child in below]
        return made

    def take_looks(self, body: Json, organization: str, site: str) -> None:
        self.site(organization, site)["customization"] = body

    def take_own_looks(self, body: Json, organization: str, site: str, place: str) -> None:
        self.looks[place] = body

    def take_whole_looks(self, body: Json, organization: str, site: str, place: str) -> None:
        """What holds for a site space, whatever it is of: its own is what is not that of the site."""
        self.looks[place] = _beside(body, self.site(organization, site).get("customization", {}))

    def take_redirects(self, items: list[Json], organization: str, site: str) -> None:
        self.site(organization, site)["redirects"] = [_without(item, *_COMPUTED) for item in items]

    def take_share_links(self, items: list[Json], organization: str, site: str) -> None:
        """Their tokens are in their URLs, which are left out: the companion makes others."""
        self.site(organization, site)["shareLinks"] = [_without(item, *_COMPUTED) for item in items]

    def take_access(self, body: Json, organization: str, site: str) -> None:
        self.site(organization, site)["visitorAuth"] = _without(body, "privateKey", *_COMPUTED)

    def take_claims(self, body: Json, organization: str, site: str) -> None:
        self.site(organization, site)["adaptiveSchema"] = body["jsonSchema"]

    def take_agent_settings(self, body: Json, organization: str, site: str) -> None:
        kept = _without(body, "updatedAt", "updatedBy", *_COMPUTED)
        self.site(organization, site)["agentSettings"] = kept

    def take_mcp_servers(self, items: list[Json], organization: str, site: str) -> None:
        """With the names of their headers. The values may be secret, and others stand for them."""
        made = [_without(item, *_COMPUTED) for item in items]
        for one in made:
            if isinstance(one.get("headers"), dict):
                one["headers"] = dict.fromkeys(one["headers"], HIDDEN)
        self.site(organization, site)["mcpServers"] = made

    def take_channels(self, items: list[Json], organization: str, site: str) -> None:
        self.site(organization, site)["channels"] = [_without(item, "answers", *_COMPUTED) for item in items]

    def take_connections(self, items: list[Json], organization: str, site: str) -> None:
        """Their settings hold keys and tokens: every one of these is another text here."""
        made = [_without(item, "email", *_COMPUTED) for item in items]
        for one in made:
            if "setupSettings" in one:
                one["setupSettings"] = _without_keys(one["setupSettings"])
        self.site(organization, site)["contextConnections"] = made

    def take_topics(self, items: list[Json], organization: str, site: str) -> None:
        """Those around others first: a world names a topic that it has already."""
        around = sorted(items, key=lambda item: "parent" in item)
        self.site(organization, site)["topics"] = [
            {**_without(item, "parent", *_COMPUTED), **_parent_of(item)} for item in around
        ]

    # --- rows: integrations ---------------------------------------------------------------------------

    def take_installations(self, items: list[Json], organization: str) -> None:
        for item in items:
            self.publish(item["integration"])
            own, name = item["installation"], item["integration"]["name"]
            made = _without(own, "status", "spaces", "sites", "target", *_COMPUTED)
            if own.get("status") == "paused":
                made["status"] = "paused"
            self.organization(organization).installations[own["id"]] = {**made, "integration": name}

    def take_placed(self, items: list[Json], _: str, installation: str, level: str) -> None:
        self.placed.append((level, installation, items))

    def take_integrations(self, items: list[Json]) -> None:
        for item in items:
            self.publish(item)

    def publish(self, given: Json) -> None:
        """An integration under its owner. What it looks like and what it does is in no answer."""
        owner = given["owner"]
        known = self.organization(str(owner["id"]))
        if not known.fields:
            known.fields = _without(owner, "id", *_COMPUTED)
        made = _without(given, "owner", "icon", "previewImages", *_COMPUTED)
        self.published[given["name"]] = {**made, "owner": owner["id"]}

    # --- the end --------------------------------------------------------------------------------------

    def world(self, token: str, spared: frozenset[str]) -> World:
        for at, lists in self.lists.items():
            self.by_lists(lists, *at)
        for target, id, to, items in self.grants:
            self.give(target, id, to, items)
        for level, installation, items in self.placed:
            self.put_on(level, installation, items)
        self.dress()
        for organization, guide in self.styleguides:
            self.space(organization, guide)
            self.organization(organization).spaces[guide]["type"] = "styleguide"
        self.keep_loose_redirects()
        caller = self.administrator(spared)
        data = {
            "users": [{"id": id, **fields} for id, fields in self.users.items()],
            "tokens": {token: caller},
            "organizations": [self.said(one) for one in self.organizations.values()],
            "records": self.records,
        }
        spaces = sum(len(one.spaces) for one in self.organizations.values())
        return World(data, self.assumed, self.unknown, token, spaces, len(self.published))

    def administrator(self, spared: frozenset[str]) -> str:
        """Somebody who may do everything: whose token it is, else another admin, else nobody who exists."""
        read = [one for one in self.organizations.values() if one.members_read]
        admins = [
            {user for user, member in one.members.items()
             if member.get("role") == "admin" and not member.get("disabled")}
            for one in read
        ]  # fmt: skip
        every = set.intersection(*admins) if admins else set()
        among = sorted(every - spared or every)
        caller = self.caller if self.caller in among or not read else None
        chosen = caller or (among[0] if among else f"rehearsal-{len(self.users)}")
        self.users.setdefault(chosen, {"displayName": "the rehearsal"})
        for one in self.organizations.values():
            if one.id != _ELSEWHERE and (not one.members_read or not among):
                one.members[chosen] = {**one.members.get(chosen, {"user": chosen}), "role": "admin"}
        return chosen

    def said(self, one: _Organization) -> Json:
        """One organization as a world has it."""
        published = [item for item in self.published.values() if item["owner"] == one.id]
        made = {
            "id": one.id,
            **one.fields,
            "members": list(one.members.values()),
            "teams": list(one.teams.values()),
            "collections": list(one.collections.values()),
            "spaces": self.in_order(one),
            "sites": list(one.sites.values()),
            "integrations": [_without(item, "owner") for item in published],
            "installations": list(one.installations.values()),
            **one.parts,
        }
        _place(made["collections"])
        return {name: value for name, value in made.items() if value not in ([], {})}

    def in_order(self, one: _Organization) -> list[Json]:
        """The spaces as they were listed; where each stands in its collection is a position."""
        at = {space: index for order in self.orders.values() for index, space in enumerate(order)}
        found = []
        for index, space in enumerate(one.spaces.values()):
            if space.get("parent"):
                self.assume_collection(one.id, space["parent"])
            position = at.get(space["id"], index)
            found.append({**space, "position": _STEP * (len(one.collections) + 1 + position)})
        return found

    def by_lists(self, lists: dict[str, list[Json]], organization: str, site: str) -> None:
        """The navigation of a site that was read by its lists."""
        spaces: dict[str, list[Json]] = defaultdict(list)
        for place in lists.get("site-spaces", ()):
            spaces[place.get("section") or ""].append(self.node(place, organization))
        inside: dict[str, list[Json]] = defaultdict(list)
        for which in ("section-groups", "sections"):
            for item in lists.get(which, ()):
                node = self.node({**item, "children": (), "siteSpaces": ()}, organization)
                node["children"] = inside[item["id"]] if which == "section-groups" else spaces[item["id"]]
                inside[item.get("sectionGroup") or ""].append(node)
        self.site(organization, site)["structure"] = inside[""] or spaces[""]

    def give(self, target: str, id: str, to: str, items: list[Json]) -> None:
        """Roles on a collection, a space or a site."""
        for one in self.organizations.values():
            found = getattr(one, target).get(id)
            if found is None:
                continue
            roles: Json = {}
            for item in items:
                who = item[_ROLES_BY[to]]
                roles[who["id"]] = item["permission"]
                if to == "users":
                    self.belongs(one, self.user(who))
                else:
                    one.teams.setdefault(who["id"], _only(who, "id", "title", "createdAt"))
            found.setdefault("permissions", {})[to] = roles

    def put_on(self, level: str, installation: str, items: list[Json]) -> None:
        """Where an installation is at work."""
        word = level.removesuffix("s")
        for one in self.organizations.values():
            found = one.installations.get(installation)
            for item in items if found is not None else ():
                target = item[word] if isinstance(item[word], str) else item[word]["id"]
                if word == "space":
                    self.space(one.id, target)
                else:
                    self.assume_site(one.id, target)
                made = {word: target, **_only(item, "configuration", "externalIds")}
                assert found is not None
                found.setdefault(level, []).append(made)

    def dress(self) -> None:
        """The looks of single site spaces, each at its node."""
        for one in self.organizations.values():
            for site in one.sites.values():
                for node in _each(site.get("structure", ())):
                    if own := self.looks.get(node["id"]):
                        node["customization"] = own

    def keep_loose_redirects(self) -> None:
        """A redirect into a navigation that was not read is kept as a record: a world would refuse it."""
        for one in self.organizations.values():
            for site in one.sites.values():
                known = {node["id"] for node in _each(site.get("structure", ()))}
                there = []
                for redirect in site.get("redirects", ()):
                    to = redirect["destination"]
                    node = to.get("siteSectionId") or to.get("siteSpaceId")
                    if node is None or node in known:
                        there.append(redirect)
                        continue
                    kind = "section" if to["kind"] == "site-section" else "site-space"
                    doc = _without(redirect, "id", "source")
                    self.record("redirect", redirect["id"], doc, one.id, site["id"], f"{kind}:{node}",
                                ref=redirect["source"])  # fmt: skip
                    self.assumed.append(f"where the redirect {redirect['source']} of {site['id']} leads")
                if "redirects" in site:
                    site["redirects"] = there


def _each(nodes: Iterable[Json]) -> Iterable[Json]:
    for node in nodes:
        yield node
        yield from _each(node.get("children", ()))


def _beside(above: Json, below: Json) -> Json:
    """What of the looks above is not what is below anyway."""
    made = {}
    for name, value in above.items():
        if isinstance(value, dict) and isinstance(below.get(name), dict):
            value = _beside(value, below[name])
            if not value:
                continue
        elif value == below.get(name):
            continue
        made[name] = value
    return made


def _place(collections: list[Json]) -> None:
    """The collections in their order, before the spaces."""
    for index, one in enumerate(collections, 1):
        one["position"] = _STEP * index


def _without(given: Json, *left_out: str) -> Json:
    return {name: value for name, value in given.items() if name not in left_out}


def _only(given: Json, *kept: str) -> Json:
    return {name: given[name] for name in kept if name in given}


_NODES = {
    "site-section-group": "section-group",
    "site-section": "section",
    "site-external-link": "external-link",
    "site-space": "space",
}
_HOLDING = ("section-group", "section")
_OF_NODES = ("siteSpaces", "children", "sections", "sectionGroup", "section", "space",
             "hasAdvancedCustomizationFeature")  # fmt: skip
_OF_SPACES = ("visibility", "organization", "revision", "comments", "changeRequests", "changeRequestsOpen",
              "changeRequestsDraft")  # fmt: skip
_OF_SITES = ("siteSpaces", "features", "appliedType", "proxy", "styleguide")


def _without_keys(settings: Any) -> Any:
    """Settings with another text in place of each that is secret, at any depth."""
    if isinstance(settings, list):
        return [_without_keys(one) for one in settings]
    if not isinstance(settings, dict):
        return settings
    return {
        name: HIDDEN if _KEYS.search(name) and isinstance(value, str) else _without_keys(value)
        for name, value in settings.items()
    }


def _parent_of(topic: Json) -> Json:
    """The topic around one, as a world names it."""
    return {"parent": topic["parent"]["id"]} if topic.get("parent") else {}


_ORG, _SITE = "/orgs/([^/]+)", "/orgs/([^/]+)/sites/([^/]+)"
Row = Callable[..., None]


def _row(path: str, row: Row, *filters: str) -> tuple[re.Pattern[str], set[str], Row]:
    return re.compile(path), set(filters), row


_ROWS = (
    _row("/user", _Builder.take_caller),
    _row("/orgs", _Builder.take_organizations),
    _row(_ORG, _Builder.take_organization),
    _row(f"{_ORG}/members", _Builder.take_members),
    _row(f"{_ORG}/teams", _Builder.take_teams),
    _row(f"{_ORG}/teams/([^/]+)/members", _Builder.take_team),
    _row(f"{_ORG}/saml", _Builder.take_saml),
    _row(f"{_ORG}/agent-instructions", _Builder.take_instructions),
    _row(f"{_ORG}/translations-glossary", _Builder.take_glossary),
    _row(f"{_ORG}/openapi", _Builder.take_specifications),
    _row(f"{_ORG}/openapi/([^/]+)/versions/latest/content/raw", _Builder.take_text),
    _row(f"{_ORG}/translations", _Builder.take_translations),
    _row(f"{_ORG}/collections", _Builder.take_collections),
    _row(f"{_ORG}/spaces", _Builder.take_spaces),
    _row("/spaces/([^/]+)", _Builder.take_space),
    _row("/collections/([^/]+)/spaces", _Builder.take_order),
    _row("/(collections|spaces|orgs/[^/]+/sites)/([^/]+)/permissions/(users|teams)", _Builder.take_grants),
    _row(f"{_ORG}/sites", _Builder.take_sites),
    _row(_SITE, _Builder.take_site),
    _row(f"{_SITE}/structure", _Builder.take_structure),
    _row(f"{_SITE}/(section-groups|sections|site-spaces)", _Builder.take_nodes),
    _row(f"{_SITE}/customization", _Builder.take_looks),
    _row(f"{_SITE}/site-spaces/([^/]+)/customization", _Builder.take_own_looks),
    _row(f"{_SITE}/customization", _Builder.take_looks, "unmasked"),
    _row(f"{_SITE}/site-spaces/([^/]+)/customization", _Builder.take_whole_looks, "unmasked"),
    _row(f"{_SITE}/agent-settings", _Builder.take_agent_settings),
    _row(f"{_SITE}/mcp-servers", _Builder.take_mcp_servers),
    _row(f"{_SITE}/channels", _Builder.take_channels),
    _row(f"{_SITE}/context-connections", _Builder.take_connections),
    _row(f"{_SITE}/redirects", _Builder.take_redirects),
    _row(f"{_SITE}/share-links", _Builder.take_share_links),
    _row(f"{_SITE}/publishing/auth", _Builder.take_access),
    _row(f"{_SITE}/adaptive-schema", _Builder.take_claims),
    _row(f"{_SITE}/topics", _Builder.take_topics),
    _row(f"{_ORG}/installations", _Builder.take_installations),
    _row("/integrations", _Builder.take_integrations, "owner"),
    _row("/integrations/([^/]+)/installations/([^/]+)/(spaces|sites)", _Builder.take_placed),
)  # fmt: skip
_ASSUMED = (
    (re.compile("/spaces/([^/{]+)"), _Builder.assume_space),
    (re.compile("/collections/([^/{]+)"), _Builder.assume_collection),
    (re.compile("/orgs/[^/]+/teams/([^/{]+)"), _Builder.assume_team),
    (re.compile("/orgs/[^/]+/members/([^/{]+)"), _Builder.assume_member),
    (re.compile("/orgs/[^/]+/sites/([^/{]+)"), _Builder.assume_site),
    (re.compile("/integrations/([^/{]+)/installations"), _Builder.assume_integration),
)
_DERIVED = re.compile(f"{_ORG}/sites")
"""Answers that follow from others: the sites that show a space."""
