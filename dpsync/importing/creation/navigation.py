"""The platform's own navigation file of one site → a configuration with the same navigation.

Its nodes have the same words; what they do not have is the space that a node shows: each gets an entry of its
own. What has no counterpart here is left out and said. No platform is asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from dpsync import disk
from dpsync.config.reading.reader import DEFAULT_LIMITS, decode, read
from dpsync.importing.creation.configuration import Made
from dpsync.importing.creation.entries import LeftOut
from dpsync.importing.creation.keys import slug
from dpsync.importing.creation.layout import ROOT, Folder, included
from dpsync.importing.values import Unwritable, Writing
from dpsync.importing.yaml_text.emit import BlockMapping
from dpsync.kinds.kind import Field, Kind, Node
from dpsync.kinds.registry import Registry
from dpsync.kinds.types import Reference
from dpsync.model.findings.diagnostic import Diagnostic, DiagnosticError, Exit
from dpsync.model.findings.nodes import Mapping, Scalar, Sequence, plain
from dpsync.model.findings.nodes import Node as Parsed

VERSION = 1


def take_over(path: Path, registry: Registry, organization: str) -> Made:
    """The configuration of one site. Raises DiagnosticError (exit 5) for a file of another shape."""
    taking = _TakingOver(registry, path.name)
    site = taking.read(path)
    taking.site(site)
    return taking.made(organization)


class _Tree(Struct):
    """The kinds that a navigation is made of, as the registry has them."""

    registry: Registry
    owner: Kind
    place: str
    by_type: dict[str, Kind]

    @staticmethod
    def of(registry: Registry) -> _Tree:
        owner, place, kinds = next(
            (kind, place, kinds)
            for kind in registry.ordered
            for place, kinds in registry.places(kind.name).items()
            if isinstance(kinds[0].shape, Node)
        )
        by_type: dict[str, Kind] = {kind.shape.type: kind for kind in kinds if isinstance(kind.shape, Node)}
        return _Tree(registry, owner, place, by_type)

    def content(self, kind: Kind) -> tuple[Field, Kind] | None:
        """The field of a node that says what it shows, and the kind of that."""
        for one in kind.fields:
            if one.required and not one.nest and isinstance(one.type, Reference):
                return one, self.registry[one.type.kinds[0]]
        return None


class _TakingOver:
    def __init__(self, registry: Registry, name: str) -> None:
        self.registry = registry
        self.tree = _Tree.of(registry)
        self.file = name
        self.problems: list[Diagnostic] = []
        self.left_out: list[LeftOut] = []
        self.entries: dict[str, dict[str, dict[str, Any]]] = {}
        self.owner: dict[str, Any] = {}
        self.key = ""
        self._keys: dict[str, set[str]] = {}

    # Reading.

    def read(self, path: Path) -> Mapping:
        try:
            data = disk.read(path, DEFAULT_LIMITS.bytes)
        except OSError as error:
            message = f"cannot read {path}: {disk.why(error)}"
            raise DiagnosticError([Diagnostic("navigation", message)], Exit.INVALID) from None
        text, _ = decode(data, self.file)
        self.texts = {self.file: text}
        node, problems = read(data, self.file)
        if problems:
            raise DiagnosticError(problems, Exit.INVALID, self.texts)
        version = node.get("version") if isinstance(node, Mapping) else None
        if not isinstance(version, Scalar) or version.value != VERSION:
            self._stop(version or node, f"a navigation file begins with version: {VERSION}")
        assert isinstance(node, Mapping)
        inner = [value for key, value in node if isinstance(value, Mapping) and key.text != "version"]
        for key, value in node:
            if not isinstance(value, Mapping) and key.text != "version":
                self._not_taken("", key.text, "dpsync has no such setting")
        if len(inner) != 1 or not isinstance(inner[0].get(self.tree.place), Sequence):
            self._stop(node, f"the file has one {self.tree.owner.noun} with a list named {self.tree.place}")
        return inner[0]

    def _stop(self, at: Parsed | None, message: str) -> None:
        span = at.span if at is not None else None
        hint = "only the navigation file of the platform's site-wide git sync can be taken over"
        raise DiagnosticError([Diagnostic("navigation", message, span, hint=hint)], Exit.INVALID, self.texts)

    # Taking over.

    def site(self, site: Mapping) -> None:
        title = site.get(self.tree.owner.title)
        named = str(title.value) if isinstance(title, Scalar) and title.value else ""
        self.key = slug(named) or self.tree.owner.noun
        self.owner = self._fields(self.tree.owner, site, self.key, (self.tree.place,))
        items = site.get(self.tree.place)
        assert isinstance(items, Sequence)
        self.owner[self.tree.place] = [node for item in items for node in self._node(item, self.key)]
        if self.problems:
            raise DiagnosticError(self.problems, Exit.INVALID, self.texts)

    def _node(self, node: Parsed, around: str) -> Iterator[Any]:
        word = node.get("type") if isinstance(node, Mapping) else None
        kind = self.tree.by_type.get(str(word.value)) if isinstance(word, Scalar) else None
        if not isinstance(node, Mapping) or kind is None:
            known = ", ".join(self.tree.by_type)
            self.problems.append(Diagnostic("navigation", f"a node has one of the types {known}", node.span))
            return
        key = node.get("key")
        local = slug(str(key.value)) if isinstance(key, Scalar) else ""
        if not local:
            self.problems.append(Diagnostic("navigation", f"{kind.one} has a key", node.span))
            return
        local = self._free(around if self.tree.content(kind) else self.key, local)
        at = f"{around}/{local}"
        made: dict[str, Any] = {"type": str(word.value) if isinstance(word, Scalar) else "", "key": local}
        if (content := self.tree.content(kind)) is not None:
            made[content[0].name] = self._content(content[1], node, local, around)
        reserved = ("type", "key", "children")
        made |= self._fields(kind, node, at, reserved, content[1] if content else None)
        children = node.get("children")
        if isinstance(children, Sequence):
            made["children"] = [inner for item in children.items for inner in self._node(item, at)]
        yield BlockMapping(made) if "children" in made else made

    def _fields(
        self, kind: Kind, node: Mapping, at: str, reserved: tuple[str, ...], shows: Kind | None = None
    ) -> dict[str, Any]:
        """The fields of a node in the order of its kind; what is no field of it is told."""
        said = {key.text: value for key, value in node if key.text not in reserved}
        made: dict[str, Any] = {}
        for one in kind.fields:
            value = plain(said.pop(one.name)) if one.name in said and not one.nest else None
            if value is None or value == one.absent:
                continue
            try:
                made[one.name] = Writing(lambda kinds, id: id, lambda path: "").value(one.type, value)
            except Unwritable as why:
                self._not_taken(at, one.name, str(why))
        taken = {one.name for one in shows.fields} | {"content"} if shows else set()
        for name, node_ in said.items():
            if name not in taken and plain(node_) not in (None, False):
                self._not_taken(at, name, "dpsync has no such setting")
        return made

    def _content(self, kind: Kind, node: Mapping, local: str, around: str) -> str:
        """An entry for what a node shows, by the title of the node; its local key."""
        content = node.get("content")
        given_inside = {key.text: value for key, value in content} if isinstance(content, Mapping) else {}
        said = {key.text: value for key, value in node}
        fields: dict[str, Any] = {}
        for one in kind.fields:
            given = given_inside.get(one.name, said.get(one.name) if one.required else None)
            if given is not None and plain(given) is not None:
                fields[one.name] = plain(given)
        for name, value in given_inside.items():
            if name not in {one.name for one in kind.fields} and plain(value) is not None:
                why = "where its files lie is no concern of dpsync"
                self._not_taken(f"{around}/{local}", f"content.{name}", why)
        entries = self.entries.setdefault(kind.key, {})
        inside = around.rpartition("/")[2]
        key = self._free(kind.key, local if around == self.key else f"{inside}-{local}")
        entries[key] = fields
        return key

    def _free(self, scope: str, wanted: str) -> str:
        used = self._keys.setdefault(scope, set())
        key, number = wanted, 1
        while key in used:
            number += 1
            key = f"{wanted}-{number}"
        used.add(key)
        return key

    def _not_taken(self, at: str, name: str, why: str) -> None:
        self.left_out.append(LeftOut(at or self.file, name, why))

    # Writing.

    def made(self, organization: str) -> Made:
        folder = Folder(self.registry)
        local = slug(organization) or self.registry.root.name
        local = f"{local}-2" if local in self.registry.words else local
        for place, entries in sorted(self.entries.items()):
            folder.yaml(f"{local}/{place}.yaml", self._part(local, {place: BlockMapping(entries)}))
        key = self.tree.owner.key
        path = f"{local}/{key}/{self.key}.yaml"
        folder.yaml(path, self._part(local, {key: BlockMapping({self.key: BlockMapping(self.owner)})}))
        root = BlockMapping({"dpsync": 1, "include": included(folder.contents)})
        root["organizations"] = BlockMapping({local: BlockMapping({"id": organization})})
        folder.yaml(ROOT, root)
        files = dict(sorted(folder.contents.items()))
        return Made(files, tuple(self.left_out))

    def _part(self, organization: str, value: dict[str, Any]) -> BlockMapping:
        return BlockMapping({"organizations": BlockMapping({organization: BlockMapping(value)})})
