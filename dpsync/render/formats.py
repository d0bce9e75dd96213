"""List the output formats of commands, and print documents in them.

Everything that is printed is a document (`documents.py`). JSON prints the document; the other formats print
its view (`views.py`). `FORMATS` is the table of formats; `render` imports a writer when it is needed. Text
also takes the document, because a report has been printed partly while the apply ran.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from importlib import import_module
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from dpsync.model.text import NO_FLAGS

if TYPE_CHECKING:
    from pydantic import BaseModel

    from dpsync.render.view import View


class FormatOptions(Struct, frozen=True):
    """Options of a run that a format may use: color, verbosity, and how to name files."""

    color: bool = False
    verbose: int = 0
    quiet: bool = False
    """Whether to print only entries that need attention."""
    summary: bool = False
    """Whether to print one line for all objects with the same kind and action."""
    complete_commands: Callable[[str], str] = NO_FLAGS.add_flags_to_commands
    """Add the flags of this run to the commands in a text."""
    project_prefix: Callable[[], str] = str
    """Return the directory of the project in its repository, as `a/b/`. File names are relative to it."""
    changed_files: Callable[[], Collection[str]] = frozenset
    """Return the files that the pull request changes, by their names in the repository."""
    root: str = "dpsync.yaml"
    """The name of the root file, for entries without a location."""


class Format(Struct, frozen=True):
    """An output format.

    `writer` is `module:function` in this package; `help` is the description for users.
    """

    writer: str
    help: str
    takes_view: bool = True
    """Whether the writer takes a view. The writers of text and JSON take the document."""


FORMATS: Final = {
    "text": Format("text:render_text", "for terminals", takes_view=False),
    "json": Format("json_conversion:render_json", "for programs", takes_view=False),
    "markdown": Format("markdown:as_markdown", "for comments and job summaries"),
    "html": Format("html:as_page", "a page for browsers"),
    "github": Format("ci_reports:as_annotations", "annotations on the lines of your files in GitHub"),
    "sarif": Format("ci_reports:as_sarif", "for code scanning"),
    "junit": Format("ci_reports:as_junit", "for test reports in CI"),
    "codequality": Format("ci_reports:as_codequality", "for merge requests on GitLab"),
}


def render(document: BaseModel, format_: str, options: FormatOptions | None = None) -> str:
    """Render a document in the format with this name (see `FORMATS`), without a trailing line break."""
    output_format = FORMATS[format_]
    module, _, name = output_format.writer.partition(":")
    write: Callable[[BaseModel | View, FormatOptions], str] = getattr(
        import_module(f"dpsync.render.{module}"), name
    )
    if not output_format.takes_view:
        return write(document, options or FormatOptions())
    from dpsync.render.views import make_view

    return write(make_view(document), options or FormatOptions())
