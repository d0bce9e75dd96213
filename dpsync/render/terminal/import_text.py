"""What `dpsync import` says: the files, the variables to set, what is not in them."""

from __future__ import annotations

from collections.abc import Iterator

from dpsync.model.address import Address, FieldAddress
from dpsync.model.text import counted, listed
from dpsync.render.json.documents import ImportDocument
from dpsync.render.terminal.paint import Paint
from dpsync.render.words.visible import visible

_SIGNS = {"new": "+", "replaced": "~", "unchanged": " "}
_FEW = 40


def render_import(document: ImportDocument, paint: Paint, verbose: int = 0) -> str:
    """The whole result; of many files only the first are named unless `verbose`."""
    lines = [*_taken(document), *_files(document, verbose), *_secrets(document), *_left_out(document)]
    return "\n".join([*lines, *_end(document, paint, verbose)]).strip("\n")


def _taken(document: ImportDocument) -> Iterator[str]:
    for item in document.taken:
        place = f"{item.at.file}:{item.at.line}:{item.at.column}"
        name = str(FieldAddress(Address.parse(item.address), item.field))
        yield f"  {visible(name)}  {visible(place)}"
    if document.shared_with:
        who = visible(listed(document.shared_with))
        yield f"note: other environments ({who}) also use these lines, so their values change, too"


def _files(document: ImportDocument, verbose: int) -> Iterator[str]:
    listed = document.files if verbose or len(document.files) <= _FEW else document.files[:_FEW]
    for file in listed:
        yield f"{_SIGNS[file.state]} {visible(file.path)}"
    if len(listed) < len(document.files):
        yield f"  and {len(document.files) - len(listed)} more files (-v lists these files)"


def _secrets(document: ImportDocument) -> Iterator[str]:
    if not document.secrets:
        return
    yield ""
    yield "Set these environment variables before you apply. The files do not contain their values:"
    for secret in document.secrets:
        yield f"  {secret.name}  {visible(secret.address)}#{visible(secret.field)}"


def _left_out(document: ImportDocument) -> Iterator[str]:
    if not document.left_out:
        return
    yield ""
    yield "dpsync did not import these objects and fields, so dpsync does not manage them:"
    for note in document.left_out:
        field = f"#{note.field}" if note.field else ""
        place = f"{note.at.file}:{note.at.line}:{note.at.column}: " if note.at else ""
        yield f"  {visible(place + note.address + field)}: {visible(note.why)}"


def _end(document: ImportDocument, paint: Paint, verbose: int) -> Iterator[str]:
    yield ""
    if document.proven:
        requests = f" ({counted(document.requests, 'request')} to read)" if verbose else ""
        yield paint("Verified: a plan with these files has no changes.", "green bold") + requests
    elif document.proven is None and not document.differences:
        yield (
            "Nothing to import: these lines already contain the values from GitBook."
            if not document.files
            else "Done."
        )
    else:
        said = "With these files, a plan still has changes:" if document.proven is False else "Not imported:"
        yield paint(said, "red bold")
    for found in document.differences:
        where = f"{found.at.file}:{found.at.line}: " if found.at else ""
        address = f"{found.address}: " if found.address else ""
        yield f"  {visible(where + address + found.message)}"
        if found.hint:
            yield f"    {visible(found.hint)}"
