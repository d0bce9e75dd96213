"""The comments "Not imported: …" in files that are there: which of them still hold after an import."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from dpsync.config.discovery import Files
from dpsync.config.yaml_reader import DEFAULT_LIMITS, decode
from dpsync.importing.edit_yaml import Document, TextEdit, apply_edits
from dpsync.importing.entries import not_imported
from dpsync.importing.inventory import FORBIDDEN
from dpsync.model.address import Address
from dpsync.model.desired import Desired, Entry
from dpsync.model.text import listed

_NOTE = re.compile(r"(?P<indent> *)# Not imported: (?P<names>.*?)\. (?P<why>[A-Z].*)")
_BETWEEN = re.compile(r", | and ")


def renew_notes(
    files: Files, desired: Desired, read: Collection[Address], unread: Collection[Address]
) -> dict[str, bytes]:
    """Return the files whose comments about left-out objects change.

    `read` are the places without an entry that were read, and `unread` those that the token may not read.
    """
    documents: dict[str, Document] = {}
    edits: dict[str, list[TextEdit]] = {}
    forbidden: dict[Address, list[str]] = {}
    for place in sorted(unread):
        owner = next(above for above in place.upward() if above in desired.resources and above != place)
        forbidden.setdefault(owner, []).append(".".join(place.segments[len(owner.segments) :]))
    for entry in desired.resources.values():
        name = entry.span.file
        if name in desired.row_files:
            continue
        if name not in documents:
            documents[name] = Document(decode(files.read(name, DEFAULT_LIMITS.bytes), name)[0], name)
        found = _edits(documents[name], entry, desired, read, forbidden.get(entry.address, []))
        edits.setdefault(name, []).extend(found)
    made: dict[str, bytes] = {}
    for name, changes in edits.items():
        if changes:
            mark = b"\xef\xbb\xbf" if files.read(name, 3).startswith(b"\xef\xbb\xbf") else b""
            made[name] = mark + apply_edits(documents[name].text, changes).encode()
    return made


def _edits(
    document: Document, entry: Entry, desired: Desired, read: Collection[Address], forbidden: list[str]
) -> list[TextEdit]:
    """Return the edits of the comments above the first key of an entry in block style."""
    mapping = document.mapping_of(entry.span)
    if mapping is None or not len(mapping) or document.text[document.range(mapping)[0]] == "{":
        return []
    first, _ = next(iter(mapping))
    lines, edits = document.text.splitlines(), list[TextEdit]()
    at = first.span.line - 1
    if lines[at][: first.span.column - 1].strip():
        return []
    why = f"{FORBIDDEN[:1].upper()}{FORBIDDEN[1:]}"
    for number in range(at - 1, -1, -1):
        if not lines[number].lstrip().startswith("#"):
            break
        note = _NOTE.fullmatch(lines[number])
        if note is None or " of each " in note["names"] or note["names"].endswith(" more"):
            continue
        before = _BETWEEN.split(note["names"])
        left = [name for name in before if not _is_imported(name, entry, desired, read)]
        if note["why"] == why:
            left += [name for name in forbidden if name not in left]
            forbidden = []
        if left == before:
            continue
        start = document.starts[number]
        text = (
            f"{note['indent']}# {not_imported(listed(left), note['why'])}{document.line_end}" if left else ""
        )
        edits.append(TextEdit(start, document.starts[number + 1], text))
    if forbidden:
        start = document.starts[at]
        indent = " " * (first.span.column - 1)
        note_text = f"{indent}# {not_imported(listed(forbidden), FORBIDDEN)}{document.line_end}"
        edits.append(TextEdit(start, start, note_text))
    return edits


def _is_imported(name: str, entry: Entry, desired: Desired, read: Collection[Address]) -> bool:
    """Return whether the field, place or object with this name is in the files, or was read and is empty."""
    if name in entry.fields:
        return True
    known: tuple[Collection[Address] | Mapping[Address, object], ...] = (
        desired.resources, desired.scopes, read,
    )  # fmt: skip
    addresses = {entry.address.child(*name.split("/")), entry.address.child(*name.split("."))}
    return any(address in one for address in addresses for one in known)
