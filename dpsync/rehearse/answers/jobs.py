"""What the platform makes by its own work: specifications that it reads, and translations."""

from __future__ import annotations

from typing import Any

from dpsync.rehearse.answers.draft import COMPUTED, Json, WorldDraft, without


def take_specifications(draft: WorldDraft, items: list[Json], organization: str) -> None:
    """As records of the companion: it would go to work on what is said to be pending otherwise."""
    for item in items:
        doc = without(item, "id", "slug", "lastProcessedErrorCount", *COMPUTED)
        draft.record("openapi-spec", item["id"], doc, organization, organization, ref=item["slug"])
        if last := item.get("lastVersion"):
            made = {"createdAt": item.get("lastProcessedAt") or item["createdAt"]}
            draft.record("openapi-version", last, made, organization, item["id"])
            draft.versions[organization, item["slug"]] = made


def take_text(draft: WorldDraft, text: Any, organization: str, slug: str) -> None:
    """That of the last version of a specification; the list is taken before it."""
    if (version := draft.versions.get((organization, slug))) is not None:
        version["text"] = text


def take_translations(draft: WorldDraft, items: list[Json], organization: str) -> None:
    for item in items:
        doc = without(item, "id", "result", *COMPUTED)
        source, result = item["source"]["space"], (item.get("result") or {}).get("space")
        for space in filter(None, (source, result)):
            draft.space(organization, space)
        draft.record("translation", item["id"], doc, organization, organization, source, ref=result or "")
