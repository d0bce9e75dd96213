"""Print content as PDF, at a URL that needs no token.

The URL names the content and contains a signature of the name. The key of the signature is only in the
database, so nobody can forge a URL. The PDF shows one revision as long as the revision can be read.
"""

import hmac
import secrets
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

from pydantic_core import from_json, to_json

from ..content import evaluation, pdf
from ..content.editing import page_document
from ..content.markdown import to_markdown
from ..content.page_tree import Page, find_page, walk_pages
from ..content.rich_text import node_data, plain_text
from ..errors import ApiError
from ..store import Json, Record, Store
from . import revisions

PATH_PREFIX = "pdf"
_KEY_SETTING = "pdf-key"
_SIZES = {"heading-1": 17.0, "heading-2": 14.0, "heading-3": 12.0}


def ensure_key(store: Store) -> None:
    """Create the signing key once for all processes that share a database."""
    if store.setting(_KEY_SETTING) is None:
        with store.transaction():
            if store.setting(_KEY_SETTING) is None:
                store.set_setting(_KEY_SETTING, secrets.token_hex(32))


def pdf_path(store: Store, space: Record, revision: str, page: str | None, without_children: bool) -> str:
    """Return the path of a PDF: the encoded name of the content, and a signature of the name."""
    name = to_json([space.id, revision, page, without_children]).hex()
    return f"{PATH_PREFIX}/{name}.{_signature(store, name)}"


def _signature(store: Store, name: str) -> str:
    """Return the signature of a name with the key in the database."""
    key = store.setting(_KEY_SETTING)
    if key is None:
        raise LookupError("the database has no key for the URLs of PDF files")
    return hmac.new(bytes.fromhex(key), name.encode(), "sha256").hexdigest()


def load_pdf(store: Store, path: list[str]) -> bytes | None:
    """Return the PDF at a path PREFIX/NAME.SIGNATURE, or None for any other path.

    NAME contains the space, revision and page, and SIGNATURE proves that the server made the URL. Raise 404
    for a wrong signature, or if the content was deleted.
    """
    if len(path) != 2 or path[0] != PATH_PREFIX:
        return None
    name, _, signature = path[1].partition(".")
    if not hmac.compare_digest(signature.encode(), _signature(store, name).encode()):
        raise ApiError(404, "there is no PDF file at this URL")
    id, revision, page, without_children = from_json(bytes.fromhex(name))
    with store.read_transaction():
        space = store.get("space", id)
        content = None
        if space is not None:
            with suppress(LookupError):
                content = revisions.revision_content(revisions.read_revision(store, space, revision))
    chosen = _select_pages(content["pages"], page, without_children) if content else None
    if space is None or content is None or chosen is None:
        raise ApiError(404, "the content of this PDF file was deleted")
    title = space.doc["title"] if page is None else chosen[0]["title"]
    return pdf.write_pdf(title, _page_lines(content, chosen, title if page is None else None))


def _select_pages(pages: list[Page], page: str | None, without_children: bool) -> list[Page] | None:
    """Return the pages to print: all pages, or one page with or without its descendants.

    None: no such page.
    """
    if page is None:
        return [descendant for descendant, _ in walk_pages(pages)]
    entry = find_page(pages, page)
    if entry is None:
        return None
    return [descendant for descendant, _ in walk_pages([entry[0]])][: 1 if without_children else None]


def _page_lines(content: Json, chosen: list[Page], title: str | None) -> Iterator[pdf.PdfLine]:
    """Yield the lines of pages, after the title of the space if it is not None."""
    if title is not None:
        yield pdf.PdfLine(title, 24, pdf.BOLD)
    for number, page in enumerate(chosen):
        yield pdf.PdfLine(
            page["title"], 20, pdf.BOLD, space_before=24, new_page=number > 0 or title is not None
        )
        if page.get("description"):
            yield pdf.PdfLine(page["description"], space_before=6)
        yield from _block_lines(_expand_page(content, page)["nodes"], 0)


def _expand_page(content: Json, page: Page) -> Json:
    """Return the text of a page with reusable contents and the values of variables inserted."""
    document = evaluation.inline_reusable_contents(page_document(page), content["reusableContents"])
    variables = {"space": content["variables"], "page": page.get("variables") or {}}
    return evaluation.evaluate_expressions(document, variables, clear_unknown=False)


def _block_lines(nodes: Iterable[Any], indent: float) -> Iterator[pdf.PdfLine]:
    """Yield the lines of a PDF for the blocks of a Document, such as headings, lists, code and tables.

    `indent` is in points. The content of other blocks is indented more, and code keeps its lines.
    """
    for node in nodes:
        if not isinstance(node, dict):
            continue
        kind = str(node.get("type"))
        if kind in _SIZES:
            title = " ".join(plain_text(node.get("nodes")).split())
            yield pdf.PdfLine(title, _SIZES[kind], pdf.BOLD, indent, space_before=10)
        elif kind.startswith("list-") and kind != "list-item":
            yield from _list_lines(node, indent)
        elif kind == "code":
            lines = plain_text(node.get("nodes")).rstrip("\n").split("\n")
            for number, line in enumerate(lines):
                text = line.replace("\t", "    ")
                yield pdf.PdfLine(text, 9, pdf.MONO, indent + 10, 6 if number == 0 else 0)
        elif kind == "table":
            for line in to_markdown({"nodes": [node]}).rstrip("\n").split("\n"):
                yield pdf.PdfLine(line, 9, pdf.MONO, indent)
        elif any(isinstance(child, dict) and child.get("object") == "block" for child in _child_nodes(node)):
            yield from _block_lines(_child_nodes(node), indent + 14)
        else:
            for number, line in enumerate(plain_text(node).rstrip("\n").split("\n")):
                yield pdf.PdfLine(line, indent=indent, space_before=0 if number else 6)


def _child_nodes(node: Json) -> list[Any]:
    """Return the child nodes of a node, or [] if the caller sent anything but a list."""
    nodes = node.get("nodes")
    return nodes if isinstance(nodes, list) else []


def _list_lines(node: Json, indent: float) -> Iterator[pdf.PdfLine]:
    """Yield the lines of a list, with a number or a bullet before each item."""
    start = node_data(node).get("start", 1)
    for number, item in enumerate(_child_nodes(node)):
        marker = f"{start + number}." if node["type"] == "list-ordered" and type(start) is int else "•"
        lines = list(_block_lines(_child_nodes(item), indent + 16)) if isinstance(item, dict) else []
        first = lines[0].text if lines else ""
        yield pdf.PdfLine(f"{marker} {first}", indent=indent + 4, space_before=3)
        yield from lines[1:]
