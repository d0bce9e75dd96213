"""Print a view for CI: GitHub annotations, GitLab Code Quality, JUnit and SARIF.

- Annotations: GitHub's runner reads `::command::` at the beginning of a line, and `##[command]` anywhere in a
  line. So every line is a command of dpsync, without foreign text before its second `::`.
- Code Quality: GitLab compares fingerprints with the report of the target branch, and drops duplicates. So
  fingerprints contain no line number, and no two are the same.
- JUnit: an entry is a test case. An entry that a person should look at is skipped, so it never counts as
  passed.
- SARIF 2.1.0: no entry for mere changes, and no text that differs between runs, so that code scanning
  recognizes a result that it has seen before.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import quote
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from msgspec.structs import replace

from dpsync import __version__
from dpsync.model.plan import Origin
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
    """Return workflow commands, one in each line, errors first; "" if no entry needs attention.

    If there are more than GitHub shows, entries in files that the pull request changes come first in their
    level.
    """
    return "\n".join(_annotations(view, options))


def _annotations(view: View, options: FormatOptions) -> Iterator[str]:
    entries = list(view.needs_attention)
    if len(entries) > MAX_ANNOTATIONS:
        prefix, changed = options.project_prefix(), options.changed_files()
        entries.sort(
            key=lambda entry: (LEVELS.index(entry.level), _file_in_repository(entry, prefix) not in changed)
        )
    for entry in entries[:MAX_ANNOTATIONS]:
        yield _annotation(entry, options)
    if omitted_count := max(0, len(entries) - MAX_ANNOTATIONS) + view.left_out:
        text = (
            f"{format_count(omitted_count, 'more annotation')} {is_or_are(omitted_count)} not shown here. "
            "Read the job summary."
        )
        yield f"::notice title=dpsync::{_escape_data(text)}"


def _annotation(entry: ViewEntry, options: FormatOptions) -> str:
    origin = entry.origin or entry.parent_origin
    title = " ".join(filter(None, (entry.sign, entry.title or entry.address))) or f"dpsync {entry.name}"
    properties = {**(_location_properties(origin, options) if origin else {}), "title": clip_text(title, 200)}
    parameters = ",".join(f"{name}={_escape_property(text)}" for name, text in properties.items())
    code = f" ({entry.code})" if entry.code and entry.message else ""
    message = "\n".join(
        filter(None, [f"{clip_text(entry.message)}{code}", *body_lines(entry, MAX_ANNOTATION_LINES)])
    )
    return (
        f"::{_ANNOTATION_COMMANDS[entry.level]} "
        f"{parameters}::{_escape_data(message or entry.title or entry.name)}"
    )


def _file_in_repository(entry: ViewEntry, project_prefix: str) -> str | None:
    origin = entry.origin or entry.parent_origin
    return f"{project_prefix}{origin.file}" if origin else None


def _location_properties(origin: Origin, options: FormatOptions) -> dict[str, str]:
    line, column = str(origin.line), str(origin.column)
    return {"file": f"{options.project_prefix()}{origin.file}", "line": line, "endLine": line, "col": column}


def _escape_data(text: str) -> str:
    """Return a text for the place behind the second `::`.

    A runner that does not know the command would look for `##[` in the text.
    """
    lines = (visible(line).replace("%", "%25").replace("##[", "## [") for line in text.split("\n"))
    return "%0A".join(lines)


def _escape_property(text: str) -> str:
    return _escape_data(visible(text)).replace(":", "%3A").replace(",", "%2C")


_SEVERITIES: Final = {"error": "blocker", "warning": "major"}
_MAX_DESCRIPTION_CHARS: Final = 1000
"""The largest number of characters of a description."""


def as_codequality(view: View, options: FormatOptions) -> str:
    """Return a JSON list of violations; an empty list if no entry needs attention."""
    return json_text(list(_code_quality_violations(view, options)), indent=2)


def _code_quality_violations(view: View, options: FormatOptions) -> Iterator[dict[str, Any]]:
    seen: Counter[tuple[str, ...]] = Counter()
    for entry in view.needs_attention:
        if entry.level not in _SEVERITIES:
            continue
        rule = entry.code or entry.name
        origin = entry.origin or entry.parent_origin
        path = visible(f"{options.project_prefix()}{origin.file if origin and origin.file else options.root}")
        identity = rule, entry.address, path, entry.summary
        seen[identity] += 1
        fingerprinted = "\n".join([*identity, *([str(seen[identity])] if seen[identity] > 1 else [])])
        yield {
            "description": _description(entry, has_origin=origin is not None),
            "check_name": f"dpsync/{rule}",
            "fingerprint": hashlib.sha256(fingerprinted.encode("utf-8", "surrogatepass")).hexdigest(),
            "severity": _SEVERITIES[entry.level],
            "location": {"path": path, "lines": {"begin": origin.line if origin else 1}},
        }


def _description(entry: ViewEntry, has_origin: bool) -> str:
    parts = [clip_text(entry.summary or entry.name), *(sentence.full_text for sentence in entry.sentences)]
    return clip_text("; ".join(parts), _MAX_DESCRIPTION_CHARS) + (
        "" if has_origin else " (not on a line in your files)"
    )


MAX_JUNIT_LINES: Final = 200
"""The largest number of lines of a test case."""


def as_junit(view: View, options: FormatOptions) -> str:
    """Return a report with one suite. Without entries, the suite has one passed case.

    CI may treat an empty suite as a missing report.
    """
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
    """Return whether a case neither passes nor fails, because a person should look at it."""
    return entry.level == "warning" and not entry.fails


def _add_test_case(suite: Element, view: View, entry: ViewEntry) -> None:
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
    """Return a SARIF log with one run, as JSON."""
    entries = [entry for entry in view.needs_attention if entry.level != "note"]
    rules = {_rule_id(entry): entry for entry in entries}
    order = {rule: index for index, rule in enumerate(rules)}
    run = {
        "tool": {
            "driver": {
                "name": "dpsync",
                "version": __version__,
                "rules": [_rule_descriptor(rule, entry, view) for rule, entry in rules.items()],
            }
        },
        "columnKind": "unicodeCodePoints",
        "results": [_sarif_result(entry, order, options) for entry in entries],
    }
    return json_text({"$schema": SARIF_SCHEMA_URL, "version": "2.1.0", "runs": [run]}, indent=2)


def _rule_id(entry: ViewEntry) -> str:
    return entry.code or entry.name


def _rule_descriptor(rule: str, entry: ViewEntry, view: View) -> dict[str, Any]:
    description = f"{view.name}: {entry.name}" + (
        f" ({rule}, see docs/errors.md)" if rule != entry.name else ""
    )
    level = {"level": entry.level}
    return {"id": rule, "shortDescription": {"text": description}, "defaultConfiguration": level}


def _sarif_result(entry: ViewEntry, order: dict[str, int], options: FormatOptions) -> dict[str, Any]:
    rule = _rule_id(entry)
    message = "\n".join([clip_text(entry.summary), *body_lines(entry, MAX_SARIF_LINES)])
    digest = hashlib.sha256(f"{rule}\n{entry.address}\n{'' if entry.address else entry.summary}".encode())
    return {
        "ruleId": rule,
        "ruleIndex": order[rule],
        "level": entry.level,
        "message": {"text": _escape_message(message)},
        "locations": list(_locations(entry, options)),
        "partialFingerprints": {"dpsync/v1": digest.hexdigest()},
    }


def _locations(entry: ViewEntry, options: FormatOptions) -> Iterator[dict[str, Any]]:
    location: dict[str, Any] = {}
    if origin := entry.origin or entry.parent_origin:
        location["physicalLocation"] = _physical_location(origin, options)
    if entry.address:
        location["logicalLocations"] = [{"fullyQualifiedName": entry.address, "kind": "resource"}]
    if location:
        yield location


def _physical_location(origin: Origin, options: FormatOptions) -> dict[str, Any]:
    uri = quote(f"{options.project_prefix()}{origin.file}", errors="surrogatepass")
    return {
        "artifactLocation": {"uri": uri},
        "region": {"startLine": origin.line, "startColumn": origin.column},
    }


def _escape_message(text: str) -> str:
    """Escape placeholders (`{0}`) and links (`[text](target)`) in a message."""
    return text.replace("{", "{{").replace("}", "}}").replace("](", "] (")
