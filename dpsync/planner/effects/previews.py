"""The previews of live sites that a plan changes, so that a reviewer can look at them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from dpsync.model.change import Change, SitePreview
from dpsync.model.snapshot import LiveObject
from dpsync.model.urls import is_preview_link, path_words
from dpsync.planner.inputs.sides import Sides

_WORD: Final = re.compile(r"~?[a-z-]{1,32}")
"""A path segment that is no secret. Share links have a random key in their path."""


def site_previews(sides: Sides, changes: Iterable[Change]) -> tuple[SitePreview, ...]:
    """Return the preview of each live site that a change is about, by address.

    A site that the plan deletes has none, nor has a site whose preview URL may contain a secret.
    """
    deleted = {change.address for change in changes if change.action == "delete"}
    changed = {place for change in changes for place in change.location.upward()}
    found = []
    for live in sides.snapshot.objects.values():
        if live.preview is None or not _has_no_secret(live.preview, live):
            continue
        address = sides.names.address(live.identity)
        if address in changed and str(address) not in deleted:
            title = str(live.fields.get("title") or address)
            found.append(SitePreview(address=str(address), title=title, url=live.preview))
    return tuple(sorted(found, key=lambda one: one.address))


def _has_no_secret(url: str, live: LiveObject) -> bool:
    """Return whether the path has only words and the ids of the object and its parent."""
    ids = {live.id, live.parent[1] if live.parent is not None else ""}
    return is_preview_link(url) and all(word in ids or _WORD.fullmatch(word) for word in path_words(url))
