"""Keep what only the replaced navigation file says, such as the directory of each space.

A node is found again by the keys of its address, and else by its own key.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct, field

from dpsync.importing.creation.entries import LeftOut
from dpsync.importing.creation.keys import slug
from dpsync.importing.creation.navigation_file import SCHEMA, NavigationFile, NavigationKinds
from dpsync.importing.yaml_text.comments import comments
from dpsync.kinds.kind import Kind
from dpsync.kinds.kind import Node as NodeShape
from dpsync.model.entries.address import LOCAL_KEY
from dpsync.model.findings.nodes import Json, Mapping, Node, Scalar, Sequence, plain
from dpsync.model.findings.span import Span
from dpsync.model.texts.words import counted

_STRUCTURAL = frozenset({"type", "key", "children", "content"})


class ExportedNode(Struct):
    """A node of the exported file, with the keys in the address of its entry."""

    kind: Kind
    keys: tuple[str, ...]
    data: dict[str, Any]


class _FileNode(Struct):
    """A node of the replaced file."""

    type: str
    key: str
    keys: tuple[str, ...]
    """The keys that the address of the node has after `import --from-navigation`."""
    node: Mapping
    is_kept: bool = False


class ReplacedFile(Struct):
    """The navigation file that an export replaces."""

    tree: NavigationKinds
    file: NavigationFile
    nodes: list[_FileNode] = field(default_factory=list)

    @classmethod
    def of(cls, file: NavigationFile, tree: NavigationKinds) -> ReplacedFile:
        """Read the nodes of a navigation file."""
        return cls(tree, file, list(_file_nodes(tree, file.site.get(tree.place), ())))

    def keep(self, site: dict[str, Any], exported: list[ExportedNode]) -> None:
        """Add to the exported site and nodes what only the replaced file says of the same ones."""
        own = self._own(self.file.site, {self.tree.owner.title, self.tree.place})
        _insert(site, {name: value for name, value, _ in own}, before=(self.tree.place,))
        rest = [node for node in exported if not self._keep_node(node, self._at(node))]
        for node in rest:
            self._keep_node(node, self._with_key(node))

    def around(self) -> dict[str, Json]:
        """Return what stands beside the site in the replaced file."""
        return {
            name: value for name, value, _ in self._own(self.file.root, {SCHEMA[0], self.tree.owner.name})
        }

    def lost(self) -> Iterator[LeftOut]:
        """List what the exported file does not keep of the replaced file."""
        for node in self.nodes:
            if node.is_kept:
                continue
            at = "/".join((self.tree.place, *node.keys))
            why = f'not kept: the new file has no {node.type} with the key "{node.key}"'
            for name, _, span in self._only_in_file(node):
                yield LeftOut(at, name, why, span)
        ((name, text),) = self.file.texts.items()
        if count := comments(text).total():
            yield LeftOut(name, None, f"not kept: {counted(count, 'comment')}", Span.start_of(name))

    def _at(self, exported: ExportedNode) -> list[_FileNode]:
        return [node for node in self._open(exported) if node.keys == exported.keys]

    def _with_key(self, exported: ExportedNode) -> list[_FileNode]:
        return [node for node in self._open(exported) if node.key == exported.data["key"]]

    def _open(self, exported: ExportedNode) -> Iterator[_FileNode]:
        return (node for node in self.nodes if not node.is_kept and node.type == exported.data["type"])

    def _keep_node(self, exported: ExportedNode, found: list[_FileNode]) -> bool:
        """Keep what the one node that was found says; return whether there is one."""
        if len(found) != 1:
            return False
        (node,) = found
        node.is_kept = True
        data = exported.data
        content = {
            name.removeprefix("content."): value
            for name, value, _ in self._only_in_file(node)
            if name.startswith("content.")
        }
        own = self._own(node.node, self._known(exported.kind))
        _insert(data, {name: value for name, value, _ in own}, before=("content", "children"))
        if "content" in data:
            data["content"] |= content
        return True

    def _known(self, kind: Kind | None) -> set[str]:
        """Return the keys of a node that the export writes."""
        return {*_STRUCTURAL, *(self.tree.sayable(kind) if kind is not None else ())}

    def _only_in_file(self, node: _FileNode) -> Iterator[tuple[str, Json, Span]]:
        """List what a node of the file says and no configuration can: names, values and places."""
        kind = self.tree.by_type.get(node.type)
        yield from self._own(node.node, self._known(kind))
        content = node.node.get("content")
        if isinstance(content, Mapping):
            known = set(kind.shape.file_content) if kind and isinstance(kind.shape, NodeShape) else set()
            for name, value, span in self._own(content, known):
                yield f"content.{name}", value, span

    def _own(self, node: Mapping, known: set[str]) -> list[tuple[str, Json, Span]]:
        return [
            (key.text, plain(value), key.span)
            for key, value in node
            if key.text not in known and plain(value) is not None
        ]


def _file_nodes(tree: NavigationKinds, nodes: Node | None, around: tuple[str, ...]) -> Iterator[_FileNode]:
    for node in nodes if isinstance(nodes, Sequence) else ():
        type_, key = (node.get("type"), node.get("key")) if isinstance(node, Mapping) else (None, None)
        if isinstance(node, Mapping) and isinstance(type_, Scalar) and isinstance(key, Scalar):
            kind = tree.by_type.get(type_.text)
            above = around if kind is not None and tree.is_inside(kind) else ()
            keys = (*above, key.text if LOCAL_KEY.fullmatch(key.text) else slug(key.text))
            yield _FileNode(type_.text, key.text, keys, node)
            yield from _file_nodes(tree, node.get("children"), keys)


def _insert(data: dict[str, Any], added: dict[str, Any], before: tuple[str, ...]) -> None:
    """Add entries to a mapping, in front of the named ones."""
    behind = {name: data.pop(name) for name in before if name in data}
    data |= {name: value for name, value in added.items() if name not in data} | behind
