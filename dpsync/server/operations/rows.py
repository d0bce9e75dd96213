"""Build rows of the table: one function per HTTP method, and common path prefixes."""

from typing import Any

from ..handlers.ordinary import OrdinaryHandlers
from ..models import base as m
from ..records.family import Family
from ..request.operation import Handler, Operation

ORG = "/orgs/{organizationId}"
SITE = ORG + "/sites/{siteId}"
SP = "/spaces/{spaceId}"
CR = SP + "/change-requests/{changeRequestId}"
COLLECTION = "/collections/{collectionId}"

_OWNED = {"organization": ORG, "site": SITE}

ADDED: Any = {"profile": "full"}
"""Beyond the reference: not served with its profile."""

TODAY: Any = {"profile": "published"}
"""In today's edition alone: with the other profiles nothing is at its path."""

EDITS: Any = {"needs": "edit", "edits": True}
"""Of the content of a space, or of a change request of it: refused while the space is locked.

In today's edition a locked space refuses only direct edits, and the handlers check this.
"""

MOVED: Any = {"body_required": False, "errors": (400, 404, 409)}
TRANSFERRED: Any = {"errors": (404, 409, 412)}


def get(
    id: str, path: str, handler: Handler, answer: Any, query: type[m.Query] = m.Query, **more: Any
) -> Operation:
    return Operation(id, "GET", path, handler, answer, query=query, **more)


def listing(
    id: str, path: str, handler: Handler, item: Any, query: type[m.Query] = m.Paged, **more: Any
) -> Operation:
    return Operation(id, "GET", path, handler, m.Page[item], query=query, **more)


def _write(
    method: str, id: str, path: str, handler: Handler, answer: Any, body: Any = None, **more: Any
) -> Operation:
    """Build the row of a write. By default, it needs the role `admin`."""
    more.setdefault("needs", "admin")
    return Operation(id, method, path, handler, answer, body, **more)


def post(id: str, path: str, handler: Handler, answer: Any, body: Any = None, **more: Any) -> Operation:
    return _write("POST", id, path, handler, answer, body, **more)


def patch(id: str, path: str, handler: Handler, answer: Any, body: Any, **more: Any) -> Operation:
    return _write("PATCH", id, path, handler, answer, body, **more)


def put(id: str, path: str, handler: Handler, answer: Any, body: Any, **more: Any) -> Operation:
    return _write("PUT", id, path, handler, answer, body, **more)


def delete(id: str, path: str, handler: Handler, **more: Any) -> Operation:
    more.setdefault("status", 204)
    return _write("DELETE", id, path, handler, None, **more)


class Rows:
    """Builds the rows of an ordinary resource. A row has its own id and note; the family has the rest."""

    def __init__(self, family: Family) -> None:
        if family.resource is None:
            raise ValueError(f"the family {family.kind} is not served as an ordinary resource")
        self._resource, self._handlers = family.resource, OrdinaryHandlers(family)
        self._all = _OWNED[family.owner] + family.resource.path
        self._one = f"{self._all}/{{{family.resource.parameter}}}"

    def list(self, id: str, **more: Any) -> Operation:
        return listing(id, self._all, self._handlers.list, self._resource.item, **more)

    def create(self, id: str, **more: Any) -> Operation:
        resource = self._resource
        return post(id, self._all, self._handlers.create, resource.item, resource.create, status=201, **more)

    def get(self, id: str, **more: Any) -> Operation:
        return get(id, self._one, self._handlers.get, self._resource.item, **more)

    def update(self, id: str, **more: Any) -> Operation:
        resource = self._resource
        return patch(id, self._one, self._handlers.update, resource.item, resource.update, **more)

    def delete(self, id: str, **more: Any) -> Operation:
        return delete(id, self._one, self._handlers.delete, **more)
