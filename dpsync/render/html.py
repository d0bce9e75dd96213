"""Print a view as one HTML file that opens from disk and sends no request.

The data is JSON in a block that no browser executes; the script of the page displays it as text. The content
security policy allows script and style only by their hashes, so that injected code would not run.
"""

from __future__ import annotations

import base64
import hashlib
import html
import re
from functools import cache
from importlib.resources import files
from typing import Any, Final

from dpsync.model.text import json_text
from dpsync.render.formats import FormatOptions
from dpsync.render.plan_words import location_text
from dpsync.render.view import (
    MAX_LINE_CHARS,
    OPENS_ACCESS,
    View,
    ViewEntry,
    clip_text,
    full_values,
    tree_lines,
)
from dpsync.render.visible import visible

_TEMPLATE_SLOT: Final = re.compile(r"\{\{(\w+)\}\}")
_SCRIPT_ESCAPES: Final = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}


def as_page(view: View, options: FormatOptions) -> str:
    """Return a view as a whole HTML page.

    Each slot `{{name}}` of the template is filled once, so a text cannot fill another slot.
    """
    del options
    style, script = _template("report.css"), _template("report.js")
    slots = {
        "policy": f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'",
        "title": html.escape(view.title),
        "style": style,
        "script": script,
        "data": _view_json(view),
    }
    return _TEMPLATE_SLOT.sub(lambda match: slots[match[1]], _template("report.html")).rstrip("\n")


@cache
def _template(name: str) -> str:
    """Return the content of a file in `render/pages`."""
    return files("dpsync.render").joinpath("pages", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """Return the hash of a script or style for the content security policy, such as `sha256-…`."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _view_json(view: View) -> str:
    """Return the view as JSON for the page, with `<`, `>` and `&` as escapes.

    So no text in it ends the script element that contains it.
    """
    data = {
        "name": view.name,
        "hints": view.complete_hints,
        "previews": [
            {"text": clip_text(preview.text, MAX_LINE_CHARS), "url": preview.url} for preview in view.previews
        ],
        "foot": view.complete_facts,
        "leftOut": view.left_out,
        "glances": [
            {"number": figure.number, "text": figure.text, "topic": figure.topic, "level": figure.level}
            for figure in view.key_figures
        ],
        "blocks": [
            {
                "title": block.title,
                "level": block.level,
                "entries": [_entry_data(entry) for entry in block.entries],
            }
            for block in view.blocks
        ],
    }
    text = json_text(data)
    return re.sub("[<>&]", lambda character: _SCRIPT_ESCAPES[character.group()], text)


def _entry_data(entry: ViewEntry) -> dict[str, Any]:
    """Return an entry as the dict that the script of the page reads."""
    fields = []
    for field in entry.fields:
        before, after = full_values(field)
        shown_before = None if entry.created else before
        fields.append(
            {"name": visible(field.name), "before": shown_before, "after": after, "label": field.label}
        )
    return {
        "address": entry.address,
        "sign": entry.sign,
        "code": entry.code,
        "name": entry.name,
        "topics": entry.topics or (entry.name,),
        "title": clip_text(entry.title or entry.address, MAX_LINE_CHARS),
        "message": clip_text(entry.message, MAX_LINE_CHARS),
        "where": location_text(entry.origin),
        "sides": entry.side_names or ("live", "new"),
        "tree": [clip_text(line, MAX_LINE_CHARS) for line in tree_lines(entry)],
        "fields": fields,
        "words": [
            {
                "about": word.subject,
                "text": f"{word.text} ({OPENS_ACCESS})" if word.opens_access else word.text,
                "command": word.is_command,
            }
            for word in entry.sentences
        ],
    }
