"""Choose the output format, and print in it.

What a format may take into account: colour, how much is told, names of files.

The formats that commands print, by name: the one table. A writer is imported when it is asked for.

Whatever is printed is a document (`json/documents.py`); JSON is that, and all others are made from its view
(`layout/views.py`). Text takes the document, for what is told of an apply while it runs and of findings.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from importlib import import_module
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from dpsync.model.text import NOWHERE

if TYPE_CHECKING:
    from pydantic import BaseModel

    from dpsync.render.view import View


class FormatOptions(Struct, frozen=True):
    """What a format may take into account."""

    colour: bool = False
    verbose: int = 0
    quiet: bool = False
    """Only what needs a person."""
    summary: bool = False
    """Objects of one kind in one line."""
    complete: Callable[[str], str] = NOWHERE.complete
    """Adds the flags of this run to the commands in a text."""
    below: Callable[[], str] = str
    """Where the project is in its repository, as `a/b/`: names of files are relative to the project."""
    changed: Callable[[], Collection[str]] = frozenset
    """The files that the change on trial touches, by their names in the repository."""
    root: str = "dpsync.yaml"
    """The name of the root file, for what no line of a file says."""


class Format(Struct, frozen=True):
    """`writer` is `module:function` in this package; `help` is for people who choose."""

    writer: str
    help: str
    of_view: bool = True
    """Whether it takes a view; text and JSON take the document."""


FORMATS: Final = {
    "text": Format("text:render_text", "for terminals", of_view=False),
    "json": Format("json_conversion:render_json", "for programs", of_view=False),
    "markdown": Format("markdown:as_markdown", "for comments and job summaries"),
    "html": Format("html:as_page", "a page for browsers"),
    "github": Format("ci_reports:as_annotations", "annotations on the lines of your files in GitHub"),
    "sarif": Format("ci_reports:as_sarif", "for code scanning"),
    "junit": Format("ci_reports:as_junit", "for test reports in CI"),
    "codequality": Format("ci_reports:as_codequality", "for merge requests on GitLab"),
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
    from dpsync.render.views import view

    return write(view(document), options or FormatOptions())
