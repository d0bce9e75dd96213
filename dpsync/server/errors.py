"""Define the error of a refused request, and its body: `{"error": {"code", "message"}}`.

Handlers raise `ApiError`, or what `bad_request`, `not_found` and `conflict` return.
"""

from typing import Any


class ApiError(Exception):
    """Ends a request with an HTTP status and a message for the caller, and rolls back the transaction."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message

    def body(self) -> dict[str, Any]:
        """Return the body of the response."""
        return {"error": {"code": self.status, "message": self.message}}


def bad_request(message: str) -> ApiError:
    """Return a 400 error: malformed, out of limits, or an invalid position."""
    return ApiError(400, message)


def not_found(kind: str, name: str) -> ApiError:
    """Return a 404 error: the object does not exist, or the caller may not see it."""
    return ApiError(404, f"{kind} {name!r} not found")


def conflict(message: str) -> ApiError:
    """Return a 409 error, for example for a taken value, a move without effect, or the last admin."""
    return ApiError(409, message)
