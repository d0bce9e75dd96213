"""Find references to missing pages, because the platform would refuse a request with such a reference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from dpsync.kinds.kind import Field
from dpsync.kinds.page_references import page_references, space_id
from dpsync.model.desired import Entry
from dpsync.model.text import FEW, did_you_mean, one_or_other, some
from dpsync.model.values import Ref
from dpsync.planner.inputs.sides import Sides

_MOST_PAGES: Final = 8
"""Pages that a message lists; it counts the others."""


def missing_pages(sides: Sides, resource: Entry) -> Iterator[tuple[Field, str, str]]:
    """Yield each field that refers to a missing page, with the reason and what to do.

    Fields that refer to a space whose pages could not be read are skipped.
    """
    declared = sides.resources.get(resource.address, resource)
    for found in page_references(sides.registry, declared, sides.resources, sides.snapshot.objects):
        id = space_id(found.space, sides.values.known_id)
        if isinstance(found.space, Ref) and id is None:
            reason = f"{found.space.address} does not exist yet, so it has no pages"
            yield found.field, reason, "when the space exists, create the page and apply again"
        elif (pages := sides.snapshot.pages.get(id or "")) is not None and found.page not in pages:
            space = found.space.address if isinstance(found.space, Ref) else f"the space {id}"
            yield found.field, f'there is no page "{found.page}" in {space}', _todo(found.page, pages)


def _todo(page: str, pages: Mapping[str, str]) -> str:
    """Suggest pages that are similar to a missing page, and list the pages of the space."""
    paths = sorted(path for path in pages.values() if path)
    if not paths:
        return "create the page and apply again: the space has no pages"
    listed = f"use the path of a page in that space: {some(paths, _MOST_PAGES)}"
    similar = _similar(page.strip("/"), pages)
    if not similar:
        return listed
    quoted = one_or_other([f'"{one}"' for one in similar[:FEW]])
    return f"did you mean {quoted}? Otherwise, {listed}"


def _similar(page: str, pages: Mapping[str, str]) -> list[str]:
    """Return the pages with the same last segment, else those with a similar id, path or last segment."""
    by_slug: dict[str, list[str]] = {}
    for path in sorted(filter(None, pages.values())):
        by_slug.setdefault(path.rpartition("/")[2].casefold(), []).append(path)
    slug = page.rpartition("/")[2]
    if same := by_slug.get(slug.casefold()):
        return same
    nearest = did_you_mean(page, [*pages, *pages.values()])
    return [nearest] if nearest else by_slug.get(did_you_mean(slug, by_slug) or "", [])
