"""The configuration as the files have it, and as git has it. No platform is asked."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from dpsync.config.composing.layers import Layers
from dpsync.config.environments import check
from dpsync.config.load import load as load_config
from dpsync.config.omitted_files import Beside
from dpsync.kinds.registry import Registry
from dpsync.kinds.registry import load as load_registry
from dpsync.model.entries.desired import Desired
from dpsync.model.findings.diagnostic import DiagnosticError, Exit

__all__ = ["load", "load_registry", "validate"]


def load(
    root: Path,
    env: Mapping[str, str] | None = None,
    registry: Registry | None = None,
    overlays: Sequence[Path] = (),
    environment: str | None = None,
) -> Desired:
    """The checked configuration with what goes over it.

    Raises DiagnosticError (exit 5) with everything that is wrong.
    """
    layers, registry = Layers.of(root, overlays, environment), registry or load_registry()
    variables = os.environ if env is None else env
    desired, diagnostics = load_config(root, registry, variables, layers)
    if diagnostics.errors:
        raise DiagnosticError(diagnostics, Exit.INVALID, desired.texts)
    return _with_beside(root, desired, registry)


def validate(
    root: Path,
    env: Mapping[str, str] | None = None,
    registry: Registry | None = None,
    overlays: Sequence[Path] = (),
    environment: str | None = None,
) -> Desired:
    """The checked configuration: with the chosen environment, else alone and with each one that there is.

    A finding that is there only with environments says with which. Variables of environments that were not
    chosen need not be set. Raises DiagnosticError (exit 5) with everything that is wrong.
    """
    layers, registry = Layers.of(root, overlays, environment), registry or load_registry()
    desired, found = check(root, registry, os.environ if env is None else env, layers)
    if found.errors:
        raise DiagnosticError(found, Exit.INVALID, desired.texts)
    return replace(_with_beside(root, desired, registry), warnings=found.warnings)


def _with_beside(root: Path, desired: Desired, registry: Registry) -> Desired:
    return replace(desired, beside=Beside(root, registry, desired.texts, desired.resources))
