"""Read the pages of each space that contains the destination page of a redirect: one request for each space.

A space that this token may not read is left out. Then dpsync cannot tell whether the page exists.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dpsync.client.errors import Forbidden, NotFound
from dpsync.kinds.page_references import page_references, space_id
from dpsync.kinds.urls import expand
from dpsync.live.pages import each_page
from dpsync.live.reading import ReadingState

_WITHOUT_CONTENT = ("group", "link")
"""Types of pages that have no URL. Their paths are replaced by an empty text."""


def read_pages(reading: ReadingState) -> Mapping[str, Mapping[str, str]]:
    """Return page paths by page id, for each space (by id) to whose pages an entry refers."""
    entries = reading.desired.resources
    ids = {
        space_id(found.space, reading.bound)
        for entry in entries.values()
        for found in page_references(reading.registry, entry, entries, reading.objects)
        if not reading.desired.policy.ignores(entry.address, found.field.name)
    }
    named = sorted(id for id in ids if id is not None)
    holding = next((kind for kind in reading.registry.ordered if kind.pages is not None), None)
    if holding is None:
        return {}
    paths = [expand(reading.registry, holding, holding.pages or "", id, ()) for id in named]
    found = reading.sources.map(lambda path: _read_page_paths(reading, path), paths)
    return {id: pages for id, pages in zip(named, found, strict=True) if pages is not None}


def _read_page_paths(reading: ReadingState, path: str) -> Mapping[str, str] | None:
    try:
        body = reading.client.get(path)
    except (Forbidden, NotFound):
        return None
    pages = body.get("pages") if isinstance(body, dict) else None
    return _paths_by_id(each_page(pages)) if isinstance(pages, list) else None


def _paths_by_id(pages: Iterable[Any]) -> Mapping[str, str]:
    named = (page for page in pages if isinstance(page, dict) and isinstance(page.get("id"), str))
    return {
        page["id"]: "" if page.get("type") in _WITHOUT_CONTENT else str(page.get("path") or "").strip("/")
        for page in named
    }
