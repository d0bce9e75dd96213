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
from dpsync.config.discovery import Directory, InFront
from dpsync.config.layers import Layers
from dpsync.config.load import load_from
from dpsync.config.rows import WORD, rows_of
from dpsync.config.yaml_reader import DEFAULT_LIMITS, decode, encode
from dpsync.kinds.kind import Kind
from dpsync.model import nodes
from dpsync.model.address import Address
from dpsync.model.desired import Desired, Entry, Scope
from dpsync.model.diagnostic import Diagnostic, DiagnosticError, Exit
from dpsync.model.nodes import Node, Span
from dpsync.model.text import command, counted
from dpsync.workflows.session import Planned, Session, Sharing

if TYPE_CHECKING:
    from dpsync.importing.update import Updated

CODE = "rows"


class _RowPlace(Struct, frozen=True):
    """A list of entries that a CSV file can contain, with the entry that owns the list."""

    owner: Entry
    kind: Kind
    address: Address
    scope: Scope | None
    """The declared list; None if no file has the list yet."""

    @property
    def span(self) -> Span:
        return self.scope.span if self.scope is not None else self.owner.span


def import_rows(
    session: Session,
    client: ReadClient,
    root: Path,
    named: str,
    layers: Layers | None = None,
    env: Mapping[str, str] | None = None,
) -> Updated:
    """Return the files of a configuration with the live objects of one list in a CSV file.

    `named` is the address of the entry that owns the list, or its key if only one entry has this key. Entries
    that no CSV row can contain stay in YAML beside the CSV file. Nothing is written to the disk.

    Raises:
        ClientError: reading failed.
        DiagnosticError: something would be lost, or a plan of the new files would not be empty (exit 4).
    """
    from dpsync.importing.inventory import NamingWithFiles
    from dpsync.importing.update import Taken, Updated, unintended

    variables, files = os.environ if env is None else env, Directory(root)
    place = _place(session, named)
    watched = session.desired.watched
    if place.scope is None:
        names = (place.kind.name,)
        watched = {**watched, place.address: Scope(place.address, place.owner.address, names, place.span)}
    planned = replace(session, desired=replace(session.desired, watched=watched, watching=True)).plan(client)
    before = session.differences(planned)
    name = posixpath.join(
        posixpath.dirname(place.span.file), f"{place.owner.key}.{place.kind.key.replace('.', '-')}.csv"
    )
    _refuse(session, planned, place, name, files)
    shared = Sharing.of(session.readable, files, session.registry.whole, variables, layers or Layers())
    others = shared.of_file(place.span.file)
    if layers is not None and (layers.environment or layers.overlays) and others:
        raise _refused(f"other environments also use {place.span.file} ({', '.join(others)})", place.span)
    sides = NamingWithFiles(session.registry, session.readable, planned.snapshot, files)
    updated = Updated()
    table, not_in_rows = _split(sides, planned, place)
    updated.files[name] = table.encode()
    value = {WORD: posixpath.basename(name), **not_in_rows}
    updated.files[place.span.file] = _edited(files, place, value, session)
    updated.taken.append(Taken(place.address, None, Span.start_of(name)))
    desired, findings = load_from(InFront(files, updated.files), session.registry.whole, variables, layers)
    errors = list(findings.errors)
    if not errors:
        edited_session = replace(session, desired=desired)
        after = session.differences(edited_session.plan(client))
        inside = [change for change in after.changes if Address.parse(change.address).is_in(place.address)]
        errors = unintended(before, after, updated)
        errors += [
            Diagnostic(
                "side-effect",
                f"the edit of your files would also change {change.address}",
                address=change.address,
            )
            for change in inside
        ]
    if errors:
        raise DiagnosticError(errors, Exit.REFUSED, desired.texts)
    return updated


def _place(session: Session, named: str) -> _RowPlace:
    """Return the list of the named entry that a CSV file can contain. Raises DiagnosticError (exit 4)."""
    places: list[_RowPlace] = []
    for entry in session.readable.resources.values():
        for word, kinds in session.registry.places(entry.kind).items():
            for kind in kinds:
                if rows_of(kind) is not None:
                    address = entry.address.child(*word.split("."))
                    places.append(_RowPlace(entry, kind, address, session.readable.scopes.get(address)))
    by_address = [place for place in places if str(place.owner.address) == named]
    matching = by_address or [place for place in places if place.owner.key == named]
    if len(matching) == 1:
        return matching[0]
    known = ", ".join(str(place.owner.address) for place in places) or "none"
    problem = (
        "matches several entries" if matching else "is not an entry with a list that a CSV file can contain"
    )
    error = Diagnostic("unknown-address", f'"{named}" {problem}', hint=f"declared: {known}")
    raise DiagnosticError([error], Exit.REFUSED)


def _refused(message: str, span: Span | None = None, hint: str | None = None) -> DiagnosticError:
    return DiagnosticError([Diagnostic(CODE, message, span, hint=hint)], Exit.REFUSED)


def _refuse(session: Session, planned: Planned, place: _RowPlace, name: str, files: Directory) -> None:
    """Raise DiagnosticError (exit 4) if the files contain something that the CSV file could not."""
    desired: Desired = session.readable
    for entry in desired.resources.values():
        if entry.address.is_in(place.address):
            if entry.span.file in desired.row_files:
                hint = "to write values from GitBook into the CSV file, use --update and --add"
                raise _refused(f"{entry.span.file} is already a CSV file", place.span, hint)
            if entry.span.file != place.span.file:
                raise _refused(
                    f"{entry.address} is in another file than the other entries of its list", entry.span
                )
            if planned.snapshot.bound(entry.address) is None:
                hint = f"create the object with {command('apply')} first, or delete the entry"
                raise _refused(
                    f"GitBook does not contain {entry.address}, so the import would lose this entry",
                    entry.span,
                    hint,
                )
    if place.address not in planned.snapshot.scopes:
        raise _refused(f"dpsync could not read {place.address}", place.span)
    try:
        files.read(name, 0)
    except FileNotFoundError:
        return
    except OSError:
        pass
    raise _refused(f"{name} already exists", place.span, "move or delete the file")


def _split(sides: Any, planned: Planned, place: _RowPlace) -> tuple[str, dict[str, Any]]:
    """Return the text of the CSV file, and the entries that no CSV row can contain."""
    from dpsync.importing.edit_yaml import Uneditable
    from dpsync.importing.entries import NONE, worth_writing
    from dpsync.importing.rows import Cells, file_text, row
    from dpsync.importing.values import Unwritable, Writing, variable
    from dpsync.kinds.short_forms import short_forms

    lines: list[Cells] = []
    not_in_rows: dict[str, Any] = {}
    natural = str(place.kind.natural)
    objects = [planned.snapshot.objects[identity] for identity in planned.snapshot.scopes[place.address]]
    for live in sorted(objects, key=lambda live: str(live.fields.get(natural))):
        key = str(live.fields.get(natural) or "")
        fields: dict[str, Any] = {}
        try:
            for field in place.kind.fields:
                value = worth_writing(place.kind, field, live, key, full=False)
                if value is NONE:
                    fields[field.name] = None
                elif value is not None:
                    address = place.address.child(key)
                    writing = Writing(sides.named(place.owner), partial(variable, address, field.name))
                    fields[field.name] = writing.value(field.type, value)
        except Unwritable as error:
            raise _refused(
                f'dpsync cannot write the row "{key}" of the CSV file: {error}', place.span
            ) from None
        try:
            lines.append(row(place.kind, key, fields))
        except Uneditable:
            not_in_rows[key] = short_forms(place.kind, fields)
    if not lines:
        raise _refused(f"{place.address} contains no object that a CSV file can contain", place.span)
    return file_text(place.kind, lines), not_in_rows


def _edited(files: Directory, place: _RowPlace, value: dict[str, Any], session: Session) -> bytes:
    """Return the configuration file with the line that names the CSV file."""
    from dpsync.importing.edit_yaml import Document, Uneditable, apply_edits, comments, unfolded

    before = files.read(place.span.file, DEFAULT_LIMITS.bytes)
    document = Document(decode(before, place.span.file)[0], place.span.file)
    try:
        if place.scope is not None:
            key, old = document.value_of(place.span)
            if any("${" in text for text in _texts(old)):
                raise Uneditable("a value of this entry comes from a variable, which would be lost")
            edits = document.edits(key, old, value)
        else:
            names = {one.name for one in session.registry[place.owner.kind].fields}
            first, *inside = place.kind.key.split(".")
            for word in reversed(inside):
                value = {word: value}
            edits = document.adding(place.span, first, value, names)
        text = unfolded(document.text, apply_edits(document.text, edits))
    except Uneditable as error:
        raise _refused(
            f"dpsync cannot write the line that names the CSV file: {error}",
            place.span,
            "write the line by hand",
        ) from None
    if lost := comments(document.text) - comments(text):
        message = (
            f"{counted(lost.total(), 'comment')} would be lost, because CSV "
            f"files have no comments: {next(iter(lost))}"
        )
        raise _refused(
            message, place.span, f'move the comment above the key "{place.kind.key}", or delete the comment'
        )
    return encode(text, before)


def _texts(node: Node) -> Iterator[str]:
    """Yield each scalar of a YAML node as it is written in the file."""
    match node:
        case nodes.Scalar(text=text):
            yield text
        case nodes.Sequence(items=items):
            for item in items:
                yield from _texts(item)
        case nodes.Mapping(entries=entries):
            for _, item in entries:
                yield from _texts(item)
