"""A view as JUnit's XML, for a CI that only knows tests: an entry is a case.

What must not be has failed. What somebody should look at (a delete, access that opens up) is skipped, so it
never counts as passed.
"""

from __future__ import annotations

from typing import Final
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from msgspec.structs import replace

from dpsync.render.layout.view import OPENS, View, ViewEntry, body, clip
from dpsync.render.options import FormatOptions
from dpsync.render.words.plan import place

BODY: Final = 200
"""Lines of a test case."""


def as_junit(view: View, options: FormatOptions) -> str:
    """One suite. With nothing to tell it has one case, which passed: an empty suite may count as lost."""
    cases = list(view)
    failed = sum(entry.fails for entry in cases)
    skipped = sum(_is_skipped(entry) for entry in cases)
    counts = {"tests": str(len(cases) or 1), "failures": str(failed), "errors": "0"}
    name = f"dpsync {view.name}"
    root = Element("testsuites", {"name": name, **counts})
    suite = SubElement(root, "testsuite", {"name": name, **counts, "skipped": str(skipped)})
    for entry in cases:
        _case(suite, view, entry)
    if not cases:
        SubElement(suite, "testcase", {"name": view.title, "classname": f"dpsync.{view.name}"})
    SubElement(suite, "system-out").text = "\n".join([view.title, *view.notices, *view.details])
    indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="unicode")}'


def _is_skipped(entry: ViewEntry) -> bool:
    """Whether a case neither passes nor fails: somebody should look at it."""
    return entry.level == "warning" and not entry.fails


def _case(suite: Element, view: View, entry: ViewEntry) -> None:
    opens = f"({OPENS})" if "exposure" in entry.topics else ""
    said = " ".join(filter(None, (entry.sign, clip(entry.summary), opens)))
    case = SubElement(suite, "testcase", {"name": said, "classname": f"dpsync.{view.name}.{entry.name}"})
    if _is_skipped(entry):
        SubElement(case, "skipped", {"message": said})
    lines = body(entry if entry.fails else replace(entry, fields=()), BODY)  # nobody opens what has passed
    text = "\n".join(filter(None, [place(entry.where), *lines]))
    if entry.fails:
        kind = entry.code or entry.name
        SubElement(case, "failure", {"message": said, "type": kind}).text = text
    elif text:
        SubElement(case, "system-out").text = text
