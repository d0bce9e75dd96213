"""Part 4.7: the content of spaces and of change requests, and the links of part 4.4a."""

from ..handlers.spaces import change_requests, pages
from ..models import change_requests as mx
from ..models import joining as mj
from ..models import pages as mp
from .rows import CR, EDITS, SP, get, listing, post

_TEXTS = (
    "The two booleans are metadata, without which there is no `git`, and computed, without which pages that "
    "are made of something else have no text."
)
_PAGE = (
    "format is markdown (default) or document. evaluated puts in variables (space.vars.NAME, page.vars.NAME) "
    "and true also empties other expressions. dereferenced puts in reusable contents, and true also makes "
    "URLs of references."
)
_LINKS = (
    "One item for each target; stats count them whatever the status asked for. Other web addresses are ok "
    "unseen; what the caller may not view is broken."
)
_BACKLINKS = (
    "Pages and reusable contents that link there: of the same content, then of the other spaces of the "
    "organization that the caller may view."
)


def _both(path: str, ids: tuple[str, str]) -> list[tuple[str, str]]:
    return [(ids[0], SP + path), (ids[1], CR + path)]


OPERATIONS = [
    get("listSpaceLinks", SP + "/links", pages.list_space_links, mp.Links, mp.LinksQuery,
        decided="The filter is status. Of all pages and reusable contents. " + _LINKS),
    listing("searchSpaceContent", SP + "/search", pages.search_space, mj.PageHit, mj.SearchQuery,
            decided="Pages with every word, in any case, in title, description or text; titles first."),
    post("applyTemplateToSpace", SP + "/content/template", change_requests.apply_template, None,
         mx.TemplateApply, status=201, errors=(409,), **EDITS,
         decided="A template is the id of a space that the caller may view; its pages come behind those "
         "there are. 409 for a change request that is done."),
    *(get(id, path, pages.get_revision, mp.Revision, mp.ContentQuery,
         decided="Pages with their texts. " + _TEXTS)
         for id, path in _both("/content", ("getCurrentRevision", "getRevisionOfChangeRequestById"))),
    *(get(id, path, pages.list_pages, mp.PageTree, mp.ContentQuery,
         decided="The tree, each page with its text. " + _TEXTS)
         for id, path in _both("/content/pages", ("listPages", "listPagesInChangeRequest"))),
    *(listing(id, path, pages.list_files, mp.File, mp.FilesQuery, decided=_TEXTS)
         for id, path in _both("/content/files", ("listFiles", "listFilesInChangeRequestById"))),
    *(get(id, path, pages.get_file, mp.File, mp.ContentQuery, decided=_TEXTS)
         for id, path in _both("/content/files/{fileId}", ("getFileById", "getFileInChangeRequestById"))),
    *(listing(id, path, pages.list_file_backlinks, mp.Target, decided=_BACKLINKS)
         for id, path in _both("/content/files/{fileId}/backlinks",
         ("listSpaceFileBacklinks", "listChangeRequestFileBacklinks"))),
    *(get(id, path, pages.get_page, mp.ContentPage, mp.PageQuery, decided=_PAGE)
         for id, path in _both("/content/page/{pageId}", ("getPageById", "getPageInChangeRequestById"))),
    *(get(id, path, pages.list_page_links, mp.Links, mp.LinksQuery, decided=_LINKS)
         for id, path in _both("/content/page/{pageId}/links",
         ("listPageLinksInSpace", "listPageLinksInChangeRequest"))),
    *(listing(id, path, pages.list_page_backlinks, mp.Target, decided=_BACKLINKS)
         for id, path in _both("/content/page/{pageId}/backlinks",
         ("listSpacePageBacklinks", "listChangeRequestPageBacklinks"))),
]  # fmt: skip
