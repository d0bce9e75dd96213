"""Convert Markdown in git to the rich-text Document (JSON) of GitBook, and back. Pure functions.

Input: Markdown or a Document. Only what both formats can express is converted.
Output: the other format, or a list of problems, each with its place. Nothing is dropped silently.
"""

from dpsync.document.comparison import have_same_meaning, normalize
from dpsync.document.nodes import DocumentError, MarkdownError, Problem, UnsupportedNode
from dpsync.document.parse import to_document
from dpsync.document.write import to_markdown

__all__ = [
    "DocumentError",
    "MarkdownError",
    "Problem",
    "UnsupportedNode",
    "have_same_meaning",
    "normalize",
    "to_document",
    "to_markdown",
]
