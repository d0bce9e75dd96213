"""How many pages the things hold that a question is about: whoever answers it needs to know what is at stake.

No list tells it, so it costs one request for each, and only when something is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from dpsync.client.client import ReadClient
from dpsync.client.errors import ClientError, Interrupted
from dpsync.kinds.registry import Registry
from dpsync.kinds.urls import expand
from dpsync.live.sources import Sources
from dpsync.model.diagnostic import Candidate
from dpsync.model.snapshot import Identity

MOST: Final = 20
"""Things whose pages are counted."""
Held = Mapping[Identity, int]


def held(
    client: ReadClient, registry: Registry, parallelism: int, asked: Iterable[tuple[str, Candidate]]
) -> Held:
    """The numbers of pages of candidates, each given with its kind; what cannot be read is left out."""
    wanted = dict.fromkeys((name, one.id) for name, one in asked if registry[name].pages is not None)
    counts = page_counts(client, registry, parallelism, list(wanted)[:MOST])
    return {identity: number for identity, number in counts.items() if number is not None}


def page_counts(
    client: ReadClient, registry: Registry, parallelism: int, objects: Iterable[Identity]
) -> dict[Identity, int | None]:
    """Return the number of pages of each object whose kind has pages; None if the pages cannot be read."""
    wanted = {
        (name, id): expand(registry, kind, kind.pages, id, ())
        for name, id in objects
        if (kind := registry[name]).pages is not None
    }
    numbers = Sources(client, registry, parallelism).map(
        lambda path: _number(client, path), list(wanted.values())
    )
    return dict(zip(wanted, numbers, strict=True))


def with_pages(kind: str, candidates: Iterable[Candidate], numbers: Held) -> tuple[Candidate, ...]:
    """The candidates of one kind with their numbers."""
    return tuple(
        one.model_copy(update={"pages": numbers[kind, one.id]}) if (kind, one.id) in numbers else one
        for one in candidates
    )


def _number(client: ReadClient, path: str) -> int | None:
    try:
        body = client.get(path)
    except Interrupted:
        raise
    except ClientError:
        return None  # the question stays the same without it
    pages = body.get("pages") if isinstance(body, dict) else None
    return sum(1 for _ in each_page(pages)) if isinstance(pages, list) else None


def each_page(pages: list[Any]) -> Iterable[Any]:
    """Yield every page of a tree. No recursion, because the API does not limit the depth."""
    left = list(pages)
    while left:
        page = left.pop()
        below = page.get("pages") if isinstance(page, dict) else None
        left += below if isinstance(below, list) else []
        yield page
