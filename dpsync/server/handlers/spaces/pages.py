"""Handle the API operations that read content: revision, pages, files, links, backlinks and search results.

Most operations exist under a space and under a change request; the path decides which content they read.
Input: the `Context` of a checked request. Output: the body of the response, or an `ApiError`.
"""

from collections.abc import Iterator

from ...content import evaluation, markdown
from ...content.editing import page_document
from ...content.page_search import query_words, search_pages
from ...content.page_tree import Page
from ...content.rich_text import to_document
from ...request.context import Context
from ...request.paging import list_page, page_by_index
from ...responses import pages as responses
from ...responses.links import LinkResolver, LinkSource, LinksToTarget, link_sources
from ...spaces.content_view import ContentView, view_change_request, view_space
from ...store import Json


def view_from_path(ctx: Context) -> ContentView:
    """Return the content of the space or change request that the path names."""
    options = {name: getattr(ctx.query, name, True) for name in ("metadata", "computed")}
    if "changeRequestId" in ctx.params:
        return view_change_request(ctx, ctx.change_request_from_path(), **options)
    return view_space(ctx, ctx.space_from_path(), **options)


def get_revision(ctx: Context) -> Json:
    """Return the whole content of a space or change request."""
    return responses.revision(view_from_path(ctx))


def list_pages(ctx: Context) -> Json:
    """Return all pages of the content as a tree."""
    return {"pages": responses.pages(view_from_path(ctx))}


def list_files(ctx: Context) -> Json:
    """List the files of the content."""
    view = view_from_path(ctx)
    files: list[Json] = view.content["files"]
    return page_by_index(ctx, files, lambda file: responses.file(view, file), lambda file: str(file["id"]))


def get_file(ctx: Context) -> Json:
    """Return the file that the path names."""
    view = view_from_path(ctx)
    return responses.file(view, view.require_file(ctx.params["fileId"]))


def get_page(ctx: Context) -> Json:
    """Return a page with its descendants, whose texts have the same form."""
    view, query = view_from_path(ctx), ctx.query
    page, ancestors = view.require_page(ctx.params["pageId"])
    answer = responses.page(view, page, ancestors)
    if (query.format, query.evaluated, query.dereferenced) != ("markdown", "false", "false"):
        _convert_format(view, page, answer)
    return answer


def _convert_format(view: ContentView, page: Page, answer: Json) -> None:
    """Convert the text of a page and of its descendants in an answer to the form that the query asks for."""
    if "markdown" in answer:
        text = answer.pop("markdown")
        document = _expand_document(view, page, page_document(page) if "body" in page else to_document(text))
        if view.ctx.query.format == "document":
            answer["document"] = responses.document(document)
        else:
            answer["markdown"] = markdown.to_markdown(document)
    for child, child_answer in zip(page["pages"], answer["pages"], strict=True):
        _convert_format(view, child, child_answer)


def _expand_document(view: ContentView, page: Page, document: Json) -> Json:
    """Return the document with its references and expressions resolved as the query requests.

    References are resolved first, so that expressions in reusable contents are evaluated, too.
    """
    query = view.ctx.query
    if query.dereferenced != "false":
        document = evaluation.inline_reusable_contents(document, view.content["reusableContents"])
    if query.dereferenced == "true":
        document = evaluation.resolve_references(
            document, lambda ref: responses.reference_url(view, page, ref)
        )
    if query.evaluated != "false":
        variables = {"space": view.content["variables"], "page": page.get("variables") or {}}
        document = evaluation.evaluate_expressions(
            document, variables, clear_unknown=query.evaluated == "true"
        )
    return document


def search_space(ctx: Context) -> Json:
    """Search a space. Matches in titles come first; equal matches are in page order."""
    view = view_space(ctx, ctx.space_from_path())
    hits = search_pages(view.content["pages"], query_words(ctx.query.query))
    ranks = {id(hit): rank for rank, hit in enumerate(hits, 1)}
    return page_by_index(ctx, hits, lambda hit: responses.search_hit(view, hit, ranks[id(hit)]))


def list_space_links(ctx: Context) -> Json:
    """List the links of all pages and reusable contents, one item for each target."""
    view = view_space(ctx, ctx.space_from_path())
    return _links_response(ctx, view, list(link_sources(view)))


def list_page_links(ctx: Context) -> Json:
    """List the links of one page, one item for each target."""
    view = view_from_path(ctx)
    page, ancestors = view.require_page(ctx.params["pageId"])
    return _links_response(ctx, view, [LinkSource(page, ancestors)])


def _links_response(ctx: Context, view: ContentView, sources: list[LinkSource]) -> Json:
    """Return the requested page of the links in these sources, with a status if the query names one.

    `stats` counts all links, whatever status the query selects.
    """
    resolver, status = LinkResolver(view), ctx.query.status
    links = resolver.collect_links(sources)
    broken = [link for link in links if link.target.status == "broken"]
    newly_broken = _count_newly_broken(view, broken) if view.change_request is not None else 0
    stats = {"total": len(links), "broken": {"total": len(broken), "changeRequest": newly_broken}}
    chosen = [
        numbered_link
        for numbered_link in enumerate(links)
        if status in (None, numbered_link[1].target.status)
    ]
    answer = list_page(
        ctx,
        chosen,
        lambda numbered_link: resolver.render_link(numbered_link[1]),
        lambda numbered_link: [numbered_link[0]],
    )
    return {**answer, "stats": stats}


def _count_newly_broken(view: ContentView, broken: list[LinksToTarget]) -> int:
    """Return how many of the broken links are not broken on the same pages of the main content."""
    if not broken:
        return 0
    main = view_space(view.ctx, view.space)
    content_ids = {source.content["id"] for link in broken for source in link.sources}
    sources_in_main = [source for source in link_sources(main) if source.content["id"] in content_ids]
    broken_before = {
        link.target.key
        for link in LinkResolver(main).collect_links(sources_in_main)
        if link.target.status == "broken"
    }
    return sum(link.target.key not in broken_before for link in broken)


def list_page_backlinks(ctx: Context) -> Json:
    """List the pages that link to a page."""
    view = view_from_path(ctx)
    page, _ = view.require_page(ctx.params["pageId"])
    return _list_backlinks(ctx, view, "page", page["id"])


def list_file_backlinks(ctx: Context) -> Json:
    """List the pages that link to a file."""
    view = view_from_path(ctx)
    return _list_backlinks(ctx, view, "file", view.require_file(ctx.params["fileId"])["id"])


def _list_backlinks(ctx: Context, view: ContentView, kind: str, id: str) -> Json:
    """List backlinks: from the same content, then from other spaces that the caller may view."""
    return page_by_index(ctx, _find_links_to(view, kind, id), lambda pair: pair[0].render_source(pair[1]))


def _find_links_to(view: ContentView, kind: str, id: str) -> Iterator[tuple[LinkResolver, LinkSource]]:
    """Yield each page and reusable content that links to a page or file, with the resolver of its content."""
    ctx, space = view.ctx, view.space
    others = [
        view_space(ctx, other)
        for other, _ in ctx.visible_spaces_with_roles(space.organization)
        if other.id != space.id
    ]
    for content in (view, *others):
        resolver = LinkResolver(content)
        for source in link_sources(content):
            is_own_page = content is view and kind == "page" and source.is_page and source.content["id"] == id
            if not is_own_page and resolver.has_link_to(source, kind, space.id, id):
                yield resolver, source
