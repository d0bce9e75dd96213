"""Write PDF files: lines of text in three fonts, wrapped, on A4 pages.

Text in Windows-1252 is set in Helvetica or Courier, which every reader has. Any other character is written by
its code point in a font without glyphs: readers can search and copy the character and choose its look.
"""

import zlib
from collections.abc import Iterable, Iterator
from itertools import groupby

from msgspec import Struct

WIDTH, HEIGHT, MARGIN = 595, 842, 56
_LINE_HEIGHT = 1.4
_HELVETICA = (
    "278 278 355 556 556 889 667 191 333 333 389 584 278 333 278 278 556 556 556 556 "
    "556 556 556 556 556 556 278 278 584 584 584 556 1015 667 667 722 722 667 611 778 "
    "722 278 500 667 556 833 722 778 667 778 722 667 611 722 667 944 667 667 611 278 "
    "278 278 469 556 333 556 556 500 556 556 278 556 556 222 222 500 222 833 556 556 "
    "556 556 333 500 278 556 500 722 500 500 500 334 260 334 584 "
)
_WIDTHS = dict(zip(range(32, 127), map(int, _HELVETICA.split()), strict=True))
REGULAR, BOLD, MONO, UNICODE = "F1", "F2", "F3", "F4"
_FONT_NAMES = {REGULAR: "Helvetica", BOLD: "Helvetica-Bold", MONO: "Courier"}


class PdfLine(Struct, frozen=True):
    """A line of text, wrapped if too long. `space_before` (above the line) and `indent` are in points."""

    text: str
    size: float = 10.5
    font: str = REGULAR
    indent: float = 0
    space_before: float = 0
    new_page: bool = False


def write_pdf(title: str, lines: Iterable[PdfLine]) -> bytes:
    """Return a PDF file with these lines and this title."""
    pages = [
        b"\n".join(b"".join(_draw_line(x, y, line)) for x, y, line in page) for page in _lay_out_pages(lines)
    ] or [b""]
    return _PdfFile(title, pages).to_bytes()


# --- layout ---------------------------------------------------------------------------------------

PlacedLine = tuple[float, float, PdfLine]


def _lay_out_pages(lines: Iterable[PdfLine]) -> Iterator[list[PlacedLine]]:
    """Yield the pages of a PDF: lists of (x, y, line), with long lines wrapped.

    `y` counts in points from the bottom of a page. A line with `new_page` starts a page.
    """
    page: list[PlacedLine] = []
    y: float = HEIGHT - MARGIN
    for line in lines:
        for number, text in enumerate(_wrap(line)):
            y -= line.size * _LINE_HEIGHT + (line.space_before if number == 0 and page else 0)
            if page and (y < MARGIN or (line.new_page and number == 0)):
                yield page
                page, y = [], HEIGHT - MARGIN - line.size * _LINE_HEIGHT
            page.append((MARGIN + line.indent, y, PdfLine(text, line.size, line.font)))
    if page:
        yield page


def _wrap(line: PdfLine) -> Iterator[str]:
    """Yield the line wrapped at spaces. A word that is longer than a line is cut."""
    line_width = (WIDTH - 2 * MARGIN - line.indent) / line.size * 1000
    text, width, at_space = "", 0.0, -1
    for character in line.text:
        if text and width + _character_width(character, line.font) > line_width:
            cut = at_space if at_space > 0 and character != " " else len(text)
            yield text[:cut].rstrip()
            text = text[cut:].lstrip()
            width, at_space = sum(_character_width(character, line.font) for character in text), -1
        if character == " ":
            at_space = len(text)
        text += character
        width += _character_width(character, line.font)
    yield text


def _character_width(character: str, font: str) -> float:
    """Return the width of a character in thousandths of the font size, estimated if it is unknown."""
    if font == MONO:
        return 600
    return _WIDTHS.get(ord(character), 1000 if _encode_cp1252(character) is None else 600) * (
        1.06 if font == BOLD else 1
    )


def _encode_cp1252(character: str) -> bytes | None:
    """Return a character in Windows-1252, or None if it has no code there."""
    try:
        return character.encode("cp1252")
    except UnicodeEncodeError:
        return None


def _draw_line(x: float, y: float, line: PdfLine) -> Iterator[bytes]:
    """Yield the operators that draw a line. Characters outside of Windows-1252 use another font."""
    yield f"BT {x:.1f} {y:.1f} Td".encode()
    for plain, characters in groupby(line.text, key=lambda character: _encode_cp1252(character) is not None):
        text = "".join(characters)
        if plain:
            escaped = b"".join(
                b"\\" + bytes([b]) if b in b"()\\" else bytes([b]) for b in text.encode("cp1252")
            )
            yield f" /{line.font} {line.size:g} Tf (".encode() + escaped + b") Tj"
        else:
            yield f" /{UNICODE} {line.size:g} Tf <{text.encode('utf-16-be').hex()}> Tj".encode()
    yield b" ET"


# --- the file -------------------------------------------------------------------------------------

_CMAP_HEADER = b"""/CIDInit /ProcSet findresource begin 12 dict begin begincmap
/CIDSystemInfo << /Registry (Adobe) /Ordering (UCS) /Supplement 0 >> def
/CMapName /Adobe-Identity-UCS def /CMapType 2 def
1 begincodespacerange <0000> <FFFF> endcodespacerange
"""
_CMAP_FOOTER = b"endcmap CMapName currentdict /CMap defineresource pop end end"


def _cmap() -> bytes:
    """Return a CMap that maps every code to the character with the same number.

    A range must not span two high bytes, and a block must not have more than 100 ranges.
    """
    rows = [b"<%02X00> <%02XFF> <%02X00>\n" % (high, high, high) for high in range(256)]
    blocks = [rows[start : start + 100] for start in range(0, 256, 100)]
    ranges = [b"%d beginbfrange\n%sendbfrange\n" % (len(block), b"".join(block)) for block in blocks]
    return _CMAP_HEADER + b"".join(ranges) + _CMAP_FOOTER


class _PdfFile:
    """The objects of a PDF file: fonts, pages and their contents, page tree, catalog and title."""

    def __init__(self, title: str, pages: list[bytes]) -> None:
        self._objects: list[bytes] = []
        fonts = self._fonts()
        # Objects are numbered from 1: each page adds its content and itself, then comes the page tree.
        tree = len(self._objects) + 2 * len(pages) + 1
        kids = []
        for content in pages:
            stream = self._add_object(_compressed_stream(content))
            kids.append(
                self._add_object(
                    b"<< /Type /Page /Parent %d 0 R /MediaBox [0 0 %d %d] /Contents %d 0 R "
                    b"/Resources << /Font << %s >> >> >>" % (tree, WIDTH, HEIGHT, stream, fonts)
                )
            )
        listed = b" ".join(b"%d 0 R" % kid for kid in kids)
        self._add_object(b"<< /Type /Pages /Kids [%s] /Count %d >>" % (listed, len(kids)))
        self._root = self._add_object(b"<< /Type /Catalog /Pages %d 0 R >>" % tree)
        self._info = self._add_object(
            b"<< /Title <FEFF%s> >>" % title.encode("utf-16-be").hex().upper().encode()
        )

    def _add_object(self, content: bytes) -> int:
        """Add an object and return its number, with which other objects refer to it."""
        self._objects.append(content)
        return len(self._objects)

    def _fonts(self) -> bytes:
        """Add the objects of all fonts and return the font dictionary of a page."""
        font_entries = []
        for key, name in _FONT_NAMES.items():
            font = f"<< /Type /Font /Subtype /Type1 /BaseFont /{name} /Encoding /WinAnsiEncoding >>"
            font_entries.append(b"/%s %d 0 R" % (key.encode(), self._add_object(font.encode())))
        descriptor = self._add_object(
            b"<< /Type /FontDescriptor /FontName /Other /Flags 4 /FontBBox [0 -200 1000 900] /ItalicAngle 0 "
            b"/Ascent 900 /Descent -200 /CapHeight 700 /StemV 80 >>"
        )
        cid_font = self._add_object(
            b"<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Other /DW 1000 /CIDToGIDMap /Identity "
            b"/CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> "
            b"/FontDescriptor %d 0 R >>" % descriptor
        )
        cmap = self._add_object(_compressed_stream(_cmap()))
        unicode_font = self._add_object(
            b"<< /Type /Font /Subtype /Type0 /BaseFont /Other /Encoding /Identity-H "
            b"/DescendantFonts [%d 0 R] /ToUnicode %d 0 R >>" % (cid_font, cmap)
        )
        font_entries.append(b"/%s %d 0 R" % (UNICODE.encode(), unicode_font))
        return b" ".join(font_entries)

    def to_bytes(self) -> bytes:
        """Return the file: header, objects, table of their offsets, and trailer."""
        pdf = bytearray(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
        offsets = []
        for number, body in enumerate(self._objects, 1):
            offsets.append(len(pdf))
            pdf += b"%d 0 obj\n%s\nendobj\n" % (number, body)
        xref_offset = len(pdf)
        pdf += b"xref\n0 %d\n0000000000 65535 f \n" % (len(offsets) + 1)
        pdf += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
        pdf += b"trailer << /Size %d /Root %d 0 R /Info %d 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (
            len(offsets) + 1, self._root, self._info, xref_offset,
        )  # fmt: skip
        return bytes(pdf)


def _compressed_stream(content: bytes) -> bytes:
    """Return a compressed stream object."""
    packed = zlib.compress(content)
    return b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(packed), packed)
