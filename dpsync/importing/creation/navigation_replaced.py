"""Keep the settings that only the replaced navigation file has, such as the directory of each space.

A node of the exported file matches the node of the replaced file that has the same address, or otherwise the
only node that has the same key.
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
from dpsync.model.address import LOCAL_KEY
from dpsync.model.nodes import Json, Mapping, Node, Scalar, Sequence, Span, plain
from dpsync.model.text import counted

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
    """The keys in the address that `import --from-navigation` gives the node."""
    node: Mapping
    is_matched: bool = False


class ReplacedFile(Struct):
    """The navigation file that an export replaces."""

    tree: NavigationKinds
    file: NavigationFile
    nodes: list[_FileNode] = field(default_factory=list)

    @classmethod
    def of(cls, file: NavigationFile, tree: NavigationKinds) -> ReplacedFile:
        """Read the nodes of a navigation file."""
        return cls(tree, file, list(_file_nodes(tree, file.site.get(tree.place), ())))

    def copy_settings(self, site: dict[str, Any], exported: list[ExportedNode]) -> None:
        """Copy settings that only the replaced file has to the exported site and nodes."""
        own = self._entries_except(self.file.site, {self.tree.owner.title, self.tree.place})
        _insert_before(site, {name: value for name, value, _ in own}, before=(self.tree.place,))
        rest = [node for node in exported if not self._copy_node_settings(node, self._nodes_by_address(node))]
        for node in rest:
            self._copy_node_settings(node, self._nodes_by_key(node))

    def keys_beside_site(self) -> dict[str, Json]:
        """Return the keys beside the site in the replaced file, with their values."""
        known = {SCHEMA[0], self.tree.owner.name}
        return {name: value for name, value, _ in self._entries_except(self.file.root, known)}

    def lost_settings(self) -> Iterator[LeftOut]:
        """List the settings and comments of the replaced file that the exported file does not have."""
        for node in self.nodes:
            if node.is_matched:
                continue
            at = "/".join((self.tree.place, *node.keys))
            why = f'dpsync did not keep this key, because the new file has no {node.type} "{node.key}"'
            for name, _, span in self._settings_only_in_file(node):
                yield LeftOut(at, name, why, span)
        ((name, text),) = self.file.texts.items()
        if count := comments(text).total():
            yield LeftOut(name, None, f"dpsync did not keep {counted(count, 'comment')}", Span.start_of(name))

    def _nodes_by_address(self, exported: ExportedNode) -> list[_FileNode]:
        return [node for node in self._unmatched_nodes(exported) if node.keys == exported.keys]

    def _nodes_by_key(self, exported: ExportedNode) -> list[_FileNode]:
        return [node for node in self._unmatched_nodes(exported) if node.key == exported.data["key"]]

    def _unmatched_nodes(self, exported: ExportedNode) -> Iterator[_FileNode]:
        return (node for node in self.nodes if not node.is_matched and node.type == exported.data["type"])

    def _copy_node_settings(self, exported: ExportedNode, found: list[_FileNode]) -> bool:
        """Copy settings if `found` has exactly one node; return whether it has."""
        if len(found) != 1:
            return False
        (node,) = found
        node.is_matched = True
        data = exported.data
        content = {
            name.removeprefix("content."): value
            for name, value, _ in self._settings_only_in_file(node)
            if name.startswith("content.")
        }
        own = self._entries_except(node.node, self._exported_names(exported.kind))
        _insert_before(data, {name: value for name, value, _ in own}, before=("content", "children"))
        if "content" in data:
            data["content"] |= content
        return True

    def _exported_names(self, kind: Kind | None) -> set[str]:
        """Return the keys that an export writes to a node."""
        return {*_STRUCTURAL, *(self.tree.exported_names(kind) if kind is not None else ())}

    def _settings_only_in_file(self, node: _FileNode) -> Iterator[tuple[str, Json, Span]]:
        """Yield name, value and span of each node setting that a configuration cannot express."""
        kind = self.tree.by_type.get(node.type)
        yield from self._entries_except(node.node, self._exported_names(kind))
        content = node.node.get("content")
        if isinstance(content, Mapping):
            known = set(kind.shape.file_content) if kind and isinstance(kind.shape, NodeShape) else set()
            for name, value, span in self._entries_except(content, known):
                yield f"content.{name}", value, span

    def _entries_except(self, node: Mapping, known: set[str]) -> list[tuple[str, Json, Span]]:
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


def _insert_before(data: dict[str, Any], added: dict[str, Any], before: tuple[str, ...]) -> None:
    """Insert entries into a mapping before the entries named `before`."""
    behind = {name: data.pop(name) for name in before if name in data}
    data |= {name: value for name, value in added.items() if name not in data} | behind
