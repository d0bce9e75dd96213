"""What the pages of a space or of a change request link to, and what links to them."""

from collections.abc import Iterator
from typing import Any

from ...answers.links import LinksToTarget, Location, Resolver, locations
from ...request.context import Context
from ...request.paging import list_page, numbered_page
from ...spaces.reading import ReadContent, of_space
from .pages import reading_of

Json = dict[str, Any]


def list_space_links(ctx: Context) -> Json:
    """Of all pages and reusable contents: one item for each target."""
    reading = of_space(ctx, ctx.space())
    return _links(ctx, reading, list(locations(reading)))


def list_page_links(ctx: Context) -> Json:
    reading = reading_of(ctx)
    found, above = reading.page(ctx.params["pageId"])
    return _links(ctx, reading, [Location(found, above)])


def _links(ctx: Context, reading: ReadContent, sources: list[Location]) -> Json:
    """`stats` counts all of them, whichever status is asked for."""
    resolver, wanted = Resolver(reading), ctx.query.status
    found = resolver.links(sources)
    broken = [link for link in found if link.found.status == "broken"]
    newly = _newly_broken(reading, broken) if reading.change_request is not None else 0
    stats = {"total": len(found), "broken": {"total": len(broken), "changeRequest": newly}}
    chosen = [one for one in enumerate(found) if wanted in (None, one[1].found.status)]
    listed = list_page(ctx, chosen, lambda one: resolver.link(one[1]), lambda one: [one[0]])
    return {**listed, "stats": stats}


def _newly_broken(reading: ReadContent, broken: list[LinksToTarget]) -> int:
    """How many of them are not broken, from the same pages, in the main content."""
    if not broken:
        return 0
    main = of_space(reading.ctx, reading.space)
    named = {source.source["id"] for link in broken for source in link.sources}
    there = [source for source in locations(main) if source.source["id"] in named]
    before = {link.found.key for link in Resolver(main).links(there) if link.found.status == "broken"}
    return sum(link.found.key not in before for link in broken)


def list_page_backlinks(ctx: Context) -> Json:
    reading = reading_of(ctx)
    found, _ = reading.page(ctx.params["pageId"])
    return _backlinks(ctx, reading, "page", found["id"])


def list_file_backlinks(ctx: Context) -> Json:
    reading = reading_of(ctx)
    return _backlinks(ctx, reading, "file", reading.file(ctx.params["fileId"])["id"])


def _backlinks(ctx: Context, reading: ReadContent, kind: str, id: str) -> Json:
    """From the same content, then from the other spaces of the organization that the caller may view."""
    return numbered_page(ctx, _leading_to(reading, kind, id), lambda one: one[0].location(one[1]))


def _leading_to(reading: ReadContent, kind: str, id: str) -> Iterator[tuple[Resolver, Location]]:
    ctx, space = reading.ctx, reading.space
    others = [of_space(ctx, other) for other, _ in ctx.spaces_of(space.organization) if other.id != space.id]
    for content in (reading, *others):
        resolver = Resolver(content)
        for source in locations(content):
            own = content is reading and kind == "page" and source.is_page and source.source["id"] == id
            if not own and resolver.leads_to(source, kind, space.id, id):
                yield resolver, source
