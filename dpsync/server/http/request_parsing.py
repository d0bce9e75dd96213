"""Parse an incoming request: its path, the URL that it addressed, and its body, checked against a model.

Input: an ASGI request. Output: decoded values, or an `ApiError` (400).
"""

import re
from typing import Any
from urllib.parse import unquote

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json
from starlette.requests import Request
from starlette.types import Scope

from ..errors import ApiError, bad_request
from ..request.operation import Operation

MAX_BODY_BYTES = 10 * 1024 * 1024
HOST_PATTERN = re.compile(r"([A-Za-z0-9._-]{1,255}|\[[0-9A-Fa-f:.]{2,45}\])(:[0-9]{1,5})?")
"""A `Host` header: a name or an address, and an optional port."""


def raw_path(scope: Scope) -> bytes:
    """Return the path of a request before decoding, so that an encoded slash stays distinguishable."""
    raw: bytes = scope.get("raw_path") or scope["path"].encode()
    return raw


def path_segments(raw: bytes) -> list[str]:
    """Return the decoded segments of a path. An encoded slash does not separate segments."""
    return [unquote(segment) for segment in raw.split(b"?")[0].decode("latin-1").removeprefix("/").split("/")]


def base_url_of(scope: Scope) -> str:
    """Return the origin at which the caller reached the service.

    The origin comes from the `Host` header, because a forwarded port has another address outside, or else
    from the address of the connection.
    """
    host_header = next((value for name, value in scope["headers"] if name == b"host"), b"").decode("latin-1")
    if HOST_PATTERN.fullmatch(host_header):
        return f"{scope['scheme']}://{host_header}"
    host, port = scope.get("server") or ("localhost", None)
    host = f"[{host}]" if ":" in host else host
    return f"{scope['scheme']}://{host}" + (f":{port}" if port else "")


async def read_body(request: Request) -> bytes:
    """Return the body of a request. Raise 413 as soon as the body is known to be too long."""
    if not any(name in (b"content-length", b"transfer-encoding") for name, _ in request.scope["headers"]):
        return b""
    too_long = ApiError(413, f"the body has more than {MAX_BODY_BYTES} bytes")
    declared = request.headers.get("content-length", "")
    if declared.isdigit() and int(declared) > MAX_BODY_BYTES:
        raise too_long
    chunks, size = [], 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > MAX_BODY_BYTES:
            raise too_long
        chunks.append(chunk)
    return b"".join(chunks)


def validate_body(operation: Operation, request: Request, content: bytes) -> Any:
    """Return the body of a request, checked by the model of the operation.

    Raise 400 for a missing, malformed or invalid body, and 415 for another content type than JSON. A body
    that the operation does not take is ignored.
    """
    if not content:
        if operation.body_model is not None and operation.body_required:
            raise bad_request("body: a JSON object is required")
        return operation.body_model() if operation.body_model else None
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise ApiError(415, f"content type {kind or 'absent'!r}: application/json is required")
    if operation.body_model is None:
        return None
    try:
        value = from_json(content, allow_inf_nan=False)
    except ValueError as error:
        raise bad_request(f"body: malformed JSON: {error}") from None
    return validate_model(operation.body_model, value, "body")


def validate_model(model: type[BaseModel], value: Any, location: str) -> BaseModel:
    """Return a value checked by its model. Raise 400 with at most five errors, below `location`."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        messages = [
            f"{'.'.join([location, *map(str, details['loc'])])}: {details['msg']}"
            for details in error.errors(include_url=False, include_input=False)
        ]
        raise bad_request("; ".join(messages[:5])) from None
