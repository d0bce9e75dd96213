"""Markdown in git, rich text on the platform: both ways over what the two have in common.

Pure functions. What one side cannot say is never dropped in silence: it is a problem with its place.
"""

from dpsync.document.nodes import DocumentError, MarkdownError, Outside, Problem
from dpsync.document.parse import to_document
from dpsync.document.same import normalised, same
from dpsync.document.write import to_markdown

__all__ = [
    "DocumentError",
    "MarkdownError",
    "Outside",
    "Problem",
    "normalised",
    "same",
    "to_document",
    "to_markdown",
]
