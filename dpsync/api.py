"""The public Python API: load, plan, apply. The command line is a thin layer over this module.

desired = load(Path("dpsync.yaml"))
with ReadClient(url, token) as client:
    plan = Session(desired, load_registry()).plan(client).plan
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from dpsync import disk
from dpsync.apply.expected import Expected
from dpsync.apply.ids_on_disk import IdsOnDisk
from dpsync.config.composing.discovery import IDS_NAME
from dpsync.config.composing.layers import Layers
from dpsync.config.environments import check
from dpsync.config.git_base.base import read_base
from dpsync.config.git_base.edits import edits as compare_files
from dpsync.config.load import load as load_config
from dpsync.config.omitted_files import Beside, no_longer_included
from dpsync.kinds.registry import Registry
from dpsync.kinds.registry import load as load_registry
from dpsync.model.entries.desired import Desired
from dpsync.model.entries.git_base import Base
from dpsync.model.entries.ids import IdsFile
from dpsync.model.findings.diagnostic import DiagnosticError, Exit
from dpsync.model.plans.edits import Edits
from dpsync.model.texts.loopback import is_loopback
from dpsync.planner.inputs.sides import Options
from dpsync.workflows.ids import IdsAsked, NotPossible, check_settled, compare_ids, edited_ids
from dpsync.workflows.imports import Again, Imported, add, import_, import_again, update
from dpsync.workflows.session import Planned, Session

__all__ = [
    "Again", "Base", "Expected", "IdsAsked", "IdsFile", "IdsOnDisk", "Imported", "NotPossible", "Options",
    "Planned", "Session", "add", "check_settled", "compare_ids", "edited_ids", "edits", "ids_path", "import_",
    "import_again", "load", "load_base", "load_ids", "load_registry",
    "no_longer_included", "update", "validate",
]  # fmt: skip

LOCAL_IDS = Path(disk.OWN) / "ids.yaml"
"""Below the directory of the root file, and not in git: the ids of what is on loopback."""


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


def load_base(
    root: Path,
    ref: str | None = None,
    env: Mapping[str, str] | None = None,
    registry: Registry | None = None,
    overlays: Sequence[Path] = (),
    environment: str | None = None,
    ids: Path | None = None,
) -> Base:
    """The configuration with what goes over it, as git has it at `ref` or at the default base.

    docs/configuration.md says which base is the default. `ids` is where the ids file is: the base has that of
    its commit.
    Raises DiagnosticError (exit 5) when a named `ref` cannot be used. A default one that cannot be had is an
    empty base, with the reason in `said`.
    """
    layers = Layers.of(root, overlays, environment)
    variables = os.environ if env is None else env
    return read_base(root, registry or load_registry(), variables, ref, layers, ids)


def edits(desired: Desired, base: Base, registry: Registry | None = None) -> Edits:
    """What a configuration says otherwise than that of a base. No platform is asked."""
    if base.desired is None:
        return Edits(base_from=base.said)
    found = compare_files(registry or load_registry(), base.desired, desired)
    return Edits(base=base.commit, base_from=base.said, found=found)


def ids_path(root: Path, url: str) -> Path:
    """Where the ids of a platform are kept: beside the root file in git, those of this machine elsewhere."""
    return root.parent / (IDS_NAME if not is_loopback(url) else LOCAL_IDS)


def load_ids(path: Path, registry: Registry | None = None) -> IdsFile:
    """What an ids file says: nothing, where there is none.

    Raises DiagnosticError (exit 5) with everything that is wrong.
    """
    return IdsOnDisk(path, registry or load_registry()).read()
