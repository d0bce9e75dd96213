"""The table of operations: one row each, in the order of the API's parts. Everything else is derived from it.

Rows of the profile `full` are additions to the reference; operations that are known but not served are in
`unserved`.
"""

from ..handlers import openapi
from ..handlers import translations as translating
from ..jobs import Does
from ..operation import Operation
from ..unserved import KNOWN
from . import joining, organizations, sites, spaces, specifications, structure, translations

JOBS: dict[str, Does] = {openapi.PROCESS: openapi.process, translating.RUN: translating.run}

_SERVED: tuple[Operation, ...] = (
    *sites.OPERATIONS,
    *structure.OPERATIONS,
    *spaces.OPERATIONS,
    *organizations.OPERATIONS,
    *joining.OPERATIONS,
    *specifications.OPERATIONS,
    *translations.OPERATIONS,
)
_ids = {row.id for row in _SERVED}
OPERATIONS = (*_SERVED, *(row for row in KNOWN if row.id not in _ids))
