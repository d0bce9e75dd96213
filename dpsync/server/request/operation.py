"""What is known of one operation. Routing, validation, error bodies and the OpenAPI document are read off
this.
"""

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
    """`answer` None: no content. `body_required` False: may be left
    out.

    `needs` is the role that the caller must have on the innermost organization, space, collection or site
    that the path names; None: whoever may view it. `edits`: the operation is refused while the space accepts
    no change requests. `creates`: the answer is 201 instead of `status` when the handler made what was
    absent. `removes`: it is 205 when the handler
    removed something. `minimal`: a caller may ask for no body with `Prefer: return=minimal` (an
    addition). `raw`: the answer is a text as it is kept, not JSON. `note` says
    what is special about the local server. `tag` is the part of the table that it stands in.
    """

    id: str
    method: str
    path: str
    handler: Handler
    answer: type[BaseModel] | None = None
    body: type[Body] | None = None
    query: type[Query] = Query
    status: int = 200
    errors: tuple[int, ...] = ()
    needs: Role = None
    edits: bool = False
    profile: str = "reference"
    body_required: bool = True
    deprecated: bool = False
    creates: bool = False
    removes: bool = False
    minimal: bool = False
    raw: bool = False
    note: str = ""
    tag: str = ""

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        return tuple(part.strip("{}") for part in self.path.split("/") if part.startswith("{"))

    def supported(self, profile: str) -> bool:
        return profile != "reference" or self.profile == "reference"

    def statuses(self) -> tuple[int, ...]:
        """Every refusal that the operation may answer with, those that all share included."""
        found = {401, *self.errors}
        if self.body is not None:
            found |= {400, 413, 415}
        if self.query.refusable():
            found.add(400)
        if self.parameters:
            found.add(404)
        if self.needs is not None or self.edits:
            found.add(403)
        return tuple(sorted(found))
