"""The configuration as one tree: after includes, overlays and variables, with where each value is written."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dpsync.config.compose import Composition, load_sources
from dpsync.config.discovery import Directory
from dpsync.config.layers import Layers
from dpsync.model.diagnostic import DiagnosticError, Exit

if TYPE_CHECKING:
    pass


def compose(
    root: Path,
    env: Mapping[str, str] | None = None,
    overlays: Sequence[Path] = (),
    environment: str | None = None,
) -> Composition:
    """The composed tree of a root file. No secret is resolved, and no platform is asked.

    Raises DiagnosticError (exit 5) with everything that is wrong with the files as YAML, with what is given
    twice and with variables that are not set. What the entries say is not checked.
    """
    layers = Layers.of(root, overlays, environment)
    variables = os.environ if env is None else env
    composed = load_sources(Directory(root), variables, layers)
    if composed.diagnostics.errors:
        raise DiagnosticError(composed.diagnostics, Exit.INVALID, composed.texts)
    return composed
