"""List the operations: one row each, in the order of the parts of the API.

Input: handlers, models, and the families with ordinary resources.
Output: `EVERY`, `OPERATIONS` (the reference and additions to it), `TODAY` (only in the `published` edition).
"""

from types import ModuleType

from msgspec.structs import replace

from ..handlers.jobs.conversations import ANALYSE, analyse
from ..handlers.jobs.specifications import PROCESS, process
from ..handlers.jobs.translations import RUN, run
from ..integrations.events import DISPATCH, dispatch
from ..jobs.queue import Does
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

JOBS: dict[str, Does] = {PROCESS: process, RUN: run, ANALYSE: analyse, DISPATCH: dispatch}

_FAMILIES = (
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


def _tag(family: ModuleType) -> str:
    """Return the tag of a module, for example `Change requests`."""
    return family.__name__.rpartition(".")[2].replace("_", " ").capitalize()


PARTS = tuple(
    (str(family.__doc__).rstrip("."), tuple(replace(row, tag=_tag(family)) for row in family.OPERATIONS))
    for family in _FAMILIES
)
"""The rows under the titles of their parts."""

EVERY = tuple(row for _, rows in PARTS for row in rows)
"""All rows. `editions.known` says which of them a profile has."""

OPERATIONS = tuple(row for row in EVERY if row.profile != "published")
"""The operations of the reference, and the additions to them."""

TODAY = tuple(row for row in EVERY if row.profile == "published")
"""The operations that only today's edition has."""
