"""A view as JUnit's XML, for a CI that only knows tests: an entry is a case.

What must not be has failed. What somebody should look at (a delete, access that opens up) is skipped, so it
never counts as passed.
"""

from __future__ import annotations

from typing import Final
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from msgspec.structs import replace

from dpsync.render.layout.view import Block, View, ViewEntry, body, clip
from dpsync.render.options import FormatOptions
from dpsync.render.words.plan import place

BODY: Final = 200
"""Lines of a test case."""


def as_junit(view: View, options: FormatOptions) -> str:
    """One suite. With nothing to tell it has one case, which passed: an empty suite may count as lost."""
    cases = list(view)
    failed = sum(block.fails for block, _ in cases)
    skipped = sum(_is_skipped(block) for block, _ in cases)
    counts = {"tests": str(len(cases) or 1), "failures": str(failed), "errors": "0"}
    name = f"dpsync {view.name}"
    root = Element("testsuites", {"name": name, **counts})
    suite = SubElement(root, "testsuite", {"name": name, **counts, "skipped": str(skipped)})
    for block, entry in cases:
        _case(suite, view, block, entry)
    if not cases:
        SubElement(suite, "testcase", {"name": view.title, "classname": f"dpsync.{view.name}"})
    SubElement(suite, "system-out").text = "\n".join([view.title, *view.head, *view.footer])
    indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="unicode")}'


def _is_skipped(block: Block) -> bool:
    """Whether its cases neither pass nor fail: somebody should look at them."""
    return block.level == "warning" and not block.fails


def _case(suite: Element, view: View, block: Block, entry: ViewEntry) -> None:
    said = " ".join(filter(None, (entry.sign, entry.address, clip(entry.summary))))
    case = SubElement(suite, "testcase", {"name": said, "classname": f"dpsync.{view.name}.{block.name}"})
    if _is_skipped(block):
        SubElement(case, "skipped", {"message": clip(entry.summary)})
    lines = body(entry if block.fails else replace(entry, fields=()), BODY)  # nobody opens what has passed
    text = "\n".join(filter(None, [place(entry.where), *lines]))
    if block.fails:
        kind = entry.code or block.name
        SubElement(case, "failure", {"message": clip(entry.summary), "type": kind}).text = text
    elif text:
        SubElement(case, "system-out").text = text
