"""Resolve page references: a field refers to a page by id or path, and to the site space with the page.

A site space is the position of a space in a site. Input: field values, and the pages of the space.
Output: the references of an entry, and values with the ids of pages instead of paths.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from dpsync.kinds.kind import Field
from dpsync.kinds.registry import Registry
from dpsync.kinds.types import OneOf, Page
from dpsync.model.address import Address
from dpsync.model.desired import Desired, Entry
from dpsync.model.snapshot import Identity, LiveObject, Snapshot
from dpsync.model.values import LiveId, Ref, Value


class PageReference(Struct, frozen=True):
    """A reference from a field of an entry to a page.

    `page` is the id or path of the page, in the part `member`. The part `site_space_part` refers to the site
    space that shows the page. `space` refers to the space with the page, None if it is unknown.
    """

    field: Field
    member: str
    site_space_part: str
    page: str
    space: Ref | LiveId | None


def page_references(
    registry: Registry,
    entry: Entry | LiveObject,
    entries: Mapping[Address, Entry],
    objects: Mapping[Identity, LiveObject],
) -> Iterator[PageReference]:
    """Yield each reference to a page in the fields of an entry or live object, with the space of the page.

    The reference names a site space, which shows the space. `entries` and `objects` have the site spaces of
    the files and of GitBook.
    """
    for field in registry[entry.kind].page_fields:
        value = entry.fields.get(field.name)
        if not isinstance(field.type, OneOf) or not isinstance(value, dict):
            continue
        form = field.type.forms.get(str(value.get(field.type.tag)))
        for name, part in form.parts.items() if form is not None else ():
            if form is not None and isinstance(part, Page) and isinstance(page := value.get(name), str):
                kinds = form.parts[part.site_space_part].referenced_kinds
                space = _shown_space(registry, kinds, value.get(part.site_space_part), entries, objects)
                yield PageReference(field, name, part.site_space_part, page, space)


def _shown_space(
    registry: Registry,
    kinds: tuple[str, ...],
    site_space: Value,
    entries: Mapping[Address, Entry],
    objects: Mapping[Identity, LiveObject],
) -> Ref | LiveId | None:
    """Return the space that a site space shows; None if unknown.

    `site_space` refers to an entry of the files or to an object on GitBook, of one of these `kinds`.
    """
    space: Any = None
    for name in kinds:
        shows = registry[name].access_fields.get("shows")
        entry = entries.get(site_space.address) if isinstance(site_space, Ref) else None
        live = objects.get((name, site_space.id)) if isinstance(site_space, LiveId) else None
        fields = entry.fields if entry is not None else live.fields if live is not None else {}
        space = fields.get(shows.name) if shows is not None else None
    return space if isinstance(space, Ref | LiveId) else None


def space_id(space: Ref | LiveId | None, live_id: Callable[[Address], str | None]) -> str | None:
    """Return the live id of a space; None if it is unknown or not live. `live_id` maps addresses to ids."""
    return live_id(space.address) if isinstance(space, Ref) else space.id if space is not None else None


def with_page_ids(registry: Registry, desired: Desired, snapshot: Snapshot) -> Desired:
    """Return the configuration with page ids in place of page paths, because the API takes only ids.

    A path stays if the snapshot does not have the space's pages, or no page with this path.
    """
    changed: dict[Address, Entry] = {}
    for address, entry in desired.entries.items() if snapshot.pages else ():
        for reference in page_references(registry, entry, desired.entries, snapshot.objects):
            pages = snapshot.pages.get(space_id(reference.space, snapshot.reference_id) or "")
            path = reference.page.strip("/")
            id = (
                next((id for id, page_path in pages.items() if path and page_path == path), None)
                if pages
                else None
            )
            if pages and reference.page not in pages and id is not None:
                value = {**entry.fields[reference.field.name], reference.member: id}
                changed[address] = replace(entry, fields={**entry.fields, reference.field.name: value})
    return replace(desired, entries={**desired.entries, **changed}) if changed else desired
