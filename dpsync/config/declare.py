"""Collect all entries with their addresses and keys: the first of two passes over the configuration.

`Declarations.declare_organizations` is the entry point. Fields stay YAML nodes: `resolve.py` reads them by
their types once every address is known. Only the shapes of kinds (lists, single objects, trees) matter here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from collections.abc import Sequence as Several

from msgspec import Struct, field

from dpsync.config.compose import Composition
from dpsync.config.csv_rows import FILE_KEY, read_entries, row_format
from dpsync.kinds.kind import EntryMapping, Kind, SingleEntry
from dpsync.kinds.kind import TreeNode as NodeShape
from dpsync.kinds.registry import Registry
from dpsync.kinds.short_forms import expand_short_forms
from dpsync.kinds.types import OneOf, TextFile
from dpsync.kinds.types.base import describe_node
from dpsync.model.address import LOCAL_KEY, Address
from dpsync.model.desired import Scope
from dpsync.model.diagnostic import Diagnostic, Findings
from dpsync.model.ids import declared_id_problem
from dpsync.model.nodes import Mapping, Node, Scalar, Sequence, Span
from dpsync.model.text import did_you_mean

NODE_KEYWORDS = ("type", "key")
POLICY_KEYWORDS = ("prune", "protect", "ignore", "forget", "watch", "removed", "accept", "limits")
_MAX_NAMED_KINDS = 3
"""The maximum number of kinds that a message names."""


class Declaration(Struct):
    """A declared entry whose fields are still YAML nodes."""

    kind: Kind
    address: Address
    key: str
    key_span: Span
    parent: Address | None
    holder: Address | None = None
    nodes: dict[str, tuple[Scalar | None, Node]] = field(default_factory=dict)
    pin: Scalar | None = None
    has_invalid_pin: bool = False
    previously: tuple[Scalar, Node] | None = None
    new: tuple[Scalar, Node] | None = None
    takeover: tuple[Scalar, Node] | None = None
    children: list[Address] = field(default_factory=list)
    misspelled_keys: set[str] = field(default_factory=set)
    """Known keys for which a misspelt key was probably meant: they do not count as missing."""


class Declarations:
    """Every entry and scope of a configuration, and the findings about them."""

    def __init__(self, registry: Registry, sources: Composition) -> None:
        """Prepare to collect the entries of a composed configuration, whose findings are kept."""
        self.registry = registry
        self.complete = sources.complete
        self.unknown = sources.unknown
        self.entries: dict[Address, Declaration] = {}
        self.scopes: dict[Address, Scope] = {}
        self.empty_scopes: list[Scope] = []
        self.diagnostics = Findings(sources.diagnostics, reported_spans=sources.unknown)
        self._suggestions: dict[tuple[str, str], str | None] = {}
        self.load_text_file: Callable[[Scalar], TextFile | None] | None = None
        """Reads the text of a file that a value names; None reads no file."""
        self.row_files: set[str] = set()
        """The names of the CSV files with entries, relative to the project."""
        self.unreadable: set[Address] = set()
        """Addresses of invalid entries, or lists of entries, that already have a finding."""

    def error(
        self, code: str, message: str, span: Span, hint: str | None = None, first: Span | None = None,
        cause: str | None = None,
    ) -> None:  # fmt: skip
        """Add an error. `first` is the position of an earlier entry that this error conflicts with."""
        related = (("the first one", first),) if first else ()
        self.diagnostics.append(Diagnostic(code, message, span, hint=hint, related=related, cause=cause))

    def unknown_key(self, key: Scalar, known: list[str], location: str) -> str | None:
        """Report an unknown key, and return the allowed key that was probably meant, or None.

        `known` lists the allowed keys. `location` names the mapping that contains the key, for the message
        ("a site").
        """
        word = str(key.value)
        nearest = self._suggestions.get((word, location))
        hint = None
        if not self.diagnostics.is_full("DP201"):  # further findings are only counted: suggestions are slow
            if nearest is None:
                nearest = self._suggestions[word, location] = did_you_mean(word, known)
            has_outer_space = word.strip() != word
            guess = f'did you mean "{nearest}"?' if nearest and not has_outer_space else None
            hint = guess or self._unknown_key_hint(word, known, location)
        self.error("DP201", f'unknown key "{key.value}" in {location}', key.span, hint)
        return nearest

    def _unknown_key_hint(self, word: str, known: list[str], location: str) -> str:
        """Return a hint for an unknown key that resembles no allowed key.

        It may contain an invisible character, belong under `policy`, or belong to another kind of entry.
        """
        if word.strip() in known:
            return (
                "this key contains an invisible character that looks like a space: "
                f'type "{word.strip()}" and its indentation again'
            )
        if word in POLICY_KEYWORDS:
            return f'"{word}" belongs under "policy" at the top of dpsync.yaml'
        kinds_with_key = [
            kind.noun_with_article
            for kind in self.registry.in_dependency_order
            if word in kind.declarable_fields
            or any(list_key.split(".")[0] == word for list_key in self.registry.kinds_by_list_key(kind.name))
        ]
        if 0 < len(kinds_with_key) <= _MAX_NAMED_KINDS and location not in kinds_with_key:
            *others, last = kinds_with_key
            return f'"{word}" is a key of {", ".join(others)}{" or " if others else ""}{last}'
        return f"allowed keys: {', '.join(sorted(known))}"

    def may_be_unread(self, address: Address) -> bool:
        """Return whether the files may declare this address in a part that could not be read.

        A reference to such an address gets no finding of its own, because the unread part already has one.
        """
        return not self.complete or any(
            Address(address.segments[:n]) in self.unreadable for n in range(1, len(address.segments) + 1)
        )

    def declare_organizations(self, node: Node) -> None:
        """Add the entries of all organizations in the value of `organizations`. This is the entry point.

        A reserved word as a key is reported.
        """
        root = self.registry.root
        if not isinstance(node, Mapping):
            return  # compose.py has reported this, and also an empty mapping
        for key, value in node.entries:
            word = str(key.value)
            if word in self.registry.pattern_words:
                self.error(
                    "DP210", f'"{word}" is a reserved word and cannot be the key of an organization', key.span
                )
                continue
            self._declare_entry(root, Address.root(word), key, value, parent=None)

    def _declare_entry(
        self, kind: Kind, address: Address, key: Scalar, node: Node, parent: Address | None
    ) -> None:
        """Add the entry that `key: node` declares in a file, and the entries inside it.

        An invalid entry is reported and its address is added to `unreadable`.
        """
        if not self.registry.has_data_key(kind) and (
            key.interpolated or not LOCAL_KEY.fullmatch(str(key.value))
        ):
            self.error("DP211", f'"{key.value}" is not a valid key', key.span, _local_key_hint(key))
            self.unreadable.add(address)
            return
        # A written null is the value of the only field of an entry, if this field accepts null.
        is_null_value = (
            isinstance(node, Scalar)
            and bool(node.text)
            and kind.is_always_shorthand
            and kind.field(str(kind.shorthand_field)).null_effect != "refused"
        )
        is_empty = isinstance(node, Scalar) and node.value is None and not is_null_value
        has_valid_shape = (isinstance(node, Mapping) and not kind.is_always_shorthand) or bool(
            kind.shorthand_field
        )
        if is_empty or not has_valid_shape:
            # Add no entry: it would get further findings about missing fields.
            self.unreadable.add(address)
            if is_empty and node.span in self.unknown:
                return
            if is_empty:
                self.error(
                    "DP212", f'the {kind.noun} "{key.value}" is empty', key.span, _empty_entry_hint(kind)
                )
            else:
                message = f"{kind.noun_with_article} must be a mapping, found {describe_node(node)}"
                self.error(
                    "DP202",
                    message,
                    node.span,
                    _missing_space_hint(node) or _text_entry_hint(kind, key, node),
                )
            return
        entry = Declaration(kind, address, str(key.value), key.span, parent)
        if not self._add_declaration(entry):
            return
        if isinstance(node, Mapping) and not kind.is_always_shorthand:
            self._declare_fields(entry, node)
        else:
            assert kind.shorthand_field
            entry.nodes[kind.shorthand_field] = (None, node)

    def _add_declaration(self, entry: Declaration) -> bool:
        """Add an entry, and return whether its address was free. Reports a second declaration."""
        other = self.entries.get(entry.address)
        if other is not None:
            message = f'"{entry.key}" is declared twice'
            if entry.key != other.key:
                message = (
                    f'"{other.key}" and "{entry.key}" are the same {entry.kind.noun}: '
                    "upper and lower case make no difference"
                )
            self.error("DP213", message, entry.key_span, "delete one of the two", first=other.key_span)
            return False
        self.entries[entry.address] = entry
        return True

    def _declare_fields(self, entry: Declaration, node: Mapping, reserved: tuple[str, ...] = ()) -> None:
        """Sort the keys of an entry into fields, keywords such as `id`, and lists of child entries.

        Keys in `reserved` are handled by the caller. Each unknown key is reported. If the children of an
        empty list (`teams:`) stand on the level of its key, the empty list has the only finding.
        """
        kind = entry.kind
        kinds_by_path = self.registry.kinds_by_list_key(kind.name)
        settable = kind.declarable_fields
        empty_list_key: Span | None = None  # the key directly above, if it has an empty list
        for key, value in expand_short_forms(kind, node).entries:
            word = str(key.value)
            if word in reserved:
                continue
            if key.interpolated:
                word = ""  # a variable cannot select a field
            previous_empty_key, empty_list_key = empty_list_key, None
            if word == "id":
                self._read_pin(entry, value)
            elif word == "previously":
                entry.previously = key, value
            elif word == "new":
                entry.new = key, value
            elif word == "takeover":
                entry.takeover = key, value
            elif word in settable:
                entry.nodes[word] = (key, value)
            elif word in kind.inline_words:  # a short form beside its long form: both set one field
                name = kind.inline_words[word]
                first = node.key(name)
                message = f'"{word}" and "{name}" set the same field'
                self.error("DP201", message, key.span, "delete one of the two", first.span if first else None)
            elif any(list_path.split(".")[0] == word for list_path in kinds_by_path):
                self._declare_list_key(entry, word, key, value)
                empty_list_key = key.span if isinstance(value, Scalar) and value.value is None else None
            elif (
                previous_empty_key is not None
                and key.span.line > previous_empty_key.line
                and key.span.column == previous_empty_key.column
            ):
                # Probably an entry of the empty list, with too little indentation. The list has a finding.
                empty_list_key = previous_empty_key
            else:
                known = [*settable, *kind.inline_words, *kinds_by_path, *reserved, "id", "previously", "new"]
                known += ["takeover"] if kind.git_sync else []
                intended_key = self.unknown_key(key, known, kind.noun_with_article)
                if intended_key is not None:
                    entry.misspelled_keys.add(kind.inline_words.get(intended_key, intended_key))
                # The mapping below the unknown key may contain the entries of a list key.
                for list_path in kinds_by_path:
                    path = list_path.split(".")
                    may_hold_entries = (
                        intended_key is None and isinstance(value, Mapping) and path[0] not in node
                    )
                    if list_path == intended_key or may_hold_entries:
                        self.unreadable.add(entry.address.child(*path))

    def _read_pin(self, entry: Declaration, value: Node) -> None:
        """Store the pinned id of an entry (`id: …`), or report why it is not a valid id."""
        id = value.value if isinstance(value, Scalar) else None
        fault = declared_id_problem(id) if isinstance(id, str) else describe_node(value)
        if fault is None and isinstance(value, Scalar):
            entry.pin = value
        else:
            entry.has_invalid_pin = True
            self.error(
                "DP202", f'"id" must be a text with the GitBook id of the object, found {fault}', value.span
            )

    def _declare_list_key(self, entry: Declaration, path: str, key: Scalar, node: Node) -> None:
        """Declare the entries below a key of an entry: a mapping, a single entry, or a tree.

        A dotted path such as `settings.domains` is a mapping in a mapping: the function calls itself for each
        inner key.
        """
        kinds_by_path = self.registry.kinds_by_list_key(entry.kind.name)
        if path not in kinds_by_path:
            if not isinstance(node, Mapping):
                self.unreadable.add(entry.address.child(*path.split(".")))
                self.error("DP202", f"{path} must be a mapping", node.span, _missing_space_hint(node))
                return
            known = [
                list_key.removeprefix(f"{path}.")
                for list_key in kinds_by_path
                if list_key.startswith(f"{path}.")
            ]
            for inner, value in node.entries:
                if any(list_key.split(".")[0] == inner.value for list_key in known):
                    self._declare_list_key(entry, f"{path}.{inner.value}", inner, value)
                else:
                    self.unknown_key(inner, known, path)
            return
        kinds = kinds_by_path[path]
        scope = Scope(
            entry.address.child(*path.split(".")), entry.address, tuple(kind.name for kind in kinds), key.span
        )
        self.scopes[scope.address] = scope
        match kinds[0].shape:
            case EntryMapping():
                self._declare_entries(entry, kinds[0], scope, key, node)
            case SingleEntry():
                self._declare_entry(kinds[0], scope.address, key, node, parent=entry.address)
            case NodeShape():
                self._declare_tree(entry, kinds, scope, key, node)

    def _declare_entries(self, entry: Declaration, kind: Kind, scope: Scope, key: Scalar, node: Node) -> None:
        """Add each entry of a mapping such as `teams: { docs: … }`, also from its CSV file.

        `scope` describes the mapping, and `entry` is the entry that contains it. A value that is no mapping
        is reported.
        """
        if not isinstance(node, Mapping):
            self.unreadable.add(scope.address)
            if node.span not in self.unknown:
                message = f"{key.value} must be a mapping of entries, found {describe_node(node)}"
                self.error(
                    "DP202",
                    message,
                    key.span,
                    _missing_space_hint(node) or self._not_a_mapping_hint(kind, key, node),
                )
            return
        written_entries = (
            self._entries_with_rows(kind, scope, node) if row_format(kind) is not None else node.entries
        )
        if not written_entries and scope.address not in self.unreadable:
            self.empty_scopes.append(scope)
        for name, value in written_entries:
            local = self.registry.fold_key(kind, str(name.value))
            self._declare_entry(kind, scope.address.child(local), name, value, parent=entry.address)

    def _not_a_mapping_hint(self, kind: Kind, key: Scalar, node: Node) -> str:
        """Return what to write in place of a value that is not a mapping of entries."""
        if isinstance(node, Scalar) and node.value is None:
            indent_advice = f"indent the entries two spaces deeper than {key.value}"
            return f"{indent_advice}. If there are no entries, delete the key"
        from dpsync.kinds.examples import key_example, minimal_entry_example  # only mistakes need examples

        value = minimal_entry_example(self.registry, kind)
        if isinstance(value, dict):
            value = value.get(kind.shorthand_field) if len(value) == 1 else None
        value = value if isinstance(value, str) else "{ … }"
        return f"write each entry as {key_example(self.registry, kind)}: {value}, without a dash or [ ]"

    def _entries_with_rows(self, kind: Kind, scope: Scope, node: Mapping) -> Several[tuple[Scalar, Node]]:
        """Return the entries of a mapping, and those of the CSV file that its key `file` names.

        If the file has problems, the address of the mapping is added to `unreadable`.
        """
        path = node.get(FILE_KEY)
        if not isinstance(path, Scalar) or not isinstance(path.value, str):
            return node.entries
        entries = [entry for entry in node.entries if entry[0].text != FILE_KEY]
        file = self.load_text_file(path) if self.load_text_file is not None else None
        table, problems = read_entries(kind, file.text, file.name) if file is not None else (None, Findings())
        self.diagnostics += problems
        if file is not None:
            self.row_files.add(file.name)
        if table is None or problems:
            self.unreadable.add(scope.address)
        return [*entries, *(table.entries if table is not None else ())]

    def _declare_tree(
        self, entry: Declaration, kinds: tuple[Kind, ...], scope: Scope, key: Scalar, node: Node
    ) -> None:
        """Add the nodes of a tree, which is a list such as `structure: [{ type: section, … }]`.

        Reports siblings at the root that the platform does not allow together, such as a section and a space.
        """
        if not isinstance(node, Sequence):
            self.unreadable.add(scope.address)
            self.error("DP202", f"{key.value} must be a list of sections, groups, links or spaces", node.span)
            return
        if not node.items:
            self.empty_scopes.append(scope)
        allowed_at_root = {kind.shape.yaml_type: kind for kind in kinds if isinstance(kind.shape, NodeShape)}
        previous: Declaration | None = None
        for node_item in node.items:
            declaration = self._declare_node(
                node_item, allowed_at_root, allowed_at_root, scope, owner=entry, holder=None
            )
            if declaration is None:
                self.unreadable.add(scope.address)
                continue
            if previous is not None and _is_exclusive_at_root(previous.kind) != _is_exclusive_at_root(
                declaration.kind
            ):
                nouns = f"a {declaration.kind.noun} and a {previous.kind.noun}"
                message = f"{nouns} cannot both be at the top level of a site"
                self.error(
                    "DP214", message, declaration.key_span, self._mixed_root_hint(kinds), previous.key_span
                )
            previous = declaration

    def _declare_node(
        self, node: Node, allowed: dict[str, Kind], all_types: dict[str, Kind],
        scope: Scope, owner: Declaration, holder: Declaration | None,
    ) -> Declaration | None:  # fmt: skip
        """Add one node of a tree and the nodes inside it; return None after reporting why it is invalid.

        `allowed` are the kinds that may be here, and `all_types` all kinds of the tree, both by their `type`.
        `owner` is the entry that has the tree, such as a site. `holder` is the node that directly contains
        this node; None at the root. The address of the node is below `holder` only for some kinds.
        """
        if not isinstance(node, Mapping):
            self.error(
                "DP202", "an entry in the navigation must be a mapping", node.span, _missing_space_hint(node)
            )
            return None
        type_, key = node.get("type"), node.get("key")
        if not isinstance(type_, Scalar) or type_.value not in all_types:
            self._report_wrong_type(node, type_, all_types)
            return None
        kind = all_types[str(type_.value)]
        if type_.value not in allowed:
            container_noun = holder.kind.noun if holder else "structure"
            message = f"{kind.noun_with_article} is not allowed in a {container_noun}"
            self.error("DP214", message, type_.span, f"a {container_noun} can contain: {', '.join(allowed)}")
            return None
        local = ""
        if isinstance(key, Scalar) and key.value is not None:
            local = key.value if isinstance(key.value, str) else key.text  # a number as written: 017
        if not isinstance(key, Scalar) or not LOCAL_KEY.fullmatch(local):
            self.error(
                "DP211",
                f"{kind.noun_with_article} needs a key",
                (key or type_).span,
                'add "key" with a name of your choice, which dpsync does not send to GitBook',
            )
            return None
        is_child_address = holder is not None and holder.kind.name in kind.parents
        address = (holder.address if is_child_address and holder else scope.address).child(local)
        parent = holder.address if is_child_address and holder else owner.address
        entry = Declaration(
            kind,
            address,
            local,
            key.span,
            parent,
            holder=holder.address if holder else None,
        )
        if not self._add_declaration(entry):
            return None
        if holder is not None:
            holder.children.append(address)
        else:
            owner.children.append(address)
        assert isinstance(kind.shape, NodeShape)
        if kind.shape.child_kinds:
            self._declare_fields(entry, node, reserved=(*NODE_KEYWORDS, "children"))
            self._declare_children(entry, node, all_types, scope, owner)
        else:
            self._declare_fields(entry, node, reserved=NODE_KEYWORDS)
        return entry

    def _declare_children(
        self, entry: Declaration, node: Mapping, all_types: dict[str, Kind], scope: Scope, owner: Declaration
    ) -> None:
        """Add the child nodes of a node, and report a missing or empty list that must not be empty."""
        shape = entry.kind.shape
        assert isinstance(shape, NodeShape)
        children = node.get("children")
        if children is None:
            if shape.min_children and "children" not in entry.misspelled_keys:
                self._report_too_few_children(entry, shape)
            return
        if not isinstance(children, Sequence):
            self.unreadable.add(scope.address)
            message = '"children" must be a list of sections, groups, links or spaces'
            self.error("DP202", message, children.span)
            return
        allowed = {type_: kind for type_, kind in all_types.items() if kind.name in shape.child_kinds}
        for node_item in children.items:
            if self._declare_node(node_item, allowed, all_types, scope, owner, holder=entry) is None:
                self.unreadable.add(scope.address)
        if len(children.items) < shape.min_children:
            self._report_too_few_children(entry, shape)

    def _report_too_few_children(self, entry: Declaration, shape: NodeShape) -> None:
        """Report a navigation node with too few children.

        Nothing is reported if a file could not be read, because it may contain the children.
        """
        if not self.complete:
            return
        child_nouns = " or ".join(self.registry[name].noun for name in shape.child_kinds)
        child_shape = self.registry[shape.child_kinds[0]].shape
        hint = (
            f"add children: [{{ type: {child_shape.yaml_type}, … }}]"
            if isinstance(child_shape, NodeShape)
            else None
        )
        message = f'the {entry.kind.noun} "{entry.key}" needs at least one {child_nouns}'
        self.error("DP215", message, entry.key_span, hint)

    def _mixed_root_hint(self, kinds: tuple[Kind, ...]) -> str:
        """Return a hint for a navigation whose top level mixes nodes that must not be siblings.

        For example, sections and site spaces: the exclusive kind must move into another node.
        """
        exclusive_kind = next(kind for kind in kinds if _is_exclusive_at_root(kind))
        nouns = [
            kind.noun
            for kind in kinds
            if isinstance(kind.shape, NodeShape) and exclusive_kind.name in kind.shape.child_kinds
        ]
        container_nouns = " or ".join(nouns)
        noun = exclusive_kind.noun
        return f'move the {noun} to "children" of a {container_nouns}, or delete the {noun}'

    def _report_wrong_type(self, node: Mapping, type_: Node | None, known: dict[str, Kind]) -> None:
        """Report a missing or unknown `type` of a node in a tree."""
        hint = f'add "type" with one of these values: {", ".join(known)}'
        if isinstance(type_, Scalar) and (nearest := did_you_mean(str(type_.value), list(known))):
            hint = f'did you mean "{nearest}"?'
        message = (
            'an entry in the navigation has no "type"'
            if type_ is None
            else 'an entry in the navigation has an unknown "type"'
        )
        self.error("DP202", message, (type_ or node).span, hint)


def _is_exclusive_at_root(kind: Kind) -> bool:
    """Return whether a node of this kind at the root of a tree allows only siblings of such kinds."""
    return isinstance(kind.shape, NodeShape) and kind.shape.excludes_other_kinds_at_root


def _empty_entry_hint(kind: Kind) -> str:
    """Return a hint about what to write in place of an empty entry."""
    needed = [
        field
        for field in kind.fields
        if field.required and field.name not in (kind.key_field, kind.default_key_field)
    ]
    if kind.is_always_shorthand:
        return f"write the {kind.shorthand_field}, or delete the entry"
    if needed:
        fields = ", ".join(f"{field.name}: …" for field in needed if not field.is_parent_reference)
        is_shorthand_enough = kind.shorthand_field in [field.name for field in needed] and len(needed) == 1
        return (
            f"write the {kind.shorthand_field}, or delete the entry"
            if is_shorthand_enough
            else f"write {{ {fields} }}, or delete the entry"
        )
    return (
        f"write {{}} for an entry without "
        f"settings{f', or its {kind.shorthand_field}' if kind.shorthand_field else ''}"
    )


def _text_entry_hint(kind: Kind, key: Scalar, node: Node) -> str | None:
    """Return what to write in place of a text that is not an entry."""
    if kind.inline_words and isinstance(node, Scalar):
        field = kind.field(next(iter(kind.inline_words.values())))
        assert isinstance(field.type, OneOf)
        return f"write {key.text}: {field.type.short_values(node)}"
    needed = [
        needed_field.name
        for needed_field in kind.fields
        if needed_field.required
        and needed_field.name != kind.key_field
        and not needed_field.is_parent_reference
    ]
    return f"write {{ {', '.join(f'{name}: …' for name in needed)} }}" if needed else None


def _local_key_hint(key: Scalar) -> str:
    """Return how to write a valid key, with a suggestion made from the invalid key ("My Docs": "my-docs")."""
    if key.interpolated:
        return "a key is part of the address of an entry, so it cannot contain variables"
    text = str(key.value)
    suggestion = re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-._").lower()
    rule = (
        "a key consists of letters, digits, dots, underscores and hyphens, and begins with a letter or digit"
    )
    return f'{rule}: write "{suggestion}"' if suggestion else rule


def _missing_space_hint(node: Node) -> str | None:
    """Return a hint if a space after ":" is probably missing, so that a mapping became a text."""
    if isinstance(node, Scalar) and node.plain and re.match(r"[\w.@-]+:[^\s/]", node.text):
        return 'write a space after the ":"'
    return None
