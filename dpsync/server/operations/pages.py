"""Content of spaces and change requests."""

from ..handlers.spaces import change_requests, pages
from ..models import change_requests as mx
from ..models import joining as mj
from ..models import pages as mp
from .rows import CR, EDITS, SP, get, listing, post

_METADATA = "`metadata=false` leaves out the field `git`."
_TEXTS = f"{_METADATA} `computed=false` leaves out texts that come from an OpenAPI specification."
_PAGE = "`evaluated` inserts the values of variables. `dereferenced` inserts reusable contents."
_LINKS = "Lists each link target once. Links to other websites always have the status `ok`."
_BACKLINKS = "Lists the pages that link to this file or page, also in other spaces that the caller can view."


def _both(path: str, ids: tuple[str, str]) -> list[tuple[str, str]]:
    return [(ids[0], SP + path), (ids[1], CR + path)]


OPERATIONS = [
    get("listSpaceLinks", SP + "/links", pages.list_space_links, mp.Links, mp.LinksQuery,
        note="Lists the links of all pages and reusable contents. " + _LINKS),
    listing("searchSpaceContent", SP + "/search", pages.search_space, mj.PageHit, mj.SearchQuery,
            note="Lists the pages that contain all words of `query`. Pages with a word in the title come "
                 "first."),
    post("applyTemplateToSpace", SP + "/content/template", change_requests.apply_template, None,
         mx.TemplateApply, status=201, errors=(409,), **EDITS,
         note="Adds the pages of the template after the existing pages. The template is the space that "
              "`id` names."),
    *(get(id, path, pages.get_revision, mp.Revision, mp.ContentQuery,
         note=_TEXTS)
         for id, path in _both("/content", ("getCurrentRevision", "getRevisionOfChangeRequestById"))),
    *(get(id, path, pages.list_pages, mp.PageTree, mp.ContentQuery,
         note=_TEXTS)
         for id, path in _both("/content/pages", ("listPages", "listPagesInChangeRequest"))),
    *(listing(id, path, pages.list_files, mp.File, mp.FilesQuery, note=_METADATA)
         for id, path in _both("/content/files", ("listFiles", "listFilesInChangeRequestById"))),
    *(get(id, path, pages.get_file, mp.File, mp.ContentQuery, note=_METADATA)
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
