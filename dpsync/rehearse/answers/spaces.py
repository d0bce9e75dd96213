"""Collections and spaces, and their order."""

from __future__ import annotations

from dpsync.rehearse.answers.draft import COMPUTED, Json, WorldDraft, only, without

_NOT_OF_SPACES = ("visibility", "organization", "revision", "comments", "changeRequests",
                  "changeRequestsOpen", "changeRequestsDraft")  # fmt: skip


def take_collections(draft: WorldDraft, items: list[Json], organization: str) -> None:
    owner = draft.organization(organization)
    owner.collections = {item["id"]: without(item, "organization", *COMPUTED) for item in items}


def take_spaces(draft: WorldDraft, items: list[Json], organization: str) -> None:
    owner = draft.organization(organization)
    alone, owner.spaces = owner.spaces, {}
    for item in items:
        take_space(draft, item, item["id"], organization)
    owner.spaces = {**owner.spaces, **{id: one for id, one in alone.items() if id not in owner.spaces}}


def take_space(draft: WorldDraft, body: Json, id: str, organization: str = "") -> None:
    owner = draft.organization(organization or body["organization"])
    owner.spaces[id] = without(body, *_NOT_OF_SPACES, *COMPUTED)
    if icon := (body.get("urls") or {}).get("icon"):
        owner.spaces[id]["icon"] = icon


def take_order(draft: WorldDraft, items: list[Json], collection: str) -> None:
    draft.orders[collection] = [item["id"] for item in items]


def take_pages(draft: WorldDraft, body: Json, space: str) -> None:
    """Record the page tree of a space, without page texts."""
    draft.pages[space] = [_page_outline(page) for page in body.get("pages", [])]


def _page_outline(given: Json) -> Json:
    below = [_page_outline(page) for page in given.get("pages", [])]
    return {**only(given, "id", "title", "type", "slug"), "pages": below}


def add_pages_to_spaces(draft: WorldDraft) -> None:
    """Add the page trees that were read to the spaces."""
    for owner in draft.organizations.values():
        for id in owner.spaces.keys() & draft.pages.keys():
            owner.spaces[id]["content"] = {"pages": draft.pages[id]}
