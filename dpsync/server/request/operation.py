"""Define `Operation`, which declares one API operation for routing, validation, errors and OpenAPI."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

from msgspec import Struct
from pydantic import BaseModel

from ..access.roles import Role
from ..models.base import Body, Query
from .context import Context

Handler = Callable[[Context], Any]


class Operation(Struct, frozen=True, dict=True):
    """One row of the table of operations.

    `response_model` None: the response has no content. `body_required` False: the body may be omitted.
    `required_role` is the role that the caller must have on the innermost organization, space, collection or
    site in the path; with None, the caller must be able to view it. `edits_content`: the operation is refused
    while the space accepts no change requests.

    `may_create`: the status is 201 instead of `status` if the handler created an object. `reports_removal`:
    the status is 205 if the handler removed an object. `allows_minimal`: a caller may omit the body of the
    response with `Prefer: return=minimal` (an addition). `returns_text`: the answer is a stored text instead
    of JSON. `note` describes the local server; `tag` is the part of the table.
    """

    id: str
    method: str
    path: str
    handler: Handler
    response_model: type[BaseModel] | None = None
    body_model: type[Body] | None = None
    query_model: type[Query] = Query
    status: int = 200
    error_statuses: tuple[int, ...] = ()
    required_role: Role = None
    edits_content: bool = False
    profile: str = "reference"
    body_required: bool = True
    deprecated: bool = False
    may_create: bool = False
    reports_removal: bool = False
    allows_minimal: bool = False
    returns_text: bool = False
    note: str = ""
    tag: str = ""

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """Return the names of the parameters in the path, in order."""
        return tuple(part.strip("{}") for part in self.path.split("/") if part.startswith("{"))

    def is_supported_by(self, profile: str) -> bool:
        """Return whether a profile carries out the operation; `reference` refuses additions."""
        return profile != "reference" or self.profile == "reference"

    def refusal_statuses(self) -> tuple[int, ...]:
        """Return every error status of the operation, including the errors that all operations share."""
        statuses = {401, *self.error_statuses}
        if self.body_model is not None:
            statuses |= {400, 413, 415}
        if self.query_model.can_be_invalid():
            statuses.add(400)
        if self.parameters:
            statuses.add(404)
        if self.required_role is not None or self.edits_content:
            statuses.add(403)
        return tuple(sorted(statuses))
