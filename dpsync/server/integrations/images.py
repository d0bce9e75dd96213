"""Store and serve images of integrations.

Images arrive as base64 and are stored under the digest of their content. They are served without a token, at
paths next to the API.
"""

import base64
import hashlib
import re
from binascii import Error as NotBase64

from ..errors import bad
from ..store import Store

LARGEST_IMAGE = 1024 * 1024
PREFIX = ("assets", "integrations")
BUNDLE = "integration-bundle"
"""What of an integration is not in its answer: runtime, script, secrets, and its images by file name."""

_SIGNATURES = (
    (rb"\x89PNG\r\n\x1a\n", "image/png", "png"),
    (rb"\xff\xd8\xff", "image/jpeg", "jpg"),
    (rb"GIF8[79]a", "image/gif", "gif"),
    (rb"RIFF....WEBP", "image/webp", "webp"),
)
_SVG = ("image/svg+xml", "svg")
_UNKNOWN = ("application/octet-stream", "bin")
_BEFORE_A_ROOT = ((b"<?", b"?>"), (b"<!--", b"-->"), (b"<!", b">"))


def decoded(text: str, field: str) -> bytes:
    """Return the content of an image in a body. Raise 400 if it is not base64 or too large."""
    try:
        content = base64.b64decode("".join(text.split()).encode("ascii"), validate=True)
    except (NotBase64, ValueError):
        raise bad(f"{field}: must be base64") from None
    if len(content) > LARGEST_IMAGE:
        raise bad(f"{field}: the image has {len(content)} bytes, but at most {LARGEST_IMAGE} are allowed")
    return content


def file_name(content: bytes) -> str:
    return f"{hashlib.sha256(content).hexdigest()[:32]}.{_kind(content)[1]}"


def _kind(content: bytes) -> tuple[str, str]:
    """Return the content type and the extension, detected from the first bytes of the content."""
    for signature, content_type, extension in _SIGNATURES:
        if re.match(signature, content, re.DOTALL):
            return content_type, extension
    return _SVG if re.match(rb"<svg[\s>/]", _root(content)) else _UNKNOWN


def _root(content: bytes) -> bytes:
    """Return an XML document from its first element on."""
    rest = content.removeprefix(b"\xef\xbb\xbf").lstrip()
    while closing := next((end for start, end in _BEFORE_A_ROOT if rest.startswith(start)), None):
        rest = rest.partition(closing)[2].lstrip()
    return rest


def load(store: Store, path: list[str]) -> tuple[bytes, dict[str, str]] | None:
    """Return the image at the path PREFIX/name/file and its headers, or None.

    An SVG is a document that may contain scripts. The headers deny it all rights when it is opened directly,
    because it has the same origin as the control plane.
    """
    if len(path) != len(PREFIX) + 2 or tuple(path[:2]) != PREFIX:
        return None
    bundle = store.get(BUNDLE, path[2])
    text = bundle.doc["images"].get(path[3]) if bundle else None
    if text is None:
        return None
    content = base64.b64decode(text)
    return content, {
        "Content-Type": _kind(content)[0],
        "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
        "X-Content-Type-Options": "nosniff",
    }
