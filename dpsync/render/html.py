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
from dpsync.render.plan_words import place
from dpsync.render.view import LONGEST, OPENS, View, ViewEntry, both, clip, tree_lines
from dpsync.render.visible import visible

_SLOT: Final = re.compile(r"\{\{(\w+)\}\}")
_IN_SCRIPT: Final = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}


def as_page(view: View, options: FormatOptions) -> str:
    """Return the whole page. Each slot of the template is filled once, so a text cannot fill another slot."""
    style, script = _template("report.css"), _template("report.js")
    slots = {
        "policy": f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'",
        "title": html.escape(view.title),
        "style": style,
        "script": script,
        "data": _view_json(view),
    }
    return _SLOT.sub(lambda match: slots[match[1]], _template("report.html")).rstrip("\n")


@cache
def _template(name: str) -> str:
    return files("dpsync.render").joinpath("pages", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _view_json(view: View) -> str:
    """Return the view as JSON without `<`, `>` and `&`, so that no text in it ends the script element."""
    data = {
        "name": view.name,
        "hints": view.notices,
        "previews": [{"text": clip(one.text, LONGEST), "url": one.url} for one in view.previews],
        "foot": view.details,
        "leftOut": view.left_out,
        "glances": [
            {"number": one.number, "text": one.text, "topic": one.topic, "level": one.level}
            for one in view.glances
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
    return re.sub("[<>&]", lambda character: _IN_SCRIPT[character.group()], text)


def _entry_data(entry: ViewEntry) -> dict[str, Any]:
    fields = []
    for item in entry.fields:
        before, after = both(item)
        side = None if entry.created else before
        fields.append({"name": visible(item.name), "before": side, "after": after, "label": item.label})
    return {
        "address": entry.address,
        "sign": entry.sign,
        "code": entry.code,
        "name": entry.name,
        "topics": entry.topics or (entry.name,),
        "title": clip(entry.title or entry.address, LONGEST),
        "message": clip(entry.message, LONGEST),
        "where": place(entry.where),
        "sides": entry.sides or ("live", "new"),
        "tree": [clip(line, LONGEST) for line in tree_lines(entry)],
        "fields": fields,
        "words": [
            {
                "about": word.about,
                "text": f"{word.text} ({OPENS})" if word.opens else word.text,
                "command": word.command,
            }
            for word in entry.sentences
        ],
    }
