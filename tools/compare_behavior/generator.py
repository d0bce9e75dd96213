"""Generate pairs of a configuration and live data, from a seed and a number.

Each pair starts with live data and a configuration that matches the data. Both are then changed at random.
The start is stored in `data/`, so that the pairs do not depend on the commit that is recorded: `world.json`
is `GET /_dpsync/world` of a new companion, and `configurations.json` is what `dpsync import` wrote for these
data with each profile, without default values ("plain") and with `--full` ("every").
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import yaml

Tree = dict[str, Any]

_DATA = Path(__file__).parent / "data"
PROFILES = ("full", "reference", "published")
LISTS = (
    "teams", "collections", "spaces", "sites", "openapi", "saml", "translations", "integrations", "members",
    "glossary", "redirects", "shareLinks", "topics", "mcpServers", "channels", "contextConnections",
    "publishedIntegrations",
)  # fmt: skip
"""The keys of a configuration whose value is a mapping of entries."""
_LISTS_OF_A_SITE = ("redirects", "shareLinks", "topics", "mcpServers", "channels", "contextConnections")
_REFERENCES = {"collection", "parent", "space", "site", "section", "defaultTeam", "styleguide"}
_UNIQUE = ("title", "basename", "path", "slug", "label", "name", "url", "entityID", "language")
_KEPT = {"id", "key", "type", "createdAt", "updatedAt", "user", "dpsync", "format", "object"}
_TEXTS = (
    "Guides", "News", "A new title", "Für Öl & Gas", "a | b", "<b>bold</b> `code` [link](https://x.example)",
    "::error::no", "@everyone #1", "x" * 120, "two\nlines", "  spaces  ", "日本語", "$HOME", "null", "12", "",
    "right\u202eleft", "\x1b[31mred",
)  # fmt: skip
_KEYS = ("new", "guides-2", "a/b", "Ünïcode", "z", "extra", "b.c", "0")
_NEW_ENTRIES: dict[str, Tree] = {
    "teams": {"title": "Support"},
    "collections": {"title": "Drafts", "defaultLevel": "read"},
    "spaces": {"title": "Release notes", "emoji": "1f600", "editMode": "locked"},
    "sites": {"title": "Status", "visibility": "unlisted", "basename": "status"},
    "openapi": {"source": {"url": "https://acme.example/openapi/orders.yaml"}},
    "saml": {
        "label": "Keycloak", "entityID": "https://kc.example", "ssoURL": "https://kc.example/sso",
        "certificate": "no certificate",
    },
    "members": {"role": "edit"},
    "redirects": {"url": "https://acme.example/elsewhere"},
    "glossary": {"en": "rod", "fr": "barre"},
    "shareLinks": {"active": True},
    "topics": {"label": "Billing", "usageSettings": {"changeRequests": True}},
    "mcpServers": {"name": "Tools", "url": "https://mcp.acme.example", "headers": {"X": {"env": "SECRET"}}},
    "channels": {"type": "builtin:slack", "setupSettings": {"allowedChannels": ["docs-*"]}},
    "contextConnections": {
        "connector": "builtin:github-issues",
        "setupSettings": {"repository": "a/b", "token": {"env": "SECRET"}},
        "usageSettings": {"changeRequests": False, "search": True, "searchBoost": "x1.0"},
    },
    "publishedIntegrations": {
        "title": "Bot", "script": "export default {}", "description": "Answers questions.", "target": "all",
        "scopes": ["space:content:read"], "categories": ["content"], "visibility": "public",
    },
}  # fmt: skip


class Pair(NamedTuple):
    """`committed` are the files of the commit before `files`, empty without a git repository."""

    profile: str
    world: Tree
    files: dict[str, str]
    committed: dict[str, str]
    flags: list[str]


def start_data() -> tuple[Tree, Tree]:
    """Return the world, and the configurations by profile and by style."""
    names = ("world", "configurations")
    world, configurations = (
        json.loads((_DATA / f"{name}.json").read_text(encoding="utf-8")) for name in names
    )
    return world, configurations


class Generator:
    """Makes pairs. The same seed and number give the same pair, whatever the other pairs are."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._world, self._configurations = start_data()
        self._world_values = _values_by_field([self._world])
        self._values = _values_by_field([self._configurations[profile]["every"] for profile in PROFILES])

    def pair(self, number: int, attempt: int = 0) -> Pair:
        """Return a pair. Each attempt gives another one, since many configurations are invalid."""
        random = Random(f"{self._seed}/{number}/{attempt}")  # noqa: S311
        profile = random.choices(PROFILES, (5, 2, 4))[0]
        style = random.choices(("plain", "every"), (4, 1))[0]
        config = copy.deepcopy(self._configurations[profile][style])
        world = copy.deepcopy(self._world)
        chosen = random.choices((["acme"], ["globex"], ["acme", "globex"]), (4, 4, 1))[0]
        config["organizations"] = {key: config["organizations"][key] for key in chosen}
        config["policy"] = _policy(random, config, chosen)
        # Few changes of the data alone, many changes of the configuration: the usual situation.
        for _ in range(random.choice((0, 0, 1, 2, 4))):
            self._change(random, world["organizations"], self._world_values, _live_changes)
        split = random.random() < 0.4
        before = _files(config, split)
        for _ in range(random.choice((0, 1, 1, 2, 3, 5, 8))):
            self._change(random, config["organizations"], self._values, _wanted_changes)
        files = _files(config, split if random.random() < 0.9 else not split)
        flags = random.choice(([], [], [], ["--no-delete"], ["--select", f"{chosen[0]}/sites/**"]))
        return Pair(profile, world, files, before if random.random() < 0.5 else {}, list(flags))

    def _change(
        self, random: Random, tree: Any, values: dict[str, list[Any]],
        kinds: Callable[[Random, Any], list[Callable[[], None]]],
    ) -> None:  # fmt: skip
        """Make one change: of a value, or one of `kinds`."""
        if random.random() < 0.5:
            _change_value(random, tree, values)
        else:
            random.choice(kinds(random, tree))()


def _values_by_field(trees: list[Any]) -> dict[str, list[Any]]:
    """Return the values that each field has somewhere, and other values that fit."""
    values: dict[str, list[Any]] = {}
    for tree in trees:
        for node, field in _scalars(tree):
            known = values.setdefault(field, [])
            if not any(value is node[field] or value == node[field] for value in known):
                known.append(node[field])
    for known in values.values():
        if True in known or False in known:
            known[:] = [True, False]
    return values


def nodes(tree: Any) -> Iterator[Tree]:
    """Yield every mapping in a tree."""
    if isinstance(tree, dict):
        yield tree
    for child in tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ():
        yield from nodes(child)


def _scalars(tree: Any) -> list[tuple[Tree, str]]:
    return [
        (node, field)
        for node in nodes(tree)
        for field, value in node.items()
        if field not in _KEPT and not isinstance(value, dict | list)
    ]


def _entries(tree: Any) -> list[tuple[Tree, str, str]]:
    """Return each entry as its mapping, its key, and the name of its list."""
    return [
        (entries, key, name)
        for node in nodes(tree)
        for name, entries in node.items()
        if name in LISTS and isinstance(entries, dict)
        for key, entry in entries.items()
        # Lists with the same name also hold references, for example the sites of an integration.
        if name not in ("teams", "spaces", "sites", "members") or "title" in entry
    ]


def _sibling_lists(tree: Any, names: tuple[str, ...]) -> list[list[Any]]:
    lists = [node[name] for node in nodes(tree) for name in names if isinstance(node.get(name), list)]
    return [items for items in lists if len(items) > 1 and isinstance(items[0], dict)]


def _change_value(random: Random, tree: Any, values: dict[str, list[Any]]) -> None:
    scalars = _scalars(tree)
    named = [(node, field) for node, field in scalars if field in _UNIQUE]
    node, field = random.choice(named if named and random.random() < 0.3 else scalars)
    choices = [value for value in values.get(field, []) if value != node[field]]
    if field in ("title", "description", "label", "displayName") and random.random() < 0.6:
        choices = list(_TEXTS)
    elif field in ("basename", "path", "slug"):
        choices += ["elsewhere", "guides", "news"]
    if choices:
        node[field] = random.choice(choices)


def _wanted_changes(random: Random, organizations: Any) -> list[Callable[[], None]]:
    """Return the possible changes of a configuration; those that are listed twice happen more often."""

    def delete() -> None:
        entries, key, _ = random.choice(_entries(organizations))
        del entries[key]
        if random.random() < 0.9:
            _replace_references(organizations, key, None)

    def rename() -> None:
        entries, key, _ = random.choice(_entries(organizations))
        new = random.choice(_KEYS)
        entry = entries.pop(key)
        entries.setdefault(new, entry)
        if random.random() < 0.4 and isinstance(entry, dict):
            entry["previously"] = key
        _replace_references(organizations, key, new)

    def add() -> None:
        if random.random() < 0.5:
            entries, key, _ = random.choice(_entries(organizations))
            entry = copy.deepcopy(entries[key])
        else:
            places = [
                (node, name)
                for node in nodes(organizations)
                for name, entries in node.items()
                if name in _NEW_ENTRIES and isinstance(entries, dict)
            ]
            for organization in organizations.values():
                places.append((organization, "publishedIntegrations"))
                sites = organization.get("sites", {}).values()
                places += [(site, name) for site in sites for name in _LISTS_OF_A_SITE]
            node, name = random.choice(places)
            entries, entry = node.setdefault(name, {}), copy.deepcopy(_NEW_ENTRIES[name])
            if name in ("redirects", "members"):
                entries[f"/{random.choice(_KEYS)}" if name == "redirects" else "new@acme.example"] = entry
                return
        for field in _UNIQUE:
            if isinstance(entry, dict) and isinstance(entry.get(field), str) and random.random() < 0.7:
                entry[field] = f"{entry[field]}{random.choice(('-2', ' new', 'x'))}"
        if isinstance(entry, dict) and random.random() < 0.3:
            entry["new"] = True
        entries[random.choice(_KEYS)] = entry

    def mark() -> None:
        entries, key, _ = random.choice(_entries(organizations))
        if isinstance(entries[key], dict):
            field, value = random.choice((
                ("id", "unknown"), ("id", key), ("new", True), ("new", True), ("previously", "gone"),
                ("takeover", True), ("unknownField", 1), ("order", ["a", "b"]),
            ))  # fmt: skip
            entries[key][field] = value

    def drop_field() -> None:
        node, field = random.choice(_scalars(organizations))
        del node[field]

    def drop_list() -> None:
        node, name = random.choice([(n, name) for n in nodes(organizations) for name in n if name in LISTS])
        del node[name]

    def reorder() -> None:
        lists = _sibling_lists(organizations, ("structure", "children"))
        if lists:
            random.shuffle(random.choice(lists))

    def move() -> None:
        lists = _sibling_lists(organizations, ("structure", "children"))
        if lists:
            source, target = random.choice(lists), random.choice(lists)
            moved = source.pop(random.randrange(len(source)))
            inside = any(node is item for node in nodes(moved) for item in target)
            (source if inside else target).append(moved)

    def change_node() -> None:
        lists = _sibling_lists(organizations, ("structure", "children"))
        if lists:
            siblings = random.choice(lists)
            node = random.choice(siblings)
            if random.random() < 0.4:
                siblings.remove(node)
            elif random.random() < 0.5:
                changed = {"key": random.choice(_KEYS), "path": "more", "default": False}
                siblings.append(
                    copy.deepcopy(node) | {name: changed[name] for name in changed if name in node}
                )
            else:
                node["key"] = random.choice(_KEYS)

    often = [delete, delete, rename, add, add, reorder, move, change_node]
    return [*often, *often, mark, drop_field, drop_list]


def _live_changes(random: Random, organizations: Any) -> list[Callable[[], None]]:
    """Return the possible changes of live data."""
    names = (*LISTS, "samlProviders", "structure", "children", "grants", "linkInvites")

    def delete() -> None:
        siblings = random.choice(_sibling_lists(organizations, names))
        siblings.remove(random.choice(siblings))

    def add() -> None:
        lists = _sibling_lists(organizations, ("teams", "collections", "spaces", "sites"))
        siblings = random.choice([siblings for siblings in lists if "title" in siblings[0]])
        added = copy.deepcopy(random.choice(siblings))
        for node in nodes(added):
            if "id" in node:
                node["id"] = f"{node['id']}-{random.randrange(100)}"
        added["title"] = random.choice((added["title"], f"{added['title']} 2", "Support", "Release notes"))
        if "basename" in added:
            added["basename"] = f"{added['basename']}-{random.randrange(100)}"
        siblings.append(added)

    def reorder() -> None:
        random.shuffle(random.choice(_sibling_lists(organizations, ("structure", "children"))))

    return [delete, add, reorder]


def _replace_references(tree: Any, key: str, new: str | None) -> None:
    """Replace a key wherever it refers to an entry, or remove the reference."""
    for node in list(nodes(tree)):
        for field, value in list(node.items()):
            if field in _REFERENCES and value == key:
                node[field] = new  # null often means "none"
            elif field in ("order", "collectionOrder") and isinstance(value, list):
                node[field] = [new if item == key else item for item in value if item != key or new]
            elif field in ("structure", "children") and isinstance(value, list) and new is None:
                node[field] = [item for item in value if item.get("space") != key]
            elif (
                field in ("teams", "members", "sites", "spaces") and isinstance(value, dict) and key in value
            ):
                value |= {new: value[key]} if new else {}
                if not isinstance(value[key], dict) or "title" not in value[key]:
                    del value[key]


def _policy(random: Random, config: Tree, chosen: list[str]) -> Tree:
    policy: Tree = {}
    if random.random() < 0.5:
        policy["watch"] = [
            line for line in config["policy"]["watch"] if line == "access" or line.partition("/")[0] in chosen
        ]
    if random.random() < 0.7:
        names = ["teams", "spaces", "collections", "sites", "openapi", "teams/*/members"]
        names += [f"sites/*/{name}" for name in ("redirects", "structure", "shareLinks")]
        policy["prune"] = random.sample(names, random.randint(1, len(names)))
    if random.random() < 0.2:
        policy["protect"] = [random.choice((f"{chosen[0]}/sites/**", f"{chosen[0]}/teams/*"))]
    if random.random() < 0.2:
        policy["limits"] = {"deletes": random.choice((0, 1, 50))}
    if random.random() < 0.15:
        policy["ignore"] = [random.choice((f"{chosen[0]}/sites/*#visibility", f"{chosen[0]}/spaces/**"))]
    return policy


def _files(config: Tree, split: bool) -> dict[str, str]:
    """Write a configuration as one file, or with the large lists in files of their own."""
    config = copy.deepcopy(config)
    files: dict[str, str] = {}
    if split:
        for key, organization in config["organizations"].items():
            for name in ("spaces", "sites"):
                if name in organization:
                    part = {"organization": key, name: organization.pop(name)}
                    files[f"{key}/{name}.yaml"] = _dump(part)
        config["include"] = sorted(files)
    files["dpsync.yaml"] = _dump(config)
    return files


def _dump(value: Any) -> str:
    return yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=100)
