"""docs/plan.md lists every exit code, and its links to error codes lead somewhere."""

from __future__ import annotations

import re

from dpsync.model.diagnostic import Exit
from dpsync.model.values import ID_MARKER, REF_MARKER
from dpsync.render.formats import FORMATS

from .markdown import DOCS, sections
from .test_errors import PAGE as ERRORS

SECTIONS = {section.title: section for section in sections(DOCS / "plan.md")}
TEXT = (DOCS / "plan.md").read_text(encoding="utf-8")


def test_output_page_lists_every_format() -> None:
    table = next(section for section in sections(DOCS / "output.md") if section.title == "Outputs")
    assert re.findall(r"^\| `(\w+)`", "\n".join(table.words), re.MULTILINE) == list(FORMATS)


def test_plan_page_lists_every_exit_code() -> None:
    rows = [line.split("|")[1] for line in SECTIONS["Exit codes"].words if re.match(r"\| \d", line)]
    assert {int(number) for row in rows for number in re.findall(r"\d+", row)} == set(Exit)


def test_plan_page_links_to_existing_errors() -> None:
    titles = {title.lower() for title in ERRORS} | {"refusals"}
    assert set(re.findall(r"errors\.md#([\w-]+)", TEXT)) <= titles


def test_plan_page_documents_reference_markers() -> None:
    assert f'{{"{REF_MARKER}": ADDRESS}}' in TEXT
    assert f'{{"{ID_MARKER}": ID}}' in TEXT
