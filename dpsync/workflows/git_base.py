"""Read the configuration of the git base (the commit compared with), and compare the files with it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from dpsync.config.edits import edits as compare_files
from dpsync.config.git_base import read_base
from dpsync.config.layers import Layers
from dpsync.kinds.registry import Registry
from dpsync.kinds.registry import build_registry as load_registry
from dpsync.model.desired import Base, Desired
from dpsync.model.drift import Edits


def load_base(
    root: Path,
    ref: str | None = None,
    env: Mapping[str, str] | None = None,
    registry: Registry | None = None,
    overlays: Sequence[Path] = (),
    environment: str | None = None,
    ids: Path | None = None,
    profile: str | None = None,
) -> Base:
    """Return the configuration with its overlays in the commit `ref`, or in the default base.

    docs/configuration.md says which base is the default. `ids` is the path of the ids file, which is read
    from the same commit. Raises DiagnosticError (exit 5) if `ref` cannot be used. If the default base cannot
    be read, the base is empty and its `name` has the reason.
    """
    layers = Layers.of(root, overlays, environment, profile)
    variables = os.environ if env is None else env
    return read_base(root, registry or load_registry(), variables, ref, layers, ids)


def edits(desired: Desired, base: Base, registry: Registry | None = None) -> Edits:
    """Return the differences between a configuration and the git base, without requests to the platform."""
    if base.desired is None:
        return Edits(base_from=base.name)
    registry = registry or load_registry(desired.profile)
    differences = compare_files(registry.with_all_kinds, base.desired, desired)
    return Edits(base=base.commit, base_from=base.name, found=differences)
