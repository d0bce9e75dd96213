"""Load and validate the configuration in the files, without a request to GitBook.

`load` returns the configuration with one environment and its overlays. `validate` also checks every other
environment. Both raise DiagnosticError with all errors.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from dpsync.config import codes
from dpsync.config.discovery import DiskFiles, Files
from dpsync.config.layers import Layers
from dpsync.config.load import load_from
from dpsync.config.omitted_files import OmittedFiles
from dpsync.kinds.registry import Registry
from dpsync.kinds.registry import build_registry as load_registry
from dpsync.model.desired import Desired
from dpsync.model.diagnostic import Diagnostic, DiagnosticError, Exit, Findings

__all__ = ["load", "load_registry", "validate"]


def load(
    root: Path,
    env: Mapping[str, str] | None = None,
    registry: Registry | None = None,
    overlays: Sequence[Path] = (),
    environment: str | None = None,
    profile: str | None = None,
    commit: str | None = None,
    assumed: str | None = None,
) -> Desired:
    """Return the validated configuration with its overlays and environment, for one API version.

    The API version is `profile`, else that of the environment (its `profile`, or `published` at GitBook's
    address), else `assumed`, else that of the registry. `Desired.profile` has the edition. With `commit`,
    each file must equal the file in that commit of its repository.

    Raises:
        DiagnosticError: exit 5 with all errors in the files; exit 4 for a file that differs from `commit`.
    """
    layers = Layers.of(root, overlays, environment, profile, assumed)
    registry = registry or load_registry()
    variables, files = os.environ if env is None else env, _project_files(root, overlays, commit)
    desired, diagnostics = load_from(files, registry, variables, layers)
    if diagnostics.errors:
        raise DiagnosticError(diagnostics, Exit.INVALID, desired.texts)
    return _with_omitted_files(root, files, desired, registry)


def validate(
    root: Path,
    env: Mapping[str, str] | None = None,
    registry: Registry | None = None,
    overlays: Sequence[Path] = (),
    environment: str | None = None,
    profile: str | None = None,
    commit: str | None = None,
    assumed: str | None = None,
) -> Desired:
    """Return the validated configuration with the chosen environment, or without one.

    If no environment is chosen, the configuration is also checked with each of its environments. A finding
    that occurs only with environments names these environments. Variables of environments that were not
    chosen need not be set. `commit`, `assumed` and the errors are the same as for `load`.
    """
    layers = Layers.of(root, overlays, environment, profile, assumed)
    registry = registry or load_registry()
    files = _project_files(root, overlays, commit)
    desired, findings = _check_all_environments(files, registry, os.environ if env is None else env, layers)
    if findings.errors:
        raise DiagnosticError(findings, Exit.INVALID, desired.texts)
    return replace(_with_omitted_files(root, files, desired, registry), warnings=findings.warnings)


def _project_files(root: Path, overlays: Sequence[Path], commit: str | None) -> Files:
    """Return the files of a project.

    With `commit`, each file that is read must equal the file in that commit.

    Raises DiagnosticError (exit code 4) for an overlay that differs from the commit.
    """
    if commit is None:
        return DiskFiles(root)
    from dpsync.config.checked_files import CheckedFiles  # loads git code, rarely needed

    files = CheckedFiles.of(root, commit)
    for path in overlays:  # Layers.of has followed links, and a step may have changed the links
        files.real_name(Path(os.path.relpath(path, root.parent)).as_posix())
    return files


def _with_omitted_files(root: Path, files: Files, desired: Desired, registry: Registry) -> Desired:
    """Return the configuration with the files, and the entries in them, that no `include` pattern matches.

    Only warnings use them: such a file may have been left out by mistake. They are found at the first use.
    """
    omitted = OmittedFiles(root, files, registry.with_all_kinds, desired.texts, desired.entries)
    return replace(desired, not_included=omitted, addresses_declared_in=omitted.addresses_in_file)


def _check_all_environments(
    files: Files, registry: Registry, env: Mapping[str, str], layers: Layers
) -> tuple[Desired, Findings]:
    """Return the configuration with these layers, and the findings of all environments, each once.

    If no environment is chosen, every environment is checked, too. A finding that occurs without an
    environment is reported without one. A missing variable is reported only for the given layers, because the
    variables of another environment are known only where that environment is used.
    """
    desired, findings = load_from(files, registry, env, layers)
    texts = dict(desired.texts)
    environments_by_finding: dict[Diagnostic, list[str]] = {}
    for name in () if layers.environment is not None else desired.environments:
        other_desired, other_findings = load_from(files, registry, env, replace(layers, environment=name))
        texts |= other_desired.texts
        for finding in other_findings:
            if finding.code != codes.MISSING_VARIABLE:
                environments_by_finding.setdefault(finding, []).append(name)
        findings.omitted_counts |= other_findings.omitted_counts
    reported = set(findings)
    findings += (
        replace(finding, environments=tuple(names))
        for finding, names in environments_by_finding.items()
        if finding not in reported
    )
    return replace(desired, texts=texts), findings
