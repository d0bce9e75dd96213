"""Store and serve images of integrations.

Images arrive as base64 and are stored under the digest of their content. They are served without a token, at
paths next to the API.
"""

import base64
import hashlib
import re
from binascii import Error as NotBase64

from ..errors import bad_request
from ..store import Store

MAX_IMAGE_BYTES = 1024 * 1024
PATH_PREFIX = ("assets", "integrations")
BUNDLE = "integration-bundle"
"""Record kind of the parts of an integration that no response contains: runtime, script, secrets, and
images by file name.
"""

_SIGNATURES = (
    (rb"\x89PNG\r\n\x1a\n", "image/png", "png"),
    (rb"\xff\xd8\xff", "image/jpeg", "jpg"),
    (rb"GIF8[79]a", "image/gif", "gif"),
    (rb"RIFF....WEBP", "image/webp", "webp"),
)
_SVG_TYPE = ("image/svg+xml", "svg")
_UNKNOWN_TYPE = ("application/octet-stream", "bin")
_PROLOG_DELIMITERS = ((b"<?", b"?>"), (b"<!--", b"-->"), (b"<!", b">"))


def decode_image(text: str, field: str) -> bytes:
    """Return the content of an image in a body. Raise 400 if it is not base64 or too large."""
    try:
        content = base64.b64decode("".join(text.split()).encode("ascii"), validate=True)
    except (NotBase64, ValueError):
        raise bad_request(f"{field}: must be base64") from None
    if len(content) > MAX_IMAGE_BYTES:
        raise bad_request(
            f"{field}: the image has {len(content)} bytes, but at most {MAX_IMAGE_BYTES} are allowed"
        )
    return content


def file_name(content: bytes) -> str:
    """Return the file name of an image: a digest of its content, and its extension."""
    return f"{hashlib.sha256(content).hexdigest()[:32]}.{_image_type(content)[1]}"


def _image_type(content: bytes) -> tuple[str, str]:
    """Return the content type and the extension, detected from the first bytes of the content."""
    for signature, content_type, extension in _SIGNATURES:
        if re.match(signature, content, re.DOTALL):
            return content_type, extension
    return _SVG_TYPE if re.match(rb"<svg[\s>/]", _skip_prolog(content)) else _UNKNOWN_TYPE


def _skip_prolog(content: bytes) -> bytes:
    """Return an XML document from its first element on."""
    remainder = content.removeprefix(b"\xef\xbb\xbf").lstrip()
    while end_delimiter := next(
        (end for start, end in _PROLOG_DELIMITERS if remainder.startswith(start)), None
    ):
        remainder = remainder.partition(end_delimiter)[2].lstrip()
    return remainder


def load_image(store: Store, path: list[str]) -> tuple[bytes, dict[str, str]] | None:
    """Return (image, headers) for the URL path PREFIX/NAME/FILE of an integration's image, or else None.

    An SVG is a document that may contain scripts. The headers deny it all rights when it is opened directly,
    because it has the same origin as the control plane.
    """
    if len(path) != len(PATH_PREFIX) + 2 or tuple(path[:2]) != PATH_PREFIX:
        return None
    bundle = store.get(BUNDLE, path[2])
    text = bundle.doc["images"].get(path[3]) if bundle else None
    if text is None:
        return None
    content = base64.b64decode(text)
    return content, {
        "Content-Type": _image_type(content)[0],
        "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
        "X-Content-Type-Options": "nosniff",
    }
