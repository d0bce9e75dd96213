"""Read and write the ids file, which says which live object each entry is; also with git's conflict markers.

    https://api.acme.example:             GitBook or another platform
      org-1:                              the organization, by its id
        acme/sites/docs: site-1           an entry, and its live object

`parse` collects every finding and never raises; `parse_conflict` reads both sides of a merge conflict.
`render_ids_file` gives the same bytes for the same lines: sorted, one entry per line.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from dpsync import disk
from dpsync.client.platform import PLATFORM_NAME, is_platform_name
from dpsync.config import codes
from dpsync.config.yaml_reader import DEFAULT_LIMITS, NumberError, decode, parse_scalar, read
from dpsync.kinds.address_patterns import PlaceTypes
from dpsync.kinds.registry import Registry
from dpsync.model.address import Address
from dpsync.model.diagnostic import Diagnostic, DiagnosticError, Exit, Findings
from dpsync.model.ids import IdsFile, LinesByAddress, RecordedLine, is_id
from dpsync.model.nodes import Mapping, Node, Scalar, Span
from dpsync.model.text import EMOJI_SELECTORS, INVISIBLE_CHARACTERS, format_command

_CONFLICT_MARKER: Final = re.compile(r"(<{7}|\|{7}|={7}|>{7})(?: .*)?")
_NEXT_MARKERS: Final = {"": "<", "<": "|=", "|": "=", "=": ">"}


def find_conflict_markers(text: str, file: str) -> list[Span]:
    """Return the positions of `<<<<<<<` in a text, or else of the first other conflict marker, if any."""
    markers = [
        (_marker_character(content), Span(file, line, 1, line, len(content) + 1))
        for line, content in enumerate(_split_lines(text), 1)
        if _marker_character(content)
    ]
    return [span for mark, span in markers if mark == "<"] or [span for _, span in markers[:1]]


def split_conflict(text: str) -> tuple[str, str] | None:
    """Split a text with merge conflict markers into our text and their text; None if markers do not match.

    In each text, the markers and the lines of the other text are empty lines. So each line keeps its number,
    and findings have the right position.
    """
    ours: list[str] = []
    theirs: list[str] = []
    inside = ""
    for line in _split_lines(text):
        mark = _marker_character(line)
        if mark:
            if mark not in _NEXT_MARKERS[inside]:
                return None
            inside = "" if mark == ">" else mark
        ours.append(line if not mark and inside in ("", "<") else "")
        theirs.append(line if not mark and inside in ("", "=") else "")
    return None if inside else ("\n".join(ours), "\n".join(theirs))


def _marker_character(line: str) -> str:
    """Return the character of a conflict marker; "" for any other line."""
    return line[0] if _CONFLICT_MARKER.fullmatch(line) else ""


def _split_lines(text: str) -> list[str]:
    """Return the lines of a text without their line breaks."""
    return [line.removesuffix("\r") for line in text.split("\n")]


HEADER: Final = """\
# The id of the GitBook object of each entry. Written by dpsync. Commit this file.
# After a merge conflict run: dpsync ids
"""
_MAX_KEY_CHARS: Final = 1000
"""The maximum length of a key on one line, in characters. The limit of YAML is 1,024."""
_BARE_TEXT: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/@+~$=%:-]*(?: [A-Za-z0-9._/@+~$=%:-]+)?")
_HIDDEN_CHARACTERS: Final = re.compile(f"(?![\\x00-\\x1f])[{INVISIBLE_CHARACTERS}{EMOJI_SELECTORS}]")
_SHAPE_HINT: Final = (
    "write three levels: the URL of GitBook, the organization id, and lines of the form address: id"
)


DisputedLines = frozenset[tuple[str, str, Address]]
"""Platform, organization and address of entries with two different lines."""


def parse(data: str | bytes, file: str, registry: Registry) -> tuple[IdsFile, Findings]:
    """Return the valid lines of an ids file, and the findings. `file` is its name in spans."""
    ids, _, findings = _parse(data, file, registry)
    return ids, findings


def _parse(data: str | bytes, file: str, registry: Registry) -> tuple[IdsFile, DisputedLines, Findings]:
    """Return the valid lines of an ids file, the addresses with two different lines, and the findings.

    A file with conflict markers or a syntax error has no valid lines.
    """
    text, decode_findings = decode(data, file)
    if not decode_findings and (conflict_spans := find_conflict_markers(text, file)):
        hint = f"to merge both sides, run {format_command('ids')}"
        message = "the ids file contains a merge conflict"
        conflicts = (Diagnostic(codes.IDS_CONFLICT, message, span, hint=hint) for span in conflict_spans)
        return IdsFile(), frozenset(), Findings(conflicts)
    node, problems = (None, decode_findings) if decode_findings else read(text, file, repeated=True)
    findings = Findings(problems, reported_spans={problem.span for problem in problems})
    if node is None:
        return IdsFile(), frozenset(), findings
    parser = _IdsFileParser(registry, findings)
    return parser.read_file(node), frozenset(parser.disputed), findings


def parse_conflict(data: bytes, file: str, registry: Registry) -> tuple[IdsFile, DisputedLines, Findings]:
    """Merge both versions of an ids file with conflict markers, and return the entries with different lines.

    A line of only one version is kept, because a merge must not lose lines. An entry with two different lines
    (a disputed entry) has no line in the returned file, also in a file without markers. The third result are
    the findings.
    """
    text, decode_findings = decode(data, file)
    if not decode_findings and not find_conflict_markers(text, file):
        ids, disputed_lines, findings = _parse(data, file, registry)
        other_findings = (finding for finding in findings if finding.code != codes.IDS_TWICE)
        return _without_disputed(ids, disputed_lines), disputed_lines, Findings(other_findings)
    sides = None if decode_findings else split_conflict(text)
    if sides is None:
        findings = Findings(decode_findings)
        if not decode_findings:
            message = "the conflict markers do not match each other"
            hint = "resolve the conflict by hand, or restore the file from git"
            findings.extend(
                Diagnostic(codes.IDS_CONFLICT, message, span, hint=hint)
                for span in find_conflict_markers(text, file)
            )
        return IdsFile(), frozenset(), findings
    (ours, findings), (theirs, their_findings) = (parse(side, file, registry) for side in sides)
    findings.extend(their_findings)
    sections: dict[str, dict[str, LinesByAddress]] = {}
    disputed: set[tuple[str, str, Address]] = set()
    for platform, organization in sorted({*_sections(ours), *_sections(theirs)}):
        our_lines = dict(ours.lines(platform, organization))
        key = next((address.organization_key for address in our_lines), None)
        other = theirs.lines(platform, organization, key)
        disputed_addresses = {
            address for address, line in our_lines.items() if not line.has_same_ids(other.get(address, line))
        }
        disputed |= {(platform, organization, address) for address in disputed_addresses}
        our_lines |= {address: line for address, line in other.items() if line.kept}
        merged = {
            address: line
            for address, line in {**other, **our_lines}.items()
            if address not in disputed_addresses
        }
        sections.setdefault(platform, {})[organization] = merged
    return IdsFile(sections), frozenset(disputed), findings


def _without_disputed(ids: IdsFile, disputed: DisputedLines) -> IdsFile:
    """Return the ids file without the lines of the entries that have two different lines (`disputed`)."""
    return IdsFile(
        {
            platform: {
                owner: {
                    address: line
                    for address, line in lines.items()
                    if (platform, owner, address) not in disputed
                }
                for owner, lines in section.items()
            }
            for platform, section in ids.sections.items()
        },
        ids.duplicate_lines,
    )


def _sections(ids: IdsFile) -> list[tuple[str, str]]:
    """Return the platform and organization id of each section."""
    return [(platform, id) for platform, section in ids.sections.items() for id in section]


def ids_schema() -> dict[str, Any]:
    """Return the JSON Schema of the ids file for editors. It cannot check which addresses exist."""
    id = {"type": ["string", "integer"], "pattern": r"^\S{1,500}( \S{1,500})?$"}
    marked = {
        "type": "object",
        "properties": {"id": id, "kept": {"const": True}},
        "required": ["id", "kept"],
        "additionalProperties": False,
        "description": "The entry was removed from the files, but an apply kept the object in GitBook.",
    }
    line = {"anyOf": [id, marked]}
    lines = {
        "type": "object",
        "propertyNames": {"pattern": "^[^/]+(/[^/]+){2,}$"},
        "additionalProperties": line,
        "description": "The addresses of entries, each with the id of its object. A section or a "
        "translation can have a second id, after a space.",
    }
    section = {
        "type": "object",
        "propertyNames": {"pattern": r"^\S+$"},
        "additionalProperties": lines,
        "description": "Organizations, by their ids.",
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "The id of the GitBook object of each entry",
        "description": "The URLs of GitBook or of other servers, without a path.",
        "type": ["object", "null"],
        "propertyNames": {"pattern": f"^({PLATFORM_NAME.pattern})$"},
        "additionalProperties": section,
    }


def read_ids_file(path: Path, name: str, project: Path) -> bytes | None:
    """Return the bytes of an ids file; None if there is none. Links must not lead out of the project.

    Raises DiagnosticError (exit 5).
    """
    try:
        return disk.read(disk.resolve_inside(path, project), DEFAULT_LIMITS.bytes, follow=False)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        message = f"the ids file {name} cannot be read: {disk.error_reason(error)}"
        hint = "correct the file, or choose another one with --ids"
        raise DiagnosticError([Diagnostic(codes.UNREADABLE, message, hint=hint)], Exit.INVALID) from None


def invalid_ids_file_error(
    findings: Findings, data: bytes, name: str, excerpts: bool = True
) -> DiagnosticError:
    """Return the error for a command that needs a valid ids file.

    `excerpts` decides whether the error shows the invalid lines of the file.
    """
    return DiagnosticError(findings, Exit.INVALID, {name: decode(data, name)[0]} if excerpts else {})


class _IdsFileParser:
    """Reads the YAML tree of an ids file, and collects findings, repeated lines and disputed entries."""

    def __init__(self, registry: Registry, findings: Findings) -> None:
        self.places = PlaceTypes(registry)
        self.findings = findings
        self.repeated: list[RecordedLine] = []
        self.disputed: set[tuple[str, str, Address]] = set()
        self._first_lines: dict[tuple[str, str], dict[tuple[str, ...], RecordedLine]] = defaultdict(dict)

    def read_file(self, node: Node) -> IdsFile:
        """Return the lines of all sections. Sections without a valid line are left out."""
        sections: dict[str, dict[str, LinesByAddress]] = {}
        for platform, organization_nodes in self.mapping_entries(node, "an ids file", empty=True):
            if not is_platform_name(platform.text):
                hint = "write the URL of GitBook without a path, such as https://api.acme.example"
                self.error(
                    codes.IDS_SHAPE, f'"{platform.text}" is not the URL of a server', platform.span, hint
                )
                continue
            organizations = sections.setdefault(platform.text, {})
            for organization, lines in self.mapping_entries(organization_nodes, "a platform"):
                if not is_id(organization.text):
                    message = f'"{organization.text}" is not a valid organization id'
                    self.error(codes.IDS_SHAPE, message, organization.span)
                    continue
                earlier_lines = organizations.get(organization.text, {})
                organizations[organization.text] = {
                    **earlier_lines, **self.read_section(lines, (platform.text, organization.text)),
                }  # fmt: skip
        nonempty_sections = {
            name: {id: lines for id, lines in section.items() if lines}
            for name, section in sections.items()
            if any(section.values())
        }
        return IdsFile(nonempty_sections, tuple(self.repeated))

    def read_section(self, node: Node, owner: tuple[str, str]) -> LinesByAddress:
        """Return the lines of one organization; `owner` is its platform and its id.

        The same organization may occur several times in a file. If an entry has a second line, an equal line
        is added to `repeated`, and a different line makes the entry disputed, which is an error.
        """
        lines: dict[Address, RecordedLine] = {}
        first_lines = self._first_lines[owner]
        for key, value in self.mapping_entries(node, "an organization"):
            line = self.read_line(key, value)
            if line is None:
                continue
            first = first_lines.setdefault(line.address.segments_in_organization, line)
            if first is line:
                lines[line.address] = line
            elif first.has_same_ids(line):
                self.repeated.append(line)
                if line.kept:
                    lines[first.address] = replace(first, kept=True)
            else:
                self.disputed.add((*owner, first.address))
                self.findings.append(repeated_entry_finding(first, line))
        return lines

    def read_line(self, key: Scalar, value: Node) -> RecordedLine | None:
        """Return the line `address: id` or `address: id second_id`; None after reporting why it is invalid.

        The second id is that of the object that GitBook creates with the entry: its output (the space of a
        translation), or its first child.
        """
        address = Address.parse(key.text)
        is_pattern = any(
            segment in ("", "*", "**") or segment.startswith("[") for segment in address.segments
        )
        kinds = () if is_pattern else self.places.kinds(address)
        kinds_with_lines = [kind for kind in kinds if kind.has_ids_line]
        if not kinds_with_lines:
            self.error(codes.IDS_ADDRESS, *self.unknown_address_problem(key.text, bool(kinds)), key.span)
            return None
        value, is_kept = _split_kept_mark(value)
        parts = value.text.split(" ") if isinstance(value, Scalar) and value.value is not None else []
        max_ids = 2 if any(kind.has_second_id for kind in kinds_with_lines) else 1
        if not 1 <= len(parts) <= max_ids or not all(map(is_id, parts)):
            two = " (or two ids, separated by a space)" if max_ids == 2 else ""
            message = f"the line of {address} has no valid id"
            self.error(
                codes.IDS_ID,
                message,
                value.span,
                f"write address: id{two}, or delete the line and run {format_command('ids')}",
            )
            return None
        return RecordedLine(address, parts[0], parts[1] if len(parts) == 2 else None, key.span, is_kept)

    def unknown_address_problem(self, text: str, is_known: bool) -> tuple[str, str]:
        """Return message and hint for an address that has no line.

        `is_known` means that entries with this address exist, but need no line.
        """
        if is_known:
            return (
                f'the entry "{text}" needs no line in the ids file, because its key identifies the object',
                "delete the line",
            )
        return f'"{text}" is not the address of an entry', "correct the address, or delete the line"

    def mapping_entries(
        self, node: Node, subject: str, empty: bool = False
    ) -> tuple[tuple[Scalar, Node], ...]:
        """Return the entries of a node; empty after reporting that it is not a mapping.

        `subject` names the node in the message. `empty` allows a null.
        """
        if isinstance(node, Mapping):
            return node.entries
        if not (empty and isinstance(node, Scalar) and node.value is None):
            self.error(codes.IDS_SHAPE, f"{subject} must be a mapping", node.span, _SHAPE_HINT)
        return ()

    def error(self, code: str, message: str, *position_and_hint: Span | str) -> None:
        """Add a finding. `position_and_hint` is a span and optionally a hint, in any order."""
        hint = next((argument for argument in position_and_hint if not isinstance(argument, Span)), None)
        span = next(argument for argument in position_and_hint if isinstance(argument, Span))
        self.findings.append(Diagnostic(code, message, span, hint=hint))


def _split_kept_mark(value: Node) -> tuple[Node, bool]:
    """Split the value of a line into its ids and its mark: `{ id: team-3, kept: true }`, or just `team-3`."""
    members = {key.text: member for key, member in value.entries} if isinstance(value, Mapping) else {}
    kept_node = members.get("kept")
    if members.keys() == {"id", "kept"} and isinstance(kept_node, Scalar) and kept_node.text == "true":
        return members["id"], True
    return value, False


def repeated_entry_finding(first: RecordedLine, line: RecordedLine) -> Diagnostic:
    """Return the finding that an entry has two different lines."""
    related = (("the first one", first.span),) if first.span else ()
    if first.address == line.address:
        message = f"{line.address} has two lines"
    else:
        message = (
            f"{first.address} and {line.address} name the same entry, because "
            "both lines are below the id of the same organization"
        )
    hint = f"delete the wrong line, or run {format_command('ids')}"
    return Diagnostic(codes.IDS_TWICE, message, line.span, hint=hint, related=related)


def repeated_line_warnings(ids: IdsFile) -> list[Diagnostic]:
    """Return warnings about entries with two equal lines; writing the file removes the second line."""
    return [
        Diagnostic(
            codes.IDS_TWICE,
            f"{line.address} has the same line twice",
            line.span,
            hint=f"the second line has no effect. To delete it, run {format_command('ids')}",
            severity="warning",
        )
        for line in ids.duplicate_lines
    ]


def render_ids_file(ids: IdsFile) -> bytes:
    """Return the bytes of an ids file, sorted. Lines with an id that the file cannot hold are left out."""
    text = HEADER
    for platform, organizations in sorted(ids.sections.items()):
        sections = ""
        for organization, lines in sorted(organizations.items()):
            section = "".join(_line_text(lines[address]) for address in sorted(lines))
            if section and is_id(organization):
                sections += f"  {_yaml_text(organization)}:\n{section}"
        text += f"{_yaml_text(platform)}:\n{sections}" if sections else ""
    return text.encode()


def _line_text(line: RecordedLine) -> str:
    """Return one line of the ids file: `    acme/teams/docs: team-3`; "" for an id that it cannot hold.

    A second id is that of the object that GitBook creates with the entry: its output, or its first child.
    A key that is too long for one line of YAML takes two lines.
    """
    ids = [line.id] if line.second_id is None else [line.id, line.second_id]
    if not all(map(is_id, ids)):
        return ""
    key, value = _yaml_text(str(line.address)), _yaml_text(" ".join(ids))
    value = f"{{ id: {value}, kept: true }}" if line.kept else value
    return f"    {key}: {value}\n" if len(key) < _MAX_KEY_CHARS else f"    ? {key}\n    : {value}\n"


def _yaml_text(text: str) -> str:
    """Return a text as YAML: without quotes if YAML reads it as the same text, or else in double quotes."""
    try:
        is_text = isinstance(parse_scalar(text), str)  # not a number, boolean or null
    except NumberError:
        is_text = False
    if is_text and _BARE_TEXT.fullmatch(text) and ": " not in text and not text.endswith(":"):
        return text
    quoted = json.dumps(text, ensure_ascii=False)
    return _HIDDEN_CHARACTERS.sub(_escaped, quoted)


def _escaped(match: re.Match[str]) -> str:
    """Return the matched character as an escape of JSON and YAML."""
    code = ord(match.group())
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
