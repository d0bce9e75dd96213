"""Build the rows of the table of API operations: one function per HTTP method, and common path prefixes.

A row is an `Operation`: id, method, path, models, handler, required role, and API version.
Input: the parts of one row. `CrudOperations` builds the usual rows of one kind of record.
Output: rows for the lists `OPERATIONS` of the other modules in this package.
"""

from typing import Any

from ..handlers.crud import CrudHandlers
from ..models import base as m
from ..records.record_kind import RecordKind
from ..request.operation import Handler, Operation

ORG = "/orgs/{organizationId}"
SITE = ORG + "/sites/{siteId}"
SPACE = "/spaces/{spaceId}"
CHANGE_REQUEST = SPACE + "/change-requests/{changeRequestId}"
COLLECTION = "/collections/{collectionId}"

_OWNER_PATHS = {"organization": ORG, "site": SITE}

FULL_ONLY: Any = {"profile": "full"}
"""Options of an addition, which the profile `reference` does not support."""

PUBLISHED_ONLY: Any = {"profile": "published"}
"""Options of an operation that exists only in the profile `published`."""

EDITS_CONTENT: Any = {"required_role": "edit", "edits_content": True}
"""Options of an operation that edits the content of a space or change request, so that a locked space
refuses it. In the profile `published`, a locked space refuses only direct edits, and the handlers check
this.
"""

MOVE_OPTIONS: Any = {"body_required": False, "error_statuses": (400, 404, 409)}
TRANSFER_OPTIONS: Any = {"error_statuses": (404, 409, 412)}


def get(
    id: str, path: str, handler: Handler, answer: Any, query: type[m.Query] = m.Query, **options: Any
) -> Operation:
    """Return the row of an operation that reads one object."""
    return Operation(id, "GET", path, handler, answer, query_model=query, **options)


def listing(
    id: str, path: str, handler: Handler, item: Any, query: type[m.Query] = m.Paged, **options: Any
) -> Operation:
    """Return the row of an operation that reads a page of a list."""
    return Operation(id, "GET", path, handler, m.Page[item], query_model=query, **options)


def _write(
    method: str, id: str, path: str, handler: Handler, answer: Any, body: Any = None, **options: Any
) -> Operation:
    """Build the row of a write. By default, it needs the role `admin`."""
    options.setdefault("required_role", "admin")
    return Operation(id, method, path, handler, answer, body, **options)


def post(id: str, path: str, handler: Handler, answer: Any, body: Any = None, **options: Any) -> Operation:
    """Return the row of an operation that creates an object or starts an action."""
    return _write("POST", id, path, handler, answer, body, **options)


def patch(id: str, path: str, handler: Handler, answer: Any, body: Any, **options: Any) -> Operation:
    """Return the row of an operation that updates an object."""
    return _write("PATCH", id, path, handler, answer, body, **options)


def put(id: str, path: str, handler: Handler, answer: Any, body: Any, **options: Any) -> Operation:
    """Return the row of an operation that replaces an object."""
    return _write("PUT", id, path, handler, answer, body, **options)


def delete(id: str, path: str, handler: Handler, **options: Any) -> Operation:
    """Return the row of an operation that deletes an object, with the status 204 by default."""
    options.setdefault("status", 204)
    return _write("DELETE", id, path, handler, None, **options)


class CrudOperations:
    """Builds the rows of a resource. A row has an id and a note; the rest is in the record kind."""

    def __init__(self, record_kind: RecordKind) -> None:
        if record_kind.crud is None:
            raise ValueError(f"the family {record_kind.name} is not served as an ordinary resource")
        self._resource, self._handlers = record_kind.crud, CrudHandlers(record_kind)
        self._collection_path = _OWNER_PATHS[record_kind.owner] + record_kind.crud.path
        self._item_path = f"{self._collection_path}/{{{record_kind.crud.parameter}}}"

    def list(self, id: str, **options: Any) -> Operation:
        """Return the row of the operation that lists the resources of an owner."""
        return listing(
            id, self._collection_path, self._handlers.list, self._resource.response_model, **options
        )

    def create(self, id: str, **options: Any) -> Operation:
        """Return the row of the operation that creates a resource."""
        resource = self._resource
        return post(
            id,
            self._collection_path,
            self._handlers.create,
            resource.response_model,
            resource.create_model,
            status=201,
            **options,
        )

    def get(self, id: str, **options: Any) -> Operation:
        """Return the row of the operation that reads a resource."""
        return get(id, self._item_path, self._handlers.get, self._resource.response_model, **options)

    def update(self, id: str, **options: Any) -> Operation:
        """Return the row of the operation that updates a resource."""
        resource = self._resource
        return patch(
            id,
            self._item_path,
            self._handlers.update,
            resource.response_model,
            resource.update_model,
            **options,
        )

    def delete(self, id: str, **options: Any) -> Operation:
        """Return the row of the operation that deletes a resource."""
        return delete(id, self._item_path, self._handlers.delete, **options)
