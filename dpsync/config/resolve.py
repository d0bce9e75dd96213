"""Read each field by its type, and resolve references to addresses: the second pass over the configuration.

Input: the entries with addresses that `declare.py` has collected, with fields as YAML nodes.
Output: entries with values.
"""

from __future__ import annotations

from collections.abc import Callable

from dpsync.config.declare import Declaration, Declarations
from dpsync.config.entry_keywords import read_new, read_previously, read_takeover
from dpsync.kinds.kind import Field, Kind
from dpsync.kinds.kind import TreeNode as NodeShape
from dpsync.kinds.types import INVALID, Invalid, TextFile, Type
from dpsync.kinds.types.base import is_file_reference
from dpsync.model.address import Address
from dpsync.model.desired import Entry, Lookup
from dpsync.model.diagnostic import Diagnostic
from dpsync.model.nodes import Mapping, Node, Scalar, Sequence, Span
from dpsync.model.text import did_you_mean, join_with_or
from dpsync.model.values import Ref, Value

ReadFile = Callable[[Scalar], "Node | str | None"]
ReadText = Callable[[Scalar], "TextFile | None"]


class Resolver:
    """Reads the fields of entries by their types, and resolves references.

    Implements `ParseContext` of kinds.types: the types call the first methods.
    """

    def __init__(self, declared: Declarations, read_file: ReadFile, read_text: ReadText) -> None:
        """Prepare to resolve the declared entries, with functions that read files named by values."""
        self.declared = declared
        self.registry = declared.registry
        self._read_file = read_file
        self._read_text = read_text
        self.lookups: dict[Address, Lookup] = {}
        self._entry: Declaration | None = None
        self._profile_field: Field | None = None
        """The field that is being read, if its type depends on the profile."""
        self._file_starts: list[Span] = []
        """The first position of each file that was read for the current field."""
        self._list_addresses: dict[tuple[Address, str], Address] = {}
        """Cached addresses of the mapping or list of a kind's entries, by owner and kind."""
        self._known_kinds_by_names: dict[tuple[str, ...], tuple[str, ...]] = {}
        """Cached kinds of a reference that this server has."""
        self._hints: dict[str, str] = {}
        """Hints for unresolved references, by the key and the searched places."""

    # The parsing context, which types call.

    def error(
        self, code: str, message: str, span: Span, hint: str | None = None, cause: str | None = None
    ) -> Invalid:
        """Report an error in the current entry, naming the API version if the field's type depends on it."""
        address = str(self._entry.address) if self._entry else None
        if self._entry is not None and self._profile_field is not None:
            prefix = f"in the API version {self.registry.profile.name}"
            message = (
                f"{prefix}, {self._profile_field.name} of {self._entry.kind.noun_with_article}: {message}"
            )
            hint = hint or 'choose another API version with --profile, or with "profile" in the environment'
        finding = Diagnostic(code, message, span, address=address, hint=hint, cause=cause)
        self.declared.diagnostics.append(finding)
        return INVALID

    def file(self, path: Scalar) -> Node | str | None:
        """Return the tree or text in a file that a value names, and record that the value comes from it."""
        content = self._read_file(path)
        if isinstance(content, Mapping | Scalar | Sequence):
            self._file_starts.append(Span.start_of(content.span.file))
        return content

    def text(self, path: Scalar) -> TextFile | None:
        """Return the text of a file that a value names, and record that the value comes from it."""
        text_file = self._read_text(path)
        if text_file is not None:
            self._file_starts.append(Span.start_of(text_file.name))
        return text_file

    def warning(self, code: str, message: str, span: Span, hint: str | None = None) -> None:
        """Report a warning about the current entry."""
        address = str(self._entry.address) if self._entry else None
        finding = Diagnostic(code, message, span, address=address, hint=hint, severity="warning")
        self.declared.diagnostics.append(finding)

    def unknown_key(self, key: Scalar, known: list[str], location: str) -> str | None:
        """Report an unknown key, and return the key that was probably meant."""
        return self.declared.unknown_key(key, known, location)

    def reference(self, kinds: tuple[str, ...], key: str, span: Span) -> Value:
        """Resolve a reference to an entry or an object of one of these kinds, near the current entry.

        If no entry has the key, an object with a natural key may be meant that the files do not declare: it
        becomes a lookup. Reports a reference that cannot be resolved.
        """
        assert self._entry is not None
        list_addresses: list[Address] = []
        for name in self._known_kinds(kinds):
            target = self.registry[name]
            owner, list_address = self._owner_of(target), self._list_address_of(target)
            if owner is None or list_address is None:
                continue
            list_addresses.append(list_address)
            folded_key = target.field(target.key_field).type.fold_for_key(key) if target.key_field else key
            # A node inside another node is referred to by both keys: "news/latest".
            address = list_address.child(
                *(folded_key.split("/") if isinstance(target.shape, NodeShape) else (folded_key,))
            )
            entry = self.declared.entries.get(address)
            if entry is not None and entry.kind.name == name:
                return Ref(address)
            if self.declared.may_be_unread(address):
                return INVALID
            if target.key_field and list_address not in self.declared.scopes:
                self.lookups.setdefault(address, Lookup(address, name, owner, folded_key, span))
                return Ref(address)
        return self._report_missing_reference(self._known_kinds(kinds), key, span, list_addresses)

    def reference_prefix(self, kinds: tuple[str, ...], path: str) -> str:
        """Return the part of `KEY/REST` that is the key of an entry, the longest one if several are.

        A key may contain slashes itself. If no part is a key, the result is the likely key, for the message.
        """
        segments = path.split("/")
        list_addresses = [
            list_address
            for name in self._known_kinds(kinds)
            if (list_address := self._list_address_of(self.registry[name]))
        ]
        for count in range(len(segments), 0, -1):
            entries = (
                self.declared.entries.get(list_address.child(*segments[:count]))
                for list_address in list_addresses
            )
            if any(entry is not None and entry.kind.name in kinds for entry in entries):
                return "/".join(segments[:count])
        return "/".join(segments[: max(1, min(2, len(segments) - 1))])

    def _known_kinds(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Return those of the kinds that this server supports."""
        known = self._known_kinds_by_names.get(names)
        if known is None:
            known = self._known_kinds_by_names[names] = tuple(name for name in names if name in self.registry)
        return known

    def _report_missing_reference(
        self, kinds: tuple[str, ...], key: str, span: Span, list_addresses: list[Address]
    ) -> Invalid:
        """Report a reference to an entry that is in none of the searched lists. Hints are cached."""
        cause = f"{key} in {', '.join(map(str, list_addresses))}"
        hint = self._hints.get(cause)
        if hint is None and not self.declared.diagnostics.is_full("DP220"):
            hint = self._hints[cause] = self._missing_reference_hint(kinds, key, list_addresses)
        nouns = " or ".join(self.registry[name].noun for name in kinds)
        return self.error("DP220", f'your files contain no {nouns} "{key}"', span, hint, cause)

    def _missing_reference_hint(self, kinds: tuple[str, ...], key: str, list_addresses: list[Address]) -> str:
        """Return a hint for an unresolved reference: the entry that was probably meant, or what to do."""
        entries = [entry for entry in self.declared.entries.values() if entry.kind.name in kinds]
        keys_by_path = {
            "/".join(entry.address.segments[len(list_address.segments) :]): entry.key
            for entry in entries
            for list_address in list_addresses
            if entry.address.is_at_or_below(list_address)
        }
        last_segment = key.rpartition("/")[2]  # the user may have written an address
        same_key = [name for name, key_of_entry in keys_by_path.items() if key_of_entry == last_segment]
        nearest = same_key[0] if len(same_key) == 1 else did_you_mean(key, keys_by_path)
        if nearest is not None:
            return f'did you mean "{nearest}"?'
        elsewhere = next((entry.address for entry in entries if entry.key == last_segment), None)
        if elsewhere is not None:
            owner = self._owner_of(self.registry[kinds[0]])
            return f"{elsewhere} exists, but this field accepts only keys of entries in {owner}"
        return "add the entry, or remove this reference. For an object without an entry, write { id: … }"

    def _list_address_of(self, target: Kind) -> Address | None:
        """Return the address of the list in which a reference to this kind is searched; None without one.

        It is the list of the nearest ancestor of the current entry that can contain entries of the kind.
        """
        owner = self._owner_of(target)
        if owner is None:
            return None
        list_address = self._list_addresses.get((owner, target.name))
        if list_address is None:  # cached, because hundreds of references may need it
            list_address = self._list_addresses[owner, target.name] = owner.child(*target.key.split("."))
        return list_address

    def _owner_of(self, target: Kind) -> Address | None:
        """Return the nearest ancestor of the current entry that can contain entries of the target kind."""
        ancestor: Declaration | None = self._entry
        while ancestor is not None:
            if ancestor.kind.name in target.parents:
                return ancestor.address
            ancestor = self.declared.entries.get(ancestor.parent) if ancestor.parent else None
        return None

    # Reading entries.

    def read_entry(self, entry: Declaration) -> Entry:
        """Return a declared entry with its fields read by their types and its references resolved.

        The parent node and the key of the entry also set fields. Invalid values are reported and left out.
        """
        self._entry = entry
        kind = entry.kind
        fields: dict[str, Value] = {}
        spans: dict[str, Span] = {}
        value_files: dict[str, Span] = {}
        for field in kind.fields:
            self._profile_field = field if self.registry.profile.name in field.profile_overrides else None
            if field.is_parent_reference:  # given by the position in the tree
                fields[field.name] = self._nested_value(entry, field)
            elif field.name == kind.key_field:  # given by the key of the entry
                spans[field.name] = entry.key_span
                fields[field.name] = self._natural_key_value(entry, field)
            elif field.name in entry.nodes:
                key, node = entry.nodes[field.name]
                spans[field.name] = (key or node).span
                self._file_starts.clear()
                value = self._value(field, node, field.type_for(fields.get(field.form_selector or "")))
                if len(self._file_starts) == 1 and _is_file_alone(node):
                    value_files[field.name] = self._file_starts[0]
                if value is not INVALID:
                    fields[field.name] = value
            elif field.name == kind.default_key_field:  # not written: the key of the entry is the default
                spans[field.name] = entry.key_span
                value = self._value(
                    field, Scalar(entry.key, entry.key_span, entry.key, plain=False), field.type
                )
                if value is not INVALID:
                    fields[field.name] = value
            elif field.name in entry.misspelled_keys:
                continue  # the misspelled key has a finding, so the missing field needs none
            elif field.is_required(fields) and self.declared.complete:
                message = f'"{field.name}" is missing in the {kind.noun} "{entry.key}"'
                words = [word for word, name in kind.inline_words.items() if name == field.name]
                self.error("DP206", message, entry.key_span, f"write {join_with_or(words) or field.name}: …")
        self._profile_field = None
        pin = str(entry.pin.value) if entry.pin else None
        if entry.pin:
            spans["id"] = entry.pin.span
        earlier, is_new, takeover = (
            read_previously(entry, self),
            read_new(entry, self),
            read_takeover(entry, self),
        )
        keywords = {"previously": entry.previously, "new": entry.new, "takeover": entry.takeover}
        spans |= {word: pair[1].span for word, pair in keywords.items() if pair is not None}
        return Entry(
            kind.name, entry.address, entry.key, entry.parent, entry.holder,
            fields, entry.key_span, spans, pin, tuple(entry.children), earlier.names, is_new, takeover,
            earlier.addresses, value_files,
        )  # fmt: skip

    def _nested_value(self, entry: Declaration, field: Field) -> Value:
        """Return a reference to the node that contains this entry in a tree.

        None at the root of the tree, or if the field cannot refer to that kind of node.
        """
        container = self.declared.entries.get(entry.holder) if entry.holder else None
        return (
            Ref(container.address)
            if container and container.kind.name in field.type.referenced_kinds
            else None
        )

    def _natural_key_value(self, entry: Declaration, field: Field) -> Value:
        """Return the value of the field that the key of the entry gives, such as the e-mail of a member."""
        value = field.type.parse(Scalar(entry.key, entry.key_span, entry.key, plain=False), self)
        return None if value is INVALID else field.type.entry_key(value)

    def _value(self, field: Field, node: Node, type_: Type) -> Value:
        """Return the value of a field, read by its type; None for null or an empty text that clears it.

        Return INVALID after reporting a field or a null that is not allowed.
        """
        if not field.is_declarable:
            return self.error(
                "DP221",
                f'"{field.name}" cannot be set in files: only GitBook sets this field',
                node.span,
                "delete the line",
            )
        if isinstance(node, Scalar) and node.value is None and node.plain:
            if field.null_effect == "refused":
                hint = "write a value" if field.required else "to leave the field unchanged, delete the line"
                message = f'"{field.name}" cannot be null'
                if self._entry is not None and self._entry.kind.inherits_from_kind is not None:
                    message += ": GitBook does not show whether the object inherits this value"
                return self.error("DP222", message, node.span, hint)
            return None
        value = type_.parse(node, self)
        return None if field.null_effect == "empty" and value == "" else value


def _is_file_alone(node: Node) -> bool:
    """Return whether a value comes whole from one file: `{file: PATH}`, or `text: {file: PATH}`.

    Then the value can be edited in this file.
    """
    while isinstance(node, Mapping) and len(node.entries) == 1:
        if is_file_reference(node):
            return True
        ((_, node),) = node.entries
    return False
