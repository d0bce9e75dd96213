"""The guides and a change request of them, and calls that many tests of contents make."""

from typing import Any

import pytest
from companion_calls import Api

GUIDES = "/spaces/guides"
OPEN = f"{GUIDES}/change-requests/2"
EITHER = pytest.mark.parametrize("at", [GUIDES, OPEN], ids=["space", "change request"])


def edited(api: Api, *changes: Any, space: str = "guides") -> str:
    """Create a change request with these changes and return its path."""
    at = f"/spaces/{space}/change-requests"
    made = f"{at}/{api.make(at)['id']}"
    api.post(f"{made}/content", {"changes": list(changes)})
    return made


def written(api: Api, markdown: str, **more: Any) -> str:
    """Create a change request in which the welcome page has this text."""
    change = {"operation": "update_page", "page": "welcome", "document": {"markdown": markdown}}
    return edited(api, change | more)


def flat(pages: list[Any]) -> list[Any]:
    return [found for page in pages for found in (page, *flat(page["pages"]))]
