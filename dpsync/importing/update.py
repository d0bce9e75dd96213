"""Write live values into the fields of existing files.

`update` writes the live value of each field that differs in a plan, in the form that the file has, such as a
short form or a file of its own. `unintended_changes` finds other fields that the edit would change, too.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any

from msgspec import Struct, field

from dpsync.config.yaml_reader import DEFAULT_LIMITS, decode, encode
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
from dpsync.importing.inventory import NamingWithFiles
from dpsync.importing.values import (
    FileContent,
    UnwritableValueError,
    ValueWriter,
    json_text,
    replace_file_contents,
    secret_variable,
)
from dpsync.kinds.address_patterns import PlaceTypes, container_and_order, live_container
from dpsync.kinds.kind import Field, ListOrder, SingleEntry
from dpsync.model import nodes
from dpsync.model.address import Address, Pattern
from dpsync.model.change import Blocked, Change
from dpsync.model.desired import Entry
from dpsync.model.diagnostic import Diagnostic
from dpsync.model.nodes import Span
from dpsync.model.plan import Plan
from dpsync.model.snapshot import LiveObject
from dpsync.model.text import format_command, join_with_and
from dpsync.model.values import Ref, Value

_DELETED_HINT = "if somebody deleted the object for good, remove the entry"


class WrittenField(Struct, frozen=True):
    """A field that got its live value in a file; without a field, a new entry."""

    address: Address
    field: str | None
    span: Span


class Updated(Struct):
    """The edited files, the written fields, and the problems with other fields."""

    files: dict[str, bytes] = field(default_factory=dict)
    written: list[WrittenField] = field(default_factory=list)
    problems: list[Diagnostic] = field(default_factory=list)
    sharing_environments: tuple[str, ...] = ()
    """The other environments that use a line that was written."""


FindSharers = Callable[[Address, str, Span], tuple[str, ...]]
"""Returns the other environments that use the line of a field."""


def update(
    sides: NamingWithFiles,
    plan: Plan,
    patterns: Iterable[Pattern],
    target_file: str | None = None,
    find_sharers: FindSharers = lambda *_: (),
    rename_findings: Mapping[Address, Diagnostic] = MappingProxyType({}),
) -> Updated:
    """Edit the files in memory so that fields that differ from GitBook have their live values.

    Args:
        sides: The configuration, the live objects and the files.
        plan: The plan, whose changes are the differing fields.
        patterns: The patterns of the addresses and fields to update.
        target_file: The file that gets the values. By default, each value stays in its line, and a line that
            other environments use is not edited.
        find_sharers: Returns the other environments that use the line of a field.
        rename_findings: The problem to report for an entry whose object is missing but may have been renamed.
    """
    updater = _Updater(sides, target_file, find_sharers, rename_findings)
    changes = {change.address: change for change in plan.changes}
    blocked = {blocked_change.address: blocked_change for blocked_change in plan.blocked}
    for pattern in patterns:
        updater.update_pattern(pattern, changes, blocked)
    return updater.finish()


def unintended_changes(before: Plan, after: Plan, updated: Updated) -> list[Diagnostic]:
    """Return an error for each field that an edit of the files changes by mistake, for example by an anchor.

    `before` and `after` are plans of the files before and after the edit. A field that was written (in
    `updated`) must no longer differ from GitBook, and no other field may begin to differ.
    """
    differences_before, differences_after = _differing_fields(before), _differing_fields(after)
    written_fields = {(str(field.address), field.field) for field in updated.written}
    return [
        Diagnostic(
            "side-effect",
            f"the edit would also change {name} of {address}",
            address=address,
            hint="several entries share this line, by a YAML anchor or a shared file. Edit the line by hand",
        )
        for address, name in sorted(
            (differences_after - differences_before) | (differences_after & written_fields)
        )
    ]


def _differing_fields(plan: Plan) -> set[tuple[str, str]]:
    """Return address and field of each difference in a plan; for a creation or deletion, the action."""
    fields = {
        (change.address, difference.field) for change in plan.changes for difference in change.differences
    }
    return fields | {(change.address, change.action) for change in plan.changes if change.action != "update"}


class _Updater:
    """Writes live values into the fields of the files."""

    def __init__(
        self,
        sides: NamingWithFiles,
        target_file: str | None,
        find_sharers: FindSharers,
        rename_findings: Mapping[Address, Diagnostic],
    ) -> None:
        self.sides = sides
        self.target_file = target_file
        self.find_sharers = find_sharers
        self.rename_findings = rename_findings
        self.values_for_target_file: list[tuple[list[Step], Any]] = []
        self.result = Updated()
        self.edits: dict[str, list[TextEdit]] = {}
        self.documents: dict[str, YamlFile] = {}
        self.row_files: dict[str, CsvFile] = {}
        self.written_fields: set[tuple[Address, str]] = set()
        self.in_long_form: set[Address] = set()
        """The entries whose short form is replaced by a mapping."""
        self.moved_entries: list[Entry] = []

    def update_pattern(
        self, pattern: Pattern, changes: Mapping[str, Change], blocked: Mapping[str, Blocked]
    ) -> None:
        """Write the live values of the entries or fields that a pattern matches.

        `changes` and `blocked` are those of the plan by address. A pattern that matches nothing is a problem.
        """
        covered = [
            resource
            for address, resource in sorted(self.sides.desired.entries.items())
            if (pattern.matches_or_contains(address) if pattern.field is None else pattern.matches(address))
        ]
        if not covered:
            hint = self._hint_for_new_entry(pattern)
            self.add_problem(
                "unknown-address", f'no entry has the address "{pattern.text}"', None, None, hint
            )
        for resource in covered:
            for order in self.sides.registry[resource.kind].list_orders:
                if pattern.field in (None, order.name):
                    self._write_order(resource, order)
            if pattern.field is not None and pattern.field not in resource.fields:
                self.written_fields.add((resource.address, pattern.field))
                self._add_field(resource, pattern.field)
            change = changes.get(str(resource.address))
            if change is not None:
                self._write_differences(resource, change, pattern.field)
            elif str(resource.address) in blocked and self.sides.live_object(resource) is None:
                blocked_change = blocked[str(resource.address)]
                self._report_not_live(resource, blocked_change.reason, blocked_change.todo or _DELETED_HINT)

    def _hint_for_new_entry(self, pattern: Pattern) -> str:
        """Return a hint for a pattern that matches no entry: how to write a new entry."""
        kinds = PlaceTypes(self.sides.registry).kinds_of(pattern)
        single = bool(kinds) and all(isinstance(kind.shape, SingleEntry) for kind in kinds)
        if single or pattern.last_segment.startswith("["):
            return f"to write a new entry: {format_command('import', '--add', '/'.join(pattern.segments))}"
        return (
            "--update changes existing entries. To write a new entry, use --add with an address that "
            f"{format_command('drift', '--everything')} lists"
        )

    def add_problem(
        self, code: str, message: str, address: Address | None, span: Span | None, hint: str | None = None
    ) -> None:
        """Report why something is not written."""
        text = str(address) if address else None
        self.result.problems.append(Diagnostic(code, message, span, text, hint))

    def _write_differences(self, resource: Entry, change: Change, only: str | None) -> None:
        """Write the live values of the fields in which an entry differs; with `only`, of this field alone.

        `change` is the planned change of the entry. If it is no update, the entry has no live object, which
        is reported.
        """
        live = self.sides.live_object(resource)
        if live is None or change.action != "update":
            self._report_not_live(resource)
            return
        if change.moved is not None and only is None:
            self.moved_entries.append(resource)
        kind = self.sides.registry[resource.kind]
        for difference in change.differences:
            if difference.inherited is not None:
                continue  # the live value is already that of the file, although the object inherits it
            if (
                only in (None, difference.field)
                and (resource.address, difference.field) not in self.written_fields
            ):
                self.written_fields.add((resource.address, difference.field))
                if difference.field not in resource.fields:  # a watched field that has left its default
                    self._add_field(resource, difference.field)
                    continue
                self._write_field(resource, kind.field(difference.field), live)

    def _report_not_live(
        self, resource: Entry, why: str = "GitBook does not contain the object", todo: str = _DELETED_HINT
    ) -> None:
        """Report that an entry has no live object to read values from, or that its object may be renamed."""
        if resource.address in self.rename_findings:
            self.result.problems.append(self.rename_findings[resource.address])
            return
        self.add_problem(
            "not-live", f"{why}, so there is no value to write", resource.address, resource.span,
            todo,
        )  # fmt: skip

    def _write_order(self, resource: Entry, order: ListOrder) -> None:
        """Write the live order of the objects inside an entry into its order list.

        Only objects in the list are written, without those that were moved away. An empty list stays.
        """
        listed = resource.fields.get(order.name)
        if not listed or (resource.address, order.name) in self.written_fields:
            return
        self.written_fields.add((resource.address, order.name))
        live = self.sides.live_object(resource)
        ids_inside = self._ids_inside(order, live) if live is not None else []
        keys: list[Any] = []
        key_by_id: dict[str | None, Any] = {}
        key: Any
        for reference in listed:
            if isinstance(reference, Ref):
                id_ = self.sides.snapshot.live_id(reference.address)
                key = self.sides.desired.entries[reference.address].key
            else:
                id_, key = reference.id, {"id": reference.id}
            keys.append(key)
            key_by_id[id_] = key
        live_order = [key_by_id[id] for id in ids_inside if id in key_by_id]
        if live_order != keys:
            self._write_value(resource, order.name, live_order)

    def _ids_inside(self, order: ListOrder, holder: LiveObject) -> list[str]:
        """Return the ids of the objects that an object contains, in live order."""
        siblings = self.sides.snapshot.siblings(holder.identity, order.item_kind)
        objects_inside = (self.sides.snapshot.objects.get(identity) for identity in siblings)
        kind = self.sides.registry[order.item_kind]
        return [
            obj.id
            for obj in objects_inside
            if obj and live_container(kind, order.place_field, obj) == holder.identity
        ]

    def _write_field(self, resource: Entry, field_: Field, live: LiveObject) -> None:
        """Write the live value of a field over the value in the files, or report why that is not possible."""
        try:
            if field_.response_path is None:
                raise UneditableError("GitBook does not return this value")
            if field_.is_parent_reference:
                raise UneditableError(
                    "the position of the entry in the file sets this field. Move the entry by hand"
                )
            value = self._yaml_value(resource, field_, live.fields.get(field_.name))
        except (UneditableError, UnwritableValueError) as why:
            self._report_not_written(resource, field_.name, str(why))
            return
        self._write_value(resource, field_.name, value)

    def _add_field(self, resource: Entry, name: str) -> None:
        """Add a field with its live value to an entry whose files do not have the field yet.

        A field is added only if its name was passed or if the policy watches it.
        """
        kind = self.sides.registry[resource.kind]
        field_ = next((kind_field for kind_field in kind.fields if kind_field.name == name), None)
        live = self.sides.live_object(resource)
        if (
            field_ is None
            or live is None
            or field_.is_parent_reference
            or field_.written_in == "neither"
            or field_.response_path is None
        ):
            message = f"{kind.noun_with_article} has no field {name} that import can write"
            self.add_problem("unknown-address", message, resource.address, resource.span)
            return
        value = live.fields.get(name)
        try:
            if value is None:
                raise UneditableError("the object in GitBook has no value for this field")
            written = self._value_writer(resource, field_).yaml_value(field_.type, value)
            if self.target_file is not None and resource.span.file != self.target_file:
                self._insert_into_overlay(resource, name, written)
                return
            if resource.span.file in self.sides.desired.row_files:
                self._write_row(resource, name, written)
                return
            if isinstance(written, FileContent):
                raise UneditableError(
                    f"the value is too long for one line. Add {name}: {{ file: PATH }} to the entry, and "
                    "repeat the command"
                )
            document = self._document(resource.span.file)
            written = replace_file_contents(written, lambda long, _: _inline_value(long))
            short = field_.type.shortest_form(written)
            field_names = {kind_field.name for kind_field in kind.fields}
            edits = document.add_field_edits(resource.span, name, short, field_names, kind.shorthand_field)
            if len(edits) > 1 and resource.address in self.in_long_form:
                raise UneditableError("the entry has the short form KEY: VALUE. Update one field at a time")
            self.in_long_form |= {resource.address} if len(edits) > 1 else set()
        except (UneditableError, UnwritableValueError) as why:
            self._report_not_written(resource, name, str(why))
            return
        self.edits.setdefault(resource.span.file, []).extend(edits)
        self.result.written.append(WrittenField(resource.address, name, resource.span))

    def _write_value(self, resource: Entry, name: str, value: Any) -> None:
        """Write YAML data for a field: into the target file, a CSV row, or the line of the field.

        A line that other environments share, and a value that cannot be edited, are reported instead.
        """
        span = resource.field_span(name)
        if self.target_file is not None and span.file != self.target_file:
            self._insert_into_overlay(resource, name, value)
            return
        if self.target_file is None and (others := self.find_sharers(resource.address, name, span)):
            self._report_shared(resource, name, others)
            return
        try:
            if span.file in self.sides.desired.row_files:
                self._write_row(resource, name, value)
                return
            self._replace_value(span, value, self.sides.registry[resource.kind].field(name))
        except UneditableError as why:
            self._report_not_written(resource, name, str(why))
        else:
            self.result.written.append(WrittenField(resource.address, name, span))

    def _write_row(self, resource: Entry, name: str, value: Any) -> None:
        """Write a field in the CSV row of an entry. Raises UneditableError."""
        file = resource.span.file
        if file not in self.row_files:
            text, _ = decode(self.sides.files.read(file, DEFAULT_LIMITS.bytes), file)
            self.row_files[file] = CsvFile(self.sides.registry[resource.kind], text, file)
        self.row_files[file].change(resource.span, name, value)
        self.result.written.append(WrittenField(resource.address, name, resource.field_span(name)))

    def _insert_into_overlay(self, resource: Entry, name: str, value: Any) -> None:
        """Remember a value to insert into the target file; `finish` inserts all of them."""
        if resource.span.file in self.sides.desired.row_files:
            self._report_not_written(
                resource,
                name,
                f"the value is in a row of {resource.span.file}, and an overlay cannot change a row",
            )
            return
        steps = steps_to(self.sides.registry, self.sides.desired.entries, resource)
        short = self.sides.registry[resource.kind].field(name).type.shortest_form(value)
        self.values_for_target_file.append(
            ([*steps, name], replace_file_contents(short, lambda long, _: _inline_value(long)))
        )
        self.result.written.append(WrittenField(resource.address, name, resource.field_span(name)))

    def _report_shared(self, resource: Entry, name: str, others: tuple[str, ...]) -> None:
        """Leave a line unchanged that other environments share, and report how to write the value."""
        span, overlay = resource.field_span(name), self.sides.desired.overlay
        command = format_command(
            "import", "--update", str(resource.address.field(name)), "--into", overlay or ""
        )
        overlay_hint = (
            f": {command}"
            if overlay
            else ", add an overlay (a file whose values replace values of the root file)"
        )
        message = f"other configurations use the line of {name}, too: {join_with_and(others)}"
        hint = (
            f"to write the value for all configurations, pass --into {span.file}. "
            f"To write the value only for this configuration{overlay_hint}"
        )
        self.add_problem("shared", message, resource.address, span, hint)

    def _report_not_written(self, resource: Entry, name: str, why: str) -> None:
        """Report that the live value of a field cannot be written."""
        message = f"dpsync cannot write the {name} from GitBook: {why}"
        self.add_problem(
            "not-taken-over", message, resource.address, resource.field_span(name), "write the value by hand"
        )

    def _yaml_value(self, resource: Entry, field_: Field, value: Value) -> Any:
        """Return the YAML data for a live value that replaces the value of a field in the files.

        Of a partly managed value, only the keys in the files are written. Raises UneditableError.
        """
        if value is None:
            if field_.null_effect == "refused":
                raise UneditableError(
                    "the object in GitBook has no value, and the field does not allow null. Remove the line"
                )
            return None
        displayed_value = field_.type.displayable_live(value, resource.fields.get(field_.name))
        return self._value_writer(resource, field_).yaml_value(field_.type, displayed_value)

    def _value_writer(self, resource: Entry, field_: Field) -> ValueWriter:
        """Return the converter of live values to YAML data for a field of an entry."""
        return ValueWriter(
            self.sides.reference_namer(resource),
            lambda path: secret_variable(resource.address, field_.name, path),
        )

    def _replace_value(self, span: Span, value: Any, field_: Field) -> None:
        """Replace the YAML value at a position by other YAML data, in the short form that the file has.

        A value `{file: PATH}` stays, and the file gets the new content. Raises UneditableError.
        """
        document = self._document(span.file)
        key, old = document.value_of(span)
        path = _referenced_file(old)
        if path is not None:
            path_in_project = posixpath.normpath(posixpath.join(posixpath.dirname(span.file), path))
            self._set_file_content(self.sides.files.real_name(path_in_project) or path_in_project, value)
            return
        value = replace_file_contents(
            value, lambda long, path: self._write_long_value(span.file, _node_at_path(old, path), long)
        )
        value = field_.type.shortest_form(value, old)
        if field_.allows_inline_words and key is not None and key.text != field_.name:
            self.edits.setdefault(span.file, []).extend(document.inline_edits(key, old, value))
        else:
            self.edits.setdefault(span.file, []).extend(document.edits(key, old, value))

    def _write_long_value(self, yaml_file: str, old: nodes.Node | None, long: FileContent) -> Any:
        """Write a long value into the file that the old value names, and return `{file: PATH}`.

        Without such a file, return the value itself.
        """
        path = _referenced_file(old) if old is not None else None
        if path is None:
            return _inline_value(long)
        path_in_project = posixpath.normpath(posixpath.join(posixpath.dirname(yaml_file), path))
        self._set_file_content(self.sides.files.real_name(path_in_project) or path_in_project, long)
        return {"file": path}

    def _set_file_content(self, name: str, value: Any) -> None:
        """Set the content of the file that contains a value. Raises UneditableError for a YAML file."""
        if name.endswith((".yaml", ".yml")):
            raise UneditableError(f"the value is in another YAML file, {name}")
        if isinstance(value, FileContent):
            self.result.files[name] = value.text.encode()
        elif value is None:
            self.result.files[name] = b""
        elif isinstance(value, str):
            self.result.files[name] = value.encode()
        else:
            self.result.files[name] = json_text(value).encode()

    def _document(self, name: str) -> YamlFile:
        """Return a parsed file of the project, which is read only once."""
        if name not in self.documents:
            text, _ = decode(self.sides.files.read(name, DEFAULT_LIMITS.bytes), name)
            self.documents[name] = YamlFile(text, name)
        return self.documents[name]

    def _report_moved(self) -> None:
        """Report entries whose position differs, unless an edited list now determines the position."""
        edited_orders = {(field.address, field.field) for field in self.result.written}
        for resource in self.moved_entries:
            container_order = container_and_order(self.sides.registry, self.sides.desired.entries, resource)
            message, hint = (
                "the object has another position in GitBook than in your file",
                "move the entry by hand",
            )
            if container_order is not None:
                holder, order = container_order
                if (holder, order.name) in edited_orders:
                    continue
                command = format_command("import", "--update", str(holder.field(order.name)))
                hint = f"to update the order of the objects as well, run {command}"
            self.add_problem("order", message, resource.address, resource.span, hint)

    def _insert_into_target_file(self) -> None:
        """Insert the remembered values into the target file; if that fails, report it and insert none."""
        if self.target_file is None or not self.values_for_target_file:
            return
        before = self.result.files.get(self.target_file) or self.sides.files.read(
            self.target_file, DEFAULT_LIMITS.bytes
        )
        try:
            self.result.files[self.target_file] = insert_values(
                before, self.target_file, self.values_for_target_file
            )
        except UneditableError as why:
            message = f"dpsync cannot edit {self.target_file}: {why}"
            self.add_problem("not-taken-over", message, None, None, "write the value by hand")
            self.result.written = [
                field for field in self.result.written if field.span.file == self.target_file
            ]

    def finish(self) -> Updated:
        """Apply the collected edits, and return the edited files."""
        self._report_moved()
        for name, edits in self.edits.items():
            before = self.sides.files.read(name, DEFAULT_LIMITS.bytes)
            document = self.documents[name]
            try:
                edited = unfold_long_lines(document.text, apply_edits(document.text, edits))
            except UneditableError as why:
                self.add_problem(
                    "not-taken-over",
                    f"dpsync cannot edit {name}: {why}",
                    None,
                    None,
                    "update one address at a time",
                )
                continue
            self.result.files[name] = encode(edited, before)
        for name, file in self.row_files.items():
            before = self.sides.files.read(name, DEFAULT_LIMITS.bytes)
            self.result.files[name] = encode(file.edited_text(), before)
        self._insert_into_target_file()
        return self.result


def _referenced_file(node: nodes.Node) -> str | None:
    """Return the path in `{file: PATH}`; None for other values."""
    path = node.get("file") if isinstance(node, nodes.Mapping) and len(node.entries) == 1 else None
    return str(path.value) if isinstance(path, nodes.Scalar) else None


def _node_at_path(node: nodes.Node, path: tuple[str, ...]) -> nodes.Node | None:
    """Return the node at these keys; None if there is none."""
    for name in path:
        member = node.get(name) if isinstance(node, nodes.Mapping) else None
        if member is None:
            return None
        node = member
    return node


def _inline_value(content: FileContent) -> Any:
    """Return a long value for the YAML file itself: JSON as data, otherwise the text."""
    import json

    return json.loads(content.text) if content.suffix == ".json" else content.text
