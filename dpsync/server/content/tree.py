"""The pages of a revision as a tree: each page has its children under `pages`, in order.

A page is stored as `{id, title, type, slug, createdAt, updatedAt, …, pages}`. The text of a page is in
`body`, `{markdown}` or `{document}`, as it was written.
"""

from collections.abc import Iterable, Iterator

from .documents import Json
from .slugs import unique_slug

Page = Json
DEEPEST = 50
"""How many pages may be in each other."""


def walk(pages: Iterable[Page], above: tuple[Page, ...] = ()) -> Iterator[tuple[Page, tuple[Page, ...]]]:
    """Yield every page with its ancestors, each page before its descendants."""
    for page in pages:
        yield page, above
        yield from walk(page["pages"], (*above, page))


def too_deep(pages: Iterable[Page]) -> bool:
    return any(len(above) >= DEEPEST for _, above in walk(pages))


def find(pages: Iterable[Page], id: str) -> tuple[Page, tuple[Page, ...]] | None:
    return next(((page, above) for page, above in walk(pages) if page["id"] == id), None)


def path_of(page: Page, above: Iterable[Page]) -> str:
    return "/".join(part["slug"] for part in (*above, page))


def paths(pages: Iterable[Page]) -> dict[str, str]:
    """Return the page ids by path."""
    return {path_of(page, above): page["id"] for page, above in walk(pages)}


def siblings(content: Json, above: tuple[Page, ...]) -> list[Page]:
    """Return the list of siblings below the innermost of these ancestors."""
    found: list[Page] = above[-1]["pages"] if above else content["pages"]
    return found


def fresh_slug(title: str, among: Iterable[Page], but: str = "") -> str:
    taken = {page["slug"] for page in among if page["id"] != but}
    return unique_slug(title, taken, "page")


def unique_slugs(pages: list[Page]) -> None:
    """Change the slugs of siblings, also of descendants, so that all siblings have different slugs."""
    taken: set[str] = set()
    for page in pages:
        page["slug"] = unique_slug(page["slug"], taken, "page") if page["slug"] in taken else page["slug"]
        taken.add(page["slug"])
        unique_slugs(page["pages"])
