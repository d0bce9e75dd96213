"""The formats that commands print, by name: the one table. A writer is imported when it is asked for.

Whatever is printed is a document of render/documents.py; text and JSON are made from that, the others from
its view (render/views.py).
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Final

from dpsync.render.paint import Paint

if TYPE_CHECKING:
    from pydantic import BaseModel

    from dpsync.render.view import View


@dataclass(frozen=True)
class How:
    """What a format may take into account."""

    paint: Paint = field(default_factory=lambda: Paint(on=False))
    verbose: int = 0
    quiet: bool = False
    """Only what needs a person."""
    summary: bool = False
    """One line for each address."""
    below: Callable[[], str] = str
    """Where the project is in its repository, as `a/b/`: names of files are relative to the project."""
    changed: Callable[[], Collection[str]] = frozenset
    """The files that the change on trial touches, by their names in the repository."""
    root: str = "dpsync.yaml"
    """The name of the root file, for what no line of a file says."""


@dataclass(frozen=True)
class Format:
    """`writer` is `module:function` in this package; `help` is for people who choose."""

    writer: str
    help: str
    of_view: bool = True
    """Whether it takes a view; text and JSON take the document."""


FORMATS: Final = {
    "text": Format("text:render_text", "for a terminal", of_view=False),
    "json": Format("json_output:render_json", "for programs (dpsync schema)", of_view=False),
    "markdown": Format("markdown:as_markdown", "for comments and job summaries"),
    "html": Format("html_page:as_page", "for a browser, in one file"),
    "github": Format("github:as_annotations", "annotations on the lines of the files"),
    "sarif": Format("sarif:as_sarif", "for code scanning"),
    "junit": Format("junit:as_junit", "for a CI that only knows tests"),
    "codequality": Format("codequality:as_codequality", "for merge requests on GitLab"),
}


def render(document: BaseModel, format_: str, how: How | None = None) -> str:
    """A document in a format, without a trailing line break."""
    found = FORMATS[format_]
    module, _, name = found.writer.partition(":")
    write: Callable[[BaseModel | View, How], str] = getattr(import_module(f"dpsync.render.{module}"), name)
    if not found.of_view:
        return write(document, how or How())
    from dpsync.render.views import view

    return write(view(document), how or How())
