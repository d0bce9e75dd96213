"""Add entries to existing files for live objects that have none, next to the entries of their siblings.

`add` edits the files in memory: one line per object, with the values that a new import would write. The
caller plans the edited files before they are written to the disk.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from dpsync.config.compose import ROOT_KEYS, SINGLE_ORGANIZATION_KEY
from dpsync.config.yaml_reader import DEFAULT_LIMITS, FORBIDDEN_IN_VALUE, decode, encode
from dpsync.importing.csv_files import CsvFile
from dpsync.importing.edit_yaml import (
    Step,
    TextEdit,
    UneditableError,
    YamlFile,
    apply_edits,
    insert_values,
    steps_to,
    unfold_long_lines,
)
from dpsync.importing.entries import EXPLICIT_NULL, default_for_empty_entry, value_to_write
from dpsync.importing.inventory import NamingWithFiles, first_unused_name
from dpsync.importing.keys import slugify
from dpsync.importing.update import Updated, WrittenField
from dpsync.importing.values import UnwritableValueError, ValueWriter, replace_file_contents, secret_variable
from dpsync.importing.write_yaml import BlockMapping
from dpsync.kinds.kind import Field, Kind, SingleEntry
from dpsync.kinds.kind import TreeNode as NodeShape
from dpsync.kinds.short_forms import shorten_fields
from dpsync.model.address import LOCAL_KEY, Address
from dpsync.model.desired import Entry, Scope
from dpsync.model.diagnostic import Diagnostic
from dpsync.model.nodes import Mapping as MappingNode
from dpsync.model.snapshot import LiveObject
from dpsync.model.text import join_with_and
from dpsync.model.values import LiveId, Value


class AddedEntry(Struct, frozen=True):
    """A new entry and the id of the object that the entry must match."""

    address: Address
    id: str


class AddedEntries(Struct):
    """The edited files and their new entries."""

    updated: Updated = field(default_factory=Updated)
    entries: list[AddedEntry] = field(default_factory=list)


def add(
    sides: NamingWithFiles,
    objects: Mapping[Address, LiveObject],
    pinned: frozenset[str] = frozenset(),
    target_file: str | None = None,
    find_sharers: Callable[[str], tuple[str, ...]] = lambda _name: (),
) -> AddedEntries:
    """Edit the configuration files in memory so that they declare these live objects.

    The objects may refer to each other. An object that cannot be written is reported and left out, and so are
    the objects that refer to it: then the rest is added again from the beginning.

    Args:
        sides: The configuration, the live objects and the files.
        objects: The live objects to add, by their addresses, such as `acme/teams/[Sales]`.
        pinned: The ids of objects that get a pin: a line `id: …` that binds the entry to the object.
        target_file: The file that gets the entries. By default, the file with the entries beside them.
        find_sharers: Returns the other environments that read a file. Such a file is not edited.
    """
    objects_to_add = dict(objects)
    problems: list[Diagnostic] = []
    while True:
        adder = _Adder(sides, pinned, target_file, find_sharers)
        adder.choose_keys(objects_to_add)
        for address, live in objects_to_add.items():
            adder.add_entry(address, live)
        adding = adder.finish()
        problems += [problem for problem in adding.updated.problems if problem not in problems]
        if adder.left_out.isdisjoint(objects_to_add):
            adding.updated.problems = problems
            return adding
        objects_to_add = {
            address: live for address, live in objects_to_add.items() if address not in adder.left_out
        }


class _Adder:
    """Adds entries for live objects to the files."""

    def __init__(
        self,
        sides: NamingWithFiles,
        pinned: frozenset[str],
        target_file: str | None,
        find_sharers: Callable[[str], tuple[str, ...]],
    ) -> None:
        self.sides = sides
        self.target_file = target_file
        self.find_sharers = find_sharers
        self.values_for_new_file: list[tuple[list[Step], Any]] = []
        self.pinned = pinned
        self.result = AddedEntries()
        self.documents: dict[str, YamlFile] = {}
        self.row_files: dict[str, CsvFile] = {}
        self.edits: dict[str, list[TextEdit]] = {}
        self.used_addresses = set(sides.desired.entries)
        self.new_places: dict[tuple[str, Address], list[tuple[str, Any]]] = {}
        self.keys: dict[Address, str] = {}
        """The keys of the new entries, by the addresses of the objects without an entry."""
        self.new_keys_by_id: dict[tuple[str, str, str], str] = {}
        """The keys of the new entries by kind, id and organization, for references."""
        self.left_out: set[Address] = set()

    def choose_keys(self, objects: Mapping[Address, LiveObject]) -> None:
        """Choose the key of each new entry, parents before children, or report why there is none."""
        order = {kind.name: number for number, kind in enumerate(self.sides.registry.in_dependency_order)}
        for address, live in sorted(
            objects.items(),
            key=lambda address_and_object: (order[address_and_object[1].kind], address_and_object[0]),
        ):
            kind = self.sides.registry[live.kind]
            try:
                if isinstance(kind.shape, NodeShape):
                    raise UneditableError("--add cannot choose the position of a new entry in a navigation")
                if isinstance(kind.shape, SingleEntry):
                    self.keys[address] = address.last_segment
                    continue
                list_address = address.list_address
                key = self._choose_key(kind, list_address, live, self._parent_entry(kind, address))
            except (UneditableError, UnwritableValueError) as why:
                self._report_not_added(address, why)
                continue
            self.keys[address] = self.new_keys_by_id[kind.name, live.id, address.organization_key] = key
            self.used_addresses.add(list_address.child(self.sides.registry.fold_key(kind, key)))

    def add_entry(self, address: Address, live: LiveObject) -> None:
        """Add the entry of one object to the edits of its file, or report why it cannot be added.

        Do nothing if `choose_keys` found no key for the object.
        """
        if address not in self.keys:
            return
        kind, key = self.sides.registry[live.kind], self.keys[address]
        if isinstance(kind.shape, SingleEntry):
            self._add_single(address, kind, live)
            return
        list_address, parent = address.list_address, self._parent_entry(kind, address)
        try:
            span = self._insert_entry(
                list_address, parent, kind, key, self._entry_value(kind, live, parent, key)
            )
        except (UneditableError, UnwritableValueError) as why:
            self._report_not_added(address, why)
            return
        own = list_address.child(self.sides.registry.fold_key(kind, key))
        self.result.entries.append(AddedEntry(own, live.id))
        self.result.updated.written.append(WrittenField(own, None, span))

    def _add_single(self, address: Address, kind: Kind, live: LiveObject) -> None:
        """Add the entry of an object that its parent has exactly once, such as a customization.

        If all its values are defaults, all fields are written, because an entry must have a value.
        """
        key_words = kind.key.split(".")
        parent = self.sides.desired.entries[Address(address.segments[: -len(key_words)])]
        span = parent.span
        try:
            value = self._entry_value(kind, live, parent, address.last_segment)
            if value == {}:
                full = [
                    (field_, value_to_write(kind, field_, live, address.last_segment, full=True))
                    for field_ in kind.fields
                ]
                value = {
                    field_.name: self._field_value(field_, address, live_value, parent)
                    for field_, live_value in full
                    if live_value is not None and live_value is not EXPLICIT_NULL
                }
            if not value:
                raise UneditableError(f"the {kind.noun} has no value of its own in GitBook")
            value = shorten_fields(kind, value) if isinstance(value, dict) else value
            if self.target_file is not None and span.file != self.target_file:
                steps = steps_to(self.sides.registry, self.sides.desired.entries, parent)
                self.values_for_new_file.append(([*steps, *key_words], value))
            else:
                self._refuse_shared(span.file)
                self._add_dotted_key(parent, key_words, value)
        except (UneditableError, UnwritableValueError) as why:
            self._report_not_added(address, why)
            return
        self.result.entries.append(AddedEntry(address, live.id))
        self.result.updated.written.append(WrittenField(address, None, span))

    def _report_not_added(self, address: Address, why: Exception) -> None:
        """Report why an object is not added, and remember its address in `left_out`."""
        self.left_out.add(address)
        message = f"not added: {why}"
        self.result.updated.problems.append(
            Diagnostic("not-added", message, None, str(address), "add the entry by hand")
        )

    def _parent_entry(self, kind: Kind, address: Address) -> Entry:
        """Return the entry that contains the list or single object to which an address belongs."""
        return self.sides.desired.entries[address.owner_of_list(kind.key)]

    def _reference_namer(self, resource: Entry) -> Callable[[tuple[str, ...], str], str | None]:
        """Return a function that returns the key for a reference to a live object, given its kinds and id.

        It also knows the entries that are being added; it returns None for an object without an entry.
        """
        existing_names, organization = self.sides.reference_namer(resource), resource.address.organization_key

        def name(kinds: tuple[str, ...], id: str) -> str | None:
            new_keys = (self.new_keys_by_id.get((kind, id, organization)) for kind in kinds)
            return existing_names(kinds, id) or next((key for key in new_keys if key is not None), None)

        return name

    def _choose_key(self, kind: Kind, list_address: Address, live: LiveObject, parent: Entry) -> str:
        """Return the key of a new entry: a field of the object that identifies it, or a slug of its title.

        Raises UneditableError or UnwritableValueError if that field has no valid value.
        """
        if kind.key_field is not None:
            value = live.fields.get(kind.key_field)
            if isinstance(value, LiveId):
                value = self._reference_namer(parent)(
                    kind.field(kind.key_field).type.referenced_kinds, value.id
                )
                if value is None:
                    raise UneditableError(
                        "the key of the new entry refers to an object without an entry. Add that object, too"
                    )
            if not isinstance(value, str) or not value or FORBIDDEN_IN_VALUE.search(value):
                raise UneditableError(f"the {kind.key_field} of the object cannot be a key")
            if isinstance(live.fields.get(kind.key_field), str):
                ValueWriter(self._reference_namer(parent), lambda _: "").yaml_value(
                    kind.field(kind.key_field).type, value
                )
            return value
        default = live.fields.get(kind.default_key_field) if kind.default_key_field else None
        names = [name for key in kind.natural_keys for name in ((key,) if isinstance(key, str) else key)]
        titles = (live.fields.get(name.partition(".")[0]) for name in (*names, kind.title_field))
        words = [slugify(title) for title in titles if isinstance(title, str)]
        preferred_key = next((word for word in words if word), slugify(kind.noun))
        if isinstance(default, str) and LOCAL_KEY.fullmatch(default):
            preferred_key = default
        return first_unused_name(preferred_key, lambda key: list_address.child(key) in self.used_addresses)

    def _entry_value(self, kind: Kind, live: LiveObject, parent: Entry, key: str) -> Any:
        """Return the YAML data of a new entry: a mapping of fields, or the short form for a single field.

        Values that a new object has anyway are left out. Raises UnwritableValueError if a required field has
        no value.
        """
        fields: dict[str, Any] = {}
        key_words = kind.key.split(".")
        address = parent.address.child(
            *(key_words if isinstance(kind.shape, SingleEntry) else [*key_words, key])
        )
        for field_ in kind.fields:
            watched = any(
                pattern.field == field_.name and pattern.matches(address)
                for pattern in self.sides.desired.policy.watch_fields
            )
            value = value_to_write(kind, field_, live, key, full=False, watched=watched)
            if value is EXPLICIT_NULL and kind.inherits_from_kind is not None:
                continue  # null would say that the object inherits nothing
            if value is EXPLICIT_NULL:
                fields[field_.name] = None
            elif (
                field_.mutually_exclusive_with is not None
                and fields.get(field_.mutually_exclusive_with) is not None
            ):
                continue  # an entry must not have both fields
            elif value is not None:
                fields[field_.name] = self._field_value(field_, address, value, parent)
            elif field_.required and field_.name not in (kind.key_field, kind.default_key_field):
                raise UnwritableValueError(f"GitBook returns no value for the required field {field_.name}")
        fields = fields or default_for_empty_entry(kind, live)
        if live.id in self.pinned:
            return {"id": live.id, **fields}
        if kind.shorthand_field is not None and set(fields) == {kind.shorthand_field}:
            short = fields[kind.shorthand_field]
            if kind.is_always_shorthand or not isinstance(short, dict):
                return short
        return fields

    def _field_value(self, field_: Field, address: Address, value: Value, parent: Entry) -> Any:
        """Return the YAML data for the value of a field. Raises UnwritableValueError.

        Long texts stay in their line, because a new entry gets no file of its own.
        """
        writer = ValueWriter(self._reference_namer(parent), partial(secret_variable, address, field_.name))
        return replace_file_contents(
            writer.yaml_value(field_.type, value),
            lambda long, _: json.loads(long.text) if long.suffix == ".json" else long.text,
        )

    def _refuse_shared(self, name: str) -> None:
        """Raise UneditableError if other environments use the file and no target file was named."""
        if self.target_file is None and (others := self.find_sharers(name)):
            raise UneditableError(
                f"other configurations use {name}, too: {join_with_and(others)}. To write the entry for all "
                f"configurations, pass --into {name}. To write the entry only for this configuration, "
                "pass --into with the overlay file of this configuration"
            )

    def _insert_entry(self, list_address: Address, parent: Entry, kind: Kind, key: str, value: Any) -> Any:
        """Add an entry to the edits: after its last sibling, or in a new list in the entry of its parent.

        Return the position at which the entry is added. Siblings in a CSV file get the entry as a row.
        """
        siblings = [
            entry
            for entry in self.sides.desired.entries.values()
            if entry.parent == parent.address and entry.kind == kind.name
        ]
        scope: Scope | None = self.sides.desired.scopes.get(list_address)
        in_rows = [entry for entry in siblings if entry.span.file in self.sides.desired.row_files]
        siblings = in_rows or siblings
        last_span = max(
            (entry.span for entry in siblings),
            key=lambda span: (span.file, span.line, span.column),
            default=None,
        )
        position = last_span or (scope or parent).span
        short = shorten_fields(kind, value) if isinstance(value, dict) else value
        if self.target_file is not None and position.file != self.target_file:
            steps = steps_to(self.sides.registry, self.sides.desired.entries, parent)
            self.values_for_new_file.append(([*steps, *kind.key.split("."), key], short))
            return position
        self._refuse_shared(position.file)
        if in_rows:
            name = position.file
            if name not in self.row_files:
                text, _ = decode(self.sides.files.read(name, DEFAULT_LIMITS.bytes), name)
                self.row_files[name] = CsvFile(kind, text, name)
            cells = value if isinstance(value, dict) else {str(kind.shorthand_field): value}
            self.row_files[name].add(key, cells)
            return position
        if siblings:
            last = max(siblings, key=lambda entry: (entry.span.file, entry.span.line, entry.span.column))
            document = self._document(last.span.file)
            self._add_edit(last.span.file, document.add_sibling_edit(last.span, key, short))
            return last.span
        self.new_places.setdefault((position.file, list_address), []).append((key, short))
        return position

    def _add_edit(self, name: str, edit: TextEdit) -> None:
        """Remember an edit of a file; `finish` applies all edits."""
        self.edits.setdefault(name, []).append(edit)

    def _document(self, name: str) -> YamlFile:
        """Return a parsed file of the project, which is read only once."""
        if name not in self.documents:
            text, _ = decode(self.sides.files.read(name, DEFAULT_LIMITS.bytes), name)
            self.documents[name] = YamlFile(text, name)
        return self.documents[name]

    def _add_list(self, list_address: Address, entries: dict[str, Any]) -> None:
        """Add entries to a list that has none yet: replace its `{}`, or add the list to the parent's entry.

        Raises UneditableError.
        """
        scope = self.sides.desired.scopes.get(list_address)
        if scope is not None:
            document = self._document(scope.span.file)
            key, old = document.value_of(scope.span)
            for edit in document.edits(key, old, entries):
                self._add_edit(scope.span.file, edit)
            return
        watched = self.sides.desired.watched_scopes[list_address]
        parent = self.sides.desired.entries[watched.parent]
        words = self.sides.registry[watched.kinds[0]].key.split(".")
        self._add_dotted_key(parent, words, BlockMapping(entries))

    def _add_dotted_key(self, parent: Entry, words: list[str], value: Any) -> None:
        """Add a dotted key (`words`) with a value to an entry, as nested mappings. Raises UneditableError.

        In block style, the key is added before navigation trees. If the fields of an organization are at the
        top of the root file (`organization: acme`), it is also added before the other keys of the file.
        """
        outer, *inner = words
        for word in reversed(inner):
            value = BlockMapping({word: value})
        document = self._document(parent.span.file)
        short = (
            parent.parent is None
            and isinstance(document.root, MappingNode)
            and SINGLE_ORGANIZATION_KEY in document.root
        )
        places = self.sides.registry.kinds_by_list_key(parent.kind)
        trees = {word for word, kinds in places.items() if isinstance(kinds[0].shape, NodeShape)}
        edits = document.add_block_edits(parent.span, outer, value, {*trees, *(ROOT_KEYS if short else ())})
        if edits is None:
            field_names = {kind_field.name for kind_field in self.sides.registry[parent.kind].fields}
            edits = document.add_field_edits(parent.span, outer, value, field_names)
        for edit in edits:
            self._add_edit(parent.span.file, edit)

    def finish(self) -> AddedEntries:
        """Apply the collected edits to the YAML and CSV files, and return the result with the edited files.

        A list that cannot be added is reported. Values for the target file are inserted at their paths.
        """
        updated = self.result.updated
        for (_, list_address), entries in self.new_places.items():
            try:
                self._add_list(list_address, dict(entries))
            except UneditableError as why:
                self._report_list_not_added(list_address, str(why))
        for name, edits in self.edits.items():
            before = self.sides.files.read(name, DEFAULT_LIMITS.bytes)
            text = self.documents[name].text
            joined = _join_insertions(edits)
            updated.files[name] = encode(unfold_long_lines(text, apply_edits(text, joined)), before)
        for name, file in self.row_files.items():
            before = self.sides.files.read(name, DEFAULT_LIMITS.bytes)
            updated.files[name] = encode(file.edited_text(), before)
        if self.target_file is not None and self.values_for_new_file:
            before = updated.files.get(self.target_file) or self.sides.files.read(
                self.target_file, DEFAULT_LIMITS.bytes
            )
            updated.files[self.target_file] = insert_values(
                before, self.target_file, self.values_for_new_file
            )
        return self.result

    def _report_list_not_added(self, list_address: Address, reason: str) -> None:
        """Remove the new entries of a list, and all below them, from the result, and report the list."""
        remaining = [entry for entry in self.result.entries if not entry.address.is_at_or_below(list_address)]
        self.result.entries = remaining
        known = {entry.address for entry in remaining}
        updated = self.result.updated
        updated.written = [field for field in updated.written if field.address in known]
        message = f"not added: {reason}"
        updated.problems.append(
            Diagnostic("not-added", message, None, str(list_address), "add the entry by hand")
        )


def _join_insertions(edits: list[TextEdit]) -> list[TextEdit]:
    """Join insertions at the same position into one edit, because edits must not overlap.

    More indented lines come first, because they continue the entry above. The order of equally indented lines
    stays. A text inside a line counts as most indented.
    """

    def indentation(edit: TextEdit) -> int:
        line = edit.text.lstrip("\r\n")
        return len(line) - len(line.lstrip(" ")) if line != edit.text else sys.maxsize

    joined: dict[tuple[int, int], TextEdit] = {}
    for edit in sorted(edits, key=indentation, reverse=True):
        position = (edit.start, edit.end)
        joined[position] = (
            replace(joined[position], text=joined[position].text + edit.text) if position in joined else edit
        )
    return list(joined.values())
