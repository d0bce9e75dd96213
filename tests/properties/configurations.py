"""An organization as a configuration and as a world: what a person would write, and what the companion loads.

Entries whose first natural key has changed are pinned, as the design asks for; sometimes a later key is left
to find them. Fields that are as they are live may be left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from .mutations import Managed
from .organizations import CALLER, Collection, Draw, Fields, Node, Organization, Site, Thing

TOKEN = f"{CALLER}-token"
LIMITS = {"deletes": 100_000, "percent": 100_000}
CLEARABLE = {"description", "emoji", "proxy", "icon", "condition", "logo", "defaultContent"}


def email(user: str) -> str:
    return f"{user}@acme.example"


# --- as a world -------------------------------------------------------------------------------------


def world(organizations: Sequence[Organization]) -> Fields:
    users = sorted({user for org in organizations for user in org.members} | {CALLER})
    return {
        "users": [{"id": user, "displayName": user.upper(), "email": email(user)} for user in users],
        "tokens": {f"{user}-token": user for user in users},
        "organizations": [_live(org) for org in organizations],
    }


def _live(org: Organization) -> Fields:
    ids = {thing.key: thing.id for thing in (*org.collections, *org.spaces, *org.sites)}
    content = org.fields["defaultContent"]
    return {
        **{name: wire(value) for name, value in org.fields.items() if value is not None},
        "id": org.id,
        "hostname": org.id,
        "defaultContent": {"type": "site", "site": ids[content]} if content else None,
        "members": [
            {"user": user, "role": wire(role), "sso": user in org.sso} for user, role in org.members.items()
        ],
        "teams": [
            {
                "id": team.id,
                **team.fields,
                "members": [{"user": u, "role": role} for u, role in team.people.items()],
            }
            for team in org.teams
        ],
        "collections": [
            {"id": item.id, "parent": ids.get(item.parent), **_set(item.fields)} for item in org.collections
        ],
        "spaces": [
            {"id": item.id, "parent": ids.get(item.collection), **_set(item.fields)} for item in org.spaces
        ],
        "sites": [
            {
                "id": site.id,
                **_set(site.fields),
                "structure": [_live_node(node, ids) for node in site.structure],
            }
            | ({"adaptiveSchema": site.schema} if site.schema else {})
            for site in org.sites
        ],
    }


def _live_node(node: Node, ids: dict[str, str | None]) -> Fields:
    made: Fields = {"type": node.type, "id": node.id, **_set(node.fields)}
    if node.type == "space":
        return made | {"space": ids[node.shows]}
    return made | {"children": [_live_node(child, ids) for child in node.children]}


def _set(fields: Fields) -> Fields:
    return {name: wire(value) for name, value in fields.items() if value is not None}


def wire(value: Any) -> Any:
    return None if value == "guest" else value


# --- as a configuration -----------------------------------------------------------------------------


@dataclass
class Written:
    """Writes one organization's configuration. `explicit`: every field is declared, nothing left to luck."""

    draw: Draw
    live: Organization
    wanted: Organization
    managed: Managed
    explicit: bool = False
    ids: dict[str, str | None] = field(init=False)

    def __post_init__(self) -> None:
        self.ids = {
            item.key: item.id for item in (*self.wanted.collections, *self.wanted.spaces, *self.wanted.sites)
        }

    def configuration(self) -> Fields:
        org, parts = self.wanted, self.managed.parts
        found_by = "hostname" if self.draw.chance(0.2) else "id"
        made: Fields = {found_by: org.id, **self._organization()}
        if "members" in parts:
            made["members"] = {
                self._email(user): self._member(user, role) for user, role in org.members.items()
            }
        if "teams" in parts:
            made["teams"] = {team.key: self._team(team) for team in org.teams}
        if "collections" in parts:
            moved = any(item.id and self._was(item, "parent") != item.parent for item in org.collections)
            holders = (None, *(item.key for item in org.collections))
            ordering = {key for key in holders if self.explicit or self.draw.chance(0.6)}
            made["collections"] = {
                item.key: self._collection(item, moved, ordering) for item in org.collections
            }
            if None in ordering:
                made["collectionOrder"] = self._inside(None)
        if "spaces" in parts:
            made["spaces"] = {space.key: self._space(space) for space in org.spaces}
        if "sites" in parts:
            made["sites"] = {site.key: self._site(site) for site in org.sites}
        return made

    def _email(self, user: str) -> str:
        return email(user).upper() if self.draw.chance(0.1) else email(user)

    def _role(self, role: str) -> Any:
        return {"role": role} if self.draw.chance(0.3) else role

    def _member(self, user: str, role: str) -> Any:
        if user in self.wanted.sso and (user not in self.live.sso or not self._left_out()):
            return {"role": role, "sso": True}
        return self._role(role)

    def _was(self, thing: Thing, name: str) -> Any:
        """Return an attribute or field of the live thing with the same key, or None."""
        old = next(
            (
                other
                for other in (
                    *self.live.teams, *self.live.collections, *self.live.spaces, *self.live.sites,
                    *(node for site in self.live.sites for node in site.nodes()),
                )
                if other.key == thing.key
            ),
            None,
        )  # fmt: skip
        if old is None:
            return None
        return old.fields[name] if name in old.fields else getattr(old, name)

    def _left_out(self) -> bool:
        return not self.explicit and self.draw.chance(0.25)

    def _fields(self, thing: Thing, *always: str) -> Fields:
        """Return the declared fields: all that differ from the live ones, and most of the others."""
        made: Fields = {}
        for name, value in thing.fields.items():
            was = self._was(thing, name) if thing.id else None
            if name == "default":
                continue
            if name not in always and value == was and self._left_out():
                continue
            # Where few words are in use, the platform would pick what a sibling is about to take.
            picked = self.draw.crowded and name in ("path", "basename")
            if name not in always and thing.id is None and not picked and self._left_out():
                continue
            if value is not None or (name in CLEARABLE and (thing.id or self.explicit)):
                made[name] = value
        return made

    def _pin(
        self, thing: Thing, made: Fields, key: str, live: Sequence[Thing], others: Sequence[Thing] = ()
    ) -> None:
        """Pin a thing that its natural key would not find.

        With `others`, a later key may find the thing, if none of the others is about to claim that key by its
        own first key.
        """
        if thing.id is None:
            return
        was = self._was(thing, key)
        otherwise = bool(others) and not any(
            was == other.fields[key] for other in others if other is not thing
        )
        values = Counter(other.fields[key] for other in live)
        found = key in made and made[key] == was and values[made[key]] == 1
        if not (found or (otherwise and self.draw.chance(0.5))) or self.draw.chance(0.1):
            made["id"] = thing.id

    def _new(self, thing: Thing, made: Fields) -> None:
        """Mark a thing to create as new, so that it is not taken for a renamed one."""
        if thing.id is None:
            made["new"] = True

    # Parts.

    def _organization(self) -> Fields:
        made: Fields = {}
        for name, value in self.wanted.fields.items():
            if value == self.live.fields[name] and self._left_out():
                continue
            if name == "defaultContent" and value:
                made[name] = {"type": "site", "site": self._reference(value, "sites")}
            elif name == "mergeRules":
                made[name] = self._rules(value)
            elif value is not None or name in CLEARABLE:
                made[name] = value
        return made

    def _rules(self, value: Fields) -> Fields:
        rules = [
            rule | ({"users": [self._email(user) for user in rule["users"]]} if "users" in rule else {})
            for rule in value.get("rules", [])
        ]
        return value | ({"rules": rules} if "rules" in value else {})

    def _reference(self, key: str | None, part: str) -> Any:
        """By local key, or by id where the thing is not declared (or just so)."""
        id = self.ids.get(key or "")
        if key is None:
            return None
        return {"id": id} if id and (part not in self.managed.parts or self.draw.chance(0.1)) else key

    def _team(self, team: Any) -> Fields:
        made = self._fields(team, "title")
        self._pin(team, made, "title", self.live.teams)
        if team.id is None or team.key not in self.managed.unmanaged_people:
            made["members"] = {self._email(user): self._role(role) for user, role in team.people.items()}
        return made

    def _inside(self, holder: str | None) -> list[str]:
        """Return the collections in a parent or at the top, in order: all of them, or every second one."""
        return self._listed([item.key for item in self.wanted.collections if item.parent == holder])

    def _listed(self, keys: list[str]) -> list[str]:
        return keys if self.explicit or self.draw.chance(0.7) else keys[::2]

    def _collection(self, item: Collection, moved: bool, ordering: set[str | None]) -> Fields:
        """`ordering`: which collections, and None for the top, say the order of the collections in them."""
        made = self._fields(item, "title")
        self._pin(item, made, "title", self.live.collections)
        self._new(item, made)
        if item.parent in ordering:
            made["parent"] = item.parent  # by key then, or it could not be in an order
        elif moved or not self._left_out():
            made["parent"] = self._reference(item.parent, "collections")
        if item.key in ordering:
            made["collectionOrder"] = self._inside(item.key)
        inside = [space for space in self.wanted.spaces if space.collection == item.key]
        if "spaces" in self.managed.parts and (self.explicit or self.draw.chance(0.6)):
            made["order"] = self._listed([space.key for space in inside])
        return made

    def _space(self, space: Any) -> Fields:
        made = self._fields(space, "title")
        if "mergeRules" in made:
            made["mergeRules"] = self._rules(made["mergeRules"])
        self._pin(space, made, "title", self.live.spaces)
        self._new(space, made)
        declared = "collections" in self.managed.parts  # by key then, or it could not be in its `order`
        made["collection"] = (
            space.collection if declared else self._reference(space.collection, "collections")
        )
        return made

    def _site(self, site: Site) -> Fields:
        made = self._fields(site, "title")
        same_title = self._was(site, "title") == site.fields["title"]
        self._pin(site, made, "basename", self.live.sites, self.wanted.sites if same_title else ())
        self._new(site, made)
        if site.schema and (site.schema != self._was(site, "schema") or not self._left_out()):
            made["adaptiveSchema"] = site.schema
        if site.id is None or site.key not in self.managed.unmanaged_structures:
            made["structure"] = self._nodes(site, site.structure)
        return made

    def _nodes(self, site: Site, nodes: Sequence[Node]) -> list[Fields]:
        return [self._node(site, node, nodes) for node in nodes]

    def _node(self, site: Site, node: Node, siblings: Sequence[Node]) -> Fields:
        made = {"type": node.type, "key": node.key, **self._fields(node, "title")}
        before = next((old for old in self.live.sites if old.key == site.key), Site("", None, {}))
        if node.type == "section-group":
            self._pin(node, made, "title", before.nodes("section-group"))
            made["children"] = self._nodes(site, node.children)
        elif node.type == "section":
            self._pin(node, made, "path", before.nodes("section"))
            self._default(made, node, site.nodes("section"))
            made["children"] = self._nodes(site, node.children)
        else:
            made["space"] = self._reference(node.shows, "spaces")
            among = next(
                (nodes for nodes in before.places() if any(old.key == node.key for old in nodes)), []
            )
            once = sum(other.shows == node.shows for other in siblings) == 1
            same = once and [old.key for old in among if old.shows == node.shows] == [node.key]
            self._pin(node, made, "path", among, siblings if same else ())
            self._default(made, node, siblings)
        return made

    def _default(self, made: Fields, node: Node, among: Sequence[Node]) -> None:
        """`default: false` only where another one is said to be it."""
        chosen = next((other for other in among if other.fields["default"]), None)
        if node is chosen and (node.id is None or not self._was(node, "default") or not self._left_out()):
            made["default"] = True
        elif chosen is not None and not self._was(chosen, "default") and self.draw.chance(0.3):
            made["default"] = False


def document(organizations: dict[str, Fields], prune: Sequence[str] = ("**",)) -> Fields:
    """Return the root file, with limits that allow a full prune."""
    policy = {
        "prune": list(prune),
        "limits": {"deletes": 100_000, "percent": 100_000},
    }
    return {"dpsync": 1, "policy": policy, "organizations": organizations}
