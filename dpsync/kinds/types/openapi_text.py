"""The text of an OpenAPI specification, checked before dpsync sends the text to the platform."""

from __future__ import annotations

import json
import re
from typing import NamedTuple

import yaml

from dpsync.kinds.types.parsing import Parsing, TextFile
from dpsync.kinds.types.texts import LongText
from dpsync.model.nodes import Node, Span
from dpsync.model.values import Value

_HTML = re.compile(r"\s*<(?:!doctype|html|head|body|\?xml)\b", re.IGNORECASE)
_PARSER = getattr(yaml, "CParser", yaml.Loader)  # the Python parser takes ten seconds per megabyte


class OpenApiText(LongText, frozen=True):
    """JSON or YAML whose top level has the key `openapi` or `swagger`.

    Any other text is reported (DP240), but still returned: the platform may currently have this text.
    """

    def checked(self, text: str, file: TextFile | None, node: Node, ctx: Parsing) -> Value:
        problem = _problem(text)
        if problem is not None:
            line, column, message, hint = problem
            if file is None:
                message, span = f"{message} (in line {line} of the text)", node.span
            else:
                span = Span(file.name, line, column, line, column + 1)
            ctx.error("DP240", message, span, hint)
        return text


class _Problem(NamedTuple):
    line: int
    column: int
    message: str
    hint: str


def _problem(text: str) -> _Problem | None:
    """Return the first problem of a specification, with line and column from 1; None if it is valid."""
    if _HTML.match(text):
        hint = "perhaps the text is a login page: sign in, and download the specification again"
        return _Problem(1, 1, "the text is a web page, and not an OpenAPI specification", hint)
    if text.lstrip().startswith("{"):
        try:
            document = json.loads(text)
        except (ValueError, RecursionError):
            pass  # YAML has mappings in braces, too
        else:
            return None if {"openapi", "swagger"} & document.keys() else _no_version(text)
    try:
        keys = _top_keys(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        why = error.problem or "the text ends unexpectedly"
        line, column = (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)
        return _Problem(line, column, f"the text is neither JSON nor YAML: {why}", "correct this line")
    except yaml.YAMLError as error:
        return _Problem(1, 1, f"the text is neither JSON nor YAML: {error}", "save the file as UTF-8 text")
    return None if {"openapi", "swagger"} & keys else _no_version(text)


def _no_version(text: str) -> _Problem:
    line = len(text) - len(text.lstrip())
    return _Problem(
        text.count("\n", 0, line) + 1,
        1,
        'an OpenAPI specification needs the key "openapi" or "swagger" at the top level',
        "use the file that contains the specification",
    )


def _top_keys(text: str) -> set[str]:
    """Return the keys of the top-level mapping. Raises YAMLError for a mistake in any line of the text."""
    keys: set[str] = set()
    depth, is_key = 0, True
    for event in iter(_PARSER(text).get_event, None):
        if isinstance(event, yaml.SequenceStartEvent) and depth == 0:
            is_key = False  # a list has no keys
        elif depth == 1 and is_key and isinstance(event, yaml.ScalarEvent):
            keys.add(event.value)
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth == 1 and not isinstance(event, yaml.CollectionStartEvent):
            is_key = not is_key  # a value ends
    return keys
