"""What a request can be refused with. One exception, one body: `{"error": {"code", "message"}}`."""

from typing import Any


class ApiError(Exception):
    """Ends a request with an HTTP status and a message for the caller; rolls its transaction back."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message

    def body(self) -> dict[str, Any]:
        return {"error": {"code": self.status, "message": self.message}}


def bad(message: str) -> ApiError:
    """400: malformed, out of limits, or an invalid position."""
    return ApiError(400, message)


def missing(what: str, named: str) -> ApiError:
    """404: nothing of that name that the caller may see."""
    return ApiError(404, f"{what} {named!r} not found")


def conflict(message: str) -> ApiError:
    """409: a taken value, a move that changes nothing, the last admin."""
    return ApiError(409, message)
