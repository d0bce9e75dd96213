"""The files of a configuration, edited by the address of an entry, as a person would edit them."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from tests.nested_files import nested

Tree = dict[str, Any]
REFERENCES = {
    "teams": {"defaultTeam", "permissions/teams"},
    "spaces": {"space", "order", "integrations/spaces"},
    "collections": {"collection", "parent", "collectionOrder"},
    "structure": {"section", "siteSectionId"},
}
"""The fields that refer to an entry of each place, and the mappings whose keys do."""


class Files:
    """The YAML files below one directory. An address has no organization: `teams/writers`."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._trees: dict[str, Tree] = {}
        for path in sorted(directory.rglob("*.yaml")):
            name = path.relative_to(directory).as_posix()
            if not name.startswith((".", "dpsync.ids")):
                self._trees[name] = nested(yaml.load(path.read_text("utf-8"), Loader=yaml.CSafeLoader))

    def save(self) -> None:
        """Write all files."""
        for name, tree in self._trees.items():
            path = self.directory / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(
                yaml.dump(tree, Dumper=yaml.CSafeDumper, sort_keys=False, allow_unicode=True, width=110),
                "utf-8",
            )

    # Entries.

    def get(self, address: str) -> Tree:
        """Return an entry, in its long form."""
        holder, key = self._find(address)
        entry: Tree = holder[key]
        return entry

    def set(self, address: str, field: str, value: Any) -> None:
        """Set a field of an entry, or the whole entry if `field` is empty."""
        value = copy.deepcopy(value)
        holder, key = self._find(address)
        if field:
            holder[key][field] = value
        else:
            holder[key] = value

    def unset(self, address: str, field: str) -> None:
        """Remove a field of an entry."""
        holder, key = self._find(address)
        del holder[key][field]

    def remove(self, *addresses: str) -> None:
        """Remove entries. A mapping or list that is then empty is removed as well, as a person would do."""
        for address in addresses:
            holder, key = self._find(address)
            del holder[key]

    def take(self, address: str) -> Any:
        """Remove an entry and return it."""
        holder, key = self._find(address)
        return holder.pop(key)

    def add(self, address: str, entry: Any, file: str = "", index: int | None = None) -> None:
        """Add an entry: to the file that has its place, or to the named file."""
        entry = copy.deepcopy(entry)  # an edit is used for each place
        *parts, key = _parts(address)
        above = "/".join(parts)
        if above.endswith("structure") or (isinstance(entry, dict) and entry.get("type") in NODES):
            self._children(above).insert(len(self._children(above)) if index is None else index, entry)
            return
        self._place(above, file)[key] = entry

    def rename(self, address: str, new: str) -> None:
        """Change the key of an entry, and every reference to it."""
        holder, key = self._find(address)
        kind = "structure" if isinstance(holder, list) else _parts(address)[-2]
        if isinstance(holder, list):
            old, holder[key]["key"] = holder[key]["key"], new
        else:
            old = str(key)
            entries = [(new if name == key else name, entry) for name, entry in holder.items()]
            holder.clear()
            holder.update(entries)
        for tree in self._trees.values():
            _replace(tree, "", REFERENCES.get(kind, set()), old, new)

    def policy(self, **lists: Any) -> None:
        """Set parts of the policy."""
        self._trees["dpsync.yaml"].setdefault("policy", {}).update(lists)

    def include(self, *patterns: str) -> None:
        """Add patterns to `include`."""
        self._trees["dpsync.yaml"].setdefault("include", []).extend(patterns)

    def exclude(self, pattern: str) -> None:
        """Remove a pattern from `include`; the files stay."""
        self._trees["dpsync.yaml"]["include"].remove(pattern)

    def lose(self, name: str) -> None:
        """Delete a file."""
        (self.directory / name).unlink()
        self._trees.pop(name, None)

    def cut(self, name: str, before: str) -> None:
        """Keep a file's text only up to a place in it."""
        path = self.directory / name
        path.write_text(path.read_text("utf-8").partition(before)[0], "utf-8")
        del self._trees[name]

    # Where they are.

    def _organizations(self) -> Iterator[Tree]:
        for tree in self._trees.values():
            yield from (org or {} for org in (tree.get("organizations") or {}).values())

    def _find(self, address: str) -> tuple[Any, Any]:
        """Return the mapping or list that holds an entry, and its key or index there."""
        for organization in self._organizations():
            found = _found(organization, _parts(address))
            if found is not None:
                return found
        raise KeyError(address)

    def _place(self, address: str, file: str) -> Tree:
        """Return the mapping of entries at an address, created if there is none."""
        if not file:
            for organization in self._organizations():
                at: Any = organization
                for part in address.split("/"):
                    at = at.get(part) if isinstance(at, dict) else None
                if isinstance(at, dict):
                    return at
            file = next((name for name in self._trees if Path(name).stem == address), "dpsync.yaml")
            above, _, last = address.rpartition("/")
            if above:
                created: Tree = self.get(above).setdefault(last, {})
                return created
        tree = self._trees.setdefault(file, {"organizations": {"acme": {}}})
        at = tree["organizations"]["acme"]
        for part in address.split("/"):
            at = at.setdefault(part, {})
        return at

    def _children(self, address: str) -> list[Tree]:
        """Return the list of nodes below a site (`sites/docs/structure`) or below a node."""
        if address.endswith("/structure") and address.count("/") == 2:
            site = self.get(address.rpartition("/")[0])
            structure: list[Tree] = site.setdefault("structure", [])
            return structure
        children: list[Tree] = self.get(address).setdefault("children", [])
        return children


NODES = ("section", "section-group", "space", "external-link")


def _parts(address: str) -> list[str]:
    """Split an address. The key of a redirect begins with a slash: `sites/docs/redirects//old`."""
    return [part.replace("\0", "/") for part in address.replace("//", "/\0").split("/")]


def _found(at: Any, parts: list[str]) -> tuple[Any, Any] | None:
    """Return the holder and key of an entry below `at`. Below a structure, a node's key is enough."""
    first, *rest = parts
    if not isinstance(at, dict) or first not in at:
        return None
    if first == "structure":
        return _node(at[first], rest)
    return (at, first) if not rest else _found(at[first], rest)


def _node(nodes: list[Tree], keys: list[str]) -> tuple[Any, Any] | None:
    for index, node in enumerate(nodes):
        if node.get("key") == keys[0]:
            return (nodes, index) if len(keys) == 1 else _node(node.get("children", []), keys[1:])
        found = _node(node.get("children", []), keys)
        if found is not None:
            return found
    return None


def _replace(at: Any, path: str, fields: set[str], old: str, new: str) -> None:
    """Replace the references to a key below `at`."""
    if isinstance(at, list):
        for item in at:
            _replace(item, path, fields, old, new)
    if not isinstance(at, dict):
        return
    last_two = "/".join(path.split("/")[-2:])
    if old in at and (last_two in fields or ("integrations/spaces" in fields and path.endswith("/spaces")
                                             and "integrations" in path)):  # fmt: skip
        entries = [(new if name == old else name, value) for name, value in at.items()]
        at.clear()
        at.update(entries)
    for name, value in at.items():
        if name in fields and value == old:
            at[name] = new
        elif name in fields and isinstance(value, list):
            at[name] = [new if item == old else item for item in value]
        else:
            _replace(value, f"{path}/{name}", fields, old, new)
