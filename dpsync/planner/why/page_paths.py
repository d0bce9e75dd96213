"""Return the paths of pages in changed fields, because a plan shows a page by its path, not by its id."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from dpsync.kinds.page_references import page_references, space_id
from dpsync.model.change import Change
from dpsync.model.desired import Entry
from dpsync.model.snapshot import LiveObject
from dpsync.model.values import reference_text
from dpsync.planner.sides import Sides


def page_paths(sides: Sides, changes: Iterable[Change]) -> dict[str, dict[str, str]]:
    """Return page paths by the address or id of the site space that shows the page, and by the page's id.

    Pages in spaces that were not read are left out.
    """
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for change in changes if sides.snapshot.pages else ():
        entry, live = sides.resources.get(change.location), sides.live(change.location)
        both: list[Entry | LiveObject] = [*([entry] if entry else []), *([live] if live else [])]
        for item in both:
            for one in page_references(sides.registry, item, sides.resources, sides.snapshot.objects):
                pages = sides.snapshot.pages.get(space_id(one.space, sides.values.known_id) or "", {})
                if path := pages.get(one.page):
                    value = sides.values.display(one.field, item.fields[one.field.name], item)
                    found[reference_text(value[one.beside])][one.page] = path
    return dict(found)
