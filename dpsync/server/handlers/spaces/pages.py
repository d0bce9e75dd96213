"""Operations that read content: revision, pages, files, links, backlinks and search results.

Most operations exist under a space and under a change request; the path decides which content they read.
"""

from collections.abc import Iterator

from ...answers import pages as answers
from ...answers.links import LinksToTarget, Location, Resolver, locations
from ...content import evaluation, markdown
from ...content.editing import document_of
from ...content.rich_text import to_document
from ...content.searching import search, words_of
from ...content.tree import Page
from ...request.context import Context
from ...request.paging import list_page, numbered_page
from ...spaces.reading import ReadContent, of_change_request, of_space
from ...store import Json


def reading_of(ctx: Context) -> ReadContent:
    """Return the content of the space or change request that the path names."""
    options = {name: getattr(ctx.query, name, True) for name in ("metadata", "computed")}
    if "changeRequestId" in ctx.params:
        return of_change_request(ctx, ctx.change_request(), **options)
    return of_space(ctx, ctx.space(), **options)


def get_revision(ctx: Context) -> Json:
    return answers.revision(reading_of(ctx))


def list_pages(ctx: Context) -> Json:
    return {"pages": answers.pages(reading_of(ctx))}


def list_files(ctx: Context) -> Json:
    reading = reading_of(ctx)
    files: list[Json] = reading.content["files"]
    return numbered_page(ctx, files, lambda file: answers.file(reading, file), lambda file: str(file["id"]))


def get_file(ctx: Context) -> Json:
    reading = reading_of(ctx)
    return answers.file(reading, reading.file(ctx.params["fileId"]))


def get_page(ctx: Context) -> Json:
    """Return a page with its descendants, whose texts have the same form."""
    reading, query = reading_of(ctx), ctx.query
    found, above = reading.page(ctx.params["pageId"])
    answer = answers.page(reading, found, above)
    if (query.format, query.evaluated, query.dereferenced) != ("markdown", "false", "false"):
        _reshape(reading, found, answer)
    return answer


def _reshape(reading: ReadContent, found: Page, answer: Json) -> None:
    if "markdown" in answer:
        text = answer.pop("markdown")
        document = _read_out(reading, found, document_of(found) if "body" in found else to_document(text))
        if reading.ctx.query.format == "document":
            answer["document"] = answers.document(document)
        else:
            answer["markdown"] = markdown.to_markdown(document)
    for below, below_answer in zip(found["pages"], answer["pages"], strict=True):
        _reshape(reading, below, below_answer)


def _read_out(reading: ReadContent, found: Page, document: Json) -> Json:
    """Return the document with its references and expressions resolved as the query requests.

    References are resolved first, so that expressions in reusable contents are evaluated, too.
    """
    query = reading.ctx.query
    if query.dereferenced != "false":
        document = evaluation.with_reusable_contents(document, reading.content["reusableContents"])
    if query.dereferenced == "true":
        document = evaluation.with_addresses(document, lambda ref: answers.address(reading, found, ref))
    if query.evaluated != "false":
        variables = {"space": reading.content["variables"], "page": found.get("variables") or {}}
        document = evaluation.evaluated(document, variables, others=query.evaluated == "true")
    return document


def search_space(ctx: Context) -> Json:
    """Search a space. Matches in titles come first; equal matches are in page order."""
    reading = of_space(ctx, ctx.space())
    hits = search(reading.content["pages"], words_of(ctx.query.query))
    ranks = {id(hit): rank for rank, hit in enumerate(hits, 1)}
    return numbered_page(ctx, hits, lambda hit: answers.hit(reading, hit, ranks[id(hit)]))


def list_space_links(ctx: Context) -> Json:
    """List the links of all pages and reusable contents, one item for each target."""
    reading = of_space(ctx, ctx.space())
    return _links(ctx, reading, list(locations(reading)))


def list_page_links(ctx: Context) -> Json:
    reading = reading_of(ctx)
    found, above = reading.page(ctx.params["pageId"])
    return _links(ctx, reading, [Location(found, above)])


def _links(ctx: Context, reading: ReadContent, sources: list[Location]) -> Json:
    """Return a page of links. `stats` counts all links, whatever status the query selects."""
    resolver, wanted = Resolver(reading), ctx.query.status
    found = resolver.links(sources)
    broken = [link for link in found if link.found.status == "broken"]
    newly = _newly_broken(reading, broken) if reading.change_request is not None else 0
    stats = {"total": len(found), "broken": {"total": len(broken), "changeRequest": newly}}
    chosen = [one for one in enumerate(found) if wanted in (None, one[1].found.status)]
    listed = list_page(ctx, chosen, lambda one: resolver.link(one[1]), lambda one: [one[0]])
    return {**listed, "stats": stats}


def _newly_broken(reading: ReadContent, broken: list[LinksToTarget]) -> int:
    """Return how many of the broken links are not broken on the same pages of the main content."""
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
    """List backlinks: from the same content, then from other spaces that the caller may view."""
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
