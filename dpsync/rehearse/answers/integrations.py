"""Integrations: who has published them, where they are installed and at work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from dpsync.rehearse.answers.assumed import assume_site
from dpsync.rehearse.answers.draft import COMPUTED, Json, WorldDraft, only, without

_NOTED: Final[dict[str, Callable[[WorldDraft, str, str], None]]] = {
    "spaces": WorldDraft.space,
    "sites": assume_site,
}
"""By the level at which an installation is at work: notes that what it names there exists."""


def take_integrations(draft: WorldDraft, items: list[Json]) -> None:
    for item in items:
        publish(draft, item)


def publish(draft: WorldDraft, given: Json) -> None:
    """An integration under its owner. What it looks like and what it does is in no answer."""
    owner = given["owner"]
    known = draft.organization(str(owner["id"]))
    if not known.fields:
        known.fields = without(owner, "id", *COMPUTED)
    made = without(given, "owner", "icon", "previewImages", *COMPUTED)
    draft.published[given["name"]] = {**made, "owner": owner["id"]}


def take_installations(draft: WorldDraft, items: list[Json], organization: str) -> None:
    for item in items:
        publish(draft, item["integration"])
        own, name = item["installation"], item["integration"]["name"]
        made = without(own, "status", "spaces", "sites", "target", *COMPUTED)
        if own.get("status") == "paused":
            made["status"] = "paused"
        draft.organization(organization).installations[own["id"]] = {**made, "integration": name}


def take_placed(draft: WorldDraft, items: list[Json], _: str, installation: str, level: str) -> None:
    draft.placed.append((level, installation, items))


def put_on(draft: WorldDraft, level: str, installation: str, items: list[Json]) -> None:
    """Where an installation is at work."""
    word = level.removesuffix("s")
    for one in draft.organizations.values():
        found = one.installations.get(installation)
        for item in items if found is not None else ():
            target = item[word] if isinstance(item[word], str) else item[word]["id"]
            _NOTED[level](draft, one.id, target)
            made = {word: target, **only(item, "configuration", "externalIds")}
            assert found is not None
            found.setdefault(level, []).append(made)
