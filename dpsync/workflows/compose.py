"""Compose the configuration for `dpsync config`: merge includes, overlays and variables.

Output: the merged tree, with the file and line of each value.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from dpsync.config.compose import Composition, load_sources
from dpsync.config.discovery import DiskFiles
from dpsync.config.layers import Layers
from dpsync.model.diagnostic import DiagnosticError, Exit


def compose(
    root: Path,
    env: Mapping[str, str] | None = None,
    overlays: Sequence[Path] = (),
    environment: str | None = None,
) -> Composition:
    """Return the root file with its includes, overlays and variables as one tree.

    Neither resolves secrets nor sends requests, and does not check entries. Raises DiagnosticError (exit code
    5) for YAML errors, duplicate values and variables that are not set.
    """
    layers = Layers.of(root, overlays, environment)
    variables = os.environ if env is None else env
    composed = load_sources(DiskFiles(root), variables, layers)
    if composed.diagnostics.errors:
        raise DiagnosticError(composed.diagnostics, Exit.INVALID, composed.texts)
    return composed
