"""Print the results of the commands `doctor`, `history`, `ids`, `import` and `list` as text.

Input: the JSON document of the command. Output: lines for a terminal.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dpsync.model.address import Address, FieldAddress
from dpsync.model.snapshot import MatchedBy
from dpsync.model.text import format_command, format_count, join_with_and, short_commit
from dpsync.render.documents import (
    DoctorDocument,
    HistoryDocument,
    HistoryEntry,
    IdsDocument,
    IdsLine,
    ImportDocument,
    KindAccess,
    ListDocument,
    ListedEntry,
)
from dpsync.render.paint import Paint
from dpsync.render.visible import visible

_LEVEL_STYLES = {"ok": "green", "note": "yellow", "problem": "red bold"}
_ACCESS_WORDS = {True: "yes", False: "NO", None: "?"}


def render_doctor(document: DoctorDocument, paint: Paint) -> str:
    """Return the result of `dpsync doctor` as text: all checks, the rights of the token, and totals."""
    width = max((len(check.topic) for check in document.checks), default=0)
    lines = []
    for check in document.checks:
        source = f"  ({visible(check.source)})" if check.source else ""
        level = paint(f"{check.level:<7}", _LEVEL_STYLES[check.level])
        lines.append(f"{level}  {check.topic:<{width}}  {visible(check.said)}{paint(source, 'dim')}")
        if check.mend:
            lines.append(f"{'':<{width + 11}}= {visible(check.mend)}")
    for organization in dict.fromkeys(check.organization for check in document.access):
        lines += ["", *_access_lines(organization, document.access, paint)]
    problems = sum(check.level == "problem" for check in document.checks)
    notes = sum(check.level == "note" for check in document.checks)
    totals = (
        f"{format_count(problems, 'problem')}, {format_count(notes, 'note')}."
        if problems + notes
        else "No problems."
    )
    return "\n".join([*lines, "", paint(totals, "bold")])


def _access_lines(organization: str, rows: tuple[KindAccess, ...], paint: Paint) -> Iterator[str]:
    """Yield a table of the kinds of objects that the token may read and write in one organization."""
    accesses = [access for access in rows if access.organization == organization]
    width = max(len(access.kind) for access in accesses)
    yield paint(f"What this token may do in {visible(organization)}", "bold")
    yield f"  {'':<{width}}  read  write"
    for access in accesses:
        read, write = _ACCESS_WORDS[access.read], _ACCESS_WORDS[access.write]
        yield f"  {visible(access.kind):<{width}}  {read:<4}  {write}"
    if any(access.read is None or access.write is None for access in accesses):
        yield (
            '  "?" means unknown. dpsync checked the access in one site and one space only, and your access '
            "to other sites and spaces may differ."
        )


_RESULTS: Final = {
    "complete": "complete",
    "partial": "partly done",
    "interrupted": "interrupted",
    "nothing-sent": "nothing sent",
    None: "",
}


def render_history(document: HistoryDocument, paint: Paint) -> str:
    """Return the past applies as a table: start time (UTC), user, organizations, changes, result, journal."""
    if not document.applies:
        return f"No past runs of dpsync apply: {visible(document.directory)} has no journals."
    rows = [_history_row(apply) for apply in document.applies]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        *cells, journal = (f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True))
        lines.append("  ".join([*cells, paint(journal.rstrip(), "dim")]).rstrip())
    return "\n".join(lines)


def _history_row(apply: HistoryEntry) -> tuple[str, str, str, str, str, str]:
    """Return the six cells of the table row for one apply."""
    began = f"{apply.began:%Y-%m-%d %H:%M:%S}" if apply.began is not None else "-"
    if apply.problem is not None:
        return began, "-", "-", "-", "unreadable", visible(apply.problem)
    result = _RESULTS[apply.result]
    if apply.reverts is not None:
        result += f", reverts {visible(apply.reverts)}"
    if apply.reverted_by is not None:
        result += f", reverted by {visible(apply.reverted_by)}"
    organizations = ", ".join(map(visible, apply.organizations)) or "-"
    user, journal = visible(apply.user or "-"), visible(apply.journal)
    return began, user, organizations, _changes_text(apply), result, journal


def _changes_text(apply: HistoryEntry) -> str:
    """Return what an apply did with the first address: "2 created, 1 changed: acme/sites/docs and 2 more".

    An apply that did nothing has the number of changes in its plan.
    """
    if not apply.addresses:
        return format_count(apply.changes, "change")
    numbers = ", ".join(f"{number} {word}" for word, number in apply.applied.items())
    others = sum(apply.applied.values()) - 1
    suffix = f" and {others} more" if others else ""
    return f"{numbers}: {visible(apply.addresses[0])}{suffix}"


_IDS_SIGNS = {
    "missing": "+",
    "wrong": "~",
    "gone": "?",
    "moved": "-",
    "no entry": "?",
    "written": "+",
    "removed": "-",
}

_WRITTEN_VERBS = {"missing": "added", "wrong": "corrected", "moved": "removed"}


def render_ids(document: IdsDocument) -> str:
    """Return the result of `dpsync ids` as text: the lines of the ids file that differ, then a summary."""
    return "\n".join([*map(_ids_line, document.lines), *_ids_result(document)])


def _ids_line(line: IdsLine) -> str:
    """Return one line of the ids file that differs or was changed, with a sign as in a diff."""
    head = f"{_IDS_SIGNS[line.what]} {visible(line.address)}"
    current, recorded = visible(line.found or ""), visible(line.recorded or "")
    match line.what:
        case "missing" | "written":
            return f"{head}: {current}"
        case "wrong":
            return f"{head}: {recorded} → {current}"
        case "gone":
            return (
                f"{head}: dpsync found no object with the id {recorded}, and keeps the line of the ids file"
            )
        case "moved":
            return f"{head}: the id {recorded} belongs to another address now"
        case "no entry":
            return f"{head}: dpsync found no entry for the id {recorded}, and keeps the line of the ids file"
    return head


def _ids_result(document: IdsDocument) -> Iterator[str]:
    """Yield the summary of `dpsync ids`: what it wrote, or whether the ids file is up to date.

    After `--bind`, `--forget` or `--move`, which compare nothing, `recognised` is None.
    """
    if document.recognised is None:
        yield f"Wrote {visible(document.file)}."
        return
    counts = [
        (number, _WRITTEN_VERBS.get(state, state) if document.written else state)
        for state in ("missing", "wrong", "gone", "moved")
        if (number := sum(line.what == state for line in document.lines))
    ]
    file = visible(document.file)
    if not counts:
        yield f"{file} is up to date: {format_count(document.recognised, 'entry')} matched."
        return
    (number, state), *other_counts = counts
    lines = ", ".join(
        [f"{format_count(number, 'line')} {state}", *(f"{number} {state}" for number, state in other_counts)]
    )
    yield (
        f"Wrote {file}: {lines}."
        if document.written
        else (f"{file} is out of date: {lines}. Fix: {format_command('ids')}")
    )


_FILE_SIGNS = {"new": "+", "replaced": "~", "unchanged": " "}
_MAX_LISTED_FILES = 40


def render_import(document: ImportDocument, paint: Paint, verbose: int = 0) -> str:
    """Return the result of `dpsync import` as text: values, files, secrets, omissions, verification.

    Without `verbose`, only the first files are listed.
    """
    secret_lines = []
    if document.secrets:
        secret_lines = [
            "",
            "Set these environment variables before you apply. The files do not contain their values:",
        ]
        secret_lines += [
            f"  {secret.name}  {visible(secret.address)}#{visible(secret.field)}"
            for secret in document.secrets
        ]
    lines = [
        *_taken_lines(document),
        *_file_lines(document, verbose),
        *secret_lines,
        *_left_out_lines(document),
    ]
    return "\n".join([*lines, *_import_result(document, paint, verbose)]).strip("\n")


def _taken_lines(document: ImportDocument) -> Iterator[str]:
    """Yield the fields that `import --update` wrote, and the other environments that share the lines."""
    for value in document.taken:
        location = f"{value.at.file}:{value.at.line}:{value.at.column}"
        name = str(FieldAddress(Address.parse(value.address), value.field))
        yield f"  {visible(name)}  {visible(location)}"
    if document.shared_with:
        who = visible(join_with_and(document.shared_with))
        yield f"note: other environments ({who}) also use these lines, so their values change, too"


def _file_lines(document: ImportDocument, verbose: int) -> Iterator[str]:
    """Yield the written files, each with a sign for new or replaced; without `verbose`, at most 40."""
    listed = (
        document.files
        if verbose or len(document.files) <= _MAX_LISTED_FILES
        else document.files[:_MAX_LISTED_FILES]
    )
    for file in listed:
        yield f"{_FILE_SIGNS[file.state]} {visible(file.path)}"
    if len(listed) < len(document.files):
        yield f"  and {len(document.files) - len(listed)} more files (-v lists these files)"


def _left_out_lines(document: ImportDocument) -> Iterator[str]:
    """Yield the live objects and fields that the import left out, with the reason."""
    if not document.left_out:
        return
    yield ""
    yield "dpsync did not import these objects and fields, so dpsync does not manage them:"
    for note in document.left_out:
        field = f"#{note.field}" if note.field else ""
        location = f"{note.at.file}:{note.at.line}:{note.at.column}: " if note.at else ""
        yield f"  {visible(location + note.address + field)}: {visible(note.why)}"


def _import_result(document: ImportDocument, paint: Paint, verbose: int) -> Iterator[str]:
    """Yield whether a plan with the imported files has no changes, and the differences that it still has.

    `document.proven` is None if no plan was made, for example because nothing was written.
    """
    yield ""
    if document.proven:
        requests = f" ({format_count(document.requests, 'request')} to read)" if verbose else ""
        yield paint("Verified: a plan with these files has no changes.", "green bold") + requests
    elif document.proven is None and not document.differences:
        yield (
            "Nothing to import: these lines already contain the values from GitBook."
            if not document.files
            else "Done."
        )
    else:
        text = "With these files, a plan still has changes:" if document.proven is False else "Not imported:"
        yield paint(text, "red bold")
    for difference in document.differences:
        location = f"{difference.at.file}:{difference.at.line}: " if difference.at else ""
        address = f"{difference.address}: " if difference.address else ""
        yield f"  {visible(location + address + difference.message)}"
        if difference.hint:
            yield f"    {visible(difference.hint)}"


_HEADER: Final = ("ADDRESS", "KIND", "FILE", "ID", "RECOGNIZED")


def render_list(document: ListDocument, paint: Paint) -> str:
    """Return the entries as a table: address, kind, file and line, id, and how the object was recognized."""
    rows = [_HEADER]
    for entry in document.entries:
        location = f"{visible(entry.at.file)}:{entry.at.line}"
        notes = [_match_text(entry, document.platform is not None)]
        if entry.synced is not None:
            installation = entry.synced.installation
            suffix = f", installation {visible(installation)}" if installation else ""
            notes.append(f"synced with {visible(entry.synced.repository)}{suffix}")
        if entry.domain is not None:
            notes.append(f"at the custom domain {visible(entry.domain)}")
        cells = visible(entry.address), visible(entry.kind), location, visible(entry.id or "-")
        rows.append((*cells, ", ".join(notes)))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        address, kind, location, id, remarks = (
            f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)
        )
        lines.append(
            "  ".join([address, paint(kind, "dim"), location, id, paint(remarks.rstrip(), "dim")]).rstrip()
        )
    return "\n".join(lines)


def _match_text(entry: ListedEntry, read: bool) -> str:
    """Return how dpsync recognized the live object of an entry. `read`: whether the platform was read."""
    if entry.why_not is not None:
        return f"not read: {visible(entry.why_not)}"
    if entry.recognised is None:
        return "no live object" if read else ""
    detail = visible(entry.detail)
    match entry.recognised:
        case MatchedBy.PIN:
            return "by the id in your files"
        case MatchedBy.IDS_LINE:
            return "by the ids file"
        case MatchedBy.OTHER_IDS_LINE:
            return f"by the line of {detail} in the ids file"
        case MatchedBy.PREVIOUSLY:
            return "by previously:"
        case MatchedBy.EARLIER_COMMIT:
            return f"by its name in commit {visible(short_commit(entry.detail))}"
        case MatchedBy.BASE:
            return "by its name in the commit that dpsync compares with"
        case MatchedBy.FIRST_NATURAL_KEY | MatchedBy.LATER_NATURAL_KEY:
            return f"by its {detail}" if detail else "by its natural key"
        case MatchedBy.ONLY_OBJECT_IN_PLACE:
            return "by its position"
        case MatchedBy.TEMPORARY_NAME:
            return "by its temporary name"
        case MatchedBy.SAME_CONTENTS:
            return "by its contents"
        case MatchedBy.SIMILARITY:
            return "by a similar title or position"
