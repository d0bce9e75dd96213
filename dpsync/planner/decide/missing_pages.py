"""Find references to missing pages, because the platform would refuse a request with such a reference."""

from __future__ import annotations

from collections.abc import Iterator

from dpsync.kinds.kind import Field
from dpsync.kinds.page_references import page_references, space_id
from dpsync.model.entries.desired import Entry
from dpsync.model.entries.values import Ref
from dpsync.model.texts.suggestions import did_you_mean
from dpsync.planner.inputs.sides import Sides


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
            nearest = did_you_mean(found.page.strip("/"), [*pages, *pages.values()])
            todo = f'did you mean "{nearest}"?' if nearest else "use the id or path of a page in that space"
            yield found.field, f'there is no page "{found.page}" in {space}', todo
