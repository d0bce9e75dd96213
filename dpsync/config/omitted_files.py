"""Find files that look like a part of the configuration but are not included.

Their entries are not declared, so `prune` would delete the objects. The search runs only if a plan would
delete content, and for `validate`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Final

from msgspec import Struct

from dpsync.config import codes
from dpsync.config.compose import ROOT_KEYS, Composition, with_organizations
from dpsync.config.declare import Declarations
from dpsync.config.discovery import IDS_NAME, ROOT_NAMES, Files, yaml_files
from dpsync.config.yaml_reader import DEFAULT_LIMITS, read
from dpsync.kinds.registry import Registry
from dpsync.model.address import Address
from dpsync.model.desired import Base, Desired, FileNotIncluded
from dpsync.model.diagnostic import Diagnostic, DiagnosticError, Findings
from dpsync.model.nodes import Mapping, Span

_MAX_FILES: Final = 500
_MAX_DIRECTORIES: Final = 1000


def no_longer_included(desired: Desired, base: Base) -> list[Diagnostic]:
    """Return a warning for each YAML file that looks like configuration, but is not included.

    Entries of such a file count as removed, so an apply could delete their objects. The warning names a
    commit if the entries were part of the configuration earlier.
    """
    warnings = []
    for file in desired.not_included:
        # The entries that the latest commit with any entry of this file had.
        configurations = (base.desired, *base.earlier_configurations) if base.desired is not None else ()
        common_entries = (file.entries & configuration.entries.keys() for configuration in configurations)
        missing = next((sorted(common) for common in common_entries if common), None)
        if missing:
            others = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
            message = (
                f'"include" does not list this file, but the entries of this file were part of the '
                f"configuration in {base.name} or an earlier commit"
            )
            hint = (
                'add the file to "include", or choose the file with -f. Otherwise dpsync '
                f"treats these entries as removed: {missing[0]}{others}"
            )
            span = Span.start_of(file.file)
            warnings.append(Diagnostic(codes.NOT_INCLUDED, message, span, hint=hint, severity="warning"))
        elif desired.environment is None:  # otherwise the file may be the overlay of another environment
            warnings.append(_never_included_warning(file))
    return warnings


def _never_included_warning(file: FileNotIncluded) -> Diagnostic:
    """Return a warning for a file that looks like a part of the configuration and was never included."""
    first_address, *other_addresses = sorted(file.entries)
    others = f" and {len(other_addresses)} more" if other_addresses else ""
    message = f'only this file contains {first_address}{others}, but "include" does not list this file'
    hint = (
        f'add "{file.file}" to "include" in the root file. If the file is an overlay, pass the file with -f'
    )
    span = Span.start_of(file.file)
    return Diagnostic(codes.NOT_INCLUDED, message, span, hint=hint, severity="warning")


class OmittedFiles(Struct, frozen=True, dict=True):
    """The YAML files of a project with entries that it does not declare, read on first use.

    `read` are the files of the configuration. A directory with its own root file is another project.
    """

    root: Path
    files: Files
    registry: Registry
    read: Collection[str]
    declared: Collection[Address]

    def __iter__(self) -> Iterator[FileNotIncluded]:
        return iter(self._omitted_files)

    @cached_property
    def _omitted_files(self) -> tuple[FileNotIncluded, ...]:
        """Search the project, within limits, for YAML files with entries that the configuration lacks."""
        omitted: list[FileNotIncluded] = []
        project = self.root.parent.resolve()
        for path in islice(yaml_files(project, _MAX_DIRECTORIES, nested=False), _MAX_FILES):
            name = path.relative_to(project).as_posix()
            if name in self.read or path.name in (IDS_NAME, *ROOT_NAMES):
                continue
            entries = frozenset(self.addresses_in_file(name)) - frozenset(self.declared)
            if entries:
                omitted.append(FileNotIncluded(name, entries))
        return tuple(omitted)

    def addresses_in_file(self, name: str) -> Collection[Address]:
        """Return the addresses that one file declares by itself.

        Empty if the file cannot be read or is no configuration, because this is only for a warning.
        """
        try:
            node, _ = read(self.files.read(name, DEFAULT_LIMITS.bytes), name)
        except (OSError, DiagnosticError):  # unreadable or not allowed: skip it, since this is only a hint
            return ()
        if not isinstance(node, Mapping):
            return ()
        node, _ = with_organizations(node, ROOT_KEYS)
        organizations = node.get("organizations")
        if organizations is None:
            return ()
        declared = Declarations(self.registry, Composition(node, {}, Findings()))
        declared.declare_organizations(organizations)
        return declared.entries
