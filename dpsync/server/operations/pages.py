"""Define the API operations on content of spaces and change requests: method, path, models, handler.

Topics: revisions, pages, files, links and searches.
Output: `OPERATIONS`, one row for each operation, which `operations/__init__.py` collects.
`TITLE` is the heading of these operations in docs/api.md.
"""

from ..handlers.spaces import change_requests, pages
from ..models import change_requests as mx
from ..models import joining as mj
from ..models import pages as mp
from .builders import CHANGE_REQUEST, EDITS_CONTENT, SPACE, get, listing, post

TITLE = "Content of spaces and change requests"

_METADATA_NOTE = "`metadata=false` leaves out the field `git`."
_TEXTS_NOTE = f"{_METADATA_NOTE} `computed=false` leaves out texts that come from an OpenAPI specification."
_PAGE_NOTE = "`evaluated` inserts the values of variables. `dereferenced` inserts reusable contents."
_LINKS_NOTE = "Lists each link target once. Links to other websites always have the status `ok`."
_BACKLINKS_NOTE = (
    "Lists the pages that link to this file or page, also in other spaces that the caller can view."
)


def _space_and_change_request(path: str, ids: tuple[str, str]) -> list[tuple[str, str]]:
    """Return (operation id, path) of the same operation under a space and under a change request."""
    return [(ids[0], SPACE + path), (ids[1], CHANGE_REQUEST + path)]


OPERATIONS = [
    get("listSpaceLinks", SPACE + "/links", pages.list_space_links, mp.Links, mp.LinksQuery,
        note="Lists the links of all pages and reusable contents. " + _LINKS_NOTE),
    listing("searchSpaceContent", SPACE + "/search", pages.search_space, mj.PageHit, mj.SearchQuery,
            note="Lists the pages that contain all words of `query`. Pages with a word in the title come "
                 "first."),
    post("applyTemplateToSpace", SPACE + "/content/template", change_requests.apply_template, None,
         mx.TemplateApply, status=201, error_statuses=(409,), **EDITS_CONTENT,
         note="Adds the pages of the template after the existing pages. The template is the space that "
              "`id` names."),
    *(get(id, path, pages.get_revision, mp.Revision, mp.ContentQuery,
          note=_TEXTS_NOTE)
      for id, path in _space_and_change_request("/content", ("getCurrentRevision",
                                                             "getRevisionOfChangeRequestById"))),
    *(get(id, path, pages.list_pages, mp.PageTree, mp.ContentQuery,
          note=_TEXTS_NOTE)
      for id, path in _space_and_change_request("/content/pages", ("listPages", "listPagesInChangeRequest"))),
    *(listing(id, path, pages.list_files, mp.File, mp.FilesQuery, note=_METADATA_NOTE)
      for id, path in _space_and_change_request("/content/files",
                                                ("listFiles", "listFilesInChangeRequestById"))),
    *(get(id, path, pages.get_file, mp.File, mp.ContentQuery, note=_METADATA_NOTE)
      for id, path in _space_and_change_request("/content/files/{fileId}",
                                                ("getFileById", "getFileInChangeRequestById"))),
    *(listing(id, path, pages.list_file_backlinks, mp.Target, note=_BACKLINKS_NOTE)
      for id, path in _space_and_change_request("/content/files/{fileId}/backlinks",
                                                ("listSpaceFileBacklinks",
                                                 "listChangeRequestFileBacklinks"))),
    *(get(id, path, pages.get_page, mp.ContentPage, mp.PageQuery, note=_PAGE_NOTE)
      for id, path in _space_and_change_request("/content/page/{pageId}",
                                                ("getPageById", "getPageInChangeRequestById"))),
    *(get(id, path, pages.list_page_links, mp.Links, mp.LinksQuery, note=_LINKS_NOTE)
      for id, path in _space_and_change_request("/content/page/{pageId}/links",
                                                ("listPageLinksInSpace", "listPageLinksInChangeRequest"))),
    *(listing(id, path, pages.list_page_backlinks, mp.Target, note=_BACKLINKS_NOTE)
      for id, path in _space_and_change_request("/content/page/{pageId}/backlinks",
                                                ("listSpacePageBacklinks",
                                                 "listChangeRequestPageBacklinks"))),
]  # fmt: skip
