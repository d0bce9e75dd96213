"""The change requests of the guides, and calls that many tests of them make."""

from typing import Any

from companion_calls import Api

GUIDES = "/spaces/guides"
LIST = f"{GUIDES}/change-requests"
OPEN, BEHIND, AT_ODDS, ARCHIVED, MERGED = (
    f"{LIST}/{id}" for id in ("better-welcome", "new-fees", "other-search", "no-payments", "first-search")
)
"""Of the built-in world: up to date; behind the main content; behind it and at odds with it; done."""
MANUAL = "/spaces/manual/change-requests"
"""Those of a space with a merge rule."""
IMAGE = {"contentType": "image/png"}


def make(api: Api, at: str = LIST, **body: Any) -> str:
    return f"{at}/{api.make(at, body)['id']}"


def edit(api: Api, at: str, *changes: Any) -> Any:
    return api.post(f"{at}/content", {"changes": list(changes)})


def text(page: str, markdown: str) -> dict[str, Any]:
    return {"operation": "update_page", "page": page, "document": {"markdown": markdown}}


def title(page: str, title: str) -> dict[str, Any]:
    return {"operation": "update_page", "page": page, "title": title}


def insert(title: str, **more: Any) -> dict[str, Any]:
    return {"operation": "insert_page", "title": title, **more}


def page(api: Api, id: str, at: str = GUIDES) -> Any:
    return api.get(f"{at}/content/page/{id}")


def titles(api: Api, at: str = GUIDES) -> list[str]:
    return [found["title"] for found in api.get(f"{at}/content/pages")["pages"]]
