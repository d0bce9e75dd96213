"""Content of spaces and change requests."""

from ..handlers.spaces import change_requests, pages
from ..models import change_requests as mx
from ..models import joining as mj
from ..models import pages as mp
from .rows import CR, EDITS, SP, get, listing, post

_TEXTS = "`metadata=false` omits `git`, and `computed=false` omits computed text."
_PAGE = "`evaluated` inserts variables, and `dereferenced` inserts reusable contents."
_LINKS = "Lists each link target once. Other websites always count as `ok`."
_BACKLINKS = "Lists linking pages of this content, then of other spaces that the caller can view."


def _both(path: str, ids: tuple[str, str]) -> list[tuple[str, str]]:
    return [(ids[0], SP + path), (ids[1], CR + path)]


OPERATIONS = [
    get("listSpaceLinks", SP + "/links", pages.list_space_links, mp.Links, mp.LinksQuery,
        note="Covers all pages and reusable contents. " + _LINKS),
    listing("searchSpaceContent", SP + "/search", pages.search_space, mj.PageHit, mj.SearchQuery,
            note="Finds pages that contain every word. Title matches come first."),
    post("applyTemplateToSpace", SP + "/content/template", change_requests.apply_template, None,
         mx.TemplateApply, status=201, errors=(409,), **EDITS,
         note="Adds the template's pages after existing pages. A template is the id of a space."),
    *(get(id, path, pages.get_revision, mp.Revision, mp.ContentQuery,
         note=_TEXTS)
         for id, path in _both("/content", ("getCurrentRevision", "getRevisionOfChangeRequestById"))),
    *(get(id, path, pages.list_pages, mp.PageTree, mp.ContentQuery,
         note=_TEXTS)
         for id, path in _both("/content/pages", ("listPages", "listPagesInChangeRequest"))),
    *(listing(id, path, pages.list_files, mp.File, mp.FilesQuery, note=_TEXTS)
         for id, path in _both("/content/files", ("listFiles", "listFilesInChangeRequestById"))),
    *(get(id, path, pages.get_file, mp.File, mp.ContentQuery, note=_TEXTS)
         for id, path in _both("/content/files/{fileId}", ("getFileById", "getFileInChangeRequestById"))),
    *(listing(id, path, pages.list_file_backlinks, mp.Target, note=_BACKLINKS)
         for id, path in _both("/content/files/{fileId}/backlinks",
         ("listSpaceFileBacklinks", "listChangeRequestFileBacklinks"))),
    *(get(id, path, pages.get_page, mp.ContentPage, mp.PageQuery, note=_PAGE)
         for id, path in _both("/content/page/{pageId}", ("getPageById", "getPageInChangeRequestById"))),
    *(get(id, path, pages.list_page_links, mp.Links, mp.LinksQuery, note=_LINKS)
         for id, path in _both("/content/page/{pageId}/links",
         ("listPageLinksInSpace", "listPageLinksInChangeRequest"))),
    *(listing(id, path, pages.list_page_backlinks, mp.Target, note=_BACKLINKS)
         for id, path in _both("/content/page/{pageId}/backlinks",
         ("listSpacePageBacklinks", "listChangeRequestPageBacklinks"))),
]  # fmt: skip
