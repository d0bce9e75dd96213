"""The formats that commands print, by name: the one table. A writer is imported when it is asked for.

Whatever is printed is a document (`json/documents.py`); JSON is that, and all others are made from its view
(`layout/views.py`). Text takes the document, for what is told of an apply while it runs and of findings.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from dpsync.render.options import FormatOptions

if TYPE_CHECKING:
    from pydantic import BaseModel

    from dpsync.render.layout.view import View


class Format(Struct, frozen=True):
    """`writer` is `module:function` in this package; `help` is for people who choose."""

    writer: str
    help: str
    of_view: bool = True
    """Whether it takes a view; text and JSON take the document."""


FORMATS: Final = {
    "text": Format("terminal.text:render_text", "for terminals", of_view=False),
    "json": Format("json.output:render_json", "for programs", of_view=False),
    "markdown": Format("pages.markdown:as_markdown", "for comments and job summaries"),
    "html": Format("pages.html_page:as_page", "a page for browsers"),
    "github": Format("checks.annotations:as_annotations", "annotations on the lines of your files in GitHub"),
    "sarif": Format("checks.sarif:as_sarif", "for code scanning"),
    "junit": Format("checks.junit:as_junit", "for test reports in CI"),
    "codequality": Format("checks.codequality:as_codequality", "for merge requests on GitLab"),
}


def render(document: BaseModel, format_: str, options: FormatOptions | None = None) -> str:
    """A document in a format, without a trailing line break."""
    found = FORMATS[format_]
    module, _, name = found.writer.partition(":")
    write: Callable[[BaseModel | View, FormatOptions], str] = getattr(
        import_module(f"dpsync.render.{module}"), name
    )
    if not found.of_view:
        return write(document, options or FormatOptions())
    from dpsync.render.layout.views import view

    return write(view(document), options or FormatOptions())
