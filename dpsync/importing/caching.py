"""A reading client that asks everything once: what was imported is checked against the very same answers.

It lives for one import, since it holds raw answers.
"""

from __future__ import annotations

import json
from typing import Any

from dpsync.client.client import JSON, PAGE_LIMIT, Params, ReadClient


class RememberingClient(ReadClient):
    """Sends each GET once. Lists are remembered whole, since one that moves is read a second time."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._answers: dict[str, JSON] = {}
        self._texts: dict[str, str] = {}
        self._lists: dict[str, list[dict[str, Any]]] = {}

    def get(self, path: str, params: Params | None = None) -> JSON:
        """The answer, also when it was asked before. What failed is asked again."""
        asked = json.dumps([path, sorted((params or {}).items())])
        if asked in self._answers:
            self.observer.more(-1)
        else:
            self._answers[asked] = super().get(path, params)
        return self._answers[asked]

    def text(self, path: str) -> str:
        """The text, also when it was asked for before."""
        if path in self._texts:
            self.observer.more(-1)
        else:
            self._texts[path] = super().text(path)
        return self._texts[path]

    def pages(self, path: str, params: Params | None = None, limit: int = PAGE_LIMIT) -> list[dict[str, Any]]:
        """The items, also when they were asked for before."""
        asked = json.dumps([path, sorted((params or {}).items()), limit])
        if asked in self._lists:
            self.observer.more(-1)
        else:
            self._lists[asked] = super().pages(path, params, limit)
        return self._lists[asked]
