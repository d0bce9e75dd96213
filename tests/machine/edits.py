"""What people do: to the files of a configuration, and on the platform by hand.

An edit takes the trees of all files and changes them; it may leave something that does not load. A mistake
is an edit that must not load.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from tests.properties.organizations import Fields

from .checkout import ROOT, Tree
from .platforms import Platform

Trees = dict[str, Tree]

WORDS = ("Guides", "News", "Help", "API", "Archive", "Über uns", "Release 1")
HOSTILE = (
    "\x1b[31mRed\x1b[0m", "<script>alert(1)</script>", "::error::x", "a\u202eb",
    "[x](https://e.example) @ada", "`tick` | pipe", "{{ x }} ${HOME}", "- # *",
)  # fmt: skip
NAMES = {"title", "path", "basename", "label", "hostname", "description", "slug", "url"}
"""Fields whose text is no reference."""
VALUES: dict[str, tuple[Any, ...]] = {
    "visibility": ("public", "unlisted", "share-link", "visitor-auth"),
    "published": (True, False),
    "defaultLevel": ("read", "edit", "admin", "inherit"),
    "editMode": ("live", "locked"),
    "hidden": (True, False),
    "condition": (None, "visitor.claims.beta"),
    "language": ("en", "fr", None),
    "emoji": ("1f600", None),
    "icon": ("book", "bolt", None),
    "description": ("About it", "More", None),
    "defaultRole": ("read", "edit", "guest"),
    "inviteLinks": (True, False),
    "role": ("read", "edit", "member", "owner"),
    "parent": (None,),
    "collection": (None,),
    "proxy": (None, "www.example.com/docs"),
}
PRUNED = (
    ["**"], ["teams"], ["spaces", "collections"], ["sites"], ["sites/*/structure"],
    ["teams", "spaces", "sites/*/structure"],
)  # fmt: skip
LIMITS = {"deletes": 1000, "percent": 100}


def places(trees: Trees) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """File, place and entries of each mapping of entries below an organization."""
    for name, tree in trees.items():
        for found in ((tree or {}).get("organizations") or {}).values():
            for place, entries in (found or {}).items():
                if place in ADDED and isinstance(entries, dict) and entries:
                    yield name, place, entries


def dicts(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from dicts(item)


def lists(value: Any) -> Iterator[list[Any]]:
    if isinstance(value, list):
        yield value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from lists(item)


class Edits:
    """Draws from one source, so that an edit is the same whenever it is drawn again."""

    def __init__(self, random: Random, fresh: Callable[[], int]) -> None:
        self.random = random
        self.fresh = fresh

    def title(self) -> str:
        word = self.random.choice(HOSTILE if self.random.random() < 0.08 else WORDS)
        return word if self.random.random() < 0.3 else f"{word} {self.fresh()}"

    def edit(self, trees: Trees) -> str:
        """Change something; its name."""
        action = self.random.choices(
            [self.retitle, self.exchange, self.rekey, self.remove, self.add, self.change, self.order,
             self.node, self.prune, self.move],
            [3, 1, 2, 2, 3, 5, 1, 2, 1, 1],
        )[0]  # fmt: skip
        action(trees)
        return action.__name__

    def _entry(self, trees: Trees) -> tuple[str, dict[str, Any], str] | None:
        found = [(place, all_, key) for _, place, all_ in places(trees) for key in all_]
        return self.random.choice(found) if found else None

    def retitle(self, trees: Trees) -> None:
        found = [one for tree in trees.values() for one in dicts(tree) if isinstance(one.get("title"), str)]
        if found:
            self.random.choice(found)["title"] = self.title()

    def exchange(self, trees: Trees) -> None:
        found = [list(all_.values()) for _, _, all_ in places(trees) if len(all_) > 1]
        if found:
            one, other = self.random.sample(self.random.choice(found), 2)
            if isinstance(one, dict) and isinstance(other, dict) and "title" in one and "title" in other:
                one["title"], other["title"] = other["title"], one["title"]

    def rekey(self, trees: Trees) -> None:
        if (found := self._entry(trees)) and found[0] not in ("members", "redirects"):
            self._renamed(trees, found[2], f"k{self.fresh()}")

    def _renamed(self, trees: Trees, old: str, new: str) -> None:
        """Whatever has this key or names it."""
        for tree in trees.values():
            for one in list(dicts(tree)):
                items = list(one.items())
                one.clear()
                for name, value in items:
                    same = value == old and name not in NAMES
                    one[new if name == old else name] = new if same else value
            for many in lists(tree):
                many[:] = [new if item == old else item for item in many]

    def remove(self, trees: Trees) -> None:
        if found := self._entry(trees):
            _, entries, key = found
            if len(entries) > 1 or self.random.random() < 0.2:
                del entries[key]
                self._unnamed(trees, key)

    def _unnamed(self, trees: Trees, key: str) -> None:
        for tree in trees.values():
            for many in lists(tree):
                kept = [
                    one
                    for one in many
                    if one != key and not (isinstance(one, dict) and one.get("space") == key)
                ]
                many[:] = [one for one in kept if not (isinstance(one, dict) and one.get("children") == [])]
            for one in dicts(tree):
                for name in ("collection", "parent"):
                    if one.get(name) == key:
                        one[name] = None
                for name in ("teams", "members"):
                    if isinstance(one.get(name), dict):
                        one[name].pop(key, None)

    def add(self, trees: Trees) -> None:
        found = list(places(trees))
        if not found:
            return
        _, place, entries = self.random.choice(found)
        spaces = [key for _, other, all_ in places(trees) if other == "spaces" for key in all_]
        if (made := ADDED[place](self, spaces)) is not None:
            entries[f"k{self.fresh()}"] = made

    def change(self, trees: Trees) -> None:
        found = [
            (one, name) for tree in trees.values() for one in dicts(tree) for name in one if name in VALUES
        ]
        if found:
            one, name = self.random.choice(found)
            one[name] = self.random.choice(VALUES[name])

    def order(self, trees: Trees) -> None:
        found = [
            many for tree in trees.values() for many in lists(tree.get("organizations")) if len(many) > 1
        ]
        if found:
            self.random.shuffle(self.random.choice(found))

    def node(self, trees: Trees) -> None:
        """Add, remove or move a node of a navigation."""
        found = [
            one["structure"] for tree in trees.values() for one in dicts(tree)
            if isinstance(one.get("structure"), list) and one["structure"]
        ]  # fmt: skip
        if not found:
            return
        structure = self.random.choice(found)
        spaces = [key for _, place, all_ in places(trees) if place == "spaces" for key in all_]
        match self.random.randrange(3):
            case 0 if len(structure) > 1:
                structure.pop(self.random.randrange(len(structure)))
            case 1 if spaces:
                at = {"type": "space", "key": f"n{self.fresh()}", "space": self.random.choice(spaces)}
                at["path"] = at["key"]
                if any(one.get("type") == "space" for one in structure):
                    structure.append(at)
                else:
                    key = f"n{self.fresh()}"
                    section = {"type": "section", "key": key, "title": self.title(), "path": key}
                    structure.append({**section, "children": [at]})
            case _:
                groups = [one for one in structure if one.get("type") == "section-group"]
                if groups and len(structure) > 1:
                    gone = structure.pop(self.random.randrange(len(structure)))
                    holder = self.random.choice(groups)
                    (holder.setdefault("children", []) if gone is not holder else structure).append(gone)

    def prune(self, trees: Trees) -> None:
        policy = trees[ROOT].setdefault("policy", {})
        policy["prune"] = list(self.random.choice(PRUNED))
        policy["limits"] = dict(LIMITS)

    def move(self, trees: Trees) -> None:
        """Move an entry to another file."""
        org = next(iter(trees[ROOT]["organizations"]))
        found = self._entry(trees)
        if found and found[0] not in trees[ROOT]["organizations"][org]:
            place, entries, key = found
            if len(entries) > 1 and not any(isinstance(one.get("file"), str) for one in dicts(entries[key])):
                trees[ROOT]["organizations"][org][place] = {key: entries.pop(key)}

    # Mistakes.

    def mistake(self, trees: Trees) -> str:
        """Make the configuration one that must be refused; what is wrong."""
        org = next(iter(trees[ROOT]["organizations"]))
        below = trees[ROOT]["organizations"][org]
        match self.random.randrange(6):
            case 0:
                trees[ROOT]["polcy"] = {}
                return "an unknown key"
            case 1:
                below["titel"] = "x"
                return "an unknown field"
            case 2:
                below["title"] = ["x"]
                return "a value of a wrong type"
            case 3:
                trees[ROOT].setdefault("policy", {})["prune"] = ["nothing-of-the-kind/*"]
                return "a pattern that nothing can fit"
            case 4:
                trees[ROOT] = {}
                return "an empty file"
            case _:
                trees[ROOT].setdefault("include", []).append("no/such/*.yaml")
                return "a pattern that matches nothing"


ADDED: dict[str, Callable[[Edits, list[str]], Any]] = {
    "teams": lambda one, _: {"title": one.title(), **({"new": True} if one.random.random() < 0.5 else {})},
    "collections": lambda one, _: {"title": one.title(), "new": True},
    "spaces": lambda one, _: {"title": one.title(), **({"new": True} if one.random.random() < 0.7 else {})},
    "sites": lambda one, spaces: _site(one, spaces),
    "members": lambda _one, _: None,
    "redirects": lambda _one, _: None,
    "openapi": lambda one, _: {
        "slug": f"spec-{one.fresh()}", "source": {"url": "https://a.example/1.yaml"}, "new": True,
    },
}  # fmt: skip


def _site(one: Edits, spaces: list[str]) -> Any:
    if not spaces:
        return None
    name = f"site-{one.fresh()}"
    at = {"type": "space", "key": "at", "space": one.random.choice(spaces), "path": "at"}
    section = {"type": "section", "key": "main", "title": one.title(), "path": "main", "children": [at]}
    return {
        "title": one.title(), "basename": name, "new": True, "published": one.random.random() < 0.5,
        "visibility": one.random.choice(VALUES["visibility"]),
        "structure": [section if one.random.random() < 0.6 else at],
    }  # fmt: skip


PATHS = {
    "teams": "/orgs/{org}/teams/{id}", "spaces": "/spaces/{id}", "collections": "/collections/{id}",
    "sites": "/orgs/{org}/sites/{id}",
}  # fmt: skip


def by_hand(platform: Platform, random: Random, edits: Edits) -> str:
    """One thing that somebody does on the platform; the request."""
    org = random.choice([one for one in platform.state()["organizations"] if one["members"]])
    made: list[tuple[str, str, Any]] = [
        ("PUT", f"/orgs/{org['id']}/teams", {"title": edits.title()}),
        ("POST", f"/orgs/{org['id']}/spaces", {"title": edits.title(), "empty": True}),
    ]
    for place, path in PATHS.items():
        for thing in org.get(place, ()):
            if "deletedAt" not in thing:
                at = path.format(org=org["id"], id=thing["id"])
                made += [("PATCH", at, {"title": edits.title()})] * 4
                made += [("DELETE", at, None)]
                made += [("PATCH", at, _changed(place, random))] * 2
    for site in org.get("sites", ()):
        for node in dicts(site["structure"]):
            if node.get("type") == "section":
                at = f"/orgs/{org['id']}/sites/{site['id']}/sections/{node['id']}"
                made += [("PATCH", at, {"title": edits.title()}), ("DELETE", at, None)]
    method, path, body = random.choice(made)
    status = platform.by_hand(method, path, body)
    return f"{method} {path} {body}: {status}"


def _changed(place: str, random: Random) -> Fields:
    names = {
        "sites": ["visibility"], "spaces": ["editMode", "emoji"], "collections": ["description"], "teams": [],
    }[place]  # fmt: skip
    return {name: random.choice(VALUES[name]) for name in names}
