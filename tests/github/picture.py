"""Pictures in docs/: of few colours, so that they are small, and with a note of what they show."""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

MAGIC = b"\x89PNG\r\n\x1a\n"
COLOURS = 160
Pixel = bytes


def put(path: Path, screenshot: bytes, shown: str) -> None:
    """Keep a screenshot (8 bits, no interlacing: what Chromium makes) of a page."""
    rows = list(_rows(screenshot))
    counts = Counter(pixel for row in rows for pixel in row)
    palette = [pixel for pixel, _ in counts.most_common(COLOURS)]
    nearest = {pixel: min(range(len(palette)), key=lambda at: _apart(pixel, palette[at])) for pixel in counts}
    lines = b"".join(b"\0" + bytes(nearest[pixel] for pixel in row) for row in rows)
    header = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 3, 0, 0, 0)
    chunks = [
        (b"IHDR", header), (b"PLTE", b"".join(palette)), (b"tEXt", _note(shown)),
        (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b""),
    ]  # fmt: skip
    path.write_bytes(MAGIC + b"".join(_chunk(*one) for one in chunks))


def shows(path: Path, page: str) -> bool:
    """Whether a picture was made of this page."""
    return path.is_file() and (b"tEXt", _note(page)) in _chunks(path.read_bytes())


def _note(shown: str) -> bytes:
    return b"Source\0" + hashlib.sha256(shown.encode()).hexdigest().encode()


def _apart(one: Pixel, other: Pixel) -> int:
    return sum((a - b) ** 2 for a, b in zip(one, other, strict=True))


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def _chunks(png: bytes) -> list[tuple[bytes, bytes]]:
    found, at = [], len(MAGIC)
    while at < len(png):
        (length,) = struct.unpack_from(">I", png, at)
        found.append((png[at + 4 : at + 8], png[at + 8 : at + 8 + length]))
        at += 12 + length
    return found


def _rows(png: bytes) -> Iterator[list[Pixel]]:
    """Yield the pixels of each line, without their transparency."""
    chunks = _chunks(png)
    width, height, _, colours = struct.unpack_from(">IIBB", dict(chunks)[b"IHDR"])
    size = {2: 3, 6: 4}[colours]
    raw = zlib.decompress(b"".join(content for kind, content in chunks if kind == b"IDAT"))
    above = bytes(width * size)
    for y in range(height):
        start = y * (width * size + 1)
        above = _unfiltered(raw[start], raw[start + 1 : start + 1 + width * size], above, size)
        yield [above[at : at + 3] for at in range(0, width * size, size)]


def _unfiltered(kind: int, line: bytes, above: bytes, size: int) -> bytes:
    """Return a line without its filter; `kind` is the filter's number in the PNG specification."""
    made = bytearray(line)
    for at in range(len(line)):
        left, corner = (made[at - size], above[at - size]) if at >= size else (0, 0)
        up = above[at]
        guess = left + up - corner
        near = min((left, up, corner), key=lambda one: abs(guess - one))
        made[at] = (line[at] + (0, left, up, (left + up) // 2, near)[kind]) % 256
    return bytes(made)
