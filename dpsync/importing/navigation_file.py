"""Read, export and replace navigation files, the format of GitBook's Git Sync for a whole site.

`read_navigation` reads a file under the same limits as a configuration, since others may have written it.
`export_navigation` returns the navigation of a site in the files; what the format requires and the files
lack is an error, because a made-up path would be a new URL. `ReplacedFile` keeps settings that only the
replaced file has, such as the directory of each space: a node matches by address, or else by a unique key.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from msgspec import Struct, field

from dpsync import disk
from dpsync.config import codes
from dpsync.config.yaml_reader import DEFAULT_LIMITS, decode, read
from dpsync.importing.edit_yaml import comments
from dpsync.importing.entries import LeftOut
from dpsync.importing.inventory import first_unused_name
from dpsync.importing.keys import slugify
from dpsync.importing.values import UnwritableValueError, ValueWriter
from dpsync.importing.write_yaml import BlockMapping, Verbatim, yaml_document
from dpsync.kinds.kind import Field, Kind
from dpsync.kinds.kind import TreeNode as NodeShape
from dpsync.kinds.registry import Registry
from dpsync.kinds.types import Reference
from dpsync.model.address import LOCAL_KEY, Address
from dpsync.model.desired import Desired, Entry
from dpsync.model.diagnostic import Diagnostic, DiagnosticError, Exit
from dpsync.model.nodes import Json, Mapping, Node, Scalar, Sequence, Span, node_value
from dpsync.model.text import format_command, format_count, json_text
from dpsync.model.values import Ref, Value

NAVIGATION_FILE_NAMES: Final = ("gitbook-docs.yaml", "docs.yaml")
"""The names that GitBook gives the file, newest first."""
SCHEMA: Final = ("$schema", "https://api.gitbook.com/gitbook-docs.yaml")
"""The comment by which editors find the schema of the file."""
VERSION: Final = ("version", 1)
"""The version of the format; a file without one has this one."""
NAVIGATION_CODE: Final = "navigation"
"""The code of all errors in such a file."""


class NavigationKinds(Struct, frozen=True):
    """The kinds of a navigation in the registry.

    `owner` is the kind that has a navigation, `navigation_key` the key of the navigation there, and
    `by_type` the kinds of nodes by their type in the file.
    """

    registry: Registry
    owner: Kind
    navigation_key: str
    by_type: dict[str, Kind]

    @staticmethod
    def of(registry: Registry) -> NavigationKinds:
        """Find the only kind in the registry with a navigation (`site`), and the kinds of its nodes."""
        owner, navigation_key, kinds = next(
            (kind, place, kinds)
            for kind in registry.in_dependency_order
            for place, kinds in registry.kinds_by_list_key(kind.name).items()
            if isinstance(kinds[0].shape, NodeShape)
        )
        by_type: dict[str, Kind] = {
            kind.shape.yaml_type: kind for kind in kinds if isinstance(kind.shape, NodeShape)
        }
        return NavigationKinds(registry, owner, navigation_key, by_type)

    def content_field(self, kind: Kind) -> tuple[Field, Kind] | None:
        """Return the field that refers to the space that a node shows, and the kind of the space.

        None for a node that shows no space, such as a group.
        """
        for field_ in kind.fields:
            if field_.required and not field_.is_parent_reference and isinstance(field_.type, Reference):
                return field_, self.registry[field_.type.kinds[0]]
        return None

    def settings_single(self, kind: Kind) -> tuple[str, Kind, tuple[str, ...]] | None:
        """Return the key, kind and field names of the object with further settings of a node, if any.

        In the configuration, this object is below the node. In a navigation file, its fields are keys of the
        node itself.
        """
        assert isinstance(kind.shape, NodeShape)
        if kind.shape.navigation_file_customization is None:
            return None
        word, names = kind.shape.navigation_file_customization
        return word, self.registry.kinds_by_list_key(kind.name)[word][0], names

    def single_fields(self, kind: Kind) -> tuple[str, ...]:
        """Return the keys of a node in the file that set fields of the object below the node."""
        single = self.settings_single(kind)
        if single is None:
            return ()
        _, _, field_names = single
        return field_names

    def exported_names(self, kind: Kind) -> frozenset[str]:
        """Return the keys that an export can write to a node of the file."""
        assert isinstance(kind.shape, NodeShape)
        own = {name for name in kind.shape.navigation_file_fields if name in kind.declarable_fields}
        content = self.content_field(kind)
        titles = {content[1].title_field} if content is not None else set()
        return frozenset(own | titles | set(self.single_fields(kind)))

    def is_inside(self, kind: Kind) -> bool:
        """Return whether the address of a node is below the node that contains it, and not beside it."""
        return any(isinstance(self.registry[name].shape, NodeShape) for name in kind.parents)

    def child_kinds_by_type(self, kind: Kind) -> dict[str, Kind]:
        """Return the kinds that a node may contain, by their type in the file."""
        child_kinds = kind.shape.child_kinds if isinstance(kind.shape, NodeShape) else ()
        return {word: node_kind for word, node_kind in self.by_type.items() if node_kind.name in child_kinds}


class NavigationFile(Struct, frozen=True):
    """A navigation file: its root node, its site node, and the unknown keys beside the site."""

    root: Mapping
    site: Mapping
    unknown_keys: tuple[Scalar, ...]
    texts: dict[str, str]
    """The text of the file by its name, to show lines of it."""


def find_navigation_files(directory: Path) -> list[Path]:
    """Return the navigation files of a directory that have GitBook's names."""
    return [directory / name for name in NAVIGATION_FILE_NAMES if (directory / name).is_file()]


def read_navigation(path: Path, name: str, tree: NavigationKinds, project: Path) -> NavigationFile:
    """Read a navigation file, which findings call `name`.

    Raises DiagnosticError (exit 5) for a file of another shape, a file inside `.git`, and a symbolic
    link that leads out of the project or its checkout.
    """
    try:
        data = disk.read(disk.resolve_inside(path, project), DEFAULT_LIMITS.bytes, follow=False)
    except disk.OutsideProjectError as error:
        message = f"dpsync does not read {name}: {disk.error_reason(error)}"
        hint = "pass the path of the file itself, not of a symbolic link. dpsync reads no file inside .git"
        raise DiagnosticError([Diagnostic(codes.OUTSIDE, message, hint=hint)], Exit.INVALID) from None
    except OSError as error:
        message = f"cannot read {path}: {disk.error_reason(error)}"
        raise DiagnosticError([Diagnostic(NAVIGATION_CODE, message)], Exit.INVALID) from None
    texts = {name: decode(data, name)[0]}
    node, problems = read(data, name)
    if problems:
        raise DiagnosticError(problems, Exit.INVALID, texts)
    shape_error = _find_structure_error(node, name, tree)
    if shape_error is not None:
        raise DiagnosticError([shape_error], Exit.INVALID, texts)
    assert isinstance(node, Mapping)
    known = (SCHEMA[0], VERSION[0], tree.owner.name)
    site = node.get(tree.owner.name)
    assert isinstance(site, Mapping)
    return NavigationFile(node, site, tuple(key for key, _ in node if key.text not in known), texts)


def _find_structure_error(node: Node | None, name: str, tree: NavigationKinds) -> Diagnostic | None:
    """Return the error in the outermost levels of the file; None if there is none."""
    hint = f"pass {' or '.join(NAVIGATION_FILE_NAMES)}, the navigation file of GitBook's Git Sync"
    if not isinstance(node, Mapping):
        span = node.span if node is not None else Span.start_of(name)
        return Diagnostic(
            NAVIGATION_CODE,
            f'a navigation file must be a mapping with the key "{tree.owner.name}"',
            span,
            hint=hint,
        )
    version = node.get(VERSION[0])
    is_known_version = (
        isinstance(version, Scalar) and type(version.value) in (int, float) and version.value == VERSION[1]
    )
    if version is not None and not is_known_version:
        message = (
            f"dpsync reads only version {VERSION[1]} of navigation files, but this file has another version"
        )
        return Diagnostic(
            NAVIGATION_CODE,
            message,
            version.span,
            hint=f'write "{VERSION[0]}: {VERSION[1]}", or remove the line',
        )
    site = node.get(tree.owner.name)
    if not isinstance(site, Mapping):
        span = site.span if site is not None else node.span
        return Diagnostic(
            NAVIGATION_CODE,
            f'a navigation file needs a mapping below the key "{tree.owner.name}"',
            span,
            hint=hint,
        )
    nodes = site.get(tree.navigation_key)
    if not isinstance(nodes, Sequence):
        span = nodes.span if nodes is not None else site.span
        return Diagnostic(
            NAVIGATION_CODE,
            f'the {tree.owner.noun} needs a list below the key "{tree.navigation_key}"',
            span,
            hint=hint,
        )
    return None


_STRUCTURAL_KEYS = frozenset({"type", "key", "children", "content"})


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
        return cls(tree, file, list(_file_nodes(tree, file.site.get(tree.navigation_key), ())))

    def copy_settings(self, site: dict[str, Any], exported: list[ExportedNode]) -> None:
        """Copy settings that only the replaced file has to the exported site and nodes.

        An exported node gets the settings of the old node with the same address, or else of the only old node
        with the same key.
        """
        own = self._entries_except(self.file.site, {self.tree.owner.title_field, self.tree.navigation_key})
        _insert_before(site, {name: value for name, value, _ in own}, before=(self.tree.navigation_key,))
        unmatched = []
        for node in exported:
            candidates = [old for old in self._unmatched_nodes(node) if old.keys == node.keys]
            if not self._copy_node_settings(node, candidates):
                unmatched.append(node)
        for node in unmatched:
            candidates = [old for old in self._unmatched_nodes(node) if old.key == node.data["key"]]
            self._copy_node_settings(node, candidates)

    def keys_beside_site(self) -> dict[str, Json]:
        """Return the keys beside the site in the replaced file, with their values."""
        known = {SCHEMA[0], self.tree.owner.name}
        return {name: value for name, value, _ in self._entries_except(self.file.root, known)}

    def lost_settings(self) -> Iterator[LeftOut]:
        """List the settings and comments of the replaced file that the exported file does not have."""
        for node in self.nodes:
            if node.is_matched:
                continue
            address = "/".join((self.tree.navigation_key, *node.keys))
            why = f'dpsync did not keep this key, because the new file has no {node.type} "{node.key}"'
            for name, _, span in self._settings_only_in_file(node):
                yield LeftOut(address, name, why, span)
        ((name, text),) = self.file.texts.items()
        if count := comments(text).total():
            yield LeftOut(
                name, None, f"dpsync did not keep {format_count(count, 'comment')}", Span.start_of(name)
            )

    def _unmatched_nodes(self, exported: ExportedNode) -> Iterator[_FileNode]:
        """Yield the nodes of the replaced file with the type of a node that match no exported node yet."""
        return (node for node in self.nodes if not node.is_matched and node.type == exported.data["type"])

    def _copy_node_settings(self, exported: ExportedNode, candidates: list[_FileNode]) -> bool:
        """Copy the settings of an old node to an exported node if there is exactly one candidate.

        Return whether there is.
        """
        if len(candidates) != 1:
            return False
        (node,) = candidates
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
        return {*_STRUCTURAL_KEYS, *(self.tree.exported_names(kind) if kind is not None else ())}

    def _settings_only_in_file(self, node: _FileNode) -> Iterator[tuple[str, Json, Span]]:
        """Yield name, value and span of each node setting that a configuration cannot express."""
        kind = self.tree.by_type.get(node.type)
        yield from self._entries_except(node.node, self._exported_names(kind))
        content = node.node.get("content")
        if isinstance(content, Mapping):
            known = (
                set(kind.shape.navigation_file_content)
                if kind and isinstance(kind.shape, NodeShape)
                else set()
            )
            for name, value, span in self._entries_except(content, known):
                yield f"content.{name}", value, span

    def _entries_except(self, node: Mapping, known: set[str]) -> list[tuple[str, Json, Span]]:
        """Return key, value and position of the entries of a mapping that are not null and not known."""
        return [
            (key.text, node_value(value), key.span)
            for key, value in node
            if key.text not in known and node_value(value) is not None
        ]


def _file_nodes(
    tree: NavigationKinds, nodes: Node | None, parent_keys: tuple[str, ...]
) -> Iterator[_FileNode]:
    """Yield the valid nodes of a navigation file, each followed by the nodes inside it.

    `parent_keys` are the last segments of the parent's address. They are a part of the address only of some
    kinds of nodes.
    """
    for node in nodes if isinstance(nodes, Sequence) else ():
        type_, key = (node.get("type"), node.get("key")) if isinstance(node, Mapping) else (None, None)
        if isinstance(node, Mapping) and isinstance(type_, Scalar) and isinstance(key, Scalar):
            kind = tree.by_type.get(type_.text)
            outer_keys = parent_keys if kind is not None and tree.is_inside(kind) else ()
            keys = (*outer_keys, key.text if LOCAL_KEY.fullmatch(key.text) else slugify(key.text))
            yield _FileNode(type_.text, key.text, keys, node)
            yield from _file_nodes(tree, node.get("children"), keys)


def _insert_before(data: dict[str, Any], added: dict[str, Any], before: tuple[str, ...]) -> None:
    """Insert entries into a mapping before the entries named `before`."""
    later_entries = {name: data.pop(name) for name in before if name in data}
    data |= {name: value for name, value in added.items() if name not in data} | later_entries


_WRITING = ValueWriter(lambda _kinds, id: id, lambda _path: "")


class ExportedFile(Struct, frozen=True):
    """The data of a navigation file, and the values of the site that the file cannot contain."""

    data: dict[str, Any]
    left_out: tuple[LeftOut, ...]

    def yaml(self) -> str:
        """Return the file as YAML."""
        data = _verbatim_data({name: value for name, value in self.data.items() if name != SCHEMA[0]})
        return yaml_document(BlockMapping(data), f"{SCHEMA[0]}: {SCHEMA[1]}")

    def json(self) -> str:
        """Return the file as JSON."""
        return json_text(self.data, indent=2) + "\n"


def export_navigation(
    desired: Desired, registry: Registry, site: str, replaced: NavigationFile | None = None
) -> ExportedFile:
    """Convert the navigation of a site in the files into a navigation file of GitBook's Git Sync.

    `site` is the address of the site, or its key if only one site has that key. Settings that only the
    `replaced` file has, such as the directory of a space, stay at the same node.

    Raises DiagnosticError (exit 5) if there is no such site, or if the file would not be valid.
    """
    tree = NavigationKinds.of(registry)
    owner = _find_site(desired, tree, site)
    exporter = _NavigationExporter(desired, tree, owner.address.child(*tree.navigation_key.split(".")))
    data = exporter.site_data(owner)
    if exporter.problems:
        raise DiagnosticError(exporter.problems, Exit.INVALID, desired.texts)
    keys_beside_site: dict[str, Any] = {}
    if replaced is not None:
        replaced_file = ReplacedFile.of(replaced, tree)
        replaced_file.copy_settings(data, exporter.nodes)
        keys_beside_site = replaced_file.keys_beside_site()
        exporter.left_out += replaced_file.lost_settings()
    return ExportedFile(
        {SCHEMA[0]: SCHEMA[1], **keys_beside_site, tree.owner.name: data}, tuple(exporter.left_out)
    )


def _find_site(desired: Desired, tree: NavigationKinds, address_or_key: str) -> Entry:
    """Return the entry of the site with this address or key. Raises DiagnosticError (exit 5)."""
    sites = [entry for entry in desired.entries.values() if entry.kind == tree.owner.name]
    by_address = [entry for entry in sites if str(entry.address) == address_or_key]
    matching = by_address or [entry for entry in sites if entry.key == address_or_key]
    if len(matching) == 1:
        return matching[0]
    known = ", ".join(str(entry.address) for entry in sites) or "none"
    problem = (
        f'several entries have the key "{address_or_key}"'
        if matching
        else f'your files contain no {tree.owner.noun} "{address_or_key}"'
    )
    raise DiagnosticError(
        [Diagnostic(NAVIGATION_CODE, problem, hint=f"your files contain: {known}")], Exit.INVALID
    )


class _NavigationExporter(Struct):
    """Converts the navigation of a site to the data of a navigation file."""

    desired: Desired
    tree: NavigationKinds
    root: Address
    """The address of the navigation, with which all node addresses begin."""
    problems: list[Diagnostic] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    nodes: list[ExportedNode] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)
    flag_candidates: dict[tuple[str, str, Address | None], list[Entry]] = field(default_factory=dict)
    """The siblings of which one must have a flag, by kind, flag and list; empty if one has it."""
    settled_flags: set[tuple[str, str, Address | None]] = field(default_factory=set)
    """The kinds, flags and lists for which an entry has the flag."""

    def site_data(self, owner: Entry) -> dict[str, Any]:
        """Return the data of the site with its navigation.

        Fields and lists that a navigation file cannot contain are reported, and so is a group of siblings
        none of which has a flag that one of them must have, such as `default`.
        """
        kind = self.tree.owner
        title = self._field_value(kind, owner, kind.title_field)
        data = {kind.title_field: title if isinstance(title, str) else ""}
        self._report_other_fields(owner, (kind.title_field,))
        for scope in self.desired.scopes.values():
            if scope.parent == owner.address and scope.address.last_segment != self.tree.navigation_key:
                why = "a navigation file contains only the navigation"
                self.left_out.append(LeftOut(str(scope.address), None, why, scope.span))
        nodes = [node for child in owner.children for node in self._node_data(child)]
        for (_, flag, _), entries in self.flag_candidates.items():
            if entries:
                first, *_ = entries
                why = f"no entry of this list has {flag}: true, so GitBook refuses this navigation file"
                self.left_out.append(LeftOut(str(first.address), flag, why, first.span))
        return {**data, self.tree.navigation_key: nodes}

    def _node_data(self, address: Address) -> Iterator[dict[str, Any]]:
        """Yield the data of the node at an address with its children; nothing if there is no entry.

        Missing required values become problems, and fields that the file cannot contain are reported.
        """
        entry = self.desired.entries.get(address)
        if entry is None:
            return
        kind = self.tree.registry[entry.kind]
        assert isinstance(kind.shape, NodeShape)
        shape = kind.shape
        data: dict[str, Any] = {"type": shape.yaml_type, "key": self._unique_key(entry)}
        self.nodes.append(ExportedNode(kind, address.segments[len(self.root.segments) :], data))
        field_names = shape.navigation_file_fields
        content = self.tree.content_field(kind)
        public_values = self._single_values(kind, entry)
        space: dict[str, Any] = {}
        if content is not None:
            content_field, content_kind = content
            space = self._space_data(content_kind, content_field.name, entry, shape) or {}
            title = content_kind.title_field
            if title in space:
                data[title] = space.pop(title)
            if title in public_values:
                self._write_public_title(data, title, public_values, entry, content_field.name)
        for name in field_names:
            value = (
                self._field_value(kind, entry, name)
                if name in kind.declarable_fields
                else public_values.get(name)
            )
            if value is not None:
                data[name] = value
        for name in shape.navigation_file_required:
            if name not in data:
                message = (
                    f'the {kind.noun} "{entry.key}" has no {name}, and the navigation file needs a value'
                )
                command = format_command("import", "--update", str(entry.address.field(name)))
                hint = f"to write the {name} from GitBook into your files: {command}"
                self.problems.append(Diagnostic(NAVIGATION_CODE, message, entry.span, str(address), hint))
        if content is not None:
            data["content"] = {"directory": None, **space}
            field_names = (*field_names, content[0].name)
        self._report_other_fields(entry, field_names)
        self._record_flag_candidates(kind, entry)
        if shape.child_kinds:
            data["children"] = [node for child in entry.children for node in self._node_data(child)]
        yield data

    def _single_values(self, kind: Kind, entry: Entry) -> dict[str, Value]:
        """Return a node's further settings that a navigation file can contain, such as the public title.

        They are an entry of its own below the node. Settings that the file cannot contain are reported.
        """
        single = self.tree.settings_single(kind)
        if single is None:
            return {}
        key, kind, names = single
        single_entry = self.desired.entries.get(entry.address.child(key))
        if single_entry is None:
            return {}
        self._report_other_fields(single_entry, names)
        values = {name: self._field_value(kind, single_entry, name) for name in names}
        return {name: value for name, value in values.items() if value is not None}

    def _write_public_title(
        self, data: dict[str, Any], title: str, public_values: dict[str, Value], entry: Entry, name: str
    ) -> None:
        """Write the title that the site shows into the data of a node, in place of the title of the space.

        A different title of the space is reported. `title` is the name of the title field, and `name` the
        field of the entry that refers to the space.
        """
        target = entry.fields[name]
        if title in data and data[title] != public_values[title] and isinstance(target, Ref):
            space = self.desired.entries[target.address]
            why = f"the site shows the title of {entry.address} instead, so the file contains that title"
            self.left_out.append(LeftOut(str(space.address), title, why, space.field_span(title)))
        data[title] = public_values[title]

    def _record_flag_candidates(self, kind: Kind, entry: Entry) -> None:
        """Record in `flag_candidates` which siblings lack a flag that one of them must have (`default`).

        As soon as one sibling has the flag, there are no candidates.
        """
        for kind_field in kind.fields:
            if kind_field.exclusive_within is not None:
                list_address = entry.parent if kind_field.exclusive_within == "parent" else None
                others = self.flag_candidates.setdefault((kind.name, kind_field.name, list_address), [])
                is_first = (kind.name, kind_field.name, list_address) not in self.settled_flags
                if entry.fields.get(kind_field.name) is True:
                    self.settled_flags.add((kind.name, kind_field.name, list_address))
                    others.clear()
                elif is_first:
                    others.append(entry)

    def _unique_key(self, entry: Entry) -> str:
        """Return the key of an entry if no other node of the file has it, otherwise `PARENT-KEY` or `KEY-2`.

        Another key is reported.
        """
        key = entry.key
        if key in self.keys:
            parent = self.desired.entries.get(entry.parent) if entry.parent is not None else None
            key = f"{parent.key if parent else entry.kind}-{key}"
        key = first_unused_name(key, self.keys.__contains__)
        self.keys.add(key)
        if key != entry.key:
            why = f'a navigation file cannot contain a key twice, so the new key is "{key}"'
            self.left_out.append(LeftOut(str(entry.address), "key", why, entry.span))
        return key

    def _space_data(self, kind: Kind, name: str, entry: Entry, shape: NodeShape) -> dict[str, Any] | None:
        """Return the data of the space that a node shows: its title, then other values.

        None and a problem if the files do not contain the space or its title.
        """
        target = entry.fields.get(name)
        target_entry = self.desired.entries.get(target.address) if isinstance(target, Ref) else None
        title = target_entry.fields.get(kind.title_field) if target_entry is not None else None
        if target_entry is None or not isinstance(title, str):
            message = f'the {kind.noun} that "{entry.key}" shows has no {kind.title_field} in your files'
            hint = f'add the {kind.noun} with its {kind.title_field} below "{kind.key}"'
            self.problems.append(
                Diagnostic(NAVIGATION_CODE, message, entry.field_span(name), str(entry.address), hint)
            )
            return None
        other_values = {
            field_name: target_entry.fields[field_name]
            for field_name in shape.navigation_file_content
            if target_entry.fields.get(field_name) is not None
        }
        return {kind.title_field: title, **other_values}

    def _field_value(self, kind: Kind, entry: Entry, name: str) -> Value:
        """Return the value of a field; None without a value, or if the file cannot contain it."""
        value = entry.fields.get(name)
        field_ = kind.field(name)
        if value is None or value == field_.value_when_absent:
            return None
        try:
            _WRITING.yaml_value(field_.type, value)
        except UnwritableValueError as why:
            self.left_out.append(LeftOut(str(entry.address), name, str(why), entry.field_span(name)))
            return None
        return value

    def _report_other_fields(self, entry: Entry, exported_names: tuple[str, ...]) -> None:
        """Report the fields of an entry that the file cannot contain; `exported_names` are those it can."""
        kind = self.tree.registry[entry.kind]
        for name, value in entry.fields.items():
            kind_field = kind.field(name)
            if (
                name in exported_names
                or kind_field.is_parent_reference
                or value is None
                or value == kind_field.value_when_absent
            ):
                continue
            why = f"a navigation file cannot contain this field of {kind.noun_with_article}"
            self.left_out.append(LeftOut(str(entry.address), name, why, entry.field_span(name)))


def _verbatim_data(value: Any) -> Any:
    """Prepare JSON data for the YAML writer: "$" in texts is not escaped, and no mapping is on one line."""
    if isinstance(value, dict):
        data = {Verbatim(name): _verbatim_data(child) for name, child in value.items()}
        return BlockMapping(data) if data else data
    if isinstance(value, list):
        return [_verbatim_data(child) for child in value]
    return Verbatim(value) if isinstance(value, str) else value
