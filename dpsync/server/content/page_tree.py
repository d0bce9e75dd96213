"""Walk and search the tree of pages of one revision: each page has its children under `pages`, in order.

Input: pages as plain JSON, `{id, title, type, slug, createdAt, updatedAt, …, pages}`. The text of a page is
in `body`, `{markdown}` or `{document}`, as it was written.
Output: pages, paths and slugs. The functions do not depend on the store.
"""

from collections.abc import Iterable, Iterator

from .documents import Json
from .slugs import unique_slug

Page = Json
MAX_DEPTH = 50
"""The maximum number of levels of nested pages."""


def walk_pages(
    pages: Iterable[Page], ancestors: tuple[Page, ...] = ()
) -> Iterator[tuple[Page, tuple[Page, ...]]]:
    """Yield every page with its ancestors, each page before its descendants."""
    for page in pages:
        yield page, ancestors
        yield from walk_pages(page["pages"], (*ancestors, page))


def exceeds_max_depth(pages: Iterable[Page]) -> bool:
    """Return whether pages are nested more than MAX_DEPTH levels deep."""
    return any(len(ancestors) >= MAX_DEPTH for _, ancestors in walk_pages(pages))


def find_page(pages: Iterable[Page], id: str) -> tuple[Page, tuple[Page, ...]] | None:
    """Return a page and its ancestors, the outermost first, or None."""
    return next(((page, ancestors) for page, ancestors in walk_pages(pages) if page["id"] == id), None)


def page_path(page: Page, ancestors: Iterable[Page]) -> str:
    """Return the path of a page: the slugs of its ancestors and its own, such as `guides/setup`."""
    return "/".join(part["slug"] for part in (*ancestors, page))


def page_ids_by_path(pages: Iterable[Page]) -> dict[str, str]:
    """Return the page ids by path."""
    return {page_path(page, ancestors): page["id"] for page, ancestors in walk_pages(pages)}


def sibling_pages(content: Json, ancestors: tuple[Page, ...]) -> list[Page]:
    """Return the list of siblings below the innermost of these ancestors."""
    siblings: list[Page] = ancestors[-1]["pages"] if ancestors else content["pages"]
    return siblings


def unused_slug(title: str, siblings: Iterable[Page], except_id: str = "") -> str:
    """Return a slug of the title that no sibling has, except the sibling with the id `except_id`."""
    used_slugs = {page["slug"] for page in siblings if page["id"] != except_id}
    return unique_slug(title, used_slugs, "page")


def make_slugs_unique(pages: list[Page]) -> None:
    """Change the slugs of siblings, also of descendants, so that all siblings have different slugs."""
    used_slugs: set[str] = set()
    for page in pages:
        page["slug"] = (
            unique_slug(page["slug"], used_slugs, "page") if page["slug"] in used_slugs else page["slug"]
        )
        used_slugs.add(page["slug"])
        make_slugs_unique(page["pages"])
