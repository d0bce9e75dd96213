"""Mistakes in reading the platform, and in recognizing which object an entry is.

These modules import dpsync inside of functions only: they are loaded before dpsync is (breaking.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any


def send_everything(_original: Any, self: Any, request: Any) -> Any:
    """Send writes on the transport that only reads."""
    return self._GetOnly__inner.send(request)


def count_every_candidate(original: Any, client: Any, registry: Any, parallelism: int, asked: Any) -> Any:
    """Count the pages of every candidate instead of a few."""
    numbers = {}
    for candidate in asked:
        numbers |= original(client, registry, parallelism, [candidate])
    return numbers


def accept_duplicates(_original: Any, found: Iterable[tuple[str, Any]]) -> tuple[Any, ...]:
    """Treat a list as complete although it contains an object twice."""
    return tuple(item for _, item in found)


def small_pages(original: Any, self: Any, path: str, params: Any, limit: int) -> Any:
    """Ask for ten objects at a time."""
    return original(self, path, params, 10 if limit else limit)


def choose_first_candidate(original: Any, view: Any, offers: Any) -> Any:
    """Choose the first of several candidates that are equally good."""
    return original(view, offers)[:1]


def match_no_later_keys(original: Any, *_: Any) -> None:
    """Recognize nothing by a later natural key."""


def match_no_renames(_original: Any, *_: Any) -> Any:
    """Recognize no entry by its earlier name."""
    from dpsync.identity.renames import RenameMatches

    return RenameMatches()


def ignore_ids_file(_original: Any, *_: Any) -> dict[Any, Any]:
    """Ignore the ids file."""
    return {}


def blame_both_sides(original: Any, *values: Any) -> Any:
    """Report a local edit as a change on both sides."""
    found = original(*values)
    return "both" if found == "edited here" else found


def skip_commits_between(original: Any, repository: Any, commit: str) -> list[str]:
    """Compare with the applied commit and HEAD only."""
    return original(repository, commit)[:1]


def keep_note(original: Any, *_: Any) -> None:
    """Keep the note about an earlier apply."""


def read_tracked_note(_original: Any, *_: Any) -> bool:
    """Trust a note that is committed."""
    return False


def watch_nothing(_original: Any, *_: Any) -> list[str]:
    """Watch no place after an import."""
    return []


def claim_known_navigation(original: Any, *arguments: Any) -> Iterator[Any]:
    """Claim to know every navigation."""
    for change in original(*arguments):
        yield change.model_copy(update={"known": True})
