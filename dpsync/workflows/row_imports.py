"""Move the entries of one list into a CSV file, and name that file in the configuration.

`import_rows` returns the content of the edited files; the caller writes the files. Entries that no CSV row
can contain stay in YAML beside the CSV file.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from dpsync.client.client import ReadClient
from dpsync.config.csv_rows import FILE_KEY, row_format
from dpsync.config.discovery import DiskFiles, StagedFiles
from dpsync.config.layers import Layers
from dpsync.config.load import load_from
from dpsync.config.yaml_reader import DEFAULT_LIMITS, decode, encode
from dpsync.kinds.kind import Kind
from dpsync.model import nodes
from dpsync.model.address import Address
from dpsync.model.desired import Desired, Entry, Scope
from dpsync.model.diagnostic import Diagnostic, DiagnosticError, Exit
from dpsync.model.nodes import Node, Span
from dpsync.model.text import format_command, format_count
from dpsync.workflows.session import OtherConfigurations, Planned, Session

if TYPE_CHECKING:
    from dpsync.importing.inventory import NamingWithFiles
    from dpsync.importing.update import Updated

ROWS_CODE = "rows"


class _RowPlace(Struct, frozen=True):
    """A list of entries that a CSV file can contain, with the entry that owns the list."""

    owner: Entry
    kind: Kind
    address: Address
    scope: Scope | None
    """The declared list; None if no file has the list yet."""

    @property
    def span(self) -> Span:
        """Return the position of the list in the files, or of its owner if no file has the list yet."""
        return self.scope.span if self.scope is not None else self.owner.span


def import_rows(
    session: Session,
    client: ReadClient,
    root: Path,
    named: str,
    layers: Layers | None = None,
    env: Mapping[str, str] | None = None,
) -> Updated:
    """Return the edited files of a configuration, with the live objects of one list in a new CSV file.

    `named` is the address of the entry that owns the list, or its key if only one entry has this key. Entries
    that no CSV row can contain stay in YAML beside the CSV file. Nothing is written to the disk.

    Raises:
        ClientError: reading failed.
        DiagnosticError: something would be lost, or a plan of the new files would not be empty (exit 4).
    """
    from dpsync.importing.inventory import NamingWithFiles
    from dpsync.importing.update import Updated, WrittenField, unintended_changes

    variables, files = os.environ if env is None else env, DiskFiles(root)
    row_place = _find_row_place(session, named)
    watched = session.desired.watched_scopes
    if row_place.scope is None:
        names = (row_place.kind.name,)
        watched = {
            **watched,
            row_place.address: Scope(row_place.address, row_place.owner.address, names, row_place.span),
        }
    planned = replace(
        session, desired=replace(session.desired, watched_scopes=watched, reads_watched=True)
    ).plan(client)
    before = session.differences(planned)
    name = posixpath.join(
        posixpath.dirname(row_place.span.file),
        f"{row_place.owner.key}.{row_place.kind.key.replace('.', '-')}.csv",
    )
    _check_can_move_to_csv(session, planned, row_place, name, files)
    shared = OtherConfigurations.of(
        session.readable, files, session.registry.with_all_kinds, variables, layers or Layers()
    )
    others = shared.names_reading_file(row_place.span.file)
    if layers is not None and (layers.environment or layers.overlays) and others:
        raise _refusal_error(
            f"other environments also use {row_place.span.file} ({', '.join(others)})", row_place.span
        )
    sides = NamingWithFiles(session.registry, session.readable, planned.snapshot, files)
    updated = Updated()
    table, not_in_rows = _split_rows(sides, planned, row_place)
    updated.files[name] = table.encode()
    value = {FILE_KEY: posixpath.basename(name), **not_in_rows}
    updated.files[row_place.span.file] = _edited_configuration_file(files, row_place, value, session)
    updated.written.append(WrittenField(row_place.address, None, Span.start_of(name)))
    desired, findings = load_from(
        StagedFiles(files, updated.files), session.registry.with_all_kinds, variables, layers
    )
    errors = list(findings.errors)
    if not errors:
        edited_session = replace(session, desired=desired)
        after = session.differences(edited_session.plan(client))
        affected = [
            change
            for change in after.changes
            if Address.parse(change.address).is_at_or_below(row_place.address)
        ]
        errors = unintended_changes(before, after, updated)
        errors += [
            Diagnostic(
                "side-effect",
                f"the edit of your files would also change {change.address}",
                address=change.address,
            )
            for change in affected
        ]
    if errors:
        raise DiagnosticError(errors, Exit.REFUSED, desired.texts)
    return updated


def _find_row_place(session: Session, named: str) -> _RowPlace:
    """Return the list that a CSV file can contain in the entry that `named` means.

    Raises DiagnosticError (exit code 4) unless exactly one entry has this address or key.
    """
    candidates: list[_RowPlace] = []
    for entry in session.readable.entries.values():
        for word, kinds in session.registry.kinds_by_list_key(entry.kind).items():
            for kind in kinds:
                if row_format(kind) is not None:
                    address = entry.address.child(*word.split("."))
                    candidates.append(_RowPlace(entry, kind, address, session.readable.scopes.get(address)))
    by_address = [candidate for candidate in candidates if str(candidate.owner.address) == named]
    matching = by_address or [candidate for candidate in candidates if candidate.owner.key == named]
    if len(matching) == 1:
        return matching[0]
    known = ", ".join(str(candidate.owner.address) for candidate in candidates) or "none"
    problem = (
        "matches several entries" if matching else "is not an entry with a list that a CSV file can contain"
    )
    error = Diagnostic("unknown-address", f'"{named}" {problem}', hint=f"declared: {known}")
    raise DiagnosticError([error], Exit.REFUSED)


def _refusal_error(message: str, span: Span | None = None, hint: str | None = None) -> DiagnosticError:
    """Return the error that an import into a CSV file is not possible (exit code 4)."""
    return DiagnosticError([Diagnostic(ROWS_CODE, message, span, hint=hint)], Exit.REFUSED)


def _check_can_move_to_csv(
    session: Session, planned: Planned, row_place: _RowPlace, name: str, files: DiskFiles
) -> None:
    """Raise DiagnosticError (exit code 4) if the import would lose something or overwrite a file.

    `name` is the name of the new CSV file.
    """
    desired: Desired = session.readable
    for entry in desired.entries.values():
        if entry.address.is_at_or_below(row_place.address):
            if entry.span.file in desired.row_files:
                hint = "to write values from GitBook into the CSV file, use --update and --add"
                raise _refusal_error(f"{entry.span.file} is already a CSV file", row_place.span, hint)
            if entry.span.file != row_place.span.file:
                raise _refusal_error(
                    f"{entry.address} is in another file than the other entries of its list", entry.span
                )
            if planned.snapshot.live_id(entry.address) is None:
                hint = f"create the object with {format_command('apply')} first, or delete the entry"
                raise _refusal_error(
                    f"GitBook does not contain {entry.address}, so the import would lose this entry",
                    entry.span,
                    hint,
                )
    if row_place.address not in planned.snapshot.scopes:
        raise _refusal_error(f"dpsync could not read {row_place.address}", row_place.span)
    try:
        files.read(name, 0)
    except FileNotFoundError:
        return
    except OSError:
        pass
    raise _refusal_error(f"{name} already exists", row_place.span, "move or delete the file")


def _split_rows(sides: NamingWithFiles, planned: Planned, row_place: _RowPlace) -> tuple[str, dict[str, Any]]:
    """Write the live objects of a list as rows of a CSV file, sorted by key.

    Return the text of the file, and the fields by key of the objects that no CSV row can contain.
    """
    from dpsync.importing.csv_files import Cells, cells_of_entry, csv_text
    from dpsync.importing.edit_yaml import UneditableError
    from dpsync.importing.entries import EXPLICIT_NULL, value_to_write
    from dpsync.importing.values import UnwritableValueError, ValueWriter, secret_variable
    from dpsync.kinds.short_forms import shorten_fields

    lines: list[Cells] = []
    not_in_rows: dict[str, Any] = {}
    key_field = str(row_place.kind.key_field)
    objects = [planned.snapshot.objects[identity] for identity in planned.snapshot.scopes[row_place.address]]
    for live in sorted(objects, key=lambda live: str(live.fields.get(key_field))):
        key = str(live.fields.get(key_field) or "")
        fields: dict[str, Any] = {}
        try:
            for field in row_place.kind.fields:
                value = value_to_write(row_place.kind, field, live, key, full=False)
                if value is EXPLICIT_NULL:
                    fields[field.name] = None
                elif value is not None:
                    address = row_place.address.child(key)
                    writer = ValueWriter(
                        sides.reference_namer(row_place.owner), partial(secret_variable, address, field.name)
                    )
                    fields[field.name] = writer.yaml_value(field.type, value)
        except UnwritableValueError as error:
            raise _refusal_error(
                f'dpsync cannot write the row "{key}" of the CSV file: {error}', row_place.span
            ) from None
        try:
            lines.append(cells_of_entry(row_place.kind, key, fields))
        except UneditableError:
            not_in_rows[key] = shorten_fields(row_place.kind, fields)
    if not lines:
        raise _refusal_error(
            f"{row_place.address} contains no object that a CSV file can contain", row_place.span
        )
    return csv_text(row_place.kind, lines), not_in_rows


def _edited_configuration_file(
    files: DiskFiles, row_place: _RowPlace, value: dict[str, Any], session: Session
) -> bytes:
    """Return the content of the configuration file with `value`, which names the CSV file, as the list.

    Raises DiagnosticError (exit code 4) if a variable or a comment would be lost.
    """
    from dpsync.importing.edit_yaml import UneditableError, YamlFile, apply_edits, comments, unfold_long_lines

    old_content = files.read(row_place.span.file, DEFAULT_LIMITS.bytes)
    document = YamlFile(decode(old_content, row_place.span.file)[0], row_place.span.file)
    try:
        if row_place.scope is not None:
            key, old_value = document.value_of(row_place.span)
            if any("${" in text for text in _scalar_texts(old_value)):
                raise UneditableError("a value of this entry comes from a variable, which would be lost")
            edits = document.edits(key, old_value, value)
        else:
            names = {field.name for field in session.registry[row_place.owner.kind].fields}
            first_word, *inner_words = row_place.kind.key.split(".")
            for word in reversed(inner_words):
                value = {word: value}
            edits = document.add_field_edits(row_place.span, first_word, value, names)
        text = unfold_long_lines(document.text, apply_edits(document.text, edits))
    except UneditableError as error:
        raise _refusal_error(
            f"dpsync cannot write the line that names the CSV file: {error}",
            row_place.span,
            "write the line by hand",
        ) from None
    if lost := comments(document.text) - comments(text):
        message = (
            f"{format_count(lost.total(), 'comment')} would be lost, because CSV "
            f"files have no comments: {next(iter(lost))}"
        )
        raise _refusal_error(
            message,
            row_place.span,
            f'move the comment above the key "{row_place.kind.key}", or delete the comment',
        )
    return encode(text, old_content)


def _scalar_texts(node: Node) -> Iterator[str]:
    """Yield each scalar of a YAML node, at any depth, as it is written in the file."""
    match node:
        case nodes.Scalar(text=text):
            yield text
        case nodes.Sequence(items=items):
            for item in items:
                yield from _scalar_texts(item)
        case nodes.Mapping(entries=entries):
            for _, item in entries:
                yield from _scalar_texts(item)
