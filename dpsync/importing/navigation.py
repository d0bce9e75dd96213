"""Convert the navigation file of a site, from GitBook's Git Sync, into a configuration.

`convert_navigation_file` returns files that load. The nodes keep their types, but each space that a node
shows gets an entry of its own. A setting without a counterpart is left out and reported with its line.
GitBook is not read.
"""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from typing import Any

from dpsync.config.compose import SINGLE_ORGANIZATION_KEY
from dpsync.importing.entries import LeftOut
from dpsync.importing.inventory import first_unused_name
from dpsync.importing.keys import slugify
from dpsync.importing.layout import ROOT_FILE, NewConfiguration, NewFiles, include_patterns, root_mapping
from dpsync.importing.navigation_file import NAVIGATION_CODE, NavigationKinds, read_navigation
from dpsync.importing.values import UnwritableValueError, ValueWriter
from dpsync.importing.write_yaml import BlockMapping
from dpsync.kinds.kind import Field, Kind
from dpsync.kinds.kind import TreeNode as NodeShape
from dpsync.kinds.registry import Registry
from dpsync.kinds.types import Reference, Text
from dpsync.model.address import LOCAL_KEY, Address
from dpsync.model.diagnostic import Diagnostic, DiagnosticError, Exit
from dpsync.model.nodes import Mapping, Scalar, Sequence, Span, node_value
from dpsync.model.nodes import Node as Parsed
from dpsync.model.values import canonical_json

_WRITING = ValueWriter(lambda _kinds, id: id, lambda _path: "")
_UNKNOWN_KEY_REASON = "dpsync has no setting for this key"


def convert_navigation_file(
    path: Path,
    registry: Registry,
    organization: str,
    title: str | None = None,
    name: str | None = None,
    project: Path | None = None,
) -> NewConfiguration:
    """Convert a navigation file of GitBook's Git Sync into the files of a configuration.

    Raises DiagnosticError (exit 5) for a file of another structure, for a symbolic link out of the project,
    for a site without a title, and if the result would not be a valid configuration.

    Args:
        path: The path of the navigation file.
        registry: The kinds.
        organization: The id of the organization of the site.
        title: A title that replaces the title in the file.
        name: The name of the file in findings.
        project: The directory that contains the file even if it is a link; by default its own directory.
    """
    name = name or path.name
    tree = NavigationKinds.of(registry)
    file = read_navigation(path, name, tree, project or path.parent)
    converter = _NavigationConverter(tree, organization, name)
    for key in file.unknown_keys:
        converter.leave_out("", key.text, _UNKNOWN_KEY_REASON, key.span)
    converter.convert_site(file.site, title)
    if converter.problems:
        raise DiagnosticError(converter.problems, Exit.INVALID, file.texts)
    configuration = converter.configuration()
    errors = configuration.load(registry)[1].errors
    if errors:
        message = "dpsync cannot make a valid configuration of this navigation file, and wrote nothing"
        raise DiagnosticError([Diagnostic(NAVIGATION_CODE, message), *errors], Exit.INVALID, file.texts)
    return configuration


class _NoCounterpartError(Exception):
    """A node has no counterpart in dpsync. The message has the reason."""


class _NavigationConverter:
    """Converts the navigation file of one site (from GitBook's Git Sync) into a dpsync configuration.

    `problems` has the errors in the file, and `left_out` what is not converted.
    """

    def __init__(self, tree: NavigationKinds, organization: str, file: str) -> None:
        """Prepare to convert a navigation file into a configuration of an organization, given by its id."""
        self.tree = tree
        self.registry = tree.registry
        self.organization = organization
        self.file = file
        organization_key = slugify(organization) or self.registry.root.name
        # Address patterns may start with a YAML key such as "teams" instead of the key of an organization.
        is_ambiguous = organization_key in self.registry.pattern_words
        self.organization_key = f"{organization_key}-2" if is_ambiguous else organization_key
        self.problems: list[Diagnostic] = []
        self.left_out: list[LeftOut] = []
        self.entries: dict[str, dict[str, dict[str, Any]]] = {}
        """The fields of the entries outside the site, such as its spaces: by list key, then by entry key."""
        self.site_fields: dict[str, Any] = {}
        """The fields of the site, with its navigation, as YAML data."""
        self.site_key = ""
        self.root = Address(())
        """The address of the navigation, with which all node addresses begin."""
        self._used_keys: dict[Hashable, set[str]] = {}
        """The keys of entries that are already in use, by the list in which they must be unique."""
        self._unique_values: dict[Hashable, Span] = {}
        """The position of each value that must be unique: a default, a path, a name."""
        self._nodes_without_path: set[Address] = set()
        self._entries_without_path: set[Hashable] = set()
        """The entries that the site shows without a path, as `_identity_of_title` identifies them."""

    def leave_out(self, address: Address | str, field: str | None, why: str, span: Span) -> None:
        """Report a setting of the file that the configuration does not have, or has with another value."""
        self.left_out.append(LeftOut(str(address) or self.file, field, why, span))

    def _add_error(self, message: str, span: Span, hint: str | None = None) -> None:
        """Add an error at a position in the navigation file."""
        self.problems.append(Diagnostic(NAVIGATION_CODE, message, span, hint=hint))

    # The site and its nodes.

    def convert_site(self, site: Mapping, title: str | None) -> None:
        """Convert the site and its navigation; `title` replaces the title in the file.

        The result is stored in `site_fields`, `entries` and `left_out`.
        """
        owner, navigation_key = self.tree.owner, self.tree.navigation_key
        site_title = self._choose_title(site, title)
        self.site_key = slugify(site_title) or owner.noun
        address = Address((self.organization_key,)).child(*owner.key.split("."), self.site_key)
        self.root = address.child(*navigation_key.split("."))
        other_entries = _entries_by_key(site, except_keys=(owner.title_field, navigation_key))
        self.site_fields = {
            owner.title_field: site_title,
            **self._field_data(owner, other_entries, address, address),
        }
        self._report_unknown(other_entries, address)
        items = site.get(navigation_key)
        assert isinstance(items, Sequence)
        converted = [
            (node_in_file, node)
            for node_in_file in items
            if (node := self._convert_node(node_in_file, self.tree.by_type, self.root))
        ]
        nodes = self._without_misplaced_nodes(converted)
        if nodes:
            self.site_fields[navigation_key] = nodes
        elif not self.problems:
            why = "the list would be empty, and an empty list would delete the whole navigation in GitBook"
            self.leave_out(address, navigation_key, why, items.span)

    def _choose_title(self, site: Mapping, title_option: str | None) -> str:
        """Return the title of the site: the value of --title (`title_option`), else the title in the file.

        Return "" and add an error if there is no valid title.
        """
        field_ = self.tree.owner.field(self.tree.owner.title_field)
        node = site.get(field_.name)
        written = node_value(node) if node is not None else None
        if node is not None and title_option not in (None, written):
            self.leave_out(
                self.file,
                f"{self.tree.owner.name}.{field_.name}",
                f'--title replaces this value with "{title_option}"',
                node.span,
            )
        title = title_option if title_option is not None else written
        span = node.span if node is not None else site.span
        if title is None:
            message = f"the {self.tree.owner.noun} has no {field_.name} in this file"
            self._add_error(message, span, "pass a title: --title NAME")
            return ""
        try:
            return str(_WRITING.yaml_value(field_.type, title))
        except UnwritableValueError as why:
            message = f"{'--title' if title_option is not None else field_.name}: {why}"
            self._add_error(message, span, "pass another title: --title NAME")
            return ""

    def _convert_node(
        self, node: Parsed, allowed: dict[str, Kind], parent_address: Address
    ) -> dict[str, Any] | None:
        """Convert a node with its children to YAML data; None if it is invalid or has no counterpart.

        `allowed` has the kinds that the node may have, by their type in the file, and `parent_address` is the
        address of the node or site that contains the node.
        """
        word = node.get("type") if isinstance(node, Mapping) else None
        kind = allowed.get(str(word.value)) if isinstance(word, Scalar) else None
        if not isinstance(node, Mapping) or kind is None:
            wrong = word.span if word is not None else node.span
            self._add_error(f"the type must be one of {', '.join(allowed)}", wrong)
            return None
        key = node.get("key")
        if not isinstance(key, Scalar) or not key.text:
            self._add_error(f"{kind.noun_with_article} needs a key", node.span)
            return None
        list_address = parent_address if self.tree.is_inside(kind) else self.root
        address = list_address.child(self._choose_key(key, node, kind, list_address))
        try:
            return self._make_node(kind, node, address, parent_address)
        except _NoCounterpartError as why:
            self.leave_out(address, None, str(why), node.span)
            return None

    def _report_nodes_inside(self, kind: Kind, node: Mapping, parent_address: Address) -> None:
        """Report each node inside a node that is left out, also those in nested nodes.

        `kind` and `parent_address` are those of the node that is left out.
        """
        children = node.get("children")
        for child in children if isinstance(children, Sequence) else ():
            word, key = (child.get("type"), child.get("key")) if isinstance(child, Mapping) else (None, None)
            inside = (
                self.tree.child_kinds_by_type(kind).get(str(word.value)) if isinstance(word, Scalar) else None
            )
            if not isinstance(child, Mapping) or not isinstance(key, Scalar) or inside is None:
                continue
            list_address = parent_address if self.tree.is_inside(inside) else self.root
            address = list_address.child(
                key.text if LOCAL_KEY.fullmatch(key.text) else slugify(key.text) or inside.noun
            )
            self.leave_out(
                address,
                None,
                f'the {inside.noun} is inside the {kind.noun} "{parent_address.last_segment}", which dpsync '
                "cannot import",
                child.span,
            )
            self._report_nodes_inside(inside, child, address)

    def _make_node(
        self, kind: Kind, node: Mapping, address: Address, parent_address: Address
    ) -> dict[str, Any]:
        """Convert a valid node with its children to YAML data, and add the entry of the space that it shows.

        Raises _NoCounterpartError if the node lacks a required field or child.
        """
        assert isinstance(kind.shape, NodeShape)
        values = _entries_by_key(node, except_keys=("type", "key", "children", "content"))
        data: dict[str, Any] = {"type": kind.shape.yaml_type, "key": address.last_segment}
        content_field, content_kind = self.tree.content_field(kind) or (None, None)
        all_values = dict(values)
        entry = None  # the fields of the entry for the space that the node shows
        if content_kind is not None:
            entry = self._content_field_data(content_kind, node, values, address)
        values = {name: pair for name, pair in values.items() if name not in self.tree.single_fields(kind)}
        try:
            fields = self._field_data(kind, values, address, parent_address)
        except _NoCounterpartError:
            self._report_nodes_inside(kind, node, address)
            raise
        if kind.natural_keys[0] not in fields:
            self._nodes_without_path.add(address)
        if content_kind is not None and entry is not None:
            has_path = self._nodes_without_path.isdisjoint((address, parent_address))
            self._make_title_unique(content_kind, entry, address, self.root, node.span, has_path)
        single = self._single_data(kind, all_values, entry or {}, address)
        children = self._convert_children(kind, node, address)
        if len(children or ()) < kind.shape.min_children:
            child_nouns = " or ".join(self.registry[name].noun for name in kind.shape.child_kinds)
            raise _NoCounterpartError(
                f"{kind.noun_with_article} needs at least {kind.shape.min_children} {child_nouns}, but "
                f"this {kind.noun} has none"
            )
        self._report_unknown(values, address)
        if content_field is not None and content_kind is not None and entry is not None:
            data[content_field.name] = self._add_content_entry(content_kind, entry, address)
        self._make_title_unique(kind, fields, address, parent_address, node.span)
        data |= fields | single
        return BlockMapping({**data, "children": children}) if children else data

    def _single_data(
        self,
        kind: Kind,
        values: dict[str, tuple[Scalar, Parsed]],
        content_fields: dict[str, Any],
        address: Address,
    ) -> dict[str, Any]:
        """Return the data of a node's settings that are an object of their own, such as its public title.

        A setting is left out if the space that the node shows has the same value. `values` has the keys of
        the node in the navigation file, and `content_fields` the fields of the entry of that space. The
        result is empty without such settings.
        """
        single = self.tree.settings_single(kind)
        if single is None:
            return {}
        word, kind, names = single
        differing = {
            name: values[name]
            for name in names
            if name in values and node_value(values[name][1]) != content_fields.get(name)
        }
        fields = self._field_data(kind, differing, address.child(word), address)
        return {word: fields} if fields else {}

    def _convert_children(self, kind: Kind, node: Mapping, address: Address) -> list[dict[str, Any]] | None:
        """Convert the children of a node; return None if the kind allows no children, or after an error."""
        inside = self.tree.child_kinds_by_type(kind)
        children = node.get("children")
        if children is None or (isinstance(children, Scalar) and children.value is None):
            return [] if inside else None
        if not isinstance(children, Sequence) or not inside:
            self._add_error(
                '"children" must be a list' if inside else f"{kind.noun_with_article} cannot have children",
                children.span,
            )
            return None
        return [
            child_data
            for child in children
            if (child_data := self._convert_node(child, inside, address)) is not None
        ]

    def _without_misplaced_nodes(
        self, nodes_with_source: list[tuple[Parsed, dict[str, Any]]]
    ) -> list[dict[str, Any]]:
        """Return the nodes at the top level without those that must not be next to the others.

        Some kinds of nodes exclude all other kinds at the top level. If both exist, those that show content
        stay, and the others are left out. Each node comes with its source in the file.
        """
        nodes_apart = []
        for node_in_file, node in nodes_with_source:
            shape = self.tree.by_type[node["type"]].shape
            is_exclusive = isinstance(shape, NodeShape) and shape.excludes_other_kinds_at_root
            nodes_apart.append((node_in_file, node, is_exclusive))
        keeps_exclusive = not any(self._shows_content(node) for _, node, alone in nodes_apart if not alone)
        if len({alone for _, _, alone in nodes_apart}) < 2:
            return [node for _, node in nodes_with_source]
        for node_in_file, node, alone in nodes_apart:
            if alone is keeps_exclusive:
                continue
            kind = self.tree.by_type[node["type"]]
            if (content := self.tree.content_field(kind)) is not None:
                content_field, content_kind = content
                del self.entries[content_kind.key][node[content_field.name]]
            others = {
                self.tree.by_type[other["type"]].noun
                for _, other, is_alone in nodes_apart
                if is_alone is keeps_exclusive
            }
            why = (
                f"{kind.noun_with_article} cannot be at the top level next to a "
                f"{' or a '.join(sorted(others))}"
            )
            self.leave_out(self.root.child(node["key"]), None, why, node_in_file.span)
        return [node for _, node, alone in nodes_apart if alone is keeps_exclusive]

    def _shows_content(self, node: dict[str, Any]) -> bool:
        """Return whether a node, or a node inside it, shows content: a space of its own."""
        kind = self.tree.by_type[node["type"]]
        return self.tree.content_field(kind) is not None or any(
            map(self._shows_content, node.get("children", ()))
        )

    # The fields of entries.

    def _field_data(
        self, kind: Kind, values: dict[str, tuple[Scalar, Parsed]], address: Address, parent_address: Address
    ) -> dict[str, Any]:
        """Return the fields of an entry as YAML data in the order of its kind, removed from `values`.

        Empty values, defaults, values that are not allowed and duplicates of unique values are left out.
        Raises _NoCounterpartError if a required field has no valid value.
        """
        fields: dict[str, Any] = {}
        for field_ in kind.fields:
            if field_.is_parent_reference or field_.name not in values or not field_.is_declarable:
                continue
            key, node = values.pop(field_.name)
            value = node_value(node)
            if (
                value is None
                or value == field_.value_when_absent
                or (value == "" and field_.empty_text_is_none)
            ):
                continue
            if field_.required and not isinstance(value, str):
                self._add_error(f"the {field_.name} of {kind.noun_with_article} must be a text", node.span)
            written = self._value_data(field_, value, address, key.span)
            if written is not None and not self._is_duplicate(
                kind, field_, written, address, parent_address, key.span
            ):
                fields[field_.name] = written
        for field_ in kind.fields:
            must_be_set = (
                field_.required and not field_.is_parent_reference and not isinstance(field_.type, Reference)
            )
            if must_be_set and field_.name not in fields and kind is not self.tree.owner:
                raise _NoCounterpartError(
                    f"{kind.noun_with_article} needs a {field_.name}, but this {kind.noun} has no "
                    f"valid {field_.name}"
                )
        return fields

    def _value_data(self, field_: Field, value: Any, address: Address, span: Span) -> Any:
        """Return a value as YAML data; None if it is not allowed, which is reported.

        A required text that is too long is shortened, and reported, too.
        """
        try:
            return _WRITING.yaml_value(field_.type, value)
        except UnwritableValueError as why:
            max_length = field_.type.max_length if isinstance(field_.type, Text) else None
            if (
                field_.required
                and max_length is not None
                and isinstance(value, str)
                and len(value) > max_length
            ):
                shortened = value[:max_length].rstrip()
                self.leave_out(address, field_.name, f'{why}, so the new value is "{shortened}"', span)
                return self._value_data(field_, shortened, address, span)
            self.leave_out(address, field_.name, str(why), span)
            return None

    def _is_duplicate(
        self, kind: Kind, field_: Field, value: Any, address: Address, parent_address: Address, span: Span
    ) -> bool:
        """Return whether another object in the same list already has a value that must be unique.

        A duplicate is reported as left out.
        """
        scope = field_.exclusive_within if value is True else field_.unique_within
        if scope is None:
            return False
        list_address = parent_address if scope == "parent" and self.tree.is_inside(kind) else self.root
        first = self._unique_values.setdefault((kind.name, field_.name, list_address, value), span)
        if first is span:
            return False
        self.leave_out(
            address,
            field_.name,
            f"only one {kind.noun} can have this value, and the {kind.noun} at {first} has the value already",
            span,
        )
        return True

    def _make_title_unique(
        self, kind: Kind, fields: dict[str, Any], address: Address, parent_address: Address, span: Span,
        has_path: bool = False,
    ) -> None:  # fmt: skip
        """Append a number to the title of an entry if another entry in the same list has the same title.

        Only kinds that are recognized by their title need that. The titles stay if the site shows both
        entries at paths (`has_path`), which distinguish the entries.
        """
        name = kind.natural_keys[0] if kind.natural_keys else None
        if (
            not isinstance(name, str)
            or kind.key_field
            or kind.field(name).unique_within
            or name not in fields
        ):
            return
        ties = [fields.get(tie) for tie in kind.tie_breakers if not kind.field(tie).is_parent_reference]
        original, number, type_ = str(fields[name]), 1, kind.field(name).type
        max_length = type_.max_length if isinstance(type_, Text) else None
        identity = self._identity_of_title(kind, original, ties, parent_address)
        while self._unique_values.setdefault(identity, span) is not span and not (
            has_path and identity not in self._entries_without_path
        ):
            number += 1
            suffix = f" ({number})"
            fields[name] = f"{original[: max_length and max_length - len(suffix)]}{suffix}"
            identity = self._identity_of_title(kind, fields[name], ties, parent_address)
        self._entries_without_path |= set() if has_path else {identity}
        if number > 1:
            first = self._unique_values[self._identity_of_title(kind, original, ties, parent_address)]
            why = f"the {kind.noun} at {first} has the same {name}"
            self.leave_out(address, name, f'{why}, so the new value is "{fields[name]}"', span)

    def _identity_of_title(
        self, kind: Kind, value: Any, ties: list[Any], parent_address: Address
    ) -> Hashable:
        """Return what identifies a title in a list: the kind, the list, the title and the tie breakers."""
        return kind.name, parent_address, canonical_json([value, *ties])

    def _report_unknown(
        self, entries: dict[str, tuple[Scalar, Parsed]], address: Address, inside: str = ""
    ) -> None:
        """Report the keys in the file for which dpsync has no field; `inside` is a prefix of their names."""
        for name, (key, node) in entries.items():
            if node_value(node) not in (None, False):
                self.leave_out(address, f"{inside}{name}", _UNKNOWN_KEY_REASON, key.span)

    # The space that a node shows.

    def _content_field_data(
        self, kind: Kind, node: Mapping, values: dict[str, tuple[Scalar, Parsed]], address: Address
    ) -> dict[str, Any]:
        """Return the fields of the entry for the space that a node shows.

        In the file, the required fields of the space, such as its title, are keys of the node (`values`).
        """
        content = node.get("content")
        content_entries = _entries_by_key(content) if isinstance(content, Mapping) else {}
        for field_ in kind.fields:
            if field_.required and field_.name in values:
                content_entries[field_.name] = values.pop(field_.name)
        fields = self._field_data(kind, content_entries, address, self.root)
        for name, (key, value) in content_entries.items():
            if node_value(value) is not None:
                why = "dpsync has no setting for the directory of a space"
                self.leave_out(address, f"content.{name}", why, key.span)
        return fields

    def _add_content_entry(self, kind: Kind, fields: dict[str, Any], address: Address) -> str:
        """Add the entry of the space that the node at an address shows, and return the key of the entry.

        The key is made from the keys of the node and its parents, such as `guides-start` for `guides/start`.
        """
        *parent_keys, node_key = address.segments[len(self.root.segments) :]
        has_parent_prefix = node_key == "-".join(parent_keys) or node_key.startswith(
            "".join(f"{parent_key}-" for parent_key in parent_keys)
        )
        key = self._free_key(kind.key, node_key if has_parent_prefix else "-".join((*parent_keys, node_key)))
        self.entries.setdefault(kind.key, {})[key] = fields
        return key

    def _choose_key(self, key: Scalar, node: Mapping, kind: Kind, list_address: Address) -> str:
        """Return the key of a node, or a valid and unused key made from that key or the title.

        Another key is reported.
        """
        title = node.get(kind.title_field)
        words = (key.text, title.text if isinstance(title, Scalar) else "", kind.noun)
        valid_key = key.text if LOCAL_KEY.fullmatch(key.text) else next(filter(None, map(slugify, words)))
        new_key = self._free_key(list_address, valid_key)
        if new_key != key.text:
            reason = (
                "another entry has this key"
                if new_key != valid_key
                else 'a key can contain only letters, digits, ".", "_" and "-"'
            )
            self.leave_out(
                list_address.child(new_key),
                "key",
                f'the new key is "{new_key}" instead of "{key.text}", because {reason}',
                key.span,
            )
        return new_key

    def _free_key(self, scope: Hashable, preferred_key: str) -> str:
        """Return a key that is not used in a scope yet, and mark the key as used."""
        used = self._used_keys.setdefault(scope, set())
        key = first_unused_name(preferred_key, used.__contains__)
        used.add(key)
        return key

    # Writing.

    def configuration(self) -> NewConfiguration:
        """Return the dpsync files for the site that was converted from a navigation file of Git Sync.

        These are the root file, one file for each list of entries outside the site (such as the spaces that
        its navigation shows), and one file for the site with its navigation. `convert_site` must come first.
        """
        new_files = NewFiles(self.registry)
        for list_key, entries in sorted(self.entries.items()):
            if entries:
                part = BlockMapping(
                    {SINGLE_ORGANIZATION_KEY: self.organization_key, list_key: BlockMapping(entries)}
                )
                new_files.add_yaml(f"{self.organization_key}/{list_key}.yaml", part)
        sites_key = self.tree.owner.key  # "sites"
        path = f"{self.organization_key}/{sites_key}/{self.site_key}.yaml"
        site = BlockMapping({self.site_key: BlockMapping(self.site_fields)})
        new_files.add_yaml(
            path, BlockMapping({SINGLE_ORGANIZATION_KEY: self.organization_key, sites_key: site})
        )
        head = {"dpsync": 1, "include": include_patterns(new_files.contents)}
        new_files.add_yaml(
            ROOT_FILE, root_mapping(head, {self.organization_key: BlockMapping({"id": self.organization})})
        )
        files = dict(sorted(new_files.contents.items()))
        return NewConfiguration(files, tuple(self.left_out))


def _entries_by_key(node: Mapping, except_keys: tuple[str, ...] = ()) -> dict[str, tuple[Scalar, Parsed]]:
    """Return the keys and values of a mapping, without `except_keys`."""
    return {key.text: (key, value) for key, value in node if key.text not in except_keys}
