"""Texts of a terminal, of plain values."""

from __future__ import annotations

from dpsync.model.drift import Drift
from dpsync.render.drift_layout import drift_view
from dpsync.render.json_conversion import drift_document
from dpsync.render.paint import Paint
from dpsync.render.view_text import TextWriter


def render_drift(
    drift: Drift, paint: Paint, verbose: int = 0, *, quiet: bool = False, summary: bool = False
) -> str:
    """Return the drift as text, without a trailing line break."""
    return TextWriter(paint, verbose, quiet, summary).view(drift_view(drift_document(drift)))
