"""Documents → the JSON that commands print."""

from __future__ import annotations

from pydantic import BaseModel

from dpsync.model.text import json_text
from dpsync.render.options import FormatOptions


def render_json(document: BaseModel, options: FormatOptions) -> str:
    """A document as JSON, without a trailing line break."""
    return json_text(document, indent=2)
