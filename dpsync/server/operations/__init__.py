"""List all API operations of the local server: one row (`Operation`) for each, in the order of docs/api.md.

Input: the list `OPERATIONS` and the heading `TITLE` of each module in this package.
Output: `ALL_OPERATIONS`, and its two parts: `OPERATIONS` (API versions `reference` and `full`) and
`PUBLISHED_ONLY_OPERATIONS` (only in the API version `published`). `JOB_HANDLERS` has the background jobs.
"""

from types import ModuleType

from msgspec.structs import replace

from ..handlers.jobs.conversations import ANALYSE_JOB, analyse_conversations
from ..handlers.jobs.specifications import PROCESS_JOB, process_spec
from ..handlers.jobs.translations import RUN_JOB, run_translation_job
from ..integrations.events import DISPATCH_JOB, dispatch_events
from ..jobs.queue import JobHandler
from . import (
    agents,
    audit,
    change_requests,
    comments,
    conversations,
    customization,
    git_sync,
    installations,
    integrations,
    joining,
    organizations,
    pages,
    permissions,
    sites,
    spaces,
    specifications,
    structure,
    translations,
)

JOB_HANDLERS: dict[str, JobHandler] = {
    PROCESS_JOB: process_spec,
    RUN_JOB: run_translation_job,
    ANALYSE_JOB: analyse_conversations,
    DISPATCH_JOB: dispatch_events,
}

_MODULES = (
    sites,
    structure,
    customization,
    spaces,
    change_requests,
    pages,
    organizations,
    joining,
    permissions,
    comments,
    integrations,
    installations,
    specifications,
    translations,
    conversations,
    agents,
    git_sync,
    audit,
)


def _tag(module: ModuleType) -> str:
    """Return the tag of a module, for example `Change requests`."""
    return module.__name__.rpartition(".")[2].replace("_", " ").capitalize()


OPERATIONS_BY_PART = tuple(
    (module.TITLE, tuple(replace(row, tag=_tag(module)) for row in module.OPERATIONS)) for module in _MODULES
)
"""The operations of each part of the API, with the title of the part."""

ALL_OPERATIONS = tuple(row for _, rows in OPERATIONS_BY_PART for row in rows)
"""All operations. `profiles.operations_of_profile` selects those of a profile."""

OPERATIONS = tuple(row for row in ALL_OPERATIONS if row.profile != "published")
"""The operations of the profiles `reference` and `full`."""

PUBLISHED_ONLY_OPERATIONS = tuple(row for row in ALL_OPERATIONS if row.profile == "published")
"""The operations that only the profile `published` has."""
