"""The configuration as git has it, and what the files say otherwise. No platform is asked."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dpsync.config.edits import edits as compare_files
from dpsync.config.git_base import read_base
from dpsync.config.layers import Layers
from dpsync.kinds.registry import Registry
from dpsync.kinds.registry import load as load_registry
from dpsync.model.desired import Base, Desired
from dpsync.model.drift import Edits

if TYPE_CHECKING:
    pass


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
    """The configuration with what goes over it, as git has it at `ref` or at the default base.

    docs/configuration.md says which base is the default. `ids` is where the ids file is: the base has that of
    its commit.
    Raises DiagnosticError (exit 5) when a named `ref` cannot be used. A default one that cannot be had is an
    empty base, with the reason in `said`.
    """
    layers = Layers.of(root, overlays, environment, profile)
    variables = os.environ if env is None else env
    return read_base(root, registry or load_registry(), variables, ref, layers, ids)


def edits(desired: Desired, base: Base, registry: Registry | None = None) -> Edits:
    """What a configuration says otherwise than that of a base. No platform is asked."""
    if base.desired is None:
        return Edits(base_from=base.name)
    registry = registry or load_registry(desired.profile)
    found = compare_files(registry.whole, base.desired, desired)
    return Edits(base=base.commit, base_from=base.name, found=found)
