"""Print a view (what a report shows) for CI: GitHub annotations, GitLab Code Quality, JUnit and SARIF.

Annotations: GitHub's runner runs `::command::` in output, so every line is a command of dpsync, without
foreign text before its second `::`. Code Quality: GitLab compares fingerprints and drops duplicates, so they
contain no line number, and no two are the same. JUnit: an entry that a person should look at is a skipped
test case, so it never counts as passed. SARIF 2.1.0: no entry for mere changes, and no text that differs
between runs, so that code scanning recognizes a known result.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import Any, Final
from urllib.parse import quote
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from msgspec.structs import replace

from dpsync import __version__
from dpsync.model.text import format_count, is_or_are, json_text
from dpsync.render.formats import FormatOptions
from dpsync.render.plan_words import location_text
from dpsync.render.view import LEVELS, OPENS_ACCESS, View, ViewEntry, body_lines, clip_text
from dpsync.render.visible import visible

MAX_ANNOTATIONS: Final = 9
"""The largest number of annotations. GitHub shows ten of a level in a step, and drops the others silently."""
MAX_ANNOTATION_LINES: Final = 12
"""The largest number of lines after the first line of an annotation."""
_ANNOTATION_COMMANDS: Final = {"error": "error", "warning": "warning", "note": "notice"}


def as_annotations(view: View, options: FormatOptions) -> str:
    """Return the view as GitHub workflow commands, one in each line, errors first.

    GitHub shows each command as an annotation on a line of a file: `::error file=a.yaml,line=3,...::text`.
    The result is "" if no entry needs attention. If there are more entries than GitHub shows, entries in
    files that the pull request changes come first in their level.
    """
    entries = list(view.needs_attention)
    if len(entries) > MAX_ANNOTATIONS:
        prefix, changed = options.project_prefix(), options.changed_files()

        def order(entry: ViewEntry) -> tuple[int, bool]:
            """Sort errors first, and entries in changed files first in their level."""
            origin = entry.origin or entry.parent_origin
            file = f"{prefix}{origin.file}" if origin else None
            return LEVELS.index(entry.level), file not in changed

        entries.sort(key=order)
    lines = [_annotation(entry, options) for entry in entries[:MAX_ANNOTATIONS]]
    if omitted_count := max(0, len(entries) - MAX_ANNOTATIONS) + view.left_out:
        text = (
            f"{format_count(omitted_count, 'more annotation')} {is_or_are(omitted_count)} not shown here. "
            "Read the job summary."
        )
        lines.append(f"::notice title=dpsync::{_escape_data(text)}")
    return "\n".join(lines)


def _annotation(entry: ViewEntry, options: FormatOptions) -> str:
    """Return one entry as a GitHub workflow command: `::error file=a.yaml,line=3,title=…::text`."""
    properties = {}
    if origin := entry.origin or entry.parent_origin:
        line = str(origin.line)
        properties = {
            "file": f"{options.project_prefix()}{origin.file}",
            "line": line,
            "endLine": line,
            "col": str(origin.column),
        }
    title = " ".join(filter(None, (entry.sign, entry.title or entry.address))) or f"dpsync {entry.name}"
    properties["title"] = clip_text(title, 200)
    parameters = []
    for name, value in properties.items():
        escaped = _escape_data(visible(value)).replace(":", "%3A").replace(",", "%2C")
        parameters.append(f"{name}={escaped}")
    code = f" ({entry.code})" if entry.code and entry.message else ""
    lines = [f"{clip_text(entry.message)}{code}", *body_lines(entry, MAX_ANNOTATION_LINES)]
    message = "\n".join(filter(None, lines)) or entry.title or entry.name
    return f"::{_ANNOTATION_COMMANDS[entry.level]} {','.join(parameters)}::{_escape_data(message)}"


def _escape_data(text: str) -> str:
    """Escape a text for the part of a workflow command after its second `::`.

    A runner that does not know the command would look for `##[` in the text, so this is escaped, too.
    """
    lines = (visible(line).replace("%", "%25").replace("##[", "## [") for line in text.split("\n"))
    return "%0A".join(lines)


_SEVERITIES: Final = {"error": "blocker", "warning": "major"}
_MAX_DESCRIPTION_CHARS: Final = 1000
"""The largest number of characters of a description."""


def as_codequality(view: View, options: FormatOptions) -> str:
    """Return the errors and warnings of a view as the JSON list that GitLab Code Quality reads.

    The list is empty if no entry needs attention. GitLab compares fingerprints between branches, so a
    fingerprint has no line number; equal entries get a counter.
    """
    violations: list[dict[str, Any]] = []
    identity_counts: Counter[tuple[str, ...]] = Counter()
    for entry in view.needs_attention:
        if entry.level not in _SEVERITIES:
            continue
        rule = _rule_id(entry)
        origin = entry.origin or entry.parent_origin
        path = visible(f"{options.project_prefix()}{origin.file if origin and origin.file else options.root}")
        identity = rule, entry.address, path, entry.summary
        identity_counts[identity] += 1
        count = identity_counts[identity]
        fingerprinted = "\n".join([*identity, *([str(count)] if count > 1 else [])])
        sentences = [
            clip_text(entry.summary or entry.name),
            *(sentence.full_text for sentence in entry.sentences),
        ]
        description = clip_text("; ".join(sentences), _MAX_DESCRIPTION_CHARS)
        violations.append(
            {
                "description": description if origin else f"{description} (not on a line in your files)",
                "check_name": f"dpsync/{rule}",
                "fingerprint": hashlib.sha256(fingerprinted.encode("utf-8", "surrogatepass")).hexdigest(),
                "severity": _SEVERITIES[entry.level],
                "location": {"path": path, "lines": {"begin": origin.line if origin else 1}},
            }
        )
    return json_text(violations, indent=2)


MAX_JUNIT_LINES: Final = 200
"""The largest number of lines of a test case."""


def as_junit(view: View, options: FormatOptions) -> str:
    """Return a view as a JUnit report with one suite and one test case for each entry.

    Without entries, the suite has one passed case, because CI may treat an empty suite as a missing report.
    """
    del options
    cases = list(view)
    failed = sum(entry.fails for entry in cases)
    skipped = sum(_is_skipped(entry) for entry in cases)
    counts = {"tests": str(len(cases) or 1), "failures": str(failed), "errors": "0"}
    name = f"dpsync {view.name}"
    root = Element("testsuites", {"name": name, **counts})
    suite = SubElement(root, "testsuite", {"name": name, **counts, "skipped": str(skipped)})
    for entry in cases:
        _add_test_case(suite, view, entry)
    if not cases:
        SubElement(suite, "testcase", {"name": view.title, "classname": f"dpsync.{view.name}"})
    SubElement(suite, "system-out").text = "\n".join([view.title, *view.complete_hints, *view.complete_facts])
    indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="unicode")}'


def _is_skipped(entry: ViewEntry) -> bool:
    """Return whether the test case of an entry counts as skipped: a warning that does not fail the check."""
    return entry.level == "warning" and not entry.fails


def _add_test_case(suite: Element, view: View, entry: ViewEntry) -> None:
    """Add an entry to a JUnit suite as a failed, skipped or passed test case.

    Its fields are shown only if it failed.
    """
    opens = f"({OPENS_ACCESS})" if "exposure" in entry.topics else ""
    title = " ".join(filter(None, (entry.sign, clip_text(entry.summary), opens)))
    case = SubElement(suite, "testcase", {"name": title, "classname": f"dpsync.{view.name}.{entry.name}"})
    if _is_skipped(entry):
        SubElement(case, "skipped", {"message": title})
    lines = body_lines(
        entry if entry.fails else replace(entry, fields=()), MAX_JUNIT_LINES
    )  # nobody opens what has passed
    text = "\n".join(filter(None, [location_text(entry.origin), *lines]))
    if entry.fails:
        kind = entry.code or entry.name
        SubElement(case, "failure", {"message": title, "type": kind}).text = text
    elif text:
        SubElement(case, "system-out").text = text


SARIF_SCHEMA_URL: Final = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
MAX_SARIF_LINES: Final = 50
"""The largest number of lines of a message."""


def as_sarif(view: View, options: FormatOptions) -> str:
    """Return the errors and warnings of a view as a SARIF log with one run, for code scanning.

    Code scanning recognizes a result of an earlier run by its fingerprint, so a fingerprint has no text that
    differs between runs.
    """
    entries = [entry for entry in view.needs_attention if entry.level != "note"]
    rules = {_rule_id(entry): entry for entry in entries}
    rule_indexes = {rule: index for index, rule in enumerate(rules)}
    descriptors, results = [], []
    for rule, entry in rules.items():
        text = f"{view.name}: {entry.name}" + (f" ({rule}, see docs/errors.md)" if rule != entry.name else "")
        level = {"level": entry.level}
        descriptors.append({"id": rule, "shortDescription": {"text": text}, "defaultConfiguration": level})
    for entry in entries:
        rule = _rule_id(entry)
        message = "\n".join([clip_text(entry.summary), *body_lines(entry, MAX_SARIF_LINES)])
        # SARIF reads {0} as a placeholder and [text](target) as a link.
        escaped = message.replace("{", "{{").replace("}", "}}").replace("](", "] (")
        digest = hashlib.sha256(f"{rule}\n{entry.address}\n{'' if entry.address else entry.summary}".encode())
        location = _sarif_location(entry, options)
        results.append(
            {
                "ruleId": rule,
                "ruleIndex": rule_indexes[rule],
                "level": entry.level,
                "message": {"text": escaped},
                "locations": [location] if location else [],
                "partialFingerprints": {"dpsync/v1": digest.hexdigest()},
            }
        )
    driver = {"name": "dpsync", "version": __version__, "rules": descriptors}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return json_text({"$schema": SARIF_SCHEMA_URL, "version": "2.1.0", "runs": [run]}, indent=2)


def _rule_id(entry: ViewEntry) -> str:
    """Return the name of the rule that an entry breaks: its error code, or else its stable name."""
    return entry.code or entry.name


def _sarif_location(entry: ViewEntry, options: FormatOptions) -> dict[str, Any]:
    """Return the SARIF location of an entry: its file and line, and its address; {} if it has neither."""
    location: dict[str, Any] = {}
    if origin := entry.origin or entry.parent_origin:
        uri = quote(f"{options.project_prefix()}{origin.file}", errors="surrogatepass")
        location["physicalLocation"] = {
            "artifactLocation": {"uri": uri},
            "region": {"startLine": origin.line, "startColumn": origin.column},
        }
    if entry.address:
        location["logicalLocations"] = [{"fullyQualifiedName": entry.address, "kind": "resource"}]
    return location
