"""Offer the public Python API: load a configuration, plan, apply. The command line is a thin layer over it.

    desired = load(Path("dpsync.yaml"))
    with ReadClient(url, token) as client:
        plan = Session(desired, load_registry(desired.profile)).plan(client).plan

docs/python.md shows a complete program, and names all errors. To start fast, this module imports each name on
first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from dpsync.apply.ids_on_disk import IdsOnDisk
    from dpsync.apply.saved_plan import Expected, NotApprovedError, StaleStateError
    from dpsync.client.client import ReadClient, WriteClient
    from dpsync.client.errors import ClientError
    from dpsync.config.omitted_files import no_longer_included
    from dpsync.kinds.registry import Registry
    from dpsync.model.desired import Base, Desired
    from dpsync.model.diagnostic import Diagnostic, DiagnosticError
    from dpsync.model.drift import Drift
    from dpsync.model.ids import IdsFile
    from dpsync.model.journal import Outcome, Report
    from dpsync.model.plan import Plan
    from dpsync.planner.sides import Options
    from dpsync.workflows.compose import compose
    from dpsync.workflows.configuration import load, load_registry, validate
    from dpsync.workflows.git_base import edits, load_base
    from dpsync.workflows.ids import IdsAsked, IdsEditError, check_settled, compare_ids, edited_ids
    from dpsync.workflows.ids_file import ids_path, load_ids
    from dpsync.workflows.imports import Again, Imported, add, import_, import_again, update
    from dpsync.workflows.labels import AppliedNotes, label_commits
    from dpsync.workflows.listing import list_entries, list_files
    from dpsync.workflows.revert import Revert, reverting
    from dpsync.workflows.revert_entries import Applied, AppliedPlan, applied
    from dpsync.workflows.row_imports import import_rows
    from dpsync.workflows.session import Planned, Session

__all__ = [
    "Again",
    "Applied",
    "AppliedNotes",
    "AppliedPlan",
    "Base",
    "ClientError",
    "Desired",
    "Diagnostic",
    "DiagnosticError",
    "Drift",
    "Expected",
    "IdsAsked",
    "IdsEditError",
    "IdsFile",
    "IdsOnDisk",
    "Imported",
    "NotApprovedError",
    "Options",
    "Outcome",
    "Plan",
    "Planned",
    "ReadClient",
    "Registry",
    "Report",
    "Revert",
    "Session",
    "StaleStateError",
    "WriteClient",
    "add",
    "applied",
    "check_settled",
    "compare_ids",
    "compose",
    "edited_ids",
    "edits",
    "ids_path",
    "import_",
    "import_again",
    "import_rows",
    "label_commits",
    "list_entries",
    "list_files",
    "load",
    "load_base",
    "load_ids",
    "load_registry",
    "no_longer_included",
    "reverting",
    "update",
    "validate",
]  # fmt: skip

_MODULES: Final = {
    "dpsync.apply.ids_on_disk": ("IdsOnDisk",),
    "dpsync.apply.saved_plan": ("Expected", "NotApprovedError", "StaleStateError"),
    "dpsync.client.client": ("ReadClient", "WriteClient"),
    "dpsync.client.errors": ("ClientError",),
    "dpsync.config.omitted_files": ("no_longer_included",),
    "dpsync.kinds.registry": ("Registry",),
    "dpsync.model.desired": ("Base", "Desired"),
    "dpsync.model.diagnostic": ("Diagnostic", "DiagnosticError"),
    "dpsync.model.drift": ("Drift",),
    "dpsync.model.ids": ("IdsFile",),
    "dpsync.model.journal": ("Outcome", "Report"),
    "dpsync.model.plan": ("Plan",),
    "dpsync.planner.sides": ("Options",),
    "dpsync.workflows.configuration": ("load", "load_registry", "validate"),
    "dpsync.workflows.ids": (
        "IdsAsked",
        "IdsEditError",
        "check_settled",
        "compare_ids",
        "edited_ids",
    ),
    "dpsync.workflows.ids_file": ("ids_path", "load_ids"),
    "dpsync.workflows.imports": ("Again", "Imported", "add", "import_", "import_again", "update"),
    "dpsync.workflows.labels": ("AppliedNotes", "label_commits"),
    "dpsync.workflows.listing": ("list_entries", "list_files"),
    "dpsync.workflows.revert": ("Revert", "reverting"),
    "dpsync.workflows.revert_entries": ("Applied", "AppliedPlan", "applied"),
    "dpsync.workflows.row_imports": ("import_rows",),
    "dpsync.workflows.compose": ("compose",),
    "dpsync.workflows.git_base": ("edits", "load_base"),
    "dpsync.workflows.session": ("Planned", "Session"),
}
_MODULE_BY_NAME: Final = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import a name of this API on first use."""
    if name not in _MODULE_BY_NAME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_MODULE_BY_NAME[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
