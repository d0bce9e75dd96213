"""Edit the content of a space: insert, update, move, delete and revert pages; add files.

A change is a mapping with an `operation`, in the form of a request or of initial data. Each change applies to
the result of the previous one.
"""

from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import Any

from .documents import Json, stored_document
from .page_tree import MAX_DEPTH, Page, exceeds_max_depth, find_page, sibling_pages, unused_slug, walk_pages
from .rich_text import plain_text, to_document

PAGE_FIELDS = (
    "title", "emoji", "icon", "description", "slug", "hidden", "noIndex", "noRobotsIndex",
    "layout", "cover", "variables", "metaLinks", "target", "computed",
)  # fmt: skip
_EMPTY_VALUES: tuple[Any, ...] = (None, False, "", {})


class EditError(ValueError):
    """A change that cannot be applied to this content."""


class PageNotFoundError(EditError):
    """The page that a change names does not exist."""


class ContentEditor:
    """Applies changes to a copy of a content.

    Reverted pages take their state from `base`. `new_id` returns a new id for "page" or "file".
    """

    def __init__(self, content: Json, base: Json, now: str, new_id: Callable[[str], str]) -> None:
        self.content = deepcopy(content)
        self._base = deepcopy(base)
        self._now = now
        self._new_id = new_id
        self._file_ids_by_ref: dict[str, str] = {}

    def apply(self, changes: Iterable[Json]) -> list[Json]:
        """Apply the changes in order, and return the ids of the pages or files that each one affected.

        For each change, the result has `{operation, page: ID}` or `{operation, files: [ID, …]}`. Raise
        EditError if a change is not possible, or if pages would be nested too deeply.
        """
        carried_out = [self._apply_change(change) for change in changes]
        if self._file_ids_by_ref:
            self._link_inserted_files()
        if exceeds_max_depth(self.content["pages"]):
            raise EditError(f"pages are nested at most {MAX_DEPTH} deep")
        return carried_out

    def _apply_change(self, change: Json) -> Json:
        """Apply one change and return `{operation, page}` or `{operation, files}`."""
        operation = change["operation"]
        if operation == "insert_files":
            return {"operation": operation, "files": [self._insert_file(file) for file in change["files"]]}
        if operation == "insert_page":
            return {"operation": operation, "page": self._insert_page(change)}
        edits = {
            "update_page": self._update_page,
            "delete_page": self._delete_page,
            "revert_page": self._revert_page,
        }
        edits[operation](change)
        return {"operation": operation, "page": change["page"]}

    # --- pages ------------------------------------------------------------------------------------

    def _require_page(self, id: str) -> tuple[Page, tuple[Page, ...]]:
        """Return a page and its ancestors. Raise PageNotFound."""
        entry = find_page(self.content["pages"], id)
        if entry is None:
            raise PageNotFoundError(f"page {id!r}")
        return entry

    def _insert_page(self, change: Json) -> str:
        """Insert a page and return its id. Without a title, the first heading of the text is the title."""
        siblings = self._children(change.get("into"))
        body = change_body(change)
        nodes = page_document({"body": body})["nodes"] if body else []
        heading: Json = next((node for node in nodes if str(node.get("type")).startswith("heading-")), {})
        heading_text = " ".join(plain_text(heading.get("nodes")).split())[:255]
        title = change.get("title") or heading_text or "Untitled"
        id = self._unused_id("page")
        page: Json = {
            "id": id,
            "type": change.get("type") or "document",
            "title": title,
            "slug": unused_slug(change.get("slug") or title, siblings),
            "createdAt": self._now,
            "updatedAt": self._now,
            "pages": [],
        }
        _set_fields(page, {**change, "title": title, "slug": page["slug"]})
        if body or page["type"] == "document":
            page["body"] = body or {"markdown": ""}
        self._insert_at(siblings, page, change.get("position"))
        return id

    def _update_page(self, change: Json) -> None:
        """Change the given fields of a page, and move it if the change names a parent or a position.

        The parent `into` null is the top level. Slugs are made unique among the siblings. Raise
        PageNotFoundError, and EditError for an impossible move.
        """
        page, ancestors = self._require_page(change["page"])
        _set_fields(page, {name: value for name, value in change.items() if name != "slug"})
        siblings = sibling_pages(self.content, ancestors)
        if body := change_body(change):
            page["body"] = body
        if "into" in change or "position" in change:
            into = change["into"] if "into" in change else (ancestors[-1]["id"] if ancestors else None)
            if into and into in {descendant["id"] for descendant, _ in walk_pages([page])}:
                raise EditError(f"the page {page['id']!r} cannot be moved into itself")
            target = self._children(into)
            siblings.remove(page)
            siblings = target
            page["slug"] = unused_slug(page["slug"], siblings)
            self._insert_at(siblings, page, change.get("position"))
        if change.get("slug"):
            page["slug"] = unused_slug(change["slug"], siblings, page["id"])
        page["updatedAt"] = self._now

    def _delete_page(self, change: Json) -> None:
        """Delete a page with all pages below it."""
        page, ancestors = self._require_page(change["page"])
        sibling_pages(self.content, ancestors).remove(page)

    def _revert_page(self, change: Json) -> None:
        """Reset a page to its state in `base`, the content from which the edits started.

        A page that is not in `base` is deleted. A deleted page is restored at the end of its parent, or at
        the top level if the parent no longer exists, without child pages that now exist elsewhere. Any other
        page keeps its position.
        """
        base_entry = find_page(self._base["pages"], change["page"])
        current_entry = find_page(self.content["pages"], change["page"])
        if base_entry is None:
            self._delete_page(change)
            return
        base_page, base_ancestors = base_entry
        if current_entry is not None:
            page, ancestors = current_entry
            base_fields = {name: value for name, value in base_page.items() if name != "pages"}
            for name in page.keys() - base_fields.keys() - {"pages"}:
                del page[name]
            page |= deepcopy(base_fields)
            page["slug"] = unused_slug(page["slug"], sibling_pages(self.content, ancestors), page["id"])
            return
        parent = find_page(self.content["pages"], base_ancestors[-1]["id"]) if base_ancestors else None
        siblings = parent[0]["pages"] if parent else self.content["pages"]
        existing_ids = {existing["id"] for existing, _ in walk_pages(self.content["pages"])}
        restored = _drop_pages(deepcopy(base_page), existing_ids)
        restored["slug"] = unused_slug(restored["slug"], siblings)
        siblings.append(restored)

    def _children(self, parent: str | None) -> list[Page]:
        """Return the list of pages in a page, or of the root (None)."""
        pages: list[Page] = self._require_page(parent)[0]["pages"] if parent else self.content["pages"]
        return pages

    def _insert_at(self, siblings: list[Page], page: Page, position: Json | None) -> None:
        """Insert a page before or after a sibling, or at the end. Raise EditError for an invalid position."""
        neighbors = [(relation, id) for relation, id in (position or {}).items() if id is not None]
        if not neighbors:
            siblings.append(page)
            return
        if len(neighbors) > 1:
            raise EditError("invalid position: name `before` or `after`, not both")
        relation, id = neighbors[0]
        index = next((number for number, sibling in enumerate(siblings) if sibling["id"] == id), None)
        if index is None:
            raise EditError(f"invalid position: {id!r} is not a sibling")
        siblings.insert(index if relation == "before" else index + 1, page)

    # --- files ------------------------------------------------------------------------------------

    def _insert_file(self, fields: Json) -> str:
        """Insert a file and return its id. A `ref` lets the texts of pages refer to it as `./REF`."""
        id = self._unused_id("file")
        file = {
            "id": id,
            "name": fields["name"],
            "contentType": fields.get("contentType") or "application/octet-stream",
            "size": fields.get("size") or 0,
            "downloadURL": fields["url"],
        }
        if fields.get("dimensions"):
            file["dimensions"] = fields["dimensions"]
        self.content["files"].append(file)
        if fields.get("ref"):
            self._file_ids_by_ref[fields["ref"]] = id
        return id

    def _link_inserted_files(self) -> None:
        """Replace `./REF` in the texts of changed pages by the file that was inserted with this reference."""
        for page, _ in walk_pages(self.content["pages"]):
            body = page.get("body") or {}
            if "markdown" in body and page["updatedAt"] == self._now:
                text = body["markdown"]
                for ref, id in self._file_ids_by_ref.items():
                    text = text.replace(f"](./{ref})", f"](/files/{id})")
                page["body"] = {"markdown": text}

    def _unused_id(self, kind: str) -> str:
        """Return an id that is in neither the content nor `base`.

        The server's initial data may contain ids that `new_id` returns, so such ids are skipped.
        """
        used_ids = {
            page["id"] for content in (self.content, self._base) for page, _ in walk_pages(content["pages"])
        }
        used_ids |= {file["id"] for content in (self.content, self._base) for file in content["files"]}
        while (id := self._new_id(kind)) in used_ids:
            pass
        return id


def change_body(change: Json) -> Json | None:
    """Return the body that a change sets, as Markdown or a Document, or None if it sets no text."""
    document = change.get("document")
    if document is None:
        return None
    return (
        {"markdown": document["markdown"]}
        if "markdown" in document
        else {"document": stored_document(document)}
    )


def page_document(page: Json) -> Json:
    """Return the text of a page or of a reusable content as a Document."""
    body = page.get("body") or {"markdown": ""}
    document: Json = body["document"] if "document" in body else to_document(body["markdown"])
    return document


def _set_fields(page: Page, fields: Json) -> None:
    """Set the given fields of a page, and remove fields that are cleared, except the title and the slug."""
    for name in PAGE_FIELDS:
        if name not in fields:
            continue
        if fields[name] in _EMPTY_VALUES:
            if name not in ("title", "slug"):
                page.pop(name, None)
        else:
            page[name] = fields[name]


def _drop_pages(page: Page, ids: set[str]) -> Page:
    """Remove the pages with these ids below a page, with all pages below them, and return the page."""
    page["pages"] = [_drop_pages(child, ids) for child in page["pages"] if child["id"] not in ids]
    return page
